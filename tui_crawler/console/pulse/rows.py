"""View 7 as charts: which there are, what each says at a moment, what is marked, and the line that reads all. Pure; the
command line draws the same ones."""

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from tui_crawler.domain.history.pulse import HOUR_MS, LatencyPhase, MarkKind, Pulse, PulseCount, PulseMark, total
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.status_words import outcome_words
from tui_crawler.text.charts import Dots, Form, Mark, Piece, Series, amount, chart, legend
from tui_crawler.text.format import clock, coarse, count, date_time, phase, plural, rate, size
from tui_crawler.text.glyphs import EXIT_GROUPS, state_mark
from tui_crawler.text.standing import Standing

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
    ("crawling", Standing.crawling),
    ("waiting", Standing.waiting),
    ("", Standing.failing),
    ("paused", Standing.paused),
    ("gave_up", Standing.gave_up),
    ("finished", Standing.finished),
)
"""Fields of `Gauges` and the states they count; how many are failing is known of the present alone."""
_LEAST_S = 2.0
"""A step that has lasted fewer seconds than this has no rate yet."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of a pulse: its name with the unit, its series, how a value of its scale and one of a step are written,
    and what each series says at the present, which is the whole span once the run is over."""

    id: str
    name: str
    series: tuple[Series, ...]
    scale: Callable[[float], str]
    shown: Callable[[float | None], str]
    now: tuple[str, ...]

    def says(self, place: int | None) -> Sequence[str]:
        """Return what each series says at a step (None: at the present)."""
        return self.now if place is None else [self.shown(one.values[place]) for one in self.series]

    @property
    def known(self) -> bool:
        """Whether there is anything to draw."""
        return any(value is not None for one in self.series for value in one.values)


class StepRates:
    """What was counted in each step of a pulse, by second, and in all of it; None where nothing is known: before the
    first and after the last moment, and while no process was at work."""

    def __init__(self, pulse: Pulse, now: int, of_phase: LatencyPhase = LatencyPhase.response) -> None:
        """`pulse` is read at `now` (epoch ms)."""
        self._pulse, self._ends_at = pulse, pulse.ends_at or now
        self.seconds = tuple(map(self._length, range(len(pulse.counts))))
        self.pages, self.bytes = self._by_second("pages"), self._by_second("bytes")
        self.p50, self.p95 = (
            tuple(one.percentile(share, of_phase) if one else None for one in pulse.counts) for share in (0.5, 0.95)
        )
        self.whole = total(pulse.counts)

    def _length(self, place: int) -> float:
        """How many seconds of a step are over and known; 0: none."""
        pulse = self._pulse
        begins, ends = pulse.span.at(place), pulse.span.at(place) + pulse.step_ms
        known = pulse.counts[place] is not None or pulse.gauges[place] is not None
        if not known or not pulse.begins_at or ends <= pulse.begins_at:
            return 0.0
        return max(0, min(ends, self._ends_at) - max(begins, pulse.begins_at)) / 1_000

    def _by_second(self, field: str) -> Values:
        least = min(_LEAST_S, self._pulse.step_ms / 1_000)
        return tuple(
            None if known < least else 0.0 if one is None else getattr(one, field) / known
            for one, known in zip(self._pulse.counts, self.seconds, strict=True)
        )

    def mean(self, field: str) -> float | None:
        """Return the pages or the bytes by second over all steps; None where nothing is known."""
        worked = sum(self.seconds)
        return getattr(self.whole, field) / worked if worked else None


