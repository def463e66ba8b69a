"""A served web, real processes of the command line, and what the servers saw: for tests end to end."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.patience import PATIENT_S

ROOT = Path(__file__).parents[2]
CODES_WITH_RECORD = {
    "file_ingested",
    "file_of_unknown_type",
    "permanent_redirect",
    "redirect",
    "not_canonical",
    "noindex",
}


@dataclass(frozen=True)
class Served:
    """One request as a server saw it; epoch ms."""

    origin: str
    target: str
    status: int
    started: float
    ended: float
    ending: str

    @property
    def url(self) -> str:
        return self.origin + self.target


def read_access_log(path: Path) -> list[Served]:
    """The access log of the demo web, in the order of the requests."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    served = [
        Served(e["origin"], e["target"], e["status"], e["started_ms"], e["ended_ms"], e["ending"]) for e in entries
    ]
    return sorted(served, key=lambda one: one.started)


def tui_crawler(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    command = [sys.executable, "-m", "tui_crawler", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENT_S, check=False, cwd=ROOT, **options)


def run_until(config: Path, database: Path, events: int, signal_number: int) -> int:
    """`run --json` until so many attempts have been told of, then the signal; answers the exit status."""
    command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--db", str(database), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        seen = 0
        for line in process.stdout:
            seen += json.loads(line)["event"] == "attempt_finished"
            if seen >= events:
                os.kill(process.pid, signal_number)
                break
        process.stdout.read()
        return process.wait(PATIENT_S)


def rows(database: Path, query: str) -> Iterator[sqlite3.Row]:
    """Rows of a database, read as any SQLite tool would."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        yield from connection.execute(query).fetchall()
    finally:
        connection.close()


def value(database: Path, query: str) -> Any:
    """The one value of a query."""
    return next(rows(database, query))[0]


def gaps(served: list[Served], origin: str, database: Path) -> list[float]:
    """The ms between the end of a request and the start of the next one to this origin; flukes are left out.

    A request that was reset before any byte (status 0) is followed at once by its second try (U). One whose answer the
    crawler turned away (too large) ended when it closed the connection: the server hears of that when its process runs
    next, so this end is the one in the database. What a killed crawler has not recorded ended as the server says.
    """
    left: dict[str, list[int]] = {}
    for row in rows(database, "SELECT url, ended_at FROM v_request ORDER BY ended_at DESC"):
        left.setdefault(row["url"], []).append(row["ended_at"])

    def end_of(one: Served) -> float:
        recorded = left.get(one.url, []) if one.ending == "client_left" else []
        return next((at for at in recorded if one.started <= at <= one.ended), one.ended)

    mine = [one for one in served if one.origin == origin]
    return [b.started - end_of(a) for a, b in itertools.pairwise(mine) if a.status != 0]


KILLED = -signal.SIGKILL
