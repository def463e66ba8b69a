"""`--metrics`: the counters of a crawl for Prometheus (docs/metrics.md). Kept of its events, never read of a table."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

from tui_crawler.domain.history.run_totals import RunTotals, number
from tui_crawler.domain.records.failure import CannotListen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from socket import socket

    from prometheus_client.core import Metric

    from tui_crawler.domain.crawl.event import Event
    from tui_crawler.engine.ports import Listener

_BOUNDS_MS = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)
_STILL_S = 5.0  # a scrape that takes nothing for so long is given up
_MOST_SCRAPES = 8  # at once
_PREFIX = "tui_crawler"
_STATES = ("crawling", "waiting", "paused", "finished")


class Metrics:
    """Stands before a listener and counts; a collector of prometheus-client. A scrape reads numbers that are there."""

    def __init__(self, listener: Listener) -> None:
        self._listener, self._totals = listener, RunTotals()
        self._attempts: Counter[tuple[str, str]] = Counter()
        self._states: Counter[str] = Counter()
        self._took = [0] * (len(_BOUNDS_MS) + 1)
        self._took_ms = self._bytes = self._found = 0

    def on_event(self, event: Event) -> None:
        before = self._totals.origins.get(event.origin)
        state = before.state if before is not None else ""
        self._totals.take(event)
        one = self._totals.origins.get(event.origin)
        if one is not None and one.state != state:
            self._states[state] -= 1
            self._states[one.state] += 1
        if event.event in {"attempt_finished", "robots_fetched"}:
            extra = dict(event.extra)
            self._attempts[str(extra.get("kind", "robots")), event.exit_code] += 1
            self._bytes += number(extra, "bytes", 0)
            self._found += number(extra, "new_pages", 0)
            if extra.get("response_ms") is not None:
                took = number(extra, "response_ms", 0)
                self._took[bisect_left(_BOUNDS_MS, took)] += 1
                self._took_ms += took
        self._listener.on_event(event)

    def collect(self) -> Iterator[Metric]:
        """The metrics as they stand, with their names, units and meanings."""
        totals = self._totals
        requests = "Turns of the run that made a request."
        yield CounterMetricFamily(f"{_PREFIX}_requests", requests, totals.turns)
        attempts = CounterMetricFamily(f"{_PREFIX}_attempts", "Attempts since the start.", labels=("kind", "exit_code"))
        for labels, times in tuple(self._attempts.items()):
            attempts.add_metric(labels, times)
        yield attempts
        received = "Bytes of the bodies of pages, as they came."
        yield CounterMetricFamily(f"{_PREFIX}_received_bytes", received, self._bytes)
        found = "New pages that attempts have found since the start."
        yield CounterMetricFamily(f"{_PREFIX}_pages_found", found, self._found)
        yield _gauge("pages", "Pages of the origins of the run, as they are now.", "state", {
            "done": totals.pages_done, "failed": totals.pages_failed, "todo": totals.todo,
        })  # fmt: skip
        states = {state: self._states[state] for state in _STATES}
        yield _gauge("origins", "Origins of the run, by what they do.", "state", states)
        held_up = "1 while the database takes nothing."
        yield GaugeMetricFamily(f"{_PREFIX}_database_held_up", held_up, float(bool(totals.trouble)))
        bounds = (*(str(bound / 1000) for bound in _BOUNDS_MS), "+Inf")
        buckets = list(zip(bounds, map(float, accumulate(tuple(self._took))), strict=True))
        took = "From a request to the head of its response."
        yield HistogramMetricFamily(f"{_PREFIX}_response_seconds", took, buckets, self._took_ms / 1000)

    def serve(self, host: str, port: int) -> MetricsServer:
        """Answers scrapes, in threads that nobody waits for, until it is closed. Raises CannotListen."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        try:
            server = MetricsServer((host, port), registry)
        except (OSError, OverflowError) as error:
            raise CannotListen(f"--metrics {host}:{port}: {getattr(error, 'strerror', None) or error}") from error
        threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
        return server


def _gauge(name: str, meaning: str, label: str, values: dict[str, int]) -> Metric:
    made = GaugeMetricFamily(f"{_PREFIX}_{name}", meaning, labels=(label,))
    for each, value in values.items():
        made.add_metric((each,), value)
    return made


class MetricsServer(ThreadingHTTPServer):
    """Answers `GET /metrics`. Few scrapes at once, each with little time."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], registry: CollectorRegistry) -> None:
        self.registry = registry
        self._places = threading.Semaphore(_MOST_SCRAPES)
        self.address_family = 10 if ":" in address[0] else 2  # AF_INET6, AF_INET
        super().__init__(address, _Scrape)

    def server_bind(self) -> None:
        """Asks no name server what the host is called."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Refuses one scrape too many."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever scraped is gone, or too slow: nothing is said."""


class _Scrape(BaseHTTPRequestHandler):
    timeout = _STILL_S
    server: MetricsServer

    def do_GET(self) -> None:
        if self.path.partition("?")[0] not in {"/", "/metrics"}:
            self.send_error(404)
            return
        body = generate_latest(self.server.registry)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""
