"""What is exported: every row of a view, every stored body, while others write.

Rows are read in windows of the key of their table (page or attempt id), each by a read of its own that is over before
its rows are handed on. One read for all of them would show one moment, but the write-ahead log could not be cut back
until the slowest reader of an export is done with it, and a pipe may be read for hours. What this costs: a page is as
it was when its window was read. What stays: the end is fixed at the start, so that a live run is not run after; a row
that is there all the time comes exactly once; the rows of one page (links, redirects, data) are of one moment; and of
attempts, which are only ever appended, it is exactly what was there at the start.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program, and of columns that are checked

import hashlib
import zlib
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from operator import itemgetter

import zstandard

from tui_crawler.domain.records.attempt import ERROR_BODY, Headers
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.db.reader import From, Reader, RowMapper, SubjectReports, headers_of
from tui_crawler.storage.db.views import VIEWS
from tui_crawler.storage.drivers.driver import Row

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
    """A body and the exchange that brought it. Times are epoch ms, `sha256` is of `body`, in hex.

    `http_status` is None when the exchange is not in the log; then what follows it is empty. `body` is decoded, unless
    `coded`: then it is as it came, with its `status_line`. `cut` says why it is not complete, in the words of
    WARC-Truncated. `facts` are what was read in it, by names that archives use.
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
    status_line: str = ""
    coded: bool = False
    cut: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    page_id: int = field(default=0, compare=False)
    position: int = field(default=0, compare=False)
    charset: str = ""


@dataclass(frozen=True, slots=True)
class _Source:
    """Where rows come from. `head` gives what they are found by: #key, #origin, #since and perhaps #exit, #failed."""

    table: str
    key: str
    head: str
    select: str
    condition: str = ""

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
    "pages": _Source("page", "id", _PAGE, VIEWS["v_page"]),
    "failures": _Source("page", "id", _PAGE, VIEWS["v_page"], '"#failed" = 1'),
    "attempts": _Source("attempt", "id", _ATTEMPT, VIEWS["v_attempt"]),
    "links": _Source("link", "from_page_id", _OF_PAGE.format("l.from_page_id", "l.first_seen_at"), VIEWS["v_link"]),
    "redirects": _Source("redirect", "page_id", _OF_PAGE.format("r.page_id", "r.seen_at"), VIEWS["v_redirect"]),
    "documents": _Source("document", "page_id", _OF_PAGE.format("d.page_id", "d.stored_at"), VIEWS["v_document"]),
    "data": _Source("data_block", "page_id", _OF_PAGE.format("b.page_id", "d.stored_at"), _DATA),
}

_READ = f"{ExitCode.file_ingested.value}, {ExitCode.file_of_unknown_type.value}"
_BROUGHT = f"""c.page_id = d.page_id AND c.ended_at <= d.stored_at AND c.requests > 0
    AND c.exit_code IN ({_READ}, {ExitCode.not_canonical.value})"""
"""Attempts that may have brought a document: the last one did. Its canonical may have been decided later."""
_FORMER = f"""SELECT f.sha256 FROM run n CROSS JOIN former_page f ON f.run_id = n.id AND f.origin_id = a.origin_id
        AND f.page_id = a.page_id
    WHERE n.id > a.run_id AND n.keeps_former = 1 AND f.sha256 <> '' AND a.exit_code IN ({_READ})
        AND NOT EXISTS (SELECT 1 FROM attempt c WHERE c.url_id = a.url_id AND c.page_id = a.page_id AND c.id > a.id
            AND c.run_id < f.run_id AND c.exit_code IN ({_READ}))
    ORDER BY n.id LIMIT 1"""
"""The body that an attempt has brought and a later run has replaced."""
_NEWER_ROBOTS = f"""SELECT 1 FROM attempt c WHERE c.origin_id = a.origin_id AND c.id > a.id AND c.kind = 'robots'
    AND c.exit_code = {ExitCode.file_ingested.value}"""
_VIA = """SELECT v.href FROM page p JOIN page f ON f.id = p.found_on_page_id JOIN url v ON v.id = f.url_id
    WHERE p.id = d.page_id"""
