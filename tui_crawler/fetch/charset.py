"""The character set of a body: by BOM, header, declaration, detection; and the body as UTF-8 (WHATWG Encoding)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from charset_normalizer import from_bytes

# The labels of the WHATWG Encoding standard by encoding. Anything else is an unknown label, whatever Python's codecs
# would make of it ("zip", "idna", "utf-7").
_LABELS_BY_NAME = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
    "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
    "iso_8859-8:1988 visual",
    "iso-8859-8-i": "csiso88598i logical",
    "iso-8859-10": "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso8859-13 iso885913",
    "iso-8859-14": "iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "csmacintosh mac x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "windows-1250": "cp1250 x-cp1250",
    "windows-1251": "cp1251 x-cp1251",
    "windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252",
    "windows-1253": "cp1253 x-cp1253",
    "windows-1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 "
    "latin5 x-cp1254",
    "windows-1255": "cp1255 x-cp1255",
    "windows-1256": "cp1256 x-cp1256",
    "windows-1257": "cp1257 x-cp1257",
    "windows-1258": "cp1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk",
    "gb18030": "",
    "big5": "big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese x-euc-jp",
    "iso-2022-jp": "csiso2022jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis",
    "euc-kr": "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    "utf-16be": "unicodefffe",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16",
    "x-user-defined": "",
}
_NAMES = {label: name for name, labels in _LABELS_BY_NAME.items() for label in (name, *labels.split())}
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
_UTF16_MARKUP = ((b"<\0", "utf-16le"), (b"\0<", "utf-16be"))

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
_NOT_ASCII = re.compile(rb"[\x80-\xff]")

_SPACE = rb"\t\n\x0c\r "
_ATTRIBUTE = re.compile(
    rb"([^%(s)s/>][^%(s)s/>=]*+)[%(s)s]*+(?:(=)[%(s)s]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^%(s)s>\"'][^%(s)s>]*+)?))?"
    % {b"s": _SPACE}
)
_BETWEEN_ATTRIBUTES = re.compile(rb"[%s/]*+" % _SPACE)
_TAG_NAME = re.compile(rb"</?[a-zA-Z][^%s>]*+" % _SPACE)
_CHARSET_IN_CONTENT = re.compile(
    rb"charset[%(s)s]*+=[%(s)s]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^%(s)s;\"'][^%(s)s;]*+))" % {b"s": _SPACE},
    re.IGNORECASE,
)
_XML_ENCODING = re.compile(rb"""<\?xml[^>]*?\sencoding\s*+=\s*+["']([A-Za-z0-9._:-]++)["']""")
_CSS_CHARSET = re.compile(rb'@charset "([^"]*+)";')


def encoding_of_label(label: str) -> str | None:
    """The WHATWG name of an encoding, None for an unknown label (and for `replacement`, which shows nothing)."""
    return _NAMES.get(label.strip("\t\n\x0c\r ").lower())


def choose_encoding(data: bytes, kind: str, header_label: str) -> str:
    """The encoding of a body of kind html, xml, rss or css: by BOM, header, declaration, detection."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return name
    declared = encoding_of_label(header_label) or declared_encoding(data, kind)
    if declared is not None:
        return declared
    return "utf-8" if kind == "css" else detect_encoding(data)


def declared_encoding(data: bytes, kind: str) -> str | None:
    """What the body itself declares in its beginning: `meta`, the XML declaration, or `@charset`."""
    head = data[:_PRESCAN_BYTES]
    match kind:
        case "html":
            return prescan(head) or _label_in(_XML_ENCODING.match(head))
        case "css":
            return _label_in(_CSS_CHARSET.match(head))
        case _:
            return _label_in(_XML_ENCODING.match(head))


def detect_encoding(data: bytes) -> str:
    """The encoding of a body that says nothing about it: UTF-8 if it is valid, else a guess from a sample."""
    for beginning, name in _UTF16_MARKUP:
        if data.startswith(beginning):
            return name
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        was_cut = error.start >= len(data) - 3 and error.reason == "unexpected end of data"
        return "utf-8" if was_cut and _NOT_ASCII.search(data, 0, error.start) else _guess(_sample(data))
    return "iso-2022-jp" if b"\x1b$" in data and data.isascii() else "utf-8"


def _guess(sample: bytes) -> str:
    matches = from_bytes(sample, cp_isolation=list(_GUESSED))
    best = matches.best()
    if best is None:
        return FALLBACK
    if best.encoding == "cp1250" and any("cp1252" in match.could_be_from_charset for match in matches):
        return FALLBACK  # where both are possible, western languages are taken for central European ones
    return _GUESSED.get(best.encoding, FALLBACK)


def _sample(data: bytes) -> bytes:
    """A part of the body that has something to guess from, and that does not end within a character if it can."""
    first = _NOT_ASCII.search(data)
    start = max(0, (first.start() if first else 0) - 256)
    sample = data[start : start + _SAMPLE_BYTES]
    end = max(sample.rfind(b"<"), sample.rfind(b"\n"), sample.rfind(b" "))
    return sample[:end] if end > _SAMPLE_BYTES // 2 else sample


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
    if label is None:
        return None
    name = encoding_of_label(label.decode("latin-1"))
    if name in ("utf-16le", "utf-16be"):
        return "utf-8"
    return FALLBACK if name == "x-user-defined" else name


def _label_in(match: re.Match[bytes] | None) -> str | None:
    if match is None:
        return None
    name = encoding_of_label(match[1].decode("latin-1"))
    return "utf-8" if name in ("utf-16le", "utf-16be") else name


def to_utf8(data: bytes, name: str) -> bytes:
    """The body as valid UTF-8 without BOM; what is illegal in its encoding becomes U+FFFD. NUL stays."""
    data = _without_bom(data, name)
    return data if name == "utf-8" and _is_utf8(data) else b"".join(_slices(data, name))


def utf8_slices(data: bytes, name: str) -> Iterator[bytes]:
    """The same, one slice of some 100 KiB after the other, none of which ends within a character."""
    return _slices(_without_bom(data, name), name)


def first_illegal_byte(data: bytes, name: str) -> int | None:
    """Where a body is illegal in its encoding for the first time, None when it is legal."""
    try:
        data.decode(_CODECS.get(name, name))
    except UnicodeDecodeError as error:
        return error.start
    return None


def _without_bom(data: bytes, name: str) -> bytes:
    return next((data.removeprefix(bom) for bom, bom_name in _BOMS if name == bom_name), data)


def _slices(data: bytes, name: str) -> Iterator[bytes]:
    """Decoded in slices, because one call over some MiB of illegal bytes holds the interpreter for half a second."""
    decoder = codecs.getincrementaldecoder(_CODECS.get(name, name))("replace")
    for at in range(0, len(data), _SLICE_BYTES):
        yield decoder.decode(data[at : at + _SLICE_BYTES]).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
