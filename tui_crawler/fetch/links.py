"""The links of a parsed document: seven kinds (G), frames and others, resolved against its base, each once."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from lxml import etree

from tui_crawler.domain.records.attempt import FoundLink, RefusedCounts
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.rules.verdict import Refusal
from tui_crawler.domain.url import InvalidUrl, LinkResolver, in_xml_base, without_fragment, without_userinfo, xml_base
from tui_crawler.fetch.plain_html import PlainTag

Element = Any  # an lxml element (lxml ships no types), or what a `PlainTag` has in its place

_SIMPLE = {  # attributes that hold a URL, whatever else the element says
    **dict.fromkeys(("a", "area"), ((LinkKind.a, "href"),)),
    **dict.fromkeys(("blockquote", "del", "ins", "q"), ((LinkKind.other, "cite"),)),
    **dict.fromkeys(("button", "input"), ((LinkKind.other, "formaction"),)),
    **dict.fromkeys(("embed", "track"), ((LinkKind.object, "src"),)),
    **{kind.value: ((kind, "src"),) for kind in (LinkKind.audio, LinkKind.frame, LinkKind.img, LinkKind.script)},
    "form": ((LinkKind.other, "action"),),
    "object": ((LinkKind.object, "data"),),
    "video": ((LinkKind.video, "src"), (LinkKind.img, "poster")),
}
_OF_SOURCE = {"video": LinkKind.video, "audio": LinkKind.audio, "picture": LinkKind.img}
_OF_REL = {  # the first that a `link` has counts
    "stylesheet": LinkKind.css,
    **dict.fromkeys(("icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"), LinkKind.img),
    "modulepreload": LinkKind.script,
    **dict.fromkeys(("preload", "manifest", "alternate", "next", "prev", "author"), LinkKind.other),
}
_PRELOADED = {"style": LinkKind.css, "image": LinkKind.img, "font": LinkKind.object, "track": LinkKind.object}
_PRELOADED |= {kind.value: kind for kind in (LinkKind.script, LinkKind.video, LinkKind.audio)}
_IMAGES_IN_META = frozenset({"og:image", "og:image:url", "og:image:secure_url", "twitter:image"})
_LOADED_BY_SVG = dict.fromkeys(("image", "use", "feImage", "feimage"), LinkKind.img)  # HTML is in lower case
_OF_SVG = {"a": LinkKind.a, "script": LinkKind.script, **_LOADED_BY_SVG}

_FEED_TAGS = ("{*}link", "{*}enclosure")
_FOLLOWED_FEED_RELS = frozenset({"", "alternate", "related", "via", "next", "previous", "first", "last"})
_ENCLOSURES = {"audio": LinkKind.audio, "video": LinkKind.video, "image": LinkKind.img}

_XHTML = "{http://www.w3.org/1999/xhtml}"
_ATOM_LINK = "{http://www.w3.org/2005/Atom}link"
_SVG, _MATHML = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1998/Math/MathML}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_HREFS = ("href", "xlink:href", _XLINK + "href")  # the first counts (SVG 2); HTML has no namespaces
_HAS_BASE = etree.XPath("boolean(//@xml:base)")
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_IN_XML = {_XHTML + "a": (LinkKind.a, "href"), _XHTML + "img": (LinkKind.img, "src")}
_ANCHORS = frozenset({"a", _XHTML + "a", _SVG + "a"})

_BEGINS_INLINE = "dD \t\n\r\f\v"  # what a data: URL may begin with
_WORK_BETWEEN_CHECKS = 128
_MOST_TEXT_PARTS = 100
_SAMPLE_CHARS = 200

Candidate = tuple[LinkKind, str, Element | None]


class LinkCollector:
    """Gathers links up to `max_links`; one that comes again keeps its first text, and is nofollow only if all are."""

    def __init__(self, resolver: LinkResolver, max_links: int, max_text: int, with_fragments: bool = False) -> None:
        self.resolver = resolver
        self._max_links = max_links
        self._max_text = max_text
        self._found: dict[tuple[LinkKind, str], FoundLink] = {}
        self._fragments: dict[tuple[str, str], FoundLink] | None = {} if with_fragments else None
        self._settled = set[str]()  # of which another anchor says nothing new
        self.refused = RefusedCounts()
        self.cut: tuple[str, ...] = ()

    @property
    def links(self) -> tuple[FoundLink, ...]:
        """Return what was found, in document order."""
        return tuple(self._found.values())

    @property
    def fragments(self) -> tuple[FoundLink, ...] | None:
        """The fragments that anchors name, as many as links at most; None: they were not asked for."""
        return None if self._fragments is None else tuple(self._fragments.values())

    def collect(self, candidates: Iterable[Candidate], out_of_time: Callable[[], bool]) -> None:
        """Take all candidates; stops, and says so in `cut`, at the bound or when the time is over."""
        settled = self._settled
        for number, (kind, raw, element) in enumerate(candidates):
            if number % _WORK_BETWEEN_CHECKS == 0 and out_of_time():
                self.cut = ("deadline",)
                return
            short = without_fragment(raw) if "#" in raw and self._fragments is None else raw
            if short in settled and kind is LinkKind.a:
                continue
            if not self._add(kind, raw, short, element):
                self.cut = ("links",)
                return
        if out_of_time():  # the candidates may have ended for this reason
            self.cut = ("deadline",)

    def _add(self, kind: LinkKind, raw: str, short: str, element: Element) -> bool:
        """Return whether there was room; `short` is what of the address counts."""
        url = self.resolver.resolve(short)
        if isinstance(url, InvalidUrl):
            reason = Refusal.url_length if url.too_long else Refusal.invalid_url
            self.refused.add(reason, without_userinfo(raw)[:_SAMPLE_CHARS])
            return True
        key = (kind, url.href)
        known = self._found.get(key)
        if known is None and len(self._found) >= self._max_links:
            return False
        is_bare = element is None or element.__class__ is str or kind is not LinkKind.a
        rel = None if is_bare else element.get("rel")
        nofollow = rel is not None and "nofollow" in rel.lower().split()
        if known is None:
            text = link_text(element, self._max_text)
            self._found[key] = tuple.__new__(FoundLink, (kind, url, text, nofollow))  # half as long as its own way
            if text and not nofollow and kind is LinkKind.a and self._fragments is None:
                self._settled.add(short)
        elif (known.nofollow and not nofollow) or not known.text:
            text = known.text or link_text(element, self._max_text)
            self._found[key] = FoundLink(kind, known.url, text, known.nofollow and nofollow)
        if self._fragments is not None and kind is LinkKind.a and url.fragment:
            if len(self._fragments) >= self._max_links:
                return False
            if (url.href, url.fragment) not in self._fragments:
                found = FoundLink(kind, url, link_text(element, self._max_text))
                self._fragments[url.href, url.fragment] = found
        return True


def _within(tag: str) -> Callable[[Element], bool]:
    """Return a test for being inside an element of this tag; it visits each ancestor once."""
    known: dict[Element, bool] = {None: False}

    def is_within(element: Element) -> bool:
        around, at = list[Element](), element.getparent()
        while at not in known:
            around.append(at)
            at = None if at.tag == tag else at.getparent()
        found = known[at] or bool(around and around[-1].tag == tag)
        known.update(dict.fromkeys(around, found))
        return found

    return is_within


def html_candidates(root: Element) -> Iterator[Candidate]:
    """Every link of an HTML document as it is written there, in document order."""
    in_svg, in_math = _within("svg"), _within("math")
    for element in root.iter(*_LINK_TAGS):
        tag = element.tag
        raw = element.get("href") if tag == "a" else None  # most of them by far
        if raw is not None:
            if not (raw[:1] in _BEGINS_INLINE and _is_inline(raw)):
                yield LinkKind.a, raw, element
        elif tag != "a":
            yield from _of_tag(tag, element)
        elif any(map(element.get, _HREFS[1:])) and in_svg(element):
            yield from _of_svg(element)
    for math in root.iter("math"):
        if not in_math(math):
            for element in math.iterdescendants("*"):
                if element.tag.startswith("m"):  # as elements of MathML do; others have no such attribute
                    yield from _attribute(LinkKind.a, element, "href")


def plain_candidates(tags: Iterable[PlainTag]) -> Iterator[Candidate]:
    """The same of one that was read without a tree."""
    for name, raw, source in tags:
        if name != "a":
            yield from _of_tag(name, source)
        elif (source.__class__ is str or "href" in source) and not (raw[:1] in _BEGINS_INLINE and _is_inline(raw)):
            yield LinkKind.a, raw, source


def _of_tag(tag: str, element: Element) -> Iterator[Candidate]:
    for kind, name in _SIMPLE.get(tag, ()):
        yield from _attribute(kind, element, name)
    if (more := _MORE.get(tag)) is not None:
        yield from more(element)


def _link(element: Element) -> Iterator[Candidate]:
    rels = (element.get("rel") or "").lower().split()
    rel = next((rel for rel in _OF_REL if rel in rels), None)
    if rel == "preload":
        yield from _attribute(_PRELOADED.get((element.get("as") or "").lower(), LinkKind.other), element, "href")
    elif rel is not None:
        yield from _attribute(_OF_REL[rel], element, "href")


def _meta(element: Element) -> Iterator[Candidate]:
    if (element.get("property") or element.get("name") or "").strip().lower() in _IMAGES_IN_META:
        yield from _attribute(LinkKind.img, element, "content")


def _iframe(element: Element) -> Iterator[Candidate]:
    """Its source, which is no frame where the element says itself what to show."""
    yield from _attribute(LinkKind.frame if element.get("srcdoc") is None else LinkKind.object, element, "src")


def _input(element: Element) -> Iterator[Candidate]:
    if (element.get("type") or "").lower() == "image":
        yield from _attribute(LinkKind.img, element, "src")


def _of_svg(element: Element) -> Iterator[Candidate]:
    name = next((name for name in _HREFS if element.get(name) is not None), None)
    if name is not None and not element.get(name).lstrip().startswith("#"):
        tag = "use" if isinstance(element, dict) else element.tag.rpartition("}")[2]
        yield from _attribute(_OF_SVG.get(tag, LinkKind.object), element, name)


def _source(element: Element) -> Iterator[Candidate]:
    parent = element.getparent()
    kind = None if parent is None else _OF_SOURCE.get(parent.tag)
    if kind is LinkKind.img:
        yield from _srcset(element)
    elif kind is not None:
        yield from _attribute(kind, element, "src")


def xml_bases(element: Element) -> tuple[str, ...]:
    """Return the values of `xml:base` at an element, the outermost first, of at most 64 elements around it."""
    around = [element, *islice(element.iterancestors(), 63)]
    return tuple(base for each in reversed(around) if (base := each.get(_XML_BASE)) is not None)


def with_xml_base(candidates: Iterable[Candidate], root: Element, url: str) -> Iterable[Candidate]:
    """Return the links of the XML at `url`, as they would be written without `xml:base`."""
    if not _HAS_BASE(root):
        return candidates
    bases = _bases_at(url)
    return ((kind, raw if at is None else in_xml_base(raw, bases(at), url), at) for kind, raw, at in candidates)


def _bases_at(url: str) -> Callable[[Element], tuple[str, ...]]:
    """Return a function for the base at an element: none, one absolute URL, or one that is invalid."""
    known: dict[Element, tuple[str, ...]] = {None: ()}

    def at(element: Element) -> tuple[str, ...]:
        inner = list[Element]()
        while element not in known:
            inner.append(element)
            element = element.getparent()
        bases = known[element]
        for each in reversed(inner):
            if (written := each.get(_XML_BASE)) is not None:
                bases = (xml_base((*bases, written), url) or f"invalid:{written}",)
            known[each] = bases
        return bases

    return at


def feed_candidates(root: Element) -> Iterator[Candidate]:
    """Every link of an RSS, RDF or Atom feed as it is written there, in document order."""
    return chain.from_iterable(map(_feed_link, root.iter(*_FEED_TAGS)))


def xml_candidates(root: Element) -> Iterator[Candidate]:
    """The links of other XML: style sheets it names, XLink, Atom links, anchors and images of XHTML in it."""
    for instruction in reversed([each for each in root.itersiblings(preceding=True) if each.tag is etree.PI]):
        if instruction.target == "xml-stylesheet":
            raw = instruction.get("href")
            if raw and not raw.isspace() and not _is_inline(raw):
                yield LinkKind.css, raw, None
    for element in root.iter("*"):
        known = _IN_XML.get(element.tag)
        if known is not None:
            yield from _attribute(known[0], element, known[1])
        elif element.tag == _ATOM_LINK:
            yield from _feed_link(element)
        elif element.tag.startswith(_SVG):
            yield from _of_svg(element)
        elif element.tag.startswith(_MATHML):
            yield from _attribute(LinkKind.a, element, "href")
        elif not (element.get(_XLINK + "href") or "#").startswith("#"):  # a document refers to its own parts so
            embedded = element.get(_XLINK + "show") == "embed"
            yield from _attribute(LinkKind.object if embedded else LinkKind.a, element, _XLINK + "href")


def _feed_link(element: Element) -> Iterator[Candidate]:
    name = element.tag.rpartition("}")[2]
    mime = (element.get("type") or "").partition("/")[0].lower()
    if name == "enclosure":
        yield from _attribute(_ENCLOSURES.get(mime, LinkKind.object), element, "url")
    elif element.get("href") is None:
        text = (element.text or "").strip()
        if text:
            yield LinkKind.a, text, element
    elif (element.get("rel") or "").lower() == "enclosure":
        yield from _attribute(_ENCLOSURES.get(mime, LinkKind.object), element, "href")
    elif (element.get("rel") or "").lower() in _FOLLOWED_FEED_RELS:
        yield from _attribute(LinkKind.a, element, "href")


def _attribute(kind: LinkKind, element: Element, name: str) -> Iterator[Candidate]:
    """An address, unless it names nothing: an empty one of an anchor names the page itself (WHATWG HTML)."""
    raw = element.get(name)
    if not (raw is None or _is_inline(raw) or (kind is not LinkKind.a and not raw.strip())):
        yield kind, raw, element


def _srcset(element: Element) -> Iterator[Candidate]:
    for raw in srcset_urls(element.get("srcset") or ""):
        if not _is_inline(raw):
            yield LinkKind.img, raw, element


_MORE = {"iframe": _iframe, "img": _srcset, "input": _input, "link": _link, "meta": _meta}
_MORE |= {"source": _source, **dict.fromkeys(_LOADED_BY_SVG, _of_svg)}
_LINK_TAGS = tuple({**_SIMPLE, **_MORE})


def _is_inline(raw: str) -> bool:
    return raw.lstrip()[:5].lower() == "data:"


def srcset_urls(value: str) -> Iterator[str]:
    """The URLs of a srcset attribute (WHATWG HTML, "parse a srcset attribute"); commas may be part of them."""
    position, end = 0, len(value)
    while True:
        while position < end and (value[position].isspace() or value[position] == ","):
            position += 1
        if position >= end:
            return
        start = position
        while position < end and not value[position].isspace():
            position += 1
        url = value[start:position]
        if url.endswith(","):
            yield url.rstrip(",")
            continue
        yield url
        depth = 0
        while position < end and (value[position] != "," or depth):
            depth += {"(": 1, ")": -1}.get(value[position], 0) if depth or value[position] == "(" else 0
            position += 1


def link_text(element: Element | None, max_chars: int) -> str:
    """The text of a link, cleaned and cut: of an anchor its content, of a picture or area its `alt`."""
    if element is None:
        return ""
    if element.__class__ is str:
        return " ".join(element[: max_chars * 4].split())[:max_chars].rstrip()
    if isinstance(element, dict):
        return clean_text((element.get("") or element.get("alt") or "")[: max_chars * 4], max_chars)
    tag = element.tag
    if tag in _ANCHORS:
        if not len(element):
            text = element.text
            return " ".join(text[: max_chars * 4].split())[:max_chars].rstrip() if text else ""
        parts: list[str] = []
        length = 0
        for number, part in enumerate(element.itertext()):
            parts.append(part[: max_chars * 4])
            length += len(part.strip())
            if length >= max_chars * 2 or number >= _MOST_TEXT_PARTS:
                break
        return clean_text("".join(parts), max_chars)
    return clean_text((element.get("alt") or "")[: max_chars * 4], max_chars)


def clean_text(text: str, max_chars: int) -> str:
    """Text of a page on one line, at most `max_chars` characters. Otherwise raw: what it is shown on makes it safe."""
    return " ".join(text.split())[:max_chars].rstrip()
