"""The console on a crawl as of then."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tui_crawler.console.app import CrawlerApp, EngineAccess, Operator, Presentation, ReadingSources
from tui_crawler.console.clock import MachineClock
from tui_crawler.console.replay.player import ReplayPlayer, Replays
from tui_crawler.console.session import SessionFile, state_folder
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.view import RunView
from tui_crawler.storage.crawl.replayed import ReplayedReader, ReplayedTables
from tui_crawler.storage.db.file_identity import check_current
from tui_crawler.wiring.console import begin_collecting, explainer, queries
from tui_crawler.wiring.console_reports import ConsoleReports

_FIRST = 1 << 32  # version of the first picture; less than it are those before


class ReplayedReports(ConsoleReports):
    """The reports of a crawl as of then. Each reading takes them where the player wants them."""

    READER = ReplayedReader

    def __init__(self, path: Path, run_id: int | None, player: ReplayPlayer) -> None:
        """Makes the tables, empty yet. Raises StorageFailure."""
        super().__init__(path, now=lambda: player.at)
        assert isinstance(self._reader, ReplayedReader)  # noqa: S101  see above
        self._player, self._tables, self._version = player, ReplayedTables(self._reader, run_id), _FIRST

    def data_version(self) -> int:
        """Moves, if that is wanted; greater after a move on, smaller after one back."""
        goal = self._player.wanted()
        if goal is not None:
            before, moment = self._tables.moment, self._tables.go(goal)
            on = (moment.attempt_id, moment.at) > (before.attempt_id, before.at)
            self._version += 0 if moment == before else 1 if on else -1
            self._player.arrived(goal, moment, self._tables.span())
        return self._version

    def run(self) -> RunView | None:
        """The newest run of then; it was at work until it had ended."""
        run = super().run()
        if run is None or run.finished_at:
            return run
        return replace(run, live=True, heartbeat_at=self._now(), disk_full=False, owner="")

    def lock_holder(self) -> int:
        """Nobody waits for a lock here."""
        return 0


@contextmanager
def crawl_in_file(database: DatabasePlace, tell: Callable[[int], None]) -> Iterator[Path]:
    """The file of a crawl; of one on a server a copy as it is now, which goes in the end. `tell` is told how many rows
    are copied so far. Raises StorageFailure."""
    check_current(database)
    if isinstance(database, Path):
        yield database
        return
    from tui_crawler.storage.database_copy import copy_crawl  # noqa: PLC0415  a file needs no copy

    with TemporaryDirectory(prefix="tui-crawler-replay-") as folder:
        copy_crawl(database, Path(folder, "crawl.db"), tell, passing=True)
        yield Path(folder, "crawl.db")


def open_replay(database: DatabasePlace, file: Path, run_id: int | None) -> int:
    """Opens the console on a run (None: the whole log) as of then, at its beginning, by the file of the crawl; answers
    the exit status. Nothing is written. Raises StorageFailure before the screen is taken."""
    player = ReplayPlayer(MachineClock())

    def reports() -> ReplayedReports:
        begin_collecting()
        return ReplayedReports(file, run_id, player)

    app = CrawlerApp(
        ReadingSources(reports, explainer, lambda: queries(database)),
        Operator(None, watches="a replay"),
        EngineAccess(),
        Presentation(memory=SessionFile(state_folder(os.environ), str(database.absolute()))),
        replays=Replays(player),
    )
    return app.run_to_end().exit_status
