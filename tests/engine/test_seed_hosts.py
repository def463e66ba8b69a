"""Which hosts seeds name: those of the plan, those that operators have added, also after a restart and in a crew."""

from __future__ import annotations

import asyncio

from tests.engine.crawls import Crawling
from tests.support.simulated_web import linked_site
from tui_crawler.domain.records.command import AddSeeds, PendingAction
from tui_crawler.engine.clock import run_virtual
from tui_crawler.engine.peers import PeerWorker

A, LOCAL = "http://a.test", "http://127.0.0.1:8080"


def test_an_added_seed_names_its_host_now_and_in_later_runs() -> None:
    async def steer(crawling: Crawling) -> None:
        await asyncio.sleep(2)
        assert "127.0.0.1" not in crawling.engine.table.seed_hosts
        crawling.store.ask(AddSeeds((f"{LOCAL}/added", "ftp://10.0.0.1/")))

    async def both() -> None:
        first = Crawling([A], linked_site(4))
        await first.run_with(steer)
        again = Crawling([A], linked_site(4), store=first.store.clone())
        await again.run()
        for crawling in (first, again):
            assert crawling.engine.table.seed_hosts == {"a.test", "127.0.0.1"}

    run_virtual(both())


def test_an_origin_that_a_link_led_to_names_no_seed_host() -> None:
    async def joined() -> None:
        crawling = Crawling([A], linked_site(2))
        await crawling.store.begin_run(crawling.engine._settings.plan)
        (stored,) = await crawling.store.add_origins((LOCAL,))
        assert not stored.seeded

    run_virtual(joined())


def test_every_worker_knows_the_hosts_of_seeds_that_were_added() -> None:
    async def mirrored() -> None:
        engine = Crawling([A], linked_site(2)).engine
        member = PeerWorker(engine.table, engine._executor, None)  # type: ignore[arg-type]
        command = AddSeeds((f"{LOCAL}/x", "http://[::1]/", "nonsense"))
        assert await member.mirror(PendingAction(1, 0, "mara", command)) == (command, ())
        assert engine.table.seed_hosts == {"127.0.0.1", "[::1]"}

    run_virtual(mirrored())
