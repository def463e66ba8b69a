"""The console on stand-ins, as a process of its own in a real terminal: `python -m tests.console.pty_child MODE`."""

from __future__ import annotations

import dataclasses
import itertools
import os
import sys
import time
from typing import Any

from tests.console.fake_queries import FakeQueries
from tests.console.poison import CASES as NAMED
from tests.console.poison import OWN, HostileFolder, PoisonedExplainer, PoisonedReports, PoisonedRules, poison
from tests.console.sample_crawl import WHO, WWW
from tests.console.support import FakeHost, FakeJournal, FakeReports
from tui_crawler.console.app import CrawlerApp, EngineAccess, Operator, Presentation, ReadingSources
from tui_crawler.console.welcome.app import WelcomeApp
from tui_crawler.console.welcome.first_step import FolderFound, FoundFile
from tui_crawler.domain.crawl.contract import Contract
from tui_crawler.domain.records.operator_view import QueryAnswer

CASES = list(NAMED.values())
ALL = " ".join(one for one in CASES if "\n" not in one)
BAD = f"no such thing: {OWN['worst']}"


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

    def robots_text(self, origin: str) -> bytes | None:
        lines = (one.encode("utf-8", "replace").replace(b"\n", b" ").replace(b"\r", b" ") for one in CASES)
        return b"User-agent: *\n" + b"".join(b"Disallow: /%b # \xc2\x9b\n" % line for line in lines)

    def contract(self, origin: str) -> Contract:
        return Contract(ALL, delay_from=ALL)

    def body(self, url: str) -> bytes | None:
        return "\n".join(CASES).encode("utf-8", "replace")


class CyclingQueries(FakeQueries):
    """Answers with every case, as name of a column, as text and as bytes; `fail` is refused with all of them."""

    def ask(self, text: str) -> QueryAnswer:
        if text == "fail":
            return QueryAnswer(problem=ALL)
        rows = tuple((one, one.encode("utf-8", "surrogatepass"), one, f"https://x/{one}") for one in CASES)
        return QueryAnswer((CASES[0], CASES[3], CASES[8], "url"), rows, took_ms=12)

    def schema(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return (("v_page", CASES), (ALL, CASES))  # type: ignore[return-value]  # a list is as good


class CyclingFolder(HostileFolder):
    """A file for every case."""

    def look(self) -> FolderFound:
        files = tuple(FoundFile(one, one, usable=bool(number % 2)) for number, one in enumerate(CASES))
        return FolderFound(files, files[::-1])


class CrashingApp(CrawlerApp):
    """Fails with hostile words as soon as it is up."""

    def beat(self) -> None:
        raise ValueError(BAD)


class CrashingWelcome(WelcomeApp):
    """Fails with hostile words as soon as it is up."""

    def _begin(self) -> None:
        raise ValueError(BAD)


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


def welcome(mode: str) -> None:
    """Runs the welcome and ends with its status."""
    kind = CrashingWelcome if mode.startswith("crashing") else WelcomeApp
    answer = kind(CyclingFolder(ALL)).run_to_end()
    sys.exit(getattr(answer, "exit_status", 0))


def main() -> None:
    """Runs the console, prints its summary, and ends with its status."""
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode.endswith("welcome"):
        welcome(mode)
    reports = {"poison": CyclingReports, "restless": RestlessReports}.get(mode, FakeReports)()
    failure = ZeroDivisionError("a bug of the engine") if mode == "failing" else None
    host = None if mode == "attached" else PoliteHost(obeys=mode != "stubborn", failure=failure)
    rules = PoisonedRules()
    rules.payload = ALL
    app = (CrashingApp if mode == "crashing" else CrawlerApp)(
        ReadingSources(lambda: reports, PoisonedExplainer, CyclingQueries, rules)
        if mode == "poison"
        else ReadingSources(lambda: reports, PoisonedExplainer),
        Operator(lambda: FakeJournal(reports), WHO),
        EngineAccess(host),
        Presentation("my-index"),
    )
    summary = app.run_to_end()
    for line in summary.lines():
        print(line)
    sys.stdout.flush()
    if summary.engine_stuck:
        os._exit(summary.exit_status)
    sys.exit(summary.exit_status)


if __name__ == "__main__":
    main()
