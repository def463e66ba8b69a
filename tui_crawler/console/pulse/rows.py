"""View 7 as charts: which there are, what each says at a moment, what is marked, and the line that reads all. Pure; the
command line draws the same ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo

from tui_crawler.domain.history.pulse import HOUR_MS, LatencyPhase, MarkKind, Pulse, PulseCount, PulseMark, PulseOf
from tui_crawler.domain.record import dataclass
from tui_crawler.text.charts import Dots, Form, Mark, Piece, Series, amount, chart, legend
from tui_crawler.text.format import ABSENT, clock, count, date_time, phase, plural, rate, size
from tui_crawler.text.glyphs import EXIT_GROUPS

Values = tuple[float | None, ...]

PHASE_WORDS = {
    LatencyPhase.response: "latency",
    LatencyPhase.dns: "name look-up",
    LatencyPhase.connect: "connect",
    LatencyPhase.first_byte: "first byte",
    LatencyPhase.last_byte: "body",
}
_MARKS = {
    MarkKind.run_started: ("▶", "active"),
    MarkKind.run_ended: ("■", "muted"),
    MarkKind.takeover: ("↻", "warning"),
    MarkKind.pause: ("‖", "paused"),
    MarkKind.ruleset: ("✎", "accent"),
    MarkKind.action: ("◆", "strong"),
}
_STATES = (
    ("crawling", "crawling", "active"),
    ("waiting", "waiting", "waiting"),
    ("impatient", "failing", "warning"),
    ("paused", "paused", "paused"),
    ("gave_up", "stopped: errors", "error"),
    ("finished", "finished", "ok"),
)
"""Fields of `Gauges`, what they are called, and their roles; how many are impatient is known of the present alone."""
_LEAST_S = 2.0
"""Of less than so many seconds no rate is told: a step that has just begun."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of a pulse: its name, its series, how its scale is written, and what it says of a step."""

    id: str
    name: str
    series: tuple[Series, ...]
    scale: Callable[[float], str]
    says: Callable[[int], str]


class Charts:
    """All charts of a pulse, as it is read at `now` (epoch ms)."""

    def __init__(self, pulse: Pulse, now: int, of_phase: LatencyPhase = LatencyPhase.response) -> None:
        """`of_phase` is what the chart of latency shows."""
        self.pulse = pulse
        self._phase, self._follows = of_phase, now < pulse.span.until + pulse.step_ms
        self._present: Mapping[str, int] = {}
        self._seconds = [self._length(place, now) for place in range(len(pulse.counts))]
        self.p50: Values = tuple(one.percentile(0.5, of_phase) if one else None for one in pulse.counts)
        self.p95: Values = tuple(one.percentile(0.95, of_phase) if one else None for one in pulse.counts)
        pages = self.pages = self._rates(lambda one: one.pages)
        transferred = self.bytes = self._rates(lambda one: one.bytes)
        of_bytes = (Series("bytes", transferred, "redirect"),)
        whole = pulse.of == PulseOf()
        self.all = (
            Chart("pages", "Pages a second", (Series("pages", pages),), amount, lambda at: f"{rate(pages[at])}/s"),
            self._of_latency(),
            self._of_failures(),
            *((self._of_states(),) if whole else ()),
            Chart("bytes", "Bytes a second", of_bytes, size, lambda place: f"{size(transferred[place])}/s"),
            *((self._of_queue(), *self._of_engine()) if whole else ()),
        )

    def tell(self, present: Mapping[str, int]) -> None:
        """Take what waits, and how many origins there are of each state, now; gauges are up to a minute old."""
        if self._follows and present != self._present and self.pulse.of == PulseOf():
            self._present = present
            anew = {one.id: one for one in (self._of_states(), self._of_queue())}
            self.all = tuple(anew.get(one.id, one) for one in self.all)

    @property
    def last(self) -> int:
        """The last step of which something is known, and has a rate; the last one if there is none."""
        known = (place for place in reversed(range(len(self.pages))) if self.pages[place] is not None)
        return next(known, len(self.pages) - 1)

    def reading(self, place: int, zone: tzinfo) -> str:
        """What all charts say at a step, in one line."""
        one, begins = self.pulse.counts[place], moment(self.pulse.span.at(place), self.pulse, zone)
        if self.pages[place] is None:
            return f"{begins}  nothing known"
        rates = f"{rate(self.pages[place])}/s  {size(self.bytes[place])}/s  p50 {phase(self.p50[place])}"
        return f"{begins}  {rates}  {plural(one.failed if one else 0, 'failure')}{_codes(one)}"

    def marks_at(self, place: int) -> tuple[PulseMark, ...]:
        """What happened in a step."""
        return tuple(mark for mark in self.pulse.marks if self.pulse.span.nearest(mark.at) == place)

    def _length(self, place: int, now: int) -> float:
        """How many seconds of a step are over and known; 0: none."""
        pulse = self.pulse
        begins = pulse.span.at(place)
        if not pulse.begins_at or begins + pulse.step_ms <= pulse.begins_at:
            return 0.0
        return max(0, min(begins + pulse.step_ms, now) - max(begins, pulse.begins_at)) / 1_000

    def _rates(self, value: Callable[[PulseCount], float], per_s: float = 1) -> Values:
        """What there was in `per_s` seconds, by step."""
        least = min(_LEAST_S, self.pulse.step_ms / 1_000)
        return tuple(
            None if seconds < least else 0.0 if one is None else value(one) * per_s / seconds
            for one, seconds in zip(self.pulse.counts, self._seconds, strict=True)
        )

    def _of_latency(self) -> Chart:
        p50, p95 = self.p50, self.p95
        name = "Latency" if self._phase is LatencyPhase.response else f"Latency: {PHASE_WORDS[self._phase]}"
        series = (Series("p50", p50, "ok"), Series("p95", p95, "client", Form.line))
        return Chart("latency", name, series, phase, lambda place: f"p50 {phase(p50[place])}  p95 {phase(p95[place])}")

    def _of_failures(self) -> Chart:
        found = [{} if one is None else one.by_group() for one in self.pulse.counts]
        series = []
        for group, glyph in EXIT_GROUPS.items():
            if any(by_group.get(group) for by_group in found):
                pairs = zip(found, self._seconds, strict=True)
                values = tuple(one.get(group, 0) / (seconds / 60) if seconds else None for one, seconds in pairs)
                series.append(Series(group, values, glyph.role, Form.layer))

        def says(place: int) -> str:
            one = self.pulse.counts[place]
            return f"{count(0 if one is None else one.failed)} failed"

        return Chart("failures", "Failures a minute", tuple(series), amount, says)

    def _gauge(self, field: str, present: str = "") -> Values:
        """A gauge by step; between two of its minutes, where steps are shorter, it is as it was. In the newest it is
        what counts as `present`."""
        found, last, age = list[float | None](), None, 0
        for one in self.pulse.gauges:
            if one is not None:
                last, age = getattr(one, field, 0), 0
            elif (age := age + self.pulse.step_ms) >= 2 * 60_000:
                last = None
            found.append(last)
        if (now := self._present.get(present)) is not None:
            found[self.last :] = [now] * (len(found) - self.last)
        return tuple(found)

    def _of_states(self) -> Chart:
        every = (Series(word, self._gauge(field, word), role, Form.layer) for field, word, role in _STATES)
        series = tuple(one for one in every if any(one.values))

        def says(place: int) -> str:
            return "  ".join(f"{number:.0f} {one.name}" for one in series if (number := one.values[place]))

        return Chart("states", "Origins by state", series, amount, says)

    def _of_queue(self) -> Chart:
        pending, todo = self._gauge("pending", "pending"), self._gauge("todo", "todo")
        series = (Series("pending", pending, "waiting"), Series("todo", todo, "strong", Form.line))

        def says(place: int) -> str:
            return f"{_whole(pending[place])} pending  {_whole(todo[place])} todo"

        return Chart("queue", "Pages that wait", series, amount, says)

    def _of_engine(self) -> tuple[Chart, Chart]:
        lag, took, jobs = (self._gauge(name) for name in ("lag_ms", "commit_ms", "commit_jobs"))

        def says(place: int) -> str:
            return f"{phase(took[place])}  largest of {_whole(jobs[place])}"

        late = (Series("worst", lag, "network"),)
        return (
            Chart("lag", "Event loop late by", late, phase, lambda place: phase(lag[place])),
            Chart("commits", "Longest commit", (Series("ms", took, "local"),), phase, says),
        )


