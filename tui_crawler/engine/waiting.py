"""Where every origin waits for its next turn: the penalty box, kept in step with the states of the origins; and the
places of jobs (B), for which origins wait, too."""

from __future__ import annotations

from tui_crawler.domain.moment import Moment
from tui_crawler.domain.origin import OriginState
from tui_crawler.domain.page import TodoPage
from tui_crawler.domain.scheduler import PenaltyBox, Released
from tui_crawler.domain.status_words import FinishReason
from tui_crawler.domain.turn import FillTodo, Finish, RestReason, Sleep, Turn, next_turn
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.engine import events
from tui_crawler.engine.origin_table import Counts, OriginTable
from tui_crawler.engine.ports import Clock, Fetcher, Listener


class JobPlaces:
    """Counts the pages in flight of every job, in step with the turns."""

    def __init__(self, table: OriginTable) -> None:
        self._table = table
        self._crawling: dict[str, TodoPage] = {}
        self._starved: set[str] = set()

    def page_of(self, origin: str) -> TodoPage | None:
        """The page that the turn of an origin is about."""
        return self._crawling.get(origin)

    def pick_up(self, origin: str, page: TodoPage) -> None:
        """A page is in flight, instead of one that the same turn has refused."""
        former = self._crawling.pop(origin, None)
        if former is not None:
            self._table.put_down(former.job_id)
        self._crawling[origin] = page
        self._table.take_up(page.job_id)

    def land(self, origin: str) -> tuple[str, ...]:
        """The turn is over; answers the origins that may go on because its job has room again."""
        page = self._crawling.pop(origin, None)
        if page is None:
            return ()
        was_full = self._table.is_full(page.job_id)
        self._table.put_down(page.job_id)
        return tuple(self._starved) if was_full and not self._table.is_full(page.job_id) else ()

    def reconsider(self) -> tuple[str, ...]:
        """Jobs that had no room among all workers are asked again; answers the origins that wait for one."""
        any_denied = bool(self._table.denied)
        self._table.denied.clear()
        return tuple(self._starved) if any_denied else ()

    def starve(self, origin: str, is_starving: bool) -> None:
        """Whether an origin has nothing but pages of jobs that have no room."""
        if is_starving:
            self._starved.add(origin)
        else:
            self._starved.discard(origin)


class Waiting:
    """Places origins after whatever has happened to them, and tells who waits and who has finished."""

    def __init__(
        self, table: OriginTable, places: JobPlaces, counts: dict[str, Counts], clock: Clock, listener: Listener
    ) -> None:
        self._table = table
        self._places = places
        self._counts = counts
        self._clock = clock
        self._listener = listener
        self._box = PenaltyBox(table.settings.plan.max_in_flight)
        self._told: dict[str, FinishReason] = {}
        self.crawls = True

    def next_turn(self, origin: str) -> Turn:
        """What an origin does now. One that had nothing left and looks for work has not gone on yet."""
        turn = next_turn(self._table.states[origin], self._clock.now(), self._table.full, self.crawls)
        match turn:
            case Finish():
                pass
            case FillTodo() if self._told.get(origin) is FinishReason.exhausted:
                pass
            case _:
                self._told.pop(origin, None)
        return turn

    async def find_key(self, origin: str, fetcher: Fetcher) -> None:
        """Finds the politeness key of an origin; its gap holds for everyone under the key."""
        settings = self._table.settings
        address = None
        if settings.by_address:
            url = normalise(origin)
            address = None if isinstance(url, InvalidUrl) else await fetcher.address(url.host)
        key = self._table.keys[origin] = settings.key_of(origin, address)
        self._box.begin(key, self._clock.now().mono_ms)
        self._box.hold(key, self._table.states[origin].release_ms)

    def place(self, origin: str) -> None:
        """Where an origin waits from now on; nowhere while it is paused, held or finished."""
        now = self._clock.now()
        state = self._table.states[origin]
        turn = self.next_turn(origin)
        self._places.starve(origin, isinstance(turn, Sleep) and turn.reason is RestReason.held)
        match turn:
            case Finish():
                self._box.remove(origin)
                self.tell_finished(state, now)
                return
            case Sleep(until_ms=None):
                self._box.remove(origin)
                return
            case Sleep(until_ms=int(until), reason=reason):
                ready = until
                at = now.wall_ms + until - now.mono_ms
                self._listener.on_event(events.origin_waiting(now.wall_ms, state.origin, at, reason.value))
            case _:
                ready = now.mono_ms
        self._box.put(origin, self._key_of(state), ready)

    def leave(self, origin: str) -> None:
        """The origin waits no longer: it goes to another worker."""
        self._box.remove(origin)
        self._places.starve(origin, False)
        self._told.pop(origin, None)

    def take(self) -> Released | None:
        """The next origin that may have a turn now; its key is busy until `hand_back`."""
        return self._box.take(self._clock.now().mono_ms)

    def hand_back(self, released: Released) -> None:
        """The turn is over: the key is free again after the delay of the origin."""
        self._box.hand_back(released.key, self._table.states[released.origin].release_ms)

    def next_release(self, now_ms: int) -> int | None:
        """When `take` will next have something to give (monotonic ms); None: not before something else happens."""
        return self._box.next_release(now_ms)

    def tell_finished(self, state: OriginState, now: Moment) -> None:
        """Tells once that the run of an origin is over. One that has looked for work and found none has not gone on."""
        if state.finished is None or self._told.get(state.origin) is state.finished:
            return
        self._told[state.origin] = state.finished
        counts = self._counts.get(state.origin, Counts())
        self._listener.on_event(events.origin_finished(now.wall_ms, state, counts))

    def _key_of(self, state: OriginState) -> str:
        """The politeness key of the next turn: that of the hop while a redirect of robots.txt is followed."""
        if state.hop is None:
            return self._table.keys[state.origin]
        target = state.hop.url.origin
        return self._table.keys.get(target) or self._table.settings.key_of(target, None)
