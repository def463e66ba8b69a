"""Alarms: what of a crawl somebody who looks elsewhere is to hear of. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tui_crawler.domain.history.coverage import CoverageEvent
from tui_crawler.domain.history.run_totals import RunTotals
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.status_words import GAVE_UP, elsewhere_words, finish_words, run_end_words

if TYPE_CHECKING:
    from tui_crawler.domain.crawl.event import Event
    from tui_crawler.domain.history.trap import TrapSuspicion


class AlarmKind(StrEnum):
    """A kind of alarm; the value is its name in the configuration and for programs."""

    origin_gave_up = "origin_gave_up"
    trap_suspected = "trap_suspected"
    most_not_canonical = "most_not_canonical"
    empty = "empty"
    disk_nearly_full = "disk_nearly_full"
    run_ended = "run_ended"

    @property
    def words(self) -> str:
        """The kind as a person reads it; the value is its name in events and in the configuration."""
        return "origin stopped after errors" if self is AlarmKind.origin_gave_up else self.value.replace("_", " ")


_SEVERE = frozenset({AlarmKind.origin_gave_up, AlarmKind.disk_nearly_full})  # the crawl loses something by it


@dataclass(frozen=True, slots=True)
class Alarm:
    """One alarm. `at` is epoch ms, `message` says more (raw). `severe` and `warnings` count those that stand now, this
    one included."""

    at: int
    kind: AlarmKind
    origin: str
    message: str
    severe: int
    warnings: int

    def as_document(self) -> dict[str, object]:
        """The JSON object that a program gets; without an origin where it is about the whole crawl."""
        about = {"origin": self.origin} if self.origin else {}
        said = {"message": self.message, "severe": self.severe, "warnings": self.warnings}
        return {"at": self.at, "event": self.kind.value, **about, **said}


class AlarmWatch:
    """Folds the events of a run into alarms, each once for its origin until what it told of is over. The alarm for a
    disk stands until a tenth more than `least_free` bytes are free again."""

    def __init__(self, wanted: Collection[str], least_free: int) -> None:
        """`wanted` are the kinds that are told, by name."""
        self._wanted = {kind for kind in AlarmKind if kind in wanted}
        self._least_free = least_free
        self._totals = RunTotals()
        self._standing: set[tuple[AlarmKind, str]] = set()

    def take(self, event: Event) -> Iterator[Alarm]:
        """The alarms that an event gives."""
        self._totals.take(event)
        one = self._totals.origins.get(event.origin)
        if one is not None and one.reason not in GAVE_UP:
            self._standing.discard((AlarmKind.origin_gave_up, event.origin))
        if one is not None and event.event == "origin_finished" and one.reason in GAVE_UP:
            yield from self._raise(event.at, AlarmKind.origin_gave_up, event.origin, finish_words(one.reason))
        elif one is not None and event.exit_code == ExitCode.not_canonical.name:
            words = elsewhere_words(one.not_canonical, one.pages_done + one.pages_failed, one.todo)
            if words:
                yield from self._raise(event.at, AlarmKind.most_not_canonical, event.origin, words)
        elif isinstance(event, CoverageEvent):
            for origin in event.coverage.empty:
                yield from self._raise(event.at, AlarmKind.empty, origin, event.coverage.why_empty(origin))
        elif event.event == "run_finished":
            yield from self._raise(event.at, AlarmKind.run_ended, "", run_end_words(self._totals.reason))

    def look(self, at: int, free: int, suspicions: Mapping[str, TrapSuspicion]) -> Iterator[Alarm]:
        """The alarms that the rest gives: how many bytes are `free` for the database, and which origins look like a
        trap."""
        if free < self._least_free:
            words = f"{free // 2**20} MiB are left for the database"
            yield from self._raise(at, AlarmKind.disk_nearly_full, "", words)
        elif free > self._least_free * 1.1:
            self._standing.discard((AlarmKind.disk_nearly_full, ""))
        for origin, suspicion in suspicions.items():
            yield from self._raise(at, AlarmKind.trap_suspected, origin, "; ".join(suspicion.evidence))

    def _raise(self, at: int, kind: AlarmKind, origin: str, message: str) -> Iterator[Alarm]:
        if kind in self._wanted and (kind, origin) not in self._standing:
            self._standing.add((kind, origin))
            severe = sum(one in _SEVERE for one, _ in self._standing)
            warnings = len(self._standing) - severe - ((AlarmKind.run_ended, "") in self._standing)
            yield Alarm(at, kind, origin, message, severe, warnings)
