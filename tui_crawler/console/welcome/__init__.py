"""The welcome, where there is no crawl yet."""
