"""The glyph, the word and the colour role of every state and of every group of exit codes.

A state is always shown as glyph plus word; the colour only helps. Every glyph is one cell wide in common
monospace fonts. Roles are names of `theme.ROLES`. Where the terminal has no UTF-8, `in_ascii` stands for all of them.
"""

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from rich.cells import cell_len

from tui_crawler.domain.record import dataclass

MARKED = "◆"
CURSOR = "▸"
DESCENDING = "▼"
ASCENDING = "▲"


@dataclass(frozen=True, slots=True)
class StateGlyph:
    """How one state is shown: `glyph` (one cell), `word`, the colour `role`, and `short`, a word of 8 cells at most for
    narrow columns."""

    glyph: str
    word: str
    role: str
    short: str = ""

    @property
    def label(self) -> str:
        """Glyph and word: `▶ crawling`."""
        return f"{self.glyph} {self.word}"


_STATES = (
    # an origin and its crawl loop
    StateGlyph("▶", "crawling", "active"),
    StateGlyph("◷", "waiting", "waiting"),
    StateGlyph("◐", "ready", "waiting"),
    StateGlyph("○", "idle", "muted"),
    StateGlyph("‖", "paused", "paused"),
    StateGlyph("⚠", "failing", "warning"),
    StateGlyph("✗", "stopped: errors", "error", "errors"),
    StateGlyph("✓", "finished", "ok"),
    StateGlyph("⚠", "empty", "warning"),
    StateGlyph("■", "stopped", "muted"),
    StateGlyph("⊘", "excluded", "blocked"),
    StateGlyph("◷", "rate limited", "warning", "limited"),
    StateGlyph("✗", "database error", "error", "db error"),
    StateGlyph("■", "limit reached", "muted", "limit"),
    # a run, an engine, a job
    StateGlyph("◐", "stopping", "waiting"),
    StateGlyph("◐", "draining", "waiting"),
    StateGlyph("✗", "aborted", "error"),
    StateGlyph("⚠", "stale", "warning"),
    # a page
    StateGlyph("○", "queued", "muted"),
    StateGlyph("▶", "claimed", "active"),
    StateGlyph("✓", "done", "ok"),
    StateGlyph("✗", "failed", "error"),
    StateGlyph("↻", "retry", "warning"),
    StateGlyph("⊘", "blocked", "blocked"),
    StateGlyph("∅", "skipped", "dropped"),
    StateGlyph("□", "stashed", "muted"),
)
STATES: Mapping[str, StateGlyph] = {mark.word: mark for mark in _STATES}

_EXIT_GROUPS = (
    StateGlyph("✓", "ok", "ok"),
    StateGlyph("→", "redirect", "redirect"),
    StateGlyph("=", "unchanged", "unchanged"),
    StateGlyph("×", "client", "client"),
    StateGlyph("✗", "server", "server"),
    StateGlyph("⚠", "network", "network"),
    StateGlyph("⊘", "blocked", "blocked"),
    StateGlyph("∅", "dropped", "dropped"),
    StateGlyph("■", "local", "local"),
)
EXIT_GROUPS: Mapping[str, StateGlyph] = {mark.word: mark for mark in _EXIT_GROUPS}


def state_mark(word: str) -> StateGlyph:
    """Return the mark of a state word; a word not known (a newer database) keeps its word and gets `·`."""
    return STATES.get(word) or StateGlyph("·", word, "muted")


def exit_mark(group: str) -> StateGlyph:
    """Return the mark of a group of exit codes; a group not known keeps its word and gets `·`."""
    return EXIT_GROUPS.get(group) or StateGlyph("·", group, "muted")


_ASCII = str.maketrans(
    "▶◷◐○●‖⚠✗✓■⊘∅□↻✎◆▸·…→←↑↓↳▲▼◀›×–—−’▎▏▍▌▋▊▉░▒▓▁▂▃▄▅▆▇█◌•", ">./o*=!X+#-0_@~*>-~><^v`^v<>x---'|||||||.:|_.:-=+*#?*"
)
"""What stands for our glyphs: states differ among each other, and groups of exit codes do."""
_HORIZONTAL, _VERTICAL = frozenset("─━═╌┄┈╴╶╸╺"), frozenset("│┃║╎┆┊╵╷╹╻")


def in_ascii(text: str) -> str:
    """Return the text in ASCII, in as many terminal cells: glyphs by what stands for them, letters without their
    accents, any other character as a question mark in each of its cells."""
    if text.isascii():
        return text
    return "".join(one if one.isascii() else _one_in_ascii(one) for one in text.translate(_ASCII))


def spelled_in_ascii(text: str) -> str:
    """Return the text in ASCII: glyphs and borders replaced, any other character escaped."""
    plain = (_one_in_ascii(one) if "\u2500" <= one <= "\u257f" else one for one in text.translate(_ASCII))
    return "".join(plain).encode("ascii", "backslashreplace").decode()


@lru_cache(4096)
def _one_in_ascii(character: str) -> str:
    if "\u2500" <= character <= "\u257f":  # what borders are drawn with
        return "-" if character in _HORIZONTAL else "|" if character in _VERTICAL else "+"
    cells = cell_len(character)
    plain = "".join(one for one in unicodedata.normalize("NFKD", character) if " " <= one <= "~")
    return plain.ljust(cells) if 0 < len(plain) <= cells else "?" * cells
