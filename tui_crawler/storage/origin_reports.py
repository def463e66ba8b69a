"""Reports on origins beside the overview: todo, exit codes, refusals; the operator journal, the exclusion list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.domain.desk_view import ActionView
from tui_crawler.domain.page_view import ExitCountView, RefusedView, TodoView
from tui_crawler.storage.exit_keys import ALL_ORIGINS, MINUTE_MS, RECENT_MINUTES
from tui_crawler.storage.id_span import Span
from tui_crawler.storage.overview_reports import EXITS_OF_RUN, exit_name
from tui_crawler.storage.reader import Reader

if TYPE_CHECKING:
    from tui_crawler.domain.policy import Exclusion

_TODO = """SELECT u.href, p.depth, p.nice, p.attempts, p.attempts_remaining, p.not_before, p.seed,
    COALESCE(d.title, ''), COALESCE(fu.href, '')
FROM page p JOIN url u ON u.id = p.url_id LEFT JOIN document d ON d.page_id = p.id
    LEFT JOIN page f ON f.id = p.found_on_page_id LEFT JOIN url fu ON fu.id = f.url_id
WHERE p.origin_id = (SELECT id FROM origin WHERE origin = ?) AND p.todo_order > 0
ORDER BY p.todo_order LIMIT ?"""

_RECENT_EXITS = """SELECT exit_code, SUM(count) FROM exit_minute
WHERE origin_id = ? AND minute > ? GROUP BY exit_code"""

_ACTIONS = """SELECT id, at, who, action, target, "before", "after", undone, applied_at > 0, error, command
FROM operator_action"""


def todo(reader: Reader, origin: str, limit: int) -> tuple[TodoView, ...]:
    """The first pages of a todo list."""
    rows = ([*row[:6], bool(row[6]), *row[7:]] for row in reader.all(_TODO, (origin, limit)))
    return tuple(TodoView(*row) for row in rows)


def exit_counts(reader: Reader, origin: str, now: int) -> tuple[ExitCountView, ...]:
    """How often each exit code ended an attempt: of one origin, or of all for an empty name; most frequent first.

    `recent` counts the present minute and the four before it.
    """
    origin_id = ALL_ORIGINS
    if origin:
        found = reader.one("SELECT id FROM origin WHERE origin = ?", (origin,))
        if found is None:
            return ()
        origin_id = found[0]
    of_run: dict[int, int] = dict(reader.all(EXITS_OF_RUN, (origin_id,)))
    recent: dict[int, int] = dict(reader.all(_RECENT_EXITS, (origin_id, now // MINUTE_MS - RECENT_MINUTES)))
    codes = [*of_run, *(code for code in recent if code not in of_run)]
    return tuple(ExitCountView(exit_name(code), of_run.get(code, 0), recent.get(code, 0)) for code in codes)


def refused(reader: Reader, origin: str) -> tuple[RefusedView, ...]:
    """Links that filters refused, by reason: of one origin, or of all for an empty name."""
    text = "SELECT origin, reason, count, sample_url FROM v_refused"
    if origin:
        rows = reader.all(f"{text} WHERE origin = ? ORDER BY count DESC, reason", (origin,))
    else:
        rows = reader.all(f"{text} ORDER BY count DESC, origin, reason")
    return tuple(RefusedView(*row) for row in rows)


def actions(reader: Reader, span: Span) -> tuple[ActionView, ...]:
    """A stretch of the operator journal."""
    found = reader.all(f"{_ACTIONS}{span.ending('id')}", span.values)
    rows = ([*row[:7], bool(row[7]), bool(row[8]), *row[9:]] for row in found)
    return tuple(ActionView(*row) for row in rows)


def exclusions(reader: Reader) -> tuple[Exclusion, ...]:
    """The exclusion list as operators have extended it."""
    from tui_crawler.domain.policy import Exclusion  # noqa: PLC0415  large, and the first rows of a crawl need none of it

    rows = reader.all("SELECT kind, value, reason, who, source FROM exclusion ORDER BY id")
    return tuple(Exclusion(*row) for row in rows)
