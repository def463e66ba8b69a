"""How long a start takes: help, two commands that read, and an engine that sends its first request, with an empty and
with a large database.

`python -m benchmarks.start [--rounds 5] [--pages 1000000] [--origins 1000] [--folder KEPT]`

All take turns with `python -c pass`, which is the least that a program of this language takes: on a busy machine the
ratios to it say more than seconds. The large database has most of its pages pending, shared by origins on loopback
ports that are all configured; it is made once (in KEPT, where it is found again) and continued in every round, as after
a stop. "Ready" is the time from the start of the process to the first bytes that one of these origins is sent; CPU is
that of the process until then.
"""

from __future__ import annotations

import argparse
import os
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.console_crawl import make
from benchmarks.origins import processor_s
from benchmarks.site import Site

_PYTHON = [sys.executable, "-c", "pass"]
_US = [sys.executable, "-m", "tui_crawler"]
_CONFIG = """\
seeds: [{seeds}]
user_agent: bench-crawler
delay: {{model: fixed, default: 0, floor: 0, allow_impolite: true}}
"""
_LONGEST_S = 60.0
_FIRST_PORT = 27_000

Taken = tuple[float, float]
"""Seconds and seconds of CPU."""


def ended(command: Sequence[str]) -> Taken:
    """A process from its start to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{command} ended with {status}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime


def ready(folder: Path, name: str, site: Site) -> Taken:
    """A run from its start to its first request, after which it is ended. Raises RuntimeError where none comes."""
    config = folder / f"{name}.yaml"
    config.write_text(_CONFIG.format(seeds=", ".join(site.seeds)), encoding="utf-8")
    with origins_listening(site) as listening, ExitStack() as connections:
        began = time.perf_counter()
        process = subprocess.Popen([*_US, "run", str(config), "--quiet"], stderr=subprocess.PIPE)
        while time.perf_counter() < began + _LONGEST_S and process.poll() is None:
            for key, _ in listening.select(0.5):
                assert isinstance(key.fileobj, socket.socket)
                connection = connections.enter_context(key.fileobj.accept()[0])
                connection.settimeout(_LONGEST_S)
                if not connection.recv(1):
                    continue
                taken = time.perf_counter() - began, processor_s(process.pid)
                for _ in range(2):  # the second one does not wait for what is under way
                    process.send_signal(signal.SIGINT)
                process.communicate(timeout=_LONGEST_S)
                return taken
        process.kill()
        raise RuntimeError(f"no request came in {_LONGEST_S:.0f} s: {process.communicate()[1].decode()}")


@contextmanager
def origins_listening(site: Site) -> Iterator[selectors.BaseSelector]:
    """Ports that take connections and answer nothing."""
    with selectors.DefaultSelector() as listening, ExitStack() as opened:
        for port in site.ports:
            one = opened.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", port))
            one.listen(8)
            listening.register(one, selectors.EVENT_READ)
        yield listening


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("rounds", 5), ("pages", 1_000_000), ("origins", 1_000)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--folder", type=Path, help="where the large database is kept, and found again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        site = Site(given.origins, first_port=_FIRST_PORT)  # the kept database names these ports
        large = f"start-{given.origins}-{given.pages}"
        make(folder / f"{large}.db", given.origins, given.pages, [seed.rstrip("/") for seed in site.seeds])

        def ready_when_empty() -> Taken:
            with tempfile.TemporaryDirectory() as empty:
                return ready(Path(empty), "empty", replace(site, origins=1))

        contestants: dict[str, Callable[[], Taken]] = {
            "python -c pass": lambda: ended(_PYTHON),
            "--help": lambda: ended([*_US, "--help"]),
            "why": lambda: ended([*_US, "why", f"{site.seeds[0]}1", "--db", str(folder / f"{large}.db")]),
            "rules show": lambda: ended([*_US, "rules", "show", "--db", str(folder / f"{large}.db")]),
            "ready, empty database": ready_when_empty,
            f"ready, {given.pages:,} pages": lambda: ready(folder, large, site),
        }
        results: dict[str, list[Taken]] = defaultdict(list)
        for one in contestants.values():
            one()  # what the system keeps in memory of files is there from now on
        for _ in range(given.rounds):
            for name, one in contestants.items():
                results[name].append(one())
    _tell(results)


def _tell(results: dict[str, list[Taken]]) -> None:
    least = results["python -c pass"]
    print("| | s: min median max | CPU s | × python -c pass: median |\n|---|---|---|---|")
    for name, rounds in results.items():
        seconds = [one for one, _ in rounds]
        spread = f"{min(seconds):.2f} {statistics.median(seconds):.2f} {max(seconds):.2f}"
        ratio = statistics.median(one[0] / other[0] for one, other in zip(rounds, least, strict=True))
        print(f"| {name} | {spread} | {statistics.median(cpu for _, cpu in rounds):.2f} | {ratio:.0f} |")


if __name__ == "__main__":
    main()
