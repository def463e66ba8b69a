"""What the operator has asked of origins and no row shows yet: the next key builds on it, however quickly it comes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.journal_desk import Fate
from tui_crawler.domain.command import PauseOrigins, ResumeOrigins, SetDelay

if TYPE_CHECKING:
    from collections.abc import Collection

    from tui_crawler.console.intent import Intent
    from tui_crawler.domain.command import Command
    from tui_crawler.domain.view import OriginView

UNHEARD_MS = 30_000
"""So long a wish holds of which nothing is heard."""
READ_MS = 1_000
"""So long it holds once it was carried out: by then the row was read."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A command on some origins, of an intent. `origins` None: on every one. Holds `until` (monotonic ms)."""

    intent: Intent
    command: Command
    origins: frozenset[str] | None
    until: int


class Asked:
    """Wishes that were handed in, the newest last. Times are monotonic ms."""

    def __init__(self) -> None:
        self._wishes: tuple[_Wish, ...] = ()

    def note(self, intent: Intent, now: int) -> None:
        """It was handed in."""
        for command in intent.commands:
            match command:
                case PauseOrigins(origins=names) | ResumeOrigins(origins=names):
                    wish = _Wish(intent, command, frozenset(names) or None, now + UNHEARD_MS)
                case SetDelay(origin=name):
                    wish = _Wish(intent, command, frozenset({name}), now + UNHEARD_MS)
                case _:
                    continue
            self._wishes = (*self._wishes, wish)

    def heard(self, intent: Intent, fate: Fate, now: int) -> None:
        """What became of it: carried out it holds until the rows are read, refused it never was."""
        match fate:
            case Fate.done:
                until = now + READ_MS
            case Fate.refused | Fate.failed | Fate.waiting:
                until = now
            case _:
                return
        self._wishes = tuple(replace(one, until=until) if one.intent is intent else one for one in self._wishes)

    def shown(self, views: Collection[OriginView], now: int) -> tuple[OriginView, ...]:
        """The origins as they are going to be."""
        self._wishes = tuple(one for one in self._wishes if one.until > now)
        return tuple(map(self._shown, views)) if self._wishes else tuple(views)

    def _shown(self, view: OriginView) -> OriginView:
        for wish in self._wishes:
            if wish.origins is None or view.origin in wish.origins:
                view = _with(view, wish.command)
        return view


def _with(view: OriginView, command: Command) -> OriginView:
    match command:
        case PauseOrigins():
            return replace(view, paused=True)
        case ResumeOrigins():
            return replace(view, paused=False)
        case SetDelay(delay_ms=own):
            follows = own > view.delay_ms or (own and view.delay_ms == view.operator_delay_ms)
            return replace(view, operator_delay_ms=own, delay_ms=own if follows else view.delay_ms)
        case _:
            return view
