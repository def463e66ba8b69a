"""Failed pages: the groups they fall into, and the pages of one group. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tui_crawler.console.format import ago, compact, count, due
from tui_crawler.console.present.exits import exit_cell, meaning, status_cell
from tui_crawler.console.present.line import Line
from tui_crawler.console.present.urls import bare_host, host_of, path_of
from tui_crawler.console.table_cells import Cell, Row, Styled
from tui_crawler.console.table_columns import Column
from tui_crawler.domain.view import FailureGroup, PageView

GROUPINGS: tuple[tuple[str, ...], ...] = (("exit_code",), ("origin",), ("exit_code", "origin"))
"""What `c` goes through."""

_ORIGIN_COLUMN = Column("origin", "ORIGIN", 20, 1, min_width=16)
_RECENT_COLUMN = Column("recent", "5 MIN", 5, 3, "right")
_EXIT_COLUMN = Column("exit", "EXIT", 25, 2, min_width=14)
_PAGE_COLUMNS: tuple[Column, ...] = (
    Column("url", "URL", None, 0, min_width=18),
    Column("status", "ST", 3, 6, "right"),
    Column("tries", "TRIES", 5, 4, "right"),
    Column("last", "LAST", 8, 5, "right"),
    Column("retry", "RETRY", 11, 3, min_width=8),
    Column("message", "MESSAGE", None, 7, min_width=20),
    Column("title", "TITLE", None, 8, min_width=20),
)


def page_columns(by: Sequence[str]) -> tuple[Column, ...]:
    """The columns of the pages of one group: what the group has in common is left out."""
    origin = () if "origin" in by else (_ORIGIN_COLUMN,)
    exits = () if "exit_code" in by else (_EXIT_COLUMN,)
    return (*exits, *origin, *_PAGE_COLUMNS)


def counts_recent(by: Sequence[str]) -> bool:
    """Whether a grouping shows the attempts of the last five minutes: counts are kept of exit codes alone."""
    return tuple(by) == ("exit_code",)


def group_columns(by: Sequence[str]) -> tuple[Column, ...]:
    """The columns of the groups for a grouping."""
    titles = {"exit_code": Column("exit_code", "EXIT", None, 0, min_width=12), "origin": Column("origin", "ORIGIN")}
    return (
        *(titles[name] for name in by),
        Column("count", "PAGES", 7, 0, "right", min_width=5),
        Column("recoverable", "RECOV", 6, 1, "right", min_width=4),
        *((_RECENT_COLUMN,) if counts_recent(by) else ()),
        Column("last", "LAST", 8, 2, "right"),
    )


def grouping_words(by: Sequence[str]) -> str:
    """A grouping in words."""
    return " × ".join(name.replace("_", " ") for name in by)


def group_name(group: FailureGroup) -> str:
    """A group as one line; raw text."""
    return " · ".join(host_of(value) if name == "origin" else value for name, value in group.key)


def group_row(group: FailureGroup, now: int, recent: Mapping[str, int] | None = None) -> Row:
    """A group as a row; its key is the group's key. `recent`: attempts of the last five minutes by exit code."""
    cells: list[Cell] = []
    for name, value in group.key:
        if name == "exit_code":
            cells.append(exit_cell(value))
        else:
            cells.append(Styled(host_of(value), "strong", short=bare_host(value)))
    cells += [
        Styled(count(group.count), "strong"),
        Styled(count(group.recoverable), "ok" if group.recoverable else "faint"),
    ]
    if recent is not None:
        lately = recent.get(dict(group.key).get("exit_code", ""), 0)
        cells.append(Styled(count(lately), "" if lately else "faint", short=compact(lately)))
    cells.append(Styled(ago(now - group.last_at), "muted"))
    return Row(group.key, tuple(cells))


def page_row(page: PageView, now: int, by: Sequence[str]) -> Row:
    """A failed page as a row of `page_columns(by)`; its key is the page id."""
    left = page.attempts_remaining
    wait = page.not_before - now
    if left <= 0:
        retry = Styled("no try left", "faint", short="no try")
    else:
        retry = Styled(due(wait) if wait > 0 else "has tries", "waiting" if wait > 0 else "ok", short="tries")
    cells: list[Cell] = []
    if "exit_code" not in by:
        cells.append(exit_cell(page.last_exit_code))
    if "origin" not in by:
        cells.append(Styled(host_of(page.origin), "muted", short=bare_host(page.origin)))
    cells += [
        path_of(page.url, page.origin),
        status_cell(page.last_http_status),
        (str(page.attempts), Styled(f"/{page.attempts + left}", "muted")),
        Styled(ago(now - page.last_crawled_at), "muted"),
        retry,
        page.message,
        Styled(page.title, "muted"),
    ]
    return Row(page.page_id, tuple(cells))


def page_lines(page: PageView | None) -> list[Line]:
    """The page under the cursor: whole URL, title, message, and what its exit code means."""
    if page is None:
        return []
    words = meaning(page.last_exit_code)
    message = f"{page.message}  " if page.message else ""
    return [
        (Styled(page.url, "strong"), Styled(f"  {page.title}" if page.title else "", "muted")),
        (exit_cell(page.last_exit_code), Styled(f"  {message}", ""), Styled(words, "muted")),
    ]