def _whole(number: float | None) -> str:
    return ABSENT if number is None else count(round(number))


def _codes(one: PulseCount | None) -> str:
    """The exit codes of failures, the most frequent first: `(request_timeout 2)`."""
    named = [f"{name} {count(number)}" for name, number in ({} if one is None else one.names()).items()]
    more = f", {len(named) - 3} more" if len(named) > 3 else ""  # as fit into a line
    return f" ({', '.join(named[:3])}{more})" if named else ""


def moment(at: int, pulse: Pulse, zone: tzinfo) -> str:
    """A moment as the span of a pulse needs it: time of day, with the date where it is longer than a day."""
    if pulse.span.until - pulse.span.since > 24 * HOUR_MS:
        return date_time(at, zone)[5:16]
    return clock(at, zone)[: 8 if pulse.step_ms < 60_000 else 5]


def marks_of(pulse: Pulse, zone: tzinfo, width: int) -> tuple[Mark, ...]:
    """What stands at the axis in `width` cells: its beginning and end, what happened, and times between, in the order
    of importance."""
    since, length = pulse.span.since, pulse.span.until - pulse.span.since

    def time(at: int) -> Mark:
        return Mark((at - since) / length, moment(at, pulse, zone))

    ends = (time(since), time(pulse.span.until))
    events = tuple(
        Mark((one.at - since) / length, f"{one.who or ''} {one.words}".strip()[:24], *_MARKS[one.kind])
        for one in reversed(pulse.marks)
    )
    parts = max(1, width // 24)
    between = tuple(time(since + length * part // parts) for part in range(1, parts))
    return (*ends, *events, *between)


def mark_words(mark: PulseMark, zone: tzinfo) -> str:
    """What happened, in a line: `10:02:41 ‖ ann pause https://a.example`."""
    return f"{clock(mark.at, zone)} {_MARKS[mark.kind][0]} {mark.who} {mark.words}".replace("  ", " ")


def drawn(
    charts: Charts, one: Chart, width: int, height: int, dots: Dots, zone: tzinfo, cursor: int | None
) -> list[list[Piece]]:
    """A chart in so many cells."""
    pulse = charts.pulse
    shares = None if cursor is None else (cursor + 0.5) / max(1, len(pulse.counts))
    marks = marks_of(pulse, zone, width)
    return chart(one.series, width, height, dots=dots, scale=one.scale, marks=marks, cursor=shares)


def legend_of(one: Chart, dots: Dots) -> list[Piece]:
    """What the series of a chart are drawn with, where there are several."""
    return legend(one.series, dots) if len(one.series) > 1 else []


def title_of(pulse: Pulse) -> str:
    """Of what a pulse is, in words; raw."""
    return "whole crawl" if pulse.of == PulseOf() else f"{pulse.of.scope.name} {pulse.of.name}"
