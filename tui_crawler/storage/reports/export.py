"""What is exported: every row of a view, every stored body, while others write.

Rows are read in windows of the key of their table (page or attempt id), each by a read of its own that is over before
its rows are handed on. One read for all of them would show one moment, but the write-ahead log could not be cut back
until the slowest reader of an export is done with it, and a pipe may be read for hours. What this costs: a page is as
it was when its window was read. What stays: the end is fixed at the start, so that a live run is not run after; a row
that is there all the time comes exactly once; the rows of one page (links, redirects, data) are of one moment; and of
attempts, which are only ever appended, it is exactly what was there at the start.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program, and of columns that are checked

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain

import zstandard

from tui_crawler.domain.attempt import Headers
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.failure import StorageFailure
from tui_crawler.storage.driver import Row
from tui_crawler.storage.reader import From, Reader, RowMapper, SubjectReports, among, headers_of
from tui_crawler.storage.views import VIEWS

WINDOW_ROWS = 2_000
_WINDOW_CHARS = 4 << 20  # of text in a window; the rows of the page that crosses it still come


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which rows are wanted: of one origin (empty: of all), of one exit code (empty: any), from a time on (epoch ms).

    The time is when the attempt began, when the page was last crawled, or when the link or redirect was seen.
    """

    origin: str = ""
    exit_code: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class StoredBody:
    """A body and the exchange that brought it. Times are epoch ms, `body` is decoded, `sha256` is of it, in hex.

    `http_status` is None when the exchange is not in the log; then what follows it is empty. Without `sha256` the body
    of that answer was not kept.
    """

    url: str
    content_type: str
    stored_at: int
    sha256: str
    body: bytes
    http_status: int | None = None
    method: str = ""
    sent_at: int = 0
    remote_address: str = ""
    request_headers: Headers = ()
    response_headers: Headers = ()
    page_id: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where rows come from. `head` gives what they are found by: #key, #origin, #since and perhaps #exit, #failed."""

    table: str
    key: str
    head: str
    select: str
    condition: str = ""
    has_exit_code: bool = False

    def text(self, columns: Sequence[str], conditions: Sequence[str]) -> str:
        """The rows with the key first, in the order of the key."""
        chosen = ", ".join(f'"{name}"' for name in ("#key", *columns))
        # a view's own rows, with what only its tables know beside them
        rows = f"SELECT {self.head}, {self.select.removeprefix('SELECT ')}"
        where = " AND ".join(('"#key" > ?', '"#key" <= ?', *filter(None, (self.condition,)), *conditions))
        return f'SELECT {chosen} FROM ({rows}) r WHERE {where} ORDER BY "#key"'


_PAGE = (
    'p.id AS "#key", p.origin_id AS "#origin", p.last_exit_code AS "#exit", p.last_crawled_at AS "#since", '
    "p.failed AS \"#failed\", COALESCE((SELECT m.message FROM attempt m WHERE m.id = p.last_attempt_id), '') AS message"
)
_ATTEMPT = 'a.id AS "#key", a.origin_id AS "#origin", a.exit_code AS "#exit", a.started_at AS "#since"'
_DATA = """SELECT u.href AS url, o.origin, b.name, b.type, b.place, b.value, d.stored_at AS crawled_at
FROM data_block b JOIN page p ON p.id = b.page_id JOIN url u ON u.id = p.url_id JOIN origin o ON o.id = p.origin_id
    LEFT JOIN document d ON d.page_id = p.id"""
# `+` keeps the index of the origin out: the table is walked along its key, whatever else is asked for
_OF_PAGE = '{0} AS "#key", +p.origin_id AS "#origin", {1} AS "#since"'

_SOURCES = {
    "pages": _Source("page", "id", _PAGE, VIEWS["v_page"], has_exit_code=True),
    "failures": _Source("page", "id", _PAGE, VIEWS["v_page"], '"#failed" = 1', has_exit_code=True),
    "attempts": _Source("attempt", "id", _ATTEMPT, VIEWS["v_attempt"], has_exit_code=True),
    "links": _Source("link", "from_page_id", _OF_PAGE.format("l.from_page_id", "l.first_seen_at"), VIEWS["v_link"]),
    "redirects": _Source("redirect", "page_id", _OF_PAGE.format("r.page_id", "r.seen_at"), VIEWS["v_redirect"]),
    "data": _Source("data_block", "page_id", _OF_PAGE.format("b.page_id", "d.stored_at"), _DATA),
}
_VIEW_OF = {
    "pages": "v_page",
    "failures": "v_page",
    "attempts": "v_attempt",
    "links": "v_link",
    "redirects": "v_redirect",
}
_DATA_COLUMNS = ("url", "origin", "name", "type", "place", "value", "crawled_at")

_GAVE = (ExitCode.file_ingested, ExitCode.file_of_unknown_type, ExitCode.not_canonical)
_EXCHANGE = """r.http_status, COALESCE(r.method, '') AS method, COALESCE(r.sent_at, 0) AS sent_at,
    COALESCE(r.remote_address, '') AS remote_address, r.request_headers, r.response_headers"""
_BODY = f"""SELECT d.page_id, u.href AS url, d.content_type, d.stored_at, d.sha256, b.size, b.zstd, {_EXCHANGE}
FROM document d CROSS JOIN page p ON p.id = d.page_id CROSS JOIN body b ON b.sha256 = d.sha256
    CROSS JOIN url u ON u.id = p.url_id
    LEFT JOIN attempt a ON a.id = (SELECT MAX(c.id) FROM attempt c WHERE c.url_id = p.url_id AND c.page_id = p.id
        AND c.ended_at <= d.stored_at AND c.requests > 0 AND {among("c.exit_code", _GAVE)})
    LEFT JOIN request r ON r.id = (SELECT MAX(q.id) FROM request q WHERE q.attempt_id = a.id
        AND q.http_status IS NOT NULL)
WHERE d.page_id > ? AND d.page_id <= ?{{conditions}} ORDER BY d.page_id LIMIT 1"""


