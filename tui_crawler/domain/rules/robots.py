"""robots.txt rules of an origin (RFC 9309): may this URL be requested, which line says so, and how fast.

The decision is Protego's. It gets one group, already chosen, in an alphabet it neither decodes nor escapes:
every octet becomes an upper-case and a lower-case letter, `*` stays as `**`, the end of the URL is `--` and
`$` at the end of a pattern likewise. So a pattern's length, and with it which rule is longest, stays what the
file says, parts can only match between octets, and Protego's own readings (`index.html`, `$`, percent
sequences) never apply. Its matcher looks for the parts of a pattern from left to right, which is linear.
`%2A` and `%24` of a rule are the octets `*` and `$` in that alphabet, as they are in a URL in either spelling
(RFC 9309, section 2.2.3).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tui_crawler.domain.record import dataclass, field, replace
from tui_crawler.domain.rules.robots_text import InForce, PathRule, cut, directives, in_force, same_escapes

if TYPE_CHECKING:
    from tui_crawler.domain.url import CrawlUrl

MAX_BYTES = 512_000  # RFC 9309 requires at least 500 KiB
_ROBOTS_PATH = "/robots.txt"
_AGENT = "*"  # the one group of the text that Protego gets
_END = "--"
_UNRESERVED = re.compile(r"%(?:4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE]|2[DE]|3[0-9])")
_WILDCARD_BUDGET = 65_536  # characters of wildcard patterns that are matched as written, per group

_OCTETS = {code: f"{'ABCDEFGHIJKLMNOP'[code >> 4]}{'abcdefghijklmnop'[code & 15]}" for code in range(256)}
_PATTERN_OCTETS = {**_OCTETS, ord("*"): "**"}
_STAR, _DOLLAR = "%2A".translate(_OCTETS), "%24".translate(_OCTETS)


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """The answer for one URL; `line_number` and `line` are of the line that decided, if any did."""

    allowed: bool
    line_number: int | None = None
    line: str = ""


@dataclass(frozen=True, slots=True)
class _Compiled:
    """One rule in Protego's alphabet; `parts` are what stands between its asterisks."""

    rule: PathRule
    pattern: str
    parts: tuple[str, ...]

    def matches(self, target: str) -> bool:
        first, *rest = self.parts
        if not target.startswith(first):
            return False
        position = len(first)
        for part in rest:
            position = target.find(part, position)
            if position < 0:
                return False
            position += len(part)
        return True


