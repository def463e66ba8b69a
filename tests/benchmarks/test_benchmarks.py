"""The benchmarks measure what they say: small runs of each, no time is judged."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from benchmarks import frontier, profile, throughput
from benchmarks.contestants import Contestant, Found, Keeping, ours
from benchmarks.measured import Spent, run_measured
from benchmarks.site import Site, serving

SMALL = Site(origins=2, pages=5, links=6, size=2_000)
PAGES = 2 * (5 + 1)  # the first page has two URLs


def test_a_tiny_crawl_finds_every_page_and_link():
    crawler = ours(1, Keeping.defaults)
    results = throughput.compete([crawler], SMALL, 1)
    (only,) = results[crawler.name]
    every = [[set(_targets(body)) for body in SMALL.bodies(origin)] for origin in range(SMALL.origins)]
    links = sum(sum(map(len, pages)) + len(pages[0]) for pages in every)
    assert (only.found.pages, only.found.links) == (PAGES, links)
    assert only.spent.cpu > 0 < only.spent.peak
    lines = list(throughput.table(results, crawler.name))
    assert "1.00 1.00 1.00" in lines[2]
    assert len({line.count("|") for line in lines}) == 1


def _targets(body: bytes) -> Iterator[bytes]:
    yield from (part.partition(b'"')[0] for part in body.split(b'href="')[1:])


def test_no_two_pages_of_the_sites_are_equal():
    bodies = [body for origin in range(SMALL.origins) for body in SMALL.bodies(origin)]
    assert len(set(bodies)) == len(bodies) == 2 * 5


def test_crawlers_that_find_something_else_are_not_compared(monkeypatch):
    def finds(links: int) -> Contestant:
        return Contestant(str(links), lambda site, folder: (Spent(1, 1, 1), Found(3, links, "", "")))

    @contextmanager
    def served(site: Site) -> Iterator[Site]:
        yield site

    monkeypatch.setattr(throughput, "serving", served)
    assert throughput.compete([finds(4), Contestant("c", lambda *_: (Spent(1, 1, 1), Found(3)))], SMALL, 2)
    with pytest.raises(RuntimeError, match="found"):
        throughput.compete([finds(4), finds(5)], SMALL, 1)


def test_what_a_command_costs_is_that_of_all_its_processes(tmp_path):
    busy = "import time\nwhile time.process_time() < 0.2: pass\n"
    both = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}], check=True)\n{busy}"
    spent = run_measured([[sys.executable, "-c", both], [sys.executable, "-c", busy]], tmp_path)
    assert spent.cpu >= 0.6
    assert spent.peak > 3
    with pytest.raises(RuntimeError, match=r"(?s)ended with 3.*no such thing"):
        run_measured(
            [[sys.executable, "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(3)"]], tmp_path
        )


def test_a_profile_gives_libraries_to_those_that_call_them_and_takes_the_profiler_off():
    ours_, library, builtin = ("/x/tui_crawler/fetch/links.py", 1, "collect"), ("/x/lib.py", 1, "f"), ("~", 0, "<len>")
    loop, start = ("/x/asyncio/events.py", 1, "_run"), ("/x/start.py", 1, "main")
    stats = {
        start: (1, 1, 0.5, 9.0, {}),
        loop: (1, 1, 1.0, 8.0, {start: (1, 1, 1.0, 8.0)}),
        ours_: (10, 10, 2.0, 7.0, {loop: (10, 10, 2.0, 7.0)}),
        library: (20, 20, 1.0, 5.0, {ours_: (20, 20, 1.0, 5.0), library: (5, 5, 0.5, 1.0)}),
        builtin: (40, 40, 4.0, 4.0, {library: (30, 30, 3.0, 3.0), loop: (10, 10, 1.0, 1.0)}),
    }
    found = profile.profile_of(stats, elsewhere=0.5)
    assert found.seconds["tui_crawler/fetch/links.py:collect"] == pytest.approx(6.0)
    assert found.seconds["asyncio/events.py:_run"] == pytest.approx(2.0)
    assert sum(found.seconds.values()) == pytest.approx(8.5)
    page = found.of_a_page(pages=2, cpu_ms=2_000)
    assert sum(page.values()) == pytest.approx(2_000 - 250)
    table = "\n".join(profile.tables(page, 250, 5, 5))
    assert "| reading |" in table
    assert "| fetch/links.py:collect |" in table
    assert "| all | 2000.000 |" in table


def test_a_profiled_crawl_is_a_whole_one():
    with serving(SMALL) as site:
        found, pages = profile.profiled(site, Keeping.rows)
    assert pages == PAGES
    assert {"reading", "storing", "exchange"} <= {profile.stage_of(name.partition(":")[0]) for name in found.seconds}


async def test_the_frontier_grows_to_the_sizes_asked_for(tmp_path):
    growing = frontier.Frontier(tmp_path / "links.db", frontier.ORIGINS[:2], links=10, again=20)
    await growing.begin()
    grown = [await growing.grow(size) for size in (40, 100)]
    await growing.close()
    assert [one.urls for one in grown] == [40, 100]
    with closing(sqlite3.connect(tmp_path / "links.db")) as database:
        assert database.execute("SELECT count(*) FROM page WHERE depth > 0").fetchone()[0] == 100
    assert len(grown[0].cells()) == len(frontier.HEADS)


def test_lines_that_are_added_are_counted(tmp_path):
    assert [urls for urls, *_ in frontier.add_steps(tmp_path, [5, 30])] == [5, 30]
