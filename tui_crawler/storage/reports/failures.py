"""Reports on failed pages: in groups, counted on demand up to a bound, and the pages of one group in windows."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, Self

from tui_crawler.domain.records.exit_code import ExitCode, exit_name
from tui_crawler.domain.records.page_view import FailureCount, FailureGroup
from tui_crawler.domain.rules.page_filter import PageWindow
from tui_crawler.storage.db.reader import EVERY, Reader, SubjectReports
from tui_crawler.storage.db.views import PAGE_PAST
from tui_crawler.storage.reports.pages import OF_ORIGIN, pages_of_ids, recovers

SLUG, QUERY = "{slug}", "?*"
_VARYING = re.compile(
    r"(?P<octet>%[0-9a-f]{2})"
    r"|(?P<id>(?<![0-9a-z])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,})(?![0-9a-z]))"
    r"|(?P<number>[0-9]+)",
    re.IGNORECASE,
)
"""What differs between URLs of one pattern; an escaped octet is none of it."""
_WORD = re.compile(r"(?:[a-z_-]|%[0-9a-f]{2})+", re.IGNORECASE)
_WORD_OF_TITLE = re.compile(r"(?<![^-_])[a-z]{2,}(?![^-_])", re.IGNORECASE | re.ASCII)

_DIGITS = str.maketrans("123456789", "000000000")
"""Which digits they are makes no difference to a pattern, unless they are part of an escaped octet."""
_LONGEST_KEPT = 256


def path_pattern(url: str, origin: str) -> str:
    """The path of a URL with every number as {n}, every UUID or digest as {id}, a title at its end as {slug}. A plain
    word at its end that takes a query says so: such a page (`/search?*`) is no title."""
    path, mark, _ = url.removeprefix(origin).partition("?")
    alike = path if "%" in path else path.translate(_DIGITS)
    return _pattern(alike, bool(mark)) if len(path) < _LONGEST_KEPT else _pattern.__wrapped__(path, bool(mark))


@lru_cache(8_192)
def _pattern(path: str, mark: bool) -> str:
    folder, stem, rest = _parts(path)
    if len(_WORD_OF_TITLE.findall(stem)) > 1:  # a title in words (`old-photographs`), no `page-2` and no id
        path = f"{folder}{SLUG}{rest}"
    elif mark and _WORD.fullmatch(stem):
        path += QUERY
    return _VARYING.sub(lambda found: found["octet"] or ("{id}" if found["id"] else "{n}"), path)


def titles_beside(pattern: str) -> str:
    """The pattern of the titles in the folder of a path that ends in one word: `/stops/{slug}` for `/stops/quay`.
    Empty for all others."""
    folder, stem, rest = _parts(pattern)
    return f"{folder}{SLUG}{rest}" if not pattern.endswith(QUERY) and _WORD.fullmatch(stem) else ""


def is_of_pattern(url: str, origin: str, pattern: str) -> bool:
    """Whether a URL is of a pattern. One that ends in {slug} has the pages named by one word, too."""
    own = path_pattern(url, origin)
    return own == pattern or (SLUG in pattern and titles_beside(own) == pattern)


def _parts(path: str) -> tuple[str, str, str]:
    end = "/" if path.endswith("/") else ""
    folder, slash, name = path.removesuffix(end).rpartition("/")
    stem, dot, ending = name.partition(".")
    return folder + slash, stem, dot + ending + end


GROUPINGS = ("exit_code", "origin", "pattern", "http_status", "message")
TREND_SPANS, SPAN_MS = 12, 300_000
LOOKED_AT = 100_000
"""How many failed pages one window looks at where no index knows the group."""
MANY_NAMES = 10
"""So many pages named by one word in one folder are told as titles, though none beside them has a title."""

_STEP = 5_000
_AFTER_ALL = 2**63 - 1
_AFTER, _BEFORE = "p.id > ? ORDER BY p.id", "p.id < ? ORDER BY p.id DESC"
_COLUMNS = """p.id, p.last_exit_code, p.last_http_status, o.origin, u.href, COALESCE(a.message, ''), p.last_crawled_at,
    p.status, p.attempts_remaining
