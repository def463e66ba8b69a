"""What the exclusion list costs per URL: `python -m benchmarks.exclusions [patterns] [urls]`.

Asks a list of patterns (600), and one that has as many host names, domains and networks beside them, about URLs none
of which it holds for, which is the dearest answer; then a loop over the same patterns compiled by `re`. The figure is
the ratio: absolute numbers depend on the machine. The house's bound is 5 µs per URL.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence

from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionIndex
from tui_crawler.domain.url import CrawlUrl, normalise

LOOPED = 500  # URLs for the loop, which is slow
ROUNDS = 5


def patterns(count: int) -> tuple[Exclusion, ...]:
    """Patterns as operators write them: folders, file names, parameters."""
    shapes = (r"/private{0}/", r"[?&]session{0}=", r"/calendar/{0}/\d+", r"\.old{0}$", r"^https?://[^/]*\.gone{0}\.")
    return tuple(Exclusion("pattern", shapes[n % len(shapes)].format(n)) for n in range(count))


def others(count: int) -> tuple[Exclusion, ...]:
    """As many entries of the other kinds."""
    kinds = (
        lambda n: Exclusion("host", f"host{n}.example"),
        lambda n: Exclusion("domain", f"domain{n}.example"),
        lambda n: Exclusion("cidr", f"10.{n // 256}.{n % 256}.0/24"),
    )
    return tuple(kinds[n % len(kinds)](n) for n in range(count))


def urls(count: int) -> list[CrawlUrl]:
    """URLs of ordinary shape that no entry holds for."""
    texts = (f"https://site{n % 40}.example.org/section/{n % 97}/page-{n}.html?page={n % 9}" for n in range(count))
    return [url for url in map(normalise, texts) if isinstance(url, CrawlUrl)]


def cost(ask: Callable[[CrawlUrl], object], asked: Sequence[CrawlUrl]) -> float:
    """The least µs per URL of several rounds: what disturbs a round only ever adds to it."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for url in asked:
            ask(url)
        best = min(best, time.perf_counter() - began)
    return best / len(asked) * 1e6


def main() -> None:
    """Measures and prints."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    asked = urls(int(sys.argv[2]) if len(sys.argv) > 2 else 50_000)
    listed = patterns(count)
    one_set = cost(ExclusionIndex(listed).of_url, asked)
    mixed = cost(ExclusionIndex((*listed, *others(count))).of_url, asked)
    compiled = [re.compile(entry.value) for entry in listed]
    looped = cost(lambda url: any(each.search(url.href) for each in compiled), asked[:LOOPED])
    print(f"{count} patterns as one set:               {one_set:8.2f} µs per URL")
    print(f"{count} patterns and {count} hosts, domains, networks: {mixed:8.2f} µs per URL")
    print(f"loop over {count} patterns of re:          {looped:8.2f} µs per URL")
    print(f"ratio: {looped / one_set:.0f} and {looped / mixed:.0f} times as fast as the loop")


if __name__ == "__main__":
    main()
