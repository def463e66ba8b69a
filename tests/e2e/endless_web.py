"""A web without an end, for runs that must not come to theirs before a test ends them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Page(BaseHTTPRequestHandler):
    """Answers on every loopback address: each page links to three further ones."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        number = int(self.path[1:] or 0) if self.path != "/robots.txt" else None
        links = "" if number is None else "".join(f'<a href="/{3 * number + more}">more</a>' for more in (1, 2, 3))
        body = f"<!doctype html><title>{number}</title>{links}".encode()
        self.send_response(404 if number is None else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Says nothing."""


@contextmanager
def endless_web(config: Path, database: Path, delay: str) -> Iterator[list[str]]:
    """Serves six origins, writes a configuration that crawls them, and answers what they are called."""
    server = ThreadingHTTPServer(("0.0.0.0", 0), _Page)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    origins = [f"http://127.0.0.{number}:{server.server_address[1]}" for number in range(1, 7)]
    config.write_text(
        f"name: endless\nuser_agent: 'test-crawler (for http://127.0.0.1/)'\ndatabase: {database}\nseeds: {origins}\n"
        f"delay: {{default: {delay}, floor: {delay}, allow_impolite: true}}\n",
        encoding="utf-8",
    )
    try:
        yield origins
    finally:
        server.shutdown()
        server.server_close()
