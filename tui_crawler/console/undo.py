"""What can be undone and done again, newest last. Pure: each change gives a new value."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tui_crawler.console.action import NOTHING_TO_UNDO
from tui_crawler.console.intent import Intent

UNDO = "undo: "
"""What the words of an intent begin with that takes another one back."""

_KEPT = 50
_NAMED = 60  # characters of the words of an action that cannot be undone


@dataclass(frozen=True, slots=True)
class UndoStack:
    """Intents that have an inverse: `done` can be undone, `undone` can be done again. `final` was asked for after
    all of these and has none; None: there is no such one, or it was told that undo goes past it."""

    done: tuple[Intent, ...] = ()
    undone: tuple[Intent, ...] = ()
    final: Intent | None = None

    @property
    def next_undo(self) -> str:
        """What undo would undo, in words; empty: nothing."""
        return self.done[-1].says if self.done else ""

    @property
    def in_the_way(self) -> str:
        """That the last action cannot be undone, in words; empty when it can, or there is none."""
        if self.final is None:
            return ""
        says = self.final.says
        return f"the last action, {says if len(says) <= _NAMED else says[: _NAMED - 1] + '…'}, cannot be undone"

    @property
    def why_none(self) -> str:
        """Why there is nothing to undo."""
        return self.in_the_way or NOTHING_TO_UNDO

    @property
    def next_redo(self) -> str:
        """What redo would do again, in words; empty: nothing."""
        return self.undone[-1].says if self.undone else ""

    def did(self, intent: Intent) -> UndoStack:
        """After an intent was asked for: with an inverse redo is gone, without one it stands in the way of undo."""
        if intent.inverse:
            return UndoStack((*self.done, intent)[-_KEPT:])
        return replace(self, final=intent)

    def past_it(self) -> UndoStack:
        """After it was told what stands in the way: what comes before it can be undone now."""
        return replace(self, final=None)

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
        final = None if self.final is intent else self.final
        return UndoStack(tuple(one for one in self.done if one is not intent), self.undone, final)
