"""View 7: how the crawl goes over time."""
