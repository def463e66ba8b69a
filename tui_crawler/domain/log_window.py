"""Windows of the log that look at a bounded number of entries: which entries are meant, and what was found."""

from __future__ import annotations

from typing import Generic, TypeVar

from tui_crawler.domain.record import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LogTerms:
    """Which entries of the log are meant: those for which everything holds that is given.

    `origin` as in `v_origin`. `problems`: failed attempts, and of those, where `exits` is not empty, the ones that
    ended with an exit code of these names. `events`: activity with one of these names and, where one is given, this
    message; None: any. `text`: attempts that have it, whatever the case of letters; lower case.
    """

    origin: str = ""
    problems: bool = False
    exits: frozenset[str] = frozenset()
    events: tuple[tuple[str, str], ...] | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class LogReach:
    """Where a window of the log begins and how much it may take.

    `edge` is the id it begins behind, in its direction (0: at the end of the log, or at its beginning where
    `oldest_first`). It ends with `limit` entries found, or after `look` entries.
    """

    edge: int = 0
    limit: int = 200
    look: int = 10_000
    oldest_first: bool = False


@dataclass(frozen=True, slots=True)
class LogStretch(Generic[T]):
    """The entries found, in the order of reading, among those from the id `first_id` to `last_id`, which is the last
    one found where there were enough; `last_at` is its time (epoch ms). Both ids are 0 where there was nothing.

    `ended`: nothing lies beyond. `looked_at` entries were on the way, at most.
    """

    found: tuple[T, ...] = ()
    first_id: int = 0
    last_id: int = 0
    last_at: int = 0
    looked_at: int = 0
    ended: bool = True
