"""Keys with what each of them does, in a panel above the footer: a menu of second keys, and where one can jump."""

from collections.abc import Mapping, Sequence
from math import ceil

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region, Size

from tui_crawler.console.action import Need, Situation, why_not
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.keys import ASKED_BY_KEY, MENUS, character_of, key_name
from tui_crawler.console.panes.footer import label_of
from tui_crawler.console.panes.line import width_of
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.table.cells import lay_out
from tui_crawler.domain.record import dataclass
from tui_crawler.text.cells import Styled

_WIDEST = 40
"""Cells of a column, unless one column is enough."""
_GAP = 2


@dataclass(frozen=True, slots=True)
class MenuItem:
    """A key (as Textual names it), and what it does. It cannot be done for a `reason`; empty: it can."""

    key: str
    label: str
    reason: str = ""

    @property
    def words(self) -> tuple[Styled, ...]:
        """The item as it is shown."""
        if self.reason:
            return Styled(key_name(self.key), "faint"), Styled(f" {self.label} — {self.reason}", "faint")
        return Styled(key_name(self.key), "accent bold"), Styled(f" {self.label}")


class KeyMenu(Lines, can_focus=False):
    """The panel. A click does what the key does."""

    def __init__(self, title: str, items: Sequence[MenuItem] = ()) -> None:
        """The title is raw text."""
        super().__init__(id="key-menu")
        self.border_title = Content(title)
        self._items = tuple(items)
        self._rows, self._column = 1, 1

    def on_mount(self) -> None:
        self.offer(self._items, self.screen.size)

    def offer(self, items: Sequence[MenuItem], size: Size) -> Region:
        """Show keys in the last lines above the footer, in as many columns as the longest leaves or the height needs.
        Return the place."""
        self._items = tuple(items)
        width, most = max(1, size.width - 2), max(1, size.height - 2)
        longest = max((width_of(item.words) for item in items), default=0) + _GAP
        columns = max(1, width // min(longest, _WIDEST), ceil(len(items) / most))
        self._rows, self._column = max(1, ceil(len(items) / columns)), width // columns
        cells = [[*lay_out(item.words, self._column - _GAP, "left"), (" " * _GAP, "")] for item in items]
        lines = [[Styled(*piece) for cell in cells[row :: self._rows] for piece in cell] for row in range(self._rows)]
        self.show([tuple(line) for line in lines])
        place = Region(0, size.height - self._rows - 2, size.width, self._rows + 1)
        self.styles.height, self.styles.offset = place.height, place.offset
        return place

    def on_click(self, event: events.Click) -> None:
        event.stop()
        offset = event.get_content_offset(self)
        if offset is not None and (at := offset.x // self._column * self._rows + offset.y) < len(self._items):
            key = self._items[at].key
            self.app.post_message(events.Key(key, character_of(key)))


def menu_of(first: str, bindings: Mapping[str, Binding], now: Situation) -> KeyMenu:
    """Return the menu of what may follow a key, from what each second key is bound to. What needs a replay is in it in
    a replay only."""
    opens, items = BY_ID.get(MENUS.get(first, "")), []
    for key, binding in bindings.items():
        action = BY_ID.get(binding.id or "")
        if action is None:
            items.append(MenuItem(key, binding.description.lower()))
        elif Need.replay not in action.needs or not Need.replay.lacking(now):
            reason = "" if action.id in ASKED_BY_KEY else why_not(action, now)
            items.append(MenuItem(key, label_of(action, now), reason))
    return KeyMenu(f"{label_of(opens, now) if opens else key_name(first)} · esc closes", items)
