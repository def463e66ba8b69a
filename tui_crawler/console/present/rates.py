"""Rates from counters that only grow, in fixed time buckets. No clock: the time is a parameter."""

from __future__ import annotations

from collections import OrderedDict, deque

_BUCKETS = 64
_ORIGINS_KEPT = 512


class RateMeter:
    """Turns a growing counter into a rate: how much came in each bucket of `bucket_ms` milliseconds."""

    __slots__ = ("_bucket_ms", "_buckets", "_first", "_last")

    def __init__(self, bucket_ms: int = 1_000) -> None:
        self._bucket_ms = bucket_ms
        self._buckets: deque[tuple[int, float]] = deque(maxlen=_BUCKETS)
        self._last: float | None = None
        self._first = 0

    def feed(self, counter: float, mono_ms: int) -> None:
        """Notes the counter as it is at `mono_ms`. The first value is a beginning, not a gain."""
        number = mono_ms // self._bucket_ms
        if self._last is None or counter < self._last:
            self._last = counter
            self._first = number
            self._buckets.clear()
            return
        gain = counter - self._last
        self._last = counter
        if gain == 0:
            return
        if self._buckets and self._buckets[-1][0] == number:
            gain += self._buckets.pop()[1]
        self._buckets.append((number, gain))

    def rate(self, mono_ms: int, window_ms: int = 10_000) -> float | None:
        """Gain per second over the last whole buckets of `window_ms`; None before one bucket is over."""
        number = mono_ms // self._bucket_ms
        span = min(window_ms // self._bucket_ms, number - self._first)
        if self._last is None or span <= 0:
            return None
        gained = sum(gain for at, gain in self._buckets if number - span <= at < number)
        return gained * 1_000 / (span * self._bucket_ms)

    def line(self, mono_ms: int, width: int) -> list[float | None]:
        """The gain of each of the last `width` whole buckets, oldest first; None before the meter began."""
        number = mono_ms // self._bucket_ms
        gains = dict(self._buckets)
        if self._last is None:
            return [None] * width
        return [None if at < self._first else gains.get(at, 0.0) for at in range(number - width, number)]


class OriginMeters:
    """One meter per origin that moves, the least recently moved ones forgotten beyond a fixed number."""

    __slots__ = ("_bucket_ms", "_meters")

    def __init__(self, bucket_ms: int = 5_000) -> None:
        self._meters: OrderedDict[str, RateMeter] = OrderedDict()
        self._bucket_ms = bucket_ms

    def feed(self, origin: str, counter: float, mono_ms: int) -> None:
        """Notes the counter of one origin as it is at `mono_ms`."""
        meter = self._meters.pop(origin, None) or RateMeter(self._bucket_ms)
        meter.feed(counter, mono_ms)
        self._meters[origin] = meter
        if len(self._meters) > _ORIGINS_KEPT:
            self._meters.popitem(last=False)

    def get(self, origin: str) -> RateMeter | None:
        """The meter of an origin, None when it has not been seen lately."""
        return self._meters.get(origin)
