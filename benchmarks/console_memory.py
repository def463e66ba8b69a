"""What the console keeps of screens that were left: `python -m benchmarks.console_memory [--times 500] [--only NAME]`.

The console runs in a pseudo terminal on a crawl of the demo, at rest (kept in --folder, so that the next time is
quick). Each kind of screen is opened and left --times; before and after, the console is asked (SIGUSR1) for its
resident memory, as it is and after a collection of garbage, and for the widgets and screens that are alive then. The
first openings are not counted: they load modules, and fill caches that have a bound. What was there before the first
reading is not among the widgets: the console never collects that.

`--random MINUTES` presses keys drawn from a seed for so long, while a console of its own crawls the demo.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psutil

from benchmarks.console_terminal import Console

TIMES, FIRST = 500, 40
QUIET_S, SETTLE_S = 0.05, 2.0
LONGEST_S = 0.5
ESCAPE_S = 0.12
"""How long an escape is kept, since it may begin the bytes of another key."""
MEMORY_GOAL_MIB = 25.0
ESC, ENTER, TAB = b"\x1b", b"\r", b"\t"
OPENINGS: dict[str, tuple[bytes, ...]] = {
    "help": (b"?", ESC),
    "help of a pane": (b"\x1bOP", ESC),
    "palette": (b"\x10", ESC),
    "prompt": (b":", ESC),
    "jump letters": (b"gj", ESC),
    "menu of keys": (b"o", ESC),
    "order": (b"s", ESC),
    "filter": (b"/", b"x", ESC),
    "add": (b"a", ESC),
    "origin": (ENTER, ESC),
    "timeline": (b"op", ESC),
    "tree": (b"ot", ESC),
    "robots": (b"or", ESC),
    "views": (b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"1"),
    "URL": (b"3", ENTER, ESC, b"1"),
    "SQL": (b"gq", ESC, ESC),
    "runs compared": (b"gd", ESC),
    "rule editor": (b"4", b"a", ESC, b"1"),
    "zoom": (b"+", b"+", b"-", b"-"),
}
"""What is pressed to open a kind of screen, and to be back on the overview."""
RANDOM_KEYS = (
    *(
        b"1",
        b"2",
        b"3",
        b"4",
        b"5",
        b"6",
        b"7",
        b"8",
        b"?",
        b"?",
        b"j",
        b"k",
        b"gg",
        b"ge",
        b"s",
        b"tc",
        b"f",
        b"ot",
        b"op",
    ),
    *(
        ENTER,
        ENTER,
        ENTER,
        TAB,
        TAB,
        ESC,
        ESC,
        ESC,
        ESC,
        b"+",
        b"-",
        b"\x1b[6~",
        b"\x1b[5~",
        b"gb",
        b"gf",
        b"gl",
        b"or",
        b"i",
    ),
)
"""Keys that neither leave the console nor change what is crawled."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a console has in memory: resident (MiB) as it is and after a collection, widgets and screens alive."""

    rss: float
    collected: float
    widgets: int
    screens: int
    kinds: Counter[str]


def report_to(path: Path) -> None:
    """Writes what is in memory to a file whenever SIGUSR1 comes (in the child)."""

    def measure(_number: int, _frame: FrameType | None) -> None:
        from textual.screen import Screen  # noqa: PLC0415  not before the console loads it
        from textual.widget import Widget  # noqa: PLC0415  see above

        process = psutil.Process()
        rss = process.memory_info().rss
        gc.collect()
        objects = gc.get_objects()
        alive = [one for one in objects if isinstance(one, Widget)]
        kinds = Counter(type(one).__name__ for one in objects)
        screens = sum(isinstance(one, Screen) for one in alive)
        report = {
            "rss": rss / 2**20,
            "collected": process.memory_info().rss / 2**20,
            "widgets": len(alive),
            "screens": screens,
            "kinds": kinds,
        }
        making = path.with_suffix(".making")
        making.write_text(json.dumps(report), encoding="utf-8")
        making.rename(path)

    signal.signal(signal.SIGUSR1, measure)


class Watched:
    """A console in a pseudo terminal that reports what it keeps."""

    def __init__(self, console: Console, path: Path) -> None:
        self._console, self._path = console, path

    def kept(self) -> Kept:
        """Ask it, once it is done with what was pressed. Raises TimeoutError."""
        self._console.read_for(SETTLE_S)
        self._console.forget()
        self._path.unlink(missing_ok=True)
        os.kill(self._console.process_id, signal.SIGUSR1)
        until = time.monotonic() + 30
        while not self._path.exists():
            if time.monotonic() > until:
                raise TimeoutError("the console does not report")
            self._console.read_for(0.05)
        report = json.loads(self._path.read_text(encoding="utf-8"))
        return Kept(report["rss"], report["collected"], report["widgets"], report["screens"], Counter(report["kinds"]))

    def press(self, keys: Sequence[bytes]) -> None:
        """Press keys, each once the one before is painted."""
        for key in keys:
            self._console.press(key)
            self._console.read_for(ESCAPE_S if key == ESC else 0)
            self._console.read_until_quiet(QUIET_S, LONGEST_S)
            self._console.forget()


