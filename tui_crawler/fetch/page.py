"""The reading of one body: its kind, character set, statements and links, from the bytes to a `Reading`.

In CSS links are what `@import` and `url()` name, in style sheets, `style` elements and `style` attributes. Only what
decides where a URL stands is tokenised there (CSS Syntax 3): comments, strings, escapes, at-keywords, `url(`.
Everything between is passed over at one stroke, because pages carry hundreds of kilobytes of it; the tests compare
the answers with those of a whole tokenizer. A function name written with escapes is not recognised.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

from tui_crawler.domain.records.attempt import Exchange, Reading, RedirectSource, ValidationError
from tui_crawler.domain.records.content_kind import OTHER, LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, LinkResolver, SiteLinks
from tui_crawler.fetch import document
from tui_crawler.fetch.charset import choose_encoding, encoding_of_label, first_illegal_byte, to_utf8, with_query_in
from tui_crawler.fetch.headers import content_type, location_text, values_of
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.links import (
    Candidate,
    LinkCollector,
    feed_candidates,
    html_candidates,
    plain_candidates,
    with_xml_base,
    xml_candidates,
)
from tui_crawler.fetch.markup import without_long_attributes
from tui_crawler.fetch.plain_html import may_be_deep, plain_tags
from tui_crawler.fetch.sniff import CSS, HTML, RSS, XML, kind_of
from tui_crawler.fetch.tree import XHTML, Element, ParsedMarkup, drop_xhtml_namespaces, parse_html, parse_xml

_CUT_ANCHORS = frozenset({"input", "tags", "tag", "depth", "deadline"})
"""Where this was cut it is not known what a fragment may name."""
XHTML_TYPE = "application/xhtml+xml"


@dataclass(frozen=True, slots=True)
class ParsedBody:
    """A reading, and what validators and data rules go on with.

    `markup` is the body as UTF-8, as far as it was read, and empty when it is of no kind. `faults` are of XML only.
    """

    reading: Reading
    resolver: LinkResolver
    markup: bytes = b""
    root: Element | None = None
    faults: tuple[ValidationError, ...] = ()


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of a body of one kind. `in_encoding`: the queries of its URLs are in its encoding, else in UTF-8 (of
    feeds and style sheets)."""

    said: document.Statements = field(default_factory=document.Statements)
    candidates: Iterable[Candidate] = ()
    parsed: ParsedMarkup | None = None
    in_encoding: bool = True


class _QueryResolver(LinkResolver):
    """The resolver of a document whose URLs have their queries in its encoding."""

    def __init__(self, base: CrawlUrl, max_length: int, site: SiteLinks, encoding: str) -> None:
        super().__init__(base, max_length, site=site)
        self._encoding = encoding

    def resolve(self, raw: str) -> CrawlUrl | InvalidUrl:
        """Return what `raw` names; what is remembered has its query encoded, so that encodings share it."""
        return super().resolve(raw if raw.isascii() else with_query_in(raw, self._encoding))


