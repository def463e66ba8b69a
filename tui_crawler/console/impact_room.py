"""The thread that counts what a draft of the rules would block and revive. Knows no screen."""

from __future__ import annotations

import queue
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.failure_words import failure_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.console.ports import RulesDesk
    from tui_crawler.console.rule_draft import RuleDraft
    from tui_crawler.domain.preview import Preview

_TELL_EVERY = 20_000
"""So many URLs are judged between two signs of life."""


@dataclass(frozen=True, slots=True)
class ImpactNews:
    """How far the counting of a draft is: `known` URLs judged; at the end a `preview`, or an `error` (raw text)."""

    draft: RuleDraft
    known: int = 0
    preview: Preview | None = None
    error: str = ""


class _Superseded(Exception):
    """Another draft is to be counted: this one is of no interest any more."""


class ImpactRoom:
    """Counts in a thread of its own (call `run` in a thread worker); only the newest draft asked for."""

    def __init__(self, desk: RulesDesk, deliver: Callable[[ImpactNews], object]) -> None:
        """`deliver` is called in the thread."""
        self._desk = desk
        self._deliver = deliver
        self._inbox: queue.SimpleQueue[RuleDraft | None] = queue.SimpleQueue()

    def ask(self, draft: RuleDraft) -> None:
        """Counts this draft now, no other one (from any thread)."""
        self._inbox.put(draft)

    def close(self) -> None:
        """Ends the thread (from any thread)."""
        self._inbox.put(None)

    def run(self) -> None:
        """Counts until closed. Blocking."""
        while True:
            draft = self._inbox.get()
            while draft is not None and not self._inbox.empty():
                draft = self._inbox.get()
            if draft is None:
                return
            self._count(draft)

    def _count(self, draft: RuleDraft) -> None:
        told = 0

        def progress(known: int) -> None:
            nonlocal told
            if not self._inbox.empty():
                raise _Superseded
            if known - told >= _TELL_EVERY:
                told = known
                self._deliver(ImpactNews(draft, known))

        try:
            preview = self._desk.preview(draft.change, draft.base.job, progress)
        except _Superseded:
            return
        except Exception as error:  # noqa: BLE001, RUF100  whatever fails below must not end the console
            self._deliver(ImpactNews(draft, error=failure_words(error)))
            return
        self._deliver(ImpactNews(draft, preview.known, preview))
