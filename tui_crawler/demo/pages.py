"""The sites of the demo web, read from the folder sites/: a TOML file for each, with its data and its pages.

A page is a text. Before its title (`# Title`) stand headers of its response (`Name: value`) and HTML for its head;
after it blocks, parted by empty lines: paragraphs (the first leads), lists (`- [text](href)`), rows of links
(`[text](href)`), pictures (`![text](source)`), tables (`| cell | cell |`, the first row is the head), HTML (`<`).

`{field}` is the origin of a site by its name, or a column of a row. A line `for TABLE: ...` and the pages under
`[each.TABLE]` are written once for each row of a table; `TABLE with COLUMN VALUE` are those that have VALUE in COLUMN.
`{field:slug}` is a field as one path segment, `{field:inner}` as it stands within a sentence; `{number}` is the row's
number, `{previous[column]}` and `{next[column]}` are of the rows beside it, the last beside the first.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import formatdate
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any
from urllib.parse import parse_qs
from zlib import crc32

from tui_crawler.demo.site import FAULTS, HTML, MANNERS, DemoPage, Header, Site, freeze_pages, make_etag

SITE_NAMES = (
    "almanac", "records", "observatory", "ferries", "forum", "radio", "reserve", "museum", "chandlery", "tramway",
)  # fmt: skip
"""In the order of their ports."""
_SITES = files("tui_crawler.demo") / "sites"
_TAG = re.compile(r"<[^>]*>")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_FIRST_CHANGE_S = 1_741_000_000
_CHANGE_SPAN_S = 22_000_000

Fields = Mapping[str, Any]


def build_sites(origins: Mapping[str, str], pace: float) -> tuple[Site, ...]:
    """Return all sites. `origins` are theirs by name; `pace` multiplies the Crawl-delay that one of them asks for."""
    return tuple(_SiteText(name, origins, pace).build(name) for name in SITE_NAMES)


class _SiteText:
    def __init__(self, name: str, origins: Mapping[str, str], pace: float) -> None:
        self._told = tomllib.loads(_read(f"{name}.toml"))
        tables = {table: _read_rows(rows) for table, rows in self._told.get("tables", {}).items()}
        delay = f"{self._told.get('crawl_delay_s', 0) * pace:g}"
        self._fields: Fields = {**origins, **tables, "crawl_delay": delay}
        self._frame = _read("frame.html")
        self._framed = {
            "site": escape(self._told["title"]),
            "tagline": escape(self._told["tagline"]),
            "menu": "".join(f"<li>{_link(line, {})}</li>" for line in self._told["navigation"].splitlines()),
            "footer": self._told["footer"].strip().format_map(self._fields),
        }

    def build(self, name: str) -> Site:
        told = self._told
        odd = told.get("responses", {})
        manner = _made(MANNERS, told.get("manner", {"kind": "Steady"}))
        wild = Shop(told["endless"], self._fields["goods"], self._page).find_page if "endless" in told else None
        pages = tuple(_distort(page, odd.get(page.target, {})) for page in self._pages())
        return Site(name, told["title"], told["shows"], freeze_pages(pages), manner, wild, told["server"])

    def _pages(self) -> Iterator[DemoPage]:
        robots = self._told["robots"].format_map(self._fields)
        yield DemoPage("/robots.txt", robots.encode(), content_type="text/plain; charset=utf-8")
        css = Template(_read("style.css")).substitute(colour=self._told["colour"])
        yield self._resource("/style.css", css.encode(), "text/css; charset=utf-8")
        for path, text in self._told.get("pages", {}).items():
            yield self._page(path, text, {})
        for table, pages in self._told.get("each", {}).items():
            for row in _rows(table, self._fields):
                for path, text in pages.items():
                    yield self._page(path.format_map(row), text, row)
        for path, told in self._told.get("documents", {}).items():
            yield self._document(path, **told)
        for path, told in self._told.get("redirects", {}).items():
            status, _, location = told.format_map(self._fields).partition(" ")
            body = b"<!doctype html><title>Moved</title><p>This page has moved.</p>"
            yield DemoPage(path, body, status=int(status), headers=(("Location", location),))

    def _page(self, target: str, text: str, row: Fields) -> DemoPage:
        fields = {**self._fields, **row}
        before, _, after = f"\n{text}".partition("\n# ")
        title, _, body = after.partition("\n")
        lines = before.format_map(fields).splitlines()[1:]
        head = "".join(f"{line}\n" for line in lines if line.startswith("<"))
        headers = tuple((name, value) for name, _, value in (line.partition(": ") for line in lines if line[0] != "<"))
        blocks = [_block(block, number, fields) for number, block in enumerate(body.strip("\n").split("\n\n"))]
        summary = " ".join(_TAG.sub(" ", " ".join(blocks[:2])).split())
        html = self._frame.format(
            **self._framed,
            title=self._told.get("titles", {}).get(target) or escape(title.format_map(fields)),
            description=escape(summary if len(summary) <= 140 else summary[:139].rsplit(" ", 1)[0]),
            head=head,
            main="\n".join(blocks),
        )
        return self._resource(target, html.encode(), HTML, headers)

    def _document(
        self,
        path: str,
        type: str = HTML,
        body: str | None = None,
        encoding: str = "utf-8",
        repeated: str = "",
        times: int = 0,
        status: int = 200,
    ) -> DemoPage:
        """Return a page that is no such text: `body` and then `repeated` some times, or else a file of the folder."""
        if body is None:
            content = (_SITES / path.rpartition("/")[2]).read_bytes()
        else:
            lines = (line.format_map(row) for line, row in _lines(body, self._fields))
            content = ("\n".join(lines) + repeated * times).encode(encoding)
        return replace(self._resource(path, content, type), content_type=type or None, status=status)

    def _resource(self, target: str, body: bytes, content_type: str, headers: tuple[Header, ...] = ()) -> DemoPage:
        changed = _FIRST_CHANGE_S + crc32(target.encode()) % _CHANGE_SPAN_S
        return DemoPage(
            target,
            body,
            content_type=content_type,
            headers=headers,
            etag=make_etag(body) if self._told.get("tagged") else None,
            last_modified=formatdate(changed, usegmt=True) if self._told.get("dated") else None,
            gzip="gzip" in self._told and content_type.startswith(("text/", "application/xml", "application/rss")),
        )


@cache
def _read(name: str) -> str:
    return (_SITES / name).read_text("utf-8")


class _Cell(str):
    """A field of a row, which knows how it is written elsewhere than in a text."""

    def __format__(self, spec: str) -> str:
        match spec:
            case "slug":
                return _NOT_IN_SLUG.sub("-", self.lower()).strip("-")
            case "inner":
                return self[:1].lower() + self[1:]
        return super().__format__(spec)


def _read_rows(table: str) -> Sequence[Fields]:
    head, *lines = ([cell.strip() for cell in line.split("|")] for line in table.splitlines())
    rows: list[dict[str, Any]] = [dict(zip(head, map(_Cell, cells), strict=True)) for cells in lines]
    for number, row in enumerate(rows):
        row |= {"number": number + 1, "previous": rows[number - 1], "next": rows[(number + 1) % len(rows)]}
    return rows


def _rows(which: str, fields: Fields) -> Iterator[Fields]:
    """Return `TABLE`, or what is in `TABLE with COLUMN VALUE`."""
    table, _, condition = which.partition(" with ")
    column, _, value = condition.partition(" ")
    wanted = value.format_map(fields)
    return (row for row in fields[table] if not column or wanted in row[column])


def _lines(text: str, fields: Fields) -> Iterator[tuple[str, Fields]]:
    """Yield each line with its fields, a line that begins with `for` once for each of its rows."""
    for line in text.split("\n"):
        if line.startswith("for "):
            which, _, rest = line.removeprefix("for ").partition(": ")
            yield from ((rest, {**fields, **row}) for row in _rows(which, fields))
        else:
            yield line, fields


def _block(block: str, number: int, fields: Fields) -> str:
    """Return a block of a page as HTML; all that a field holds is text."""
    lines = list(_lines(block, fields))
    match lines[0][0][0]:
        case "<":
            return "\n".join(line.format_map(row) for line, row in lines)
        case "-":
            return "<ul>\n" + "\n".join(f"<li>{_link(*line)}</li>" for line in lines) + "\n</ul>"
        case "[":
            return "<p>" + " | ".join(_link(*line) for line in lines) + "</p>"
        case "!":
            text, source = _parts(*lines[0])
            return f'<p><img class="photo" src="{source}" alt="{text}"></p>'
        case "|":
            first, *others = (_cells(*line, tag="td" if at else "th") for at, line in enumerate(lines))
            return f"<table>\n{first}\n" + "".join(f"{other}\n" for other in others) + "</table>"
    text = escape(" ".join(line.format_map(row) for line, row in lines))
    return f"<p>{text}</p>" if number else f'<p class="lead">{text}</p>'


def _parts(line: str, fields: Fields) -> tuple[str, str]:
    """Return text and address of `[text](address)`, escaped."""
    text, _, address = line[line.index("[") + 1 : -1].partition("](")
    return escape(text.format_map(fields)), escape(address.format_map(fields))


def _link(line: str, fields: Fields) -> str:
    text, href = _parts(line, fields)
    return f'<a href="{href}">{text}</a>'


def _cells(line: str, fields: Fields, tag: str) -> str:
    cells = (escape(cell.strip().format_map(fields)) for cell in line.strip("|").split("|"))
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _made(kinds: Mapping[str, type], told: Mapping[str, Any]) -> Any:
    return kinds[told["kind"]](**{name: value for name, value in told.items() if name != "kind"})


def _distort(page: DemoPage, odd: Mapping[str, Any]) -> DemoPage:
    """Return `page` with what is odd about its response: a fault, a tag of another form (`{hash}` is the true one)."""
    fault = {"fault": _made(FAULTS, odd["fault"])} if "fault" in odd else {}
    etag = {"etag": odd["etag"].format(hash=make_etag(page.body).strip('"'))} if "etag" in odd else {}
    return replace(page, **{**odd, **fault, **etag})


_ON_A_PAGE = 4
_FIRST_YEAR, _LAST_YEAR = 1, 9998


Found = tuple[str, Fields] | None
"""The name of a text and the fields it is filled with, None where there is no page."""


@dataclass(slots=True)
class Shop:
    """A page for each target of the shop. `_write` makes the page of a target, a text and its fields."""

    _texts: Mapping[str, str]
    _goods: Sequence[Fields]
    _write: Callable[[str, str, Fields], DemoPage]

    def find_page(self, target: str) -> DemoPage | None:
        """Return the page of `target`, whatever its session and sorting, or None."""
        path, _, query = target.partition("?")
        found = self._find(path, {name: values[-1] for name, values in parse_qs(query).items()})
        if found is None:
            return None
        fields = {**found[1], "path": path, "session": f"{crc32(target.encode()):08x}"}
        return self._write(target, self._texts[found[0]] + self._texts["session"], fields)

    def _find(self, path: str, query: Mapping[str, str]) -> Found:
        parts = path.strip("/").split("/")
        here = path if path.endswith("/") else f"{path}/"
        match parts:
            case [""]:
                return "home", {}
            case ["help"]:
                return "help", {}
            case ["list"]:
                return self._list(query.get("page", "1"))
            case ["item", slug]:
                return next((("item", row) for row in self._goods if f"{row['goods']:slug}" == slug), None)
            case ["calendar"]:
                return _calendar(query.get("month", "2026-05"))
            case ["archives", *rest] if set(rest) <= {"older", "archives"}:
                below = "older/" if parts[-1] == "archives" else "archives/"
                return "archives", {"shelf": len(parts), "below": here + below}
            case ["find-us", *walked]:
                gone, steps = len(walked), self._texts["steps"].split()
                word = steps[gone] if gone < len(steps) else f"step-{gone}"
                return "way", {"step": gone + 1, "here": here, "word": word}
        return None

    def _list(self, page: str) -> Found:
        pages = -(-len(self._goods) // _ON_A_PAGE)
        number = int(page) if re.fullmatch(r"[0-9]{1,3}", page) else 0
        if not 1 <= number <= pages:
            return None
        shown = self._goods[(number - 1) * _ON_A_PAGE : number * _ON_A_PAGE]
        turns = [{"turn": other} for other in (number - 1, number + 1) if 1 <= other <= pages]
        return "list", {"page": number, "pages": pages, "shown": shown, "turns": turns}


def _calendar(month: str) -> Found:
    found = re.fullmatch(r"([0-9]{4})-(0[1-9]|1[0-2])", month)
    if found is None or not _FIRST_YEAR <= int(found[1]) <= _LAST_YEAR:
        return None
    year, number = map(int, found.groups())
    before = f"{year - (number == 1):04d}-{(number - 2) % 12 + 1:02d}"
    after = f"{year + (number == 12):04d}-{number % 12 + 1:02d}"
    return "calendar", {"month": month, "before": before, "after": after}
