"""What the console costs on a large, busy crawl: `python -m benchmarks.console [--folder KEPT] [--runs 3]`.

Makes a database of 1,000 origins and 1,000,000 known URLs (kept in --folder, so that the next time is quick). A process
of its own commits settles, 1,000 a second by default: each rewrites an origin row and appends an attempt. Meanwhile
`tui-crawler --db … --readonly` runs in a pseudo terminal of 120 x 40 and is measured from outside, through its bytes:
the first paint, keys (j and k, at random times; then the views, back, filters, groupings, spans, and on crawls of one
origin its tree, its timeline and two runs compared, in turn, each until what it is for stands on the screen), the
processor, the memory, and a terminal that reads nothing for 10 s.
A minimal Textual app in the same terminal is the yardstick, also of a start whose files are not in memory. All figures
are medians of the runs, p99 included; other work on the machine shows in them, so compare ratios of one run.

`--hosting` measures the keys of a console that hosts its own engine at full speed instead (under a minute).
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from benchmarks.console_cold import put_away
from benchmarks.console_crawl import Crawl, make, make_twice
from benchmarks.console_hosting import show_hosting, show_keys
from benchmarks.console_terminal import NAME, Console, Keys, Seen
from tui_crawler.text.glyphs import CURSOR

RUNS, PRESSES, WATCH_S, STALL_S = 3, 120, 20.0, 10.0
_MINIMAL = [sys.executable, "-m", "benchmarks.console_minimal"]
_BACK = ("esc back to the origins", b"\x1b", r"─ Origins ")
TURN = (
    ("enter opens an origin", b"\r", r"─ Attempts "),
    _BACK,
    ("? opens the help", b"?", r"╭─ Keys"),
    _BACK,
    ("ctrl+p opens the palette", b"\x10", r"╭─ Palette"),
    _BACK,
    (": opens the prompt", b":", r"\n : "),
    ("esc closes the prompt", b"\x1b", r"(?s)\A(?!.*\n : ).*─ Origins "),
    ("g q opens SQL", b"gq", r"─ SQL · "),
    _BACK,
    ("2 Failures", b"2", r"─ By (?s:.*) Failures  "),
    _BACK,
    ("3 URLs", b"3", r"─ URLs (?s:.*) URLs  "),
    ("/ opens the filter", b"/", r"\n / part of a URL"),
    ("a key typed there", b"x", r"\n / x"),
    ("nothing matches, told", b"nomatch#", r"No URL passes the filter"),
    ("esc closes the filter", b"\x1b", r"row 1 of (?:1 )?\d+ 000"),
    _BACK,
    ("4 Rules", b"4", r"─ Rules (?s:.*) Rules  "),
    ("5 Logs", b"5", r"─ Log (?s:.*) Logs  "),
    ("7 Jobs", b"7", r"─ Jobs (?s:.*) Jobs  "),
    ("6 Pulse", b"6", r"─ Pages/s (?s:.*) Pulse  "),
    ("8 Workers", b"8", r"─ Workers · (?s:.*) Workers  "),
    ("6 Pulse", b"6", r"─ Pages/s (?s:.*) Pulse  "),
    ("+ a longer span", b"+", r" span \d"),
    ("- a shorter span", b"-", r" run \d"),
    ("1 Overview", b"1", r"─ Origins "),
    ("2 Failures", b"2", r"─ By (?s:.*) Failures  "),
    *(("t g groups again", b"tg\r", rf"─ By {by} · ") for by in ("origin", "exit code × origin", "HTTP status")),
    *(("t g groups again", b"tg\r", rf"─ By {by} · ") for by in ("path pattern", "message", "exit code")),
    _BACK,
)
"""What each key is called, the key (# is the number of the turn: a text that was looked for before is known), and what
stands on the screen when it is answered. `t g` shows its first words at once: it is answered when the groups stand."""
ONE = (
    ("o t opens the tree", b"ot", r"─ Site tree (?s:.*) Site tree  "),
    ("down to its first branch", b"j", rf"{CURSOR}\W+section-0/"),
    ("enter unfolds it", b"\r", r"a-page-of-usual-length"),
    ("enter folds it", b"\r", r"(?s)\A(?!.*a-page-of-usual-length).*─ Site tree "),
    ("esc back from the tree", b"\x1b", r"─ Origins "),
    ("o p opens the timeline", b"op", r"─ Politeness (?s:.*) Politeness  "),
    ("+ twelve times, to the longest span of it", b"+" * 12, r" span 30d"),
    ("- a shorter span of it", b"-", r" span 7d"),
    ("esc back from the timeline", b"\x1b", r"─ Origins "),
)
"""The same, on a crawl whose URLs are all of one origin, while they are counted."""
TWICE = (
    ("g d compares two runs", b"gd", r"(?s)─ Pages .* Runs "),
    ("tab to the pages that differ", b"\t", rf"(?s)─ Pages .*{CURSOR} "),
    ("down among them", b"j", rf"{CURSOR} \S \w+ +\S*-3\."),
    ("g n turns to the next", b"gn", r"─ Pages (?s:.*) 201–400 "),
    ("g p turns back", b"gp", r"─ Pages (?s:.*) 1–200 "),
    ("esc back from the comparison", b"\x1b", r"─ Origins "),
)
"""The same, on an origin that two runs have crawled, while what differs is counted."""
TURNS = 6
LISTENS_NOBODY = "127.0.0.1:9"
SETTLES, ORIGINS, PAGES, SEEDS, COMPARED = 1_000, 1_000, 1_000_000, 1_000, 500_000


@dataclass(frozen=True, slots=True)
class Measured:
    """One run. Times in ms, shares of one core in percent, memory in MiB (resident)."""

    minimal_p50: float
    minimal_p99: float
    minimal_paint: float
    minimal_cold: float
    minimal_read: float
    cold_paint: float
    cold_read: float
    cold_rows: float
    cold_rows_read: float
    crawling_cold: float
    crawling_read: float
    crawling_paint: float
    seeds_paint: float
    resting_paint: float
    frame_paint: float
    rows_paint: float
    key_p50: float
    key_p99: float
    processor: float
    memory: float
    written: float
    bytes_s: float
    stall_written: float
    stall_back: float


GOALS: tuple[tuple[str, str, str, float | None], ...] = (
    ("minimal_p50", "minimal app: key to bytes, p50", "ms", None),
    ("minimal_p99", "minimal app: key to bytes, p99", "ms", None),
    ("minimal_paint", "minimal app: first paint", "ms", None),
    ("minimal_cold", "minimal app: first paint, files not in memory", "ms", None),
    ("minimal_read", "read from the disk for it", "MiB", None),
    ("cold_paint", "first paint: frame, files not in memory", "ms", None),
    ("cold_read", "read from the disk for it", "MiB", None),
    ("cold_rows", "first paint: origin rows, of the same start", "ms", None),
    ("cold_rows_read", "read from the disk for them", "MiB", None),
    ("crawling_cold", "the same with a configuration: frame", "ms", None),
    ("crawling_read", "read from the disk for it", "MiB", None),
    ("crawling_paint", "first paint: frame, with a configuration", "ms", 300),
    ("seeds_paint", f"first paint: frame, with {SEEDS:,} seeds", "ms", 300),
    ("resting_paint", "first paint: frame, at rest", "ms", 300),
    ("frame_paint", "first paint: frame, during the crawl", "ms", 300),
    ("rows_paint", "first paint: origin rows, during the crawl", "ms", None),
    ("key_p50", "key to bytes, p50", "ms", None),
    ("key_p99", "key to bytes, p99", "ms", 50),
    ("processor", f"processor over {WATCH_S:.0f} s, of one core", "%", 15),
    ("memory", "memory (resident)", "MiB", None),
    ("written", "settles a second meanwhile", "", None),
    ("bytes_s", "bytes a second to the terminal", "", None),
    ("stall_written", f"settles a second, terminal stalled {STALL_S:.0f} s", "", None),
    ("stall_back", "then: key to bytes", "ms", 1_000),
)


def measure(database: Path, settles: int, presses: int) -> Measured:
    """One run of everything."""
    chance = random.Random(presses)
    with Console.start(_MINIMAL) as minimal:
        minimal.first_seen(b"row 0 ", b"row 7 ")
        minimal.read_for(1)
        pressed = minimal.press_randomly(presses, chance)
    put_away(database)
    with Console.start(_MINIMAL) as minimal:
        _, minimal_cold = minimal.first_seen(b"row 0 ", b"row 7 ")
    put_away(database)
    cold, cold_rows = start_once(_console(database))
    resting, _ = start_once(_console(database))
    put_away(database)
    crawling_cold, _ = start_once(_crawl(database), LISTENS_NOBODY)
    crawling, _ = start_once(_crawl(database), LISTENS_NOBODY)
    seeds, _ = start_once(_crawl(database, SEEDS), LISTENS_NOBODY)
    with Console.start(_MINIMAL) as minimal:
        _, minimal_paint = minimal.first_seen(b"row 0 ", b"row 7 ")
    with Crawl(database, settles) as crawl:
        crawl.watch(2)
        with Console.start(_console(database)) as console:
            frame, rows = console.first_seen(b"Origins", b"site")
            console.read_for(3)
            before, seen = console.processor_s(), console.count
            written = crawl.watch(WATCH_S, console.read_for)
            processor = (console.processor_s() - before) / WATCH_S * 100
            bytes_s = (console.count - seen) / WATCH_S
            keys = console.press_randomly(presses, chance)
            memory = console.memory_mib()
            stalled = crawl.watch(STALL_S)
            back = console.press_randomly(1, chance).worst
            console.quit()
    return Measured(
        *_key_times(pressed), minimal_paint.ms, minimal_cold.ms, minimal_cold.read_mib, cold.ms, cold.read_mib,
        cold_rows.ms, cold_rows.read_mib, crawling_cold.ms, crawling_cold.read_mib, crawling.ms, seeds.ms, resting.ms,
        frame.ms, rows.ms, *_key_times(keys), processor, memory, written, bytes_s, stalled, back,
    )  # fmt: skip


def yardstick(turns: int) -> Keys:
    """Keys of the minimal app, beside which those of a turn stand."""
    with Console.start(_MINIMAL) as minimal:
        minimal.first_seen(b"row 0 ", b"row 7 ")
        minimal.read_for(1)
        return minimal.press_randomly(3 * turns, random.Random(turns))


def turns_of(database: Path, turn: Sequence[tuple[str, bytes, str]], turns: int) -> dict[str, Keys]:
    """The keys in turn, at rest."""
    with Console.start(_console(database)) as console:
        console.first_seen(b"Origins", b"site")
        console.read_for(2)
        found = console.press_in_turn(turn, turns, random.Random(turns))
        console.quit()
    return found


def start_once(command: list[str], row: str = NAME) -> tuple[Seen, Seen]:
    """Starts the console while nothing else is at work, and leaves it. Gives when its frame stood, header and footer,
    and the first row that has `row` in it. The first start of changed sources makes their bytecode, too."""
    with Console.start(command) as console:
        frame, rows = console.first_seen(b"Origins", row.encode())
        console.quit()
    return frame, rows


def _crawl(database: Path, seeds: int = 1) -> list[str]:
    """The console on a configuration, whose crawl it carries out: of one origin, where nobody listens."""
    config = database.with_name(f"crawling-{seeds}.yaml")
    listed = "".join(f"  - http://{LISTENS_NOBODY}/a-seed-of-usual-length-{number}.html\n" for number in range(seeds))
    config.write_text(
        f"user_agent: benchmark (of the console, on this computer)\nseeds:\n{listed}"
        f"database: crawling-{seeds}.db\nrules: [{{match: /private/, skip: true}}]\n",
        encoding="utf-8",
    )
    return [sys.executable, "-m", "tui_crawler", str(config)]


def _console(database: Path) -> list[str]:
    return [sys.executable, "-m", "tui_crawler", "--db", str(database), "--readonly"]


def _key_times(keys: Keys) -> tuple[float, float]:
    if keys.unanswered:
        print(f"  {keys.unanswered} keys had no answer", flush=True)
    return keys.percentile(50), keys.percentile(99)


def show(runs: list[Measured]) -> None:
    """Print the medians next to the targets of docs/console.md."""
    titles = {name: title for name, title, _, _ in GOALS}
    medians = {one.name: statistics.median(getattr(run, one.name) for run in runs) for one in fields(Measured)}
    for name, title, unit, goal in GOALS:
        value = medians[name]
        low, high = (bound(getattr(run, name) for run in runs) for bound in (min, max))
        judged = "" if goal is None else f"goal < {goal:g} {unit}: {'met' if value < goal else 'missed'}"
        print(f"{title:44}{value:10.1f} {unit:4} ({low:.1f} … {high:.1f})  {judged}".rstrip())
    print(f"key p99 / that of the minimal app: {medians['key_p99'] / medians['minimal_p99']:.1f}")
    for ours, yardstick in (
        ("resting_paint", "minimal_paint"), ("seeds_paint", "minimal_paint"), ("cold_paint", "minimal_cold"),
    ):  # fmt: skip
        print(f"{titles[ours]} / that of the minimal app: {medians[ours] / medians[yardstick]:.2f}")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="What the console costs on a large, busy crawl.")
    parser.add_argument("--folder", type=Path, help="keeps the database here for the next time")
    parser.add_argument("--pages", type=int, default=PAGES, help="URLs of the crawl; fewer where runs are compared")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--settles", type=int, default=SETTLES, help="a second; each rewrites two rows")
    parser.add_argument("--presses", type=int, default=PRESSES)
    parser.add_argument("--turns", type=int, default=TURNS, help="how often the keys of all views are pressed in turn")
    parser.add_argument("--only-turns", action="store_true", help="measures nothing else")
    parser.add_argument("--hosting", action="store_true", help="only the console that hosts a crawl at full speed")
    parser.add_argument("--workers", default="1", help="with --hosting: how many share that crawl")
    options = parser.parse_args()
    if options.hosting:
        show_hosting(_MINIMAL, options.workers)
        return
    with tempfile.TemporaryDirectory() as passing:
        folder = options.folder or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        pages, compared = options.pages, options.pages * COMPARED // PAGES
        database = folder / f"console-{ORIGINS}-{pages}.db"
        make(database, ORIGINS, pages)
        start_once(_console(database))
        one, twice = folder / f"console-1-{pages}.db", folder / f"console-twice-{compared}.db"
        make(one, 1, pages)
        make_twice(twice, compared)
        show_keys("minimal app: j and k", yardstick(options.turns))
        for crawl, turn in ((database, TURN), (one, ONE), (twice, TWICE)):
            for name, keys in turns_of(crawl, turn, options.turns).items():
                show_keys(name, keys)
        if options.only_turns:
            return
        start_once(_crawl(database), LISTENS_NOBODY)
        start_once(_crawl(database, SEEDS), LISTENS_NOBODY)
        runs = []
        for number in range(options.runs):
            runs.append(measure(database, options.settles, options.presses))
            print(f"run {number + 1} of {options.runs} is over", flush=True)
        print(f"\n{ORIGINS:,} origins, {pages:,} URLs, {options.settles:,} settles a second; medians of {len(runs)}")
        show(runs)


if __name__ == "__main__":
    main()
