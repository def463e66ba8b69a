"""Where a page's processor time goes: the stages of a crawl in ms of CPU a page.

`python -m benchmarks.profile [--keeping rows|bodies|defaults] [--modules 15] [--functions 25]`

One crawl of one worker runs under cProfile with the CPU clock of its main thread, and once without it. What a function
of this program spends in libraries and built-in functions counts as its own. The same is done on the sites cut to their
first page, and taken off: that is the start. A profiler makes many small calls look dearer than they are: what it adds
is taken off evenly by calls, so that the sum is what a page costs without it. Other threads are told as a sum.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.contestants import Keeping, found_in, in_empty_folder, ours, run_command, write_config
from benchmarks.measured import run_measured
from benchmarks.site import Site, serving

Function = tuple[str, int, str]
"""A function as cProfile names it: file, line, name."""

_EXCHANGE = ("http1", "httpx_wire", "guarded_backend", "client", "transfer", "connection_log", "headers", "coding")
_WIRE = (*_EXCHANGE, "address_guard", "dialing", "resolve", "classify", "limits", "tls")
STAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("exchange", tuple(f"tui_crawler/fetch/{name}.py" for name in _WIRE)),
    ("reading", ("tui_crawler/fetch/", "tui_crawler/domain/url.py")),
    (
        "events",
        (
            "tui_crawler/engine/events.py",
            "tui_crawler/domain/crawl/event.py",
            "tui_crawler/cli/",
            "tui_crawler/wiring/",
        ),
    ),
    ("decisions and fold", ("tui_crawler/domain/", "tui_crawler/engine/")),
    ("storing", ("tui_crawler/storage/",)),
    ("exchange", ("asyncio/selector_events.py", "asyncio/sslproto.py")),
    ("event loop", ("asyncio/",)),
)
"""Stages with the beginnings of the files that belong to them; the first that fits counts."""
_OTHER = "other"
_MOST_CALLS = 60  # libraries call themselves no deeper


@dataclass(frozen=True, slots=True)
class Profile:
    """CPU seconds of the main thread, and calls that the profiler has seen, by `file:name` of functions.

    `elsewhere` is the CPU of the process that the main thread has not used.
    """

    seconds: Mapping[str, float]
    calls: Mapping[str, float]
    elsewhere: float

    def beyond(self, start: Profile) -> Profile:
        """What was spent after a start."""
        return Profile(
            _minus(self.seconds, start.seconds),
            _minus(self.calls, start.calls),
            max(0.0, self.elsewhere - start.elsewhere),
        )

    @property
    def total(self) -> float:
        """All CPU seconds."""
        return sum(self.seconds.values()) + self.elsewhere

    def of_a_page(self, pages: int, cpu_ms: float) -> dict[str, float]:
        """CPU ms a page by function, without what the profiler adds: so much for each call that the sum, with what was
        spent elsewhere, is `cpu_ms`."""
        added = (self.total - cpu_ms * pages / 1000) / sum(self.calls.values())
        return {name: 1000 * (one - added * self.calls.get(name, 0.0)) / pages for name, one in self.seconds.items()}


def _minus(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {name: number - other.get(name, 0.0) for name, number in one.items()}


def stage_of(file: str) -> str:
    """The stage that a file belongs to."""
    return next((stage for stage, starts in STAGES if file.startswith(starts)), _OTHER)


def attributed(stats: Mapping[Function, tuple[Any, ...]], own: Mapping[Function, float]) -> dict[str, float]:
    """What functions have of their own (seconds, calls), by `file:name` of functions that have a stage: libraries and
    built-in functions hand theirs on to their callers. What nobody with a stage called is `other`."""
    found: dict[str, float] = defaultdict(float)
    moving = dict(own)
    for _ in range(_MOST_CALLS):
        above: dict[Function, float] = defaultdict(float)
        for function, amount in moving.items():
            file, callers = _short(function[0]), stats[function][4]
            if stage_of(file) != _OTHER:
                found[f"{file}:{function[2]}"] += amount
            elif not callers:
                found[f"{_OTHER}:{function[2]}"] += amount
            else:
                weights = {one: numbers[2] or numbers[3] or 1e-9 for one, numbers in callers.items()}
                whole = sum(weights.values())
                for one, weight in weights.items():
                    above[one] += amount * weight / whole
        moving = above
    found[f"{_OTHER}:calls in a circle"] += sum(moving.values())
    return dict(found)


def profile_of(stats: Mapping[Function, tuple[Any, ...]], elsewhere: float) -> Profile:
    """What cProfile has found. A call takes the profiler's time half within it and half within its caller."""
    calls: dict[Function, float] = defaultdict(float)
    for function, (_, number, _, _, callers) in stats.items():
        calls[function] += number / 2
        for one, numbers in callers.items():
            calls[one] += numbers[0] / 2
    seconds = {function: numbers[2] for function, numbers in stats.items()}
    return Profile(attributed(stats, seconds), attributed(stats, calls), elsewhere)


