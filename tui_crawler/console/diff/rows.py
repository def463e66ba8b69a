"""Two runs compared, as rows and lines. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tui_crawler.console.panes.line import Line, heading
from tui_crawler.console.urls.cells import host_of, path_of
from tui_crawler.domain.history.run_diff import ChangeKind, OriginDiff
from tui_crawler.domain.record import replace
from tui_crawler.text import run_diff as said
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ABSENT, count

if TYPE_CHECKING:
    from tui_crawler.console.diff.queries import PageLines, RunDiff
    from tui_crawler.domain.history.run_diff import PageChange, PageDiff

_ROLES: Mapping[ChangeKind | None, str] = {
    ChangeKind.NEW: "ok",
    ChangeKind.GONE: "error",
    ChangeKind.CHANGED: "warning",
}
_LINES = {"+": "ok", "-": "error", "@": "accent"}


def _page_mark(kind: ChangeKind | None, change: PageChange, _present: Present) -> Cell:
    sign = said.sign(change)
    return Styled("", "muted") if kind is None else Styled(f"{sign} {kind.word}", _ROLES[kind], sign)


_ORIGIN: Column[OriginDiff, str] = Column("origin", "ORIGIN", shown.words(host_of), min_width=14, kind="place")
_NUMBERS: tuple[Column[OriginDiff, Any], ...] = (
    Column("changed", "~ CHANGED", shown.number("warning", "faint"), 9, 0, "right", 6, "~ CHG"),
    Column("new", "+ NEW", shown.number("ok", "faint"), 8, 0, "right", 6),
    Column("gone", "− GONE", shown.number("error", "faint"), 8, 0, "right", 6),
    Column("same", "= SAME", shown.number("", "faint"), 9, 1, "right", 6),
    Column("failing", "✗ NEW", shown.number("error", "faint"), 7, 2, "right", value=attrgetter("failures_new")),
    Column("mended", "✓ FIXED", shown.number("ok", "faint"), 7, 3, "right", value=attrgetter("failures_mended")),
)
_UNCOUNTED = shown.by_record(lambda _: Styled("…", "faint"))


def origins_of(*, counted: bool) -> Relation[OriginDiff]:
    """Return origins as a relation, with numbers once these are `counted`."""
    numbers = _NUMBERS if counted else tuple(replace(one, show=_UNCOUNTED, value=lambda _: None) for one in _NUMBERS)
    return Relation((_ORIGIN, *numbers), lambda diff: diff.origin_id)


def in_order(pages: Iterable[PageChange]) -> list[PageChange]:
    """Return pages by what became of them: changed, new, gone, others."""
    kinds = [*said.SIGNS, None]
    return sorted(pages, key=lambda page: kinds.index(page.difference.kind))


PAGES: Relation[PageChange] = Relation(
    key=lambda change: change.place,
    nothing="no page differs",
    columns=(
        Column("change", "CHANGE", _page_mark, 9, 0, min_width=1, short="", value=lambda one: one.difference.kind),
        Column("url", "URL", shown.plain(), None, 0, min_width=16, kind="place",
               value=lambda one: path_of(one.url, one.origin)),
        Column("fields", "WHAT", shown.plain("muted"), 26, 1, min_width=12, value=said.fields),
        Column("status", "STATUS", shown.plain(), 14, 2, min_width=9, value=said.ends),
    ),
)  # fmt: skip


def summary_lines(diff: RunDiff) -> list[Line]:
    """How many pages of all origins differ, and how fast both runs were."""
    if diff.span is None:
        return [Styled(diff.problem, "warning")]
    if not diff.counted:
        return [Styled("counting pages…", "muted")]
    numbers = [(one.new, one.gone, one.changed, one.same) for one in diff.origins]
    whole = OriginDiff("", 0, *(sum(column) for column in zip(*numbers, strict=True)))
    words = [Styled(f"{told}  ", f"{_ROLES.get(kind, '')} bold") for kind, told in said.counts(whole).items()]
    return [tuple(words), *map(said.pace, diff.paces)]


def pages_title(origin: str, first: int, shown: int, *, more: bool) -> str:
    """What the table of pages shows; `first` is the number of the first row, `more`: the list goes on."""
    words = f"Pages of {host_of(origin)}"
    if first == 1 and not more:
        return f"{words} · {count(shown)}"
    return f"{words} · {count(first)}–{count(first + shown - 1)}{' and more' if more else ''}"


def diff_lines(lines: Iterable[str]) -> list[Line]:
    """The lines of a unified diff."""
    return [Styled(line, _LINES.get(line[:1], "")) for line in lines]


def body_lines(page: PageLines) -> list[Line]:
    """The lines of a page that differ, or why there are none."""
    if page.lines is None:
        return [Styled(said.NO_BODY, "muted")]
    return diff_lines(page.lines) or [Styled(said.NO_LINE, "muted")]


def page_facts(page: PageDiff) -> list[Line]:
    """Return what became of a page, and what differs besides its lines."""
    change, (before, after) = page.change, page.states
    lines: list[Line] = [Styled("the same in both runs", "muted")]
    if change is not None and change.difference.kind is not None:
        kind = change.difference.kind
        words = f"{said.fields(change)}  {said.ends(change)}".strip()
        lines = [(Styled(f"{said.sign(change)} {kind.word}  ", f"{_ROLES[kind]} bold"), words)]
    elif change is not None:
        lines = [f"{said.end(before)} → {said.end(after)}"]
    for name, was, now in page.texts():
        lines += [_side(name, "−", was, "error"), _side("", "+", now, "ok")]
    return lines


def _side(name: str, sign: str, text: str, role: str) -> Line:
    return (Styled(f"{name:<10}", "muted"), Styled(f"{sign} {text or ABSENT}", role))


def link_lines(page: PageDiff) -> list[Line]:
    """The links from a page, and to it, that came and went."""
    lines: list[Line] = []
    for words, links, inward in ("Links from it", page.outlinks, False), ("Links to it", page.inlinks, True):
        lines += [*([""] if lines else []), heading(f"{words}: {said.many(links)}")]
        for sign, role, some in ("+", "ok", links.new), ("−", "error", links.gone):
            for one in some:
                url = one.from_url if inward else one.to_url
                lines.append((Styled(f"{sign} {one.kind} ", role), url, Styled(f"  {one.text}", "faint")))
    return lines
