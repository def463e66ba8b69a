"""How long until all workers of a crawl on a PostgreSQL server obey an operator.

`python -m benchmarks.orders --server URL [--workers 4] [--times 20]`

Workers share 40 origins with a delay of half a second. All origins are paused and resumed so many times; each worker's
own events say when it has taken that up: the last of its origins counts, from before the order was written.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psycopg

from benchmarks.contestants import Keeping, new_database, write_config
from benchmarks.site import Site, serving
from tui_crawler.domain.records.command import PauseOrigins, ResumeOrigins
from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.storage.workers.journal import Journal

_BETWEEN_S = 1.6
_ORIGINS = 40
_SHARED = "SELECT COUNT(DISTINCT session_id) FROM origin WHERE free = 0"


def _until_shared(url: str, workers: int) -> None:
    """Waits until each worker holds origins."""
    for _ in range(600):
        with suppress(psycopg.Error), closing(psycopg.connect(url)) as connection:
            row = connection.execute(_SHARED).fetchone()
            if row and row[0] == workers:
                return
        time.sleep(0.1)
    raise RuntimeError(f"{workers} workers do not share the origins")


def _obeyed(events: Path, name: str, sent: float) -> float | None:
    """How long (ms) after `sent` (epoch ms) a worker has told the last event of that name, before the next order."""
    told = [json.loads(line) for line in events.read_text().splitlines() if line.startswith("{")]
    end = sent + _BETWEEN_S * 1_000
    found = [one["at"] - sent for one in told if one["event"] == name and sent - 1 <= one["at"] < end]
    return max(found, default=None)


def measure(server: str, workers: int, times: int) -> None:
    """Crawls, gives the orders, prints a line for each worker."""
    sent: list[tuple[str, float]] = []
    with ExitStack() as held:
        served = held.enter_context(serving(Site(_ORIGINS, 400, 10, 4_000, 7)))
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        url = held.enter_context(new_database(server))
        config = write_config(served, folder, Keeping.rows, 500)
        processes = []
        for number in range(workers):
            words = ["worker", "--name", f"w{number}"] if number else ["run", str(config)]
            command = [sys.executable, "-m", "tui_crawler", *words, "--json", "--db", url]
            output = held.enter_context((folder / f"{number}.jsonl").open("wb"))
            processes.append(subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL))
            held.callback(processes[-1].wait)
            held.callback(processes[-1].terminate)
            _until_shared(url, number + 1)
        with closing(Journal(PostgresPlace(url))) as journal:
            for _ in range(times):
                for name, command_ in (("origin_paused", PauseOrigins()), ("origin_resumed", ResumeOrigins())):
                    sent.append((name, time.time() * 1_000))
                    journal.send(command_, "benchmark")
                    time.sleep(_BETWEEN_S)
        for number in range(workers):
            took = [_obeyed(folder / f"{number}.jsonl", name, at) for name, at in sent]
            known = [one for one in took if one is not None]
            said = f"median {statistics.median(known):.0f} ms, at most {max(known):.0f} ms" if known else "never"
            print(f"{'first' if number == 0 else f'w{number}'}: {len(known)} of {len(sent)} obeyed, {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, metavar="URL", help="its role may make databases")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--times", type=int, default=20)
    given = parser.parse_args()
    measure(given.server, given.workers, given.times)


if __name__ == "__main__":
    main()
