"""Help of one pane (`f1`): what it shows, its columns, its keys."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui_crawler.console.action import Situation, why_not
from tui_crawler.console.actions import actions_at
from tui_crawler.console.keys import TABLE_BINDINGS, KeyNames
from tui_crawler.console.panes.border import pane_name
from tui_crawler.console.panes.line import HangingText, Line, Paragraph, heading
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.text.cells import Styled
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from textual.widget import Widget

    from tui_crawler.console.screen.base import ConsoleScreen


@dataclass(frozen=True, slots=True)
class PaneText:
    """`shows` in one or two sentences, in which keys stand by their actions: `{move.first}`. `enter` is what enter does
    (empty: nothing), `columns` what they mean by their ids, `column` what all others do."""

    shows: str = "A pane of this screen; arrow keys move in it."
    enter: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    column: str = ""


@cache
def texts_in(folder: str) -> Mapping[str, Any]:
    """What `help.toml` in a folder of the console says: of panes by their ids, and of `columns` that several have."""
    found = Path(__file__).parents[1] / folder / "help.toml"
    return tomllib.loads(found.read_text(encoding="utf-8")) if found.exists() else {}


def text_of(folder: str, pane_id: str) -> PaneText:
    """The text of a pane, with what its columns mean there, in its view, or anywhere."""
    view = texts_in(folder)
    text = PaneText(**view.get(pane_id, {}))
    if text.column:
        return text
    return replace(text, columns={**texts_in("dialogs")["columns"], **view.get("columns", {}), **text.columns})


_HEAD = 14


class PaneHelpScreen(Dialog):
    """Explains a pane; gives nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,enter", "cancel", "Leave", show=False),
        Binding("question_mark", "all_keys", "All keys", show=False),
    ]

    def __init__(self, screen: ConsoleScreen, situation: Situation, key_names: KeyNames) -> None:
        """Explains the pane of the screen that has the focus."""
        super().__init__()
        pane, folder = screen.focused_pane, type(screen).__module__.split(".")[-2]
        name = pane_name(pane) if pane is not None else "No pane"
        self._heading = name if name == situation.where.value else f"{name} · {situation.where.value}"
        self._lines = pane_lines(pane, folder, situation, key_names) if pane is not None else []

    def compose(self) -> ComposeResult:
        with dialog_box(safe(self._heading, 120), "? all keys · esc leaves", "search"):
            yield Lines(id="pane-help")

    def on_mount(self) -> None:
        text = self.query_one(Lines)
        text.show(self._lines)
        text.focus()

    def action_all_keys(self) -> None:
        self.dismiss()
        self.console.do("help.keys")


def pane_lines(pane: Widget, folder: str, situation: Situation, names: KeyNames) -> list[Line]:
    """What is said of a pane of the view in a folder."""
    text = text_of(folder, pane.id or "")
    lines: list[Line] = [Paragraph(names.said(text.shows)), ""]
    if isinstance(pane, CrawlTable):
        shown = pane.visible_columns
        lines.append(heading("Columns"))
        for column in pane.columns:
            meaning = names.said(text.columns.get(column.id, text.column))
            meaning += "" if column.id in shown else " (no room for it now)"
            lines.append(HangingText(Styled(column.title or column.id.upper(), "strong"), _HEAD, meaning, most=3))
        lines.append("")
    lines.append(heading("Keys here"))
    if text.enter:
        lines.append(_key(names("nav.open"), text.enter))
    for action in actions_at(situation.where):
        if action.where and (keys := names.of(action.id)):
            reason = why_not(action, situation)
            words = f"— {reason}. {action.help}" if reason else action.help
            lines.append(_key(" ".join(keys), words, dim=bool(reason)))
    if isinstance(pane, CrawlTable):
        held = ((names.of(str(binding.id)), binding.description) for binding in TABLE_BINDINGS)
        lines += [_key(" ".join(keys), words) for keys, words in held if keys]
    else:
        lines.append(_key("↑ ↓ PgUp PgDn", "Scroll, when there is more than fits"))
    return lines


def _key(keys: str, text: str, *, dim: bool = False) -> Line:
    return HangingText(Styled(keys, "faint" if dim else "accent bold"), _HEAD, text, "muted" if dim else "", most=3)
