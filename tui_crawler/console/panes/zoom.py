"""Zoom: one pane of a screen takes about half of its body, or all of it. Nothing is moved in the tree of widgets.

While a pane is enlarged each container between the body and the pane arranges its children by a `ZoomLayout`; the
style sheet stays as it is. The zoom goes with the focus. Each view has its own, which is there again the next time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import NULL_OFFSET, NULL_SPACING, Offset, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from tui_crawler.console.action import LARGEST
from tui_crawler.console.panes.border import ZOOMS, title_of, write_title, zoom_words
from tui_crawler.domain.record import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen


NORMAL, HALF, FULL = 0, 1, LARGEST
_LARGE = 0.45
"""A pane with this part of the body has about half of it already."""


def panes_of(screen: Screen[None]) -> list[Widget]:
    """The panes of a screen that can have the focus, in the order of the tree, as far as they are displayed."""
    return [node for node in screen.query("#body .pane").results(Widget) if node.focusable and _is_displayed(node)]


class ZoomLayout(Layout):
    """Gives `share` (0 to 1) of a container to the child in which the enlarged pane lies, the others the rest."""

    name = "zoom"

    def __init__(self, child: Widget, share: float) -> None:
        """`child` of the container; a share of 1 leaves nothing to the others."""
        self._child, self._share = child, share

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Places the children; as the style sheet says when the child is not among them."""
        base = parent.styles.base.layout
        if self._child not in children:
            return base.arrange(parent, children, size, greedy) if base is not None else []
        others = [child for child in children if child is not self._child]
        if self._share >= 1 or not others or base is None:
            return [_place(self._child, Region(0, 0, *size))]
        return self._share_out(base, parent, children, others, size)

    def _share_out(
        self, base: Layout, parent: Widget, children: list[Widget], others: list[Widget], size: Size
    ) -> ArrangeResult:
        wide = base.name == "horizontal"
        length = size.width if wide else size.height
        usual = next((one for one in base.arrange(parent, children, size) if one.widget is self._child), None)
        has = (usual.region.width if wide else usual.region.height) if usual is not None else 0
        rest = length - min(length, max(has, round(length * self._share)))
        placed = base.arrange(parent, others, Size(rest, size.height) if wide else Size(size.width, rest))
        used = max((one.region.right if wide else one.region.bottom for one in placed), default=0)
        own = max(0, length - used)
        if not wide and _scrolls(parent):
            own = max(own, length - rest)
        before = children.index(self._child)
        ends = [one.region.right if wide else one.region.bottom for one in placed[:before]]
        start = max(ends, default=0)
        shift = Offset(own, 0) if wide else Offset(0, own)
        region = Region(start, 0, own, size.height) if wide else Region(0, start, size.width, own)
        after = WidgetPlacement.translate(placed[before:], shift)
        return [*placed[:before], _place(self._child, region), *after]


