"""The console on stand-ins, as a process of its own in a real terminal: `python -m tests.console.pty_child MODE`."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.console.sample_crawl import WHO, WWW
from tests.console.support import FakeHost, FakeJournal, FakeReports
from tests.console.test_injection import PoisonedReports, poison
from tui_crawler.console.app import CrawlerApp

CASES = [
    case["text"]
    for case in json.loads((Path(__file__).parent / "corpora" / "terminal_injection.json").read_text())["cases"]
]


class CyclingReports(PoisonedReports):
    """Each row carries another payload, so that one pass over the screens shows all of them."""

    def __init__(self) -> None:
        super().__init__()
        self._next = itertools.cycle(CASES)
        self.load("", names=False)

    def _bad(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._bad(one) for one in value)
        changes = {
            one.name: poison(getattr(value, one.name), next(self._next), names=False, field=one.name)
            for one in dataclasses.fields(value)
        }
        return dataclasses.replace(value, **changes)


class RestlessReports(FakeReports):
    """Something has changed whenever it is asked, so that the screen is painted without end."""

    def data_version(self) -> int:
        view = self.rows[WWW]
        self.commit(dataclasses.replace(view, done=view.done + 7_919, last_url=f"{WWW}/{time.monotonic_ns()}"))
        return self.version


class PoliteHost(FakeHost):
    """Ends when it is told to, after its requests are over."""

    def stop(self, drain_ms: int) -> None:
        super().stop(drain_ms)
        if self.end.is_set():
            self.in_flight = 0


def main() -> None:
    """Runs the console, prints its summary, and ends with its status."""
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    reports = {"poison": CyclingReports, "restless": RestlessReports}.get(mode, FakeReports)()
    failure = ZeroDivisionError("a bug of the engine") if mode == "failing" else None
    host = PoliteHost(obeys=mode != "stubborn", failure=failure)
    app = CrawlerApp(lambda: reports, lambda: FakeJournal(reports), host, name="my-index", who=WHO)
    summary = app.run_to_end()
    for line in summary.lines():
        print(line)
    sys.stdout.flush()
    if summary.engine_stuck:
        os._exit(summary.exit_status)
    sys.exit(summary.exit_status)


if __name__ == "__main__":
    main()