class _Judge:
    """The rules of one group. Protego decides; the longest match is also found here, for its line."""

    __slots__ = ("_literals", "_protego", "_rules", "_wildcards")

    def __init__(self, rules: Sequence[PathRule]) -> None:
        compiled: dict[tuple[bool, str], _Compiled] = {}
        for rule in rules:
            anchored = rule.pattern.endswith("$")
            written = (rule.pattern[:-1] if anchored else rule.pattern).translate(_PATTERN_OCTETS)
            encoded = _as_literals(written)
            rank = "*" * (len(written) - len(encoded))  # a rule is as long as it is written: `%2A` has three octets
            pattern = f"/{encoded}{_END if anchored else ''}"
            parts = tuple(re.sub(r"\*+", "*", pattern).split("*"))
            pattern += rank
            compiled.setdefault((rule.allow, pattern), _Compiled(rule, pattern, parts))
        self._rules = sorted(compiled.values(), key=lambda each: (-len(each.pattern), not each.rule.allow))
        self._wildcards = [each for each in self._rules if len(each.parts) > 1]
        self._literals = tuple(each.parts[0] for each in self._rules if len(each.parts) == 1)
        lines = [f"{'Allow' if each.rule.allow else 'Disallow'}: {each.pattern}\n" for each in self._rules]
        self._protego: Any = None
        if lines:
            from protego import Protego  # noqa: PLC0415  it takes long to load

            self._protego = Protego.parse(f"User-agent: {_AGENT}\n{''.join(lines)}")

    def decide(self, target: str) -> RobotsDecision:
        encoded = f"/{_as_literals(target.translate(_OCTETS))}{_END}"
        allowed = self._protego is None or self._protego.can_fetch(encoded, _AGENT)
        for each in self._rules if encoded.startswith(self._literals) else self._wildcards:
            if each.matches(encoded):
                return RobotsDecision(allowed, each.rule.line_number, each.rule.line)
        return RobotsDecision(allowed)


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one robots.txt for one product token. Equal files give equal rules. Immutable.

    `group` is the agent whose group is in force ("" if none is), `crawl_delay_ms` the larger of Crawl-delay
    and Request-rate as milliseconds between requests, `sitemaps` as written, `truncated` whether the file was
    cut at `max_bytes`, `widened` how many wildcard rules beyond the budget were made stricter than written.
    """

    group: str
    crawl_delay_ms: int | None
    sitemaps: tuple[str, ...]
    rules: tuple[PathRule, ...] = field(repr=False)
    truncated: bool = False
    widened: int = 0
    _plain: _Judge = field(init=False, repr=False, compare=False)
    _decoded: _Judge = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rules: list[PathRule] = []
        for rule in self.rules:
            folder, slash, page = rule.pattern.rpartition("/")
            rules.append(rule)
            if rule.allow and slash and page.startswith("index.htm"):  # it allows the folder, too (Google's extension)
                rules.append(replace(rule, pattern=f"{folder}/$"))
        decoded = [replace(rule, pattern=_decode(rule.pattern)) for rule in rules]
        plain = _Judge(rules)
        object.__setattr__(self, "_plain", plain)
        object.__setattr__(self, "_decoded", plain if decoded == rules else _Judge(decoded))

    def allows(self, url: CrawlUrl) -> RobotsDecision:
        """Return whether the URL may be requested. Path and query are compared; /robots.txt itself is always allowed.

        Percent-encoded unreserved characters (`/%61dmin`) are compared decoded, in the URL and in the rules (RFC 9309,
        section 2.2.2). An Allow line that contains some must match as it is written, too: so Google reads it, and
        what only one reading allows is denied.
        """
        if url.path == _ROBOTS_PATH:
            return RobotsDecision(True)
        target = same_escapes(url.target)
        if not target.isascii():  # one character per octet; a normalised URL is ASCII
            target = target.encode("utf-8", "replace").decode("latin-1")
        decoded = _decode(target)
        decision = self._decoded.decide(decoded)
        if not decision.allowed or self._plain is self._decoded:
            return decision
        again = self._plain.decide(target)
        if not again.allowed and decoded != target:
            again = self._plain.decide(decoded)
        return decision if again.allowed else again


def parse_robots(body: bytes, token: str, max_bytes: int = MAX_BYTES) -> RobotsRules:
    """The rules of a robots.txt for a product token. Any bytes will do; nothing raises.

    The body is cut at the last line end within `max_bytes`; a byte order mark is dropped. Patterns keep the
    octets of the file (percent-encoded), so that a rule in another encoding still holds; what is shown
    (`line`, `group`, `sitemaps`) is UTF-8 with replacement.
    """
    kept = cut(body, max_bytes)
    found = in_force(directives(kept), token)
    rules, widened = _within_budget(found)
    return RobotsRules(found.group, found.crawl_delay_ms, found.sitemaps, rules, len(kept) < len(body), widened)


def product_token(user_agent: str) -> str:
    """The user agent up to its first space or slash (docs/behaviour.md)."""
    return re.split(r"[\s/]", user_agent.strip(), maxsplit=1)[0]


def _within_budget(found: InForce) -> tuple[tuple[PathRule, ...], int]:
    """Bound what a hostile file can cost per URL. Past the budget a Disallow holds for everything under the
    text before its first `*` and an Allow with `*` is dropped: stricter than written, never laxer."""
    rules: list[PathRule] = []
    spent = widened = 0
    for rule in found.rules:
        literal, star, _ = rule.pattern.partition("*")
        spent += len(rule.pattern) if star else 0
        if not star or spent <= _WILDCARD_BUDGET:
            rules.append(rule)
            continue
        widened += 1
        if not rule.allow:  # as many asterisks as characters go: the rule keeps its rank among the others
            rules.append(replace(rule, pattern=literal.ljust(len(rule.pattern), "*")))
    return tuple(rules), widened


def _as_literals(encoded: str) -> str:
    """`%2A` and `%24` as the octets `*` and `$`, in the alphabet of `_OCTETS`."""
    return encoded.replace(_STAR, _OCTETS[42]).replace(_DOLLAR, _OCTETS[36])


def _decode(text: str) -> str:
    """Percent-encoded unreserved characters decoded: letters, digits, "-", ".", "_" and "~" (RFC 3986)."""
    return _UNRESERVED.sub(lambda found: chr(int(found[0][1:], 16)), text)


ALLOW_ALL = parse_robots(b"", "")
