"""A screen with actions that need what is read: asked for before that has come, they wait, and the keys after them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual.message import Message

from tui_crawler.console.action import Need
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.table.crawl_table import CrawlTable

if TYPE_CHECKING:
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.console.reading.refresh import Snapshot


_ROWS = frozenset({Need.url, Need.origin, Need.job, Need.worker, Need.failed})
_ABOUT_ROWS = frozenset({"nav.open", "copy.url", "copy.curl", "copy.json", "copy.row", "view.export", "table.pivot"})
_TOLD_AFTER = 2
"""So many ticks (of half a second) an action waits before that is told."""


@dataclass
class KeysMayGoOn(Message):
    """What keys were kept for is there. Not `kept`: it will not come."""

    kept: bool


class WaitingScreen(ConsoleScreen):
    """Keeps the one action that waits. `CrawlerApp` keeps the keys that are typed meanwhile."""

    OPENS: ClassVar[frozenset[str]] = frozenset()
    """Actions that open something in which one types or goes on."""

    _postponed: tuple[str, str] | None = None
    _ticks = 0
    _entering = False
    awaited: Ask[Any] | None = None
    """What is read for a question that comes then: the keys after it are for that."""

    @property
    @abstractmethod
    def waits_for(self) -> str:
        """What an action waits for, in words."""

    @abstractmethod
    def lacks(self, action_id: str) -> bool:
        """Whether an action needs something that is not there yet, but will be."""

    @property
    def waiting(self) -> bool:
        """Whether an action waits, or what was entered is not dealt with yet."""
        return self._postponed is not None or self._entering or self.awaited is not None

    @property
    def rows_read(self) -> bool:
        """Whether the rows are those that are wanted: where others are looked for they are not, until these come."""
        return True

    def keeps(self, key: str) -> bool:
        """Whether a key that comes before the rows moves among them: it would do nothing, the next meet another row."""
        table = self.focused
        moves = isinstance(table, CrawlTable) and bool(table._bindings.key_to_bindings.get(key))
        return moves and not self.console.live_state.unreadable

    def let_keys_go_on(self, *, kept: bool = True) -> None:
        """What keys waited for is there: they act now. Not `kept`: it will not come, and nothing is done by them."""
        self.app.post_message(KeysMayGoOn(kept=kept))

    def enter_line(self) -> None:
        """Enter is on its way to the line: the keys after it are not for that."""
        self._entering = self.query_one(EntryLine).display

    def on_entry_line_used(self) -> None:
        self._entering = False
        self.let_keys_go_on()

    def postpone(self, action_id: str, argument: str) -> bool:
        """Lets an action wait until there is what it lacks; False: it lacks nothing, or is not possible anyway."""
        never = self.console.live_state.readonly and Need.writer in BY_ID[action_id].needs
        if never or not self.lacks(action_id):
            return False
        self._postponed, self._ticks = (action_id, argument), 0
        return True

    def give_up(self) -> None:
        """Esc: what waits is not done."""
        self._postponed, self._entering, self.awaited = None, False, None

    def left(self) -> None:
        """What waits is not done later, when nobody thinks of it any more."""
        self.give_up()
        super().left()

    def go_on(self) -> None:
        """What was read has come, or what was asked for is decided: does what waited for it."""
        if self._postponed is not None and not self.lacks(self._postponed[0]):
            self.do_postponed(lambda _: True)

    def do_postponed(self, wanted: Callable[[str], bool]) -> None:
        """Does the action that waits, if it is still `wanted`. If it was to open something and has not, the keys typed
        after it are nobody's."""
        action_id, argument = self._postponed or ("", "")
        self._postponed = None
        if action_id and wanted(action_id):
            self.console.do(action_id, argument)
        opened = self.app.screen is not self or self.query_one(EntryLine).display or self.waiting
        self.let_keys_go_on(kept=opened or action_id not in self.OPENS)

    def move_on(self) -> None:
        """Tells that something waits, unless that is over soon."""
        super().move_on()
        self._ticks += self.waiting
        if self.waiting and self._ticks == _TOLD_AFTER:
            self.console.tell("waits", f"◷ {self.waits_for}; {self.key_names('nav.back')} gives up waiting", "waiting")


class RowsScreen(WaitingScreen):
    """What is done to rows waits until some were read, so that no key typed for them meets an empty table."""

    OPENS = frozenset(
        {
            "rule.from_selection", "job.nice", "job.depth", "job.concurrency", "origin.stop", "origin.exclude",
            "origin.retry_failed", "group.retry", "view.export", "table.pivot", "worker.drain",
            "worker.stop", "worker.tags", "origin.move",
        }
    )  # fmt: skip

    @property
    def rows_read(self) -> bool:
        return self.has_read

    @property
    def waits_for(self) -> str:
        """What an action waits for."""
        return "the rows are still being read"

    def lacks(self, action_id: str) -> bool:
        """Whether an action is about rows, and none were read."""
        return not self.rows_read and (action_id in _ABOUT_ROWS or not _ROWS.isdisjoint(BY_ID[action_id].needs))

    def take_in(self, shot: Snapshot) -> None:
        waited = not self.rows_read
        super().take_in(shot)
        self.go_on()
        if waited and self.rows_read:
            self.let_keys_go_on()

    def open_when_read(self) -> None:
        """Enter was pressed where no row is: if none were read, the first is opened then."""
        if self.lacks("nav.open"):
            self.console.do("nav.open")


class LiveFilterScreen(RowsScreen):
    """Takes what is typed after `filter.open`; the screen says what it means for its rows."""

    @abstractmethod
    def _filter(self, text: str) -> None:
        """Narrows the rows; an empty text shows all."""

    def _open_line(self, label: str, text: str, hint: str) -> None:
        def keep(text: str) -> None:
            self._filter(text)
            self.focus_main()

        use = EntryUse("filter", keep, self._filter, passing=True)
        self.query_one(EntryLine).open(use, label, text, hint)
