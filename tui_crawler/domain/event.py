"""Events: what has happened, told after it is committed. Names and fields are an interface (INTERFACE.md)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `at` is epoch ms; `event` is its name (INTERFACE.md); `extra` more fields of its JSON object."""

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
