"""Reports on links: who names a URL, what a page names, and the path of pages that led from a seed to one."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from collections.abc import Iterator

from tui_crawler.domain.page_view import LinkEnd, LinkView
from tui_crawler.domain.standing import Referral
from tui_crawler.storage.overview_reports import exit_name
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.transaction import Row

WINDOW = 500
_PATH = 200  # pages on a path from a seed; discovery paths are far shorter

_LINK = """SELECT f.href, t.href, l.kind, l.nofollow, l.text, l.first_seen_at, l.from_page_id, l.to_url_id
FROM link l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id JOIN url t ON t.id = l.to_url_id"""

_INLINKS = f"""{_LINK} WHERE l.to_url_id = ? AND (l.from_page_id, l.kind) > (?, ?)
ORDER BY l.from_page_id, l.kind LIMIT ?"""

_OUTLINKS = f"""{_LINK} WHERE l.from_page_id = ? AND (l.kind, l.to_url_id) > (?, ?)
ORDER BY l.kind, l.to_url_id LIMIT ?"""

_OF_PAGE = "FROM page q LEFT JOIN document d ON d.page_id = q.id WHERE q.url_hash = t.hash ORDER BY q.id LIMIT 1"

_INWARD = """SELECT f.href, t.href, l.kind, l.nofollow, l.text, l.first_seen_at, l.from_page_id, l.kind,
    COALESCE(e.title, ''), p.last_exit_code
FROM link l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id JOIN url t ON t.id = l.to_url_id
    LEFT JOIN document e ON e.page_id = p.id
WHERE l.to_url_id = ? AND (l.from_page_id, l.kind) > (?, ?) ORDER BY l.from_page_id, l.kind LIMIT ?"""

_OUTWARD = f"""SELECT f.href, t.href, l.kind, l.nofollow, l.text, l.first_seen_at, l.to_url_id, l.kind,
    COALESCE((SELECT d.title {_OF_PAGE}), ''), (SELECT q.last_exit_code {_OF_PAGE})
FROM link l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id JOIN url t ON t.id = l.to_url_id
WHERE l.from_page_id = ? AND (l.kind, l.to_url_id) > (?, ?) ORDER BY l.kind, l.to_url_id LIMIT ?"""

_NAMED_BY_LINK = """SELECT p.id, f.href, o.origin, l.kind, l.nofollow, 0, p.item_pattern, p.depth + 1,
    l.first_seen_at, 0
FROM link l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id JOIN origin o ON o.id = p.origin_id
WHERE l.to_url_id = ? ORDER BY l.from_page_id, l.kind LIMIT ?"""

_NAMED_BY_REDIRECT = """SELECT p.id, f.href, o.origin, r.source, 0, p.redirect_hops + 1, p.item_pattern, p.depth,
    r.seen_at, 1
