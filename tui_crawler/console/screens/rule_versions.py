"""The versions of the rules of one job, and what the one under the cursor changed, or two that are marked differ in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.present.rule_rows import comparison_lines, difference_lines, version_row
from tui_crawler.console.screens.base import title
from tui_crawler.domain.policy import EMPTY
from tui_crawler.domain.ruleset import Ruleset, same_rules
from tui_crawler.domain.ruleset_change import changes_between
from tui_crawler.domain.ruleset_lineage import changes_along

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.crawl_table import CrawlTable
    from tui_crawler.console.panes.lines import Lines
    from tui_crawler.console.screens.base import ConsoleScreen


class RuleVersions:
    """Shows a history in a table, and what it says in the pane beside it."""

    def __init__(self, screen: ConsoleScreen, table: CrawlTable, difference: Lines) -> None:
        """Nothing is read yet."""
        self._screen = screen
        self._table = table
        self._difference = difference
        self.history: tuple[Ruleset, ...] | None = None

    def take(self, history: tuple[Ruleset, ...], current_id: int, zone: tzinfo) -> None:
        """Shows a history (newest first). Who stands on the version in force stays on that."""
        selected = self.selected
        self.history = history
        self._table.set_rows([version_row(one, zone) for one in history])
        if selected is None or selected.current:
            self._table.move_cursor(key=current_id)
        self.show_difference()

    def show_titles(self) -> None:
        """Names the panes."""
        title(self._table, "Rulesets", f"{self._screen.key_names('mark.toggle')} marks one to compare with")
        title(self._difference, self.heading)

    @property
    def heading(self) -> str:
        """What the difference is of; raw text."""
        one, pair = self.selected, self.compared
        if pair is not None:
            return f"From ruleset {pair[0].ruleset_id} to {pair[1].ruleset_id}"
        return f"What ruleset {one.ruleset_id} changed" if one is not None else "Difference"

    def show_difference(self) -> None:
        """Shows what the version under the cursor changed, or two differ in."""
        one, pair, history = self.selected, self.compared, self.history or ()
        if pair is not None:
            self._difference.show(comparison_lines(*pair, changes_along(history, *pair)))
        else:
            before = self.before(one)
            if one is None or before is None:
                changes = changes_between(EMPTY, one.policies if one is not None else EMPTY)
            else:
                changes = changes_along(history, before, one)
            self._difference.show(difference_lines(one, before, changes))
        self.show_titles()

    @property
    def selected(self) -> Ruleset | None:
        """The version under the cursor."""
        key = self._table.cursor_key
        return next((one for one in self.history or () if one.ruleset_id == key), None)

    @property
    def compared(self) -> tuple[Ruleset, Ruleset] | None:
        """The two versions that are marked, the older one first; or the marked one and the one under the cursor."""
        marked = [one for one in self.history or () if one.ruleset_id in self._table.marked]
        here = self.selected
        chosen = marked if len(marked) > 1 or here is None or here in marked else [*marked, here]
        if len(chosen) != 2:
            return None
        newer, older = sorted(chosen, key=lambda one: -one.ruleset_id)
        return older, newer

    def before(self, one: Ruleset | None) -> Ruleset | None:
        """The version that this one was made of, if it is in the history."""
        wanted = one.parent_id if one is not None else 0
        return next((each for each in self.history or () if each.ruleset_id == wanted), None)

    def line_back(self, now: Ruleset) -> list[Ruleset]:
        """The version in force, the one it was made of, and so on, as far as they are known."""
        line = [now]
        while (parent := self.before(line[-1])) is not None and parent.ruleset_id < line[-1].ruleset_id:
            line.append(parent)
        return line

    def wanted_back(self, now: Ruleset | None) -> Ruleset | str:
        """The version that is to be brought back, or why none is. On the one in force (`now`): what held before it. On
        an earlier one: that one."""
        one = self.selected
        if one is None:
            return "no version is selected"
        back = self.before(one) if one.current else one
        if back is None:
            return f"ruleset {one.ruleset_id} is the first: there is none before it"
        if now is not None and same_rules(back.policies, now.policies):
            return f"ruleset {back.ruleset_id} says the same as the one in force"
        return back
