"""How long an origin is left alone after a request (docs/behaviour.md). All times are milliseconds."""

from enum import Enum
from typing import Literal, assert_never

from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.status import DelayReason

MAX_DOUBLINGS = 7  # each 429 of a run doubles the minimum, at most so often


@dataclass(frozen=True, slots=True)
class DelaySettings:
    """The `delay` section of the configuration, for one origin. `crawl_delay_cap_ms` None obeys any Crawl-delay."""

    model: Literal["politeness", "running_average", "fixed"] = "politeness"
    default_ms: int = 1_000
    floor_ms: int = 1_000
    crawl_delay_cap_ms: int | None = 120_000
    max_ms: int = 180_000
    retry_after_max_ms: int = 180_000
    start_politeness: int = 2
    max_politeness: int = 11
    average_window: int = 5
    average_factor: float = 1.0
    average_initial_ms: int = 60_000
    average_floor_ms: int = 15_000


@dataclass(frozen=True, slots=True)
class Pace:
    """The part of an origin's state that the delay depends on.

    `window` holds the last total times (newest last), `requests` counts the samples of this run,
    `crawl_delay_ms` comes from robots.txt and `operator_ms` is the operator's own minimum.
    """

    politeness: int = 2
    may_fall: bool = True
    rate_limits: int = 0
    crawl_delay_ms: int | None = None
    operator_ms: int = 0
    window: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Delay:
    """A delay and why it is what it is."""

    ms: int
    reason: DelayReason


class AnswerKind(Enum):
    """The kind of answer that the delay follows."""

    good = "good"  # 2xx or 3xx
    rate_limited = "rate_limited"  # 429
    other = "other"


def minimum(settings: DelaySettings, pace: Pace) -> Delay:
    """The least delay: Crawl-delay up to its cap, else the default; doubled by each 429 of the run (U)."""
    base, reason, cap = settings.default_ms, DelayReason.default, settings.crawl_delay_cap_ms
    if pace.crawl_delay_ms is not None:
        base, reason = pace.crawl_delay_ms, DelayReason.crawl_delay
        base = base if cap is None else min(base, cap)
    doublings = min(pace.rate_limits, MAX_DOUBLINGS)
    if doublings:
        base, reason = base * 2**doublings, DelayReason.rate_limit
    if pace.operator_ms > base:
        return Delay(pace.operator_ms, DelayReason.operator)
    return Delay(base, reason)


def after_request(
    settings: DelaySettings, pace: Pace, response_ms: int, answer: AnswerKind, retry_after_ms: int | None = None
) -> tuple[Delay, Pace]:
    """The delay after a request that took `response_ms` in all, and the pace that follows.

    A Retry-After is obeyed up to `retry_after_max_ms`; what is above ends the origin's run (decided in `turn`).
    """
    first = not pace.window
    window = (*pace.window, max(0, response_ms))[-max(1, settings.average_window) :]
    pace = replace(pace, window=window)
    if answer is AnswerKind.rate_limited:
        pace = replace(
            pace,
            politeness=min(pace.politeness + 1, settings.max_politeness),
            may_fall=False,
            rate_limits=min(pace.rate_limits + 1, MAX_DOUBLINGS),
        )
    delay = _by_model(settings, pace, response_ms, first)
    if retry_after_ms is not None and min(retry_after_ms, settings.retry_after_max_ms) > delay.ms:
        delay = Delay(min(retry_after_ms, settings.retry_after_max_ms), DelayReason.retry_after)
    if answer is AnswerKind.good and pace.may_fall and pace.politeness > 0:
        pace = replace(pace, politeness=pace.politeness - 1)
    return delay, pace


def delay_in_force(settings: DelaySettings, pace: Pace, response_ms: int) -> Delay:
    """The delay that another request like the last one, of `response_ms`, would be followed by."""
    return _by_model(settings, pace, response_ms, first=not pace.window)


def _by_model(settings: DelaySettings, pace: Pace, response_ms: int, first: bool) -> Delay:
    """At least the minimum and the floor, at most `max_ms` (or the minimum, where that is more)."""
    least = minimum(settings, pace)
    match settings.model:
        case "politeness":
            wanted = Delay(max(0, response_ms) * 2**pace.politeness, DelayReason.response_time)
        case "running_average":
            # Mischel's: a long first wait, then the mean of the last total times × factor
            if first:
                wanted = Delay(settings.average_initial_ms, DelayReason.first_request)
            else:
                mean = sum(pace.window) / len(pace.window)
                longest = max(settings.average_floor_ms, round(mean * settings.average_factor))
                wanted = Delay(longest, DelayReason.average)
        case "fixed":
            wanted = least
        case _:
            assert_never(settings.model)
    delay = wanted if wanted.ms > least.ms else least
    if delay.ms < settings.floor_ms:
        delay = Delay(settings.floor_ms, DelayReason.floor)
    top = max(settings.max_ms, least.ms)
    return Delay(top, DelayReason.cap) if delay.ms > top else delay
