"""The life of what a screen shows: it is asked for, taken when it is new, and held back while the picture is still."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.console.reading.refresh import Snapshot

T = TypeVar("T")


class AnyReading:
    """What is read for a part of a screen."""

    @abstractmethod
    def asks(self, *, frozen: bool) -> Iterable[Ask[Any]]:
        """What is to be read now; `frozen`: while the picture is held still."""

    @abstractmethod
    def take(self, shot: Snapshot, *, frozen: bool) -> bool:
        """Show what was read, or hold it back; True: what is held back is news."""

    def thaw(self) -> None:
        """Show what was held back, if anything ever is."""


class PaneReading(AnyReading, Generic[T]):
    """One thing that is asked for, and what was read of it.

    What comes while the picture is held still is kept for later, unless it is the first of something else.
    """

    def __init__(
        self, ask: Callable[[], Ask[T] | None], show: Callable[[T], object] = lambda _: None, *, moves: bool = False
    ) -> None:
        """`ask` says what is to be read as things are (None: nothing), `show` shows what is new. It `moves`: it ends at
        the present, so that another ask is the same at another time; while the picture is held still, it is not read.
        """
        self._ask, self._show, self._moves = ask, show, moves
        self._asked: Ask[T] | None = None
        self._shown: tuple[Ask[T], T] | None = None
        self._held: tuple[Ask[T], T] | None = None

    @property
    def value(self) -> T | None:
        """What is shown of what is asked for now; None: nothing was read of that."""
        return self._shown[1] if self._shown is not None and self._shown[0] == self._ask() else None

    @property
    def latest(self) -> T | None:
        """What is shown, perhaps of what was asked for before."""
        return self._shown[1] if self._shown is not None else None

    @property
    def read(self) -> bool:
        """Whether anything is shown, if only that there is nothing."""
        return self._shown is not None

    def asks(self, *, frozen: bool) -> Iterable[Ask[T]]:
        self._asked = self._ask() if not (frozen and self._moves and self._shown) else None
        return () if self._asked is None else (self._asked,)

    def take(self, shot: Snapshot, *, frozen: bool) -> bool:
        ask = self._asked if self._moves else self._ask()
        if ask is None or ask not in shot.parts:
            return False
        found = ask, shot.parts[ask]
        if found == (self._held or self._shown):
            return False
        if frozen and self._shown is not None and self._shown[0] == ask:
            self._held = found
            return True
        self._put(found)
        return False

    def thaw(self) -> None:
        if self._held is not None:
            self._put(self._held)

    def forget(self) -> None:
        """What was read is not shown any more."""
        self._shown = self._held = None

    def _put(self, found: tuple[Ask[T], T]) -> None:
        self._shown, self._held = found, None
        self._show(found[1])
