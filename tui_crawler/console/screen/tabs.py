"""A screen whose panes are shared by tabs: the style sheet says which tab shows which of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from tui_crawler.console.panes.tabs import Tab, TabBar
from tui_crawler.console.screen.waiting import RowsScreen


class TabScreen(RowsScreen):
    """Shows one tab at a time, and all of them in a line with their keys."""

    TABS: ClassVar[Mapping[str, tuple[str, str]]]
    """The tabs in their order by name: what each is called, and the action that goes there."""

    tab: str
    """The name of the tab that is shown."""

    @abstractmethod
    def tab_notes(self) -> Mapping[str, str]:
        """What tabs hold, in a word, by their names."""

    def show_tab(self, name: str) -> None:
        """Shows a tab in place of the others."""
        self.query_one("#body").update_classes({f"tab-{one}": one == name for one in self.TABS}, animate=False)
        self.tab = name
        self.show_tabs()

    def show_tabs(self) -> None:
        """Brings the line of tabs up to date."""
        notes, key_of = self.tab_notes(), self.key_names.first
        tabs = [Tab(one, key_of(one), words, notes.get(name, "")) for name, (words, one) in self.TABS.items()]
        self.query(TabBar).last().tell(tabs, self.TABS[self.tab][1])
