"""Stand-ins for everything below the command line: reports, the wiring, standard streams."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tui_crawler
from tui_crawler.cli.main import main
from tui_crawler.cli.printer import ERASE_LINE
from tui_crawler.console.welcome.first_step import Cancelled, FirstStep
from tui_crawler.demo.process import DemoUnavailable
from tui_crawler.domain.history.audit import SentRequest
from tui_crawler.domain.history.coverage import Coverage
from tui_crawler.domain.history.diagnosis import DiagnosisFacts
from tui_crawler.domain.records.command import ActionResult, Command
from tui_crawler.domain.records.page_view import FailureCount, FailureGroup, PageView
from tui_crawler.domain.records.view import OriginView, RunView, TotalsView
from tui_crawler.domain.rules.page_filter import PageWindow
from tui_crawler.wiring.launch import Launch
from tui_crawler.wiring.welcome import Folder

ORIGIN = "https://example.org"
CONFIG = "seeds: [https://example.org/]\nuser_agent: 'test-crawler (for https://example.org/why)'\n"


def origin_view(origin: str = ORIGIN, **changes: Any) -> OriginView:
    delay, robots = (1_000, "default", 0, 0, 0), ("parsed", 1, 2, None)
    pages = {"todo": 3, "pending": 4, "done": 5, "failed": 1, "blocked": 2, "requests": 9, "bytes": 1_000}
    last = ("", f"{origin}/", "file_ingested", 200, 1, 500)
    return replace(
        OriginView(origin, 1, "READY", "", False, 5, 5, 2, *delay, *robots, *pages.values(), *last), **changes
    )


def page_view(page_id: int, url: str = f"{ORIGIN}/gone", **changes: Any) -> PageView:
    ended = ("file_not_found", 404, 7, 8)
    page = PageView(page_id, url, ORIGIN, "crawl", "READY", 3, 0, 0, 1, 0, *ended, message="Not Found")
    return replace(page, **changes)


@dataclass
class StoredReports:
    """Reports with rows of the test's making."""

    run_row: RunView | None = None
    origins: tuple[OriginView, ...] = ()
    groups: tuple[FailureGroup, ...] = ()
    pages: tuple[PageView, ...] = ()
    requests: tuple[SentRequest, ...] = ()
    job_names: tuple[str, ...] = ()
    grouped_by: tuple[str, ...] = ()
    asked: list[dict[str, str]] = field(default_factory=list)
    closed: int = 0

    def run(self) -> RunView | None:
        return self.run_row

    def totals(self) -> TotalsView:
        return TotalsView(3, 4, 5, 1, 2, 9, 1_000, 11, (("file_ingested", 5),))

    def coverage(self) -> Coverage:
        return Coverage()

    def diagnosis_facts(self) -> DiagnosisFacts:
        return DiagnosisFacts()

    def config_text(self) -> str:
        return ""

    def documents_waiting(self) -> int:
        return 0

    def origins_changed(self, since: int) -> tuple[OriginView, ...]:
        return self.origins

    def origin(self, origin: str) -> OriginView | None:
        return next((view for view in self.origins if view.origin == origin), None)

    def failure_count(self, by: tuple[str, ...], limit: int | None) -> FailureCount:
        self.grouped_by = by
        return FailureCount(self.groups, 0, 0)

    def failure_window(self, key: Sequence[tuple[str, str]], after_id: int, limit: int) -> PageWindow:
        self.asked.append(dict(key))
        found = tuple(page for page in self.pages if page.page_id > after_id)
        return PageWindow(found[:limit], 0, 0, found[:limit][-1].page_id if found else 0, len(found) <= limit)

    def page_past(self, page_id: int) -> dict[str, int | None]:
        return {"first_seen": 1, "inlinks": 2, "ok_status": None}

    def rows(self, view: str, columns: Sequence[str]) -> Iterable[tuple[str]]:
        assert (view, columns) == ("v_job", ("job",))
        return ((name,) for name in self.job_names)

    def attempts_for_audit(self) -> Iterable[SentRequest]:
        return iter(self.requests)

    def close(self) -> None:
        self.closed += 1


TAKEN = 1


