"""The activity log (R): what happened beside the attempts, noted in the transaction in which it happened."""

from typing import Literal

import peewee

from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import builds, columns, inserts, newest, slot
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Activity, Attempt, Run

ActivityEvent = Literal[
    "run_started", "run_continued", "run_finished", "session_taken_over", "origin_joined", "origin_finished",
    "job_added", "job_changed", "job_paused", "job_resumed", "job_aborted", "job_unaborted", "job_finished",
    "pages_stashed", "pages_unstashed", "dripfeed_changed", "stash_emptied", "pages_reclaimed", "segment_saved",
    "segment_loaded", "ruleset_applied", "schema_upgraded", "late_write",
]  # fmt: skip
"""What happened, by the name that `v_activity.event` has."""


def note(transaction: Transaction, event: ActivityEvent, message: str, origin_id: int = 0, run_id: int = 0) -> None:
    """One more line of the log, at the time of the transaction. Ids of 0: it is of no origin, of no run."""
    transaction.insert(_insert, [(transaction.now, max(0, run_id), origin_id, event, clean(message))])


def note_finish(transaction: Transaction, origin_id: int, reason: str) -> None:
    """Note that an origin has finished its run; not a second time without any request since the first."""
    run_id = newest_run(transaction)
    told = transaction.one(_newest_finish, {"origin_id": origin_id, "run_id": run_id})
    if told is not None and told[1] == reason:
        attempt = transaction.one(_newest_attempt, {"origin_id": origin_id})
        if attempt is None or attempt[0] <= told[0]:
            return
    note(transaction, "origin_finished", reason, origin_id, run_id)


def newest_run(transaction: Transaction) -> int:
    """The run that a session works for is always the newest one; 0 when there was none."""
    return int(transaction.number(_newest_run))


_newest_finish = builds(
    Activity.select(Activity.at, Activity.message)
    .where((Activity.origin_id == slot("origin_id")) & (Activity.origin_id > peewee.SQL("0")))
    .where((Activity.event == peewee.SQL("'origin_finished'")) & (Activity.run_id == slot("run_id")))
    .order_by(Activity.id.desc())
    .limit(peewee.SQL("1"))
)
_newest_attempt = builds(
    Attempt.select(Attempt.ended_at)
    .where(Attempt.origin == slot("origin_id"))
    .order_by(Attempt.id.desc())
    .limit(peewee.SQL("1"))
)
_newest_run = newest(Run)
_insert = inserts(columns(Activity, "at run_id origin_id event message"))
