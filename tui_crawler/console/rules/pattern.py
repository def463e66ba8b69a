"""A pattern for URLs that are alike, to begin a rule with. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tui_crawler.domain.history.diagnosis import policy_for
from tui_crawler.domain.rules.policy import QueryPolicy

_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")
_VARYING = re.compile(r"(?P<kept>%[0-9A-Fa-f]{2}|/v[0-9]+(?=[/?]|$))|[0-9]+")
"""Numbers; an escaped octet is none, nor is the version of an interface (`/v2/`)."""
_MOST = 4
"""More shapes than these are not listed: what they begin with is taken instead."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """URLs of one origin that differ in numbers only. `words` has what follows the origin, with `*` for them."""

    words: str
    urls: tuple[str, ...]


def clusters_of(urls: Sequence[str]) -> tuple[Cluster, ...]:
    """The clusters of at least two URLs, the largest first."""
    alike: dict[str, list[str]] = {}
    for url in urls:
        alike.setdefault(_shape(url), []).append(url)
    found = []
    for first, *others in alike.values():
        if others:
            words = _VARYING.sub(lambda number: number["kept"] or "*", first[len(_origin(first)) :])
            found.append(Cluster(words, (first, *others)))
    return tuple(sorted(found, key=lambda one: -len(one.urls)))


def rule_about(urls: Sequence[str], refused: Sequence[str]) -> QueryPolicy | str:
    """Return what a rule about URLs begins with: the policy that allows their queries where these are why all of them
    were `refused`, else their pattern."""
    return (policy_for(urls) if urls == refused else None) or pattern_of(urls)


def pattern_of(urls: Sequence[str]) -> str:
    """A regular expression for the shape of these URLs: as they are, but any number where they have one.

    URLs of many shapes are taken by the folder they have in common, if they have one. Empty without a URL.
    """
    shapes = tuple(dict.fromkeys(_shape(url) for url in urls))
    if not shapes:
        return ""
    if len(shapes) == 1:
        return f"^{shapes[0]}$"
    if len(shapes) <= _MOST:
        return f"^(?:{'|'.join(shapes)})$"
    first, last = min(urls), max(urls)  # what these two begin with, all do
    same = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    common = first[:same]
    folder = common[: common.rfind("/") + 1]
    if folder.count("/") >= 3:
        return f"^{_shape(folder)}"
    paths = tuple(dict.fromkeys(_shape(url)[len(_origin(url, escaped=True)) :] for url in urls))
    return f"(?:{'|'.join(paths)})$"


def _origin(url: str, *, escaped: bool = False) -> str:
    text = "/".join(url.split("/", 3)[:3])
    return literal(text) if escaped else text


def _shape(url: str) -> str:
    origin = _origin(url)
    path, shape, end = url[len(origin) :], literal(origin), 0
    for found in _VARYING.finditer(path):
        if not found["kept"]:
            shape += literal(path[end : found.start()]) + "[0-9]+"
            end = found.end()
    return shape + literal(path[end:])


def literal(text: str) -> str:
    """The pattern of a text as it stands."""
    return _SPECIAL.sub(r"\\\1", text)
