"""Failed pages: the groups they fall into, and the pages of one group. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from tui_crawler.console.logs.attempts import exit_cell, exit_in_full, meaning, short_name, status_cell
from tui_crawler.console.table.cells import Cell, Row, Styled
from tui_crawler.console.table.columns import Column
from tui_crawler.console.urls.cells import bare_host, host_of, path_of
from tui_crawler.domain.recovery import NextTry
from tui_crawler.text.format import READING, ago, coarse, compact, count, plural, seconds
from tui_crawler.text.sparkline import sparkline

if TYPE_CHECKING:
    from tui_crawler.console.failures.queries import CountedFailures, GroupWindow
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.operator.retry_start import NextRequest
    from tui_crawler.console.panes.line import Line
    from tui_crawler.console.rules.pattern import Cluster
    from tui_crawler.domain.page_view import FailureGroup, PageView, Referrer, Referrers

GROUPINGS: tuple[tuple[str, ...], ...] = (
    ("exit_code",),
    ("origin",),
    ("exit_code", "origin"),
    ("http_status",),
    ("pattern",),
    ("message",),
)
"""What `c` goes through, and `C` lists."""

GROUP_HINT = "part of a group, or of a URL or message in it  ~fuzzy  re:pattern  =whole  exit: origin:  ! inverts"
PAGE_HINT = "of the rows held: text  ~fuzzy  re:pattern  =whole  exit: status: origin:  ! inverts"
"""What can be typed for the filter of the groups, and of the pages of one."""

_WORDS = {
    "exit_code": "exit code",
    "origin": "origin",
    "http_status": "HTTP status",
    "pattern": "path pattern",
    "message": "message",
}
_NONE = {"http_status": "no status", "message": "no message"}
_KEYS = {
    "exit_code": Column("exit_code", "EXIT", None, 0, min_width=14, kind="word"),
    "origin": Column("origin", "ORIGIN", None, 0, min_width=12, kind="place"),
    "http_status": Column("http_status", "STATUS", None, 0, min_width=9),
    "pattern": Column("pattern", "PATH PATTERN", None, 0, min_width=14, kind="place"),
    "message": Column("message", "MESSAGE", None, 0, min_width=16),
}
_TREND = 12
_ORIGIN_COLUMN = Column("origin", "ORIGIN", 20, 2, min_width=14, kind="place")
_EXIT_COLUMN = Column("exit", "EXIT", 15, 5, min_width=14, kind="word")
_STATUS_COLUMN = Column("status", "ST", 3, 7, "right")
_MESSAGE_COLUMN = Column("message", "MESSAGE", None, 8, min_width=20)
_URL_COLUMN = Column("url", "URL", None, 0, min_width=18, kind="place")
_PAGE_COLUMNS: tuple[Column, ...] = (
    Column("tries", "TRIES", 5, 1, "right"),
    Column("took", "TOOK", 6, 4, "right"),
    Column("retry", "RETRY", 14, 3, min_width=9),
    Column("last", "LAST", 8, 6, "right"),
)
REFERRER_COLUMNS: tuple[Column, ...] = (
    Column("kind", "KIND", 8, 1, min_width=4),
    Column("url", "LINKED FROM", None, 0, min_width=18, kind="place"),
    Column("text", "TEXT", None, 2, min_width=12),
)
_TITLE_COLUMN = Column("title", "TITLE", None, 9, min_width=20)


def page_columns(by: Sequence[str]) -> tuple[Column, ...]:
    """The columns of the pages of one group: what the group has in common is left out."""
    origin = () if "origin" in by else (_ORIGIN_COLUMN,)
    exits = () if "exit_code" in by else (_EXIT_COLUMN,)
    status = () if "http_status" in by else (_STATUS_COLUMN,)
    message = () if "message" in by else (_MESSAGE_COLUMN,)
    return (*exits, *origin, _URL_COLUMN, *status, *_PAGE_COLUMNS, *message, _TITLE_COLUMN)


def group_columns(by: Sequence[str]) -> tuple[Column, ...]:
    return (
        *(_KEYS[name] for name in by),
        Column("count", "TOTAL", 7, 0, "right", min_width=5),
        Column("recent", "5 MIN", 5, 3, "right"),
        Column("recoverable", "RECOVERS", 8, 2, "right", min_width=6, short="RECOV"),
        *(() if "origin" in by else (Column("origins", "ORIGINS", 7, 5, "right", 4, "ORIG"),)),
        Column("trend", "TREND 1h", _TREND, 4),
        Column("last", "LAST", 8, 6, "right"),
    )


def grouping_words(by: Sequence[str]) -> str:
    return " × ".join(_WORDS[name] for name in by)


def group_name(group: FailureGroup, *, short: bool = False) -> str:
    """A group as one line; raw text. `short`: exit codes by the words that stand in tables."""
    exits = short_name if short else str
    shown = {"origin": host_of, "exit_code": exits}
    return " · ".join(shown.get(name, str)(value) or _NONE.get(name, "none") for name, value in group.key)


def counted_words(counted: CountedFailures) -> str:
    """How many pages were counted, and of how many if not all."""
    groups = counted.count.groups
    total = sum(group.count for group in groups)
    hope = sum(group.recoverable for group in groups)
    if counted.count.looked_at < counted.count.failed:
        return f"counted {count(total)} of {count(counted.count.failed)}, {count(hope)} recoverable"
    return f"{plural(total, 'page')}, {count(hope)} recoverable" if total else ""


def counted_at(at: str, keys: KeyNames) -> str:
    """When it was counted, where that is not done again by itself; `at` is the time of day."""
    return f"as of {at} · {keys('failures.count')} counts again"


def group_row(group: FailureGroup, now: int) -> Row:
    """A group as a row; its key is the group's key."""
    cells: list[Cell] = []
    for name, value in group.key:
        match name:
            case "exit_code":
                cells.append(exit_cell(value))
            case "origin":
                cells.append(Styled(host_of(value), "strong", short=bare_host(value)))
            case "http_status" if value.isdecimal():
                cells.append(status_cell(int(value)))
            case _:
                cells.append(Styled(value, "strong") if value else Styled(_NONE.get(name, "none"), "faint"))
    some = "" if group.recoverable == group.count else f"{compact(group.recoverable)} "
    cells += [
        Styled(count(group.count), "strong", short=compact(group.count)),
        Styled(count(group.recent), "" if group.recent else "faint", short=compact(group.recent)),
        Styled(f"{some}yes", "ok") if group.recoverable else Styled("no", "faint"),
    ]
    if "origin" not in dict(group.key):
        cells.append(Styled(count(len(group.origins)), "muted", short=compact(len(group.origins))))
    cells += [Styled(sparkline(group.trend, _TREND), "accent"), Styled(ago(now - group.last_at), "muted")]
    return Row(group.key, tuple(cells))


