"""All known pages as rows: where each stands, how it ended last, when it is due. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import ABSENT, READING, ago, coarse, count, date_time, due, plural, size
from tui_crawler.console.glyphs import state_mark
from tui_crawler.console.present.exits import exit_cell, meaning, status_cell
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column
from tui_crawler.console.uptake import Uptake, held_word
from tui_crawler.domain.page_filter import PageState, TextTerm, state_of
from tui_crawler.domain.recovery import NextTry, next_try_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.page_book import PageBook
    from tui_crawler.console.present.line import Line
    from tui_crawler.domain.page_filter import PageFilter
    from tui_crawler.domain.page_view import PageView
    from tui_crawler.domain.view import OriginView

URL_COLUMNS: tuple[Column, ...] = (
    Column("state", "STATE", 9, 6),
    Column("exit", "EXIT", 29, 0, min_width=14),
    Column("status", "ST", 3, 4, "right"),
    Column("url", "URL", None, 0, min_width=38),
    Column("title", "TITLE", None, 5, min_width=16),
    Column("depth", "DEPTH", 5, 7, "right"),
    Column("tries", "TRIES", 5, 3, "right"),
    Column("due", "DUE", 7, 2, "right", 5),
    Column("last", "LAST", 7, 1, "right", 4),
    Column("size", "SIZE", 6, 8, "right"),
)
FILTER_HINT = "part of a URL · ~fuzzy · exit: status: depth: origin: state: re: · ! inverts"


def origin_holds(page: PageView, now: int, origin: OriginView | None, uptake: Uptake, run_id: int = 0) -> str:
    """What keeps `origin` (None: not known) from asking for a page that is to be asked, in a word, as among the failed
    pages; empty: nothing does. `run_id` is the newest run (0: there is none)."""
    when = next_try_of(page, now, run_id, over=uptake is not Uptake.this_run)
    if when not in {NextTry.now, NextTry.later, NextTry.next_run}:
        return ""
    return held_word(origin, Uptake.next_run if when is NextTry.next_run else uptake)


def url_row(page: PageView, now: int, held: str = "") -> Row:
    """A page as a row at `now` (epoch ms); its key is the page id. `held`: why its origin does not ask for it."""
    state = state_of(page)
    mark = state_mark(state.value)
    left = page.attempts_remaining
    return Row(
        page.page_id,
        (
            Styled(mark.label, mark.role),
            _exit(page, state),
            status_cell(page.last_http_status),
            page.url.removeprefix("https://"),
            Styled(page.title, "muted"),
            Styled(str(page.depth), "muted"),
            (str(page.attempts), Styled(f"/{page.attempts + left}", "muted")),
            _due(page, state, now, held),
            _last(page, now),
            Styled(size(page.size) if page.size else ABSENT, "muted"),
        ),
    )


def _exit(page: PageView, state: PageState) -> Styled:
    """How it ended last; before that, what else is to be said of it."""
    if page.last_exit_code:
        return exit_cell(page.last_exit_code)
    mark = state_mark(state.value)
    return Styled("not tried", "faint") if state is PageState.queued else Styled(mark.label, mark.role)


def _last(page: PageView, now: int) -> Styled:
    if not page.last_crawled_at:
        return Styled("never", "faint", short="-")
    since = now - page.last_crawled_at
    return Styled(ago(since), "muted", short=coarse(max(0, since)))


def _due(page: PageView, state: PageState, now: int, held: str) -> Styled:
    if held:
        return Styled(held, "warning", short="held")
    if not page.due_at or state in {PageState.skipped, PageState.stashed, PageState.claimed}:
        return Styled(ABSENT, "faint")
    waits = page.due_at > now
    return Styled(due(page.due_at - now), "muted" if waits else "ok")


def url_lines(page: PageView | None, now: int, zone: tzinfo, held: str = "") -> list[Line]:
    """The page under the cursor: whole URL and title; how it ended; when it is due, what keeps its origin from asking
    for it (`held`), and where it belongs."""
    if page is None:
        return []
    mark = state_mark(state_of(page).value)
    words = page.message or meaning(page.last_exit_code)
    place = f"depth {page.depth}, nice {page.nice}, job {page.job}"
    when = f"last {date_time(page.last_crawled_at, zone)}" if page.last_crawled_at else "never crawled"
    then = f", due {date_time(page.due_at, zone)}" if page.due_at else ""
    return [
        (Styled(page.url, "strong"), Styled(f"  {page.title}" if page.title else "", "muted")),
        (
            Styled(f"{mark.label}  ", mark.role),
            *((exit_cell(page.last_exit_code), Styled(f"  {words}")) if page.last_exit_code else ("not tried yet",)),
        ),
        (
            Styled(f"{when}{then}", "muted"),
            Styled(f" · origin {held}" if held else "", "warning"),
            Styled(f" · {place}", "muted"),
        ),
    ]


def position_words(book: PageBook, index: int) -> str:
    """Which row of all the one at `index` of those held is, and how far was looked."""
    held, total = len(book.pages), book.total
    looked = "" if total is not None else f" · looked at {count(book.looked_at)} of {plural(book.known, 'row')}"
    if not held:
        return "none" + looked
    if book.first is None:
        where = f"row {count(held - index)} from the end" if book.at_last else f"{plural(held, 'row')} held"
        return where + looked
    row = f"row {'' if book.exact else '~'}{count(book.first + index)}"
    if total is None:
        return f"{row} of {count(book.first - 1 + held)} so far{looked}"
    return f"{row} of {count(total)}"


def nothing_words(book: PageBook) -> str:
    """What stands where there are no rows."""
    if not book.started:
        return READING
    if not book.narrowing.terms:
        return "No URLs yet.\n\na  add seeds      ?  keys"
    if book.at_first and book.at_last:
        states = _state_words(book.narrowing)
        hint = f"Nothing has this in its URL or title · {states} narrows by state." if states else ""
        return f"{hint or 'No URL passes the filter.'}\n\n/  change it      ctrl+l  show all"
    return f"Nothing among {count(book.looked_at)} of {plural(book.known, 'row')} yet; looking on.\n\nctrl+l  stops it"


def _state_words(narrowing: PageFilter) -> str:
    """The terms that were meant where plain words are states; empty where none is."""
    states = {state.value for state in PageState}
    words = [term.text.lower() for term in narrowing.terms if isinstance(term, TextTerm) and not term.inverted]
    return " ".join(f"state:{word}" for word in dict.fromkeys(words) if word in states)
