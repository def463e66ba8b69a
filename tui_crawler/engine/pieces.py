"""Long lists, piece by piece: one commit for each, and what turns have brought goes in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tui_crawler.domain.failure import StorageFailure
from tui_crawler.domain.origin import OriginState, record_of
from tui_crawler.engine.origin_table import OriginTable
from tui_crawler.engine.ports import Store

T = TypeVar("T")
TOGETHER = 64
"""So many origins are stored at once."""


def pieces(items: Sequence[T], size: int | None = None) -> Iterator[Sequence[T]]:
    """The items in their order, `size` (None: TOGETHER) at a time."""
    size = size or TOGETHER
    for start in range(0, len(items), size):
        yield items[start : start + size]


async def fold_origins(
    table: OriginTable, store: Store, names: Sequence[str], fold: Callable[[OriginState], OriginState]
) -> list[tuple[OriginState, OriginState]]:
    """Changes the states of origins and stores them; answers those that are another one now, before and after.

    Each holds as soon as its piece is begun. What the database does not take is taken back, so that it can be done
    again: StorageFailure.
    """
    changed: list[tuple[OriginState, OriginState]] = []
    for some in pieces(names):
        folded = [(old, fold(old)) for old in map(table.states.__getitem__, some)]
        folded = [(old, new) for old, new in folded if new != old]
        for _, new in folded:
            table.update(new)
        if not folded:
            await asyncio.sleep(0)  # among many origins others have their turn
            continue
        try:
            await store.save_origins([record_of(new) for _, new in folded])
        except StorageFailure:
            for old, new in folded:
                if table.states[new.origin] is new:
                    table.update(old)
            raise
        changed += folded
    return changed
