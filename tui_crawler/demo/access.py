"""The access log: what the demo web was asked and when, so that politeness can be proved from outside."""

import json
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

_KEPT_ENTRIES = 100_000


class Ending(StrEnum):
    """How an answer ended. Only `complete` gave the client everything it was promised."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    BROKEN_CHUNK = "broken_chunk"
    RESET = "reset"
    CLIENT_LEFT = "client_left"


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request as the server saw it.

    Times are epoch milliseconds with fractions, taken from a steady clock. `started_ms` is when the head
    had arrived, `ended_ms` just before the last byte was handed over: a client cannot have had the whole
    answer earlier, so a gap measured here is never shorter than the one the client kept.
    `status` is 0 if no answer was sent (reset).
    """

    started_ms: float
    ended_ms: float
    site: str
    origin: str
    method: str
    target: str
    status: int
    user_agent: str
    ending: Ending


class AccessLog:
    """Keeps the last 100,000 requests in memory and, if a path is given, appends each as one JSON line."""

    def __init__(self, path: Path | None = None) -> None:
        """Open `path` for appending; raises OSError if that is not possible."""
        self._entries: deque[ServedRequest] = deque(maxlen=_KEPT_ENTRIES)
        self._file = path.open("a", encoding="utf-8", buffering=1) if path is not None else None
        self._epoch_ms = time.time() * 1000 - time.monotonic() * 1000

    @property
    def entries(self) -> Sequence[ServedRequest]:
        """The requests in the order in which they ended."""
        return tuple(self._entries)

    def now_ms(self) -> float:
        """Return the time in epoch milliseconds; steps of the wall clock do not show."""
        return round(self._epoch_ms + time.monotonic() * 1000, 3)

    def add(self, entry: ServedRequest) -> None:
        """Record one request; the line is in the file when this returns."""
        self._entries.append(entry)
        if self._file is not None:
            self._file.write(json.dumps(asdict(entry)) + "\n")

    def close(self) -> None:
        """Close the file; the entries in memory stay readable."""
        if self._file is not None:
            self._file.close()
