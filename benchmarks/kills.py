"""Crawls that are killed again and again: what is lost, and what is asked for too soon.

`python -m benchmarks.kills --kills 200 --workers 1 2`

A crawl is ended by SIGKILL at random moments and started again until it has come to its end; then the next one begins,
until there were so many kills. With several workers it is all processes of the run or one of them, by turns of
chance. After each kill the database is checked; at its end each crawl has to have found what one that nobody killed
finds, no page twice, and `audit` and `replay --check` have to agree. The server's own log says what was asked for
twice, and whether any answer began sooner after that origin's last one than the delay, which runs from its end.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import psutil

from benchmarks.contestants import Found, Keeping, found_in, run_command, write_config
from benchmarks.site import Site, serving

_LIFE_S = (0.7, 2.6)
"""How long a run lives at least and at most."""
_SHORT_MS = 1
"""By so much a gap may be shorter than its delay: what stored times are rounded to."""


@dataclass(slots=True)
class Tally:
    """What was seen of the crawls of one number of workers."""

    crawls: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    repeated: int = 0
    gaps: int = 0
    short_gaps: int = 0
    takeovers: list[int] = field(default_factory=list)


class Killed:
    """One crawl in a folder, started, killed and started again."""

    def __init__(self, site: Site, folder: Path, workers: int, delay_ms: int) -> None:
        self._config = write_config(site, folder, Keeping.rows, delay_ms)
        self._workers = workers
        self.database = self._config.with_suffix(".db")

    def to_its_end(self, chance: random.Random, tally: Tally, kills: int) -> None:
        """Starts and kills, at most `kills` times, until a run comes to its end by itself."""
        while True:
            with self._started() as process:
                while kills and self._lives(process, chance.uniform(*_LIFE_S)):
                    kills -= 1
                    whole = self._kill(process, chance)
                    tally.kills["all" if whole else "one worker"] += 1
                    tally.faults += self._broken()
                    if whole:
                        break
                else:
                    status = process.wait()
                    if status not in (0, 3):
                        tally.faults.append(f"a run ended with {status}")
                    return

    def _started(self) -> subprocess.Popen[bytes]:
        command = run_command(self._config, self._workers)
        return subprocess.Popen(
            command, cwd=self._config.parent, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, process_group=0
        )

    def _lives(self, process: subprocess.Popen[bytes], seconds: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.returncode is None

    def _kill(self, process: subprocess.Popen[bytes], chance: random.Random) -> bool:
        """Kills the run or one worker of it. Answers whether it was the run."""
        workers = psutil.Process(process.pid).children()
        if workers and chance.random() < 0.5:
            chance.choice(workers).kill()
            return False
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True

    def _broken(self) -> list[str]:
        with closing(sqlite3.connect(self.database)) as rows:
            try:
                said = {("ok",), *rows.execute("PRAGMA integrity_check"), *rows.execute("PRAGMA foreign_key_check")}
                return [str(row) for row in said - {("ok",)}]
            except sqlite3.Error as error:
                return [str(error)]

    def checked(self, *command: str) -> list[str]:
        """What a command has to object to the database."""
        words = [sys.executable, "-m", "tui_crawler", *command, "--db", str(self.database)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return [f"{' '.join(command)}: {done.stdout[-500:]}{done.stderr[-500:]}"] if done.returncode else []


def judge_gaps(log: Path, delay_ms: int, tally: Tally) -> None:
    """What the server saw of one crawl: gaps between answers and next requests, and pages it was asked for again."""
    asked: Counter[tuple[str, str]] = Counter()
    times: dict[str, list[float]] = defaultdict(list)
    for line in log.read_text(encoding="utf-8").splitlines():
        port, target, answered = line.split("\t")
        asked[port, target] += 1
        times[port].append(float(answered) * 1000)
    tally.repeated += sum(number - 1 for (_, target), number in asked.items() if target != "/robots.txt")
    for answers in times.values():
        gaps = [later - earlier for earlier, later in pairwise(answers)]
        tally.gaps += len(gaps)
        tally.short_gaps += sum(gap < delay_ms - _SHORT_MS for gap in gaps)


def crawl_and_kill(site: Site, workers: int, kills: int, delay_ms: int, seed: int) -> Tally:
    """As many crawls as so many kills need, and one that nobody kills, whose finds are expected of the others."""
    tally, chance, expected = Tally(), random.Random(seed), None
    while (left := kills - tally.kills.total()) or expected is None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "access.log"
            with serving(site, log) as served:
                crawl = Killed(served, Path(folder), workers, delay_ms)
                crawl.to_its_end(chance, tally, 0 if expected is None else left)
            try:
                found = found_in(crawl.database)
            except RuntimeError as error:
                tally.faults.append(str(error))
                continue
            expected = expected or found
            if found != expected:
                tally.faults.append(f"found {_size(found)} instead of {_size(expected)}")
            tally.faults += crawl.checked("audit") + crawl.checked("replay", "--check")
            judge_gaps(log, delay_ms, tally)
            tally.crawls += 1
            print(f"{workers} workers: {tally.kills.total()} kills, {len(tally.faults)} faults", flush=True)
    return tally


def _size(found: Found) -> str:
    return f"{found.pages} pages, {found.links} links"


def main(words: Sequence[str] | None = None) -> int:
    """Kills and prints. Answers 1 where anything was lost or asked for too soon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    numbers = {"kills": 200, "origins": 8, "pages": 400, "links": 20, "bytes": 8_000, "delay-ms": 10, "seed": 7}
    for name, number in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args(words)
    site = Site(given.origins, given.pages, given.links, given.bytes, given.seed)
    began, bad = time.monotonic(), False
    for workers in given.workers:
        tally = crawl_and_kill(site, workers, given.kills // len(given.workers), given.delay_ms, given.seed)
        kinds = ", ".join(f"{number} of {kind}" for kind, number in sorted(tally.kills.items()))
        print(f"{workers} workers, {tally.crawls} crawls of {site.origins * (site.pages + 1)} pages; kills: {kinds}")
        print(f"  asked for again: {tally.repeated}; shorter gaps than promised: {tally.short_gaps} of {tally.gaps}")
        print("".join(f"  FAULT {fault}\n" for fault in tally.faults) or "  no fault")
        bad |= bool(tally.faults or tally.short_gaps)
    print(f"{time.monotonic() - began:.0f} s")
    return int(bad)


if __name__ == "__main__":
    raise SystemExit(main())
