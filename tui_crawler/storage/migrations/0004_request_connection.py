"""Requests note how they came by their connection: name look-up, TCP, TLS, or a kept one. Of older requests nothing of
this is known: NULL."""

from tui_crawler.storage.migrations import statements

up = statements("""
ALTER TABLE "request" ADD COLUMN "dns_ms" INTEGER;
ALTER TABLE "request" ADD COLUMN "connect_ms" INTEGER;
ALTER TABLE "request" ADD COLUMN "tls_ms" INTEGER;
ALTER TABLE "request" ADD COLUMN "connection_reused" INTEGER;
""")
