"""The thread that counts what a draft of the rules, or more exclusions, would block and revive.

URLs that became known since are judged for little; how far the pages before them have come meanwhile is known only from
a count of everything.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from textual.worker import get_current_worker

from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.console.rules.draft import DraftReading, RuleDraft, reading_of
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.ruleset import change_between

if TYPE_CHECKING:
    from textual.timer import Timer

    from tui_crawler.console.ports import ImpactCount, RuleQueries
    from tui_crawler.console.screen.base import ConsoleScreen
    from tui_crawler.domain.rules.preview import Preview

CountedChange = RuleDraft | tuple[Exclusion, ...]
"""What can be counted: a draft, or entries for the operators' exclusion list."""
Extent = Literal["", "new", "all"]
"""What is counted next: nothing, what became known since, everything."""

GROWTH = 1.1
"""Once so many times as many URLs are blocked as when the operator was asked, that is asked again."""
FRESH_MS = 2_000
"""So old a count may be when something is decided by it."""
_TELL_EVERY = 20_000
"""So many URLs are judged between two signs of life."""
_NEW_MS, _NEW_REST = 2_000, 20
"""New URLs are judged so often, and rest so many times as long as that took."""
_ALL_MS, _ALL_REST = 15_000, 30
"""The same of all of them."""
_SOON_MS = 500
"""Everything is counted anew for a decision when that takes no longer."""


@dataclass(frozen=True, slots=True)
class Timing:
    """When a count ended: `at` epoch ms, `ended` monotonic ms, after `took_ms`; the last one of everything `all_ended`
    after `all_ms`."""

    at: int = 0
    ended: int = 0
    took_ms: int = 0
    all_ended: int = 0
    all_ms: int = 0

    def is_fresh(self, mono_ms: int) -> bool:
        """Whether something may be decided by it."""
        return mono_ms - self.ended <= FRESH_MS

    def due(self, mono_ms: int) -> Extent:
        """What is to be counted now, so that counting takes a small part of the time."""
        if mono_ms - self.all_ended >= max(_ALL_MS, _ALL_REST * self.all_ms):
            return "all"
        return "new" if mono_ms - self.ended >= max(_NEW_MS, _NEW_REST * self.took_ms) else ""

    def for_decision(self) -> Extent:
        """What is to be counted before something is decided."""
        return "all" if self.all_ms <= _SOON_MS else "new"


@dataclass(frozen=True, slots=True)
class ImpactNews:
    """How far the counting is: `known` URLs judged; at the end a `preview`, or an `error` (raw text).

    `reading` is what the draft says; one that says what its base says, or is wrong, has no impact. With `count` it is
    counted further."""

    asked: CountedChange
    reading: DraftReading | None = None
    known: int = 0
    preview: Preview | None = None
    error: str = ""
    timing: Timing = Timing()
    count: ImpactCount | None = None

    @property
    def over(self) -> bool:
        """Whether it was counted to the end, or could not be."""
        return self.preview is not None or bool(self.error) or self.counts_nothing

    @property
    def counts_nothing(self) -> bool:
        """Whether there is no impact to be counted."""
        return self.reading is not None and (self.reading.same or bool(self.reading.problems))


def has_outgrown(asked: ImpactNews, latest: ImpactNews | None) -> bool:
    """Whether a later count is another one than the operator was asked by: more seeds, or a tenth more URLs blocked."""
    before, now = asked.preview, latest.preview if latest is not None else None
    if before is None or now is None:
        return False
    return not set(now.seeds_hit) <= set(before.seeds_hit) or now.newly_blocked > before.newly_blocked * GROWTH


class _Superseded(Exception):
    """Something else is to be counted: this is of no interest any more."""