_CAPTURE = f"""SELECT q.id AS position, u.href AS url, COALESCE(d.content_type, '') AS content_type,
    a.ended_at AS stored_at, COALESCE(b.sha256, '') AS sha256, COALESCE(b.size, 0) AS size,
    COALESCE(b.zstd, t.body) AS zstd, COALESCE(e.value, '') AS sent, q.http_status, COALESCE(q.method, '') AS method,
    COALESCE(q.sent_at, 0) AS sent_at, COALESCE(q.remote_address, '') AS remote_address, q.request_headers,
    q.response_headers, COALESCE(d.page_id, 0) AS page_id, COALESCE(d.title, '') AS title,
    COALESCE(d.charset, '') AS charset, ({_VIA}) AS via
FROM request q CROSS JOIN attempt a ON a.id = q.attempt_id CROSS JOIN url u ON u.id = q.url_id
    LEFT JOIN document d ON d.page_id = a.page_id AND a.id = (SELECT MAX(c.id) FROM attempt c
        WHERE c.url_id = a.url_id AND {_BROUGHT})
    LEFT JOIN body b ON q.http_status < 300 AND b.sha256 = COALESCE(d.sha256, ({_FORMER}))
    LEFT JOIN robots_text t ON a.kind = 'robots' AND q.http_status < 300 AND t.origin_id = a.origin_id
        AND NOT EXISTS ({_NEWER_ROBOTS})
    LEFT JOIN attempt_result e ON e.attempt_id = a.id AND e.type = '{ERROR_BODY}' AND q.id = (SELECT MAX(r.id)
        FROM request r WHERE r.attempt_id = a.id AND r.http_status IS NOT NULL)
WHERE q.id > ? AND q.id <= ? AND q.http_status IS NOT NULL AND q.method <> 'HEAD'
    AND (q.http_status >= 300 OR b.sha256 IS NOT NULL OR t.body IS NOT NULL){{conditions}} ORDER BY q.id LIMIT 1"""
_BARE = f"""SELECT d.page_id AS position, u.href AS url, d.content_type, d.stored_at, d.sha256, b.size, b.zstd,
    '' AS sent, '' AS via, d.title, d.charset
FROM document d CROSS JOIN page p ON p.id = d.page_id CROSS JOIN body b ON b.sha256 = d.sha256
    CROSS JOIN url u ON u.id = p.url_id
WHERE d.page_id > ? AND d.page_id <= ? AND NOT EXISTS (SELECT 1 FROM attempt c CROSS JOIN request q
    ON q.attempt_id = c.id AND q.http_status < 300 WHERE c.url_id = p.url_id AND {_BROUGHT}){{conditions}}
ORDER BY d.page_id LIMIT 1"""
_LINKS = """SELECT u.href, l.kind FROM link l JOIN url u ON u.id = l.to_url_id WHERE l.from_page_id = ?
ORDER BY l.kind, l.to_url_id"""


def _conditions(narrowing: Narrowing, origin: str, exit_code: str, since: str) -> tuple[list[str], list[int | str]]:
    code = ExitCode[narrowing.exit_code].value if narrowing.exit_code else None
    asked: tuple[tuple[str, int | str | None], ...] = (
        (f"{origin} = (SELECT id FROM origin WHERE origin = ?)", narrowing.origin or None),
        (f"{exit_code} = ?", code),
        (f"{since} >= ?", narrowing.since),
    )
    chosen = [(condition, value) for condition, value in asked if value is not None]
    return [condition for condition, _ in chosen], [value for _, value in chosen]


def _windows(reader: Reader, text: str, values: Sequence[int | str], last_key: str) -> Iterator[list[Row]]:
    """Rows without their key, in lists that end with the last row of a key once there are enough of them."""
    after, last = 0, reader.all(last_key)[0][0] or 0
    while after < last:
        window, chars = list[Row](), 0
        with closing(reader.stream(text, (after, last, *values))) as rows:
            for key, of_key in groupby(rows, itemgetter(0)):
                for row in of_key:
                    window.append(row[1:])
                    chars += sum(len(cell) for cell in row if isinstance(cell, str))
                after = key
                if len(window) >= WINDOW_ROWS or chars >= _WINDOW_CHARS:
                    break
            else:
                after = last
        if window:
            yield window


