"""Pasted text as seeds: one URL per line, judged before anything is sent. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.domain.url import CrawlUrl, InvalidUrl, has_scheme, read_seed, scheme_words, without_userinfo
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import plural

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line

_REFUSED_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Seeds:
    """`urls` are normalised and each once; `refused` are line number, raw text and reason. `schemes` are those that
    were taken where none was written."""

    urls: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    new_origins: tuple[str, ...] = ()
    repeated: int = 0
    refused: tuple[tuple[int, str, str], ...] = ()
    schemes: frozenset[str] = frozenset()


def read_seeds(text: str, known_origins: Iterable[str] = ()) -> Seeds:
    """Read one URL per line (`read_seed`); empty lines and lines that begin with `#` are left out."""
    known = set(known_origins)
    found: dict[str, CrawlUrl] = {}
    refused = []
    taken: set[str] = set()
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
            if not has_scheme(raw):
                taken.add(url.scheme)
    origins = tuple(dict.fromkeys(url.origin for url in found.values()))
    new = tuple(one for one in origins if one not in known)
    return Seeds(tuple(found), origins, new, repeated, tuple(refused), frozenset(taken))


def seeds_lines(seeds: Seeds) -> list[Line]:
    """What would be added, and what not and why."""
    words, role = "no seed yet", "muted"
    if seeds.urls:
        words, role = f"{plural(len(seeds.urls), 'seed')} of {plural(len(seeds.origins), 'origin')}", "ok"
    new = plural(len(seeds.new_origins), "new origin") if seeds.new_origins else ""
    notes = ", ".join(filter(None, (new, f"{seeds.repeated} repeated" if seeds.repeated else "")))
    lines: list[Line] = [(Styled(words, role), Styled(f"  {notes}" if notes else "", "muted"))]
    if words := scheme_words(seeds.schemes):
        lines.append(Styled(words, "muted"))
    lines += [
        (Styled(f"✗ line {number}: ", "error"), Styled(f"{raw} ", ""), Styled(reason, "muted"))
        for number, raw, reason in seeds.refused[:_REFUSED_SHOWN]
    ]
    more = len(seeds.refused) - _REFUSED_SHOWN
    if more > 0:
        lines.append(Styled(f"  and {plural(more, 'more line')} that cannot be crawled", "error"))
    return lines
