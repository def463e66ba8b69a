"""Documents that wait for validators and data rules (`parsed_at` -1) are found by index."""

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE INDEX "document_waiting" ON "document" ("page_id") WHERE ("parsed_at" < 0);
""")
