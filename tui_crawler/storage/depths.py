"""Depth is the length of the shortest discovery path (B): a shorter path lowers all pages below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import peewee

from tui_crawler.domain.page import Tally
from tui_crawler.storage.counters import plus, tally_of, times
from tui_crawler.storage.models import Job, Link, Page, Redirect
from tui_crawler.storage.statements import among, slot
from tui_crawler.storage.transaction import Row, Transaction


def is_beyond(depth: int, max_depth: int | None) -> bool:
    """Whether a page lies beyond the depth of its job: it stays in the table, unclaimed."""
    return max_depth is not None and depth > max_depth


def lower_below(
    transaction: Transaction, job_id: int, lowered: Sequence[int], max_depth: int | None
) -> dict[int, Tally]:
    """Follows links and redirects from pages whose depth was lowered, as long as they shorten another path.

    Answers how the counters change, by id of origin. Every round only lowers depths, so a cycle ends.
    """
    changes: dict[int, Tally] = {}
    frontier = list(dict.fromkeys(lowered))
    while frontier:
        shorter = _shorter_paths(transaction, job_id, frontier)
        rows = []
        for page_id, parent, depth, status, remaining, code, beyond, origin_id in shorter:
            now_beyond = int(is_beyond(depth, max_depth))
            rows.append({"page_id": page_id, "depth": depth, "found_on": parent, "beyond_depth": now_beyond})
            before = tally_of(status, remaining, code, beyond)
            after = tally_of(status, remaining, code, now_beyond)
            changes[origin_id] = plus(changes.get(origin_id, Tally()), after.minus(before))
        transaction.run_many(_lower, rows)
        frontier = [row[0] for row in shorter]
    return changes


def change_max_depth(transaction: Transaction, job_id: int, max_depth: int | None) -> dict[int, Tally]:
    """Judges every page of a job by another depth. Answers how the counters change, by id of origin."""
    transaction.execute(Job.update({Job.max_depth: max_depth}).where(Job.id == job_id))
    wrong = Page.beyond_depth != 0
    if max_depth is not None:
        wrong = Page.beyond_depth != peewee.Case(None, [(Page.depth > max_depth, 1)], 0)
    columns = (Page.origin, Page.status, Page.attempts_remaining, Page.last_exit_code, Page.beyond_depth)
    moved = (Page.job == job_id) & wrong
    changes: dict[int, Tally] = {}
    counted = Page.select(*columns, peewee.fn.COUNT(Page.id)).where(moved).group_by(*columns)
    for origin_id, status, remaining, code, beyond, count in transaction.fetch(counted):
        before, after = (tally_of(status, remaining, code, side) for side in (beyond, not beyond))
        changes[origin_id] = plus(changes.get(origin_id, Tally()), times(after.minus(before), count))
    if changes:
        transaction.execute(Page.update({Page.beyond_depth: 1 - Page.beyond_depth}).where(moved))
    return changes


def _shorter_paths(transaction: Transaction, job_id: int, frontier: Sequence[int]) -> list[Row]:
    """Of every page next to the frontier whose path is shorter that way: id, parent, depth, and its state."""
    best: dict[int, Row] = {}
    for build in (_linked, _redirected):
        for row in transaction.all_among(build, frontier, job_id):
            if row[0] not in best or row[2] < best[row[0]][2]:
                best[row[0]] = row
    return list(best.values())


def _linked(size: int) -> Any:
    """Pages that a followed link of one of `size` pages reaches by a shorter path."""
    parent, child = Page.alias("parent"), Page.alias("child")
    return (
        _found(Link, parent, child, 1)
        .where((Link.kind == peewee.SQL("'a'")) & (Link.nofollow == peewee.SQL("0")))
        .where(among(Link.from_page, size) & (child.job == slot("job_id")))
    )


def _redirected(size: int) -> Any:
    """The same by a redirect, which costs no depth."""
    parent, child = Page.alias("parent"), Page.alias("child")
    return _found(Redirect, parent, child, 0).where(among(Redirect.page, size) & (child.job == slot("job_id")))


def _found(edge: Any, parent: Any, child: Any, step: int) -> Any:
    source = edge.from_page if edge is Link else edge.page
    depth = parent.depth + peewee.SQL(str(step))
    state = (child.status, child.attempts_remaining, child.last_exit_code, child.beyond_depth, child.origin)
    return (
        edge.select(child.id, parent.id, depth, *state)
        .join(parent, on=(parent.id == source))
        .join(child, on=(child.url == edge.to_url))
        .where(child.depth > depth)
    )


def _lower() -> Any:
    changes = {Page.depth: slot("depth"), Page.found_on: slot("found_on"), Page.beyond_depth: slot("beyond_depth")}
    return Page.update(changes).where(Page.id == slot("page_id"))