class Wiring:
    """In the place of what the command line calls: remembers what it is asked."""

    coverage_of = staticmethod(StoredReports.coverage)

    def __init__(self) -> None:
        self.reports = StoredReports()
        self.commands: list[tuple[Path, Command, str]] = []
        self.answer: Callable[[Command], ActionResult] = lambda _: ActionResult(1, "{}", "{}")
        self.runs: list[tuple[Any, Path, Launch]] = []
        self.crawl: Callable[[Any], int] = lambda _: 0
        self.access_log: Path | None = None
        self.consoles: list[tuple[Any, Path | None, Any]] = []
        self.console_launches: list[Launch] = []
        self.first_step: FirstStep | Cancelled = Cancelled()
        self.welcomed: list[Path] = []

    def open_reports(self, database: Path) -> StoredReports:
        return self.reports

    def carry_out(
        self, database: Path, command: Command, who: str, patience_s: float = 3.0, undoes: int = 0
    ) -> ActionResult:
        self.commands.append((database, command, who))
        return self.answer(command)

    def run_headless(self, config: Any, database: Path, launch: Launch, listener: Any, shown: Any) -> int:
        self.runs.append((config, database, launch))
        return self.crawl(listener)

    def open_console(self, config: Any, database: Path, readonly: bool, launch: Launch) -> int:
        self.consoles.append((config, database, readonly))
        self.console_launches.append(launch)
        return 0

    def open_welcome(self, folder: Folder) -> SimpleNamespace:
        self.welcomed.append(folder.file(""))
        return SimpleNamespace(run_to_end=lambda: self.first_step)

    def demo_console(self, database: Path | None, port: int | None) -> int:
        self.consoles.append(("demo", database, port))
        return 0

    def demo_headless(self, database: Path | None, port: int | None, listener: Any) -> int:
        self.consoles.append(("headless", database, port))
        return self.crawl(listener)

    def demo_serve(self, port: int | None, access_log: Path | None, announce: Callable[[Iterable[str]], None]) -> int:
        if port == TAKEN:
            raise DemoUnavailable("port taken")
        self.access_log = access_log
        announce(["http://127.0.0.1:18081/", "http://127.0.0.1:18082/"])
        return 0


_PLACES = {
    "storage.reports.reports.Reports": "open_reports",
    "wiring.console.demo_console": "demo_console",
    "wiring.console.open_console": "open_console",
    "wiring.coverage.coverage_of": "coverage_of",
    "wiring.demo.demo_headless": "demo_headless",
    "wiring.demo.demo_serve": "demo_serve",
    "wiring.headless.run_headless": "run_headless",
    "wiring.steering.carry_out": "carry_out",
    "console.welcome.app.WelcomeApp": "open_welcome",
}


@pytest.fixture
def wiring(monkeypatch: pytest.MonkeyPatch) -> Wiring:
    stand_in = Wiring()
    for place, name in _PLACES.items():
        monkeypatch.setattr(f"tui_crawler.{place}", lambda *given, _=name, **more: getattr(stand_in, _)(*given, **more))
    return stand_in


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder and an environment that names no database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUI_CRAWLER_DB", raising=False)
    monkeypatch.delenv("TUI_CRAWLER_DEBUG", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return tmp_path


@pytest.fixture
def database(here: Path) -> Path:
    """The only database here. Nobody reads it: the reports are stand-ins."""
    path = here / "crawl.db"
    path.touch()
    return path


@pytest.fixture
def crawl(here: Path) -> Path:
    """The only database here, of a run that has ended (tests.cli.crawls)."""
    from tests.cli.crawls import store_crawl  # noqa: PLC0415  it imports this module

    return store_crawl(here / "crawl.db")


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def ok(self) -> Said:
        assert self.status == 0, self.err
        return self

    def refused(self, *told: str, status: int = 2) -> None:
        """It ended so, and nothing was answered but why not."""
        assert (self.status, self.out) == (status, "")
        assert [words for words in told if words not in self.err] == []


Say = Callable[..., Said]
"""Runs a command line, given as words."""


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs the command line in this process. It prints nothing that a terminal obeys."""

    def run(*words: str) -> Said:
        status = main(words)
        out, err = capsys.readouterr()
        out = out.removeprefix(f"starting\r{ERASE_LINE}")  # as a whole: what starts is erased again
        assert "Traceback" not in err
        assert all(char.isprintable() or char in "\r\n" for char in out + err)
        return Said(status, out, err)

    return run


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that finds the package, installed or not."""
    return {**os.environ, "PYTHONPATH": str(Path(tui_crawler.__file__).parents[1]), **more}


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True
