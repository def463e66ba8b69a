"""The scheduler: origins wait in the penalty box under their politeness key, released ones take turns (M).

Nothing here measures time: the present (monotonic ms) is a parameter. Each politeness key has a box of its own, so
that everything costs O(log n) however many origins share a key (the two-level order is BUbiNG's workbench).
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, assert_never

from tui_crawler.domain.rules.exclusion import address_of

_AT_ONCE = 100
"""So many keys that come in together begin at once."""

_APART_MS = 5
"""The others begin so far apart: a page takes one or two milliseconds of a processor."""


@dataclass(slots=True)
class _Key:
    """One politeness key: its waiting origins, whether a request is in flight, and when the next may start."""

    waiting: list[tuple[int, int, str]] = field(default_factory=list)  # ready_ms, ticket, origin
    ready: list[tuple[int, int, int, str]] = field(default_factory=list)  # served, ready_ms, ticket, origin
    busy: bool = False
    release_ms: int = 0
    served: int = 0
    entry: int = 0  # ticket of its place in the box; an older place is void


@dataclass(frozen=True, slots=True)
class Released:
    """An origin that may have a turn now, under this politeness key."""

    origin: str
    key: str


class PenaltyBox:
    """Who may make the next request, and when the next one is released.

    Never two turns at once under one key, never a turn before the key's gap is over, at most `max_in_flight` turns.
    Ordered by release time; among the released the least recently served key, then origin, comes first.
    """

    def __init__(self, max_in_flight: int) -> None:
        if max_in_flight < 1:
            raise ValueError("max_in_flight must be at least 1")
        self.max_in_flight = max_in_flight
        self._keys: dict[str, _Key] = {}
        self._place: dict[str, tuple[str, int]] = {}  # origin -> key, ticket of its valid place
        self._served: dict[str, int] = {}
        self._waiting: list[tuple[int, int, str]] = []  # at_ms, entry, key
        self._released: list[tuple[int, int, int, str]] = []  # served, at_ms, entry, key
        self._busy = 0
        self._ticket = 0
        self._begins_ms = -_AT_ONCE * _APART_MS

    def __contains__(self, origin: str) -> bool:
        return origin in self._place

    def put(self, origin: str, key: str, ready_ms: int) -> None:
        """The origin waits until `ready_ms` for a turn under `key`. A former place of it is given up."""
        self._ticket += 1
        self._place[origin] = (key, self._ticket)
        state = self._keys.setdefault(key, _Key())
        heapq.heappush(state.waiting, (ready_ms, self._ticket, origin))
        if not state.busy:
            self._line_up(key, state)

    def remove(self, origin: str) -> None:
        """The origin waits no longer (paused, finished)."""
        self._place.pop(origin, None)

    def begin(self, key: str, now_ms: int) -> None:
        """A key comes in at `now_ms`. Of many that come together the first begin at once, the others one by one: equal
        delays bring them back as they began, and nobody could serve them all at once then."""
        if key not in self._keys:
            self._begins_ms = max(self._begins_ms, now_ms - _AT_ONCE * _APART_MS) + _APART_MS
            self.hold(key, self._begins_ms)

    def hold(self, key: str, release_ms: int) -> None:
        """No turn under `key` before `release_ms`; never shortens a gap."""
        state = self._keys.setdefault(key, _Key())
        if release_ms > state.release_ms:
            state.release_ms = release_ms
            if not state.busy:
                self._line_up(key, state)

    def take(self, now_ms: int) -> Released | None:
        """The next origin that may have a turn at `now_ms`; its key is busy until `hand_back`."""
        if self._busy >= self.max_in_flight:
            return None
        self._release(now_ms)
        while self._released:
            _, _, entry, key = heapq.heappop(self._released)
            state = self._keys[key]
            if entry != state.entry:
                continue
            origin = self._first_ready(state, now_ms)
            if origin is None:
                self._line_up(key, state)
                self._release(now_ms)
                continue
            state.busy = True
            self._busy += 1
            self._ticket += 1
            state.served = self._served[origin] = self._ticket
            del self._place[origin]
            return Released(origin, key)
        return None

    def hand_back(self, key: str, release_ms: int) -> None:
        """The turn under `key` is over; the next may start at `release_ms` (monotonic)."""
        state = self._keys[key]
        state.busy = False
        self._busy -= 1
        state.release_ms = max(state.release_ms, release_ms)
        self._line_up(key, state)

    def next_release(self, now_ms: int) -> int | None:
        """When `take` will next have something to give (monotonic ms); None: not before something else happens."""
        if self._busy >= self.max_in_flight:
            return None
        self._release(now_ms)
        while self._released and self._released[0][2] != self._keys[self._released[0][3]].entry:
            heapq.heappop(self._released)
        if self._released:
            return now_ms
        while self._waiting and self._waiting[0][1] != self._keys[self._waiting[0][2]].entry:
            heapq.heappop(self._waiting)
        return self._waiting[0][0] if self._waiting else None

    def _line_up(self, key: str, state: _Key) -> None:
        """Gives a key its one valid place in the box: where its first origin and its gap say."""
        self._ticket += 1
        state.entry = self._ticket
        self._drop_void(state)
        if state.ready:
            at_ms = state.release_ms
        elif state.waiting:
            at_ms = max(state.waiting[0][0], state.release_ms)
        else:
            return
        heapq.heappush(self._waiting, (at_ms, state.entry, key))

    def _release(self, now_ms: int) -> None:
        while self._waiting and self._waiting[0][0] <= now_ms:
            at_ms, entry, key = heapq.heappop(self._waiting)
            state = self._keys[key]
            if entry == state.entry:
                heapq.heappush(self._released, (state.served, at_ms, entry, key))

    def _drop_void(self, state: _Key) -> None:
        while state.waiting and not self._valid(state.waiting[0][-1], state.waiting[0][-2]):
            heapq.heappop(state.waiting)
        while state.ready and not self._valid(state.ready[0][-1], state.ready[0][-2]):
            heapq.heappop(state.ready)

    def _valid(self, origin: str, ticket: int) -> bool:
        place = self._place.get(origin)
        return place is not None and place[1] == ticket

    def _first_ready(self, state: _Key, now_ms: int) -> str | None:
        """The least recently served of the origins of a key that are ready."""
        if state.release_ms > now_ms:
            return None
        while state.waiting and state.waiting[0][0] <= now_ms:
            ready_ms, ticket, origin = heapq.heappop(state.waiting)
            heapq.heappush(state.ready, (self._served.get(origin, 0), ready_ms, ticket, origin))
        self._drop_void(state)
        return heapq.heappop(state.ready)[-1] if state.ready else None


PolitenessMode = Literal["origin", "host", "registrable_domain", "ip"]


def politeness_key(
    mode: PolitenessMode, url_origin: str, host: str, registrable: Callable[[str], str | None], address: str | None
) -> str:
    """The key of an origin, one request at a time and one delay for all origins that share it.

    `registrable` gives the registrable domain of a host name ("a.example.co.uk" -> "example.co.uk"), None if
    it has none; `address` is what the host resolves to, None while that is not known. Where the mode has no
    answer (an address literal has no domain, a host is not resolved) the host is the key.
    """
    name = host.removesuffix(".").lower()
    match mode:
        case "origin":
            return url_origin
        case "host":
            return name
        case "registrable_domain":
            return name if _literal(name) else registrable(name) or name
        case "ip":
            return _literal(address or name) or name
        case _:
            assert_never(mode)


def _literal(text: str) -> str | None:
    """An address in its one spelling, None for a name."""
    address = address_of(text.strip("[]"))
    return None if address is None else str(address)
