"""Pasted text as seeds: one URL per line, judged before anything is sent. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.table.cells import Styled
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise, without_userinfo
from tui_crawler.text.format import plural

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line

_REFUSED_SHOWN = 3
_HOST = re.compile(r"[^/?#]*(?:\.[^/?#]|:\d)")


@dataclass(frozen=True, slots=True)
class Seeds:
    """`urls` are normalised and each once; `refused` are line number, raw text and reason. `schemes` are those that
    were taken where none was written."""

    urls: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    new_origins: tuple[str, ...] = ()
    repeated: int = 0
    refused: tuple[tuple[int, str, str], ...] = ()
    schemes: tuple[str, ...] = ()


def read_seeds(text: str, known_origins: Iterable[str] = ()) -> Seeds:
    """Reads one URL per line; empty lines and lines that begin with `#` are left out.

    A missing scheme is https, or http where only that origin is known.
    """
    known = set(known_origins)
    found: dict[str, CrawlUrl] = {}
    refused = []
    taken: dict[str, None] = {}
    repeated = 0
    for number, line in enumerate(text.splitlines(), 1):
        raw = line.strip()
        if not raw or raw.startswith("#"):
            continue
        url = read_seed(raw, known)
        if isinstance(url, InvalidUrl):
            refused.append((number, without_userinfo(raw), url.reason))
        elif url.href in found:
            repeated += 1
        else:
            found[url.href] = url
            if "://" not in raw and isinstance(normalise(raw), InvalidUrl):
                taken[url.scheme] = None
    origins = tuple(dict.fromkeys(url.origin for url in found.values()))
    new = tuple(one for one in origins if one not in known)
    return Seeds(tuple(found), origins, new, repeated, tuple(refused), tuple(taken))


def scheme_words(seeds: Seeds) -> str:
    """Which scheme was taken where none was written; empty where each had its own."""
    match seeds.schemes:
        case ():
            return ""
        case ("https",):
            return "https was taken; write http:// for the other"
        case ("http",):
            return "http was taken, as that origin is known; write https:// for the other"
        case _:
            return "https was taken, http where only that is known; write the scheme for the other"


def read_seed(raw: str, known: Set[str]) -> CrawlUrl | InvalidUrl:
    """A URL as a person writes it: where no scheme stands before a name with a dot or a port it is https, or http
    where only that origin is `known`."""
    url = normalise(raw)
    if isinstance(url, CrawlUrl) or "://" in raw or not _HOST.match(raw):
        return url
    secure, plain = normalise(f"https://{raw}"), normalise(f"http://{raw}")
    if isinstance(plain, CrawlUrl) and plain.origin in known:
        return secure if isinstance(secure, CrawlUrl) and secure.origin in known else plain
    return secure


def seeds_lines(seeds: Seeds) -> list[Line]:
    """What would be added, and what not and why."""
    words = f"{plural(len(seeds.urls), 'seed')} of {plural(len(seeds.origins), 'origin')}"
    if not seeds.urls:
        words = "no seed yet"
    notes = []
    if seeds.new_origins:
        notes.append(plural(len(seeds.new_origins), "new origin"))
    if seeds.repeated:
        notes.append(f"{seeds.repeated} repeated")
    lines: list[Line] = [
        (Styled(words, "ok" if seeds.urls else "muted"), Styled(f"  {', '.join(notes)}" if notes else "", "muted"))
    ]
    if words := scheme_words(seeds):
        lines.append(Styled(words, "muted"))
    lines += [
        (Styled(f"✗ line {number}: ", "error"), Styled(f"{raw} ", ""), Styled(reason, "muted"))
        for number, raw, reason in seeds.refused[:_REFUSED_SHOWN]
    ]
    more = len(seeds.refused) - _REFUSED_SHOWN
    if more > 0:
        lines.append(Styled(f"  and {plural(more, 'more line')} that cannot be crawled", "error"))
    return lines
