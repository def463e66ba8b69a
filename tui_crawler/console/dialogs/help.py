"""The help sheet: every key, what it does, and why not; enter does it. Made from the table of actions."""

from collections.abc import Iterator, Mapping, Sequence

from textual.binding import Binding

from tui_crawler.console.action import Action, Situation, Topic, Where, why_not
from tui_crawler.console.actions import BY_ID, actions_at
from tui_crawler.console.dialogs.search import SearchDialog, SearchEntry, entries_of
from tui_crawler.console.keymap import KeyMap
from tui_crawler.console.keys import MENUS, TABLE_BINDINGS, KeyNames
from tui_crawler.console.panes.footer import label_of
from tui_crawler.console.panes.line import Flow, Line, Paragraph, width_of
from tui_crawler.text.cells import Cell, Styled
from tui_crawler.text.columns import Column
from tui_crawler.text.format import plural
from tui_crawler.text.glyphs import state_mark

_LINES = entries_of(Column("line", ""))
_KEY, _BEFORE_TEXT = 8, 24
"""Cells of a key, and of key and label before the text; a longer one takes more."""
_LEGEND: tuple[Mapping[str, str], ...] = (
    {
        "crawling": "a request is in flight",
        "waiting": "its delay has not passed",
        "ready": "its next request may start at any time",
        "paused": "by an operator",
        "failing": "half of its patience or more is lost",
        "stopped: errors": "no patience is left",
        "finished": "no pages left in this run",
        "stopped": "for this run, by an operator",
        "excluded": "on the exclusion list",
        "idle": "it takes no part in this run",
    },
    {
        "queued": "it waits for its turn",
        "done": "fetched and stored",
        "failed": "no tries are left: used up, or final",
        "retry": "it failed, and has tries left",
        "blocked": "a rule or robots.txt does not allow it",
        "skipped": "a rule skips it",
    },
)
"""States of origins, states of pages."""
_SIGNS = (
    ("R", "delay of robots.txt"),
    ("▲", "raised by responses"),
    ("✎", "set by you"),
    ("●○", "patience left, lost"),
    ("◆", "marked"),
    ("⚠", "trap suspected"),
)
_WORDS = (
    ("todo", "pages on todo lists: taken for the next turns, done ones that are due again among them"),
    ("pending", "pages with tries left, new ones and failed ones, on a todo list or not yet"),
    ("failed", "pages that failed; those with tries left are pending, too"),
    ("turn", "one step of an origin; it may make several requests, or none"),
    ("problem", "an attempt that failed, an origin stopped by errors, a refused action"),
)
"""Words for figures that are easily mistaken for each other; docs/glossary.md has all."""


class HelpScreen(SearchDialog):
    """All keys of one screen."""

    def __init__(self, situation: Situation, keymap: KeyMap | None) -> None:
        """`keymap` None: all keys are those of the table of actions."""
        keymap = keymap or KeyMap()
        where, entries = situation.where, help_entries(situation, keymap)
        hint, notes = "part of a key, a word, an id", _notes(where, keymap)
        super().__init__(f"Keys · {where.value}", hint, _LINES, entries, notes)


def help_entries(situation: Situation, keymap: KeyMap) -> list[SearchEntry]:
    """The lines of the help sheet, in the order of the groups."""
    names, own = KeyNames(keymap.keys), keymap.changed
    entries: list[SearchEntry] = []
    for heading, actions, bindings in _groups(situation):
        entries += _heading(heading, first=not entries)
        entries += [_entry(one, why_not(one, situation), names, changed=one.id in own) for one in actions]
        entries += [_table_entry(one, names, changed=one.id in own) for one in bindings]
    entries += _heading("Problems in keymap") if keymap.problems else []
    for number, (name, words) in enumerate(keymap.problems):
        cells = _cells(Styled("⚠", "warning"), Styled(name, "strong"), Styled(words, "warning"))
        entries.append(SearchEntry(f"problem {number}", cells, f"problem {name} {words}", possible=False, text=words))
    return [*entries, *_legend_entries()]


def _groups(now: Situation) -> Iterator[tuple[str, list[Action], Sequence[Binding]]]:
    """The headings of the sheet with actions and keys of tables: by topic those of one key, then the menus."""
    here = actions_at(now.where)
    for topic in Topic:
        alone = [one for one in here if one.group is topic and " " not in one.keys]
        yield topic.value, alone, TABLE_BINDINGS if topic is Topic.move else ()
    for first, menu in MENUS.items():
        if BY_ID[menu].at(now.where):
            follow = [one for one in here if one.keys.startswith(f"{first} ")]
            yield f"{first}  {label_of(BY_ID[menu], now)}", follow, ()


