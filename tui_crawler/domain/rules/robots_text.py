"""robots.txt as text: bytes to directives, and the directives that are in force for one product token.

Lines, keys and groups are read as Google's published parser reads them (RFC 9309 with its tolerance for what
real files contain). Protego splits lines, groups and misspelt keys otherwise, so it is never given the file
itself but the directives that are `in_force`, written as a plain robots.txt.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from tui_crawler.domain.record import dataclass

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN = 300  # characters of a line that are kept for the eye
_MAX_LINE = 2083 * 8 - 1  # bytes; the rest of a longer line is not read, as in Google's parser
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BLANKS = re.compile(rb"[ \t]+")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_ILLEGAL = re.compile(r"""[\x00-\x20"<>\\^`{|}\x7f]""")
_AGENT = re.compile(r"[A-Za-z_-]*")
_WORD_END = re.compile(r"[ \t\x0b\x0c/]")
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{0,18})?|\.\d{1,18}")
_RATE = re.compile(r"(\d{1,18})\s*/\s*(\d{1,18})\s*([smhd]?)(?:\s.*)?", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_MAX_DELAY_MS = 366 * 86_400_000  # what a file can ask for at most; more is nonsense, and is read as this


class RobotsField(Enum):
    """The field of a line."""

    user_agent = "User-agent"
    allow = "Allow"
    disallow = "Disallow"
    sitemap = "Sitemap"
    crawl_delay = "Crawl-delay"
    request_rate = "Request-rate"


# A key is known by how it begins; the misspellings are those that Google's parser accepts, and Crawl-delay's.
_KEYS = {
    prefix: field
    for field, prefixes in {
        RobotsField.user_agent: ("user-agent", "useragent", "user agent"),
        RobotsField.allow: ("allow",),
        RobotsField.disallow: ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"),
        RobotsField.sitemap: ("sitemap", "site-map"),
        RobotsField.crawl_delay: ("crawl-delay", "crawl delay", "crawldelay"),
        RobotsField.request_rate: ("request-rate", "request rate", "requestrate"),
    }.items()
    for prefix in prefixes
}
_PREFIXES = tuple(_KEYS)


@dataclass(frozen=True, slots=True)
class Directive:
    """One line that says something. `value` is Latin-1 text: one character per byte of the file."""

    key: RobotsField
    value: str
    line_number: int
    line: str


@dataclass(frozen=True, slots=True)
class PathRule:
    """An Allow or Disallow line in force. `pattern` is ASCII, percent-encoding in upper case."""

    allow: bool
    pattern: str
    line_number: int
    line: str


@dataclass(frozen=True, slots=True)
class InForce:
    """The lines of a file for one product token. `group` is the agent named there, "" if no group is for it.

    `line_numbers` are the lines of its group: User-agent lines that name it, rules, delays.
    """

    group: str
    rules: tuple[PathRule, ...]
    crawl_delay_ms: int | None
    sitemaps: tuple[str, ...]
    line_numbers: frozenset[int] = frozenset()


def cut(body: bytes, max_bytes: int) -> bytes:
    """The first `max_bytes` of a body, without the line that would be cut in two: half an Allow allows more."""
    if len(body) <= max_bytes:
        return body
    kept = body[:max_bytes]
    return kept[: max(kept.rfind(b"\n"), kept.rfind(b"\r")) + 1]


def raw_lines(body: bytes) -> list[bytes]:
    """All lines of a file, without their ends and the byte order mark; the first has line number 1."""
    # Google's parser skips a mark that was cut short, too.
    mark = next((length for length in (3, 2, 1) if body.startswith(_BYTE_ORDER_MARK[:length])), 0)
    return _LINE_END.split(body[mark:])


def directives(body: bytes) -> Iterator[Directive]:
    """The lines of a file that say something, in order. Any bytes will do; nothing raises."""
    for number, raw in enumerate(raw_lines(body), start=1):
        content = raw[:_MAX_LINE].partition(b"\x00")[0].partition(b"#")[0].strip()
        if not content:
            continue
        name, colon, value = content.partition(b":")
        if not colon:  # some forget the colon: then there must be exactly two words
            words = _BLANKS.split(content)
            if len(words) != 2:
                continue
            name, value = words
        key = name.strip().lower().decode("latin-1")
        if key.startswith(_PREFIXES):
            field = next(field for prefix, field in _KEYS.items() if key.startswith(prefix))
            text = content.decode("utf-8", "replace")[:_SHOWN]
            yield Directive(field, value.strip().decode("latin-1"), number, text)


def in_force(lines: Iterable[Directive], token: str) -> InForce:  # noqa: C901  one line per kind of line
    """The group for `token` (all groups that name it, else those for `*`), and the sitemaps of the file.

    A group is the lines after User-agent lines; a further User-agent line begins a new one only after an
    Allow or Disallow (so neither Crawl-delay nor Sitemap separates groups). A delay is for the agents named
    since the last line of any other kind.
    """
    wanted = token.lower()
    group, star = "", False
    rules: dict[str, list[PathRule]] = {"token": [], "*": []}
    delays: dict[str, list[int]] = {"token": [], "*": []}
    numbers: dict[str, set[int]] = {"token": set(), "*": set()}
    sitemaps: dict[str, None] = {}
    agents: set[str] = set()  # of the present group: "token", "*", or none of our concern
    delayed: set[str] = set()
    closed = delay_closed = False
    for line in lines:
        if line.key is RobotsField.user_agent:
            agents = set() if closed else agents
            delayed = set() if closed or delay_closed else delayed
            closed = delay_closed = False
            named = _named(line.value, wanted)
            agents |= named
            delayed |= named
            for agent in named:
                numbers[agent].add(line.line_number)
            if "token" in named:
                group = group or line.value
            star = star or "*" in named
        elif line.key is RobotsField.sitemap:
            if line.value:
                sitemaps[_utf8(line.value)] = None
        elif line.key in (RobotsField.crawl_delay, RobotsField.request_rate):
            delay_closed = True
            milliseconds = _delay(line)
            if milliseconds is not None:
                for agent in delayed:
                    delays[agent].append(milliseconds)
                    numbers[agent].add(line.line_number)
        elif agents:
            closed = True
            whose = "token" if "token" in agents else "*"
            numbers[whose].add(line.line_number)
            pattern = same_escapes(line.value)
            if not pattern.isascii():
                pattern = "".join(each if each < "\x80" else f"%{ord(each):02X}" for each in pattern)
            if pattern:
                rules[whose].append(PathRule(line.key is RobotsField.allow, pattern, line.line_number, line.line))
    ours = "token" if group else "*"
    name = _utf8(group) if group else "*" * star
    delay = max(delays[ours], default=None)
    return InForce(name, tuple(rules[ours]), delay, tuple(sitemaps), frozenset(numbers[ours]))


def same_escapes(text: str) -> str:
    """`%3a` as `%3A`, and `a b` as `a%20b`: RFC 9309 compares escapes without regard to case, and encodes characters
    that are neither reserved nor unreserved (RFC 3986)."""
    text = _ESCAPE.sub(lambda found: found[0].upper(), text) if "%" in text else text
    return _ILLEGAL.sub(lambda found: f"%{ord(found[0]):02X}", text)


def _named(value: str, wanted: str) -> set[str]:
    """Return whether a User-agent line names every agent ("*", also with words after it), ours, or another one.

    Ours is named by the letters, "-" and "_" at its beginning (RFC 9309), or by the whole word, as tokens with
    digits and dots exist.
    """
    if value[:1] == "*" and (len(value) == 1 or value[1] in " \t\x0b\x0c"):
        return {"*"}
    found = _AGENT.match(value)
    words = {found[0].lower() if found else "", _WORD_END.split(value, 1)[0].rstrip("*").lower()}
    return {"token"} if wanted and wanted in words else set()


def _delay(line: Directive) -> int | None:
    """Milliseconds between two requests; None for a value that is no number (nonsense is ignored)."""
    if line.key is RobotsField.crawl_delay:
        if not _NUMBER.fullmatch(line.value):
            return None
        return min(-int(-float(line.value) * 1000 // 1), _MAX_DELAY_MS)  # rounded up
    found = _RATE.fullmatch(line.value)
    if found is None or not int(found[1]) or not int(found[2]):
        return None
    seconds = int(found[2]) * _SECONDS[found[3].lower()]
    return min(-(-seconds * 1000 // int(found[1])), _MAX_DELAY_MS)


def _utf8(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "replace")
