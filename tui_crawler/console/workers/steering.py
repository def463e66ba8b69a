"""What operators want of workers: commands, their undo, what is said of them, what is asked first. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tui_crawler.console.operator.intent import Confirmation, Intent, asked, origin_words, steered
from tui_crawler.domain.records.command import (
    DRAIN_WORKERS,
    PAUSE_WORKERS,
    RESUME_WORKERS,
    STOP_WORKERS,
    MoveOrigins,
    Order,
    TagWorker,
)
from tui_crawler.domain.records.worker import WorkerState
from tui_crawler.text.format import plural

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView
    from tui_crawler.domain.records.worker import WorkerView

_CHANGES = {
    PAUSE_WORKERS: frozenset({WorkerState.crawling, WorkerState.silent}),
    RESUME_WORKERS: frozenset({WorkerState.paused, WorkerState.silent}),
}
"""The states in which an order may change something."""
_STAYS = frozenset({WorkerState.crawling, WorkerState.paused, WorkerState.silent})


def toggle_pause(workers: Sequence[WorkerView]) -> Intent | None:
    """Pause those of the workers that are not paused; if all are, resume them. None where nothing changes."""
    return steer(workers, PAUSE_WORKERS) or steer(workers, RESUME_WORKERS)


def steer(workers: Sequence[WorkerView], order: Order) -> Intent | None:
    """Pause or resume those of the workers that are not so. None where nothing changes."""
    names = tuple(one.name for one in workers if one.takes_orders and one.state in _CHANGES[order])
    return steered(order, names, worker_words(names)) if names else None


def leave(order: Order, workers: Sequence[WorkerView], at_work: Sequence[WorkerView]) -> Confirmation | None:
    """Asks before workers leave, of all that are `at_work`: what is under way, and who goes on with what they hold.
    None where all leave already; a drain may be cut short."""
    going = [one for one in workers if one.takes_orders and (order is STOP_WORKERS or one.state in _STAYS)]
    if not going:
        return None
    names = tuple(one.name for one in going)
    flying, held = sum(one.in_flight for one in going), sum(one.origins for one in going)
    until = "until it is finished" if order is DRAIN_WORKERS else "for a few seconds"
    first = (
        f"What is in flight ({plural(flying, 'request')}) continues {until}." if flying else "No request is in flight."
    )
    others = [one for one in at_work if one.name not in names and one.shared and one.state in _STAYS]
    theirs = f"The others take over {plural(held, 'origin')}."
    if not others:
        theirs = (
            "No other worker is running: the crawl ends with it. Its pages stay queued; the next start continues it."
        )
    elif not any(one.state is WorkerState.crawling for one in others):
        theirs += " But none of them is crawling now."
    return asked(order, names, worker_words(names), f"{first} {theirs}")


def tag_workers(workers: Sequence[WorkerView], tags: tuple[str, ...]) -> Intent | None:
    """Gives workers these tags; None where they have them."""
    changed = [one for one in workers if one.takes_orders and one.tags != tags]
    if not changed:
        return None
    words, before = worker_words([one.name for one in changed]), " ".join(changed[0].tags) or "none"
    return Intent(
        tuple(TagWorker(one.name, tags) for one in changed),
        f"tags of {words}: {before if len(changed) == 1 else '…'} → {' '.join(tags) or 'none'}",
        tuple(TagWorker(one.name, one.tags) for one in changed),
        back=f"tags of {words} back to {before if len(changed) == 1 else 'what they were'}",
    )


def move_origins(origins: Sequence[OriginView], worker: str, at_work: Collection[str]) -> Intent | None:
    """Gives origins to a worker, and undone back to those who had them, where all of these are `at_work`; None where it
    has them, or is none."""
    moved = [view for view in origins if worker and view.worker != worker]
    if not moved:
        return None
    names, had = tuple(view.origin for view in moved), dict.fromkeys(view.worker for view in moved)
    back = tuple(MoveOrigins(tuple(view.origin for view in moved if view.worker == one), one) for one in had)
    back = back if had.keys() <= set(at_work) else ()
    return Intent((MoveOrigins(names, worker),), f"move {origin_words(names, len(origins))} to {worker}", back)


def worker_words(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else plural(len(names), "worker")