@dataclass(slots=True)
class PageReading:
    """Reads one body, once. `_out_of_time` is asked between pieces of work. `_tags`: so many it may have; `_with_tree`:
    somebody wants its tree."""

    _url: CrawlUrl
    _exchange: Exchange
    _limits: FetchLimits
    _token: str  # by which pages address this crawler
    _site: SiteLinks
    _out_of_time: Callable[[], bool]
    _tags: int
    _with_tree: bool
    _incomplete: dict[str, None] = field(default_factory=dict)

    @property
    def _now(self) -> int:
        return self._exchange.requests[-1].ended_at if self._exchange.requests else 0

    def read(self, *, markup_only: bool = False) -> ParsedBody:
        """The reading of the body; `markup_only`: of HTML only what it is. May raise what a parser raises."""
        mime, label = content_type(self._exchange.header("Content-Type"))
        body = self._exchange.body
        kind = OTHER if self._exchange.exit_code is not ExitCode.file_ingested else kind_of(mime, body)
        limits = self._limits
        if kind == OTHER or not body:
            nothing = LinkCollector(self._resolver(self._url), limits.max_links, limits.max_anchor_chars)
            reading = self._reading(kind, mime, encoding_of_label(label) or "", document.Statements(), nothing)
            return ParsedBody(reading, nothing.resolver)
        if len(body) > limits.max_input_bytes and kind == HTML:
            body, _ = without_long_attributes(body, limits)
        if len(body) > limits.max_input_bytes:
            body = body[: limits.max_input_bytes]
            self._note(("input",))
        charset = choose_encoding(body, kind, label)
        markup = to_utf8(body, charset)
        is_enough = markup_only and kind == HTML and mime != XHTML_TYPE
        content = _Content() if is_enough else self._content(kind, mime, markup.replace(b"\0", b""))
        encoding = charset if content.in_encoding else ""
        base = self._resolver(self._url, encoding).resolve(content.said.base) if content.said.base else self._url
        resolver = self._resolver(base if isinstance(base, CrawlUrl) else self._url, encoding)
        links = LinkCollector(resolver, limits.max_links, limits.max_anchor_chars, limits.check_fragments)
        late = [(LinkKind.a, url.href, None) for url, _, is_late in self._refreshes(resolver, content.said) if is_late]
        links.collect(chain(content.candidates, late), self._out_of_time)
        self._note(links.cut)
        reading = self._reading(kind, mime, charset, content.said, links)
        root, faults = (None, ()) if content.parsed is None else (content.parsed.root, content.parsed.faults)
        if (kind in (XML, RSS) or mime == XHTML_TYPE) and not {"input", "tags"} & self._incomplete.keys():
            faults = (*_illegal_bytes(body, charset, markup), *faults)
        is_whole = root is not None and not _CUT_ANCHORS & self._incomplete.keys()
        if limits.check_fragments and kind == HTML and root is not None and is_whole:
            anchors = map(str, root.xpath("//@id | //a/@name"))  # what a fragment may name
            reading = replace(reading, anchors=tuple(dict.fromkeys(anchors)))
        return ParsedBody(reading, resolver, markup, root, faults)

    def _content(self, kind: str, mime: str, markup: bytes) -> _Content:
        if kind == CSS:
            text = markup.decode("utf-8")
            return _Content(candidates=stylesheet_links(text, self._out_of_time), in_encoding=False)
        if kind == HTML and mime != XHTML_TYPE:
            needs_tree = self._with_tree or self._limits.check_fragments or self._tags > self._limits.max_tags
            plain = None if needs_tree or may_hold_links(markup) else plain_tags(markup, self._limits)
            if plain is not None and not may_be_deep(markup, self._tags):
                stating = ((name, source) for name, _, source in plain if name != "a")
                return _Content(document.html_statements(stating, self._token, self._now), plain_candidates(plain))
            return self._html(parse_html(markup, self._limits, self._out_of_time), markup)
        parsed = parse_xml(markup, self._limits, self._out_of_time)
        root = parsed.root
        if root is not None and (kind == HTML or root.tag == f"{XHTML}html"):
            drop_xhtml_namespaces(root)
            return self._html(parsed, markup)
        self._note(parsed.incomplete)
        if root is None:
            return _Content(parsed=parsed)
        if kind == RSS or document.feed_type(root):
            found = with_xml_base(feed_candidates(root), root, self._url.href)
            return _Content(document.feed_statements(root), found, parsed, in_encoding=False)
        return _Content(candidates=with_xml_base(xml_candidates(root), root, self._url.href), parsed=parsed)

    def _html(self, parsed: ParsedMarkup, markup: bytes) -> _Content:
        self._note(parsed.incomplete)
        if parsed.root is None:
            return _Content(parsed=parsed)
        stating = ((element.tag, element) for element in parsed.root.iter(*document.STATING_TAGS))
        candidates = html_candidates(parsed.root)
        if may_hold_links(markup):
            candidates = chain(candidates, inline_style_links(parsed.root, self._out_of_time))
        return _Content(document.html_statements(stating, self._token, self._now), candidates, parsed)

    def _reading(self, kind: str, mime: str, charset: str, said: document.Statements, links: LinkCollector) -> Reading:
        """Return what the document and its header say together; the header wins where only one can be right."""
        headers, resolver = self._exchange.headers, links.resolver
        robots = said.robots | document.x_robots_tag(values_of(headers, "X-Robots-Tag"), self._token, self._now)
        in_header = document.canonical_in_header(values_of(headers, "Link"))
        title, most = said.title.encode("utf-8", "replace"), self._limits.max_title_bytes
        if len(title) > most:
            title = title[:most]
            self._note(("title",))
        refreshes = (one[:2] for one in self._refreshes(resolver, said) if not one[2])
        refresh, source = next(refreshes, (None, None))
        return Reading(
            kind=kind,
            exit_code=ExitCode.file_of_unknown_type if kind == OTHER else ExitCode.file_ingested,
            content_type=mime,
            charset=charset,
            title=title.decode("utf-8", "ignore"),
            canonical=self._target(resolver, said.canonical) or self._target(None, in_header),
            refresh=refresh,
            refresh_source=source,
            noindex="noindex" in robots,
            nofollow="nofollow" in robots,
            links=links.links,
            fragments=links.fragments,
            refused=links.refused.all(),
            incomplete=tuple(self._incomplete),
            sitemaps=tuple(filter(None, (self._target(resolver, raw) for raw in said.sitemaps))),
        )

    def _refreshes(
        self, resolver: LinkResolver, said: document.Statements
    ) -> Iterator[tuple[CrawlUrl, RedirectSource, bool]]:
        """Yield where refreshes of header and document lead, and whether late; a reload is left out."""
        in_header = location_text(self._exchange.header("Refresh"))
        for by, content, source in (
            (None, in_header, RedirectSource.refresh_header),
            (resolver, said.refresh, RedirectSource.meta_refresh),
        ):
            if not content:
                continue
            raw, is_late = document.refresh_target(content)
            target = self._target(by, raw)
            if target is not None and target != self._url:
                yield target, source, is_late

    def _resolver(self, base: CrawlUrl, encoding: str = "") -> LinkResolver:
        if encoding in ("", "utf-8"):
            return LinkResolver(base, self._limits.max_url_length, site=self._site)
        return _QueryResolver(base, self._limits.max_url_length, self._site, encoding)

    def _target(self, resolver: LinkResolver | None, raw: str) -> CrawlUrl | None:
        """Return what is written in the document (by its resolver) or, None, in the header leads to."""
        if not raw or raw.isspace():
            return None
        url = (resolver or self._resolver(self._url)).resolve(raw)
        return url if isinstance(url, CrawlUrl) else None

    def _note(self, cut: Iterable[str]) -> None:
        self._incomplete.update(dict.fromkeys(cut))


