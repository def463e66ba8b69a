"""The line under the tabs: what needs a person first, and the actions that help, each with its key. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.panes.line import as_door
from tui_crawler.domain.history.diagnosis import DiagnosisKind
from tui_crawler.domain.record import dataclass
from tui_crawler.text.cells import Styled
from tui_crawler.text.safe_text import clip, safe

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.domain.history.diagnosis import Diagnosis

SHOW, DISMISS = "diagnosis.show", "diagnosis.dismiss"

_HELPS: Mapping[DiagnosisKind, tuple[str, str]] = {
    DiagnosisKind.crawler_died: ("run.start", "continue"),
    DiagnosisKind.no_worker: ("run.start", "continue"),
    DiagnosisKind.seed_moved: ("origin.add", "add it"),
    DiagnosisKind.queries_refused: ("diagnosis.allow", "allow"),
}
_NOTHING_TO_SHOW = frozenset({DiagnosisKind.crawler_died, DiagnosisKind.no_worker, DiagnosisKind.unnamed})
_LONGEST = 24  # cells of what an action does


@dataclass(frozen=True, slots=True)
class Offer:
    """An action that helps: its id, its key on this screen (empty: a click does it), and what it does."""

    action_id: str
    key: str
    label: str

    @property
    def text(self) -> str:
        return f"[{self.key}] {self.label}" if self.key else self.label


def offers_of(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    """Return the actions that help, and what each does, the most important first."""
    found = [_HELPS[diagnosis.kind]] if diagnosis.kind in _HELPS else []
    if diagnosis.policy is not None:
        names = ", ".join(sorted(diagnosis.policy.allow))
        dropped = f", drop {diagnosis.session}" if diagnosis.session else ""
        found = [(found[0][0], clip(safe(f"allow {names}{dropped}"), _LONGEST))]
    shows = [] if diagnosis.kind in _NOTHING_TO_SHOW else [(SHOW, "show")]
    return [*found, *shows, (DISMISS, "hide")]


def diagnosis_line(diagnosis: Diagnosis, offers: Sequence[Offer], width: int) -> Line:
    """Return the line in `width` cells, of doors. Where there is little room the words are cut down
    to half of it, and then offers are left out, the last first."""
    words, kept = safe(diagnosis.words, 500), list(offers)
    while kept and width - 2 - _needed(kept) < min(width // 2, cell_len(words)):
        kept.pop()
    words = clip(words, max(0, width - 2 - _needed(kept)))
    parts: list[Styled] = [Styled("⚠ ", "warning bold"), Styled(words, "warning")]
    if any(one.action_id == SHOW for one in offers):
        parts = [*as_door(tuple(parts), SHOW)]
    for place, one in enumerate(kept):
        key = Styled(f"[{one.key}] " if one.key else "", "accent bold")
        label = Styled(one.label, "" if one.key else "accent")
        parts += [Styled(" " * (2 if place else 3)), *as_door((key, label), one.action_id)]
    return tuple(parts)


def _needed(offers: Sequence[Offer]) -> int:
    return sum(cell_len(one.text) + 2 for one in offers) + (1 if offers else 0)
