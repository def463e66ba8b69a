"""The jump overlay: a letter on every pane, the key on every tab, the numbered views in a panel; one key goes there."""

from collections import Counter
from dataclasses import dataclass
from string import ascii_lowercase

from textual import events
from textual.app import ComposeResult
from textual.errors import NoWidget
from textual.geometry import Region, Size
from textual.widget import Widget

from tui_crawler.console.action import VIEWS
from tui_crawler.console.keys import KeyNames, canonical, key_name
from tui_crawler.console.panes.border import pane_name
from tui_crawler.console.panes.key_menu import KeyMenu, MenuItem
from tui_crawler.console.panes.line import width_of
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.tabs import TabBar
from tui_crawler.console.panes.zoom import panes_of
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.screen.dialog import Dialog
from tui_crawler.console.screen.lifetime import is_open
from tui_crawler.text.cells import Styled
from tui_crawler.text.glyphs import ASCENDING, DESCENDING
from tui_crawler.text.safe_text import clip

LETTERS = "".join(dict.fromkeys("asdfghjkl" + ascii_lowercase))
_LEAST_BOX = Size(12, 5)
"""A pane smaller than this gets one line for its letter, not a box."""
_PANEL_LINES = 5
"""The lowest lines of a screen, where the panel is."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where one can jump: the `key` as Textual names it, the words, and a pane or the id of an action.

    `region` is where it stands on the screen; None: only in the panel.
    """

    key: str
    name: str
    goal: Widget | str
    region: Region | None = None


def targets_of(screen: ConsoleScreen, key_names: KeyNames) -> list[Target]:
    """The panes of a screen, its tabs, and the numbered views."""
    panes = []
    names = Counter(pane_name(pane) for pane in panes_of(screen))
    for letter, pane in zip(LETTERS, panes_of(screen), strict=False):
        short = pane_name(pane)
        way, region = _place(screen, pane)
        panes.append(Target(letter, (short if names[short] == 1 else pane_name(pane, whole=True)) + way, pane, region))
    bars = screen.query(TabBar).exclude("#views")  # those show their keys anyway, and are in the box
    tabs = [(action_id, "", region) for bar in bars for action_id, region in bar.places()]
    views = [(where.goes_there, view.label, None) for where, view in VIEWS.items()]
    keyed = [
        Target(key.split()[-1].upper() if " " in key else key, name, action_id, region)
        for action_id, name, region in (*tabs, *views)
        for key in canonical(key_names.written(action_id))[:1]
    ]
    return [*panes, *keyed]


def _place(screen: ConsoleScreen, pane: Widget) -> tuple[str, Region | None]:
    """The part of a pane that is on the screen. Of one that is behind another one, scrolled out, or under the panel:
    whether it is further down or up, and None."""
    try:
        found = screen.find_widget(pane)
    except NoWidget:
        return "", None
    seen, y, body = found.visible_region, found.region.y, screen.query_one("#body").region
    if seen.area and seen.y < screen.size.height - _PANEL_LINES:
        return "", seen
    return f" {DESCENDING}" if y >= body.bottom - 1 else f" {ASCENDING}" if y < body.y else "", None


class JumpLabel(Lines, can_focus=False):
    """The letter of one target. A click jumps."""

    def __init__(self, target: Target) -> None:
        super().__init__(classes="jump-label")
        self.target = target

    def place(self, screen: Size, box: Region) -> None:
        """Takes its place: in the middle of a pane, over a tab; not over the box if there is room above it."""
        key, region = key_name(self.target.key), self.target.region or Region()
        roomy = region.width >= _LEAST_BOX.width and region.height >= _LEAST_BOX.height
        named = self.target.name and region.width >= _LEAST_BOX.width
        name = f"{clip(self.target.name, max(1, region.width - 8))} " if named else ""
        words = Styled(f" {key} ", "accent bold"), Styled(name)
        self.set_class(roomy, "-roomy")
        self.show([words])
        width, height = width_of(words) + 2 * roomy, 3 if roomy else 1
        self.styles.width, self.styles.height = width, height
        x = region.x + (max(0, (region.width - width) // 2) if self.target.name else 0)
        y = region.y + (region.height - height) // 2
        if Region(x, y, width, height).overlaps(box):
            y = max(region.y, box.y - height)
        self.styles.offset = (max(0, min(x, screen.width - width)), max(0, min(y, screen.height - height)))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.screen.dismiss(self.target.goal)


class JumpScreen(Dialog):
    """Gives a pane, the id of an action, or None."""

    def __init__(self, below: ConsoleScreen, key_names: KeyNames) -> None:
        """Takes the screen on which one jumps, and the keys that differ from the table's."""
        super().__init__()
        self._below, self._key_names = below, key_names
        self._targets = tuple(targets_of(below, key_names))
        self._size = Size(0, 0)

    def compose(self) -> ComposeResult:
        """The panel; the letters come when it is known where the panes are."""
        yield KeyMenu("Jump · one key goes there · esc leaves")

    def on_mount(self) -> None:
        self._size = self.app.size
        self.call_later(self._place)

    def on_resize(self, event: events.Resize) -> None:
        """On a screen of another size the panes are elsewhere, as soon as that is laid out anew."""
        if event.size != self._size:
            self._size = event.size
            self._below.call_after_refresh(self.call_after_refresh, self._place)

    async def _place(self) -> None:
        """A letter on every pane and tab that is seen; all others in the panel."""
        if not is_open(self):
            return
        self._targets = tuple(targets_of(self._below, self._key_names))
        size = self.app.size
        unseen = [MenuItem(target.key, target.name) for target in self._targets if target.region is None]
        box = self.query_one(KeyMenu).offer(unseen, size)
        await self.query(JumpLabel).remove()
        if not is_open(self):
            return
        labels = [JumpLabel(target) for target in self._targets if target.region is not None]
        await self.mount(*labels)
        for label in labels:
            label.place(size, box)

    def on_key(self, event: events.Key) -> None:
        names = (event.key, event.character, event.key.lower() if len(event.key) == 1 else None)
        found = [one for name in names for one in self._targets if one.key == name]
        if found:
            event.stop()
            self.dismiss(found[0].goal)