def _illegal_bytes(body: bytes, charset: str, markup: bytes) -> Iterator[ValidationError]:
    """XML that is illegal in its encoding, or has a NUL, is not well-formed (XML 1.0, 2.2 and 4.3.3)."""
    at = first_illegal_byte(body, charset)
    if at is not None:
        yield ValidationError(*_line_and_column(body, at), f"a byte that is illegal in {charset}")
    if b"\0" in markup:
        yield ValidationError(*_line_and_column(markup, markup.index(b"\0")), "U+0000 may stand nowhere")


def _line_and_column(data: bytes, at: int) -> tuple[int, int]:
    return data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at)


_HEX = r"[0-9a-fA-F]{1,6}+(?:\r\n|[ \t\n\r\f])?+"
_ESCAPED = rf"\\(?:{_HEX}|[^0-9a-fA-F\n\r\f])"
_ESCAPED_IN_STRING = rf"\\(?:{_HEX}|\r\n|[\s\S])"
_OPEN_STRING = rf""" "(?:[^"\\\n\r\f]++|{_ESCAPED_IN_STRING})*+  |  '(?:[^'\\\n\r\f]++|{_ESCAPED_IN_STRING})*+ """
_STRING = rf""" "(?:[^"\\\n\r\f]++|{_ESCAPED_IN_STRING})*+"  |  '(?:[^'\\\n\r\f]++|{_ESCAPED_IN_STRING})*+' """
_NAME = r"[\w\-\u0080-\U0010ffff]"
_SPACE = r"[ \t\n\r\f]*+"
_TOKEN = rf"""
    /\* (?:[^*]++|\*(?!/))*+ (?:\*/)?+
  | (?<![\#@]) (?<!{_NAME}) [uU][rR][lL]\( {_SPACE} (?:
        (?P<quoted> {_STRING} )
      | (?=["'])
      | (?P<bare> (?:[^"'()\\ \t\n\r\f\x00-\x08\x0b\x0e-\x1f\x7f]++|{_ESCAPED})*+ ) (?={_SPACE}(?:\)|\Z))
      | (?:[^)\\]++|\\[\s\S])*+
    )
  | (?P<string> {_STRING} )
  | {_OPEN_STRING}
  | {_ESCAPED}{_NAME}*+
  | @(?P<keyword> (?:{_NAME}|{_ESCAPED})++ )
  | (?P<end> [;{{}}] )
    """
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\n\r\f])?+|(\r\n|[\n\r\f])|([\s\S])|\Z)")
_NO_LINKS_IN = frozenset({"charset", "namespace", "document", "-moz-document"})
_TOKENS_BETWEEN_CHECKS = 4096
_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def stylesheet_links(text: str, out_of_time: Callable[[], bool]) -> Iterator[Candidate]:
    """The links of CSS text in its order, as they are written: css for `@import`, object for what a `@font-face`
    loads, img for any other `url()`. Not inline data, references into the document itself, or namespaces.

    Linear in the size of the text; ends early when the time is over.
    """
    statement, in_font = "", False
    for number, token in enumerate(re.compile(_TOKEN, re.VERBOSE).finditer(text)):
        if number % _TOKENS_BETWEEN_CHECKS == _TOKENS_BETWEEN_CHECKS - 1 and out_of_time():
            return
        kind = token.lastgroup
        if kind is None:
            continue
        if kind == "end":
            statement = ""
            in_font = in_font and token[0] != "}"
        elif kind == "keyword":
            statement = token[0][1:].lower()
            in_font = in_font or statement == "font-face"
        elif statement == "import":
            statement = "charset"  # what else it says is conditions
            yield from _link(LinkKind.css, token)
        elif kind != "string" and statement not in _NO_LINKS_IN:
            yield from _link(LinkKind.object if in_font else LinkKind.img, token)


