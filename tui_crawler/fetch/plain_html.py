"""Ordinary HTML, read without a tree: its tags by one regular expression, in a third of the time that libxml2 takes.

This is the hot path of reading. What is ordinary is written down in `_ORDINARY`; of a page that has anything else the
answer is None, and a tree is made, which is the plain version: the tests want the same readings of both.
"""

import re
from html.entities import html5

from tui_crawler.fetch.limits import FetchLimits

PlainTag = tuple[str, str, "str | dict[str, str]"]
"""A tag: its name; of an anchor its address; its attributes, with the text of an anchor or title under "". Of an anchor
that has an address and nothing else its text."""
_MOST_OPEN = 2_000  # start tags of which none may be nested too deeply (libxml2 gives up at 2,048)

_MOST_TEXT = 400  # characters of a link: longer ones are cut where elements end
_W = r"[ \t\n\f]"
_VALUE = r"\"[^\"<>\r]{0,2048}+\""
_ATTRIBUTES = (  # as most are written, then others
    rf"(?: [a-z][a-z\-]{{0,62}}+={_VALUE}){{0,12}}+"
    rf"(?:{_W}++[a-zA-Z_:@][a-zA-Z0-9_:.\-]{{0,63}}+(?:=(?:{_VALUE}|'[^'<>\r]{{0,2048}}+'"
    rf"|[^ \t\n\r\f\"'<>=`]{{1,512}}+))?+){{0,12}}+{_W}*+"
)
_LONGEST_TAG = 25 * (64 + 2048 + 8)
_HOLD_LINKS = "area|audio|base|embed|form|img|input|link|meta|object|track|video"
_MAY_HOLD_LINKS = (  # with an attribute that few of them have
    rf"(?:blockquote|del|ins|q)(?={_W}(?:[^<>]*?{_W})?(?i:cite)=)|button(?={_W}(?:[^<>]*?{_W})?(?i:formaction)=)"
    rf"|use(?={_W}[^<>]*?(?i:href)=[\"']?[^\"'#])"
)
_OF_MATHML = rf"m[a-z]{{1,12}}+(?={_W}(?:[^<>]*?{_W})?(?i:href)=)"
_SELDOM_ALIKE = f"(?=[bdimqu])(?:{_MAY_HOLD_LINKS}|{_OF_MATHML})"
_RAW_TEXT = r"(?:[^<]++|<(?!/))*+"
_HOLD_TEXT = (  # that is no markup, up to their end tag
    rf"script{_ATTRIBUTES}>(?:[^<]++|<(?![!/])|</(?![sS][cC]))*+</script>"
    rf"|title{_ATTRIBUTES}>{_RAW_TEXT}</title>|iframe{_ATTRIBUTES}>{_RAW_TEXT}</iframe>"
)
_SAYS_NOTHING = (
    rf"style{_ATTRIBUTES}>{_RAW_TEXT}</style>|textarea{_ATTRIBUTES}>{_RAW_TEXT}</textarea>"
    r"|!--(?!-?>)(?:[^\-]++|-(?!-))*+-->"
    r"|![dD][oO][cC][tT][yY][pP][eE] [hH][tT][mM][lL](?: PUBLIC(?:\s++\"[^\"<>]*+\"){1,2}+)?+>"
)
_NOT_ALIKE = (  # what stands in these, or where they stand, says more than the tag
    f"a|{_HOLD_LINKS}|frame|frameset|iframe|image|noembed|noframes|plaintext|script|source|style|textarea|title|xmp"
)
_ORDINARY = (
    rf"/(?!html>)[a-z][a-zA-Z0-9\-]{{0,30}}+>|/html>{_W}*+\Z"  # libxml2 leaves out some of what stands behind it
    rf"|(?!(?:{_NOT_ALIKE})[ \t\n\f/>]|{_SELDOM_ALIKE})[a-z][a-zA-Z0-9\-]{{0,30}}+{_ATTRIBUTES}/?+>"
)
_WITHIN = "b|big|cite|code|em|font|i|kbd|samp|small|span|strong|sub|sup|tt|var"  # of a link, two deep
_TEXT = rf"(?:[^<]++|<(?:br|img|wbr){_ATTRIBUTES}/?+>)*+"


def _within(text: str, outer: str, inner: str) -> str:
    """Text with elements in it, two deep; `outer` and `inner` are the names of their groups."""
    in_one = rf"<(?P<{inner}>{_WITHIN}){_ATTRIBUTES}>{text}</(?P={inner})>"
    in_two = rf"<(?P<{outer}>{_WITHIN}){_ATTRIBUTES}>(?:{text}{in_one})*+{text}</(?P={outer})>"
    return rf"(?:{text}(?:{in_two})?+)*+"


