"""The thread that counts what a draft of the rules, or more exclusions, would block and revive. Knows no screen."""

from __future__ import annotations

import queue
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.failure_words import failure_words
from tui_crawler.console.rule_draft import RuleDraft
from tui_crawler.domain.exclusion import Exclusion

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.console.ports import RulesDesk
    from tui_crawler.domain.preview import Preview

Asked = RuleDraft | tuple[Exclusion, ...]
"""What can be counted: a draft, or entries for the operators' exclusion list."""

_TELL_EVERY = 20_000
"""So many URLs are judged between two signs of life."""


@dataclass(frozen=True, slots=True)
class ImpactNews:
    """How far the counting is: `known` URLs judged; at the end a `preview`, or an `error` (raw text)."""

    asked: Asked
    known: int = 0
    preview: Preview | None = None
    error: str = ""

    @property
    def over(self) -> bool:
        """Whether it was counted to the end, or could not be."""
        return self.preview is not None or bool(self.error)


class _Superseded(Exception):
    """Something else is to be counted: this is of no interest any more."""


class ImpactRoom:
    """Counts in a thread of its own (call `run` in a thread worker); only what was asked for last."""

    def __init__(self, desk: RulesDesk, deliver: Callable[[ImpactNews], object]) -> None:
        """`deliver` is called in the thread."""
        self._desk = desk
        self._deliver = deliver
        self._inbox: queue.SimpleQueue[Asked | None] = queue.SimpleQueue()

    def ask(self, asked: Asked) -> None:
        """Counts this now, nothing else (from any thread). Without entries there is nothing to be counted."""
        self._inbox.put(asked)

    def close(self) -> None:
        """Ends the thread (from any thread)."""
        self._inbox.put(None)

    def run(self) -> None:
        """Counts until closed. Blocking."""
        while True:
            asked = self._inbox.get()
            while asked is not None and not self._inbox.empty():
                asked = self._inbox.get()
            if asked is None:
                return
            if asked != ():
                self._count(asked)

    def _count(self, asked: Asked) -> None:
        told = 0

        def progress(known: int) -> None:
            nonlocal told
            if not self._inbox.empty():
                raise _Superseded
            if known - told >= _TELL_EVERY:
                told = known
                self._deliver(ImpactNews(asked, known))

        try:
            if isinstance(asked, RuleDraft):
                preview = self._desk.preview(asked.change, asked.base.job, progress)
            else:
                preview = self._desk.preview_exclusions(asked, progress)
        except _Superseded:
            return
        except Exception as error:  # noqa: BLE001, RUF100  whatever fails below must not end the console
            self._deliver(ImpactNews(asked, error=failure_words(error)))
            return
        self._deliver(ImpactNews(asked, preview.known, preview))