def _short(file: str) -> str:
    """A file as `STAGES` names it."""
    for root in ("tui_crawler/", "asyncio/"):
        place = file.replace("\\", "/").rfind(f"/{root}")
        if place >= 0:
            return file[place + 1 :].replace("\\", "/")
    return file


def profiled(site: Site, keeping: Keeping) -> tuple[Profile, int]:
    """A profiled crawl, and the number of its pages."""
    with tempfile.TemporaryDirectory(prefix="crawl-benchmark-") as folder:
        config, report = write_config(site, Path(folder), keeping), Path(folder) / "profile.json"
        words = [sys.executable, "-m", "benchmarks.profile", "--inside", str(report), *run_command(config)[3:]]
        run_measured([words], Path(__file__).parents[1])
        return Profile(**json.loads(report.read_text(encoding="utf-8"))), found_in(config.with_suffix(".db")).pages


def run_inside(report: Path, words: Sequence[str]) -> int:
    """Runs the command line under the profiler, in this process; writes what it has found. Answers its exit status."""
    profiler = cProfile.Profile(time.thread_time)
    sys.argv = ["tui-crawler", *words]
    profiler.enable()
    try:
        from tui_crawler.__main__ import main as run_program  # noqa: PLC0415  # its import is part of the start

        return run_program()
    finally:
        profiler.disable()
        elsewhere = time.process_time() - time.thread_time()
        stats: Mapping[Function, tuple[Any, ...]] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
        report.write_text(json.dumps(asdict(profile_of(stats, elsewhere))), encoding="utf-8")


def tables(functions: Mapping[str, float], elsewhere_ms: float, modules: int, shown: int) -> Iterator[str]:
    """The lines of Markdown tables of CPU ms a page: stages, so many modules, and so many functions."""
    files, stages = defaultdict[str, float](float), defaultdict[str, float](float, {"other threads": elsewhere_ms})
    for name, spent in functions.items():
        file = name.partition(":")[0]
        files[file] += spent
        stages[stage_of(file)] += spent
    yield from _table("stage", [*_dearest(stages), ("all", sum(stages.values()))])
    yield ""
    yield from _table("module", _dearest(files)[:modules])
    yield ""
    yield from _table("function", _dearest(functions)[:shown])


def _dearest(sums: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(sums.items(), key=lambda one: -one[1])


def _table(head: str, rows: Iterable[tuple[str, float]]) -> Iterator[str]:
    yield f"| {head} | ms CPU a page |"
    yield "|---|---|"
    for name, spent in rows:
        yield f"| {name.removeprefix('tui_crawler/')} | {spent:.3f} |"


def main(words: Sequence[str] | None = None) -> int:
    """Measures and prints."""
    words = sys.argv[1:] if words is None else words
    if words[:1] == ["--inside"]:
        return run_inside(Path(words[1]), words[2:])
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.profile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, number in (("origins", 20), ("pages", 150), ("links", 60), ("bytes", 40_000)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--keeping", choices=[one.name for one in Keeping], default=Keeping.rows.name)
    parser.add_argument("--modules", type=int, default=15, help="so many of the dearest modules")
    parser.add_argument("--functions", type=int, default=25, help="so many of the dearest functions")
    given = parser.parse_args(words)
    site, keeping = Site(given.origins, given.pages, given.links, given.bytes), Keeping[given.keeping]
    with serving(site) as whole:
        profile, pages = profiled(whole, keeping)
        spent, _ = in_empty_folder(ours(1, keeping), whole)
    with serving(replace(site, pages=1, links=0)) as first_pages:
        start_profile, _ = profiled(first_pages, keeping)
        start, _ = in_empty_folder(ours(1, keeping), first_pages)
    cpu_ms = spent.beyond(start).cpu * 1000 / pages
    later = profile.beyond(start_profile)
    print(f"{pages} pages; stored: {keeping.name}; CPU ms a page after the start ({start.cpu:.2f} s):", end=" ")
    print(f"{cpu_ms:.2f}; under the profiler {later.total * 1000 / pages:.2f}\n")
    functions, elsewhere_ms = later.of_a_page(pages, cpu_ms), later.elsewhere * 1000 / pages
    print("\n".join(tables(functions, elsewhere_ms, given.modules, given.functions)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
