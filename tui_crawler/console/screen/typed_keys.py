"""Keys act in the order they were typed, and never on a screen that is not there yet or waits for what is read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ReturnType
from textual.message import Message

from tui_crawler.console.panes.typing import TakesText
from tui_crawler.console.screen.waiting import KeysMayGoOn, WaitingScreen
from tui_crawler.console.terminal_app import TerminalApp

if TYPE_CHECKING:
    from textual.binding import Binding
    from textual.screen import Screen
    from textual.timer import Timer
    from textual.widget import Widget

    from tui_crawler.console.action import Situation
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.panes.key_menu import KeyMenu

LONGEST_ECHO_S = 0.1
"""So long keys wait at most for what a widget has said to come up to the app."""
MENU_AFTER_MS = 400
"""How long after the first of two keys a menu shows what may follow."""
MOST_KEPT = 1_000
"""Keys that wait at most; what is typed then is dropped."""
_PASS = frozenset({"ctrl+c"})
"""Keys that are no text and never wait: one can leave at any time."""


class KeyedApp(TerminalApp[ReturnType]):
    """An app whose keys do not overtake each other.

    Textual hands a key from widget to widget before its action is done; keys typed in one go would meet the screen as
    it was before. Here the action of a key is done before the next key is looked at, with all that the widget with the
    focus says by it (a row is opened, the cursor is elsewhere). Keys are kept while the screen on top is being made, or
    while an action on it waits (`WaitingScreen`). A text widget gets its keys as ever.
    """

    @dataclass
    class Echo(Message):
        """Sent by a widget behind all it has said; when it has come up to the app, that was heard."""

        number: int

    def __init__(self, clock: ConsoleClock) -> None:
        super().__init__()
        self.clock = clock
        self._input_at = 0
        self._kept: deque[events.Key | events.Paste] = deque()
        self._echoes, self._echo = 0, 0  # how many were sent, and the one that is waited for; 0: none
        self._patience: Timer | None = None
        self._first, self._first_at = "", 0  # the first of two keys, and when it was pressed (monotonic ms)
        self._menu: KeyMenu | None = None

    def _goes_back(self, event: events.Key) -> bool:
        """Whether a key says that something is enough; one that writes a character says so only where none is typed."""
        writes = event.is_printable and isinstance(self.focused, TakesText)
        return event.key == "escape" or (event.key in self.back_keys and not writes)

    def idle_ms(self) -> int:
        """How long ago the last key was, or the mouse moved, in ms."""
        return self.clock.mono_ms() - self._input_at

    def nobodys_key(self, key: str) -> None:
        """Told of a key that does nothing where it was pressed."""

    def begin_menu(self, first: str) -> None:
        """Take the next key as the second of two; what it may be is shown soon."""
        self._first, self._first_at = first, 0

    def end_menu(self) -> str:
        """Take the next key alone. Return the key that was the first of two, followed by a space; empty: none was."""
        first, self._first = self._first, ""
        if self._menu is not None:
            self._menu.remove()
            self._menu = None
        return f"{first} " if first else ""

    @property
    def menu_due(self) -> bool:
        """Whether the first of two keys was pressed MENU_AFTER_MS ago."""
        return bool(self._first) and self._menu is None and self.clock.mono_ms() - self._first_at >= MENU_AFTER_MS

    def show_menu(self, now: Situation) -> None:
        """Show what may follow the first of two keys."""
        from tui_crawler.console.panes.key_menu import menu_of  # noqa: PLC0415  not before the first paint

        self._menu = menu_of(self._first, self._second_keys(self._first), now)
        self.screen.mount(self._menu)

    def _second_keys(self, first: str) -> dict[str, Binding]:
        """What may follow a key: each second key with its binding, those of the widget with the focus before others."""
        found: dict[str, Binding] = {}
        for _, bindings in self.screen._modal_binding_chain:
            for keys, held in bindings.key_to_bindings.items():
                if keys.startswith(f"{first} "):
                    found.setdefault(keys.partition(" ")[2], held[0])
        return found

    async def on_event(self, event: events.Event) -> None:
        """Keeps keys in their order; notes when the operator did something last."""
        at = event.screen_offset if isinstance(event, events.MouseDown) else None
        in_menu = at is not None and self._menu is not None and self._menu.region.contains_point(at)
        if isinstance(event, events.MouseDown | events.Paste | events.Resize) and not in_menu:
            self.end_menu()
        if isinstance(event, events.Key | events.MouseEvent) and not event.is_forwarded:  # else it was counted before
            self._input_at = self.clock.mono_ms()
        if self.is_leaving or not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif isinstance(event, events.Key) and event.key in _PASS:
            await self._act(event)
        elif isinstance(event, events.Key) and (waits := self._waits()) is not None and self._goes_back(event):
            waits.give_up()
            self.end_menu()
            self._kept.clear()
        elif len(self._kept) < MOST_KEPT:
            self._kept.append(event)
            await self._act_on_kept()

    async def on_keys_may_go_on(self, message: KeysMayGoOn) -> None:
        if not message.kept:
            self._kept.clear()
        if not self._echo and not self.is_leaving:
            self._await_echo(self.focused, self.screen)
        await self._act_on_kept()

    async def on_keyed_app_echo(self, message: Echo) -> None:
        if message.number == self._echo:
            self._echo = 0
            if self._patience is not None:
                self._patience.stop()
            await self._act_on_kept()

    def _await_echo(self, widget: Widget | None, screen: Screen[Any]) -> None:
        """Keys wait until all was heard that a widget of the screen on top has said."""
        if widget is None or self.screen is not screen or not widget.is_attached:
            return
        number = self._echoes + 1
        if widget.post_message(self.Echo(number)):
            self._echoes = self._echo = number
            self._patience = self.set_timer(LONGEST_ECHO_S, partial(self.post_message, self.Echo(number)))

    async def _act_on_kept(self) -> None:
        while self._kept and not self.is_leaving:
            top = self.screen_stack[-1]
            if not top.is_mounted:
                top.call_later(self.post_message, KeysMayGoOn(kept=True))  # once it is
                return
            if self._waits() is not None or self._echo:
                return
            await self._act(self._kept.popleft())

    def _waits(self) -> WaitingScreen | None:
        """The screen on top if an action waits there, or the next key does."""
        top = self.screen_stack[-1] if self.screen_stack else None
        if not isinstance(top, WaitingScreen):
            return None
        first = self._kept[0] if self._kept else None
        before = f"{self._first} " if self._first else ""
        keeps = isinstance(first, events.Key) and not top.rows_read and top.keeps(before + first.key)
        return top if keeps or top.waiting else None

    async def _do_key(self, key: str) -> None:
        """Do what a key is bound to, after the first of two with it; or else what may be the second is awaited."""
        screen, widget = self.screen, self.focused
        first = self.end_menu()
        for priority in (True, False):
            if await self._check_bindings(first + key, priority=priority):
                self._await_echo(widget, screen)
                self._first_at = self.clock.mono_ms()
                return
        if not first and self._second_keys(key):
            self._first, self._first_at = key, self.clock.mono_ms()
        elif not first or key not in self.back_keys:
            self.nobodys_key(first + key)

    async def _act(self, event: events.Key | events.Paste) -> None:
        at_once = isinstance(event, events.Key) and not self.screen.is_modal and not isinstance(self.focused, TakesText)
        if at_once and isinstance(event, events.Key):
            await self._do_key(event.key)  # on its way up it would meet what the next key has opened
            return
        self.end_menu()
        enters = isinstance(event, events.Key) and event.key == "enter" and isinstance(self.focused, TakesText)
        if enters and isinstance(self.screen, WaitingScreen):
            self.screen.enter_line()
        await super().on_event(event)
        if isinstance(event, events.Key) and event.key == "escape":  # the next key is for what esc goes back to
            self._await_echo(self.focused, self.screen)