def inline_style_links(root: Element, out_of_time: Callable[[], bool]) -> Iterator[Candidate]:
    """The links of the `style` elements and then of the `style` attributes of an HTML document."""
    for element in root.iter("style"):
        yield from stylesheet_links(element.text or "", out_of_time)
    for element in root.iter("*"):
        style = element.get("style")
        if style is not None and "(" in style:
            yield from stylesheet_links(style, out_of_time)


def may_hold_links(markup: bytes) -> bool:
    """Return whether it is worth looking for inline styles in an HTML document."""
    if b"(" not in markup and b"@" not in markup:
        return False
    lowered = markup.lower()
    return b"url(" in lowered or b"@import" in lowered


def _link(kind: LinkKind, token: re.Match[str]) -> Iterator[Candidate]:
    written = token["bare"]
    if written is None:
        written = (token["quoted"] or token["string"])[1:-1]
    raw = (_ESCAPE.sub(_unescaped, written) if "\\" in written else written).strip()
    if raw and raw[0] != "#" and raw[:5].lower() != "data:":
        yield kind, raw, None


def _unescaped(escape: re.Match[str]) -> str:
    digits, newline, character = escape.groups()
    if digits is None:
        return "" if newline is not None else character or ""
    code = int(digits, 16)
    return chr(code) if 0 < code <= _LAST_CODE_POINT and code not in _SURROGATES else "\ufffd"
