"""`TabBar`: tabs in one line, each with its key: the views of the console, or the tabs of one screen."""

from collections.abc import Callable, Sequence

from textual.geometry import Region

from tui_crawler.console.action import VIEWS, Where
from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.header import COMPACT, HeaderState
from tui_crawler.console.panes.line import Line, as_door, doors_in, width_of
from tui_crawler.domain.record import dataclass
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import compact

_SEPARATOR = " │"


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab: the action that opens it, its key, its name, and what it holds in a word, in at least `room` cells.

    Where there is little room it has its `short` name; where there is none to spare, a `spare` one is left out.
    """

    action_id: str
    key: str
    name: str
    note: str = ""
    room: int = 0
    short: str = ""
    spare: bool = False


def view_tabs(state: HeaderState, current: Where, key_of: Callable[[str], str]) -> tuple[list[Tab], str]:
    """Return the tabs of the numbered views, with what each holds, and the action of the one that is open. Workers have
    one where there are several."""
    totals = state.totals
    notes = {
        Where.overview: ("" if totals is None else compact(sum(state.tally.values())), COMPACT),
        Where.failures: ("" if totals is None else compact(totals.failed), COMPACT),
        Where.urls: ("" if totals is None else compact(totals.known), COMPACT),
        Where.rules: (f"v{state.rules}" if state.rules else "", len("v12")),
        Where.workers: (str(state.workers), 1),
    }
    tabs = [
        Tab(where.goes_there, key_of(where.goes_there), where.value, *notes.get(where, ("", 0)), view.narrow)
        for where, view in VIEWS.items()
        if where is not Where.workers or current is where or state.workers > 1
    ]  # fmt: skip
    return [*tabs, Tab("help.keys", key_of("help.keys"), "help", spare=True)], current.goes_there


def tab_line(tabs: Sequence[Tab], current: str, width: int) -> Line:
    """Return the line of tabs in `width` cells, each tab a door. `current` is the action of the one that is
    open. The first of these that fits: everything, with separators; without them; without what is spare; with short
    names; without what the tabs hold; the keys alone, and the name of the one that is open."""
    needed = [tab for tab in tabs if not tab.spare]
    for shown, separator, short, notes in (
        (tabs, _SEPARATOR, False, True),
        (tabs, "", False, True),
        (needed, "", False, True),
        (needed, "", True, True),
        (needed, "", True, False),
    ):
        names = [(tab.short if short else "") or tab.name for tab in shown]
        cells = [_cells(tab, name, notes, current) for tab, name in zip(shown, names, strict=True)]
        if sum(map(width_of, cells)) + len(separator) * (len(cells) - 1) <= width:
            break
    else:
        separator = ""
        cells = [_cells(tab, tab.name if tab.action_id == current else "", True, current) for tab in needed]
    return tuple(part for cell in cells for part in (*cell, Styled(separator, "faint")))[:-1]


def _cells(tab: Tab, name: str, notes: bool, current: str) -> tuple[Styled, ...]:
    is_open = tab.action_id == current
    return as_door(
        (
            Styled("▸" if is_open else " ", "accent"),
            Styled(f"{tab.key} " if name else tab.key, "accent bold"),
            Styled(name, "strong bold underline" if is_open else "muted"),
            Styled(f" {tab.note.ljust(tab.room)}" if name and notes and (tab.note or tab.room) else "", "muted"),
        ),
        tab.action_id,
    )


class TabBar(Bar, can_focus=False):
    """The tab that is open has a mark before its name. A click on a tab does what its key does."""

    MAKE = staticmethod(tab_line)

    def tell(self, tabs: Sequence[Tab], current: str) -> None:
        """Show tabs; `current` is the action id of the one that is open."""
        self.keep(tuple(tabs), current)

    def places(self) -> list[tuple[str, Region]]:
        """Return the action id of each tab, and where it is on the screen; nothing while the line is not shown."""
        x, y = self.content_region.offset
        doors = [door for line in self.lines if self.region.area for door in doors_in(line)]
        return [(str(goal), Region(x + start, y, end - start, 1)) for start, end, goal in doors]
