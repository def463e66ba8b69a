"""A run that leaves its console: what starts it as a process of its own, and where it is afterwards."""

from typing import Protocol

from tui_crawler.domain.record import dataclass
from tui_crawler.text.safe_text import safe


@dataclass(frozen=True, slots=True)
class Departure:
    """A run in a process of its own. `log` is the file of its messages, `attach` the command that shows it again, `end`
    the one that ends it."""

    pid: int
    log: str
    attach: str
    end: str

    def lines(self) -> tuple[str, ...]:
        """Where it runs, as lines that are safe to print."""
        return (
            f"The crawl continues as process {self.pid}, messages in {safe(self.log)}",
            f"To see it again: {safe(self.attach)}",
            f"To end it: {safe(self.end)}",
        )


class CannotDetach(Exception):
    """The run could not be started as a process of its own; the message says why (raw)."""


class Detacher(Protocol):
    """Starts the run of a database as a process of its own, once the engine of this console has ended."""

    @property
    def hindrance(self) -> str:
        """Why this run cannot continue without its console; empty when it can."""

    def start(self) -> Departure:
        """Starts it and waits until it holds the database (blocking). Raises CannotDetach; then nothing runs."""
