"""When origins were paused, and by whom: the journal is asked once for as many as are stored together."""

from __future__ import annotations

from typing import Any

from tui_crawler.domain.command import BadCommand, PauseOrigins, from_json
from tui_crawler.storage.claim import ZERO
from tui_crawler.storage.models import OperatorAction, Origin
from tui_crawler.storage.statements import slot, slots
from tui_crawler.storage.transaction import Transaction


class Pauses:
    """The pauses that wait in the journal to be finished, as one transaction finds them."""

    __slots__ = ("_asked", "_transaction")

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._asked: list[tuple[str, frozenset[str]]] | None = None

    def note(self, origin_id: int, origin: str, *, paused: bool) -> None:
        """That an origin is paused from now on, by who asked for it last, or is not any more."""
        who = self._who(origin) if paused else ""
        at = self._transaction.now if paused else 0
        self._transaction.run(_set_paused, {"origin_id": origin_id, "paused_at": at, "paused_by": who})

    def _who(self, origin: str) -> str:
        if self._asked is None:
            self._asked = self._read()
        return next((who for who, named in self._asked if not named or origin in named), "")

    def _read(self) -> list[tuple[str, frozenset[str]]]:
        """Who asked for a pause, the latest first, and of which origins (none: of all)."""
        asked = []
        for who, text in self._transaction.all(_waiting, {"action": "pause"}):
            try:
                command = from_json("pause", text)
            except BadCommand:
                continue
            if isinstance(command, PauseOrigins):
                asked.append((who, frozenset(command.origins)))
        return asked


def _set_paused() -> Any:
    changes = slots([Origin.paused_at, Origin.paused_by])
    return Origin.update(changes).where(Origin.id == slot("origin_id"))


def _waiting() -> Any:
    waits = (OperatorAction.applied_at == ZERO) & (OperatorAction.action == slot("action"))
    query = OperatorAction.select(OperatorAction.who, OperatorAction.command).where(waits)
    return query.order_by(OperatorAction.id.desc())
