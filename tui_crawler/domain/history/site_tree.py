"""The site as a tree: the URLs of an origin by the prefixes of their paths, with counts that add up. Pure.

A branch is all URLs that begin with its prefix, which ends in `/` (a folder) or in `?` (one path with its queries).
Octets that are escaped (`%2F`) part nothing, nor does a `/` in a query. A URL below a branch is in one of the branches
there, or one of its own pages; so every URL is counted once on every level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from tui_crawler.domain.record import dataclass, field, fields

GROWTH_MS = 300_000
"""The URLs that became known within so long count as growth."""
OWN_PAGES = ""
"""Stands for the name of a branch: what a branch holds that is in none of the branches below it."""


def name_below(prefix: str, href: str) -> str:
    """The name of the branch right below `prefix` that a URL there is in, with its `/` or `?`; OWN_PAGES: none."""
    if prefix.endswith("?"):
        return OWN_PAGES
    path, query, _ = href[len(prefix) :].partition("?")
    segment, slash, _ = path.partition("/")
    return segment + slash if slash else path + query if query else OWN_PAGES


def end_of(prefix: str) -> str:
    """The least text, by code points, after all that begin with a prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def is_prefix(text: str, origin: str) -> bool:
    """Return whether a text is the prefix of a branch of an origin."""
    path = text.removeprefix(origin)
    return text.startswith(f"{origin}/") and path[-1] in "/?" and "?" not in path[:-1]


@dataclass(frozen=True, slots=True)
class BranchCounts:
    """The counts below a prefix. `known` are pages, counted as their origin's counters do: of `failed` ones those with
    tries left wait, too. `refused` are URLs that links of pages (`<a>`) name and that are no page: a filter refused
    them. `bytes` are those of the documents; `response_ms` is the sum of `timed` last attempts; `fresh` are pages that
    became known in the last GROWTH_MS."""

    known: int = 0
    done: int = 0
    failed: int = 0
    blocked: int = 0
    refused: int = 0
    bytes: int = 0
    timed: int = 0
    response_ms: int = 0
    fresh: int = 0

    def plus(self, other: BranchCounts) -> BranchCounts:
        """Both together."""
        return BranchCounts(*(getattr(self, name) + getattr(other, name) for name in _NAMES))

    @property
    def mean_ms(self) -> int | None:
        """Return how long the last answers took on the average; None without any."""
        return round(self.response_ms / self.timed) if self.timed else None

    @property
    def growth(self) -> float:
        """New pages a minute."""
        return self.fresh * 60_000 / GROWTH_MS


_NAMES = tuple(one.name for one in fields(BranchCounts))


def total(counts: Iterable[BranchCounts]) -> BranchCounts:
    """All together."""
    return reduce(BranchCounts.plus, counts, BranchCounts())


@dataclass(frozen=True, slots=True)
class BranchList:
    """The names of the first branches right below a prefix, and the counts of the first of its own pages by their URLs,
    both in the order of their text; whether there are `more` branches, where that was found in a bounded time."""

    names: tuple[str, ...]
    pages: Mapping[str, BranchCounts]
    more: bool


@dataclass(frozen=True, slots=True)
class BranchTally:
    """Counts of a stretch of the URLs below a prefix, by the names of the branches there, of `urls` URLs up to `last`;
    `ended`: there are no more. What is in none of the branches that are named is in `others`."""

    counts: Mapping[str, BranchCounts] = field(default_factory=dict)
    urls: int = 0
    last: str = ""
    ended: bool = False
    others: BranchCounts = BranchCounts()

    def plus(self, piece: BranchTally, most: int | None = None) -> BranchTally:
        """With the next piece; of more than `most` branches the first are told one by one."""
        counts, others = dict(self.counts), self.others.plus(piece.others)
        for name, more in piece.counts.items():
            if (before := counts.get(name)) is not None:
                counts[name] = before.plus(more)
            elif most is None or name == OWN_PAGES or len(counts) - (OWN_PAGES in counts) < most:
                counts[name] = more
            else:
                others = others.plus(more)
        return BranchTally(counts, self.urls + piece.urls, piece.last, piece.ended, others)

    @property
    def total(self) -> BranchCounts:
        """The branch as a whole."""
        return total((*self.counts.values(), self.others))
