"""What real pages cost: trees of HTML crawled with defaults, less their delays, and with validation off.

`python -m benchmarks.real --folder HTML-TREE…`: each folder is an origin of its own on loopback, served by nginx where
that is installed, else by Python's `http.server`. CPU is that of the crawl with all its processes; the start is the
same crawl of the first page of each tree, told apart. `--against FOLDER`: another version of this program, in turns.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

from benchmarks.contestants import Keeping, run_command
from benchmarks.measured import Spent, run_measured

_PORT = 8301
_PATIENCE_S = 10.0
_CONFIG = """user_agent: bench-crawler
crawl: {canonical: same_origin, max_depth: %s}
delay: {model: fixed, default: 0, floor: 0, allow_impolite: true}
"""


def main() -> None:
    """Prints a line for each way to crawl, of each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, action="append", required=True, help="a tree of HTML; may be repeated")
    parser.add_argument("--page", default="index.html", help="the page of each tree that a crawl begins with")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--against", type=Path, help="the folder of another version of this program")
    wanted = parser.parse_args()
    versions = [version.resolve(strict=True) for version in (wanted.against, Path(__file__).parents[1]) if version]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with _served(wanted.folder, folder) as origins:
            seeds = [f"{origin}/{wanted.page}" for origin in origins]
            for _ in range(wanted.rounds):
                for name, keeping in (("defaults", Keeping.defaults), ("without validation", Keeping.bodies)):
                    for version in versions:
                        told = f", {version}" if wanted.against else ""
                        print(f"{name}{told}: {_crawl(seeds, keeping, folder, version)}", flush=True)


def _crawl(seeds: Sequence[str], keeping: Keeping, folder: Path, version: Path) -> str:
    start, _, _ = _spent(seeds, keeping, folder, version, "0")
    spent, pages, size = _spent(seeds, keeping, folder, version, "null")
    return (
        f"{pages} pages of {size / max(1, pages) / 1024:.0f} KB,"
        f" {spent.beyond(start).cpu / pages * 1000:.2f} ms CPU a page, {spent.cpu / pages * 1000:.2f} with the start,"
        f" {pages / spent.wall:.0f} pages/s, {spent.peak:.0f} MB"
    )


def _spent(
    seeds: Sequence[str], keeping: Keeping, folder: Path, version: Path, max_depth: str
) -> tuple[Spent, int, int]:
    """What a crawl costs, how many pages it finds, and how large they are together."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        config = Path(own) / "real.yaml"
        config.write_text(f"seeds: {json.dumps(seeds)}\n{_CONFIG % max_depth}{keeping.value}", encoding="utf-8")
        spent = run_measured([run_command(config)], Path(own), environment={"PYTHONPATH": str(version)})
        with closing(sqlite3.connect(config.with_suffix(".db"))) as database:
            (pages,) = database.execute("SELECT count(*) FROM v_attempt WHERE kind = 'page'").fetchone()
            (size,) = database.execute("SELECT coalesce(sum(size), 0) FROM document").fetchone()
    return spent, pages, size


@contextmanager
def _served(trees: Sequence[Path], folder: Path) -> Iterator[list[str]]:
    """The origins of these trees, as long as they are served."""
    places = {_PORT + number: tree.resolve(strict=True) for number, tree in enumerate(trees)}
    servers = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in _commands(places, folder)]
    origins = [f"http://127.0.0.1:{port}" for port in places]
    try:
        for origin in origins:
            _await(origin)
        yield origins
    finally:
        for server in servers:
            server.terminate()
            server.wait()


def _commands(places: dict[int, Path], folder: Path) -> Iterator[list[str]]:
    nginx = shutil.which("nginx")
    if nginx is None:
        for port, tree in places.items():
            yield [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(tree)]
        return
    sites = "\n".join(f'server {{ listen 127.0.0.1:{port}; root "{tree}"; }}' for port, tree in places.items())
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; events {{ }}\nhttp {{ access_log off;"
        f" keepalive_requests 1000000; types {{ text/html html htm; text/css css; }}\n{sites}\n}}\n",
        encoding="utf-8",
    )
    yield [nginx, "-c", str(config), "-e", str(folder / "error.log")]


def _await(origin: str) -> None:
    """Raises TimeoutError where nobody answers."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        try:
            httpx.get(origin, trust_env=False)
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(f"nobody answers at {origin}")


if __name__ == "__main__":
    main()
