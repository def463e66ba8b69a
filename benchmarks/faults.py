"""Workers of one crawl on a PostgreSQL server, when something goes wrong with them or with the server.

`python -m benchmarks.faults --server URL [--restart "COMMAND"] [--kills 100]`

One crawl for each fault, in a database made for it: nothing; workers ended by SIGKILL, with a new one in the place of
each; workers that stand still for longer than their lease and go on; connections that the server cuts; the server
started again (by the command given, for instance `pg_ctl restart -m immediate -D …`). At its end each has to have found
what the first has, no page by two attempts, `audit` and `db check` have to agree, and by the log of the web no answer
begins sooner after that origin's last one than the delay. What was asked for again is what was under way at a fault.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

import psycopg

from benchmarks.contestants import Found, Keeping, found_at, new_database, write_config
from benchmarks.kills import Tally, judge_gaps
from benchmarks.site import Site, serving

_LEASE_S = 5
_BETWEEN_S = (0.5, 2.0)
"""How long nothing goes wrong between two faults."""


class Workers:
    """The processes of one crawl; `tool` is what each is started as."""

    def __init__(self, config: Path, url: str, number: int) -> None:
        self._config = config
        self._url = url
        self._running: list[subprocess.Popen[bytes]] = []
        self._started = 0
        for _ in range(number):
            self.start()

    def start(self) -> None:
        """One more: the first brings the configuration."""
        word = ["run", str(self._config)] if not self._started else ["worker", "--name", f"w{self._started}"]
        if self._started == 1:
            self._until_begun()
        self._started += 1
        command = [sys.executable, "-m", "tui_crawler", *word, "--quiet", "--db", self._url]
        messages = (self._config.parent / f"w{self._started}.log").open("wb")
        with messages:
            self._running.append(subprocess.Popen(command, stdout=messages, stderr=messages, start_new_session=True))

    def _until_begun(self) -> None:
        for _ in range(300):
            with suppress(psycopg.Error), closing(psycopg.connect(self._url)) as connection:
                if connection.execute("SELECT 1 FROM session WHERE rest = 0").fetchone():
                    return
            time.sleep(0.1)
        raise RuntimeError(f"the first worker did not begin: {(self._config.parent / 'w1.log').read_text()}")

    def alive(self) -> list[subprocess.Popen[bytes]]:
        """Those that have not ended."""
        return [process for process in self._running if process.poll() is None]

    def wait(self, seconds: float) -> None:
        """Waits until all have ended; those that have not by then are killed, which is told."""
        end = time.monotonic() + seconds
        for process in self._running:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                print(f"  a worker has not ended by itself after {seconds:.0f} s", flush=True)
                process.kill()
                process.wait()


_TAKEN_OVER = "SELECT ended_at - heartbeat_at FROM session WHERE ended_by <> ''"
"""How long (ms) after the last sign of life of a worker what it held was taken over."""

Fault = Callable[[Workers, random.Random], None]


def kill(workers: Workers, chance: random.Random) -> None:
    """One is gone, a new one comes."""
    chance.choice(workers.alive()).kill()
    workers.start()


def stand_still(workers: Workers, chance: random.Random) -> None:
    """One does nothing for longer than its lease and goes on."""
    process = chance.choice(workers.alive())
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(_LEASE_S + 4)
    os.kill(process.pid, signal.SIGCONT)


def cut(server: str) -> Fault:
    """The server ends the connection of one worker."""

    def fault(workers: Workers, chance: random.Random) -> None:
        with closing(psycopg.connect(server, autocommit=True)) as connection:
            ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'tui-crawler'"
            if found := connection.execute(ours).fetchall():
                connection.execute("SELECT pg_terminate_backend(%s)", chance.choice(found))

    return fault


def restart(command: str) -> Fault:
    """The server is gone and comes again."""

    def fault(workers: Workers, chance: random.Random) -> None:
        subprocess.run(shlex.split(command), check=True, stdout=subprocess.DEVNULL)

    return fault


def crawl(site: Site, given: argparse.Namespace, fault: Fault | None, faults: int, tally: Tally) -> Found:
    """One crawl with at most so many faults. Raises RuntimeError where it is not whole by its own account."""
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder, new_database(given.server) as url:
        log = Path(folder) / "access.log"
        with serving(site, log) as served:
            config = write_config(served, Path(folder), Keeping.rows, given.delay_ms)
            kept = f"storage: {{validate: [], store_bodies: [], lease: {_LEASE_S}s}}\n"
            config.write_text(config.read_text().replace(Keeping.rows.value, kept), encoding="utf-8")
            workers = Workers(config, url, given.workers)
            while fault is not None and faults and workers.alive():
                time.sleep(chance.uniform(*_BETWEEN_S))
                if len(workers.alive()) == given.workers:
                    fault(workers, chance)
                    tally.kills["faults"] += 1
                    faults -= 1
            workers.wait(600)
        for command in (["audit"], ["db", "check"]):
            words = [sys.executable, "-m", "tui_crawler", *command, "--db", url]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            tally.faults += [f"{' '.join(command)}: {done.stdout[-300:]}{done.stderr}"] if done.returncode else []
        with closing(psycopg.connect(url)) as connection:
            tally.takeovers += [row[0] for row in connection.execute(_TAKEN_OVER)]
        judge_gaps(log, given.delay_ms, tally)
        tally.crawls += 1
        return found_at(url)


def main(words: Sequence[str] | None = None) -> int:
    """Crawls and prints. Answers 1 where anything was lost or asked for too soon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, metavar="URL", help="its role may make databases")
    parser.add_argument("--restart", metavar="COMMAND", help="starts the server again")
    numbers = {"workers": 4, "kills": 20, "others": 5, "origins": 200, "pages": 30, "links": 10, "bytes": 4_000}
    for name, number in (numbers | {"delay-ms": 200, "seed": 7}).items():
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args(words)
    site = Site(given.origins, given.pages, given.links, given.bytes, given.seed)
    kinds: dict[str, tuple[Fault | None, int]] = {"nothing": (None, 0), "SIGKILL": (kill, given.kills)}
    kinds |= {"SIGSTOP": (stand_still, given.others), "cut": (cut(given.server), given.others)}
    if given.restart:
        kinds["restart"] = restart(given.restart), given.others
    expected, bad = None, False
    for kind, (fault, number) in kinds.items():
        tally, began = Tally(), time.monotonic()
        while True:
            found = crawl(site, given, fault, number - tally.kills.total(), tally)
            expected = expected or found
            if found != expected:
                tally.faults.append(f"found {found.pages} pages instead of {expected.pages}")
            if tally.kills.total() >= number:
                break
        took = time.monotonic() - began
        print(f"{kind}: {tally.kills.total()} in {tally.crawls} crawls of {expected.pages} pages, {took:.0f} s")
        after = f", up to {max(tally.takeovers) / 1000:.1f} s after the last heartbeat" if tally.takeovers else ""
        print(f"  taken over: {len(tally.takeovers)}{after}")
        print(f"  asked for again: {tally.repeated}; shorter gaps than promised: {tally.short_gaps} of {tally.gaps}")
        print("".join(f"  FAULT {one}\n" for one in tally.faults) or "  no fault", flush=True)
        bad |= bool(tally.faults or tally.short_gaps)
    return int(bad)


if __name__ == "__main__":
    raise SystemExit(main())
