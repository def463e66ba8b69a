"""What can be undone and done again, newest last. Pure: each change gives a new value."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tui_crawler.console.action import NOTHING_TO_UNDO
from tui_crawler.console.intent import Intent
from tui_crawler.domain.command import RetryPages

UNDO = "undo: "
"""What the words of an intent begin with that takes another one back."""

_KEPT = 50


@dataclass(frozen=True, slots=True)
class UndoStack:
    """Intents that have an inverse: `done` can be undone, `undone` can be done again. `final` is what was asked for
    last and has none, in a word."""

    done: tuple[Intent, ...] = ()
    undone: tuple[Intent, ...] = ()
    final: str = ""

    @property
    def next_undo(self) -> str:
        """What undo would undo, in words; empty: nothing."""
        return self.done[-1].says if self.done else ""

    @property
    def why_none(self) -> str:
        """Why there is nothing to undo."""
        return f"{self.final} cannot be undone" if self.final else NOTHING_TO_UNDO

    @property
    def next_redo(self) -> str:
        """What redo would do again, in words; empty: nothing."""
        return self.undone[-1].says if self.undone else ""

    def did(self, intent: Intent) -> UndoStack:
        """After an intent was asked for: without an inverse nothing changes, else redo is gone."""
        if intent.inverse:
            return UndoStack((*self.done, intent)[-_KEPT:])
        retries = any(isinstance(command, RetryPages) for command in intent.commands)
        return replace(self, final="a retry" if retries else "")

    def undo(self) -> tuple[Intent, UndoStack] | None:
        """The intent that undoes the last one, and the stack after it; None when there is none."""
        if not self.done:
            return None
        last = self.done[-1]
        back = Intent(last.inverse, f"{UNDO}{last.back or last.says}")
        return back, UndoStack(self.done[:-1], (*self.undone, last))

    def redo(self) -> tuple[Intent, UndoStack] | None:
        """The intent that does again what was undone last, and the stack after it; None when there is none."""
        if not self.undone:
            return None
        last = self.undone[-1]
        return Intent(last.commands, f"again: {last.says}"), UndoStack((*self.done, last), self.undone[:-1])

    def without(self, intent: Intent) -> UndoStack:
        """After an intent was refused: it cannot be undone."""
        return UndoStack(tuple(one for one in self.done if one is not intent), self.undone, self.final)
