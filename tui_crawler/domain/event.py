"""Events: what has happened, told after it is committed. Names and fields are an interface (INTERFACE.md)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `at` is epoch ms; `event` one of EVENT_NAMES; `extra` further fields of its JSON object, in order."""

    at: int
    event: str
    origin: str = ""
    url: str = ""
    exit_code: str = ""
    extra: tuple[tuple[str, object], ...] = field(default=())

    def as_document(self) -> dict[str, object]:
        """The JSON object of `run --json`; empty fields are left out."""
        document: dict[str, object] = {"at": self.at, "event": self.event}
        if self.origin:
            document["origin"] = self.origin
        if self.url:
            document["url"] = self.url
        if self.exit_code:
            document["exit_code"] = self.exit_code
        document.update(self.extra)
        return document


EVENT_NAMES = (
    "run_started",
    "origin_started",
    "robots_fetched",
    "todo_filled",
    "attempt_finished",
    "origin_waiting",
    "origin_paused",
    "origin_resumed",
    "origin_finished",
    "database_failed",
    "database_restored",
    "worker_ended",
    "output_left_out",
    "run_finished",
)
