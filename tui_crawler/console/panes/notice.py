"""Short messages to the operator: merged by kind, at most three at once. Pure."""

from typing import Protocol

from tui_crawler.console.panes.line import width_of
from tui_crawler.domain.record import dataclass, replace

MOST = 3
GAP = 4
"""Cells that a message takes beside its text: a bar with a space before it, two spaces after it."""
_ASIDES = frozenset({"same"})
"""Kinds that are left out where they would need a line of their own: the events tell them too."""
SHOWN_MS = 5_000
ERROR_SHOWN_MS = 12_000
TROUBLES_KEPT = 100


@dataclass(frozen=True, slots=True)
class Notice:
    """One message. `kind` is what it is merged by, `role` a colour role, `until_ms` (monotonic) when it goes."""

    kind: str
    text: str
    role: str
    until_ms: int
    times: int = 1

    @property
    def label(self) -> str:
        """The text, with how often it came."""
        return self.text if self.times == 1 else f"{self.text} ×{self.times}"


class Notify(Protocol):
    """Shows a short message (raw text); it takes the place of one of its kind."""

    def __call__(self, kind: str, text: str, role: str = "accent") -> None: ...


@dataclass(frozen=True, slots=True)
class ReportedError:
    """An error that was told, so that it can be read after its notice has gone. `at` is epoch ms, `text` raw."""

    number: int
    at: int
    text: str


def add_trouble(troubles: tuple[ReportedError, ...], at: int, text: str) -> tuple[ReportedError, ...]:
    """The troubles (oldest first, a bounded number of them) after another one."""
    number = troubles[-1].number + 1 if troubles else 1
    return (*troubles, ReportedError(number, at, text))[-TROUBLES_KEPT:]


def add_notice(notices: tuple[Notice, ...], notice: Notice) -> tuple[Notice, ...]:
    """The notices after another one: one of the same kind is replaced, and counted when it says the same."""
    times = sum(old.times for old in notices if (old.kind, old.text) == (notice.kind, notice.text))
    return (*(old for old in notices if old.kind != notice.kind), replace(notice, times=times + 1))[-MOST:]


def rows_of(notices: tuple[Notice, ...], width: int, most: int = MOST) -> tuple[tuple[Notice, ...], ...]:
    """The notices in at most `most` lines of `width` cells, in their order, as many side by side as fit.

    Where one line is not enough, what is told elsewhere too is left out, then what is muted, unless it is the newest.
    Where there is but one, it has the newest, then errors, then the others, as far as they fit on it.
    """
    loud = tuple(one for one in notices if one.kind not in _ASIDES)
    for kept in (notices, loud, tuple(one for one in loud if one.role != "muted" or one is loud[-1])):
        if len(rows := _packed(kept, width)) <= 1:
            break
    if len(rows) <= most:
        return rows
    shown: list[Notice] = []
    for one in (*notices[-1:], *sorted(notices[:-1], key=lambda one: one.role != "error")):
        if not shown or sum(width_of(each.label) + GAP for each in (*shown, one)) - 2 <= width:
            shown.append(one)
    return (tuple(one for one in notices if one in shown),)


def _packed(notices: tuple[Notice, ...], width: int) -> tuple[tuple[Notice, ...], ...]:
    rows: list[tuple[Notice, ...]] = []
    room = 0
    for notice in notices:
        wanted = width_of(notice.label) + GAP
        if not rows or wanted - 2 > room:
            rows.append(())
            room = width
        rows[-1] += (notice,)
        room -= wanted
    return tuple(rows)
