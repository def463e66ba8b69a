"""What becomes of a page: whether a failed one can recover, and when any is asked for next. Pure.

Every place that speaks of this asks here: reports, commands, console. Times are epoch ms, 0: none.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tui_crawler.domain.records.exit_code import ExitCode, is_final
from tui_crawler.domain.records.status import PageStatus

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import PageView


def is_recoverable(status: PageStatus, attempts_remaining: int, code: ExitCode | None, http_status: int | None) -> bool:
    """Return whether a try of a failed page may still end otherwise: it has tries left (an operator may have put it
    back), or its exit code is not final (docs/behaviour.md, *left*). `code` None: none, or one of a newer program.

    A page that has used up its tries on such a code is recoverable by a retry of the operator; a skipped one is not.
    """
    if status is PageStatus.SKIPPED:
        return False
    return attempts_remaining > 0 or (code is not None and not is_final(code, http_status))


class NextTry(Enum):
    """The time of the next request of a page; the value is the word that stands for it everywhere."""

    in_flight = "in flight"
    now = "now"  # in this run, as soon as its turn comes
    later = "later"  # not before a time
    next_run = "next run"
    used_up = "tries used up"  # a retry puts it back
    final = "final"  # only a retry, or its recrawl when that is due, asks for it again
    stashed = "stashed"
    skipped = "skipped"


def next_try(
    status: PageStatus,
    attempts_remaining: int,
    not_before: int,
    now: int,
    *,
    considered: bool,
    over: bool,
    recoverable: bool = True,
    due_at: int = 0,
) -> NextTry:
    """Return when a page is asked for next (docs/behaviour.md), be it one that failed, a new or a done one.

    `considered`: it is on the ignore list of the newest run, and on no todo list. `over`: nobody crawls any more; what
    the run has left claimed is given back by the next start. `recoverable` as above, `due_at` when its recrawl is due:
    both matter only without tries.
    """
    if status is PageStatus.CLAIMED:
        return NextTry.next_run if over else NextTry.in_flight
    if status is not PageStatus.READY:
        return NextTry.stashed if status is PageStatus.STASHED else NextTry.skipped
    if attempts_remaining <= 0 and not 0 < due_at <= now:
        return NextTry.used_up if recoverable else NextTry.final
    return next_try_on_list(not_before, now, over=over or considered)


def next_try_on_list(not_before: int, now: int, *, over: bool) -> NextTry:
    """The same for a page of a todo list: that it is due was judged when it was put there."""
    if not_before > now:
        return NextTry.later
    return NextTry.next_run if over else NextTry.now


def next_try_of(page: PageView, now: int, run_id: int, *, over: bool) -> NextTry:
    """The same for a page as reports show it (a status of a newer program counts as READY); `run_id` is the newest run
    (0: there is none), `over` whether nobody crawls it any more."""
    return next_try(
        PageStatus.__members__.get(page.status, PageStatus.READY),
        page.attempts_remaining,
        page.not_before,
        now,
        considered=0 < run_id == page.ignored_in,
        over=over,
        recoverable=page.recoverable,
        due_at=page.due_at,
    )
