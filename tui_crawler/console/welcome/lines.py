"""The words of the welcome screen: a picture, the ways to begin, and what was found for each of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.console.table.cells import Styled
from tui_crawler.text.format import plural

if TYPE_CHECKING:
    from tui_crawler.console.welcome.first_step import FolderFound, FoundFile

ART: tuple[Line, ...] = (
    (Styled("       ╭── ", "faint"), Styled("✓", "ok"), Styled(" ──┬── ", "faint"), Styled("✓", "ok")),
    (
        Styled("◆", "accent bold"),
        Styled(" ─────┼── ", "faint"),
        Styled("✓", "ok"),
        Styled("   ╰── ", "faint"),
        Styled("▶", "active"),
        Styled(" ── ", "faint"),
        Styled("○", "muted"),
    ),
    (Styled("       ╰── ", "faint"), Styled("◷", "waiting"), Styled(" ───── ", "faint"), Styled("○", "muted")),
)
"""A seed and what is found from it."""
ART_WIDTH = 25
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Way:
    """One way to begin, as it is offered. Not `possible`: `about` says why."""

    action_id: str
    about: str
    possible: bool = True


def ways(found: FolderFound | None) -> tuple[Way, ...]:
    """The ways in the order of the screen; None: nobody has looked into the folder yet."""
    return (
        Way("welcome.add", "Paste URLs; default settings, politely crawled."),
        Way("welcome.load", _load_words(found)),
        Way("welcome.demo", "Ten made-up sites on this computer; no network."),
        _open_way(found),
        Way("welcome.leave", "Nothing was written and nothing was sent."),
    )


def problem_lines(problems: Sequence[str]) -> list[Line]:
    """What keeps a step from being done, in the order it was found."""
    return [Paragraph(f"✗ {problem}", "error", indent=2) for problem in problems]


def _load_words(found: FolderFound | None) -> str:
    if found is None:
        return "Looking for configurations in this folder…"
    if not found.configurations:
        return "None (*.yaml) is in this folder: type where it is."
    return _names(found.configurations, "configuration")


def _open_way(found: FolderFound | None) -> Way:
    if found is None:
        return Way("welcome.open", "Looking for crawls in this folder…", possible=False)
    if not found.databases:
        return Way("welcome.open", "There is no database (*.db) in this folder.", possible=False)
    return Way("welcome.open", _names(found.databases, "database"))


def _names(files: Sequence[FoundFile], what: str) -> str:
    names = ", ".join(one.name for one in files[:_NAMED])
    more = " …" if len(files) > _NAMED else ""
    return f"{plural(len(files), what)} here: {names}{more}"
