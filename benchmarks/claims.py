"""How many origins a second workers lease out of 10,000, one at a time and in batches of 32.

`python -m benchmarks.claims [--server URL]`: in a file, and on a PostgreSQL server whose role may make databases.
Each claim is a transaction of its own, with its COMMIT, as a worker makes it; four sessions take turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.contestants import new_database
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.owner import Owner
from tui_crawler.storage.db.transaction import Texts, Transaction
from tui_crawler.storage.db.writing import writing_of
from tui_crawler.storage.drivers.driver import connection_of
from tui_crawler.storage.models import Origin
from tui_crawler.storage.workers import leases, peers, sessions
from tui_crawler.storage.workers.sessions import Starter

WORKERS = 4


def seeds(origins: int) -> tuple[NewPage, ...]:
    """A seed of each origin."""
    urls = [normalise(f"https://www.site{number}.example/") for number in range(origins)]
    return tuple(NewPage(url.href, url.hash, url.origin, 0, seed=True) for url in urls if isinstance(url, CrawlUrl))


def measure(place: DatabasePlace, origins: int, batch: int) -> float:
    """Origins leased a second."""
    database = open_writable(place, OpenSettings())
    texts, plan = Texts(database), RunPlan("b", "b/1", "b", seeds(origins), 8, 3, 5, 2, 0, workers=WORKERS)
    work = Transaction(connection_of(database), texts, wall_clock(), 1)
    writing = writing_of(database, place, wall_clock)
    starters = [Starter(Owner("host", f"machine {number}", number, 1), 30_000) for number in range(WORKERS)]
    writing.begin(patient=True, apart=True)
    first, start = sessions.begin(work, plan, starters[0])
    peers.open_to_all(work, first, start)
    claims = [first, *(peers.join(work, plan, starter)[0] for starter in starters[1:])]
    work.execute(Origin.update({Origin.site: Origin.origin}))
    members = {one.session_id: one for one in leases.members(work)}
    writing.commit()
    leased, began = 0, time.monotonic()
    while leased < origins:
        claim = claims[leased // batch % WORKERS]
        writing.begin(patient=True, apart=False)
        writing.number(work)
        leased += len(leases.lease(work, claim, batch, members[claim.session_id]))
        writing.settle()
        writing.commit()
    took = time.monotonic() - began
    writing.close()
    return leased / took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--origins", type=int, default=10_000)
    parser.add_argument("--server", metavar="URL")
    arguments = parser.parse_args()
    for batch in (1, 32):
        with tempfile.TemporaryDirectory() as folder:
            rate = measure(Path(folder) / "claims.db", arguments.origins, batch)
        print(f"in a file, batches of {batch:>2}: {rate:8.0f} origins/s")
        if arguments.server:
            with new_database(arguments.server) as url:
                rate = measure(PostgresPlace(url), arguments.origins, batch)
            print(f"on the server, batches of {batch:>2}: {rate:8.0f} origins/s")


if __name__ == "__main__":
    main()
