"""The events of a run again, made of what its log says: as the engine told them, without what no log keeps (fills,
todo lists, waits). Counts of pages are those of this run."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tui_crawler.domain.crawl.delay import Pace
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.crawl.origin import OriginState
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.attempt import AttemptRecord
from tui_crawler.domain.records.command import BadCommand, PauseOrigins, ResumeOrigins, from_json
from tui_crawler.domain.records.exit_code import UNTOUCHED, AttemptKind, ExitCode
from tui_crawler.domain.records.operator_view import ActionView, ActivityView
from tui_crawler.domain.records.page import tally
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.records.status_words import FinishReason, RunReason
from tui_crawler.domain.records.view import AttemptView
from tui_crawler.engine import events
from tui_crawler.engine.origin_table import Counts

Entry = AttemptView | ActivityView | ActionView
_NOT_LOGGED = frozenset({"todo", "paused"})


@dataclass(slots=True)
class ReplayedRun:
    """Makes events of the log entries of a run in the order of time. `_origins` is how many take part by the log."""

    _origins: int
    _counts: dict[str, Counts] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)  # URLs; most pages never fail
    _requests: int = 0

    def events_of(self, entry: Entry) -> Iterator[Event]:
        """The events that an entry stands for, if any."""
        match entry:
            case AttemptView():
                found: Iterable[Event] = (self._attempt(entry),)
            case ActivityView():
                found = self._activity(entry)
            case ActionView():
                found = _action(entry)
        for one in found:
            yield replace(one, extra=tuple(pair for pair in one.extra if pair[0] not in _NOT_LOGGED))

    def _attempt(self, view: AttemptView) -> Event:
        code, kind = ExitCode(view.exit_code_id), AttemptKind(view.kind)
        self._requests += view.requests > 0
        record = AttemptRecord(view.origin, view.url, kind, code, view.started_at, view.ended_at)
        answer = {name: getattr(view, name) for name in ("http_status", "response_ms", "bytes", "message", "cut")}
        record = replace(record, **answer)
        state = OriginState(view.origin, view.patience_after, Pace(), delay_ms=view.delay_ms_after)
        if kind is AttemptKind.robots:
            return events.robots_fetched(view.ended_at, state, record)
        counts = self._counts.setdefault(view.origin, Counts())
        counts.failed -= view.url in self._failed
        self._failed.discard(view.url)
        if code not in UNTOUCHED:
            left = tally(PageStatus.READY, 0, code)
            second = not view.requests and view.http_status is not None  # of a page whose canonical leads nowhere
            counts.done += left.done and kind is not AttemptKind.check and not second
            counts.failed += left.failed
            self._failed.update([view.url] * left.failed)
        return events.attempt_finished(view.ended_at, state, record, view.new_pages, counts)

    def _activity(self, view: ActivityView) -> Iterator[Event]:
        counts = self._counts.get(view.origin, Counts())
        match view.event:
            case "run_started" | "run_continued":
                continued = view.event == "run_continued"
                yield events.run_started(view.at, view.run_id, continued, self._origins, self._requests)
            case "origin_joined":
                yield events.origin_started(view.at, OriginState(view.origin, 0, Pace()), counts)
            case "origin_finished" if view.message in {*FinishReason}:
                state = OriginState(view.origin, 0, Pace(), finished=FinishReason(view.message))
                yield events.origin_finished(view.at, state, counts)
            case "run_finished" if view.message in {*RunReason}:
                done, failed = sum(c.done for c in self._counts.values()), sum(c.failed for c in self._counts.values())
                yield events.run_finished(view.at, RunReason(view.message), self._requests, done, failed)


def _action(view: ActionView) -> Iterator[Event]:
    """A pause or resume; of all origins it names none."""
    try:
        command = from_json(view.action, view.command)
    except BadCommand:
        return
    if view.applied and not view.error and isinstance(command, PauseOrigins | ResumeOrigins):
        name = "origin_paused" if isinstance(command, PauseOrigins) else "origin_resumed"
        yield from (Event(view.at, name, origin) for origin in command.origins)
