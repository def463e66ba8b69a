"""A crawl seen again in the views of the console, as of then: where it stands, how fast, and its bar."""
