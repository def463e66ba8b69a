"""The jump overlay: a letter on every pane, the key on every tab, the numbered views in a box; one key goes there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.errors import NoWidget
from textual.geometry import Region, Size
from textual.widget import Widget

from tui_crawler.console.action import VIEWS
from tui_crawler.console.keys import KeyNames, canonical, key_name
from tui_crawler.console.panes.border import pane_name
from tui_crawler.console.panes.line import Line, width_of
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
_BOX_LINES = 5
"""The lowest lines of a screen, where the box stands."""
_GAP = "   "
_HINT = "one key goes there · esc leaves"


@dataclass(frozen=True, slots=True)
class Target:
    """Where one can jump: the `key` as Textual names it, the words, and a pane or the id of an action.

    `region` is where it stands on the screen; None: only in the box.
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
        Target(key, name, action_id, region)
        for action_id, name, region in (*tabs, *views)
        for key in canonical(key_names.written(action_id))[:1]
    ]
    return [*panes, *keyed]


def _place(screen: ConsoleScreen, pane: Widget) -> tuple[str, Region | None]:
    """The part of a pane that is on the screen. Of one that is behind another one, scrolled out, or under the box:
    whether it is further down or up, and None."""
    try:
        found = screen.find_widget(pane)
    except NoWidget:
        return "", None
    seen, y, body = found.visible_region, found.region.y, screen.query_one("#body").region
    if seen.area and seen.y < screen.size.height - _BOX_LINES:
        return "", seen
    return f" {DESCENDING}" if y >= body.bottom - 1 else f" {ASCENDING}" if y < body.y else "", None


class JumpLabel(Lines, can_focus=False):
    """The letter of one target. A click jumps."""

    def __init__(self, target: Target) -> None:
        super().__init__(classes="jump-label")
        self.target = target

    def place(self, screen: Size, box: Region) -> None:
        """Takes its place: in the middle of a pane, over a tab; not over the box if there is room above it."""
        region = self.target.region
        if region is None:
            return
        key = key_name(self.target.key)
        roomy = region.width >= _LEAST_BOX.width and region.height >= _LEAST_BOX.height
        words: tuple[Styled, ...] = (Styled(f" {key} ", "accent bold"),)
        if self.target.name and region.width >= _LEAST_BOX.width:
            name = clip(self.target.name, max(1, region.width - 8))
            words = (*words, Styled(f"{name} "))
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


class JumpBox(Lines, can_focus=False):
    """The targets that have no place of their own, in a few lines. A click jumps."""

    def __init__(self) -> None:
        """Makes it empty; it is not shown before it has its place."""
        super().__init__(id="jump-box", classes="dialog")
        self.display = False
        self.border_title = Content("Jump")
        self.border_subtitle = Content(_HINT)
        self._zones: list[tuple[int, int, int, Target]] = []

    def place(self, screen: Size, targets: Sequence[Target]) -> Region:
        """Takes its place above the footer, and chooses how many of the targets stand in a line. Gives that place."""
        room = max(10, screen.width - 6)
        lines: list[Line] = []
        self._zones = []
        row: list[Styled] = []
        x = 0
        for target in targets:
            words = [Styled(f"{key_name(target.key)} ", "accent bold"), Styled(target.name)]
            width = width_of(tuple(words))
            if x and x + len(_GAP) + width > room:
                lines.append(tuple(row))
                row, x = [], 0
            if x:
                row.append(Styled(_GAP))
                x += len(_GAP)
            self._zones.append((len(lines), x, x + width, target))
            row += words
            x += width
        lines.append(tuple(row))
        self.show(lines)
        longest = max((end for _, _, end, _ in self._zones), default=0)
        width = min(screen.width, max(longest, len(_HINT) + 6) + 4)
        height = min(screen.height, len(lines) + 2)
        self.styles.width, self.styles.height = width, height
        region = Region((screen.width - width) // 2, max(0, screen.height - height - 1), width, height)
        self.styles.offset = region.offset
        self.display = True
        return region

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        for line, start, end, target in self._zones:
            if offset.y == line and start <= offset.x < end:
                event.stop()
                self.screen.dismiss(target.goal)


class JumpScreen(Dialog):
    """Gives a pane, the id of an action, or None."""

    def __init__(self, below: ConsoleScreen, key_names: KeyNames) -> None:
        """Takes the screen on which one jumps, and the keys that differ from the table's."""
        super().__init__()
        self._below, self._key_names = below, key_names
        self._targets = tuple(targets_of(below, key_names))
        self._size = Size(0, 0)

    def compose(self) -> ComposeResult:
        """The box; the letters come when it is known where the panes are."""
        yield JumpBox()

    def on_mount(self) -> None:
        self._size = self.app.size
        self.call_later(self._place)

    def on_resize(self, event: events.Resize) -> None:
        """On a screen of another size the panes are elsewhere, as soon as that is laid out anew."""
        if event.size != self._size:
            self._size = event.size
            self._below.call_after_refresh(self.call_after_refresh, self._place)

    async def _place(self) -> None:
        """A letter on every pane and tab that is seen; all others in the box."""
        if not is_open(self):
            return
        self._targets = tuple(targets_of(self._below, self._key_names))
        size = self.app.size
        box = self.query_one(JumpBox).place(size, [target for target in self._targets if target.region is None])
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
