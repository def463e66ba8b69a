"""Failed pages: the groups they fall into, and the pages of one group. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tui_crawler.console.logs.attempts import exit_cell, status_cell
from tui_crawler.console.urls.cells import host_cell, host_of, path_of
from tui_crawler.console.urls.rows import TRIES, PageLine, next_at, of_page
from tui_crawler.domain.crawl.recovery import NextTry
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.status_words import outcome_words
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Kind, Relation
from tui_crawler.text.format import READING, coarse, compact, count, plural, seconds
from tui_crawler.text.sparkline import sparkline

if TYPE_CHECKING:
    from tui_crawler.console.failures.queries import CountedFailures, GroupKey, GroupWindow
    from tui_crawler.console.operator.retry_start import NextRequest
    from tui_crawler.console.rules.pattern import Cluster
    from tui_crawler.domain.records.page_view import FailureGroup, PageView, Referrer, Referrers

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
PAGE_HINT = "of the rows loaded: text  ~fuzzy  re:pattern  =whole  exit: status: origin:  ! inverts"
"""What can be typed for the filter of the groups, and of the pages of one."""

_NONE = {"http_status": "no status", "message": "no message"}
_TREND = 12


def _key(name: str, title: str, of: Callable[[str], Cell], least: int, kind: Kind = "") -> Column[FailureGroup, str]:
    return Column(
        name, title, shown.by_value(of), None, 0, min_width=least, kind=kind, value=lambda group: dict(group.key)[name]
    )


def _text(name: str) -> Callable[[str], Cell]:
    return lambda value: Styled(value, "strong") if value else Styled(_NONE.get(name, "none"), "faint")


def _status(value: str) -> Cell:
    return status_cell(int(value)) if value.isdecimal() else _text("http_status")(value)


_KEYS = {
    "exit_code": ("exit code", _key("exit_code", "EXIT", exit_cell, 14)),
    "origin": ("origin", _key("origin", "ORIGIN", partial(host_cell, role="strong"), 12, "place")),
    "http_status": ("HTTP status", _key("http_status", "STATUS", _status, 9)),
    "pattern": ("path pattern", _key("pattern", "PATH PATTERN", _text("pattern"), 14, "place")),
    "message": ("message", _key("message", "MESSAGE", _text("message"), 16)),
}
"""What pages are grouped by, in words, and the column that shows it."""


def _recovers(recoverable: int, group: FailureGroup, _present: Present) -> Cell:
    some = "" if recoverable == group.count else f"{compact(recoverable)} "
    return Styled(f"{some}yes", "ok") if recoverable else Styled("no", "faint")


_GROUPS: tuple[Column[FailureGroup, Any], ...] = (
    Column("count", "TOTAL", shown.number("strong"), 7, 0, "right", min_width=5),
    Column("recent", "5 MIN", shown.number("", "faint"), 5, 3, "right"),
    Column("recoverable", "RETRYABLE", _recovers, 9, 2, "right", min_width=6, short="RETRY"),
    Column("origins", "ORIGINS", shown.number("muted"), 7, 5, "right", 4, "ORIG",
           value=lambda group: len(group.origins), opens="its origins"),
    Column("trend", "TREND 1h", lambda _, group, __: Styled(sparkline(group.trend, _TREND), "accent"), _TREND, 4,
           value=lambda group: sum(group.trend)),
    Column("last", "LAST", shown.since(), 8, 6, "right", value=shown.negated("last_at")),
)  # fmt: skip


def groups_by(by: Sequence[str], common: Sequence[str] = ()) -> Relation[FailureGroup]:
    """Return groups of failed pages as a relation; `common`: what all of them have in common."""
    rest = (column for column in _GROUPS if "origin" not in (*by, *common) or column.id != "origins")
    columns = (*(_KEYS[name][1] for name in by), *rest)
    return Relation(columns, key=lambda group: group.key, nothing="no failed pages")


_ENDED = frozenset({NextTry.used_up, NextTry.final})
_PAGES: tuple[Column[PageLine, Any], ...] = (
    Column("exit", "EXIT", shown.by_value(exit_cell), 15, 5, min_width=14, value=of_page("last_exit_code")),
    Column("origin", "ORIGIN", shown.by_value(partial(host_cell, role="muted")), 20, 2, min_width=14, kind="place",
           value=of_page("origin")),
    Column("url", "URL", shown.plain(), None, 0, min_width=18, kind="place",
           value=lambda line: path_of(line.page.url, line.page.origin)),
    Column("status", "ST", shown.by_value(status_cell), 3, 7, "right", value=of_page("last_http_status")),
    replace(TRIES, priority=1),
    Column("took", "TOOK", shown.words(seconds, "muted", "faint"), 6, 4, "right", value=of_page("took_ms")),
    Column("retry", "RETRY", lambda _, line, at: retry_cell(line.page, at.now, line.outlook), 17, 3, min_width=9,
           value=lambda line: next_at(line) if line.outlook.when not in _ENDED else None),
    Column("last", "LAST", shown.since(), 8, 6, "right", value=shown.negated("page.last_crawled_at")),
    Column("message", "MESSAGE", shown.plain(), None, 8, min_width=20, value=of_page("message")),
    Column("title", "TITLE", shown.plain("muted"), None, 9, min_width=20, value=of_page("title")),
)  # fmt: skip
_IN_COMMON = {"exit": "exit_code", "origin": "origin", "status": "http_status", "message": "message"}
"""What all pages of a group have alike, by the column that shows it."""


def pages_by(by: Sequence[str]) -> Relation[PageLine]:
    """Return the pages of one group as a relation: what the group has in common is left out."""
    kept = tuple(column for column in _PAGES if _IN_COMMON.get(column.id) not in by)
    return Relation(kept, lambda line: line.page.page_id, "no pages", lambda line: line.page)


@dataclass(frozen=True, slots=True)
class ReferrerLine:
    """A page that names a page of an origin, and its number in the list."""

    number: int
    referrer: Referrer
    origin: str


REFERRERS: Relation[ReferrerLine] = Relation(
    key=lambda line: line.number,
    nothing="no page that was crawled names it",
    source=lambda line: line.referrer,
    columns=(
        Column("kind", "KIND", shown.plain("muted"), 8, 1, min_width=4,
               value=lambda line: line.referrer.kind.replace("_", " ")),
        Column("url", "LINKED FROM", shown.plain(), None, 0, min_width=18, kind="place",
               value=lambda line: path_of(line.referrer.url, line.origin).removeprefix("https://")),
        Column("text", "TEXT", shown.plain(), None, 2, min_width=12,
               value=lambda line: " → ".join((line.referrer.text, *line.referrer.chain))),
    ),
)  # fmt: skip


def grouping_words(by: Sequence[str]) -> str:
    return " × ".join(_KEYS[name][0] for name in by)


def key_words(key: GroupKey) -> str:
    """What makes a group as one line; raw text."""
    shown = {"origin": host_of, "exit_code": outcome_words}
    words = []
    for name in dict(key):
        first, *others = [shown.get(name, str)(value) or _NONE.get(name, "none") for one, value in key if one == name]
        words.append(plural(len(others) + 1, name.replace("_", " ")) if others else first)
    return " · ".join(words)


def alike(within: GroupKey) -> tuple[str, ...]:
    """What all pages within a group have in common."""
    names = [name for name, _ in within]
    return tuple(name for name in names if names.count(name) == 1)


def next_grouping(within: GroupKey) -> tuple[str, ...]:
    """The first grouping in which the pages within a group differ."""
    return next((by for by in GROUPINGS if set(by).isdisjoint(alike(within))), GROUPINGS[0])


def counted_words(counted: CountedFailures) -> str:
    """How many pages were counted, and of how many if not all."""
    groups = counted.count.groups
    total, hope = sum(group.count for group in groups), sum(group.recoverable for group in groups)
    if counted.count.looked_at < counted.count.failed:
        return f"counted {count(total)} of {count(counted.count.failed)}, {count(hope)} retryable"
    return f"{plural(total, 'page')}, {count(hope)} retryable" if total else ""


_RETRY_ROLES: Mapping[NextTry, str] = {
    NextTry.now: "ok",
    NextTry.next_run: "muted",
    **dict.fromkeys((NextTry.later, NextTry.in_flight, NextTry.stashed), "waiting"),
    **dict.fromkeys((NextTry.used_up, NextTry.final, NextTry.skipped), "faint"),
}


def retry_cell(page: PageView, now: int, outlook: NextRequest) -> Styled:
    """When a failed page is asked again, `now` in epoch ms."""
    if outlook.held:
        return Styled(outlook.held, "warning", short="held")
    when = outlook.when
    words = f"in {coarse(page.not_before - now)}" if when is NextTry.later else when.value
    return Styled(words, _RETRY_ROLES[when], short="used up" if when is NextTry.used_up else "")


def referrers_title(page: PageView | None, found: Referrers | None) -> str:
    """How many name the page under the cursor."""
    if page is None or found is None:
        return "Linked from"
    return f"Linked from {count(len(found.first) + found.more)}" if found.first else "Linked from nowhere"


def place_words(keyset: GroupWindow, index: int, *, whole: bool) -> str:
    """Which page of its group the one at `index` of those held is; not `whole`: not all failed pages were counted."""
    held = len(keyset.rows)
    if not held:
        return "none" if keyset.whole else f"none among {count(keyset.looked_at)} failed pages yet, looking on"
    first = f"row {'' if keyset.exact else '~'}{count((keyset.first or 1) + index)}"
    if keyset.sought:
        among = "" if keyset.whole else " so far"
        return f"{first} of {count(held)}{among} with {' '.join(keyset.sought)}"
    return f"{first} of {count(keyset.total)}{'' if whole or keyset.at_last else '+'}"


def pages_nothing(keyset: GroupWindow | None) -> str:
    """What is shown where there are no pages; None: there is no group."""
    if keyset is None or keyset.whole:
        return "no pages"
    return "looking for its pages…" if keyset.started else READING


def cluster_words(cluster: Cluster | None, shown: int) -> str:
    """The pages that are alike, of so many that are shown; raw text, empty where none are."""
    return "" if cluster is None else f"cluster: {cluster.words} ({count(len(cluster.urls))} of {count(shown)})"
