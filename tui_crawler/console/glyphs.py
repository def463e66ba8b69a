"""The glyph, the word and the colour role of every state and of every group of exit codes.

A state is always shown as glyph plus word; the colour only helps. Every glyph is one cell wide in common
monospace fonts. Roles are names of `theme.ROLES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKED = "◆"
CURSOR = "▸"
DESCENDING = "▼"
ASCENDING = "▲"


@dataclass(frozen=True, slots=True)
class Mark:
    """How one state is shown: `glyph` (one cell), `word`, and the colour `role`."""

    glyph: str
    word: str
    role: str

    @property
    def label(self) -> str:
        """Glyph and word: `▶ crawling`."""
        return f"{self.glyph} {self.word}"


def _by_word(*marks: Mark) -> Mapping[str, Mark]:
    return MappingProxyType({mark.word: mark for mark in marks})


STATES = _by_word(
    # an origin and its crawl loop
    Mark("▶", "crawling", "active"),
    Mark("◷", "waiting", "waiting"),
    Mark("◐", "ready", "waiting"),
    Mark("○", "idle", "muted"),
    Mark("○", "resting", "muted"),
    Mark("‖", "paused", "paused"),
    Mark("⚠", "impatient", "warning"),
    Mark("✗", "gave up", "error"),
    Mark("✓", "finished", "ok"),
    Mark("■", "stopped", "muted"),
    Mark("⊘", "excluded", "blocked"),
    Mark("◷", "rate limited", "warning"),
    Mark("✗", "database error", "error"),
    Mark("■", "limit reached", "muted"),
    # a run, an engine, a job
    Mark("◐", "stopping", "waiting"),
    Mark("◐", "draining", "waiting"),
    Mark("✗", "aborted", "error"),
    Mark("⚠", "stale", "warning"),
    # a page
    Mark("○", "queued", "muted"),
    Mark("▶", "claimed", "active"),
    Mark("✓", "done", "ok"),
    Mark("✗", "failed", "error"),
    Mark("↻", "retry", "warning"),
    Mark("⊘", "blocked", "blocked"),
    Mark("∅", "skipped", "dropped"),
    Mark("□", "stashed", "muted"),
)
"""State word -> mark."""

EXIT_GROUPS = _by_word(
    Mark("✓", "ok", "ok"),
    Mark("→", "redirect", "redirect"),
    Mark("=", "unchanged", "unchanged"),
    Mark("×", "client", "client"),
    Mark("✗", "server", "server"),
    Mark("⚠", "network", "network"),
    Mark("⊘", "blocked", "blocked"),
    Mark("∅", "dropped", "dropped"),
    Mark("■", "local", "local"),
)
"""Group of exit codes -> mark."""


def state_mark(word: str) -> Mark:
    """Return the mark of a state word; a word not known (a newer database) keeps its word and gets `·`."""
    return STATES.get(word) or Mark("·", word, "muted")


def exit_mark(group: str) -> Mark:
    """Return the mark of a group of exit codes; a group not known keeps its word and gets `·`."""
    return EXIT_GROUPS.get(group) or Mark("·", group, "muted")
