"""Where every origin waits for its next turn: the penalty box, kept in step with the states of the origins; and the
places of jobs (B), for which origins wait, too."""

from dataclasses import dataclass, field

from tui_crawler.domain.crawl.origin import OriginState
from tui_crawler.domain.crawl.scheduler import PenaltyBox
from tui_crawler.domain.crawl.turn import FillTodo, Finish, RestReason, Sleep, Turn, next_turn
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.engine import events
from tui_crawler.engine.origin_table import Counts, OriginTable
from tui_crawler.engine.ports import Clock, Fetcher, Listener


@dataclass(slots=True)
class JobPlaces:
    """Counts the pages in flight of every job, in step with the turns."""

    _table: OriginTable
    crawling: dict[str, TodoPage] = field(default_factory=dict)  # by origin
    _starved: set[str] = field(default_factory=set)

    def pick_up(self, origin: str, page: TodoPage) -> None:
        """A page is in flight, instead of one that the same turn has refused."""
        if (former := self.crawling.get(origin)) is not None:
            self._table.in_flight[former.job_id] -= 1
        self.crawling[origin] = page
        self._table.in_flight[page.job_id] += 1

    def land(self, origin: str) -> tuple[str, ...]:
        """The turn is over; answers the origins that may go on because its job has room again."""
        if (page := self.crawling.pop(origin, None)) is None:
            return ()
        was_full = self._table.is_full(page.job_id)
        self._table.in_flight[page.job_id] -= 1
        return tuple(self._starved) if was_full and not self._table.is_full(page.job_id) else ()

    def reconsider(self) -> tuple[str, ...]:
        """Jobs that had no room among all workers are asked again; answers the origins that wait for one."""
        any_denied = bool(self._table.denied)
        self._table.denied.clear()
        return tuple(self._starved) if any_denied else ()

    def starve(self, origin: str, is_starving: bool) -> None:
        """Whether an origin has nothing but pages of jobs that have no room."""
        (self._starved.add if is_starving else self._starved.discard)(origin)


@dataclass(slots=True)
class Waiting:
    """Places origins after whatever has happened to them, and reports who waits and who has finished. A key is busy
    from the time the `box` gives an origin its turn until the turn is handed back."""

    _table: OriginTable
    _places: JobPlaces
    _counts: dict[str, Counts]
    _clock: Clock
    _listener: Listener
    box: PenaltyBox
    _told: dict[str, FinishReason] = field(default_factory=dict)
    crawls: bool = True

    def next_turn(self, origin: str) -> Turn:
        """Return what an origin does now. One that had nothing left and looks for work has not gone on yet."""
        turn = next_turn(self._table.states[origin], self._clock.now(), self._table.full, self.crawls)
        looks_for_work = isinstance(turn, FillTodo) and self._told.get(origin) is FinishReason.exhausted
        if not looks_for_work and not isinstance(turn, Finish):
            self._told.pop(origin, None)
        return turn

    async def find_key(self, origin: str, fetcher: Fetcher) -> None:
        """Find the politeness key of an origin; its gap holds for everyone under the key."""
        settings = self._table.settings
        address = None
        if settings.by_address:
            url = normalise(origin)
            address = None if isinstance(url, InvalidUrl) else await fetcher.address(url.host)
        key = self._table.keys[origin] = settings.key_of(origin, address)
        self.box.begin(key, self._clock.now().mono_ms)
        self.box.hold(key, self._table.states[origin].release_ms)

    def place(self, origin: str) -> None:
        """Where an origin waits from now on; nowhere while it is paused, held or finished."""
        now = self._clock.now()
        state = self._table.states[origin]
        turn = self.next_turn(origin)
        self._places.starve(origin, isinstance(turn, Sleep) and turn.reason is RestReason.held)
        match turn:
            case Finish() | Sleep(until_ms=None):
                self.box.remove(origin)
                if isinstance(turn, Finish):
                    self.tell_finished(state, now)
                return
            case Sleep(until_ms=int(until), reason=reason):
                ready = until
                at = now.wall_ms + until - now.mono_ms
                self._listener.on_event(events.origin_waiting(now.wall_ms, state.origin, at, reason.value))
            case _:
                ready = now.mono_ms
        key = self._table.keys[origin]
        if state.hop is not None:  # a redirect of robots.txt: the politeness of its target counts
            target = state.hop.url.origin
            key = self._table.keys.get(target) or self._table.settings.key_of(target, None)
        self.box.put(origin, key, ready)

    def leave(self, origin: str) -> None:
        """The origin waits no longer: it goes to another worker."""
        self.box.remove(origin)
        self._places.starve(origin, False)
        self._told.pop(origin, None)

    def tell_finished(self, state: OriginState, now: Moment) -> None:
        """Tell once that the run of an origin is over. One that has looked for work and found none has not gone on."""
        if state.finished is not None and self._told.get(state.origin) is not state.finished:
            self._told[state.origin] = state.finished
            counts = self._counts.get(state.origin, Counts())
            self._listener.on_event(events.origin_finished(now.wall_ms, state, counts))