@dataclass(slots=True)
class Zoom:
    """The zoom of one screen. `_kept` are the enlarged panes of all views, and the name of this one."""

    _screen: Screen[None]
    _focused_pane: Callable[[], Widget | None]
    _kept: Callable[[], tuple[dict[str, tuple[str, int]], str]]
    _pane: Widget | None = None
    _areas: dict[Widget, float] = field(default_factory=dict)
    _held: list[Widget] = field(default_factory=list)
    _asked: bool = False
    level: int = NORMAL

    def as_last_time(self) -> None:
        """Enlarges what was enlarged when this view was left last; once, and nothing where that pane is not shown."""
        if self._asked:
            return
        self._asked = True
        zooms, view = self._kept()
        name, level = zooms.get(view, ("", NORMAL))
        pane = next((pane for pane in panes_of(self._screen) if pane.id == name), None)
        if pane is not None and self.level == NORMAL:
            self._begin(pane)
            self._screen.set_focus(pane)
            self._set(level)

    def _begin(self, pane: Widget | None) -> None:
        """Notes the pane, and how large all are before one is enlarged."""
        whole = max(1, self._screen.query_one("#body").outer_size.area)
        self._pane = pane
        self._areas = {one: one.outer_size.area / whole for one in panes_of(self._screen)}

    def grow(self) -> None:
        """Enlarges the pane that has the focus by a step. One that has half of the body anyway gets all of it."""
        if self.level == NORMAL:
            self._begin(self._focused_pane())
        if self._pane is not None and self.level < FULL:
            self._set(HALF if self.level == NORMAL and not self._is_large(self._pane) else FULL)
            self._note()

    def shrink(self) -> None:
        """Takes a step back."""
        pane = self._pane
        self._set(HALF if self.level == FULL and pane is not None and not self._is_large(pane) else NORMAL)
        self._note()

    def cycle(self, pane: Widget) -> None:
        """Enlarges a pane by a step, or puts it back when it is as large as can be."""
        (self.leave if self.level == FULL and pane is self._pane else self.grow)()

    def leave(self) -> bool:
        """Everything as it was; False when nothing is enlarged."""
        if self.level == NORMAL:
            return False
        self._set(NORMAL)
        self._note()
        return True

    def follow(self, focused: Widget | None) -> None:
        """Another widget got the focus: the zoom goes with it if it is a pane."""
        if self.level != NORMAL and focused is not self._pane and focused in panes_of(self._screen):
            level = self.level
            self._set(NORMAL)
            self._pane = focused
            self._set(level)
            self._note()

    def _note(self) -> None:
        zooms, view = self._kept()
        zooms.pop(view, None)
        if self._pane is not None and self._pane.id and self.level != NORMAL:
            zooms[view] = (self._pane.id, self.level)

    def check(self) -> None:
        """Puts a pane back that is not displayed any more (another size, another tab)."""
        if self._pane is not None and not _is_displayed(self._pane):
            self._set(NORMAL)

    def _set(self, level: int) -> None:
        """Enlarges the pane to a level; everything that was enlarged before is as it was."""
        for container in self._held:
            container.styles.clear_rule("layout")
            _arrange_anew(container)
        self._held = []
        pane, self.level = self._pane, level
        if pane is None:
            return
        name = title_of(pane).removesuffix(zoom_words(pane)).removesuffix(" · ")
        for one, size in enumerate(ZOOMS, HALF):
            pane.set_class(level == one, size)
        write_title(pane, name)
        if level == NORMAL:
            self._pane = None
            return
        path = self._path(pane)
        shared = sum(
            any(one is not child and one.display and one.outer_size.height > 1 for one in container.children)
            for container, child in path
        )
        for container, child in path:
            shares = 1.0 if level == FULL else 0.5 ** (1 / max(1, shared))
            container.styles.set_rule("layout", ZoomLayout(child, shares))
            _arrange_anew(container)
            self._held.append(container)
        pane.call_after_refresh(pane.scroll_visible, animate=False)

    def _path(self, pane: Widget) -> list[tuple[Widget, Widget]]:
        """Each container from the body down to the pane, with its child on that way."""
        nodes = [node for node in pane.ancestors_with_self if isinstance(node, Widget)]
        body = next((at for at, node in enumerate(nodes) if node.id == "body"), 0)
        return [(nodes[at], nodes[at - 1]) for at in range(body, 0, -1)]

    def _is_large(self, pane: Widget) -> bool:
        return self._areas.get(pane, 0) >= _LARGE


def _arrange_anew(container: Widget) -> None:
    """A container forgets how it was arranged when one of its children asks for it."""
    for child in container.children[:1]:
        child.refresh(layout=True)


def _place(widget: Widget, region: Region) -> WidgetPlacement:
    return WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, widget)


def _is_displayed(node: Widget) -> bool:
    return all(one.display for one in node.ancestors_with_self if isinstance(one, Widget))


def _scrolls(container: Widget) -> bool:
    """Whether what has no room in a container is scrolled to: by it, or by one round it in the body."""
    for node in container.ancestors_with_self:
        if isinstance(node, Widget) and node.styles.overflow_y != "hidden":
            return True
        if node.id == "body":
            break
    return False
