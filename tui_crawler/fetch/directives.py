"""What a page and its header say to crawlers: robots directives, canonical, refresh."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# directives with a value, which is no directive and no agent: "max-image-preview: none", "unavailable_after: 25 Jun"
_VALUED = re.compile(r"max-[a-z-]++\s*+:\s*+[^\s,;]*+|unavailable_after\s*+:[^,;]*+")
_AGENT = re.compile(r"\s*+([^\s:]++)\s*+:")
_REFRESH = re.compile(
    r"\s*+(?:\d++[\d.]*+|\.[\d.]*+)(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:'([^']*+)|\"([^\"]*+)|(.*))",
    re.IGNORECASE | re.DOTALL,
)
_LINK_HEADER = re.compile(r"<([^<>]*+)>([^<]*+)")
_REL = re.compile(r""";\s*+rel\s*+=\s*+(?:"([^"]*+)"|([^\s";,]++))""", re.IGNORECASE)
_SEPARATORS = re.compile(r"[,;]")


@dataclass(frozen=True, slots=True)
class RobotsDirectives:
    """Whether a page may be kept and its links followed; several sources add up to the stricter."""

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: RobotsDirectives) -> RobotsDirectives:
        return RobotsDirectives(self.noindex or other.noindex, self.nofollow or other.nofollow)


def robots_content(content: str) -> RobotsDirectives:
    """The directives in the content of a `meta name=robots` element."""
    return _directives(_items(content))


def x_robots_tag(values: Iterable[str], product_token: str) -> RobotsDirectives:
    """The directives of X-Robots-Tag fields that address everybody or this crawler ("bot: noindex, nofollow")."""
    ours: list[str] = []
    for value in values:
        addressed = True
        for item in _items(value):
            agent = _AGENT.match(item)
            if agent is not None:
                addressed = agent[1] == product_token.lower()
            if addressed:
                ours.append(item if agent is None else item[agent.end() :])
    return _directives(ours)


def _items(content: str) -> list[str]:
    """What stands between commas or semicolons, in lower case, without directives that have a value."""
    return _SEPARATORS.split(_VALUED.sub("", content.lower()))


def _directives(items: Iterable[str]) -> RobotsDirectives:
    words = {word for item in items for word in item.split()}
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
