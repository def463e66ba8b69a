"""What a rehearsal has come to: the events of a crawl in virtual time, counted by origin."""

from __future__ import annotations

from tui_crawler.domain.event import Event
from tui_crawler.domain.exit_code import BLOCKED, ExitCode
from tui_crawler.domain.record import dataclass


@dataclass(slots=True)
class Rehearsed:
    """What would become of an origin; `took_ms` is from the start of the run to its last attempt."""

    origin: str
    fetched: int = 0
    refused: int = 0
    not_stored: int = 0
    took_ms: int = 0
    finish_reason: str = ""


class Rehearsal:
    """A listener that counts. Refusals are counted by page, each once; robots.txt is not counted."""

    def __init__(self) -> None:
        self.origins: dict[str, Rehearsed] = {}
        self._began = 0

    def on_event(self, event: Event) -> None:
        """Takes one event."""
        self._began = self._began or event.at
        if not event.origin:
            return
        one, extra = self.origins.setdefault(event.origin, Rehearsed(event.origin)), dict(event.extra)
        match event.event:
            case "attempt_finished":
                one.fetched += extra["response_ms"] is not None
                one.refused += extra["response_ms"] is None and ExitCode[event.exit_code] in BLOCKED
                one.took_ms = event.at - self._began
            case "origin_finished":
                one.finish_reason = str(extra["reason"])