_BESIDE = rf"(?: (?:accesskey|class|id|role|style|target|title)={_VALUE}){{0,8}}+"  # an address, saying nothing
_TAG = re.compile(
    rf"<(?!{_ORDINARY})"
    rf"(?:a{_BESIDE} href=\"([^\"<>&\r]{{1,2048}}+)\"{_BESIDE}>({_within('[^<&]*+', 'one', 'two')})</a>"
    rf"|(a(?=[ \t\n\f>]){_ATTRIBUTES}>(?=({_within(_TEXT, 'three', 'four')}</a>))?+"
    rf"|(?:{_HOLD_LINKS}|{_MAY_HOLD_LINKS})(?=[ \t\n\f/>]){_ATTRIBUTES}/?+>|{_HOLD_TEXT})|{_SAYS_NOTHING}|(.).*+)",
    re.DOTALL,
)
_XML_DECLARATION = re.compile(r"\A<\?xml[ \t\n][^<>\r]{0,128}+>")  # of XHTML that is served as HTML
_BEFORE_TITLE = re.compile(
    rf"(?:\s*+<(?:(?:html|head|meta|link|base)(?=[ \t\n\f/>]){_ATTRIBUTES}/?+>|script{_ATTRIBUTES}>[^<]*+</script>"
    rf"|{_SAYS_NOTHING}))*+\s*+<title"
)
_ATTRIBUTE = re.compile(r"([a-zA-Z_:@][a-zA-Z0-9_:.\-]*+)(?:=(?:\"([^\"]*+)\"|'([^']*+)'|([^ \t\n\f\"'>]++)))?+")
_CLOSED = re.compile(  # an element that is closed where it should be, with what it holds
    rb"<([a-z][a-z0-9]*+)(?: [^<>]*+)?+>[^<]*+(?:<([a-z][a-z0-9]*+)(?: [^<>]*+)?+>[^<]*+</\2>[^<]*+)*+</\1>"
)
_MOST_PASSES = 8
_WITHIN_TAG = re.compile(r"<[^>]*+>")
_REFERENCE = re.compile(r"&(?:([a-zA-Z][a-zA-Z0-9]*+;)|#([0-9]{2,5});|(?=[ \t\n\f]|\Z)|(.))", re.DOTALL)
_PARAMETER = re.compile(r"&(?=[a-zA-Z0-9]++=)")  # in an attribute no reference (WHATWG HTML, named references)


class _NotPlain(Exception):
    """Something is not ordinary."""


def plain_tags(markup: bytes, limits: FetchLimits) -> list[PlainTag] | None:
    """The tags of UTF-8 HTML that hold links or statements, in document order; None where it is not ordinary."""
    if limits.max_tag_bytes < _LONGEST_TAG or limits.max_tag_attributes < 24 or markup.endswith(b"<"):
        return None
    text = _XML_DECLARATION.sub("", markup.decode("utf-8"))
    found: list[PlainTag] = []
    names = set[str]()
    try:
        for address, words, _, _, tag, content, _, _, odd in _TAG.findall(text):
            if address and len(words) <= _MOST_TEXT:
                found.append(("a", address, _WITHIN_TAG.sub("", words) if "<" in words else words))
            elif tag:
                found.append(_read(tag, content))
                names.add(found[-1][0])
            elif address or odd:
                return None
    except _NotPlain:
        return None
    refreshes = "meta" in names and any("http-equiv" in source for name, _, source in found if name == "meta")
    misplaced = "title" in names and _BEFORE_TITLE.match(text) is None
    return None if misplaced or (refreshes and "<noscript" in text) else found


def may_be_deep(markup: bytes, tags: int) -> bool:
    """Return whether ordinary HTML with so many tags may have elements nested too deeply: unless few of them stay open
    when those are taken out that are closed where they should be, from within, two deep at a time."""
    passes = 0
    while tags > _MOST_OPEN and tags - markup.count(b"</") > _MOST_OPEN:
        if passes == _MOST_PASSES:
            return True
        markup, passes = _CLOSED.sub(b"", markup), passes + 1
        tags = markup.count(b"<")
    return False


def _read(tag: str, content: str) -> PlainTag:
    """A tag and, of an anchor, what stands in it up to its end; "" where it has none. Raises _Odd."""
    (name, *_), *attributes = _ATTRIBUTE.findall(tag.partition(">")[0])
    values: dict[str, str] = {}
    for key, double, single, bare in attributes:  # of those that are there twice the first counts
        values.setdefault(key.lower(), _decoded(double or single or bare, _PARAMETER))
    if name == "a" and "href" in values:
        inner = content[: -len("</a>")]
        if not content or len(inner) > _MOST_TEXT:
            raise _NotPlain
        values[""] = _decoded(_WITHIN_TAG.sub("", inner))
    elif name == "a" and "xlink:href" in values:  # a link where it is within SVG
        raise _NotPlain
    elif name == "title":
        values[""] = _decoded(tag[tag.index(">") + 1 : -len("</title>")])
        if not values[""].strip():
            raise _NotPlain
    return name, values.get("href", ""), values


def _decoded(text: str, literal: re.Pattern[str] | None = None) -> str:
    """Text without character references, but for what is none by `literal`. Raises _Odd for what few would write."""
    if "&" not in text:
        return text
    if literal is None:
        return _REFERENCE.sub(_character, text)
    return "&".join(_REFERENCE.sub(_character, part) for part in literal.split(text))


def _character(reference: re.Match[str]) -> str:
    name, number, odd = reference.groups()
    if odd or (name is not None and name not in html5):
        raise _NotPlain
    if name is not None:
        return html5[name]
    code = ord("&") if number is None else int(number)
    if not (32 <= code < 127 or 160 <= code < 0xD800):
        raise _NotPlain
    return chr(code)
