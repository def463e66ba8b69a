"""Reports on pages: windows of them, one URL whole with its links and its path from a seed, failures in groups."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

from tui_crawler.domain.exit_code import ExitCode, retries_in_run
from tui_crawler.domain.page import PageStatus
from tui_crawler.domain.url import InvalidUrl, normalise, url_hash
from tui_crawler.domain.view import FailureGroup, LinkView, PageDetail, PageView, RedirectView
from tui_crawler.storage.attempt_reports import attempts_of_url, requests_of
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.origin_reports import exit_name
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.transaction import Row
from tui_crawler.storage.views import PAGE_DUE_AT

GROUPINGS = ("exit_code", "origin", "pattern", "http_status", "message")
_LINKS = 500
_ATTEMPTS = 100
_PATH = 200  # pages on a path from a seed; discovery paths are far shorter
_DIGITS = re.compile(r"\d+")

_PAGES = f"""SELECT p.id, u.href, o.origin, j.name, p.status, p.attempts, p.attempts_remaining, p.nice, p.depth,
    p.not_before, p.last_exit_code, p.last_http_status, p.last_crawled_at, COALESCE({PAGE_DUE_AT}, 0),
    COALESCE(d.etag, ''), COALESCE(d.last_modified, ''), COALESCE(d.content_type, ''), COALESCE(d.size, 0),
    COALESCE(d.title, ''), COALESCE(d.sha256, ''), COALESCE(a.message, ''),
    COALESCE(d.validation_type, ''), d.valid
FROM page p JOIN url u ON u.id = p.url_id JOIN origin o ON o.id = p.origin_id JOIN job j ON j.id = p.job_id
    LEFT JOIN document d ON d.page_id = p.id LEFT JOIN attempt a ON a.id = p.last_attempt_id"""

_LINK = """SELECT f.href, t.href, l.kind, l.nofollow, l.text, l.first_seen_at
FROM link l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id JOIN url t ON t.id = l.to_url_id"""

_REDIRECTS = """SELECT f.href, t.href, r.to_fragment, r.permanent, r.source, r.seen_at
FROM redirect r JOIN page p ON p.id = r.page_id JOIN url f ON f.id = p.url_id JOIN url t ON t.id = r.to_url_id
WHERE r.page_id = ? OR r.to_url_id = ? LIMIT ?"""

_FAILED = """SELECT p.last_exit_code, p.last_http_status, o.origin, u.href, COALESCE(a.message, ''), p.last_crawled_at
FROM page p JOIN url u ON u.id = p.url_id JOIN origin o ON o.id = p.origin_id
    LEFT JOIN attempt a ON a.id = p.last_attempt_id
