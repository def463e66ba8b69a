"""The settings that a session crawls by, so that its log can be folded again."""

from tui_crawler.storage.migrations import statements

up = statements("""
ALTER TABLE "session" ADD COLUMN "crawl_settings" STRING;
""")
