"""A whole crawl with delays switched off, against other crawlers on the same sites.

`python -m benchmarks.throughput --against scrapy --against wget2 [--bodies] [--defaults]`

Sites are generated from a seed and served on loopback by a process of its own that is not the bottleneck. All take
turns, round by round, and have to find the same pages, titles and links. Scrapy writes items to JSON lines (the
lightest thing it has); this crawler stores pages, links, attempts and requests so that a kill loses nothing.
Each is also measured on the same sites cut to their first page: that is its start, which is told apart.
Figures depend on the machine and what else it does; ratios are of runs of one round. Beside other work the ratio of
CPU says more than that of pages/s.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.contestants import Contestant, Found, Keeping, in_empty_folder, ours, scrapy, scrapy_python, wget2
from benchmarks.measured import Spent
from benchmarks.site import Site, serving

_HEADS = (
    "",
    "pages",
    "pages/s",
    "start s",
    "CPU ms/page",
    "start CPU s",
    "peak MB",
    "pages/s × {}: min median max",
    "CPU × the same",
)


@dataclass(frozen=True, slots=True)
class Round:
    """One crawl and one start of a contestant."""

    spent: Spent
    start: Spent
    found: Found

    @property
    def rate(self) -> float:
        """Pages per second, the start included."""
        return self.found.pages / self.spent.wall

    @property
    def cpu_ms(self) -> float:
        """CPU per page (ms) after the start."""
        return self.spent.beyond(self.start).cpu * 1000 / self.found.pages


def compete(contestants: Sequence[Contestant], site: Site, rounds: int) -> Mapping[str, list[Round]]:
    """All in turn, each round begun by another one. Raises RuntimeError where they do not find the same."""
    results: dict[str, list[Round]] = defaultdict(list)
    first_found: dict[str, Found] = {}
    with serving(site) as whole, serving(replace(site, pages=1, links=0)) as first_pages:
        for number in range(rounds):
            turn = number % len(contestants)
            for one in (*contestants[turn:], *contestants[:turn]):
                start, _ = in_empty_folder(one, first_pages)
                spent, found = in_empty_folder(one, whole)
                for name, other in first_found.items():
                    if not found.agrees(other):
                        raise RuntimeError(f"{one.name} found {found}, {name} {other}")
                first_found.setdefault(one.name, found)
                results[one.name].append(Round(spent, start, found))
                last = results[one.name][-1]
                told = f"{last.rate:.0f} pages/s, {last.cpu_ms:.2f} CPU ms/page"
                print(f"round {number + 1}: {one.name}: {told}", flush=True)
    return {one.name: results[one.name] for one in contestants}


def table(results: Mapping[str, list[Round]], baseline: str) -> Iterator[str]:
    """The lines of a Markdown table: medians of the rounds, and the spread of the ratios to `baseline`."""
    yield _line([head.format(baseline) for head in _HEADS])
    yield "|---" * len(_HEADS) + "|"
    for name, rounds in results.items():
        both = list(zip(rounds, results[baseline], strict=True))
        yield _line(
            [
                name,
                str(rounds[0].found.pages),
                f"{statistics.median(one.rate for one in rounds):.0f}",
                f"{statistics.median(one.start.wall for one in rounds):.2f}",
                f"{statistics.median(one.cpu_ms for one in rounds):.2f}",
                f"{statistics.median(one.start.cpu for one in rounds):.2f}",
                f"{max(one.spent.peak for one in rounds):.0f}",
                _spread([one.rate / other.rate for one, other in both]),
                _spread([one.cpu_ms / max(other.cpu_ms, 0.001) for one, other in both]),
            ]
        )


def main(words: Sequence[str] | None = None) -> None:
    """Measures and prints."""
    given = _parser().parse_args(words)
    site = Site(given.origins, given.pages, given.links, given.bytes, across=given.across)
    keeping = Keeping.defaults if given.defaults else Keeping.bodies if given.bodies else Keeping.rows
    contestants = [ours(number, keeping) for number in given.workers]
    if given.server:
        contestants += [ours(number, keeping, given.server) for number in given.workers]
    baseline = contestants[0].name
    for against, spider in (("scrapy-naive", "naive"), ("scrapy", "good")):
        if against in given.against:
            python = scrapy_python(given.scrapy_python)
            contestants += [scrapy(python, number, spider) for number in given.workers]
            baseline = contestants[-len(given.workers)].name
    if "wget2" in given.against:
        program = shutil.which("wget2")
        if program is None:
            print("wget2 is not installed: left out")
        else:
            contestants.append(wget2(program))
    results = compete(contestants, site, given.rounds)
    print(f"\n{site.origins} origins × {site.pages} pages × {site.size} bytes × {site.links} links; stored: ", end="")
    print(f"{keeping.name}; rounds: {given.rounds}; links found: {_links(results)}\n")
    print("\n".join(table(results, baseline)))


def _links(results: Mapping[str, list[Round]]) -> int | None:
    return next((one[0].found.links for one in results.values()), None)


def _spread(ratios: Sequence[float]) -> str:
    return f"{min(ratios):.2f} {statistics.median(ratios):.2f} {max(ratios):.2f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.throughput",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--against", action="append", choices=["scrapy", "scrapy-naive", "wget2"], default=[])
    parser.add_argument("--server", metavar="URL", help="also on this PostgreSQL server, in databases made for it")
    parser.add_argument("--scrapy-python", metavar="PATH", help="the interpreter of an environment that has Scrapy")
    for name, number in (("rounds", 3), ("origins", 20), ("pages", 150), ("links", 60), ("bytes", 40_000)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--across", type=int, default=0, help="so many links of each page name any of the origins")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2], help="processes of this crawler and of Scrapy"
    )
    stored = parser.add_mutually_exclusive_group()
    stored.add_argument("--bodies", action="store_true", help="bodies are stored, compressed")
    stored.add_argument("--defaults", action="store_true", help="everything that is on by default: bodies, validation")
    return parser


if __name__ == "__main__":
    main()
