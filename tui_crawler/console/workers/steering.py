"""What operators want of workers: commands, their undo, what is said of them, what is asked first. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tui_crawler.console.operator.intent import Confirmation, Intent, origin_words
from tui_crawler.domain.command import MoveOrigins, SteerWorkers, TagWorker
from tui_crawler.domain.worker import WorkerState
from tui_crawler.text.format import plural

if TYPE_CHECKING:
    from tui_crawler.domain.view import OriginView
    from tui_crawler.domain.worker import WorkerView


def toggle_workers(workers: Sequence[WorkerView]) -> Intent | None:
    """Pauses those of the workers that are not paused; if all are, resumes them."""
    return pause_workers(workers) or resume_workers(workers)


def pause_workers(workers: Sequence[WorkerView]) -> Intent | None:
    """Pauses those of the workers that are not paused and stay; None when there is none."""
    return _steer("pause", "resume", [one for one in workers if one.state is not WorkerState.paused])


def resume_workers(workers: Sequence[WorkerView]) -> Intent | None:
    """Takes the pause off those of the workers that are paused, as far as that is seen: not of a silent one."""
    held = {WorkerState.paused, WorkerState.silent}
    return _steer("resume", "pause", [one for one in workers if one.state in held])


def _steer(order: str, back: str, workers: Sequence[WorkerView]) -> Intent | None:
    names = _steered(workers)
    if not names:
        return None
    return Intent((SteerWorkers(order, names),), f"{order} {worker_words(names)}", (SteerWorkers(back, names),))


def leave(order: str, workers: Sequence[WorkerView], at_work: Sequence[WorkerView]) -> Confirmation:
    """Asks before workers leave, of all that are `at_work`: what is under way, and who goes on with what they hold."""
    names = _steered(workers)
    going = [one for one in workers if one.name in names]
    flying, held = sum(one.in_flight for one in going), sum(one.origins for one in going)
    until = "to its end" if order == "drain" else "for a few seconds"
    first = f"What is in flight ({plural(flying, 'request')}) goes on {until}." if flying else "Nothing is in flight."
    others = [one for one in at_work if one.name not in names and one.takes_orders]
    theirs = f"The others take over {plural(held, 'origin')}."
    if not others:
        theirs = "No other worker goes on: the crawl ends with it. Its pages stay queued, and the next start goes on."
    elif not any(one.state is WorkerState.crawling for one in others):
        theirs += " But none of them crawls just now."
    intent = Intent((SteerWorkers(order, names),), f"{order} {worker_words(names)}")
    title = order.capitalize()
    return Confirmation(
        f"{title} {worker_words(names)}?", f"{first} {theirs}", ((title, intent),), "This cannot be undone."
    )


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
    has them."""
    moved = [view for view in origins if view.worker != worker]
    if not moved:
        return None
    had: dict[str, list[str]] = {}
    for view in moved:
        had.setdefault(view.worker, []).append(view.origin)
    back = tuple(MoveOrigins(tuple(names), one) for one, names in had.items()) if had.keys() <= set(at_work) else ()
    names = tuple(view.origin for view in moved)
    return Intent((MoveOrigins(names, worker),), f"move {origin_words(names, len(origins))} to {worker}", back)


def _steered(workers: Sequence[WorkerView]) -> tuple[str, ...]:
    return tuple(one.name for one in workers if one.takes_orders)


def worker_words(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else plural(len(names), "worker")
