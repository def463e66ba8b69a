"""Header fields as they come from a hostile server: decoded, measured, and the few values fetching understands;
dates as documents write them, too: the W3C profile of ISO 8601, RFC 3339 and RFC 822, as epoch ms."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from tui_crawler.domain.crawl.recrawl import parse_http_date
from tui_crawler.domain.records.attempt import Headers, first_values, is_field_value
from tui_crawler.domain.url import without_userinfo
from tui_crawler.fetch.classify import Phase, TransferFailed, Trouble

RawHeaders = Sequence[tuple[bytes, bytes]]

MESSAGE_CHARS = 300
LONGEST_WAIT_MS = 10 * 365 * 24 * 3600 * 1000  # ten years: keeps nonsense inside a 64-bit column
_POINTING = frozenset({b"location", b"content-location", b"refresh"})
_SEPARATORS_BYTES = 4  # ": " and the line end
_MIME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+")
_FIELD = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++:[^\0\r\n\v\f]*+")
_ORDINARY = re.compile(  # most heads: a status line, then fields, at most one of them Content-Length
    rb".*+\n(?:(?!%(length)s)%(field)s)*+(?:%(length)s:[ \t]*+[0-9]++[ \t]*+\r?\n(?:(?!%(length)s)%(field)s)*+)?+\r?\n"
    % {b"length": rb"[Cc](?i:ontent-length)", b"field": rb"[\w\-]++:.*+\n"}
)
_FRAMING = re.compile(  # where a line begins for a reader that takes CR or NUL for its end
    rb"(?:\A|[\0\r])[^A-Za-z\0\r]*+(?:content-length|transfer-encoding)(?![\w\-])", re.IGNORECASE
)
HEAD_END = re.compile(rb"\n\r?\n")
_FOLD = re.compile(rb"\r?\n(?=[ \t])")  # a folded line (RFC 9112, 5.2)
_LENGTH = b"content-length:"
_CODINGS = frozenset({"br", "compress", "deflate", "gzip", "x-compress", "x-gzip", "zstd"})
_CHARSET = re.compile(r""";\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)


def decode_headers(raw: RawHeaders, max_bytes: int) -> tuple[Headers, bool]:
    """The fields as text (ISO 8859-1, which loses no byte), and whether some were cut to stay within `max_bytes`.

    A user name and password in a URL that the answer points to are masked: fields are kept and shown.
    """
    kept: list[tuple[str, str]] = []
    used = 0
    for name, value in raw:
        used += len(name) + len(value) + _SEPARATORS_BYTES
        if used > max_bytes:
            return tuple(kept), True
        text = value.decode("latin-1")
        kept.append((name.decode("latin-1"), without_userinfo(text) if name.lower() in _POINTING else text))
    return tuple(kept), False


def sift_head(head: bytes) -> tuple[bytes, int]:
    """Return a response head as a strict parser takes it, and how many header lines were left out of it.

    Lines that are not well-formed are left out, folded ones are joined; of equal values of Content-Length one is kept
    (RFC 9110, 8.6). Raises TransferFailed for a line that may be meant to frame the body, and for a status line with
    NUL or CR.
    """
    head = head.lstrip(b"\r\n")  # an empty line after an interim response
    if b"\n " in head or b"\n\t" in head:
        head = _FOLD.sub(b"", head)
    if _ORDINARY.fullmatch(head) is not None and not (
        b"\0" in head or b"\v" in head or b"\f" in head or head.count(b"\r") > head.count(b"\r\n")
    ):
        return head, 0
    status, *lines = re.split(rb"\r?\n", head.rstrip(b"\r\n"))
    kept = [line for line in lines if _FIELD.fullmatch(line) is not None]
    odd = [line for line in lines if _FIELD.fullmatch(line) is None]
    for line in (status, *odd):
        if _FRAMING.search(line) is not None or (line is status and (b"\0" in line or b"\r" in line)):
            raise TransferFailed(Phase.head, Trouble.protocol, f"illegal HTTP: the line {line[:80]!r} of the head")
    lengths = [line for line in kept if line[: len(_LENGTH)].lower() == _LENGTH]
    values = {value.strip() for line in lengths for value in line[len(_LENGTH) :].split(b",")}
    if len(values) == 1:
        kept = [*(line for line in kept if line not in lengths), b"Content-Length: " + values.pop()]
    return b"\r\n".join((status, *kept, b"", b"")), len(odd)