FROM page p JOIN url u ON u.id = p.url_id JOIN origin o ON o.id = p.origin_id
    LEFT JOIN attempt a ON a.id = p.last_attempt_id"""
_FACTS = "p.last_exit_code, p.last_http_status, p.origin_id, p.status, p.attempts_remaining"
_COUNTED = """SELECT g.first_id, g.last_exit_code, g.last_http_status, o.origin, u.href, g.message, g.first_at,
    g.status, g.attempts_remaining, g.last_at, g.span, g.recent, g.number
FROM (SELECT {facts}, MIN(p.id) AS first_id, {message} AS message, MIN(p.last_crawled_at) AS first_at,
    MAX(p.last_crawled_at) AS last_at, p.last_crawled_at / {span_ms} AS span,
    COUNT(*) FILTER (WHERE p.last_crawled_at > ?) AS recent, COUNT(*) AS number
    FROM (SELECT p.id, {facts}, p.last_crawled_at, p.last_attempt_id FROM page p WHERE {where}
        ORDER BY p.id LIMIT ?) p {joined} GROUP BY {alike}) g
JOIN page f ON f.id = g.first_id JOIN url u ON u.id = f.url_id JOIN origin o ON o.id = g.origin_id
ORDER BY g.first_id"""
"""Failed pages, those alike counted together: columns as in `_COLUMNS`, of the first of them."""
_ALONE = """SELECT *, last_crawled_at, last_crawled_at / {span_ms}, CASE WHEN last_crawled_at > ? THEN 1 ELSE 0 END, 1
FROM (SELECT {columns} WHERE {where} ORDER BY p.id LIMIT ?) f"""
"""The same columns, each page alone."""

GroupKey = Sequence[tuple[str, str]]
"""What makes a group: names out of GROUPINGS, and values; a name that comes several times has any of these values."""


class _Failed(NamedTuple):
    """A failed page in the columns of `_COLUMNS`; or the first of some that are alike, with what was counted of all."""

    page_id: int
    exit_code: int | None
    http_status: int | None
    origin: str
    url: str
    message: str
    at: int
    status: int
    attempts_remaining: int
    last_at: int = 0
    span: int = 0
    recent: int = 0
    number: int = 1


@dataclass(slots=True)
class _Group:
    sample_url: str
    first_at: int
    count: int = 0
    recoverable: int = 0
    recent: int = 0
    last_at: int = 0
    found: int = 0
    trend: list[int] = field(default_factory=lambda: [0] * TREND_SPANS)
    origins: Counter[str] = field(default_factory=Counter)

    def add(self, row: _Failed, span: int) -> None:
        """Add pages that are alike; `span` is the number of the present five minutes."""
        number = row.number
        self.count += number
        self.recoverable += number * recovers(row.status, row.attempts_remaining, row.exit_code, row.http_status)
        self.recent += row.recent
        self.first_at, self.last_at = min(self.first_at, row.at), max(self.last_at, row.last_at)
        self.origins[row.origin] += number
        if 0 <= span - row.span < TREND_SPANS:
            self.trend[row.span - span - 1] += number

    def view(self, key: tuple[tuple[str, str], ...]) -> FailureGroup:
        more = {"trend": tuple(self.trend), "origins": tuple(self.origins.most_common())}
        return FailureGroup(key, **{one.name: getattr(self, one.name) for one in fields(self)} | more)

    def join(self, other: Self) -> None:
        for name in ("count", "recoverable", "recent", "found"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.first_at, self.last_at = min(self.first_at, other.first_at), max(self.last_at, other.last_at)
        self.trend = [one + more for one, more in zip(self.trend, other.trend, strict=True)]
        self.origins.update(other.origins)


def _counted(names: Container[str], sought: Sequence[str], where: str) -> str:
    if sought or "pattern" in names:
        return _ALONE.format(columns=_COLUMNS, span_ms=SPAN_MS, where=where)
    says = "message" in names
    return _COUNTED.format(
        facts=_FACTS,
        span_ms=SPAN_MS,
        where=where,
        alike=f"{_FACTS}, span" + (", message" if says else ""),
        message="COALESCE(a.message, '')" if says else "''",
        joined="LEFT JOIN attempt a ON a.id = p.last_attempt_id" if says else "",
    )


def _gather_titles(groups: dict[tuple[str, ...], _Group], place: int) -> None:
    """Puts pages named by one word to those named by a title in the same folder, and to each other where they are many.
    `place` is where the pattern stands in a key."""
    beside: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for key in groups:
        titles = titles_beside(key[place])
        if titles:
            beside.setdefault((*key[:place], titles, *key[place + 1 :]), []).append(key)
    for titles_key, keys in beside.items():
        if titles_key in groups or len(keys) >= MANY_NAMES:
            first, *others = [groups.pop(key) for key in (titles_key, *keys) if key in groups]
            for other in others:
                first.join(other)
            groups[titles_key] = first


def _looked_through(
    reader: Reader, key: GroupKey, after_id: int, size: int, most: int, *, newest_first: bool = False
) -> Iterator[_Failed | None]:
    """Failed pages by age, in steps, at most `most`; None at the end of all. What an index knows is passed over."""
    judged = _judged(key)
    where, values = _way([one for one in key if one[0] not in judged])
    text = f"SELECT {_COLUMNS} WHERE {where} AND {_BEFORE if newest_first else _AFTER} LIMIT ?"
    after_id = after_id or (_AFTER_ALL if newest_first else 0)
    step = _STEP if judged else size
    looked_at = 0
    while looked_at < most:
        rows = reader.all(text, (*values, after_id, step))
        yield from (_Failed(*row) for row in rows)
        if len(rows) < step:
            yield None
            return
        looked_at += len(rows)
        after_id = rows[-1][0]


def _way(key: GroupKey) -> tuple[str, list[Any]]:
    conditions, values = ["p.failed = 1"], list[Any]()
    for name, condition in _INDEXED.items():
        wanted: list[Any] = [value for one, value in key if one == name]
        if name == "exit_code":
            numbers = {code.name: code.value for code in ExitCode}
            wanted = [int(value) if value.isdecimal() else numbers.get(value) for value in wanted]
        if wanted:
            conditions.append(condition if len(wanted) == 1 else _ANY_OF[name].format(", ".join("?" * len(wanted))))
            values += wanted
    return " AND ".join(conditions), values


def _judged(key: GroupKey) -> Mapping[str, Sequence[str]]:
    """What no index serves and is judged here: names and values. One index serves an origin or an exit code, not both:
    by the two of them a query might pass over any number of pages."""
    served = {"origin"} if "origin" in dict(key) else _INDEXED.keys()
    return {name: [value for one, value in key if one == name] for name, _ in key if name not in served}


def _belongs(row: _Failed, judged: Mapping[str, Sequence[str]]) -> bool:
    return all(
        any(is_of_pattern(row.url, row.origin, value) for value in values)
        if name == "pattern"
        else _MAKERS[name](row) in values
        for name, values in judged.items()
    )


def _holds(row: _Failed, sought: Sequence[str]) -> bool:
    """Whether URL or message have each of these texts, whatever the case of its letters."""
    if not sought:
        return True
    said = f"{row.url}\n{row.message}".casefold()
    return all(text in said for text in sought)


_INDEXED = {"exit_code": "p.last_exit_code = ?", "origin": OF_ORIGIN}
_ANY_OF = {
    "exit_code": "p.last_exit_code IN ({})",
    "origin": "p.origin_id IN (SELECT id FROM origin WHERE origin IN ({}))",
}
_MAKERS: Mapping[str, Callable[[_Failed], str]] = {
    "exit_code": lambda row: exit_name(row.exit_code),
    "origin": attrgetter("origin"),
    "pattern": lambda row: path_pattern(row.url, row.origin),
    "http_status": lambda row: "" if row.http_status is None else str(row.http_status),
    "message": attrgetter("message"),
}


class FailureReports(SubjectReports):
    """Failed pages in groups, and those of one group."""

    def failure_count(
        self,
        by: Sequence[str] = ("exit_code",),
        limit: int | None = 200_000,
        now: int | None = None,
        sought: Sequence[str] = (),
        within: GroupKey = (),
    ) -> FailureCount:
        """Failed pages in groups, the largest first. `by` names what makes a group, out of GROUPINGS; `limit` bounds
        how many pages are looked at (None: all); `now` (epoch ms) ends the trend; the pages of each group that hold all
        texts `sought` (casefolded) in URL or message are counted in addition. Only pages `within` a group are counted;
        it is part of the key of each group. Raises ValueError for an unknown name."""
        names = {*by, *dict(within)}
        unknown = sorted(names - {*GROUPINGS})
        if unknown:
            raise ValueError(f"cannot group by {', '.join(unknown)} (known: {', '.join(GROUPINGS)})")
        makers, judged = [_MAKERS[name] for name in by], _judged(within)
        where, values = _way([one for one in within if one[0] not in judged])
        groups: dict[tuple[str, ...], _Group] = {}
        at, looked_at = self._now() if now is None else now, 0
        most = EVERY if limit is None else limit
        alike = self._reader.stream(_counted(names, sought, where), (at - SPAN_MS, *values, most))
        for row in map(_Failed._make, alike):
            looked_at += row.number
            if judged and not _belongs(row, judged):
                continue
            key = tuple(make(row) for make in makers)
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(row.url, row.at)
            group.add(row, at // SPAN_MS)
            group.found += bool(sought) and _holds(row, sought)
        if "pattern" in by:
            _gather_titles(groups, by.index("pattern"))
        largest = sorted(groups.items(), key=lambda item: (-item[1].count, item[0]))
        failed = looked_at
        if not within or looked_at >= most:
            failed = self._reader.number("SELECT COALESCE(SUM(failed), 0) FROM origin")
        rest = tuple(one for one in within if one[0] not in by)
        found = tuple(group.view((*zip(by, key, strict=True), *rest)) for key, group in largest)
        return FailureCount(found, looked_at, failed)

    def page_past(self, page_id: int) -> dict[str, int | None]:
        """What `v_page` has of a page and a `PageView` has not."""
        (row,) = self._reader.all(f"SELECT {PAGE_PAST} FROM page p WHERE p.id = ?", (page_id,))
        return dict(zip(("first_seen", "inlinks", "ok_status"), row, strict=True))

    def failure_window(
        self,
        key: GroupKey = (),
        after_id: int = 0,
        limit: int = 200,
        newest_first: bool = False,
        sought: Sequence[str] = (),
    ) -> PageWindow:
        """Pages of one group by age, at most `limit`: those after a page id, or before it when `newest_first` (0: from
        the beginning), that hold all texts `sought` (casefolded) in URL or message. One window looks at LOOKED_AT pages
        at most; it says how far it came."""
        ids, judged, looked_at, last_id, ended = list[int](), _judged(key), 0, after_id, False
        size = _STEP if sought else limit + 1
        for row in _looked_through(self._reader, key, after_id, size, LOOKED_AT, newest_first=newest_first):
            if row is None:
                ended = True
                break
            looked_at += 1
            if _belongs(row, judged) and _holds(row, sought):
                ids.append(row.page_id)
            if len(ids) > limit:
                break
            last_id = row.page_id
        more = len(ids) > limit
        shown = ids[:limit]
        pages = pages_of_ids(self._reader, shown)
        return PageWindow(pages, looked_at, looked_at, shown[-1] if more else last_id, ended and not more)