class Counting:
    """What one part of a screen has counted: what was asked for last, and the `news` of it. A thread counts, until
    something else is asked or the screen is left."""

    def __init__(self, screen: ConsoleScreen, rule_queries: RuleQueries, hears: Callable[[], object]) -> None:
        """`hears` is called in the loop of the screen, when the news is other."""
        self._screen, self._rule_queries, self._hears = screen, rule_queries, hears
        self._clock = screen.console.clock
        self.asked: CountedChange = ()
        self.news: ImpactNews | None = None
        self._under_way = False
        self._pause: Timer | None = None

    def ask(self, asked: CountedChange, wait_s: float = 0) -> None:
        """Count this, nothing else; of the question before is nothing known. Without entries nothing is counted."""
        self.asked, self.news, self._under_way = asked, None, True
        if self._pause is not None:
            self._pause.stop()
        if wait_s:
            self._pause = self._screen.set_timer(wait_s, lambda: self._start("all"))
        else:
            self._start("all")

    @property
    def over(self) -> bool:
        """Whether it was counted to the end, or could not be."""
        return self.news is not None and self.news.over

    @property
    def is_fresh(self) -> bool:
        """Whether something may be decided by what is known."""
        news = self.news
        if news is None or not news.over:
            return False
        return news.counts_nothing or news.timing.is_fresh(self._clock.mono_ms())

    def freshen(self) -> None:
        """Something is to be decided: what became known since is counted now."""
        if self.news is not None and not self.is_fresh:
            self._go_on(self.news.timing.for_decision())

    def follow(self) -> None:
        """Count what became known since, so often that it takes a small part of the time."""
        if self.news is not None and self.news.over and not self.news.counts_nothing:
            self._go_on(self.news.timing.due(self._clock.mono_ms()))

    def _go_on(self, extent: Extent) -> None:
        if extent and not self._under_way:
            self._under_way = True
            self._start(extent)

    def _start(self, extent: Extent) -> None:
        last = self.news or ImpactNews(self.asked)
        last = replace(last, count=None) if extent == "all" else last
        group = f"impact {id(self)}"
        begin = partial(self._count, last)
        self._screen.run_worker(begin, name="impact", group=group, thread=True, exclusive=True, exit_on_error=False)

    def _heard(self, news: ImpactNews) -> None:
        """Take what was counted; what was known before stays until a later count is over."""
        if news.asked is self.asked and (news.over or not self.over):
            self.news = news
            self._under_way = not news.over
            self._hears()

    def _deliver(self, news: ImpactNews) -> None:
        with suppress(RuntimeError):  # the screen's loop has ended
            self._screen.call_later(self._heard, news)

    def _count(self, last: ImpactNews) -> None:
        """Count on from what is known of a question. Blocking."""
        worker, begun, told = get_current_worker(), self._clock.mono_ms(), 0
        news = ImpactNews(last.asked, last.reading)

        def progress(known: int) -> None:
            nonlocal told
            if worker.is_cancelled:
                raise _Superseded
            if known - told >= _TELL_EVERY:
                told = known
                self._deliver(replace(news, known=known))

        try:
            if news.reading is None and isinstance(last.asked, RuleDraft):
                reading = reading_of(last.asked, self._rule_queries.read(last.asked.text))
                news = replace(news, reading=reading)
                self._deliver(news)
            if (count := last.count or self._begin(news)) is None:
                return
            preview = count.go_on(progress)
            timing = self._timed(begun, last)
            self._deliver(replace(news, known=preview.known, preview=preview, timing=timing, count=count))
        except _Superseded:
            return
        except Exception as error:  # whatever fails below must not end the console
            self._deliver(
                replace(news, error=failure_words(error), timing=self._timed(begun, replace(last, count=None)))
            )

    def _begin(self, news: ImpactNews) -> ImpactCount | None:
        """Return a count of everything; None where there is nothing to be counted."""
        asked, reading = news.asked, news.reading
        if not isinstance(asked, RuleDraft):
            return self._rule_queries.impact_of_exclusions(asked) if asked else None
        if reading is None or news.counts_nothing:
            return None
        return self._rule_queries.impact(change_between(asked.base.policies, reading.policies), asked.base.job)

    def _timed(self, begun: int, last: ImpactNews) -> Timing:
        ended, before = self._clock.mono_ms(), last.timing
        of_all = (ended, ended - begun) if last.count is None else (before.all_ended, before.all_ms)
        return Timing(self._clock.wall_ms(), ended, ended - begun, *of_all)
