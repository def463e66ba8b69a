"""Changes of the rules in words: one of them, and how many of each kind. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui_crawler.text.format import count

if TYPE_CHECKING:
    from tui_crawler.domain.ruleset import Section
    from tui_crawler.domain.ruleset_change import EntryChange

_KINDS = (("added", "added"), ("removed", "taken out"), ("edited", "edited"), ("moved", "moved"))


def section_word(section: Section) -> str:
    """One entry of a section, as a person calls it."""
    match section:
        case "url_query_parameters":
            return "query policy"
        case "rules":
            return "rule"
        case "exclusions":
            return "exclusion"
        case _:
            return section


def counted_changes(changes: Sequence[EntryChange]) -> str:
    """How many entries were changed and how: `1 added, 2 moved`; empty without a change."""
    numbers = ((word, sum(one.kind == kind for one in changes)) for kind, word in _KINDS)
    return ", ".join(f"{count(number)} {word}" for word, number in numbers if number)


def entry_text(change: EntryChange) -> str:
    """The entry that was changed, without what was done to it, in words; raw text."""
    line = change.after or change.before
    return line.text if line is not None else ""


def change_text(change: EntryChange) -> str:
    """What became of the entry, without its section; raw text."""
    before = change.before.text if change.before is not None else ""
    match change.kind:
        case "edited":
            moved = f" (from place {change.place} to {change.to})" if change.crosses else ""
            return f"{before} → {entry_text(change)}{moved}"
        case "moved":
            return f"{entry_text(change)} (from place {change.place} to {change.to})"
        case _:
            return entry_text(change)


def change_words(change: EntryChange) -> str:
    """The change as a line of its own; raw text."""
    signs = {"added": "+ ", "removed": "− ", "edited": "edited ", "moved": "moved "}
    return f"{signs[change.kind]}{section_word(change.section)} {change_text(change)}"
