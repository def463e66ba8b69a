"""A site of a sample crawl as branches: each URL with its counts, cut into pieces as the database does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.console.sample_crawl import API
from tui_crawler.domain.history.site_tree import BranchCounts, BranchList, BranchTally, name_below, total
from tui_crawler.domain.history.trap import TrapSuspicion

EVIL = "%1b[31m\x1b]52;c;aGk=\x07\u202e[b]"
DONE = BranchCounts(1, done=1, bytes=18_000, timed=1, response_ms=310)
FAILED, BLOCKED = BranchCounts(1, failed=1, timed=1, response_ms=30_000), BranchCounts(1, blocked=1)
QUEUED, REFUSED, FRESH = BranchCounts(1), BranchCounts(refused=1), BranchCounts(1, fresh=1)
SITE: Mapping[str, BranchCounts] = {
    f"{API}/": DONE,
    f"{API}/about": QUEUED,
    **{f"{API}/calendar/{year}/{month:02}": FRESH for year in range(2000, 2020) for month in range(1, 13)},
    **{f"{API}/products/{kind}/{n}": DONE for kind in ("bolts", "nuts") for n in range(1, 1_400)},
    **{f"{API}/products/nuts/broken-{n}": FAILED for n in range(12)},
    **{f"{API}/products/{n}.html": BLOCKED for n in range(128)},
    f"{API}/search?q=/a/b": DONE,
    f"{API}/search?sort=name": REFUSED,
    f"{API}/{EVIL}/x": DONE,
}
TRAP = TrapSuspicion(("/calendar/{n}/{n}: 40 of the last 40 pages, 1.0 new ones from each, one title",), f"{API}/c/1/1")


def branch_list(prefix: str, branches: int, pages: int) -> BranchList:
    """What is right below a prefix."""
    urls = [url for url in sorted(SITE) if url.startswith(prefix)]
    names = [name for name in dict.fromkeys(name_below(prefix, url) for url in urls) if name]
    own = [url for url in urls if not name_below(prefix, url)]
    return BranchList(tuple(names[:branches]), {url: SITE[url] for url in own[:pages]}, len(names) > branches)


def branch_piece(prefix: str, after: str, most: int) -> BranchTally:
    """At most so many of the URLs after one."""
    urls = [url for url in sorted(SITE) if url.startswith(prefix) and url > after]
    counts: dict[str, BranchCounts] = {}
    for url in urls[:most]:
        name = name_below(prefix, url)
        counts[name] = total((counts.get(name, BranchCounts()), SITE[url]))
    return BranchTally(counts, len(urls[:most]), urls[:most][-1] if urls else after, len(urls) <= most)


def branch_traps(prefixes: Sequence[str]) -> dict[str, TrapSuspicion]:
    """The calendar is one."""
    return {prefix: TRAP for prefix in prefixes if prefix == f"{API}/calendar/"}


def branch_failures(prefix: str, limit: int) -> tuple[str, ...]:
    """The failed pages of a branch."""
    return tuple(url for url, counts in SITE.items() if url.startswith(prefix) and counts.failed)[:limit]
