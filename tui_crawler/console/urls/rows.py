"""All known pages as rows: where each stands, how it ended last, when it is due. Pure."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, assert_never

from tui_crawler.console.logs.attempts import exit_cell, exit_in_full, meaning, status_cell
from tui_crawler.domain.crawl.recovery import NextTry
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.rules.page_filter import PageListState, state_of
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ABSENT, ago, coarse, count, date_time, due, plural
from tui_crawler.text.glyphs import state_mark

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.operator.retry_start import NextRequest
    from tui_crawler.console.panes.line import Line
    from tui_crawler.console.urls.queries import PageListWindow
    from tui_crawler.domain.records.page_view import PageView
    from tui_crawler.domain.rules.page_filter import PageTally

FILTER_HINT = "part of a URL · ~fuzzy · exit: status: depth: origin: state: title: re: · ! inverts"


@dataclass(frozen=True, slots=True)
class PageLine:
    """A page, and when it is asked for next."""

    page: PageView
    outlook: NextRequest


def of_page(name: str) -> Callable[[PageLine], Any]:
    """Return how to read an attribute of the page."""
    return attrgetter(f"page.{name}")


def next_at(line: PageLine) -> int | None:
    """Return when a page is asked for next (epoch ms; 0: now), by which rows are ordered; None where it is not."""
    page = line.page
    match line.outlook.when:
        case _ if line.outlook.held:
            return HELD
        case NextTry.now | NextTry.in_flight:
            return 0
        case NextTry.later:
            return page.not_before
        case NextTry.next_run:
            return HELD - 1
        case _:
            return page.due_at or None


def tries_cell(page: PageView) -> Cell:
    """Return how often a page was tried, and how often it will be at most."""
    return (str(page.attempts), Styled(f"/{page.attempts + page.attempts_remaining}", "muted"))


def _exit(code: str, line: PageLine, _present: Present) -> Cell:
    if code:
        return exit_cell(code)
    found = state_of(line.page)
    return Styled("not tried", "faint") if found is PageListState.queued else _mark(found.value)


def _mark(state: str, end: str = "") -> Styled:
    mark = state_mark(state)
    return Styled(f"{mark.label}{end}", mark.role)


def _due(_: object, line: PageLine, present: Present) -> Cell:
    page, now = line.page, present.now
    return due_cell(line.outlook, page.not_before - now, page.due_at - now if page.due_at else None)


def _last(value: int | None, _line: PageLine, present: Present) -> Cell:
    if value is None:
        return Styled("never", "faint", short="-")
    return Styled(ago(present.now + value), "muted", short=coarse(max(0, present.now + value)))


TRIES: Column[PageLine, int] = Column(
    "tries", "TRIES", shown.by_record(lambda line: tries_cell(line.page)), 5, 3, "right", value=of_page("attempts")
)
URLS: Relation[PageLine] = Relation(
    key=lambda line: line.page.page_id,
    source=lambda line: line.page,
    columns=(
        Column("state", "STATE", shown.state(), 9, 6, value=lambda line: state_mark(state_of(line.page).value)),
        Column("exit", "EXIT", _exit, 14, 0, min_width=14, value=of_page("last_exit_code")),
        Column("status", "ST", shown.by_value(status_cell), 3, 4, "right", value=of_page("last_http_status")),
        Column("url", "URL", shown.plain(), None, 0, min_width=34, kind="place",
               value=lambda line: line.page.url.removeprefix("https://")),
        Column("title", "TITLE", shown.plain("muted"), None, 5, min_width=16, value=of_page("title")),
        Column("depth", "DEPTH", shown.plain("muted"), 5, 7, "right", value=of_page("depth")),
        TRIES,
        Column("due", "DUE", _due, 8, 2, "right", value=next_at),
        Column("last", "LAST", _last, 7, 1, "right", 4, value=shown.negated("page.last_crawled_at")),
        Column("size", "SIZE", shown.data_size("muted"), 6, 8, "right", value=lambda line: line.page.size or None),
    ),
)  # fmt: skip


def due_cell(outlook: NextRequest, wait: int, recrawl: int | None = None) -> Styled:
    """When a page is asked for next; `wait` is the time it is put off for, `recrawl` that to its recrawl (ms; None: not
    known). What is in flight, put aside or skipped says so as its state."""
    if outlook.held:
        return Styled(outlook.held, "warning", short="held")
    when = outlook.when
    match when:
        case NextTry.now | NextTry.next_run:
            return Styled(when.value, "ok" if when is NextTry.now else "muted")
        case NextTry.later:
            return Styled(due(wait), "muted")
        case NextTry.used_up | NextTry.final:
            return Styled(due(recrawl), "muted" if recrawl is not None else "faint")
        case NextTry.in_flight | NextTry.stashed | NextTry.skipped:
            return Styled(ABSENT, "faint")
        case _:
            assert_never(when)


def _due_words(page: PageView, outlook: NextRequest, zone: tzinfo) -> str:
    """The same after a comma, with a date where there is one; empty where there is nothing to be said."""
    at = {NextTry.later: page.not_before, NextTry.used_up: page.due_at, NextTry.final: page.due_at}.get(outlook.when)
    fixed = {NextTry.now: ", due now", NextTry.next_run: ", due in the next run"}.get(outlook.when, "")
    return f", due {date_time(at, zone)}" if at else fixed


def url_lines(page: PageView, outlook: NextRequest, zone: tzinfo) -> list[Line]:
    """The page under the cursor: whole URL and title; how it ended; when it is due, what keeps its origin from asking
    for it, and where it belongs."""
    words = Styled(f"  {page.message or meaning(page.last_exit_code)}")
    ended = (exit_in_full(page.last_exit_code), words) if page.last_exit_code else ("not tried yet",)
    when = f"last {date_time(page.last_crawled_at, zone)}" if page.last_crawled_at else "never crawled"
    held = Styled(f" · origin {outlook.held}" if outlook.held else "", "warning")
    place = Styled(f" · depth {page.depth}, nice {page.nice}, job {page.job}", "muted")
    return [
        (Styled(page.url, "strong"), Styled(f"  {page.title}" if page.title else "", "muted")),
        (_mark(state_of(page).value, "  "), *ended),
        (Styled(f"{when}{_due_words(page, outlook, zone)}", "muted"), held, place),
    ]


def position_words(keyset: PageListWindow, index: int, matches: PageTally | None = None) -> str:
    """Which row of all the one at `index` of those held is; of a filtered list how many pages match, or how far was
    looked. `matches`: how many were counted."""
    held, total = len(keyset.rows), keyset.total
    if total is None and matches is not None and matches.ended:
        number = max(matches.matched, (keyset.first or 1) - 1 + held)
        if keyset.first is None:
            return f"row {count(held - index)} from the end of {count(number)} that match"
        return f"row {count(keyset.first + index)} of {count(number)} that match"
    looked = "" if total is not None else f" · {_looked_words(keyset, matches)}"
    if not held:
        return "none" + looked
    if keyset.first is None:
        where = f"row {count(held - index)} from the end" if keyset.at_last else f"{plural(held, 'row')} loaded"
        return where + looked
    row = f"row {'' if keyset.exact else '~'}{count(keyset.first + index)}"
    if total is None:
        return f"{row} of {count(keyset.first - 1 + held)} so far{looked}"
    return f"{row} of {count(total)}"


def _looked_words(keyset: PageListWindow, matches: PageTally | None) -> str:
    if matches is None:
        return f"looked at {count(keyset.looked_at)} of {plural(keyset.known, 'row')}"
    return f"{count(matches.matched)} match of {count(matches.looked_at)} looked at, {count(matches.known)} in all"


def nothing_words(keyset: PageListWindow, keys: KeyNames) -> str:
    """What is shown where there are no rows."""
    if not keyset.narrowing.terms:
        return keys.said("No URLs yet.\n\n{origin.add}  add seeds      {help.keys}  keys")
    if not keyset.whole:
        looked = f"Nothing among {count(keyset.looked_at)} of {plural(keyset.known, 'row')} yet; looking on."
        return f"{looked}\n\n{keys('filter.clear')}  stops it"
    meant = dict.fromkeys(text.lower() for text in keyset.narrowing.texts)
    states = " ".join(f"state:{word}" for word in meant if word in {state.value for state in PageListState})
    hint = f"No URL or title contains this · {states} narrows by state." if states else ""
    change, clear = keys("filter.open"), keys("filter.clear")
    return f"{hint or 'No URL passes the filter.'}\n\n{change}  change it      {clear}  show all"
