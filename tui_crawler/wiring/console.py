"""The console, joined to its database and to the engine it hosts."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from tui_crawler.console.app import CrawlerApp, EngineAccess, Operator, Presentation, ReadingSources
from tui_crawler.console.clock import MachineClock
from tui_crawler.console.replay.player import Replays
from tui_crawler.console.session import SessionFile, state_folder
from tui_crawler.console.terminal import pass_signals_on
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.database_place import DatabasePlace, location_of
from tui_crawler.text.terminal_charset import has_utf8
from tui_crawler.text.terminal_signals import TerminalSignals
from tui_crawler.wiring import operator_name
from tui_crawler.wiring.console_rules import ConsoleRules
from tui_crawler.wiring.launch import Launch, program

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.console import ports
    from tui_crawler.console.operator.exit_summary import ExitSummary
    from tui_crawler.demo.process import DemoProcess
    from tui_crawler.domain.history.alarm import Alarm
    from tui_crawler.storage.db.file_identity import FilePlace
    from tui_crawler.wiring.detach import DetachedRun
    from tui_crawler.wiring.host import ProcessHost


# ruff: noqa: PLC0415  what the first picture does not need is imported after it, or not at all


class DemoSidecar:
    """The demo web beside a crawl of it: served again where its crawl goes on without it. Ends the web it has started,
    unless that was left to another process."""

    def __init__(self, web: DemoProcess | None = None) -> None:
        """`web` is one that is served already, and stays with whoever started it."""
        self.web, self._own = web, False

    def serve(self, config: Config, database: DatabasePlace) -> None:
        """Serves the demo web where the crawl of one begins or goes on, at the ports that the database knows; for any
        other crawl nothing. Where the ports are taken somebody else serves it. Blocks for about a second."""
        from tui_crawler.demo.process import USER_AGENT, DemoProcess, DemoUnavailable

        if self.web is not None or config.user_agent != USER_AGENT:
            return
        from tui_crawler.wiring.demo import base_port_of

        if (base := base_port_of(database)) is not None:
            with contextlib.suppress(DemoUnavailable):
                self.web, self._own = DemoProcess.start(base_port=base), True

    def close(self) -> None:
        """Ends the web that was started here."""
        if self.web is not None and self._own:
            self.web.close()


_TURN_S = 0.000_5  # a thread that reads or crawls keeps the screen's waiting so long (Python's own: ten times that)
_COLLECTIONS = 50_000, 4, 20  # where the operator never pauses: a screen that is opened makes 12,000 objects


@dataclass(frozen=True, slots=True)
class DatabaseFound:
    """How a database stands: whether it may be written, if not though it was to be, why, and whose run is live."""

    writable: bool
    hindrance: str
    owner: str | None


def open_console(
    config: Config | None,
    database: DatabasePlace,
    readonly: bool,
    launch: Launch,
    *,
    web: DemoProcess | None = None,
    found: DatabaseFound | None = None,
) -> int:
    """Open the console; return the exit status.

    A live run of the database is attached to. Otherwise the engine is started here: with `config`, or with the
    configuration the database keeps. A database that cannot be written is watched only. `web` is the demo web that is
    crawled; it stays with a run that is left to itself. `found`: how the database stands, where that is known. Raises
    StorageFailure before the screen is taken.
    """
    sys.setswitchinterval(_TURN_S)
    with contextlib.closing(DemoSidecar(web)) as beside:
        summary = _show(config, database, readonly, launch, beside, found or _look(database, readonly))
    for line in summary.lines():
        print(line)
    sys.stdout.flush()
    if summary.engine_stuck:
        os._exit(summary.exit_status or 3)
    return summary.exit_status


def demo_console(database: DatabasePlace | None, port: int | None) -> int:
    """The demo web, and the console crawling it; or the console alone, on a demo that was left to itself and goes on.
    Raises DemoUnavailable, StorageFailure."""
    from tui_crawler.demo.process import DemoProcess
    from tui_crawler.wiring.demo import base_port_of, config_for, demo_database, free_base_port

    kept = demo_database(database)
    found = _look(kept, readonly=False) if kept.exists() else None
    if found is not None and found.owner is not None:
        status = open_console(None, kept, False, Launch(), found=found)
    else:
        base = port or base_port_of(kept) or free_base_port()
        with DemoProcess.start(base_port=base) as web:
            status = open_console(config_for(web, kept, headless=False), kept, False, Launch(), web=web)
        if not web.was_left:
            print(f"The demo is kept in {kept}; continue it: tui-crawler demo --db {quote(str(kept))}")
    return 0 if status == 1 else status


def _look(database: DatabasePlace, readonly: bool) -> DatabaseFound:
    """Make or migrate the database where need be, before the screen is taken. Raises RunHeld, StorageFailure."""
    from tui_crawler.storage.db.file_identity import check_current
    from tui_crawler.storage.db.open_settings import OpenSettings
    from tui_crawler.storage.drivers.faults import ReadOnlyDatabase

    hindrance = ""
    if not readonly:
        from tui_crawler.storage.db.database import open_writable
        from tui_crawler.storage.workers.journal import Journal

        try:
            open_writable(database, OpenSettings()).close()
        except ReadOnlyDatabase as refusal:
            if not database.exists():
                raise
            hindrance = str(refusal)
        else:
            with contextlib.closing(Journal(database)) as journal:
                return DatabaseFound(True, "", journal.live_owner())
    check_current(database)
    return DatabaseFound(False, hindrance, None)


def _show(
    config: Config | None,
    database: DatabasePlace,
    readonly: bool,
    launch: Launch,
    beside: DemoSidecar,
    found: DatabaseFound,
) -> ExitSummary:
    from tui_crawler.storage.db.file_identity import FilePlace

    writable, place = found.writable, FilePlace(database)
    host: ProcessHost | None = None
    turn = threading.Lock()

    def kept() -> Config | None:
        from tui_crawler.wiring.origin_settings import kept_config

        return kept_config(database, impolite=launch.allow_impolite)

    def begin(chosen: Config) -> None:
        with turn:  # what this console carries out on the resting database is over
            beside.serve(chosen, database)
        _warn(chosen, told)

    def told(news: Alarm | str) -> None:
        app.on_alarm(news)

    def hosted(chosen: Config) -> ProcessHost:
        from tui_crawler.wiring.host import ProcessHost

        return ProcessHost(chosen, database, launch, partial(begin, chosen), told)

    if writable and found.owner is None:
        config = config or kept()
        host = hosted(config) if config else None

    def successor() -> ports.EngineHost | None:
        nonlocal host
        chosen = config or kept()
        host = hosted(chosen) if chosen else host
        return host if chosen else None

    def journal() -> ports.Journal:
        from tui_crawler.wiring.steering import SteeredJournal

        return SteeredJournal(database, lambda: host is None or host.resting, turn)

    detacher: DetachedRun | None = None
    if writable:
        from tui_crawler.wiring.detach import DetachedRun

        detacher = DetachedRun(config, database, companion=beside, launch=launch)
    app = CrawlerApp(
        ReadingSources(
            partial(reports_on, database),
            partial(explainer, database=database),
            partial(queries, database),
            ConsoleRules(database),
        ),
        Operator(journal if writable else None, operator_name(database), found.hindrance),
        EngineAccess(host, detacher, successor if writable else None),
        _presentation(config, database),
        replays=Replays(opens=partial(_see_again, database)),
    )
    summary = app.run_to_end()
    if host is not None and summary.engine_stuck:
        host.kill()
    _put_log_away(database, place, summary, readonly)
    return summary


def _warn(config: Config, told: Callable[[str], object]) -> None:
    for one in config.warnings:
        if one.key != "user_agent":  # which the header names all the time
            told(str(replace(one, file=Path(one.file).name)))


def _presentation(config: Config | None, database: DatabasePlace) -> Presentation:
    memory, plain = SessionFile(state_folder(os.environ), str(database.absolute())), not has_utf8(os.environ)
    if config is None:  # the name is that of the run
        return Presentation(memory=memory, signals=TerminalSignals(database.stem, os.environ, None, ascii_only=plain))
    theme = config.theme if config.source_of("theme") != "default" else ""
    signals = TerminalSignals(config.name, os.environ, config.alarms, ascii_only=plain)
    return Presentation(config.name, dict(config.keymap), theme, memory, signals)


def _see_again(database: DatabasePlace, run_id: int) -> None:
    """A replay of a run in a process of its own, which has the terminal until it is left, or this console is ended."""
    named = ("--db", location_of(database), "--run", str(run_id))
    command = program("replay", "--console", *named)
    with subprocess.Popen(command) as replay:  # noqa: S603  this program itself
        restore = pass_signals_on(replay.send_signal)
        replay.wait()
        restore()


def reports_on(database: DatabasePlace) -> ports.Reports:
    """Open the reports, in the thread that reads, once the first picture is there."""
    from tui_crawler.wiring.console_reports import ConsoleReports

    begin_collecting()
    return ConsoleReports(database)


def begin_collecting() -> None:
    """Turn the garbage collector on. What is there by now stays to the end: it is not looked through."""
    gc.freeze()
    gc.set_threshold(*_COLLECTIONS)
    gc.enable()


def queries(database: DatabasePlace) -> ports.Queries:
    """Return what runs queries in SQL on this database."""
    from tui_crawler.storage.reports.sql import QueryRunner

    return QueryRunner(database)


def _put_log_away(database: DatabasePlace, place: FilePlace, summary: ExitSummary, readonly: bool) -> None:
    """Remove the files of the database's log, which remain where a reader has closed the database last: not those of a
    run that broke off where this console only watches, nor where something went wrong with the database: a log must not
    be taken into another file that is there now."""
    from tui_crawler.domain.records.failure import StorageFailure
    from tui_crawler.storage.db.file_identity import put_log_away

    if summary.engine_stuck or summary.engine_failure or summary.trouble or summary.crashed:
        return
    try:
        place.check()
    except StorageFailure:
        return
    ended = summary.run is not None and bool(summary.run.finished_at)
    put_log_away(database, only_empty=readonly and not ended)


def explainer(reports: ports.Reports, database: DatabasePlace | None = None) -> ports.Explainer:
    """Says why, out of the rows of these reports; made in the thread that reads them."""
    from tui_crawler.storage.reports.reports import Reports
    from tui_crawler.wiring.explain import Explainer

    if not isinstance(reports, Reports):
        raise TypeError("only reports on a database can be explained")
    return Explainer(reports, zone=MachineClock().zone, you=operator_name(database))
