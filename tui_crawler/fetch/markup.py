"""Guards before parsing: what would take lxml seconds or hundreds of MiB is cut, and said (RELIABILITY)."""

import re
from collections.abc import Iterator
from itertools import accumulate, islice

from tui_crawler.fetch.limits import FetchLimits

_SPACE = rb"\t\n\x0c\r "
# an attribute as the HTML tokenizer has it: a name may begin with "=", quotes count only where a value begins
_ONE_ATTRIBUTE = (
    rb"[^%(s)s/>][^%(s)s/>=]*+(?:[%(s)s]*+=[%(s)s]*+(?:\"[^\"]*+\"|'[^']*+'|[^%(s)s>\"'][^%(s)s>]*+)?+)?+"
    % {b"s": _SPACE}
)
_ATTRIBUTE = re.compile(_ONE_ATTRIBUTE)
_BETWEEN_ATTRIBUTES = re.compile(rb"[%s/]*+" % _SPACE)
_SMALL_TAG_REST = re.compile(
    rb"(?:[%(s)s/]++|[^%(s)s/>][^%(s)s/>=]*+"
    rb"(?:[%(s)s]*+=[%(s)s]*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^%(s)s>]*+)|(?![%(s)s]*+=)))*+>" % {b"s": _SPACE}
)
_OPENING = re.compile(rb"<(?:(!--)|/?([a-zA-Z][^%s/>]*+)|[!?/])" % _SPACE)
_END = re.compile(rb">")
_QUOTED_END = re.compile(rb"=[%s]*+(?:\"[^\">]*+>|'[^'>]*+>)" % _SPACE)  # a ">" that may stand in a value
_EMPTY_COMMENT = re.compile(rb"-?+>")
_COMMENT_END = re.compile(rb"--!?>")
_RAW_TEXT_NAMES = (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes")
_RAW_TEXT = {name: re.compile(rb"</%s[%s/>]" % (name, _SPACE), re.IGNORECASE) for name in _RAW_TEXT_NAMES}
_SCRIPT_TOKEN = re.compile(rb"<!--(-*+>)?|-->|<(/?+)script[%s/>]" % _SPACE, re.IGNORECASE)
# Text and small well-formed tags, passed over at one stroke: most of every page
_ORDINARY = re.compile(
    rb"(?:[^<]++|</?+(?!(?:%(names)s)[%(s)s/>])[a-zA-Z][^%(s)s<>/]{0,64}+"
    rb"(?:[%(s)s]{1,64}+[^%(s)s<>/=\"']{1,64}+(?:=(?:\"[^\"]{0,512}+\"|'[^']{0,512}+'|[^%(s)s<>=\"']{1,512}+))?+){0,24}+"
    rb"[%(s)s]{0,64}+/?+>)++" % {b"s": _SPACE, b"names": b"|".join(_RAW_TEXT_NAMES)},
    re.IGNORECASE,
)
_ORDINARY_BYTES = 24 * (64 + 64 + 1 + 514) + 200
_ORDINARY_ATTRIBUTES = 24
_STRIDE_BYTES = 256 * 1024  # one match holds the interpreter: at most some ms
_SLASH = ord("/")
_SHORTEST_ATTRIBUTE = 2  # a name of one byte and a space


GuardedMarkup = tuple[bytes | None, tuple[str, ...]]
"""Markup that is safe to parse (None: it must not be parsed), and the names of what was cut from it: "tags": only its
beginning is there; "tag": the attributes of a tag were too many; "entities": it declares some, and none is expanded."""


def guard_html(data: bytes, limits: FetchLimits) -> GuardedMarkup:
    """Cut UTF-8 HTML to `max_tags` tags, and removes attributes from tags over the bounds (`without_long_attributes`).

    Linear in the size of the data, whatever it holds.
    """
    end = _end_of_tags(data, limits.max_tags)
    kept, whole = without_long_attributes(data[:end], limits)
    return kept, tuple(name for name, is_cut in (("tags", end < len(data)), ("tag", whole)) if is_cut)


def without_long_attributes(data: bytes, limits: FetchLimits) -> tuple[bytes, bool]:
    """Return HTML without the longest attributes of tags over `max_tag_bytes` (docs/behaviour.md), and without
    all of tags over `max_tag_attributes`; and whether there are such tags. Tags stay, and an attribute in the place of
    each that was too long: without these, what follows could become markup that the guard has not seen."""
    kept: list[bytes] = []
    position, lost = 0, False
    for start, stop, whole in _oversized_attributes(data, limits):
        kept += (data[position:start], b"" if whole else b'_=""')
        position, lost = stop, lost or whole
    return b"".join((*kept, data[position:])) if kept else data, lost


def guard_xml(data: bytes, limits: FetchLimits) -> GuardedMarkup:
    """Cut UTF-8 XML to `max_tags` tags; refuses a document type that declares entities (no expansion at all)."""
    if b"<!ENTITY" in data:
        return None, ("entities",)
    end = _end_of_tags(data, limits.max_tags)
    return data[:end], ("tags",) if end < len(data) else ()


def _end_of_tags(data: bytes, most: int) -> int:
    """Return where the data must end to have at most `most` tags."""
    if len(data) <= most or data.count(b"<") <= most:
        return len(data)
    step = 64 * 1024
    seen, position = 0, 0
    while seen + (here := data.count(b"<", position, position + step)) <= most:
        seen, position = seen + here, position + step
    for _ in range(most - seen + 1):
        position = data.index(b"<", position) + 1
    return position - 1


def _oversized_attributes(data: bytes, limits: FetchLimits) -> Iterator[tuple[int, int, bool]]:
    """Where what must not be parsed begins and ends, and whether it is all that a tag has."""
    most = limits.max_tag_attributes
    least = min(limits.max_tag_bytes, most * _SHORTEST_ATTRIBUTE)
    if len(data) < least or not _may_be_oversized(data, least):
        return
    ordinary_fits = limits.max_tag_bytes >= _ORDINARY_BYTES and most >= _ORDINARY_ATTRIBUTES
    for start, end in _tags(data, ordinary_fits):
        if end - start < least:
            continue
        attributes = [one.span() for one in islice(_ATTRIBUTE.finditer(data, start, end - 1), most + 1)]
        if len(attributes) > most:
            yield start, end - 1, True
            continue
        by_length = sorted(attributes, key=lambda span: span[0] - span[1])
        sizes = accumulate((stop - begin for begin, stop in by_length), initial=0)
        over = sum(stop - begin for begin, stop in attributes) - limits.max_tag_bytes
        yield from sorted((*span, False) for span, gone in zip(by_length, sizes, strict=False) if gone < over)


def _may_be_oversized(data: bytes, least: int) -> bool:
    """Return whether any tag can be `least` bytes long, by a look that costs next to nothing: where no value holds a
    ">", each ends every tag before it."""
    if _QUOTED_END.search(data) is not None:
        return True
    position = 0
    while True:
        at = data.rfind(b">", position, position + least)
        if at < 0:  # text, or a tag
            start = data.find(b"<", position)
            if start < 0:
                return False
            at = data.find(b">", start, start + least)
            if at < 0:
                return start + least <= len(data)
        position = at + 1


def _tags(data: bytes, skip_ordinary: bool) -> Iterator[tuple[int, int]]:
    """Where the name of each tag ends, and where the tag ends; not what looks like one in raw text and comments."""
    position = 0
    while True:
        if skip_ordinary and (ordinary := _ORDINARY.match(data, position, position + _STRIDE_BYTES)) is not None:
            position = ordinary.end()
        opening = _OPENING.search(data, position)
        if opening is None:
            return
        start, name = opening.start(), opening[2]
        if name is not None:
            position = _end_of_tag(data, opening.end())
            yield opening.end(), position
            if data[start + 1] != _SLASH:
                position = _end_of_raw_text(data, position, name.lower())
        elif opening[1] is None:
            position = _end_of(_END.search(data, start + 2), data)
        else:
            empty = _EMPTY_COMMENT.match(data, start + 4)
            position = _end_of(empty or _COMMENT_END.search(data, start + 4), data)


def _end_of(closing: re.Match[bytes] | None, data: bytes) -> int:
    """Return where markup goes on; without an end the parser comes to the end of the data."""
    return len(data) if closing is None else closing.end()


def _end_of_tag(data: bytes, position: int) -> int:
    """Behind the ">" of a tag whose name ends at `position`."""
    small = _SMALL_TAG_REST.match(data, position, position + _STRIDE_BYTES)
    if small is not None:
        return small.end()
    while True:  # attribute by attribute: one match over all of them would hold the interpreter
        between = _BETWEEN_ATTRIBUTES.match(data, position)
        position = position if between is None else between.end()
        if data[position : position + 1] == b">":
            return position + 1
        attribute = _ATTRIBUTE.match(data, position)
        if attribute is None:
            return len(data)
        position = attribute.end()


def _end_of_raw_text(data: bytes, position: int, name: bytes) -> int:
    """Return where markup goes on after the start tag of `name` that ends at `position`."""
    if name == b"script":
        return _end_of_script(data, position)
    raw_text = _RAW_TEXT.get(name)
    if raw_text is None:
        return position
    ending = raw_text.search(data, position)
    return len(data) if ending is None else ending.start()


def _end_of_script(data: bytes, position: int) -> int:
    """The end tag of a script, which does not count in `<!-- <script>` (WHATWG HTML, script data double escaped)."""
    escaped = nested = False
    for token in _SCRIPT_TOKEN.finditer(data, position):
        match token[0][:3]:
            case b"<!-" if token[1] is None:
                escaped = True
            case b"<!-" | b"-->":  # the former as `<!-->`, which ends what it begins
                escaped = nested = False
            case _ if not token[2]:
                nested = nested or escaped
            case _ if not nested:
                return token.start()
            case _:
                nested = False
    return len(data)
