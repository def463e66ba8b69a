"""What a screen asks the database for: a value for each thing it shows, and how often that is read.

`@asks(RATE)` makes a function that reads into one that makes the ask: `contract_of(origin)` is the same ask whenever
the origin is the same, so that what was read for it is known again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast

if TYPE_CHECKING:
    from tui_crawler.console.reading.refresh import Snapshot
    from tui_crawler.domain.rules.page_filter import PageWindow

P = ParamSpec("P")
T = TypeVar("T")

WINDOW = 200
"""How many rows of a list are read at once."""

FAST_MS, COUNTER_MS, SLOW_MS, RARE_MS, ONCE_MS = 100, 250, 1_000, 5_000, 86_400_000
"""Rates, from what moves all the time to what is read once."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """What is read by the function `of`, called with the reports, the time and what it is `about`.

    A reading is good for `every_ms`; then it is repeated once another connection has committed, or, `by_time`, in any
    case. Two asks of the same function about the same are equal, whatever their rates.
    """

    of: Callable[..., Any]
    about: tuple[Hashable, ...] = ()
    every_ms: int = field(default=SLOW_MS, compare=False)
    by_time: bool = field(default=False, compare=False)

    def read(self, reports: Any, now: int) -> T:
        """Read it in the reading thread; `now` is epoch ms. Raises StorageFailure."""
        return cast("T", self.of(reports, now, *self.about))

    def every(self, ms: int) -> Self:
        """Return the same ask at another rate."""
        return replace(self, every_ms=ms)

    def found_in(self, shot: Snapshot) -> T | None:
        """Return what was read for it; None while nothing was."""
        return cast("T | None", shot.parts.get(self))


def asks(
    every_ms: int = SLOW_MS, *, by_time: bool = False
) -> Callable[[Callable[Concatenate[Any, int, P], T]], Callable[P, Ask[T]]]:
    """Make a function that reads, given the reports, the time and what it is about, into one that makes the ask."""

    def made(read: Callable[Concatenate[Any, int, P], T]) -> Callable[P, Ask[T]]:
        parameters = signature(read)

        def ask(*about: P.args, **named: P.kwargs) -> Ask[T]:
            bound = parameters.bind(None, 0, *about, **named)
            bound.apply_defaults()
            return Ask(read, bound.args[2:], every_ms, by_time)

        ask.__doc__ = read.__doc__
        return ask

    return made


def reads(
    report: Callable[Concatenate[Any, P], T], every_ms: int = SLOW_MS, *, by_time: bool = False
) -> Callable[P, Ask[T]]:
    """Make a method of the reports into what makes the ask for what it returns."""
    parameters = signature(report)

    def read(reports: Any, _now: int, *about: Any) -> T:
        return cast("T", getattr(reports, report.__name__)(*about))

    def ask(*about: P.args, **named: P.kwargs) -> Ask[T]:
        bound = parameters.bind(None, *about, **named)
        bound.apply_defaults()
        return Ask(read, bound.args[1:], every_ms, by_time)

    return ask


@dataclass(frozen=True, slots=True)
class NewsAsk(Ask[tuple[T, ...]]):
    """Rows that came since the last reading. They are told once; nothing is kept of them."""

    def since(self, reached: int) -> Ask[tuple[int, tuple[T, ...]]]:
        """Return the ask for what came after `reached` (0: everything), and how far that reaches."""
        return Ask(self.of, (reached,))


@dataclass(frozen=True, slots=True)
class PageAsk(Ask["PageWindow"]):
    """A window of a list of pages: after a page id or, newest first, before it (0: from the beginning).

    `counted`: `PageWindow.known` is how many pages the whole list has.
    """

    after_id: int = field(default=0, kw_only=True)
    newest_first: bool = field(default=False, kw_only=True)
    counted: bool = field(default=True, kw_only=True, compare=False)

    def at(self, after_id: int, *, newest_first: bool) -> Self:
        """Return another window of the same list."""
        return replace(self, after_id=after_id, newest_first=newest_first)

    def read(self, reports: Any, now: int) -> PageWindow:
        return cast("PageWindow", self.of(reports, self.after_id, self.newest_first, *self.about))


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """What the screen on top shows. Nothing else is read but what its header sums up.

    `at_once`: whatever has changed is read, however short ago it was read last. `asker` is known again in the answer.
    """

    asks: tuple[Ask[Any], ...] = ()
    at_once: bool = field(default=False, compare=False)
    asker: object = field(default=None, compare=False)
