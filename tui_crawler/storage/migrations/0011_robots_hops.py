"""Attempts for robots.txt with several requests, which may have led to another origin, are found by index."""

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE INDEX "attempt_hops" ON "attempt" ("id") WHERE (("kind" = 'robots') AND ("requests" > 1));
""")
