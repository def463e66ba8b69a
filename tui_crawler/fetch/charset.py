"""The character set of a body: by BOM, header, declaration, detection; and the body as UTF-8 (WHATWG Encoding)."""

import codecs
import re
from collections.abc import Iterator

from webencodings import LABELS

_CODECS = {
    "ibm866": "cp866",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "euc-kr": "cp949",
    "x-user-defined": "latin-1",
}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_UTF16_MARKUP = {b"<\0": "utf-16le", b"\0<": "utf-16be"}

# What is worth guessing: the legacy encodings that pages without any declaration are really in. Left to itself,
# detection takes French for Baltic and Polish for Nordic.
_GUESSED = {
    "cp1252": "windows-1252",
    "cp1251": "windows-1251",
    "koi8_r": "koi8-r",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "gb18030": "gb18030",
    "big5": "big5",
    "cp949": "euc-kr",
    "cp1250": "windows-1250",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp874": "windows-874",
}
FALLBACK = "windows-1252"

_PRESCAN_BYTES = 64 * 1024  # WHATWG asks for 1024; later ones make browsers begin again
_SAMPLE_BYTES = 8192
_SLICE_BYTES = 256 * 1024
_NO_ESCAPE = re.compile(rb"\x1b(?!\([BJ]|\$[@B])")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")

_QUERY_IN_UTF8 = frozenset({"utf-8", "utf-16le", "utf-16be", "x-user-defined"})
_NOT_OF_URLS = re.compile(rb"[\x1b#\x7f-\xff]")  # a URL parser encodes the rest, as of every URL
_IN_QUERY = "tui_crawler.query"

_SPACE = rb"\t\n\x0c\r "
_ATTRIBUTE = re.compile(
    rb"([^%(s)s/>][^%(s)s/>=]*+)[%(s)s]*+(?:(=)[%(s)s]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^%(s)s>\"'][^%(s)s>]*+)?))?"
    % {b"s": _SPACE}
)
_BETWEEN_ATTRIBUTES = re.compile(rb"[%s/]*+" % _SPACE)
_TAG_NAME = re.compile(rb"</?[a-zA-Z][^%s>]*+" % _SPACE)
_CHARSET_IN_CONTENT = re.compile(
    rb"charset[%(s)s]*+=[%(s)s]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^%(s)s;\"'][^%(s)s;]*+))" % {b"s": _SPACE}, re.IGNORECASE
)
_XML_ENCODING = re.compile(rb"""<\?xml[^>]*?\sencoding\s*+=\s*+["']([A-Za-z0-9._:-]++)["']""")
_CSS_CHARSET = re.compile(rb'@charset "([^"]*+)";')


def encoding_of_label(label: str) -> str | None:
    """The WHATWG name of an encoding, None for an unknown label (and for `replacement`, which shows nothing).

    Anything else is unknown, whatever Python's codecs would make of it ("zip", "idna", "utf-7").
    """
    name: str | None = LABELS.get(label.strip("\t\n\x0c\r ").lower())
    return None if name == "replacement" else name


