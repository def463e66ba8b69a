"""Pages that were refused without a request, after a change of what refused them.

Only a page whose verdict is another one now goes back into the queue, where the next run judges it; one that waits
there since an earlier change and is refused as it was leaves it again. So a change that is taken back leaves no trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import peewee

from tui_crawler.domain.records.exit_code import REFUSED_BY_RULES, ExitCode
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.admission import LENGTH_LIMIT
from tui_crawler.domain.rules.preview import Effect, Rejudgement
from tui_crawler.storage.crawl.counters import CounterChanges, tally_of
from tui_crawler.storage.crawl.intake import move_counters
from tui_crawler.storage.db.claim import ZERO
from tui_crawler.storage.db.statements import builds, builds_among, columns, slot
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Attempt, Job, Page, Url

_WINDOW = 2_000  # rows that are held at once
_FEW = 2_000
"""Fewer refused pages than these are judged in the transaction itself."""
_MOST_FORESEEN = 500_000
"""So many pages are judged before it: their verdicts are held in memory."""
MOVED = columns(Page, "id job origin status attempts_remaining last_exit_code beyond_depth")
"""What the rows begin with that `Moving` moves."""

_COLUMNS = (*MOVED, Url.href, Page.not_before, Page.stash)
_READY = int(PageStatus.READY)
_SKIPPED = int(ExitCode.skipped_by_rule)
_CODES = {code.value: code for code in ExitCode}
_NOTHING: Mapping[int, Effect] = {}


@dataclass(slots=True)
class Moving:
    """Pages on their way back into the queue, and out of it; `back` counts the former by origin (id). Their rows begin
    with MOVED; the counters are moved at the end."""

    tries: int
    moves: dict[int, CounterChanges] = field(default_factory=dict)
    back: dict[int, int] = field(default_factory=dict)

    def put_back(self, transaction: Transaction, rows: Sequence[Row]) -> None:
        """Gives pages their tries back and takes them off the ignore list."""
        for (_, origin_id), number in self._count(rows, _READY, self.tries).items():
            self.back[origin_id] = self.back.get(origin_id, 0) + number
        transaction.run_among(_put_back, [row[0] for row in rows], self.tries)

    def take_out(self, transaction: Transaction, rows: Sequence[Row]) -> None:
        """Pages that waited to be judged, and are refused as they were. A skipped page keeps its tries (B)."""
        skipped = [row for row in rows if row[5] == _SKIPPED]
        refused = [row for row in rows if row[5] != _SKIPPED]
        self._count(skipped, PageStatus.SKIPPED, self.tries)
        self._count(refused, _READY, 0)
        transaction.run_among(_rest_skipped, [row[0] for row in skipped])
        transaction.run_among(_rest_refused, [row[0] for row in refused])

    def move_counters(self, transaction: Transaction) -> None:
        """Moves the counters of jobs and origins by what was moved."""
        for job_id, of_job in self.moves.items():
            move_counters(transaction, job_id, of_job)

    def _count(self, rows: Sequence[Row], status: int, remaining: int) -> Counter[tuple[int, int]]:
        """Counts how pages that get this status and number of tries move the counters; answers how many there are of
        each job and origin."""
        numbers: Counter[tuple[int, int]] = Counter()
        for alike, number in Counter(row[1:7] for row in rows).items():
            job_id, origin_id, status_before, remaining_before, code, beyond = alike
            numbers[job_id, origin_id] += number
            before = tally_of(status_before, remaining_before, code, beyond)
            change = tally_of(status, remaining, code, beyond).minus(before)
            self.moves.setdefault(job_id, CounterChanges()).add(origin_id, change, number)
        return numbers


Verdicts = Mapping[int, Mapping[int, Effect]]
"""By exit code and id of the page: what a change does to it. It holds for as long as the change is the same: no page
has another URL than at first."""


def are_many(transaction: Transaction) -> bool:
    """Whether so many pages are refused that it is worth while to `foresee`."""
    return bool(transaction.fetch(Job.select(Job.id).where(Job.blocked >= _FEW).limit(1)))


def foresee(transaction: Transaction, rejudgements: Mapping[int, Rejudgement]) -> Verdicts:
    """What a change does to the pages of jobs that are refused now, for a later `judge_again`. Judging takes most of
    its time, and needs no transaction."""
    found: dict[int, dict[int, Effect]] = {}
    after, number = 0, 0
    while number < _MOST_FORESEEN and (rows := transaction.all(_refused, {"after": after, "limit": _WINDOW})):
        after, number = rows[-1][0], number + len(rows)
        for page_id, job_id, _, _, _, code, _, href, *_ in rows:
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
    """Looks at the refused pages of jobs, by job; answers how many of which origin (ids) went back into the queue.

    `whole`: also at those that were too long. `robots`: those that robots.txt refused all go back, since it is asked
    in another name now. `foreseen`: what `foresee` found for the same change. Pages on a todo list, in flight or in a
    stash are left alone: they are judged before they are crawled.
    """
    moving = Moving(tries)
    effects = {job_id: each.effect for job_id, each in rejudgements.items()}
    if transaction.fetch(Job.select(Job.id).where(Job.id.in_(list(rejudgements)) & (Job.blocked > 0)).limit(1)):
        _look_through(transaction, moving, _refused, effects, foreseen or {})
        if robots:
            _look_through(transaction, moving, _by_robots, dict.fromkeys(effects, lambda _, __: Effect.overturned))
    if whole:
        _look_through(transaction, moving, _too_long, effects)
    moving.move_counters(transaction)
    return moving.back


def _look_through(
    transaction: Transaction,
    moving: Moving,
    build: Callable[[], Any],
    effects: Mapping[int, Callable[[str, ExitCode], Effect]],
    foreseen: Verdicts = MappingProxyType({}),
) -> None:
    """Reads what `build` finds, a window at a time, and moves the pages that the change concerns."""
    after = 0
    while rows := transaction.all(build, {"after": after, "limit": _WINDOW}):
        after = rows[-1][0]
        back: list[Row] = []
        out: list[Row] = []
        for row in rows:
            page_id, job_id, _, status, remaining, code, _, href, not_before, stash = row
            effect = foreseen.get(code, _NOTHING).get(page_id)
            if effect is None:
                judge = effects.get(job_id)
                effect = judge(href, _CODES[code]) if judge is not None else Effect.none
            waits = status == _READY and remaining > 0
            if effect is Effect.overturned and not waits:
                back.append(row)
            elif effect is Effect.upheld and waits and not not_before and not stash:
                out.append(row)
        moving.put_back(transaction, back)
        moving.take_out(transaction, out)


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


def _too_long() -> Any:
    """Failed pages have an index of their own; of those that cannot be requested some are no matter of length."""
    invalid = (Page.failed == peewee.SQL("1")) & Page.last_exit_code.in_(_in_words(ExitCode.invalid_url))
    last = Attempt.select(Attempt.decided_by).where(Attempt.id == Page.last_attempt_id)
    return _window(invalid & (last == peewee.SQL(f"'{LENGTH_LIMIT}'")))


def _in_words(*numbers: int) -> list[Any]:
    return [peewee.SQL(str(int(number))) for number in numbers]


_put_back = builds_among(
    Page.update(
        {
            Page.status: ZERO,
            Page.attempts: ZERO,
            Page.attempts_remaining: slot("tries"),
            Page.not_before: ZERO,
            Page.ignored_run: ZERO,
        }
    ),
    Page.id,
)
_rest_refused = builds_among(Page.update({Page.attempts_remaining: ZERO}), Page.id)
_rest_skipped = builds_among(Page.update({Page.status: _in_words(PageStatus.SKIPPED)[0]}), Page.id)
_refused = builds(_window(Page.last_exit_code.in_(_in_words(*sorted(REFUSED_BY_RULES)))))
_by_robots = builds(_window(Page.last_exit_code.in_(_in_words(ExitCode.blocked_by_robots_txt))))
