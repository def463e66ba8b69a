"""The line under the tabs: what needs a person first, and the actions that help, each with its key. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.panes.footer import Zone
from tui_crawler.console.panes.line import width_of
from tui_crawler.text.cells import Styled
from tui_crawler.text.safe_text import ELLIPSIS, clip, safe

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.domain.history.diagnosis import Diagnosis

SHOW = "diagnosis.show"
_LONGEST = 24  # cells of what an action does
_LONG_WORD = 14  # letters


Offer = tuple[str, str, str]
"""An action that helps: its id, its key on this screen (empty: a click does it), and what it does."""


def allow_label(diagnosis: Diagnosis) -> str:
    """Return what the policy of a diagnosis allows; empty where it has none."""
    if diagnosis.policy is None:
        return ""
    dropped = f", drop {diagnosis.session}" if diagnosis.session else ""
    return clip(safe(f"allow {', '.join(sorted(diagnosis.policy.allow))}{dropped}"), _LONGEST)


def diagnosis_line(diagnosis: Diagnosis, offers: Sequence[Offer], width: int) -> tuple[Line, tuple[Zone, ...]]:
    """Return the line in `width` cells, and where it can be clicked. Where there is little room the words are cut down
    to half of it, and then offers are left out, the last first."""
    words, shown = safe(diagnosis.words, 500), [(one, _cells(one)) for one in offers]
    while shown and _room(shown, width) < min(width // 2, cell_len(words)):
        shown.pop()
    words = _clip_at_word(words, _room(shown, width))
    parts = [Styled("⚠ ", "warning bold"), Styled(words, "warning"), Styled(" " if shown else "")]
    zones = [Zone(0, 2 + cell_len(words), SHOW)] if diagnosis.origins else []
    at = 3 + cell_len(words)
    for (action_id, *_), cells in shown:
        end = at + width_of(cells)
        zones.append(Zone(at + 2, end, action_id))
        parts += cells
        at = end
    return tuple(parts), tuple(zones)


def _cells(offer: Offer) -> tuple[Styled, ...]:
    _, key, label = offer
    return Styled("  "), Styled(f"[{key}] " if key else "", "accent bold"), Styled(label, "" if key else "accent")


def _room(shown: Sequence[tuple[Offer, tuple[Styled, ...]]], width: int) -> int:
    """The cells that are left for the words."""
    return width - 2 - sum(width_of(cells) for _, cells in shown) - bool(shown)


def _clip_at_word(words: str, cells: int) -> str:
    """The words that have room; the last is cut only where it is long, as a URL is."""
    cut = clip(words, cells)
    whole, _, part = cut.rpartition(" ")
    return f"{whole}{ELLIPSIS}" if cut != words and whole and len(part) < _LONG_WORD else cut
