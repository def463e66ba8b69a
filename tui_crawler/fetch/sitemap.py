"""Sitemaps (sitemaps.org protocol): urlset, sitemapindex, plain text, RSS and Atom; each may be a gzip file."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lxml import etree

from tui_crawler.domain.crawl.recrawl import parse_http_date
from tui_crawler.domain.records.attempt import Exchange, Reading, RefusedCounts, SitemapEntry
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.rules.verdict import Refusal
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, LinkResolver, in_xml_base
from tui_crawler.fetch.charset import choose_encoding, utf8_slices
from tui_crawler.fetch.coding import GZIP_MAGIC, BodyDecoder, BodyTooLarge, IllegalCoding, TruncatedCoding
from tui_crawler.fetch.headers import clean_message, content_type, w3c_date_ms
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.links import xml_bases
from tui_crawler.fetch.sniff import HTML, XML, sniff
from tui_crawler.fetch.tree import SAFE_XML, Element

_PIECE_BYTES = 64 * 1024
_SAMPLE_CHARS = 200

_LATEST_MS = 253_402_300_799_999  # the end of year 9999
_FIRST_LINE = re.compile(r"\s*+(?:#[^\n]*+\s*+)*+https?://", re.IGNORECASE)
# "&" that begins no reference, as many sitemaps have it in their URLs; it means itself in CDATA
_AMPERSAND = re.compile(rb"(<!\[CDATA\[)|(\]\]>)|&(?!#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|(?:amp|lt|gt|quot|apos);)")
_ROOTS = frozenset({"urlset", "sitemapindex", "rss", "feed", "RDF"})
# and the root they belong to, if it must be
_ITEMS = {"url": "urlset", "sitemap": "sitemapindex", "entry": "", "item": ""}
_MOST_TAGS_BETWEEN = 200_000  # between two items; nothing is taken out of the tree meanwhile
_ATOM = "{http://www.w3.org/2005/Atom}"
_RSS_1 = "{http://purl.org/rss/1.0/}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


class NoSitemap(Exception):
    """A body that is no sitemap of any kind."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One URL as a sitemap has it, with its date, and the `xml:base` that it is relative to."""

    raw: str
    lastmod: int = 0
    sitemap: bool = False
    bases: tuple[str, ...] = ()


def is_gzip(body: bytes) -> bool:
    """Return whether a body is a gzip file, whatever its Content-Type says."""
    return body.startswith(GZIP_MAGIC)


def read_sitemap(url: CrawlUrl, exchange: Exchange, limits: FetchLimits, out_of_time: Callable[[], bool]) -> Reading:
    """The entries of a sitemap, at most `max_sitemap_urls`; relative ones are resolved against `url`.

    `incomplete` has "urls" or "sitemap" (bytes) for what is over a bound, "broken" where it ends too soon or has too
    much that is no entry, "entities" (none is ever expanded, and nothing is read then), "deadline". What is no sitemap
    is a local_processing_error that says so.
    """
    mime, label = content_type(exchange.header("Content-Type"))
    try:
        body, cut = _unpacked(exchange.body, limits)
        charset = choose_encoding(body[:_PIECE_BYTES], XML, label)
        collector = _Collector(url, limits, out_of_time)
        if cut:
            collector.cut[cut] = None
        beginning = next(utf8_slices(body[:_PIECE_BYTES], charset)).lstrip()
        if sniff(beginning) == HTML:
            raise NoSitemap("it is an HTML document")
        source = _from_xml if beginning.startswith(b"<") else _from_text
        collector.collect(source(body, charset, collector))
    except (NoSitemap, IllegalCoding) as error:
        message = clean_message(f"not a sitemap: {error}")
        return Reading(XML, ExitCode.local_processing_error, mime, message=message)
    return Reading(
        kind=XML,
        exit_code=ExitCode.file_ingested,
        content_type=mime,
        charset=charset,
        refused=collector.refused.all(),
        incomplete=tuple(collector.cut),
        entries=tuple(collector.entries.values()),
    )


def _unpacked(body: bytes, limits: FetchLimits) -> tuple[bytes, str]:
    """The body of a sitemap, and why it is not whole ("": it is). Raises IllegalCoding when nothing is there."""
    if not is_gzip(body):
        return body[: limits.max_sitemap_bytes], "sitemap" if len(body) > limits.max_sitemap_bytes else ""
    decoder = BodyDecoder(("gzip",), limits.max_sitemap_bytes, limits.max_sitemap_bytes, truncate=True)
    try:
        decoder.feed(body)
        return decoder.finish(), "sitemap" if decoder.cut else ""
    except (IllegalCoding, TruncatedCoding, BodyTooLarge) as error:
        if not decoder.body:
            raise IllegalCoding(str(error)) from error
        return decoder.body, "sitemap" if isinstance(error, BodyTooLarge) else "broken"


@dataclass(slots=True)
class _Collector:
    """The entries found so far, each URL once."""

    _url: CrawlUrl
    _limits: FetchLimits
    _out_of_time: Callable[[], bool]
    entries: dict[str, SitemapEntry] = field(default_factory=dict)
    refused: RefusedCounts = field(default_factory=RefusedCounts)
    cut: dict[str, None] = field(default_factory=dict)

    def collect(self, found: Iterator[_Found]) -> None:
        """Take what is found up to the bound."""
        resolver = LinkResolver(self._url.href, self._limits.max_url_length, capacity=1)
        for each in found:
            url = resolver.resolve(in_xml_base(each.raw, each.bases, self._url.href))
            if isinstance(url, InvalidUrl):
                self.refuse(url.raw, too_long=url.too_long)
            elif url.href not in self.entries:
                if len(self.entries) >= self._limits.max_sitemap_urls:
                    self.cut["urls"] = None
                    return
                self.entries[url.href] = SitemapEntry(url, each.lastmod, each.sitemap)

    def refuse(self, raw: str, *, too_long: bool = False) -> None:
        """Count what cannot be crawled."""
        self.refused.add(Refusal.url_length if too_long else Refusal.invalid_url, raw[:_SAMPLE_CHARS])

    def is_late(self) -> bool:
        """Return whether the time is over; then that is noted."""
        if self._out_of_time():
            self.cut["deadline"] = None
            return True
        return False


