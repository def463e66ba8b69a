"""Help of one pane (`f1`): what it shows, its columns, its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from tui_crawler.console.actions import Situation, actions_at, why_not
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.keys import KeyNames, keys_of, table_keys
from tui_crawler.console.pane_help import column_meaning, text_of
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.line import Hanging, Line, Prose, heading
from tui_crawler.console.safe_text import safe
from tui_crawler.console.screens.base import Dialog
from tui_crawler.console.screens.jump import pane_name
from tui_crawler.console.table_cells import Styled

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAD = 14


class PaneHelpScreen(Dialog):
    """Explains a pane; gives nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,enter", "leave", "Leave", show=False),
        Binding("question_mark", "all_keys", "All keys", show=False),
    ]

    def __init__(self, pane: Widget | None, situation: Situation, own_keys: Mapping[str, str]) -> None:
        """`pane` None: the screen has none. `own_keys` are the keys that differ from the table's."""
        super().__init__()
        name = pane_name(pane) if pane is not None else "No pane"
        self._heading = name if name == situation.where.value else f"{name} · {situation.where.value}"
        self._lines = pane_lines(pane, situation, own_keys) if pane is not None else []

    def compose(self) -> ComposeResult:
        """The text, which scrolls."""
        with Vertical(classes="dialog search") as box:
            box.border_title = Content(safe(self._heading, 120))
            box.border_subtitle = Content("? all keys · esc leaves")
            yield Lines(id="pane-help")

    def on_mount(self) -> None:
        """Shows the text."""
        text = self.query_one(Lines)
        text.show(self._lines)
        text.focus()

    def action_leave(self) -> None:
        """Leaves."""
        self.dismiss(None)

    def action_all_keys(self) -> None:
        """Goes to the help sheet."""
        self.dismiss(None)
        self.console.dispatcher.do("help.keys")


def pane_lines(pane: Widget, situation: Situation, own_keys: Mapping[str, str]) -> list[Line]:
    """What is said of a pane."""
    name = pane.id or ""
    text, names = text_of(name), KeyNames(own_keys)
    lines: list[Line] = [Prose(names.said(text.shows)), ""]
    if isinstance(pane, CrawlTable):
        lines += _columns(pane, name, names)
    lines.append(heading("Keys here"))
    if text.enter:
        lines.append(_key(names("nav.open"), text.enter))
    for action in actions_at(situation.where):
        keys = keys_of(action.id, action.keys, own_keys)
        if action.where and keys:
            reason = why_not(action, situation)
            words = f"— {reason}. {action.help}" if reason else action.help
            lines.append(_key(" ".join(keys), words, dim=bool(reason)))
    if isinstance(pane, CrawlTable):
        for binding in table_keys():
            keys = keys_of(binding.id or "", binding.key, own_keys)
            if keys:
                lines.append(_key(" ".join(keys), binding.description))
    else:
        lines.append(_key("↑ ↓ PgUp PgDn", "Scroll, when there is more than fits"))
    return lines


def _columns(table: CrawlTable, pane_id: str, names: KeyNames) -> list[Line]:
    shown = set(table.visible_columns)
    lines: list[Line] = [heading("Columns")]
    for column in table.columns:
        meaning = names.said(column_meaning(pane_id, column.id))
        if column.id not in shown:
            meaning += " (no room for it now)"
        lines.append(Hanging(Styled(column.title or column.id.upper(), "strong"), _HEAD, meaning, most=3))
    return [*lines, ""]


def _key(keys: str, text: str, *, dim: bool = False) -> Line:
    return Hanging(Styled(keys, "faint" if dim else "accent bold"), _HEAD, text, "muted" if dim else "", most=3)
