"""Windows of a log that is held in memory, newest first, as the database gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tui_crawler.console.logs.attempts import is_problem
from tui_crawler.console.logs.rows import attempt_line
from tui_crawler.domain.records.operator_view import ActivityView
from tui_crawler.domain.records.view import AttemptView, LogReach, LogStretch, LogTerms

T = TypeVar("T")


def attempt_stretch(log: tuple[AttemptView, ...], terms: LogTerms, reach: LogReach) -> LogStretch[AttemptView]:
    def meant(one: AttemptView) -> bool:
        return (not terms.exits or one.exit_code in terms.exits) and terms.text in attempt_line(one).text

    way = [one for one in log if terms.origin in {"", one.origin} and (is_problem(one) or not terms.problems)]
    return _stretch(way, reach, meant, lambda one: (one.attempt_id, one.ended_at))


def activity_stretch(log: tuple[ActivityView, ...], terms: LogTerms, reach: LogReach) -> LogStretch[ActivityView]:
    def meant(one: ActivityView) -> bool:
        return terms.events is None or not {(one.event, ""), (one.event, one.message)}.isdisjoint(terms.events)

    way = [one for one in log if terms.origin in {"", one.origin}]
    return _stretch(way, reach, meant, lambda one: (one.activity_id, one.at))


def _stretch(
    way: list[T], reach: LogReach, meant: Callable[[T], bool], place: Callable[[T], tuple[int, int]]
) -> LogStretch[T]:
    if reach.oldest_first:
        looked = [one for one in way[::-1] if place(one)[0] > reach.edge][: reach.look]
    else:
        looked = [one for one in way if not reach.edge or place(one)[0] < reach.edge][: reach.look]
    if not looked:
        return LogStretch()
    found = tuple(filter(meant, looked))[: reach.limit]
    full = len(found) >= reach.limit
    last_id, last_at = place(found[-1] if full else looked[-1])
    ended = not full and len(looked) < reach.look
    return LogStretch(found, place(looked[0])[0], last_id, last_at, len(looked), ended)
