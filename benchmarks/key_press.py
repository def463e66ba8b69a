"""How many of our functions `p` goes through, from the key to the wish that is committed in the operator's journal.

    python -m benchmarks.key_press

The console shows a database; the engine is elsewhere. Counted are functions of the package that are entered after the
key was pressed: in the screen's thread until the wish is handed over, in the journal's until it is committed. The first
`p` makes what is made once; counted is the second one, of an origin whose pause was taken off.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

import tests.console.support as support
from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, plan
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.wiring.console_reports import ConsoleReports
from tui_crawler.wiring.steering import SteeredJournal

HANDED_IN = "console/operator/journal.py:JournalWriter.hand_in", "console/dispatcher.py:Dispatcher.do"
COMMITTED = "console/app.py:CrawlerApp.JournalNews.__init__", "storage/workers/journal.py:Journal.send"
"""What the two ways end with, once they have come by the other: the wish is handed over; that it is committed is told,
which does not belong to the way any more."""
PACKAGE = str(Path(support.__file__).parents[2] / "tui_crawler")


class Counter:
    """Functions of the package that were entered while `on`, by thread."""

    def __init__(self) -> None:
        self.on = False
        self.over: set[str] = set()
        self.entered: dict[str, dict[str, None]] = defaultdict(dict)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if self.on and event == "call" and code.co_filename.startswith(PACKAGE) and "<" not in code.co_name:
            thread = threading.current_thread().name
            name = f"{code.co_filename.removeprefix(PACKAGE)[1:]}:{code.co_qualname}"
            if name == COMMITTED[0] and COMMITTED[1] in self.entered[thread]:
                self.over.add(thread)
            if thread not in self.over:
                self.entered[thread][name] = None
            if name == HANDED_IN[0] and HANDED_IN[1] in self.entered[thread]:
                self.over.add(thread)


class OpenReports(ConsoleReports):
    """Reports of a real database, with what the stage holds of its stand-in."""

    gate = None


async def database(path: Path) -> None:
    """One origin with a page, whose run has not begun."""
    open_writable(path, OpenSettings()).close()
    bench = DatabaseBench(path)
    await bench.open().begin_run(plan(f"{A}/"))
    bench.close()


async def count(path: Path, counter: Counter) -> None:
    """Presses `p` and waits for the row."""
    await database(path)
    shown: Any = OpenReports(path, now=lambda: T0 + 100)
    journal: Any = SteeredJournal
    support.FakeJournal = lambda _: journal(path, lambda: False, threading.Lock())  # type: ignore[misc,assignment]
    async with support.stage(reports=shown, explains=None) as held:
        with sqlite3.connect(path) as rows:
            for number in (1, 2):
                counter.on = number == 2
                await held.press("p", rounds=0)
                while rows.execute("SELECT count(*) FROM v_operator_action").fetchone()[0] < number:
                    await held.quiet(1)
        counter.on = False


def main() -> None:
    """Counts and prints."""
    counter = Counter()
    threading.setprofile(counter)
    sys.setprofile(counter)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(count(Path(folder) / "crawl.db", counter))
    sys.setprofile(None)
    threading.setprofile(None)  # type: ignore[arg-type]
    every = {name for names in counter.entered.values() for name in names}
    for thread, names in counter.entered.items():
        print(f"{thread}: {len(names)} functions in {len({name.split(':')[0] for name in names})} files")
        print("".join(f"    {name}\n" for name in names), end="")
    print(f"all: {len(every)} functions in {len({name.split(':')[0] for name in every})} files")


if __name__ == "__main__":
    main()
