"""The help sheet: every key, what it does, and why not; enter does it. Made from the table of actions."""

from __future__ import annotations

from collections.abc import Mapping

from textual.binding import Binding

from tui_crawler.console.actions import Action, Group, Situation, Where, actions_at, why_not
from tui_crawler.console.crawl_table import Column
from tui_crawler.console.glyphs import state_mark
from tui_crawler.console.keys import keys_of, table_keys
from tui_crawler.console.present.line import Line
from tui_crawler.console.screens.search import Entry, SearchDialog
from tui_crawler.console.table_cells import Styled

_COLUMNS = (
    Column("key", "", 11, 0, min_width=8),
    Column("label", "", 14, 1),
    Column("help", "", None, 0, min_width=24),
)
_ABOUT: Mapping[Where, str] = {
    Where.overview: "All origins of the crawl, the selected one in short, and every attempt as it ends.",
    Where.origin: "One origin: its state with what led to it, the pages of its next turns, and its attempts.",
    Where.failures: "Pages that failed, in groups; the pages of the group under the cursor stand at the right.",
    Where.url: "One URL: how it was found, every attempt, and the requests and headers of the chosen attempt.",
    Where.logs: "Attempts, what happened beside them and what operators asked for, by time; it follows at its end.",
    Where.stats: "How attempts ended, the busiest origins, jobs and what can be done with them, and the ledgers.",
}


class HelpScreen(SearchDialog):
    """All keys of one screen."""

    def __init__(self, situation: Situation, own_keys: Mapping[str, str]) -> None:
        """`own_keys` is the operator's key map: action id -> keys."""
        where = situation.where
        super().__init__(
            f"Keys · {where.value}",
            "part of a key, a word, an id",
            _COLUMNS,
            help_entries(situation, own_keys),
            _notes(where, len(own_keys)),
        )


def help_entries(situation: Situation, own_keys: Mapping[str, str]) -> list[Entry]:
    """The lines of the help sheet, in the order of the groups."""
    entries = []
    for group in Group:
        entries.append(Entry(f"group {group.name}", ("", Styled(group.value, "muted"), ""), "", possible=False))
        entries += [
            _entry(action, why_not(action, situation), own_keys)
            for action in actions_at(situation.where)
            if action.group is group
        ]
        if group is Group.move:
            entries += [_table_entry(binding, own_keys) for binding in table_keys()]
    return entries


def _entry(action: Action, reason: str, own_keys: Mapping[str, str]) -> Entry:
    keys = " ".join(keys_of(action.id, action.keys, own_keys))
    changed = "✎ " if action.id in own_keys else ""
    words = f"{keys} {action.label} {action.help} {action.id} {action.command}"
    about = [Styled(action.id, "accent")]
    if action.command:
        about += [Styled("   same as  ", "muted"), Styled(action.command)]
    if action.undo:
        about += [Styled("   z  ", "muted"), Styled(action.undo)]
    cells = (
        Styled(changed + keys, "faint" if reason else "accent bold"),
        Styled(action.label, "faint" if reason else "strong"),
        (Styled(f"— {reason}  " if reason else "", "warning"), Styled(action.help, "faint" if reason else "")),
    )
    return Entry(action.id, cells, words, not reason, tuple(about))


def _table_entry(binding: Binding, own_keys: Mapping[str, str]) -> Entry:
    name = binding.id or binding.key
    keys = " ".join(keys_of(name, binding.key, own_keys))
    cells = (Styled(keys, "accent bold"), Styled("in lists", "strong"), binding.description)
    return Entry(name, cells, f"{keys} {binding.description} {name}", possible=False, about=Styled(name, "accent"))


def _notes(where: Where, changed: int) -> list[Line]:
    legend = []
    for word in ("crawling", "waiting", "ready", "paused", "impatient", "gave up", "finished", "excluded"):
        mark = state_mark(word)
        legend += [Styled(mark.glyph, mark.role), Styled(f" {word}   ", "muted")]
    letters = "delay: R from robots.txt   ▲ raised by the server's answers   ✎ raised by you"
    if changed:
        letters += f"     keys changed by you: ✎ {changed}"
    return [tuple(legend), Styled(letters, "muted"), Styled(_ABOUT[where], "")]