def retry_cell(page: PageView, now: int, outlook: NextRequest) -> Styled:
    """When a failed page is asked again, `now` in epoch ms."""
    if outlook.held:
        return Styled(f"origin {outlook.held}", "warning", short=outlook.held)
    when = outlook.when
    match when:
        case NextTry.now:
            return Styled(when.value, "ok")
        case NextTry.later:
            return Styled(f"in {coarse(page.not_before - now)}", "waiting")
        case NextTry.in_flight | NextTry.stashed:
            return Styled(when.value, "waiting")
        case NextTry.next_run:
            return Styled(when.value, "muted")
        case NextTry.used_up:
            return Styled(when.value, "faint", short="used up")
        case NextTry.final | NextTry.skipped:
            return Styled(when.value, "faint")
        case _:
            assert_never(when)


def page_row(page: PageView, now: int, by: Sequence[str], outlook: NextRequest) -> Row:
    """A failed page as a row of `page_columns(by)`; its key is the page id."""
    left = page.attempts_remaining
    cells: list[Cell] = []
    if "exit_code" not in by:
        cells.append(exit_cell(page.last_exit_code))
    if "origin" not in by:
        cells.append(Styled(host_of(page.origin), "muted", short=bare_host(page.origin)))
    cells.append(path_of(page.url, page.origin))
    if "http_status" not in by:
        cells.append(status_cell(page.last_http_status))
    cells += [
        (str(page.attempts), Styled(f"/{page.attempts + left}", "muted")),
        Styled(seconds(page.took_ms), "muted" if page.took_ms is not None else "faint"),
        retry_cell(page, now, outlook),
        Styled(ago(now - page.last_crawled_at), "muted"),
    ]
    if "message" not in by:
        cells.append(page.message)
    return Row(page.page_id, (*cells, Styled(page.title, "muted")))


def referrer_row(number: int, referrer: Referrer, page: PageView) -> Row:
    """Who names a page as a row; its key is its number."""
    kind = Styled(referrer.kind.replace("_", " "), "muted")
    url, text = path_of(referrer.url, page.origin), " → ".join((referrer.text, *referrer.chain))
    return Row(number, (kind, url.removeprefix("https://"), text))


def referrers_title(page: PageView | None, found: Referrers | None) -> str:
    """How many name the page under the cursor."""
    if page is None or found is None:
        return "Linked from"
    return f"Linked from {count(len(found.first) + found.more)}" if found.first else "Linked from nowhere"


def page_lines(page: PageView | None) -> list[Line]:
    """The page under the cursor: whole URL, title, and its message; without one, what its exit code means."""
    if page is None:
        return []
    words = Styled(f"  {page.message}") if page.message else Styled(f"  {meaning(page.last_exit_code)}", "muted")
    return [
        (Styled(page.url, "strong"), Styled(f"  {page.title}" if page.title else "", "muted")),
        (exit_in_full(page.last_exit_code), words),
    ]


def place_words(keyset: GroupWindow, index: int, *, whole: bool) -> str:
    """Which page of its group the one at `index` of those held is; not `whole`: not all failed pages were counted."""
    held = len(keyset.rows)
    if not held:
        ended = keyset.at_first and keyset.at_last
        return "none" if ended else f"none among {count(keyset.looked_at)} failed pages yet, looking on"
    first = f"row {'' if keyset.exact else '~'}{count((keyset.first or 1) + index)}"
    if keyset.sought:
        among = "" if keyset.at_first and keyset.at_last else " so far"
        return f"{first} of {count(held)}{among} with {' '.join(keyset.sought)}"
    return f"{first} of {count(keyset.total)}{'' if whole or keyset.at_last else '+'}"


def pages_nothing(keyset: GroupWindow | None) -> str:
    """What stands where there are no pages; None: there is no group."""
    if keyset is None or (keyset.at_first and keyset.at_last):
        return "no pages"
    return "looking for its pages…" if keyset.started else READING


def cluster_words(cluster: Cluster | None, shown: int) -> str:
    """The pages that are alike, of so many that are shown; raw text, empty where none are."""
    if cluster is None:
        return ""
    return f"cluster: {cluster.words} ({count(len(cluster.urls))} of {count(shown)})"