def choose_encoding(data: bytes, kind: str, header_label: str) -> str:
    """The encoding of a body of kind html, xml, rss or css: by BOM, header, declaration, detection."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return name
    declared, head = encoding_of_label(header_label), data[:_PRESCAN_BYTES]
    if declared is None and kind == "html":
        declared = prescan(head)
    if declared is None:
        in_head = (_CSS_CHARSET if kind == "css" else _XML_ENCODING).match(head)
        declared = _declared(in_head and in_head[1])
    return declared or ("utf-8" if kind == "css" else detect_encoding(data))


def detect_encoding(data: bytes) -> str:
    """The encoding of a body that says nothing about it: UTF-8 if it is valid, else a guess from a sample."""
    if data[:2] in _UTF16_MARKUP:
        return _UTF16_MARKUP[data[:2]]
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        was_cut = error.start >= len(data) - 3 and error.reason == "unexpected end of data"
        return "utf-8" if was_cut and _NOT_ASCII.search(data, 0, error.start) else _guess(data)
    return "iso-2022-jp" if b"\x1b$" in data and data.isascii() else "utf-8"


def _guess(data: bytes) -> str:
    """By a part of the body that has something to guess from, and does not end within a character if it can."""
    from charset_normalizer import from_bytes  # noqa: PLC0415  large, and most pages name their encoding

    first = _NOT_ASCII.search(data)
    start = max(0, (first.start() if first else 0) - 256)
    sample = data[start : start + _SAMPLE_BYTES]
    end = max(sample.rfind(b"<"), sample.rfind(b"\n"), sample.rfind(b" "))
    sample = sample[:end] if end > _SAMPLE_BYTES // 2 else sample
    matches = from_bytes(sample, cp_isolation=list(_GUESSED))
    best = matches.best()
    if best is None:
        return FALLBACK
    if best.encoding == "cp1250" and any("cp1252" in match.could_be_from_charset for match in matches):
        return FALLBACK  # where both are possible, western languages are taken for central European ones
    return _GUESSED.get(best.encoding, FALLBACK)


def prescan(head: bytes) -> str | None:
    """The encoding that `meta` elements declare (WHATWG HTML, "prescan a byte stream to determine its encoding")."""
    position = 0
    while True:
        position = head.find(b"<", position)
        if position < 0:
            return None
        if head.startswith(b"<!--", position):
            end = head.find(b"-->", position + 2)
            if end < 0:
                return None
            position = end + 3
            continue
        tag = _TAG_NAME.match(head, position)
        if tag is not None:
            is_meta = re.fullmatch(rb"<meta/*", tag[0], re.IGNORECASE) is not None
            attributes, position, complete = _attributes(head, tag.end())
            if not complete:
                return None
            name = _meta_encoding(attributes) if is_meta else None
            if name is not None:
                return name
        elif head[position + 1 : position + 2] in (b"!", b"/", b"?"):
            position = head.find(b">", position)
            if position < 0:
                return None
        else:
            position += 1


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int, bool]:
    """The attributes of a tag from `position` on, where they end, and whether the tag is complete."""
    found: dict[bytes, bytes] = {}
    while True:
        position = _BETWEEN_ATTRIBUTES.match(head, position).end()  # type: ignore[union-attr]  # matches nothing too
        if head[position : position + 1] == b">":
            return found, position + 1, True
        attribute = _ATTRIBUTE.match(head, position)
        if attribute is None or attribute.end() == len(head):
            return found, position, False
        position = attribute.end()
        quoted = next((group for group in attribute.groups()[2:] if group is not None), None)
        if attribute[2] and quoted is None and head[position : position + 1] in (b'"', b"'"):
            return found, position, False  # the quotes are never closed
        found.setdefault(attribute[1].lower(), (quoted or b"").lower())


def _meta_encoding(attributes: dict[bytes, bytes]) -> str | None:
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv") == b"content-type":
        content = _CHARSET_IN_CONTENT.search(attributes.get(b"content", b""))
        label = next((group for group in content.groups() if group is not None), None) if content else None
    name = _declared(label)
    return FALLBACK if name == "x-user-defined" else name


def _declared(label: bytes | None) -> str | None:
    name = None if label is None else encoding_of_label(label.decode("latin-1"))
    return "utf-8" if name in ("utf-16le", "utf-16be") else name  # a declaration that can be read is not in UTF-16


def to_utf8(data: bytes, name: str) -> bytes:
    """The body as valid UTF-8 without BOM; what is illegal in its encoding becomes U+FFFD. NUL stays."""
    data = _without_bom(data, name)
    is_utf8 = name == "utf-8" and first_illegal_byte(data, name) is None
    return data if is_utf8 else b"".join(_slices(data, name))


def utf8_slices(data: bytes, name: str) -> Iterator[bytes]:
    """The same, one slice of some 100 KiB after the other, none of which ends within a character."""
    return _slices(_without_bom(data, name), name)


def first_illegal_byte(data: bytes, name: str) -> int | None:
    """Return where a body is illegal in its encoding for the first time, None when it is legal."""
    try:
        data.decode(_CODECS.get(name, name))
    except UnicodeDecodeError as error:
        return error.start
    return None


def with_query_in(raw: str, name: str) -> str:
    """Return a URL of a document with its query in the document's encoding (WHATWG URL, "percent-encode after
    encoding"). Path and fragment are left for UTF-8, and so is the query where the document is UTF-16."""
    before, mark, fragment = raw.partition("#")
    path, question, query = before.partition("?")
    if query.isascii() or name in _QUERY_IN_UTF8:
        return raw
    encoded = query.encode("gbk" if name == "gbk" else _CODECS.get(name, name), _IN_QUERY)
    escaped = _NOT_OF_URLS.sub(lambda byte: b"%%%02X" % ord(byte[0]), encoded)
    return f"{path}{question}{escaped.decode('ascii')}{mark}{fragment}"


def _reference(error: UnicodeEncodeError) -> tuple[str | bytes, int]:
    if error.object[error.start] == "\u20ac" and error.encoding == "gbk":  # WHATWG's GBK has it, Python's has not
        return b"\x80", error.start + 1
    return "".join(f"%26%23{ord(char)}%3B" for char in error.object[error.start : error.end]), error.end


codecs.register_error(_IN_QUERY, _reference)  # type: ignore[arg-type]  # only encoding names it


def _without_bom(data: bytes, name: str) -> bytes:
    return next((data.removeprefix(bom) for bom, bom_name in _BOMS if name == bom_name), data)


def _slices(data: bytes, name: str) -> Iterator[bytes]:
    """Decoded in slices, because one call over some MiB of illegal bytes holds the interpreter for half a second."""
    codec = _CODECS.get(name, name)
    decoder = codecs.getincrementaldecoder(codec)("replace")
    for at in range(0, len(data), _SLICE_BYTES):
        part = data[at : at + _SLICE_BYTES]
        try:
            text = decoder.decode(part)
        except UnicodeError:  # what it holds back of ISO-2022-JP has no end, and for that it knows no replacement
            decoder.reset()
            text = _NO_ESCAPE.sub(b"", part).decode(codec, "replace")
        yield text.encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")
