"""The attempts at one origin, newest first, as its view holds them: a stretch read by keyset, never all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.origin_parts import AttemptsAfter, AttemptsBefore
from tui_crawler.console.refresh import WINDOW

if TYPE_CHECKING:
    from tui_crawler.domain.view import AttemptView

KEPT = 2_000
"""How many attempts are held at most, besides the window joined last."""


class AttemptBook:
    """A stretch of the attempts without gaps, and what to read at its edges. Knows no screen.

    The newest window of all is read by itself and handed in; `news` counts the attempts that came in so.
    """

    def __init__(
        self, origin: str, *, problems_only: bool = False, from_oldest: bool = False, newest: int | None = None
    ) -> None:
        """Begins empty, at the newest attempt or at the oldest. `newest` is the id of the newest one that was known
        before (None: none was read)."""
        self.origin = origin
        self.problems_only = problems_only
        self.from_oldest = from_oldest
        self.newest = newest
        self.news = 0
        self.started = self.at_newest = self.at_oldest = False
        self.attempts: tuple[AttemptView, ...] = ()
        self._by_id: dict[int, AttemptView] = {}

    def attempt(self, key: object) -> AttemptView | None:
        """An attempt that is held, by its id."""
        return self._by_id.get(key) if isinstance(key, int) else None

    # what is to be read

    @property
    def begin(self) -> AttemptsAfter | None:
        """Its first window; None: the newest one, which is handed in."""
        return AttemptsAfter(self.origin, 0, self.problems_only) if self.from_oldest and not self.started else None

    @property
    def below(self) -> AttemptsBefore | None:
        """What is older than the attempts held; None at the oldest."""
        if not self.attempts or self.at_oldest:
            return None
        return AttemptsBefore(self.origin, self.attempts[-1].attempt_id, self.problems_only)

    @property
    def above(self) -> AttemptsAfter | None:
        """What is newer than they; None at the newest."""
        if not self.attempts or self.at_newest:
            return None
        return AttemptsAfter(self.origin, self.attempts[0].attempt_id, self.problems_only)

    # what was read

    def take(self, part: AttemptsBefore | AttemptsAfter, window: tuple[AttemptView, ...]) -> bool:
        """Takes a window (newest first) that was read for one of its parts; True when it was."""
        ended = len(window) < WINDOW
        if part == self.begin:
            self.started = self.at_oldest = True
            self.attempts, self.at_newest = window, ended
        elif part == self.below:
            self.attempts, self.at_oldest = (*self.attempts, *window), ended
        elif part == self.above:
            self.attempts, self.at_newest = (*window, *self.attempts), ended
        else:
            return False
        self._index()
        return True

    def take_newest(self, window: tuple[AttemptView, ...]) -> bool:
        """Takes the newest window of all (newest first); True when the attempts held are others now."""
        known = self.newest
        self.newest = max([known or 0, *(one.attempt_id for one in window[:1])])
        if known is not None:
            self.news += sum(one.attempt_id > known for one in window)
        if not self.started and not self.from_oldest:
            self.started = self.at_newest = True
            self.attempts, self.at_oldest = window, len(window) < WINDOW
        elif self.at_newest:
            edge = self.attempts[0].attempt_id if self.attempts else 0
            fresh = tuple(one for one in window if one.attempt_id > edge)
            if not fresh:
                return False
            self.at_newest = len(fresh) < WINDOW  # else some may lie between
            self.attempts = (*fresh, *self.attempts) if self.at_newest else self.attempts
        else:
            return False
        self._index()
        return True

    def let_go(self, anchor: object) -> None:
        """Lets the attempts go that are too many, farthest from the one with the id `anchor`."""
        over = len(self.attempts) - KEPT
        if over <= 0:
            return
        at = next((index for index, one in enumerate(self.attempts) if one.attempt_id == anchor), 0)
        if 2 * at < len(self.attempts):
            self.attempts, self.at_oldest = self.attempts[:KEPT], False
        else:
            self.attempts, self.at_newest = self.attempts[over:], False
        self._index()

    def _index(self) -> None:
        self._by_id = {one.attempt_id: one for one in self.attempts}
