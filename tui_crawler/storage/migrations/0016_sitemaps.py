"""Sitemaps are read in each run; they are found without a look at all pages."""

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE INDEX "page_sitemap" ON "page" ("origin_id", "job_id") WHERE ("sitemap" = 1);
""")