def _from_text(body: bytes, charset: str, collector: _Collector) -> Iterator[_Found]:
    """One URL per line. Raises NoSitemap."""
    was_cut = bool(collector.cut)
    rest, begun = "", False
    for piece in utf8_slices(body, charset):
        if collector.is_late():
            return
        text = rest + piece.decode("utf-8")
        if not begun and (not _FIRST_LINE.match(text) or "\0" in text):
            raise NoSitemap("neither XML nor a list of URLs")
        begun = True
        lines = text.splitlines()
        rest = lines.pop() if lines and not text.endswith(("\n", "\r")) else ""
        yield from _lines(lines, collector)
        if len(rest) > _PIECE_BYTES:  # no URL is that long
            collector.cut["broken"] = None
            return
    if rest and not was_cut:
        yield from _lines([rest], collector)


def _lines(lines: list[str], collector: _Collector) -> Iterator[_Found]:
    for raw in map(str.strip, lines):
        if raw.lower().startswith(("http://", "https://", "/")) and len(raw.split(None, 1)) == 1:
            yield _Found(raw)
        elif raw and not raw.startswith("#"):
            collector.refuse(raw)


def _from_xml(body: bytes, charset: str, collector: _Collector) -> Iterator[_Found]:
    """The items of a document, element by element, which are forgotten at once. Raises NoSitemap."""
    # as safe as `parse_xml`: entity declarations are refused, elements are taken out of the tree again
    parser = etree.XMLPullParser(events=("end",), tag=[f"{{*}}{name}" for name in _ITEMS], **SAFE_XML)
    tags = 0
    for piece in _pieces(body, charset, collector):
        if collector.is_late():
            return
        tags += piece.count(b"<")
        if b"<!ENTITY" in piece or tags > _MOST_TAGS_BETWEEN:
            collector.cut["entities" if tags <= _MOST_TAGS_BETWEEN else "broken"] = None
            return
        parser.feed(piece)
        for _, item in parser.read_events():
            tags = 0
            yield from _found(item)
            _forget(item)
    try:
        root = parser.close()
    except etree.XMLSyntaxError:
        root = None
    for _, item in parser.read_events():
        yield from _found(item)
    if root is None or _local_name(root) not in _ROOTS:
        raise NoSitemap("it has no element" if root is None else f"its root element is {_local_name(root)!r}")
    if any(entry.type_name == "ERR_TAG_NOT_FINISHED" for entry in parser.feed_error_log) and not collector.cut:
        collector.cut["broken"] = None


def _forget(element: Element) -> None:
    """Take an element out of the tree, so that a sitemap of any size needs little memory."""
    parent = element.getparent()
    element.clear()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _found(item: Element) -> Iterator[_Found]:
    """What one `url`, `sitemap`, `item` or `entry` names, if it stands where it belongs."""
    name = _local_name(item)
    if name in ("url", "sitemap"):
        parent = item.getparent()
        if parent is None or parent.getparent() is not None or _local_name(parent) != _ITEMS[name]:
            return
        namespace = item.tag[: -len(name)]
        raw = _text(item, (namespace + "loc",))
        date = _text(item, (namespace + "lastmod",))
    elif name == "item":
        raw = _text(item, ("link", _RSS_1 + "link"))
        date = _text(item, ("pubDate", _DUBLIN_CORE + "date"))
    else:
        links = (link for link in item.iterchildren(_ATOM + "link") if (link.get("rel") or "alternate") == "alternate")
        raw = next((str(link.get("href")).strip() for link in links if link.get("href")), "")
        date = _text(item, (_ATOM + "updated",))
    if raw:
        at = w3c_date_ms(date)
        at = parse_http_date(date) if at is None else at
        # Nonsense, and what is not within the years 1970 to 9999, is as good as nothing.
        yield _Found(raw, at if at is not None and 0 < at <= _LATEST_MS else 0, name == "sitemap", xml_bases(item))


def _text(item: Element, tags: tuple[str, ...]) -> str:
    return next(((child.text or "").strip() for child in item if child.tag in tags), "")


def _local_name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _pieces(body: bytes, charset: str, collector: _Collector) -> Iterator[bytes]:
    """The body as UTF-8 in pieces that end with a ">", without what follows the last one; "&" is mended."""
    rest = b""
    literal = False
    for part in utf8_slices(body, charset):
        data = rest + part.replace(b"\0", b"")
        start = 0
        while end := data.rfind(b">", start, start + _PIECE_BYTES) + 1:
            piece, literal = _mended(data[start:end], literal)
            yield piece
            start = end
        rest = data[start:]
        if len(rest) > _PIECE_BYTES:  # no URL is that long
            collector.cut["broken"] = None
            return


def _mended(piece: bytes, literal: bool) -> tuple[bytes, bool]:
    """The piece with "&amp;" for a bare "&", and whether it ends within CDATA; `literal`: it begins there."""
    if b"&" not in piece and b"CDATA" not in piece and not literal:
        return piece, False

    def mend(found: re.Match[bytes]) -> bytes:
        nonlocal literal
        if found[1] or found[2]:
            literal = bool(found[1])
            return found[0]
        return found[0] if literal else b"&amp;"

    return _AMPERSAND.sub(mend, piece), literal