def _demo(folder: Path) -> Path:
    """The crawl that is looked at, made unless it is there."""
    path = folder / "memory.db"
    if not path.exists():
        subprocess.run(
            [sys.executable, "-m", "tui_crawler", "demo", "--headless", "--db", str(path)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return path


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.console_memory", "--child", *words]


def _openings(folder: Path, times: int, only: Sequence[str]) -> bool:
    """Measure each kind of screen in a console of its own. Return whether all are within the goal."""
    print(
        f"{'opened':16} {'times':>5} {'MiB before':>11} {'after':>7} {'grew':>6} {'collected':>10}"
        f" {'widgets':>13}  screens"
    )
    good = True
    database, path = _demo(folder), folder / "kept.json"
    for name, keys in OPENINGS.items():
        if only and name not in only:
            continue
        with Console.start(_command(str(path), "--db", str(database), "--readonly")) as console:
            watched = Watched(console, path)
            console.first_seen(b"127.0.0.1")
            console.read_for(1.0)
            for _ in range(FIRST):
                watched.press(keys)
            before = watched.kept()
            for _ in range(times):
                watched.press(keys)
            after = watched.kept()
            console.quit()
        grew = after.rss - before.rss
        good &= grew <= MEMORY_GOAL_MIB
        print(
            f"{name:16} {times:5} {before.rss:11.1f} {after.rss:7.1f} {grew:+6.1f} {after.collected:10.1f}"
            f" {before.widgets:5} → {after.widgets:5}  {before.screens} → {after.screens}",
            flush=True,
        )
        more = Counter({kind: n for kind, n in (after.kinds - before.kinds).items() if n >= times / 10})
        if more:
            print("    more of:", ", ".join(f"{kind} {number}" for kind, number in more.most_common(8)), flush=True)
    return good


def _at_random(folder: Path, minutes: float, seed: int) -> bool:
    """Press keys at random while a console crawls the demo."""
    chance, path = random.Random(seed), folder / "kept.json"
    database = folder / f"random-{os.getpid()}.db"
    words = ("--db", str(database)) if minutes else ()
    with Console.start(_command(str(path), "demo", *words)) as console:
        watched = Watched(console, path)
        console.first_seen(b"127.0.0.1")
        console.read_for(2.0)
        began, next_at, first = time.monotonic(), 0.0, None
        print(f"{'minute':>6} {'keys':>6} {'MiB':>7} {'collected':>10} {'widgets':>8} {'screens':>8}")
        pressed = 0
        while (passed := (time.monotonic() - began) / 60) < minutes:
            watched.press([chance.choice(RANDOM_KEYS)])
            pressed += 1
            if passed >= next_at:
                now = watched.kept()
                first = first or (now if passed > 0.5 else None)
                print(
                    f"{passed:6.1f} {pressed:6} {now.rss:7.1f} {now.collected:10.1f} {now.widgets:8} {now.screens:8}",
                    flush=True,
                )
                next_at += 0.5
        last = watched.kept()
        print(
            f"{passed:6.1f} {pressed:6} {last.rss:7.1f} {last.collected:10.1f} {last.widgets:8} {last.screens:8}",
            flush=True,
        )
        watched.press([ESC] * 8)
        console.quit()
    return first is not None and last.rss - first.rss <= MEMORY_GOAL_MIB


def main() -> int:
    """Measure; the exit status is 1 where anything grew by more than the goal."""
    if "--child" in sys.argv:
        from tui_crawler.cli.main import main as run  # noqa: PLC0415  in the child alone

        at = sys.argv.index("--child")
        report_to(Path(sys.argv[at + 1]))
        sys.argv = ["tui-crawler", *sys.argv[at + 2 :]]
        return run()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--only", action="append", default=[], choices=list(OPENINGS))
    parser.add_argument("--random", type=float, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="console-memory-") as made:
        folder = chosen.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        if chosen.random is not None:
            return 0 if _at_random(folder, chosen.random, chosen.seed) else 1
        return 0 if _openings(folder, chosen.times, chosen.only) else 1


if __name__ == "__main__":
    sys.exit(main())