FROM redirect r JOIN page p ON p.id = r.page_id JOIN url f ON f.id = p.url_id JOIN origin o ON o.id = p.origin_id
WHERE r.to_url_id = ? LIMIT ?"""


def inlinks(reader: Reader, url_id: int, limit: int | None = None) -> Iterator[LinkView]:
    """Links to a URL, be it a page or not, by the age of the page that holds them; read in windows by keyset.

    A page that several jobs have may hold the same link once for each.
    """
    return _windows(reader, _INLINKS, url_id, (0, ""), (6, 2), limit)


def outlinks(reader: Reader, page_id: int, limit: int | None = None) -> Iterator[LinkView]:
    """Links of a page, by kind; read in windows by keyset."""
    return _windows(reader, _OUTLINKS, page_id, ("", 0), (2, 7), limit)


def inward(reader: Reader, url_id: int, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]:
    """A window of the links to a URL with what is known of the pages that hold them; `after` (0, "") is the first."""
    return tuple(_link_end(row) for row in reader.all(_INWARD, (url_id, *after, limit)))


def outward(reader: Reader, page_id: int, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]:
    """A window of the links of a page, by kind, with what is known of where they lead."""
    return tuple(_link_end(row) for row in reader.all(_OUTWARD, (page_id, after[1], after[0], limit)))


def inlink_count(reader: Reader, url_id: int, most: int = -1) -> int:
    """How many links lead to a URL; counts no further than `most` (-1: all)."""
    text = "SELECT COUNT(*) FROM (SELECT 1 FROM link WHERE to_url_id = ? LIMIT ?)"
    count: int = reader.all(text, (url_id, most))[0][0]
    return count


def outlink_count(reader: Reader, page_id: int, most: int = -1) -> int:
    """How many links a page holds; counts no further than `most` (-1: all)."""
    text = "SELECT COUNT(*) FROM (SELECT 1 FROM link WHERE from_page_id = ? LIMIT ?)"
    count: int = reader.all(text, (page_id, most))[0][0]
    return count


def referrals(reader: Reader, url_id: int, limit: int) -> tuple[Referral, ...]:
    """Pages that name a URL by a link or a redirect, those nearest to a seed first; at most `limit` of each."""
    rows = reader.all(_NAMED_BY_LINK, (url_id, limit)) + reader.all(_NAMED_BY_REDIRECT, (url_id, limit))
    rows.sort(key=lambda row: (row[7], row[8], row[0]))
    return tuple(map(_referral, rows))


def _referral(row: Row) -> Referral:
    values = [*row[:4], bool(row[4]), *row[5:9], bool(row[9])]
    return Referral(*values)


def path_from_seed(reader: Reader, page_id: int) -> tuple[tuple[LinkView, int], ...]:
    """The shortest discovery path to a page, first step first, each with the depth it led to; none for a seed.

    A page is never passed twice.
    """
    steps: list[tuple[LinkView, int]] = []
    seen = {page_id}
    while len(steps) < _PATH:
        row = reader.one("SELECT found_on_page_id, url_id, depth FROM page WHERE id = ?", (page_id,))
        if row is None or row[0] is None or row[0] in seen:
            break
        steps.append((_step(reader, row[0], row[1]), row[2]))
        page_id = row[0]
        seen.add(page_id)
    return tuple(reversed(steps))


def _step(reader: Reader, parent: int, url_id: int) -> LinkView:
    """How one page led to the next: by a link, a redirect, as an entry of a sitemap, or by what is gone since."""
    link = reader.one(f"{_LINK} WHERE l.from_page_id = ? AND l.to_url_id = ? ORDER BY l.kind", (parent, url_id))
    if link is not None:
        return _link_view(link)
    redirect = reader.one("SELECT source, seen_at FROM redirect WHERE page_id = ? AND to_url_id = ?", (parent, url_id))
    names = reader.one(
        "SELECT f.href, t.href, p.sitemap FROM page p JOIN url f ON f.id = p.url_id JOIN url t ON t.id = ?"
        " WHERE p.id = ?",
        (url_id, parent),
    )
    from_url, to_url, sitemap = names or ("", "", 0)
    kind, at = redirect or ("sitemap" if sitemap else "gone", 0)
    return LinkView(from_url, to_url, kind, nofollow=False, text="", first_seen_at=at)


def _windows(
    reader: Reader, text: str, key: int, after: tuple[object, object], places: tuple[int, int], limit: int | None
) -> Iterator[LinkView]:
    """The rows of a keyset query, window by window; `places` are the columns that the next window begins after."""
    left = limit
    while left is None or left > 0:
        size = WINDOW if left is None else min(WINDOW, left)
        rows = reader.all(text, (key, *after, size))
        yield from map(_link_view, rows)
        if len(rows) < size:
            return
        after = rows[-1][places[0]], rows[-1][places[1]]
        left = None if left is None else left - size


def _link_end(row: Row) -> LinkEnd:
    return LinkEnd(_link_view(row), row[8], exit_name(row[9]), (row[6], row[7]))


def _link_view(row: Row) -> LinkView:
    """A row of `v_link`, whatever columns come after it."""
    return LinkView(row[0], row[1], row[2], bool(row[3]), row[4], row[5])