def encode_headers(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return header fields as bytes: validators go back as they came (ISO 8859-1), other text as UTF-8.

    Raises TransferFailed for a value that no field may hold.
    """
    for name, value in headers:
        if not is_field_value(value):
            raise TransferFailed(Phase.head, Trouble.local, f"illegal value of {name}")
    return [(name.encode("ascii"), _encode_value(value)) for name, value in headers]


def _encode_value(value: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace")


def values_of(headers: Headers, name: str) -> Iterator[str]:
    """All values of a field, in order."""
    wanted = name.lower()
    return (value for key, value in headers if key.lower() == wanted)


def location_text(value: str) -> str:
    """Return a Location value as text: its bytes are UTF-8 if they can be, else each is escaped (as browsers do)."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return "".join(char if char.isascii() else f"%{ord(char):02X}" for char in value)


@lru_cache(256)  # a server says the same of all its pages
def content_type(value: str) -> tuple[str, str]:
    """The media type in lower case and the charset label of a Content-Type value; "" for what is not there."""
    mime = _MIME.match(value.strip().lower())
    charset = _CHARSET.search(value)
    label = next((group for group in charset.groups() if group is not None), "") if charset else ""
    return (mime[0] if mime else "", label.strip())


def content_codings(values: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """The content codings in the order they were applied (RFC 9110, 8.4), without `identity`, in lower case; and the
    first token that names none, "" without one."""
    tokens = [token.strip().lower() for value in values for token in value.split(",")]
    unknown = (token for token in tokens if token not in _CODINGS and token not in ("", "identity"))
    return tuple(token for token in tokens if token in _CODINGS), next(unknown, "")


def same_etag(one: str, other: str) -> bool:
    """Weak comparison of entity tags (RFC 9110, 8.8.3.2); an empty one is equal to none."""
    bare = one.strip().removeprefix("W/")
    return bare != "" and bare == other.strip().removeprefix("W/")


def retry_after_ms(value: str | None, date: str | None, now_ms: int) -> int | None:
    """A Retry-After value as a wait in ms, None when there is none or it is nonsense.

    Seconds, or a date from which the answer's own Date is taken away, else `now_ms` (epoch ms; RFC 9110, 10.2.3).
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:12]) * 1000, LONGEST_WAIT_MS) if len(text) <= 12 else LONGEST_WAIT_MS
    until = parse_http_date(text)
    if until is None:
        return None
    answered = parse_http_date(date or "")
    return max(0, min(until - (now_ms if answered is None else answered), LONGEST_WAIT_MS))


def asked_wait_ms(headers: Headers, now_ms: int) -> int | None:
    """The same of the header fields of an answer."""
    fields = first_values(headers)
    return retry_after_ms(fields.get("retry-after"), fields.get("date"), now_ms)


def clean_message(text: str, limit: int = MESSAGE_CHARS) -> str:
    """A message that may hold bytes of a server, cut; control and format characters become U+FFFD."""
    cut = text[: limit + 1]
    safe = "".join("\ufffd" if unicodedata.category(char) in _UNSAFE else char for char in cut)
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


_LONGEST = 64  # characters
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = r"[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|z|[+-]\d{2}:?\d{2})?"
_LEAST = (1, 1, 1, 0, 0, 0)
_W3C = re.compile(rf"(\d{{4}})(?:-(\d{{2}})(?:-(\d{{2}})(?:{_TIME})?)?)?", re.ASCII)
_RFC_3339 = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)


def w3c_date_ms(text: str) -> int | None:
    """A W3C date (YYYY, YYYY-MM, YYYY-MM-DD, with time and zone); without a zone it is UTC. None for another text,
    and for a moment that is none or is not within the years 1 to 9999."""
    found = _W3C.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        return None
    *numbers, fraction, zone = found.groups()
    year, month, day, hour, minute, second = (int(one or least) for one, least in zip(numbers, _LEAST, strict=True))
    microsecond = int((fraction or "0")[:6].ljust(6, "0"))
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), microsecond, _zone(zone))  # a leap second
        return (moment.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None


def is_rfc_3339(text: str) -> bool:
    """Return whether a text is a date as Atom wants it (RFC 4287, 3.3)."""
    stripped = text.strip()
    return _RFC_3339.fullmatch(stripped) is not None and w3c_date_ms(stripped) is not None


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)
