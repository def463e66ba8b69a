"""What a page and its header say to crawlers: robots directives, canonical, refresh."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# directives with a value: "unavailable_after: 25 Jun 2027" has no agent before its colon
_VALUED = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "max-video-duration"}
)
_REFRESH = re.compile(
    r"\s*+(?:\d++[\d.]*+|\.[\d.]*+)(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:'([^']*+)|\"([^\"]*+)|(.*))",
    re.IGNORECASE | re.DOTALL,
)
_LINK_HEADER = re.compile(r"<([^<>]*+)>([^<]*+)")
_REL = re.compile(r""";\s*+rel\s*+=\s*+(?:"([^"]*+)"|([^\s";,]++))""", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s,]+")


@dataclass(frozen=True, slots=True)
class RobotsDirectives:
    """Whether a page may be kept and its links followed; several sources add up to the stricter."""

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: RobotsDirectives) -> RobotsDirectives:
        return RobotsDirectives(self.noindex or other.noindex, self.nofollow or other.nofollow)


def robots_content(content: str) -> RobotsDirectives:
    """The directives in the content of a `meta name=robots` element."""
    return _directives(_SEPARATORS.split(content.lower()))


def x_robots_tag(values: Iterable[str], product_token: str) -> RobotsDirectives:
    """The directives of X-Robots-Tag fields that address everybody or this crawler ("bot: noindex, nofollow")."""
    ours: list[str] = []
    for value in values:
        addressed = True
        for item in value.lower().split(","):
            name, colon, rest = item.partition(":")
            names_agent = bool(colon) and name.strip() not in _VALUED
            if names_agent:
                addressed = name.strip() == product_token.lower()
            if addressed:
                ours.append((rest if names_agent else item).strip())
    return _directives(ours)


def _directives(tokens: Iterable[str]) -> RobotsDirectives:
    words = set(tokens)
    none = "none" in words
    return RobotsDirectives("noindex" in words or none, "nofollow" in words or none)


def refresh_target(content: str) -> str:
    """The URL of a Refresh value (WHATWG HTML, "shared declarative refresh steps"), "" when it only reloads."""
    found = _REFRESH.match(content)
    return "" if found is None else next((group for group in found.groups() if group is not None), "").strip()


def canonical_in_header(values: Iterable[str]) -> str:
    """The target of the first `rel=canonical` in Link fields (RFC 8288), "" when there is none."""
    for value in values:
        for target, parameters in _LINK_HEADER.findall(value):
            rel = _REL.search(parameters)
            if rel is not None and "canonical" in (rel[1] or rel[2] or "").lower().split():
                return str(target).strip()
    return ""
