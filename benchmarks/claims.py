"""How many origins a second workers lease out of 10,000, one at a time and in batches of 32.

Each claim is a transaction of its own, with its COMMIT, as a worker makes it; four sessions take turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tui_crawler.domain.page import NewPage
from tui_crawler.domain.run import RunPlan
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.storage import leases, peers, sessions
from tui_crawler.storage.clock import wall_clock
from tui_crawler.storage.database import open_writable
from tui_crawler.storage.driver import connection_of
from tui_crawler.storage.leases import Peers
from tui_crawler.storage.open_settings import OpenSettings
from tui_crawler.storage.owner import Owner
from tui_crawler.storage.sessions import Starter
from tui_crawler.storage.transaction import Texts, Transaction

WORKERS = 4


def seeds(origins: int) -> tuple[NewPage, ...]:
    """A seed of each origin."""
    urls = [normalise(f"https://www.site{number}.example/") for number in range(origins)]
    return tuple(NewPage(url.href, url.hash, url.origin, 0, seed=True) for url in urls if isinstance(url, CrawlUrl))


def measure(path: Path, origins: int, batch: int) -> float:
    """Origins leased a second."""
    database = open_writable(path, OpenSettings())
    texts, plan = Texts(database), RunPlan("b", "b/1", "b", seeds(origins), 8, 3, 5, 2, 0, workers=WORKERS)
    connection = connection_of(database)
    work = Transaction(connection, texts, wall_clock(), 1)
    starters = [Starter(Owner("host", f"machine {number}", number, 1), 30_000) for number in range(WORKERS)]
    connection.execute("BEGIN IMMEDIATE")
    first, start = sessions.begin(work, plan, starters[0])
    peers.open_to_all(work, first, start)
    claims = [first, *(peers.join(work, plan, starter)[0] for starter in starters[1:])]
    leases.name_sites(work, Peers(starters[0], WORKERS, lambda origin: origin))
    members = {one.session_id: one for one in leases.members(work)}
    connection.execute("COMMIT")
    leased, began = 0, time.monotonic()
    while leased < origins:
        claim = claims[leased // batch % WORKERS]
        connection.execute("BEGIN IMMEDIATE")
        leased += len(leases.lease(work, claim, batch, members[claim.session_id]))
        connection.execute("COMMIT")
    took = time.monotonic() - began
    database.close()
    return leased / took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--origins", type=int, default=10_000)
    arguments = parser.parse_args()
    for batch in (1, 32):
        with tempfile.TemporaryDirectory() as folder:
            rate = measure(Path(folder) / "claims.db", arguments.origins, batch)
        print(f"batches of {batch:>2}: {rate:8.0f} origins/s")


if __name__ == "__main__":
    main()
