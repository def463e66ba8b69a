"""Pages that were refused without a request, after a change of what refused them. Only a page whose verdict is another
one now goes back into the queue, where the next run judges it; one that waits there since an earlier change and is
refused as before leaves it again. So a change that is taken back leaves no trace."""

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import peewee

from tui_crawler.domain.records.exit_code import REFUSED_BY_RULES, ExitCode
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.admission import LENGTH_LIMIT
from tui_crawler.domain.rules.preview import Effect, Rejudgement
from tui_crawler.storage.crawl.intake import MOVED, Moving
from tui_crawler.storage.db.claim import ONE, ZERO
from tui_crawler.storage.db.statements import builds, builds_among, slot
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Attempt, Job, Page, Url

_WINDOW = 2_000  # rows that are held at once
_FEW = 2_000
"""Fewer refused pages than these are judged in the transaction itself."""
_MOST_FORESEEN = 500_000
"""So many pages are judged before it: their verdicts are held in memory."""
_COLUMNS = (*MOVED, Url.href, Page.not_before, Page.stash)
_READY = int(PageStatus.READY)
_SKIPPED = int(ExitCode.skipped_by_rule)
_CODES = {code.value: code for code in ExitCode}
_NOTHING: Mapping[int, Effect] = {}


Verdicts = Mapping[int, Mapping[int, Effect]]
"""By exit code and id of the page: what a change does to it. It holds for as long as the change is the same: no page
has another URL than at first."""


def are_many(transaction: Transaction) -> bool:
    """Whether so many pages are refused that it is worth while to `foresee`."""
    return bool(transaction.fetch(Job.select(Job.id).where(Job.blocked >= _FEW).limit(1)))


def foresee(transaction: Transaction, rejudgements: Mapping[int, Rejudgement]) -> Verdicts:
    """What a change does to the pages that are refused now, for a later `judge_again`. It needs no transaction."""
    found: dict[int, dict[int, Effect]] = {}
    after, number = 0, 0
    while number < _MOST_FORESEEN and (rows := transaction.all(_refused, {"after": after, "limit": _WINDOW})):
        after, number = rows[-1][0], number + len(rows)
        for page_id, job_id, _, _, _, _, code, href, *_ in rows:
            if job_id in rejudgements:
                found.setdefault(code, {})[page_id] = rejudgements[job_id].effect(href, _CODES[code])
    return found


def judge_again(
    transaction: Transaction,
    tries: int,
    rejudgements: Mapping[int, Rejudgement],
    *,
    whole: bool = False,
    robots: bool = False,
    foreseen: Verdicts | None = None,
) -> dict[int, int]:
    """Look at the refused pages of jobs, by job; return how many of which origin (ids) went back into the queue.
    `whole`: also at those that were too long. `robots`: all that robots.txt refused go back, since it is asked in
    another name now. `foreseen`: what `foresee` found for the same change. Pages on a todo list, in flight or in a
    stash are left alone: they are judged before they are crawled."""
    moving, back = Moving(), Counter[int]()
    effects = {job_id: each.effect for job_id, each in rejudgements.items()}
    if transaction.fetch(Job.select(Job.id).where(Job.id.in_(list(rejudgements)) & (Job.blocked > 0)).limit(1)):
        back += _look_through(transaction, moving, tries, _refused, effects, foreseen or {})
        if robots:
            overturned = dict.fromkeys(effects, lambda _, __: Effect.overturned)
            back += _look_through(transaction, moving, tries, _by_robots, overturned)
    if whole:
        back += _look_through(transaction, moving, tries, _too_long, effects)
    moving.store(transaction)
    return back


def _look_through(
    transaction: Transaction,
    moving: Moving,
    tries: int,
    build: Callable[[], Any],
    effects: Mapping[int, Callable[[str, ExitCode], Effect]],
    foreseen: Verdicts = MappingProxyType({}),
) -> Counter[int]:
    """Read what `build` finds, a window at a time, and move the pages that the change concerns; return how many of
    which origin (id) go back. Pages that waited to be judged, and are refused as they were, are at rest again; a
    skipped one keeps its tries (B)."""
    after, gone_back = 0, Counter[int]()
    while rows := transaction.all(build, {"after": after, "limit": _WINDOW}):
        after = rows[-1][0]
        back, skipped, refused = list[Row](), list[Row](), list[Row]()
        for row in rows:
            page_id, job_id, _, _, status, remaining, code, href, not_before, stash = row
            effect = foreseen.get(code, _NOTHING).get(page_id)
            if effect is None:
                judge = effects.get(job_id)
                effect = judge(href, _CODES[code]) if judge is not None else Effect.none
            waits = status == _READY and remaining > 0
            if effect is Effect.overturned and not waits:
                back.append(row)
            elif effect is Effect.upheld and waits and not not_before and not stash:
                (skipped if code == _SKIPPED else refused).append(row)
        moving.put_back(transaction, back, tries)
        gone_back.update(row[2] for row in back)
        moving.add(skipped, PageStatus.SKIPPED, tries)
        moving.add(refused, PageStatus.READY, 0)
        transaction.run_among(_rest_skipped, [row[0] for row in skipped])
        transaction.run_among(_rest_refused, [row[0] for row in refused])
    return gone_back


def _window(condition: Any) -> Any:
    """Pages at rest or waiting, by id."""
    free = (Page.todo_order == ZERO) & Page.status.in_(_in_words(PageStatus.READY, PageStatus.SKIPPED))
    return (
        Page.select(*_COLUMNS)
        .join(Url, on=(Url.id == Page.url))
        .where(condition & free & (Page.id > slot("after")))
        .order_by(Page.id)
        .limit(slot("limit"))
    )


def _in_words(*numbers: int) -> list[Any]:
    return [peewee.SQL(str(int(number))) for number in numbers]


_rest_refused = builds_among(Page.update({Page.attempts_remaining: ZERO}), Page.id)
_rest_skipped = builds_among(Page.update({Page.status: _in_words(PageStatus.SKIPPED)[0]}), Page.id)
_INVALID = (Page.failed == ONE) & Page.last_exit_code.in_(_in_words(ExitCode.invalid_url))
_LAST = Attempt.select(Attempt.decided_by).where(Attempt.id == Page.last_attempt_id)
_too_long = builds(_window(_INVALID & (peewee.SQL(f"'{LENGTH_LIMIT}'") == _LAST)))
"""Failed pages have an index of their own; of those that cannot be requested some are no matter of length."""
_refused = builds(_window(Page.last_exit_code.in_(_in_words(*sorted(REFUSED_BY_RULES)))))
_by_robots = builds(_window(Page.last_exit_code.in_(_in_words(ExitCode.blocked_by_robots_txt))))
