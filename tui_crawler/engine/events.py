"""Events as the engine reports them: one function per event that has fields, so that they are in one place."""

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.crawl.origin import OriginState
from tui_crawler.domain.records.attempt import AttemptRecord
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.engine.origin_table import Counts


def run_started(at: int, run_id: int, continued: bool, origins: int, requests: int, note: str = "") -> Event:
    """The run has the database; `continued` when it goes on where a killed one stood, which made `requests`. `note`:
    what its start has found, and what the machine does not allow of its plan."""
    so_far = (("origins", origins), ("requests", requests), *((("message", note),) if note else ()))
    return Event(at, "run_started", extra=(("run_id", run_id), ("continued", continued), *so_far))


def database_failed(at: int, message: str) -> Event:
    """The database takes no rows; `message` says why. Nothing more is asked until it does."""
    return Event(at, "database_failed", extra=(("message", message),))


def origin_started(at: int, state: OriginState, counts: Counts) -> Event:
    """An origin crawler has joined the run; how its pages stand is of all runs."""
    queue = (("todo", len(state.todo)), ("paused", state.paused))
    pages = (("pages_done", counts.done), ("pages_failed", counts.failed))
    return Event(at, "origin_started", state.origin, extra=(*queue, *pages))


def robots_fetched(at: int, state: OriginState, attempt: AttemptRecord) -> Event:
    answer, pace, end = _of_attempt(state, attempt)
    return Event(at, "robots_fetched", state.origin, attempt.url, attempt.exit_code.name, (*answer, *pace, *end))


def _of_attempt(state: OriginState, attempt: AttemptRecord) -> tuple[tuple[tuple[str, object], ...], ...]:
    return (
        (("http_status", attempt.http_status), ("response_ms", attempt.response_ms)),
        (("delay_ms", state.delay_ms), ("patience", state.patience)),
        (("message", attempt.message), *((("cut", list(attempt.cut)),) if attempt.cut else ())),
    )


def todo_filled(at: int, state: OriginState, refused: int) -> Event:
    """A fill is committed: how many pages are on the todo list, how many were refused."""
    return Event(at, "todo_filled", state.origin, extra=(("todo", len(state.todo)), ("refused", refused)))


def attempt_finished(at: int, state: OriginState, attempt: AttemptRecord, new_pages: int, counts: Counts) -> Event:
    answer, pace, end = _of_attempt(state, attempt)
    found = (("new_pages", new_pages), ("todo", len(state.todo)))
    pages = (("pages_done", counts.done), ("pages_failed", counts.failed))
    extra = (("kind", attempt.kind.value), *answer, ("bytes", attempt.bytes), *pace, *found, *pages, *end)
    return Event(at, "attempt_finished", state.origin, attempt.url, attempt.exit_code.name, extra)


def origin_waiting(at: int, origin: str, until: int, reason: str) -> Event:
    """An origin has gone to the penalty box until `until` (epoch ms)."""
    return Event(at, "origin_waiting", origin, extra=(("until", until), ("reason", reason)))


def origin_finished(at: int, state: OriginState, counts: Counts) -> Event:
    """An origin's run is over, and why."""
    reason, pages = state.finished.value if state.finished else "", (counts.done, counts.failed)
    extra = (("reason", reason), *zip(("pages_done", "pages_failed"), pages, strict=True))
    return Event(at, "origin_finished", state.origin, extra=extra)


def run_finished(at: int, reason: RunReason, requests: int, done: int, failed: int, complaint: str = "") -> Event:
    """The last event of a run. `complaint`: what could not be done, in words."""
    said = (("message", complaint),) if complaint else ()
    sums = (("requests", requests), ("pages_done", done), ("pages_failed", failed))
    return Event(at, "run_finished", extra=(("reason", reason.value), *sums, *said))
