"""How a crawl goes over time: what attempts are counted by, minute by minute, and what is shown of it. Pure.

A count has sums, and cells: how often each step of a logarithmic scale of ms was reached, for each phase, and how often
attempts failed with each exit code. Counts are added up over any span, and percentiles are read from the sum.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.exit_code import DISPOSITIONS, AttemptKind, ExitCode, code_of, exit_name, is_problem

if TYPE_CHECKING:
    from tui_crawler.domain.records.attempt import AttemptRecord

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
KEPT_MS = (MINUTE_MS, HOUR_MS)
"""The lengths of time for which counts are kept."""
FINE_MS, YOUNG_MS = 5_000, 30 * MINUTE_MS
"""How often a process measures itself and the crawl while it is young; later once a minute."""


class LatencyPhase(IntEnum):
    """What of an attempt took its time: all of its response, or a part of its last request: looking its name up,
    connecting (TCP and TLS), from there to the head of the answer, from the head to the last byte of its body."""

    response = 0
    dns = 1
    connect = 2
    first_byte = 3
    last_byte = 4


_STEPS = 128
"""Cells of a phase: four to each doubling of the ms."""
_CODES = 4_096
"""The cell of exit code 0: exit codes may be less."""


@dataclass(slots=True)
class PulseCount:
    """What was counted in a stretch of time. `pages` are page crawls that made a request, `failed` problems."""

    attempts: int = 0
    pages: int = 0
    failed: int = 0
    bytes: int = 0
    cells: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    def add_attempt(self, attempt: AttemptRecord) -> None:
        requests, kind = attempt.requests, attempt.kind
        code = attempt.exit_code.value if is_problem(attempt.exit_code, kind.value) else None
        page = bool(requests) and kind is AttemptKind.page
        self.add(attempt.response_ms, page=page, code=code, size=attempt.bytes)
        if requests:
            last = requests[-1]
            self.add_phases(last.sent_at, last.head_at, last.ended_at, last.dns_ms, last.connect_ms, last.tls_ms)

    def add_logged(self, row: Sequence[Any]) -> None:
        """Add an attempt as it is logged: its kind, exit code, requests, bytes and response time; then the times of its
        last request, None without one."""
        kind, code, requests, size, response_ms, sent_at, head_at, ended_at, dns_ms, connect_ms, tls_ms = row
        failed = (known := code_of(code)) is not None and is_problem(known, kind)
        page = kind == AttemptKind.page and requests > 0
        self.add(response_ms, page=page, code=code if failed else None, size=size)
        if sent_at is not None:
            self.add_phases(sent_at, head_at, ended_at, dns_ms, connect_ms, tls_ms)

    def add(self, response_ms: int | None, *, page: bool, code: int | None, size: int) -> None:
        """One more attempt: of a page or not, the exit code of a problem or None, its bytes."""
        self.attempts += 1
        self.pages += page
        self.bytes += size
        if code is not None:
            self.failed += 1
            self.cells[_CODES + code] += 1
        if response_ms is not None:
            self.cells[step_of(response_ms)] += 1

    def add_phases(
        self, sent: int, head: int | None, ended: int, dns: int | None, connect: int | None, tls: int | None
    ) -> None:
        """The parts of a request: a kept connection has none of the first two, one without answer none of the last."""
        cells, before = self.cells, 0
        if dns is not None:
            before = dns
            cells[_STEPS * LatencyPhase.dns + step_of(before)] += 1
        if connect is not None:
            took = connect + (tls or 0)
            before += took
            cells[_STEPS * LatencyPhase.connect + step_of(took)] += 1
        if head is not None:
            cells[_STEPS * LatencyPhase.first_byte + step_of(head - sent - before)] += 1
            cells[_STEPS * LatencyPhase.last_byte + step_of(ended - head)] += 1

    def merge(self, other: PulseCount, times: float = 1) -> None:
        """Adds another count; a sample counts so many `times`."""
        self.attempts += round(other.attempts * times)
        self.pages += round(other.pages * times)
        self.failed += round(other.failed * times)
        self.bytes += round(other.bytes * times)
        for cell, number in other.cells.items():
            self.cells[cell] += number if times == 1 else round(number * times)

    def percentile(self, share: float, phase: LatencyPhase = LatencyPhase.response) -> float | None:
        """The ms that so large a share (0 to 1) did not exceed, to an eighth; None where nothing was measured."""
        first = _STEPS * phase
        steps = sorted((cell - first, number) for cell, number in self.cells.items() if 0 <= cell - first < _STEPS)
        left = share * sum(number for _, number in steps)
        for step, number in steps:
            left -= number
            if left <= 0:
                return ms_of(step)
        return None

    def codes(self) -> dict[int, int]:
        """How many attempts failed with each exit code (its number): the most frequent first, then the least number."""
        found = {cell - _CODES: number for cell, number in self.cells.items() if cell >= _STEPS * len(LatencyPhase)}
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    def names(self) -> dict[str, int]:
        """The same by the names of the exit codes; one of a newer program is its number."""
        return {exit_name(code): number for code, number in self.codes().items()}

    def by_group(self) -> dict[str, int]:
        """How many attempts failed, by the value of the group of their exit code; a code not known is `local`."""
        sums = Counter[str]()
        for code, number in self.codes().items():
            sums[_GROUP_OF.get(code, "local")] += number
        return dict(sums)


_GROUP_OF: Mapping[int, str] = {code.value: DISPOSITIONS[code].group.value for code in ExitCode}


def packed(cells: Mapping[int, int]) -> bytes:
    """The cells as bytes: their numbers (16 bit), then how often each (32 bit)."""
    return struct.pack(f"<{len(cells)}H{len(cells)}I", *cells, *cells.values())


def unpacked(cells: bytes) -> defaultdict[int, int]:
    """Return the cells that were `packed`, 0 for every other one. Raises struct.error for bytes that are none."""
    number = len(cells) // 6
    values = struct.unpack(f"<{number}H{number}I", cells)
    return defaultdict(int, zip(values[:number], values[number:], strict=True))


def step_of(ms: int) -> int:
    """The step of the scale a number of ms stands on: 0 below 1, then four to each doubling."""
    if ms < 1:
        return 0
    octave = ms.bit_length() - 1
    return min(1 + 4 * octave + ((ms << 2 >> octave) & 3), _STEPS - 1)


def ms_of(step: int) -> float:
    """The middle of a step, in ms."""
    if step < 1:
        return 0.0
    octave, part = divmod(step - 1, 4)
    width = float((1 << octave) / 4)
    return (1 << octave) + width * part + (width / 2 if width > 1 else 0.0)


class PulseScope(Enum):
    """Of what a pulse is; the name is what one types."""

    crawl = "the whole crawl"
    origin = "one origin"
    job = "one job"
    worker = "one worker"


@dataclass(frozen=True, slots=True)
class PulseOf:
    """The whole crawl, or one origin, job or worker by its name."""

    scope: PulseScope = PulseScope.crawl
    name: str = ""

    @property
    def whole(self) -> bool:
        """Whether it is the whole crawl."""
        return self.scope is PulseScope.crawl

    @property
    def title(self) -> str:
        """What it is, in words; raw."""
        return "whole crawl" if self.whole else self.words

    @property
    def words(self) -> str:
        """What one types for it: `crawl`, `origin NAME`."""
        return f"{self.scope.name} {self.name}".strip()

    @classmethod
    def meant(cls, words: str) -> PulseOf | None:
        """Return what was typed; None: it is nothing of the kind."""
        scope, _, name = words.strip().partition(" ")
        one = cls(PulseScope[scope], name.strip()) if scope in PulseScope.__members__ else None
        return one if one is not None and one.whole != bool(one.name) else None


class MarkKind(Enum):
    """What happened at a moment that a chart marks."""

    run_started = "a run started or continued"
    run_ended = "a run ended"
    takeover = "another process took over"
    pause = "an operator paused"
    ruleset = "a new ruleset"
    action = "an operator did something else"


@dataclass(frozen=True, slots=True)
class PulseMark:
    """Something that happened at a moment (epoch ms). `who` asked for it, empty where nobody did; raw text."""

    at: int
    kind: MarkKind
    words: str
    who: str = ""


@dataclass(frozen=True, slots=True)
class Gauges:
    """What was measured last: pages on todo lists and with tries left, origins by state, and of the processes the
    worst: how late the event loop was, what a commit took (ms), how many attempts and marks it held."""

    todo: int
    pending: int
    crawling: int
    waiting: int
    paused: int
    gave_up: int
    finished: int
    lag_ms: int
    commit_ms: int
    commit_jobs: int


@dataclass(frozen=True, slots=True)
class Pulse:
    """What was counted and measured in each cell of a span, None for nothing.

    `sampled`: in steps of many attempts some were looked at, and counted for all. `begins_at` and `ends_at` are the
    first and the last moment of which anything is known (0: none; the present). `earlier` is the run before that of the
    span (`run_id`), step by step as long after its start.
    """

    of: PulseOf
    span: TimeSpan
    counts: tuple[PulseCount | None, ...]
    gauges: tuple[Gauges | None, ...]
    marks: tuple[PulseMark, ...] = ()
    sampled: bool = False
    begins_at: int = 0
    ends_at: int = 0
    run_id: int = 0
    earlier: Pulse | None = None

    @property
    def step_ms(self) -> int:
        """How long a cell is."""
        return int(self.span.cell_ms)


Pace = Sequence[tuple[int, int]]
"""The attempts of an origin in each cell of a span, and how many of them failed."""
_SECOND = 1_000
STEPS_MS = (
    *(_SECOND * many for many in (1, 2, 5, 10, 15)),
    *(MINUTE_MS * many for many in (1, 2, 3, 5, 10, 15, 30)),
    *(HOUR_MS * many for many in (1, 2, 3, 6, 12, 24)),
)
"""The steps that a span may be shown in."""
SPANS_MS = (*(MINUTE_MS * many for many in (1, 5, 15)), *(HOUR_MS * many for many in (1, 3, 6, 12, 24, 72, 168, 720)))
"""The spans that are offered, from a minute to a month."""
MOST_STEPS = 120


def pulse_span(of: PulseOf, length: int, end: int) -> TimeSpan:
    """Return the span of at least this length (ms) that ends with the cell of a moment (epoch ms); its cells have the
    shortest step of which no more than `MOST_STEPS` make the length."""
    step = next((step for step in STEPS_MS if length <= step * MOST_STEPS), STEPS_MS[-1])
    if of.scope in {PulseScope.job, PulseScope.worker}:
        step = max(step, MINUTE_MS)
    return TimeSpan.ending(end, step, end // step - (end - length) // step + 1)


def total(counts: Iterable[PulseCount | None]) -> PulseCount:
    """All of them together."""
    whole = PulseCount()
    for one in counts:
        if one is not None:
            whole.merge(one)
    return whole
