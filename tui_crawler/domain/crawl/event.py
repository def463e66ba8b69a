"""Events: what has happened, told after it is committed. Names and fields are an interface (docs/interface.md)."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `at` is epoch ms; `event` is its name (docs/interface.md); `extra` more fields of its JSON object."""

    at: int
    event: str
    origin: str = ""
    url: str = ""
    exit_code: str = ""
    extra: tuple[tuple[str, object], ...] = field(default=())

    def as_document(self) -> dict[str, object]:
        """The JSON object of `run --json`; empty fields are left out."""
        about = {"origin": self.origin, "url": self.url, "exit_code": self.exit_code}
        said = {name: text for name, text in about.items() if text}
        return {"at": self.at, "event": self.event, **said, **dict(self.extra)}
