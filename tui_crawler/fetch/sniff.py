"""The kind of a body: html, xml, css, rss or other, by its Content-Type, else by its first bytes."""

import codecs
import re

from tui_crawler.domain.records.content_kind import OTHER

HTML, XML, CSS, RSS = "html", "xml", "css", "rss"

_KINDS = {
    **dict.fromkeys(("text/html", "application/xhtml+xml"), HTML),
    **dict.fromkeys(("text/xml", "application/xml"), XML),
    **dict.fromkeys(("application/rss+xml", "application/atom+xml", "application/rdf+xml"), RSS),
    "text/css": CSS,
}
_SAYS_NOTHING = frozenset({"", "*/*", "unknown/unknown", "application/unknown"})  # WHATWG MIME Sniffing, 7

_PREFIX_BYTES = 2048
_SPACE = b"\t\n\x0c\r "
_HTML_START = re.compile(
    rb"<(?:!doctype html|html|head|body|title|meta|script|style|link|div|p|a|h1|table|iframe|font|br|b|ul)[\s/>]",
    re.IGNORECASE,
)
_XML_ROOT = re.compile(rb"<([a-zA-Z_][\w.:-]*+)")
_FEED_ROOTS = frozenset({b"rss", b"feed", b"rdf:rdf"})
_CSS_START = re.compile(rb"@(?:charset|import|media|font-face|namespace|layer)\b", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


def is_other(mime: str) -> bool:
    """Return whether the media type alone says that a body is of no kind that is read; "" says nothing."""
    return mime not in _SAYS_NOTHING and kind_of(mime, b"") == OTHER


def kind_of(mime: str, body: bytes) -> str:
    """The kind of a body whose Content-Type names the media type `mime` ("" when it names none)."""
    if mime in _KINDS:
        return _KINDS[mime]
    if mime.endswith("+xml") and mime != "image/svg+xml":
        return XML
    return sniff(body) if mime in _SAYS_NOTHING else OTHER


def sniff(body: bytes) -> str:
    """The kind of a body that nothing is said about, from its first 2 KiB."""
    prefix = body[:_PREFIX_BYTES]
    for bom, wide in ((codecs.BOM_UTF8, False), (codecs.BOM_UTF16_LE, True), (codecs.BOM_UTF16_BE, True)):
        if prefix.startswith(bom):
            prefix = prefix.removeprefix(bom)
            prefix = prefix.replace(b"\0", b"") if wide else prefix
    text = prefix.lstrip(_SPACE)
    if text.startswith(b"<?xml"):
        root = _XML_ROOT.search(_COMMENT.sub(b"", text))
        name = b"" if root is None else root[1].lower()
        return HTML if name == b"html" else RSS if name in _FEED_ROOTS else XML
    while text.startswith(b"<!--") and b"-->" in text:
        text = text.partition(b"-->")[2].lstrip(_SPACE)
    root = _XML_ROOT.match(text)
    if root is not None and root[1].lower() in _FEED_ROOTS:
        return RSS
    if _HTML_START.match(text):
        return HTML
    return CSS if _CSS_START.match(text) else OTHER
