"""Hints of a server: who crawls looks at the journal as soon as an operator has asked for something."""

from __future__ import annotations

import asyncio
from contextlib import closing

from tests.storage.test_lost_connections import end_connections
from tests.support.patience import PATIENT_S
from tui_crawler.domain.records.command import ActionResult, PauseOrigins
from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.storage.store import SqliteStore
from tui_crawler.storage.workers.journal import Journal


class Hints:
    """Counts hints; `next` waits for one more."""

    def __init__(self, store: SqliteStore) -> None:
        self._came = asyncio.Event()
        self.expected = store.watch(lambda trouble: None, self._came.set)

    async def next(self) -> None:
        async with asyncio.timeout(PATIENT_S):
            await self._came.wait()
        self._came.clear()


async def test_what_is_asked_for_and_what_was_carried_out_is_hinted_at(server_place: PostgresPlace) -> None:
    with closing(SqliteStore(server_place)) as store, closing(Journal(server_place)) as journal:
        hints = Hints(store)
        await hints.next()  # it listens: what was asked for before is looked for
        action = journal.send(PauseOrigins(("https://a.example",)), "mara")
        await hints.next()
        await store.finish_actions([ActionResult(action, "", "", "")])
        await hints.next()


async def test_who_listens_does_so_again_when_the_connection_was_lost(server_place: PostgresPlace) -> None:
    with closing(SqliteStore(server_place)) as store:
        hints = Hints(store)
        await hints.next()
        end_connections(server_place)
        await hints.next()
        with closing(Journal(server_place)) as journal:
            journal.send(PauseOrigins(("https://a.example",)), "mara")
        await hints.next()


async def test_a_file_has_no_hints(place: DatabasePlace) -> None:
    with closing(SqliteStore(place)) as store:
        assert Hints(store).expected == isinstance(place, PostgresPlace)