class Charts:
    """All charts of a pulse, as it is read at `now` (epoch ms)."""

    def __init__(self, pulse: Pulse, now: int, of_phase: LatencyPhase = LatencyPhase.response) -> None:
        """`of_phase` is what the chart of latency shows."""
        self.pulse = pulse
        self._phase, self._follows = of_phase, now < pulse.span.until + pulse.step_ms
        self._present: Mapping[str, float] = {}
        self.rates = StepRates(pulse, now, of_phase)
        self._earlier = StepRates(pulse.earlier, now) if pulse.earlier is not None else None
        pages, transferred = self._of_rates()
        self.all: tuple[Chart, ...] = (pages, self._of_latency(), self._of_failures(), transferred)
        if pulse.of.whole:
            lag, took = Series("", self._gauge("lag_ms"), "network"), Series("", self._gauge("commit_ms"), "local")
            late = self._measured("lag", "Event loop lag", [lag], phase, phase)
            commits = self._measured("commits", "Longest commit", [took], phase, phase)
            self.all = (*self.all, self._of_states(), self._of_queue(), late, commits)

    def tell(self, present: Mapping[str, float]) -> None:
        """Take what the header counts now; what is read for the charts is older."""
        if self._follows and present != self._present and self.pulse.of.whole:
            self._present = present
            again = {one.id: one for one in (*self._of_rates(), self._of_states(), self._of_queue())}
            self.all = tuple(again.get(one.id, one) for one in self.all)

    @property
    def last(self) -> int:
        """The last step of which something is known, and has a rate; the last one if there is none."""
        pages = self.rates.pages
        return next((place for place in reversed(range(len(pages))) if pages[place] is not None), len(pages) - 1)

    def reading(self, place: int | None, zone: tzinfo) -> str:
        """Return the values of all charts at a step, or of the whole span (None), in one line."""
        if place is None:
            whole, run = self.rates.whole, self.pulse.run_id
            of = f"run {run}  " if run else ""
            return f"{of}{plural(whole.pages, 'page')}  {plural(whole.failed, 'failed attempt')}{_codes(whole)}"
        one, begins = self.pulse.counts[place], moment(self.pulse.span.at(place), self.pulse, zone)
        rates = self.rates
        if rates.pages[place] is None:
            return f"{begins}  no data"
        words = f"{rate(rates.pages[place])}/s  {size(rates.bytes[place])}/s  p50 {phase(rates.p50[place])}"
        return f"{begins}  {words}  {plural(one.failed if one else 0, 'failed attempt')}{_codes(one)}"

    def marks_at(self, place: int) -> tuple[PulseMark, ...]:
        """What happened in a step."""
        return tuple(mark for mark in self.pulse.marks if self.pulse.span.nearest(mark.at) == place)

    def _of_rates(self) -> tuple[Chart, Chart]:
        pages = self._of_rate("pages", "Pages/s", "accent", rate, amount)
        return pages, self._of_rate("bytes", "Bytes/s", "redirect", size, size)

    def _of_rate(
        self, field: str, name: str, role: str, shown: Callable[[float | None], str], unit: Callable[[float], str]
    ) -> Chart:
        """Something by second, and on top of it that of the run before."""
        now, mean = self._present.get(f"{field}_per_s"), shown(self.rates.mean(field))
        series = [Series("", getattr(self.rates, field), role)]
        says = [f"mean {mean}" if now is None else f"now {shown(now)} mean {mean}"]
        if (earlier := self._earlier) is not None and self.pulse.earlier is not None:
            before = f"run {self.pulse.earlier.run_id}"
            series.append(Series(before, getattr(earlier, field), "muted", Form.dashes))
            says.append(shown(earlier.mean(field)))
        return Chart(field, name, tuple(series), lambda value: f"{unit(value)}/s", shown, tuple(says))

    def _of_latency(self) -> Chart:
        of_phase, whole = self._phase, self.rates.whole
        name = "Latency" if of_phase is LatencyPhase.response else f"Latency: {PHASE_WORDS[of_phase]}"
        series = Series("p50", self.rates.p50, "ok"), Series("p95", self.rates.p95, "client", Form.line)
        now = tuple(phase(whole.percentile(share, of_phase)) for share in (0.5, 0.95))
        return Chart("latency", name, series, phase, phase, now)

    def _of_failures(self) -> Chart:
        by_step = [{} if one is None else one.by_group() for one in self.pulse.counts]
        sums = self.rates.whole.by_group()
        groups = [(group, glyph.role) for group, glyph in EXIT_GROUPS.items() if group in sums]
        steps = list(zip(by_step, self.rates.seconds, strict=True))
        series = tuple(
            Series(group, tuple(float(one.get(group, 0)) if known else None for one, known in steps), role, Form.layer)
            for group, role in groups
        )
        name, now = f"Failed per {coarse(self.pulse.step_ms)}", tuple(count(sums[group]) for group, _ in groups)
        return Chart("failures", name, series, _whole_amount, _any, now)

    def _gauge(self, field: str, present: str = "") -> Values:
        """A gauge by step. In the newest it is what the header counts as `present`."""
        found = [
            None if one is None or not known else getattr(one, field, 0)
            for one, known in zip(self.pulse.gauges, self.rates.seconds, strict=True)
        ]
        if (now := self._present.get(present)) is not None:
            found[self.last :] = [now] * (len(found) - self.last)
        return tuple(found)

    def _measured(self, chart_id: str, name: str, series: Sequence[Series], *writes: Callable[[Any], str]) -> Chart:
        """A chart of gauges, which says those of the newest step; `writes` a value of the scale, and one of a step."""
        scale, shown = writes
        now = tuple(shown(one.values[self.last]) for one in series)
        return Chart(chart_id, name, tuple(series), scale, shown, now)

    def _of_states(self) -> Chart:
        every = (Series(one, self._gauge(field, one), state_mark(one).role, Form.layer) for field, one in _STATES)
        return self._measured("states", "Origins", [one for one in every if any(one.values)], _whole_amount, _any)

    def _of_queue(self) -> Chart:
        pending, todo = self._gauge("pending", "pending"), self._gauge("todo", "todo")
        series = Series("pending", pending, "waiting"), Series("todo", todo, "strong", Form.line)
        return self._measured("queue", "Pages to crawl", series, _whole_amount, count)


