"""Many origins with long delays: how late each turn is, and what a crawl of them costs.

`python -m benchmarks.origins [--origins 10000] [--delay 60] [--seconds 130] [--pages 20] [--links 10] [--bytes 5000]`
`python -m benchmarks.origins --origins 1000 --delay 1 --seconds 20`

Serves as many origins on loopback ports from a process of its own, crawls them with `tui-crawler run` for a while and
reads the crawl log: a turn is as late as its request was sent after the end of the origin's last one and the delay.
The first turn of an origin was promised for no time and is left out. Processor time is that of the whole run, its start
included, and that of its last quarter; memory is what the run took at most beyond that of one with a single origin.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.site import Site, serving

_CONFIG = """\
seeds: [{seeds}]
user_agent: bench-crawler
crawl: {{max_in_flight: {in_flight}}}
delay: {{model: fixed, default: {delay}s, floor: {delay}s, allow_impolite: true}}
"""
_PROBED_S = 0.5
_SLOW_MS = 25
_MOST_WAITED = 0.1
_SENT = """
SELECT attempt.origin_id, min(request.sent_at), max(request.ended_at), max(request.error)
FROM request JOIN attempt ON attempt.id = request.attempt_id GROUP BY attempt.id ORDER BY attempt.origin_id, attempt.id
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A crawl: `sent` are origin, start, end (epoch ms) and error of each turn, `began` when the process did;
    `probed` how long (s) the server took to answer a plain client, in order of size, `waited` which
    share of the last quarter the crawl was ready to go on and had no processor."""

    began: int
    sent: list[tuple[int, int, int, str]]
    seconds: float
    processor: float
    late_share: float
    memory: int
    probed: list[float]
    waited: float

    def lateness(self, delay_ms: int) -> list[int]:
        """How late each request was (ms) that had been promised a time, in order of size."""
        pairs = zip(self.sent, self.sent[1:], strict=False)
        return sorted(late[1] - early[2] - delay_ms for early, late in pairs if early[0] == late[0])


def crawl(site: Site, delay: float, seconds: float, in_flight: int, folder: Path) -> Measured:
    """Crawls the sites for so long, then ends the crawl in order."""
    config = folder / f"origins-{site.origins}.yaml"
    config.write_text(_CONFIG.format(seeds=", ".join(site.seeds), in_flight=in_flight, delay=delay), encoding="utf-8")
    began, start = time.time_ns() // 1_000_000, time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "tui_crawler", "run", str(config), "--quiet"])
    probed = [*_probe(site, start + seconds * 0.75)]
    before, waited, at = processor_s(process.pid), _waited_s(process.pid), time.monotonic()
    probed += _probe(site, start + seconds)
    passed = time.monotonic() - at
    share, waited = (processor_s(process.pid) - before) / passed, (_waited_s(process.pid) - waited) / passed
    process.send_signal(signal.SIGINT)
    _, _, used = os.wait4(process.pid, 0)
    spent = time.monotonic() - start
    with sqlite3.connect(config.with_suffix(".db")) as database:
        sent = database.execute(_SENT).fetchall()
    return Measured(
        began, sent, spent, used.ru_utime + used.ru_stime, share, used.ru_maxrss * 1024, sorted(probed), waited
    )


def _probe(site: Site, until: float) -> Iterator[float]:
    """Asks one of the origins twice a second until then (monotonic s); answers how long each answer took (s)."""
    while (now := time.monotonic()) < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", site.ports[-1]), 5) as connection:
            connection.sendall(b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            connection.recv(4096)
        yield time.monotonic() - now
        time.sleep(max(0.0, min(_PROBED_S, until - time.monotonic())))


def _waited_s(pid: int) -> float:
    """How long the main thread of a process was ready and had no processor, as Linux tells it."""
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9


def processor_s(pid: int) -> float:
    """Processor time of a process so far, as Linux tells it."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("origins", 10_000), ("pages", 20), ("links", 10), ("bytes", 5_000), ("in-flight", 100)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--delay", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=130.0)
    given = parser.parse_args()
    site = Site(given.origins, given.pages, given.links, given.bytes)
    with serving(site) as served, tempfile.TemporaryDirectory() as folder:
        alone = crawl(replace(served, origins=1), given.delay, 3, given.in_flight, Path(folder))
        many = crawl(served, given.delay, given.seconds, given.in_flight, Path(folder))
    late = many.lateness(round(given.delay * 1000))
    failed = sum(bool(error) for *_, error in many.sent)
    asked = len({origin for origin, *_ in many.sent})
    print(
        f"{site.origins} origins, {given.delay:g} s delay, {many.seconds:.0f} s; {len(many.sent)} turns, {failed} bad"
    )
    if not many.sent:
        sys.exit("INVALID: nothing was asked")
    first = min(sent for _, sent, *_ in many.sent) - many.began
    every = max({origin: sent for origin, sent, *_ in reversed(many.sent)}.values()) - many.began
    print(f"first request after {first / 1000:.2f} s, {asked} origins asked once after {every / 1000:.1f} s")
    if late:
        at = {name: late[min(len(late) - 1, int(share * len(late)))] for name, share in _SHARES.items()}
        print(f"{len(late)} turns late by (ms): " + ", ".join(f"{name} {ms}" for name, ms in at.items()))
    share, more = many.processor / many.seconds, (many.memory - alone.memory) / site.origins / 1024
    print(f"processor: {share:.2f} of a core, {many.late_share:.2f} in the last quarter")
    print(f"memory: {many.memory / 2**20:.0f} MiB at most, {more:.1f} KiB for an origin")
    slow = many.probed[int(0.9 * len(many.probed))] * 1000
    print(
        f"a plain client was answered within {slow:.0f} ms (p90 of {len(many.probed)}); load {os.getloadavg()[0]:.1f}"
    )
    print(f"the crawl waited for a processor {many.waited:.0%} of the last quarter")
    if slow > _SLOW_MS or many.waited > _MOST_WAITED or failed > len(many.sent) / 100:
        sys.exit("INVALID: the server was slow to answer anybody, the crawl had no processor, or turns have failed")


_SHARES = {"earliest": 0.0, "median": 0.5, "p90": 0.9, "p99": 0.99, "last": 1.0}

if __name__ == "__main__":
    main()
