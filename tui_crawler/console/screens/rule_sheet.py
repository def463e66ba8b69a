"""What enter opens on an entry of the rules: the whole of it, and what would be otherwise without it; and what a
version changed, where that has no room beside the versions."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from tui_crawler.console.actions import BY_ID
from tui_crawler.console.impact_room import ImpactNews, ImpactRoom
from tui_crawler.console.keys import keys_of
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.rule_sheet import without_lines
from tui_crawler.console.safe_text import safe
from tui_crawler.console.screens.base import Dialog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tui_crawler.console.ports import RulesDesk
    from tui_crawler.console.present.line import Line
    from tui_crawler.console.rule_draft import RuleDraft


class RuleSheetScreen(Dialog):
    """Gives the action that was chosen for the entry, empty for none. It is chosen by the key it has elsewhere."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", "Leave", show=False),
        Binding("E", "choose('rule.edit')", "Edit", show=False, id="rule.edit"),
        Binding("D", "choose('rule.delete')", "Delete", show=False, id="rule.delete"),
    ]

    def __init__(
        self,
        heading: str,
        lines: Sequence[Line],
        offers: Mapping[str, str] | None = None,
        desk: RulesDesk | None = None,
        without: RuleDraft | None = None,
    ) -> None:
        """`lines` say what is known, `offers` by its id what an action does here, in words. `without`: the rules
        without the entry, whose impact `desk` counts; None: that is not to be counted."""
        super().__init__()
        self._heading = heading
        self._lines = list(lines)
        self._offers = dict(offers or {})
        self._desk = desk
        self._without = without
        self._room: ImpactRoom | None = None

    def compose(self) -> ComposeResult:
        """The text, which scrolls."""
        with Vertical(classes="dialog search") as box:
            box.border_title = Content(safe(self._heading, 120))
            box.border_subtitle = Content(" · ".join((*self._offered(), "esc leaves")))
            yield Lines(id="rule-sheet")

    def on_mount(self) -> None:
        """Shows the text; what would be otherwise is counted."""
        super().on_mount()
        self._show(None)
        self.query_one(Lines).focus()
        if self._desk is not None and self._without is not None:
            self._room = ImpactRoom(self._desk, self.console.clock, self._deliver)
            self.run_worker(self._room.run, name="entry", group="entry", thread=True, exit_on_error=False)
            self._room.ask(self._without)

    def on_unmount(self) -> None:
        """Ends the thread."""
        if self._room is not None:
            self._room.close()

    def _deliver(self, news: ImpactNews) -> None:
        with suppress(RuntimeError):  # the screen's loop has ended
            self.call_later(self._show, news)

    def _show(self, news: ImpactNews | None) -> None:
        without = without_lines(news, self.key_names) if self._without is not None else ()
        self.query_one(Lines).show([*self._lines, *without])

    def _offered(self) -> list[str]:
        """What can be done here, each after its key; what has none is left out."""
        own = self.console.own_keys
        found = ((keys_of(name, BY_ID[name].keys, own), words) for name, words in self._offers.items())
        return [f"{keys[0]} {words}" for keys, words in found if keys]

    def action_leave(self) -> None:
        """Leaves."""
        self.dismiss("")

    def action_choose(self, action_id: str) -> None:
        """Leaves for an action, if there is something to be done here."""
        if self._offers:
            self.dismiss(action_id)