def _bodies(
    reader: Reader, text: str, last_key: str, narrowed: tuple[list[str], list[int | str]]
) -> Iterator[StoredBody]:
    conditions, values = narrowed
    text = text.format(conditions="".join(f" AND {condition}" for condition in conditions))
    after, last = 0, reader.all(last_key)[0][0] or 0
    while found := reader.record(_STORED, text, (after, last, *values)):
        after = found.position
        links = reader.all(_LINKS, (found.page_id,)) if found.page_id else []
        yield replace(found, facts=(*found.facts, *(("outlink", f"{href} {kind}") for href, kind in links)))


def _unpack(packed: bytes | None, size: int, sha256: str, url: str, sent: str) -> bytes:
    """The stored body: of a document (its SHA-256 is known), of robots.txt, or what an error was sent with."""
    if packed is None:
        return zlib.decompress(b64decode(sent)) if sent else b""
    try:
        body = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    except zstandard.ZstdError as error:
        raise StorageFailure(f"the stored body of {url} is damaged: {error}") from error
    if sha256 and hashlib.sha256(body).hexdigest() != sha256:
        raise StorageFailure(f"the stored body of {url} is damaged: it is not the one that was stored")
    return body


_STORED = RowMapper(
    StoredBody,
    body=From("zstd size sha256 url sent", _unpack),
    cut=From("zstd sent", lambda packed, sent: "" if packed or sent else "unspecified"),
    facts=From("via title", lambda *said: tuple(one for one in zip(("via", "title"), said, strict=True) if one[1])),
    request_headers=headers_of,
    response_headers=headers_of,
)


class ExportReports(SubjectReports):
    """Rows and bodies, all of them."""

    def export_columns(self, what: str) -> tuple[str, ...]:
        """The columns of `pages`, `failures`, `attempts`, `links`, `redirects`, `documents` or `data`, also where the
        views are those of an older program. Raises ValueError for others."""
        if what not in _SOURCES:
            raise ValueError(f"there is no export of {what!r}")
        names = self._reader.columns(f"({_SOURCES[what].select}) v")
        return (*names, "message") if what == "failures" else names

    def export_windows(self, what: str, columns: Sequence[str], narrowing: Narrowing) -> Iterator[list[Row]]:
        """All rows with these columns (none named: all), in lists of some thousand; nothing is held open between two.

        Raises ValueError for a name that does not exist and for an exit code where there is none.
        """
        known = self.export_columns(what)
        if unknown := [name for name in columns if name not in known]:
            raise ValueError(f"{what} have no column {', '.join(unknown)}")
        source = _SOURCES[what]
        if narrowing.exit_code and '"#exit"' not in source.head:
            raise ValueError(f"{what} have no exit code")
        conditions, values = _conditions(narrowing, '"#origin"', '"#exit"', '"#since"')
        last = f"SELECT MAX({source.key}) FROM {source.table}"
        return _windows(self._reader, source.text(columns or known, conditions), values, last)

    def export_bodies(self, narrowing: Narrowing) -> Iterator[StoredBody]:
        """All answers that are stored, one at a time in the order of their requests: bodies of documents, of what they
        replaced and of robots.txt, errors, redirects, and that nothing has changed (304). Then bodies whose request is
        not in the log. Raises ValueError when an exit code is asked for."""
        if narrowing.exit_code:
            raise ValueError("bodies have no exit code")
        asked = _conditions(narrowing, "+a.origin_id", "", "a.ended_at")
        bare = _conditions(narrowing, "p.origin_id", "", "d.stored_at")
        return chain(
            _bodies(self._reader, _CAPTURE, "SELECT MAX(id) FROM request", asked),
            _bodies(self._reader, _BARE, "SELECT MAX(page_id) FROM document", bare),
        )
