"""Pages of which something was cut are counted by index."""

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE INDEX "document_incomplete" ON "document" ("page_id") WHERE ("incomplete" != '');
CREATE INDEX "attempt_cut" ON "attempt" ("page_id", "id") WHERE ("cut" != '');
""")