_ANSWER = f"""SELECT p.id AS page_id, u.href AS url, '' AS content_type, a.ended_at AS stored_at, '' AS sha256,
    0 AS size, NULL AS zstd, {_EXCHANGE}
FROM page p CROSS JOIN url u ON u.id = p.url_id CROSS JOIN attempt a ON a.id = p.last_attempt_id
    CROSS JOIN request r ON r.id = (SELECT MAX(q.id) FROM request q WHERE q.attempt_id = a.id
        AND q.http_status IS NOT NULL)
WHERE p.id > ? AND p.id <= ? AND p.last_http_status >= 300 AND p.last_exit_code NOT IN
    ({ExitCode.file_did_not_change.value}, {ExitCode.file_of_unknown_type.value}){{conditions}}
ORDER BY p.id LIMIT 1"""


def _conditions(narrowing: Narrowing, origin: str, exit_code: str, since: str) -> tuple[list[str], list[int | str]]:
    conditions: list[str] = []
    values: list[int | str] = []
    if narrowing.origin:
        conditions.append(f"{origin} = (SELECT id FROM origin WHERE origin = ?)")
        values.append(narrowing.origin)
    if narrowing.exit_code:
        conditions.append(f"{exit_code} = ?")
        values.append(ExitCode[narrowing.exit_code].value)
    if narrowing.since is not None:
        conditions.append(f"{since} >= ?")
        values.append(narrowing.since)
    return conditions, values


def _windows(reader: Reader, text: str, values: Sequence[int | str], last_key: str) -> Iterator[list[Row]]:
    after, last = 0, reader.all(last_key)[0][0] or 0
    while after < last:
        with closing(reader.stream(text, (after, last, *values))) as rows:
            window, reached = _window(rows)
        if window:
            yield window
        after = last if reached is None else reached


def _window(rows: Iterator[Row]) -> tuple[list[Row], int | None]:
    """Rows without their key until there are enough of them, and the last key; None: there are no more."""
    window: list[Row] = []
    chars = 0
    key = None
    for row in rows:
        if key != row[0]:
            if key is not None and (len(window) >= WINDOW_ROWS or chars >= _WINDOW_CHARS):
                return window, key
            key = row[0]
        window.append(row[1:])
        chars += sum(len(cell) for cell in row if isinstance(cell, str))
    return window, None


def _bodies(
    reader: Reader, text: str, last_key: str, narrowed: tuple[list[str], list[int | str]]
) -> Iterator[StoredBody]:
    conditions, values = narrowed
    text = text.format(conditions="".join(f" AND {condition}" for condition in conditions))
    after, last = 0, reader.all(last_key)[0][0] or 0
    while found := reader.record(_STORED, text, (after, last, *values)):
        after = found.page_id
        yield found


def _unpack(packed: bytes, size: int, sha256: str, url: str) -> bytes:
    if not sha256:
        return b""
    try:
        body = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    except zstandard.ZstdError as error:
        raise StorageFailure(f"the stored body of {url} is damaged: {error}") from error
    if hashlib.sha256(body).hexdigest() != sha256:
        raise StorageFailure(f"the stored body of {url} is damaged: it is not the one that was stored")
    return body


_STORED = RowMapper(
    StoredBody, body=From("zstd size sha256 url", _unpack), request_headers=headers_of, response_headers=headers_of
)


class ExportReports(SubjectReports):
    """Rows and bodies, all of them."""

    def export_columns(self, what: str) -> tuple[str, ...]:
        """The columns of `pages`, `failures`, `attempts`, `links`, `redirects` or `data`. Raises ValueError for
        others."""
        if what == "data":
            return _DATA_COLUMNS
        if what not in _VIEW_OF:
            raise ValueError(f"there is no export of {what!r}")
        names = self._reader.columns(_VIEW_OF[what])
        return (*names, "message") if what == "failures" else names

    def export_windows(self, what: str, columns: Sequence[str], narrowing: Narrowing) -> Iterator[list[Row]]:
        """All rows with these columns (none named: all), in lists of some thousand; nothing is held open between two.

        Raises ValueError for a name that does not exist and for an exit code where there is none.
        """
        known = self.export_columns(what)
        unknown = [name for name in columns if name not in known]
        if unknown:
            raise ValueError(f"{what} have no column {', '.join(unknown)}")
        source = _SOURCES[what]
        if narrowing.exit_code and not source.has_exit_code:
            raise ValueError(f"{what} have no exit code")
        conditions, values = _conditions(narrowing, '"#origin"', '"#exit"', '"#since"')
        last = f"SELECT MAX({source.key}) FROM {source.table}"
        return _windows(self._reader, source.text(columns or known, conditions), values, last)

    def export_bodies(self, narrowing: Narrowing) -> Iterator[StoredBody]:
        """All stored bodies by the age of their page, one at a time, then the answers without one of pages that now
        give an error or a redirect. Raises ValueError when an exit code is asked for."""
        if narrowing.exit_code:
            raise ValueError("bodies have no exit code")
        stored = _conditions(narrowing, "p.origin_id", "", "d.stored_at")
        answered = _conditions(narrowing, "+p.origin_id", "", "p.last_crawled_at")
        return chain(
            _bodies(self._reader, _BODY, "SELECT MAX(page_id) FROM document", stored),
            _bodies(self._reader, _ANSWER, "SELECT MAX(id) FROM page", answered),
        )