WHERE p.failed = 1 ORDER BY p.id LIMIT ?"""

_OF_ORIGIN = "p.origin_id = (SELECT id FROM origin WHERE origin = ?)"

_PLACE = """SELECT COUNT(*) FROM page
WHERE origin_id = ? AND todo_order > 0 AND todo_order <= (SELECT todo_order FROM page WHERE id = ?)"""


@dataclass(slots=True)
class _Group:
    count: int = 0
    recoverable: int = 0
    sample_url: str = ""
    first_at: int = 0
    last_at: int = 0


def pages(reader: Reader, origin: str, after_id: int, limit: int) -> tuple[PageView, ...]:
    """Pages by age: of one origin, or of all for an empty name; those after `after_id`."""
    of_origin = f"{_OF_ORIGIN} AND " if origin else ""
    values = (origin, after_id, limit) if origin else (after_id, limit)
    rows = reader.all(f"{_PAGES} WHERE {of_origin}p.id > ? ORDER BY p.id LIMIT ?", values)
    return tuple(_page_view(row) for row in rows)


def failure_pages(reader: Reader, exit_code: str, origin: str, after_id: int, limit: int) -> tuple[PageView, ...]:
    """Failed pages by age; `exit_code` (a name) and `origin` narrow them where they are not empty."""
    conditions: list[str] = ["p.failed = 1"]
    values: list[Any] = []
    if exit_code:
        conditions.append("p.last_exit_code = ?")
        values.append(_code_of(exit_code))
    if origin:
        conditions.append(_OF_ORIGIN)
        values.append(origin)
    where = " AND ".join([*conditions, "p.id > ?"])
    rows = reader.all(f"{_PAGES} WHERE {where} ORDER BY p.id LIMIT ?", (*values, after_id, limit))
    return tuple(_page_view(row) for row in rows)


def failure_groups(reader: Reader, by: Sequence[str], limit: int) -> tuple[FailureGroup, ...]:
    """Failed pages in groups, the largest first. `by` names what makes a group, out of GROUPINGS; `limit` bounds how
    many pages are looked at. Raises ValueError for an unknown name."""
    unknown = [name for name in by if name not in GROUPINGS]
    if unknown:
        raise ValueError(f"cannot group by {', '.join(unknown)} (known: {', '.join(GROUPINGS)})")
    groups: dict[tuple[str, ...], _Group] = {}
    for row in reader.stream(_FAILED, (limit,)):
        code, http_status, _, url, _, at = row
        group = groups.setdefault(_key(row, by), _Group(sample_url=url, first_at=at))
        group.count += 1
        group.recoverable += _is_recoverable(code, http_status)
        group.first_at = min(group.first_at, at)
        group.last_at = max(group.last_at, at)
    largest = sorted(groups.items(), key=lambda item: (-item[1].count, item[0]))
    return tuple(
        FailureGroup(
            tuple(zip(by, key, strict=True)),
            group.count,
            group.recoverable,
            group.sample_url,
            group.first_at,
            group.last_at,
        )
        for key, group in largest
    )


def page_detail(reader: Reader, url: str) -> PageDetail | None:
    """One URL, whole; None when it is no page. The URL may be given as it is written, normalised or not."""
    found = _find_page(reader, url)
    if found is None:
        return None
    page_id, url_id = found
    row = reader.all(f"{_PAGES} WHERE p.id = ?", (page_id,))[0]
    attempts = attempts_of_url(reader, url_id, _ATTEMPTS)
    requests = tuple(request for attempt in attempts for request in requests_of(reader, attempt.attempt_id))
    return PageDetail(
        page=_page_view(row),
        attempts=attempts,
        requests=requests,
        inlinks=_inlinks(reader, url_id),
        outlinks=_outlinks(reader, page_id),
        redirects=tuple(
            RedirectView(redirect[0], redirect[1], redirect[2], bool(redirect[3]), redirect[4], redirect[5])
            for redirect in reader.all(_REDIRECTS, (page_id, url_id, _LINKS))
        ),
        path=_path(reader, page_id),
        inlink_count=reader.all("SELECT COUNT(*) FROM link WHERE to_url_id = ?", (url_id,))[0][0],
        outlink_count=reader.all("SELECT COUNT(*) FROM link WHERE from_page_id = ?", (page_id,))[0][0],
    )


def links(reader: Reader, url: str) -> tuple[tuple[LinkView, ...], tuple[LinkView, ...]]:
    """Inlinks and outlinks of any URL that is known, be it a page or not; up to 500 of each."""
    url_id = next((found[0] for found in _known(reader, "SELECT id FROM url WHERE hash = ?", url)), None)
    if url_id is None:
        return (), ()
    page = _find_page(reader, url)
    return _inlinks(reader, url_id), _outlinks(reader, page[0]) if page else ()


def queue_position(reader: Reader, url: str) -> int | None:
    """The place of a page on its todo list, 1 for the next one; None when it is on none."""
    found = _find_page(reader, url)
    if found is None:
        return None
    origin_id = reader.all("SELECT origin_id FROM page WHERE id = ?", (found[0],))[0][0]
    place: int = reader.all(_PLACE, (origin_id, found[0]))[0][0]
    return place or None


def body(reader: Reader, url: str) -> bytes | None:
    """The stored body of a page, None when there is none."""
    found = _find_page(reader, url)
    if found is None:
        return None
    row = reader.one(
        "SELECT b.zstd, b.size FROM document d JOIN body b ON b.sha256 = d.sha256 WHERE d.page_id = ?", found[:1]
    )
    return None if row is None else zstandard.ZstdDecompressor().decompress(row[0], max_output_size=row[1])


def robots_text(reader: Reader, origin: str) -> bytes | None:
    """The stored robots.txt of an origin, None when none was fetched."""
    row = reader.one(
        "SELECT t.body FROM robots_text t JOIN origin o ON o.id = t.origin_id WHERE o.origin = ?", (origin,)
    )
    return None if row is None else zstandard.ZstdDecompressor().decompress(row[0])


def _find_page(reader: Reader, url: str) -> tuple[int, int] | None:
    """Ids of the page and its URL; of several jobs the oldest page."""
    rows = _known(reader, "SELECT id, url_id FROM page WHERE url_hash = ? ORDER BY id LIMIT 1", url)
    return next(((row[0], row[1]) for row in rows), None)


def _known(reader: Reader, text: str, url: str) -> list[Row]:
    """What a query by hash finds for a URL as it is written, else for its normalised form."""
    rows = reader.all(text, (url_hash(clean(url)),))
    parsed = normalise(url)
    if rows or isinstance(parsed, InvalidUrl):
        return rows
    return reader.all(text, (parsed.hash,))


def _inlinks(reader: Reader, url_id: int) -> tuple[LinkView, ...]:
    rows = reader.all(f"{_LINK} WHERE l.to_url_id = ? LIMIT ?", (url_id, _LINKS))
    return tuple(_link_view(row) for row in rows)


def _outlinks(reader: Reader, page_id: int) -> tuple[LinkView, ...]:
    rows = reader.all(f"{_LINK} WHERE l.from_page_id = ? LIMIT ?", (page_id, _LINKS))
    return tuple(_link_view(row) for row in rows)


def _path(reader: Reader, page_id: int) -> tuple[LinkView, ...]:
    """The shortest discovery path from a seed, first step first. A page is never passed twice."""
    steps: list[LinkView] = []
    seen = {page_id}
    while len(steps) < _PATH:
        row = reader.one("SELECT found_on_page_id, url_id FROM page WHERE id = ?", (page_id,))
        if row is None or row[0] is None or row[0] in seen:
            break
        steps.append(_step(reader, row[0], row[1]))
        page_id = row[0]
        seen.add(page_id)
    return tuple(reversed(steps))


def _step(reader: Reader, parent: int, url_id: int) -> LinkView:
    """How one page led to the next: by a link, by a redirect, or by a link that is gone since."""
    link = reader.one(f"{_LINK} WHERE l.from_page_id = ? AND l.to_url_id = ? ORDER BY l.kind", (parent, url_id))
    if link is not None:
        return _link_view(link)
    redirect = reader.one("SELECT source, seen_at FROM redirect WHERE page_id = ? AND to_url_id = ?", (parent, url_id))
    names = reader.one(
        "SELECT f.href, t.href FROM page p JOIN url f ON f.id = p.url_id JOIN url t ON t.id = ? WHERE p.id = ?",
        (url_id, parent),
    )
    from_url, to_url = names or ("", "")
    kind, at = redirect or ("gone", 0)
    return LinkView(from_url, to_url, kind, nofollow=False, text="", first_seen_at=at)


def _link_view(row: Row) -> LinkView:
    return LinkView(row[0], row[1], row[2], bool(row[3]), row[4], row[5])


def _page_view(row: Row) -> PageView:
    status = PageStatus(row[4]).name
    recoverable = _is_recoverable(row[10], row[11])
    values = [*row[:4], status, *row[5:10], exit_name(row[10]), *row[11:21], recoverable, *row[21:]]
    return PageView(*values)


def _is_recoverable(code: int | None, http_status: int | None) -> bool:
    """Whether the page failed for a reason that passes: those that are retried within a run."""
    try:
        return code is not None and retries_in_run(ExitCode(code), http_status)
    except ValueError:
        return False


def _key(row: Row, by: Sequence[str]) -> tuple[str, ...]:
    code, http_status, origin, url, message, _ = row
    values: dict[str, Any] = {
        "exit_code": exit_name(code),
        "origin": origin,
        "pattern": _pattern(url, origin),
        "http_status": "" if http_status is None else str(http_status),
        "message": message,
    }
    return tuple(values[name] for name in by)


def _pattern(url: str, origin: str) -> str:
    """The path of a URL with every run of digits as {n}."""
    path = url.removeprefix(origin).partition("?")[0]
    return _DIGITS.sub("{n}", path)


def _code_of(name: str) -> int | None:
    return ExitCode[name].value if name in ExitCode.__members__ else None