def _whole_amount(value: float) -> str:
    """A number for a scale of what is counted: half of one is not."""
    return amount(value) if value == int(value) else ""


def _any(value: float | None) -> str:
    """Return the counts at a step; empty without a step."""
    return count(round(value)) if value else ""


def _codes(one: PulseCount | None) -> str:
    """The exit codes of failures, the most frequent first: `: timeout 2`."""
    named = [f"{outcome_words(name)} {count(number)}" for name, number in ({} if one is None else one.names()).items()]
    more = f", {len(named) - 3} more" if len(named) > 3 else ""  # as fit into a line
    return f": {', '.join(named[:3])}{more}" if named else ""


def moment(at: int, pulse: Pulse, zone: tzinfo) -> str:
    """A moment as the span of a pulse needs it: time of day, with the date where it is longer than a day."""
    if pulse.span.until - pulse.span.since > 24 * HOUR_MS:
        return date_time(at, zone)[5:16]
    return clock(at, zone)[: 8 if pulse.step_ms < 60_000 else 5]


def marks_of(pulse: Pulse, zone: tzinfo, width: int) -> tuple[Mark, ...]:
    """Return the marks of an axis of `width` cells by importance: its ends, what happened, times between."""
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
    """Return a chart as lines of `width` cells."""
    pulse = charts.pulse
    shares = None if cursor is None else (cursor + 0.5) / max(1, len(pulse.counts))
    marks = marks_of(pulse, zone, width)
    return chart(one.series, width, height, dots=dots, scale=one.scale, marks=marks, cursor=shares)


def says_of(one: Chart, dots: Dots, place: int | None) -> list[list[Piece]]:
    """What the series of a chart say at a step, each with what it is drawn with where there are several."""
    says = one.says(place)
    if len(one.series) > 1:
        return legend(one.series, dots, says)
    return [[(" ".join(says), "muted")]] if any(says) else []


def nothing_of(charts: Charts, one: Chart) -> str:
    """The text of a chart without data."""
    return "no failed attempts" if one.id == "failures" and charts.rates.whole.attempts else "no data yet"
