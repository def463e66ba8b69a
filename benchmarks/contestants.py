"""Crawlers that crawl the same sites: this one, Scrapy, wget2. Each tells what it cost and what it found."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from benchmarks.measured import Spent, run_measured
from benchmarks.site import Site

_SPIDER = Path(__file__).with_name("scrapy_spider.py")


class Keeping(Enum):
    """What this crawler keeps of a page beside its rows, as lines of its configuration."""

    rows = "storage: {validate: [], store_bodies: []}\n"
    bodies = "storage: {validate: []}\n"
    defaults = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Pages and their titles, and links without those that a page has twice; the digests are equal where both are."""

    pages: int
    links: int | None = None
    titles_digest: str = ""
    links_digest: str = ""

    def agrees(self, other: Found) -> bool:
        """Whether both found the same, as far as both know it."""
        if self.links is None or other.links is None:
            return self.pages == other.pages
        return self == other


@dataclass(frozen=True, slots=True)
class Contestant:
    """A way to crawl a site: into an empty folder."""

    name: str
    crawl: Callable[[Site, Path], tuple[Spent, Found]]


def ours(workers: int, keeping: Keeping, server: str = "") -> Contestant:
    """This crawler, without its console, delays switched off; into a file, or a new database of a `server` (a URL whose
    role may make one)."""

    def crawl(site: Site, folder: Path) -> tuple[Spent, Found]:
        config = write_config(site, folder, keeping)
        if not server:
            return run_measured([run_command(config, workers)], folder), found_in(config.with_suffix(".db"))
        with new_database(server) as url:
            spent = run_measured([[*run_command(config, workers), "--db", url]], folder)
            return spent, found_at(url)

    return Contestant(f"{'on PostgreSQL' if server else 'tui-crawler'}, {_plural(workers, 'worker')}", crawl)


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """A database of its own for as long as the block lasts, by its URL."""
    name = f"tui_crawler_bench_{os.getpid()}"
    with closing(psycopg.connect(server, autocommit=True)) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
    finally:
        with closing(psycopg.connect(server, autocommit=True)) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def run_command(config: Path, workers: int = 1) -> list[str]:
    """The command line of a run."""
    more = ["--workers", str(workers)] if workers > 1 else []
    return [sys.executable, "-m", "tui_crawler", "run", str(config), "--quiet", *more]


def write_config(site: Site, folder: Path, keeping: Keeping, delay_ms: int = 0) -> Path:
    """The configuration of a crawl of a site, without delays where none is named; its database is beside it."""
    config = folder / "bench.yaml"
    seeds = ", ".join(f'"{seed}"' for seed in site.seeds)
    config.write_text(
        f"seeds: [{seeds}]\nuser_agent: bench-crawler\n"
        f"crawl: {{max_in_flight: {site.origins}}}\n"
        f"delay: {{model: fixed, default: {delay_ms}ms, floor: {delay_ms}ms, allow_impolite: true}}\n" + keeping.value,
        encoding="utf-8",
    )
    return config


def found_in(database: Path) -> Found:
    """What a crawl of this crawler has stored. Raises RuntimeError where it is not whole by its own account."""
    with closing(sqlite3.connect(database)) as rows:
        return _found_by(lambda text: rows.execute(text).fetchall())


def found_at(url: str) -> Found:
    """The same of a database on a server."""
    with closing(psycopg.connect(url)) as connection:
        return _found_by(lambda text: connection.execute(text).fetchall())


def _found_by(ask: Callable[[str], list[Any]]) -> Found:
    titles = ask("SELECT url, title FROM v_page WHERE last_exit_code = 'file_ingested'")
    links = ask("SELECT from_url, to_url FROM v_link WHERE kind = 'a'")
    attempts = ask("SELECT count(*) FROM v_attempt WHERE exit_code = 'file_ingested'")[0][0]
    if attempts != len(titles):
        raise RuntimeError(f"{len(titles)} pages by {attempts} attempts")
    return _found(titles, links)


def scrapy(python: Path, processes: int, spider: str = "good") -> Contestant:
    """Scrapy with items to JSON lines; several processes share the seeds. `spider` is good or naive."""

    def crawl(site: Site, folder: Path) -> tuple[Spent, Found]:
        files = [folder / f"items{number}.jsonl" for number in range(processes)]
        commands = [
            [str(python), str(_SPIDER), spider, str(file), *site.seeds[number::processes]]
            for number, file in enumerate(files)
        ]
        spent = run_measured(commands, folder)
        items = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        read = [item for item in items if item["status"] == 200]
        links = ((item["url"], link[0]) for item in read for link in item["links"])
        return spent, _found(((item["url"], item["title"]) for item in read), links)

    naive = " (naive spider)" if spider == "naive" else ""
    return Contestant(f"Scrapy{naive}, {_plural(processes, 'process', 'es')}", crawl)


def wget2(program: str) -> Contestant:
    """wget2, which writes the pages into files, those of one path over each other, and keeps no database."""

    def crawl(site: Site, folder: Path) -> tuple[Spent, Found]:
        sums = folder / "sums.csv"
        words = ["-q", "-r", "-l", "inf", f"--max-threads={site.origins}", "-P", str(folder / "pages")]
        command = [program, *words, f"--stats-site=csv:{sums}", *site.seeds]
        spent = run_measured([command], folder, frozenset({0, 8}))  # 8: there is no robots.txt
        with sums.open(encoding="utf-8", newline="") as rows:
            return spent, Found(len({row["URL"] for row in csv.DictReader(rows) if row["Status"] == "200"}))

    return Contestant("wget2 (C, no database)", crawl)


def scrapy_python(given: str | None) -> Path:
    """The interpreter of an environment with Scrapy: the one `given`, else one in the user's cache, made where it is
    missing."""
    if given is not None:
        return Path(given)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "tui-crawler-benchmarks" / "scrapy"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    works = python.exists() and subprocess.run(
        [python, "-c", "import scrapy, uvloop"], capture_output=True, check=False
    )
    if not works or works.returncode:
        print(f"installing Scrapy into {folder}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "scrapy", "uvloop"], check=True
        )
    return python


def in_empty_folder(contestant: Contestant, site: Site) -> tuple[Spent, Found]:
    """One crawl in a folder that is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="crawl-benchmark-"))
    try:
        return contestant.crawl(site, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _found(titles: Iterable[Sequence[str]], links: Iterable[Sequence[str]]) -> Found:
    titled, linked = {tuple(one) for one in titles}, {tuple(one) for one in links}
    return Found(len(titled), len(linked), _digest(titled), _digest(linked))


def _digest(rows: Iterable[tuple[str, ...]]) -> str:
    return hashlib.sha256(repr(sorted(rows)).encode()).hexdigest()


def _plural(number: int, word: str, ending: str = "s") -> str:
    return f"{number} {word}{ending if number > 1 else ''}"