def _legend_entries() -> list[SearchEntry]:
    """The glyphs, also for a screen where there is no room for them under the list."""
    states = [(state_mark(word), word, meaning) for states in _LEGEND for word, meaning in states.items()]
    shown = [(Styled(mark.glyph, mark.role), Styled(word, mark.role), meaning) for mark, word, meaning in states]
    shown += [(Styled(sign, "accent"), Styled("sign", "muted"), meaning) for sign, meaning in _SIGNS]
    shown += [(Styled(""), Styled(word, "strong"), meaning) for word, meaning in _WORDS]
    entries = _heading("Signs, words")
    for sign, word, meaning in shown:
        key = f"sign {sign.text} {word.text}"
        entries.append(SearchEntry(key, _cells(sign, word, meaning), f"{key} {meaning}", possible=False, text=meaning))
    return entries


def _entry(action: Action, reason: str, names: KeyNames, *, changed: bool) -> SearchEntry:
    keys = _key_words(names.of(action.id) or (names(action.id),), changed=changed)
    words = f"{keys} {action.label} {action.help} {action.id} {action.command}"
    about: list[Cell] = [Styled(action.id, "accent")]
    if action.command:
        about.append((Styled("same as  ", "muted"), Styled(action.command)))
    if action.undo:
        key = names.first("journal.undo") or BY_ID["journal.undo"].label
        about.append((Styled(f"{key}  ", "muted"), Styled(action.undo)))
    cells = _cells(
        Styled(keys, "faint" if reason else "accent bold"),
        Styled(action.label, "faint" if reason else "strong"),
        Styled(f"— {reason}  " if reason else "", "warning"),
        Styled(action.help, "faint" if reason else ""),
    )
    text = f"— {reason}. {action.help}" if reason else action.help
    refusal = f"{action.label}: {reason}" if reason else ""
    return SearchEntry(action.id, cells, words, not reason, Flow(tuple(about), gap=3), refusal, text)


def _table_entry(binding: Binding, names: KeyNames, *, changed: bool) -> SearchEntry:
    name = binding.id or binding.key
    keys = _key_words(names.of(name), changed=changed)
    text = binding.description
    cells = _cells(Styled(keys, "accent bold"), Styled("in lists", "strong"), text)
    words, about = f"{keys} {text} {name}", Styled(name, "accent")
    return SearchEntry(name, cells, words, possible=False, about=about, refusal="this key acts in a list", text=text)


def _heading(text: str, *, first: bool = False) -> list[SearchEntry]:
    heading = SearchEntry(f"group {text}", (Styled(text, "accent bold"),), "", possible=False)
    return [heading] if first else [SearchEntry(f"before {text}", ("",), "", possible=False), heading]


def _cells(key: Styled, label: Styled, *text: str | Styled) -> tuple[Cell, ...]:
    """A line of the sheet: key, label and text; text stands below text as long as what is before it is not longer."""
    label_at = max(_KEY, width_of(key) + 1)
    text_at = max(_BEFORE_TEXT, label_at + width_of(label) + 1)
    gaps = Styled(" " * (label_at - width_of(key))), Styled(" " * (text_at - label_at - width_of(label)))
    return ((key, gaps[0], label, gaps[1], *text),)


def _key_words(keys: Sequence[str], *, changed: bool) -> str:
    words = " ".join(keys) or "no key"
    return f"✎ {words}" if changed else words


def _notes(where: Where, keymap: KeyMap) -> list[Line]:
    marks = [[(word, state_mark(word)) for word in states] for states in _LEGEND]
    legend = [
        Flow(tuple((Styled(mark.glyph, mark.role), Styled(f" {word}", "muted")) for word, mark in states))
        for states in marks
    ]
    signs = Flow(tuple((Styled(sign, "accent"), Styled(f" {word}", "muted")) for sign, word in _SIGNS))
    below: list[Styled] = [Styled("f1", "accent"), Styled(" explains the pane", "muted")]
    if keymap.changed:
        below.append(Styled(f"   changed keys: ✎ {len(keymap.changed)}", "accent"))
    if keymap.problems:
        below.append(Styled(f"   ⚠ {plural(len(keymap.problems), 'problem')} in keymap", "warning"))
    return [Paragraph(where.about), *legend, signs, tuple(below)]
