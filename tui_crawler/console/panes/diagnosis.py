"""The line under the tabs: what needs a person first, and the actions that help, each with its key. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.panes.line import as_door, width_of
from tui_crawler.text.cells import Styled
from tui_crawler.text.safe_text import ELLIPSIS, clip, safe

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.domain.history.diagnosis import Diagnosis

SHOW = "diagnosis.show"
_LONGEST = 24  # cells of what an action does
_LONG_WORD = 14  # letters: where such a word has no room, as a URL, it is cut


Offer = tuple[str, str, str]
"""An action that helps: its id, its key on this screen (empty: a click does it), and what it does."""


def allow_label(diagnosis: Diagnosis) -> str:
    """Return what the policy of a diagnosis allows; empty where it has none."""
    if diagnosis.policy is None:
        return ""
    label = safe(f"allow {', '.join(sorted(diagnosis.policy.allow))}")
    dropped = safe(f", drop {diagnosis.session}") if diagnosis.session else ""
    return clip(label + dropped if cell_len(label + dropped) <= _LONGEST else label, _LONGEST)


def diagnosis_line(diagnosis: Diagnosis, offers: Sequence[Offer], width: int) -> Line:
    """Return the line in `width` cells, of doors. Where there is little room offers are left out, the last first; for
    the first one the words are cut down to half of the line."""
    words, shown = safe(diagnosis.words, 500), list[tuple[Styled, ...]]()
    for action_id, key, label in offers:
        named = Styled(f"[{key}] " if key else "", "accent bold"), Styled(label, "" if key else "accent")
        shown.append((Styled("  " if shown else "   "), *as_door(named, action_id)))
    while shown and _room(shown, width) < min(width // 2 if len(shown) == 1 else width, cell_len(words)):
        shown.pop()
    cut = clip(words, _room(shown, width))
    whole, _, part = cut.rpartition(" ")
    if cut != words and whole and len(part) < _LONG_WORD:
        cut = f"{whole}{ELLIPSIS}"
    said = Styled("⚠ ", "warning bold"), Styled(cut, "warning")
    return (*(as_door(said, SHOW) if diagnosis.origins else said), *chain.from_iterable(shown))


def _room(shown: Sequence[tuple[Styled, ...]], width: int) -> int:
    """The cells that are left for the words."""
    return width - 2 - sum(map(width_of, shown))
