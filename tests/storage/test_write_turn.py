"""Turns at a database that several workers share: nobody starves, nothing is lost with a holder or without locks."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.patience import PATIENT_S
from tui_crawler.storage.db import write_turn, writer
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.write_turn import WriteTurn
from tui_crawler.storage.db.writer import Writer, WriterSettings
from tui_crawler.storage.models import Job

ROOT = Path(__file__).parents[2]
MOST = 100_000
WORKER = """
import asyncio, sys
from pathlib import Path
from tests.storage.test_write_turn import work_beside
print("ready", flush=True)
input()
asyncio.run(work_beside(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
"""
HOLDER = """
import subprocess, sys
from pathlib import Path
from tui_crawler.storage.db.write_turn import WriteTurn
assert WriteTurn(Path(sys.argv[1]), lambda: None).take()
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
print(child.pid, flush=True)
input()
"""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Who is late because the machine is busy stands still for nobody, and a slice that took long is a slice."""
    monkeypatch.setattr(write_turn, "PATIENCE_S", PATIENT_S)
    monkeypatch.setattr(writer, "_LONG_SLICE_S", PATIENT_S)


def shared_writer(path: Path) -> Writer:
    settings = WriterSettings(gather_ms=0, shared=True)
    return Writer(open_writable(path, OpenSettings(busy_ms=20)), path, settings, lambda: 1_000)


async def work_beside(path: Path, name: str, other: str) -> None:
    """Writes one job after the other until the other process has written thirty, too; prints how many."""
    writer = shared_writer(path)

    def count(transaction, whose):
        return transaction.fetch(Job.select(Job.name).where(Job.name.startswith(whose)))

    own = 0
    while own < MOST:
        line = f"{name} {own}"
        await writer.write(lambda work, line=line: work.execute(Job.insert({Job.name: line})), brief=True)
        own += 1
        if own >= 30 and len(await writer.read(lambda work: count(work, other), brief=True)) >= 30:
            break
    writer.close()
    print(own)


def test_two_processes_write_in_turns_and_neither_starves(database_path):
    open_writable(database_path, OpenSettings()).close()
    pairs = [("one", "two"), ("two", "one")]
    command = [sys.executable, "-c", WORKER, str(database_path)]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen([*command, *pair], stdin=pipe, stdout=pipe, text=True, cwd=ROOT) for pair in pairs]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 2
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    written = [int(process.communicate(timeout=PATIENT_S)[0]) for process in processes]
    assert all(30 <= number < MOST for number in written), written
    assert not database_path.with_name("crawl.db-turn").exists()


def test_the_turn_of_a_killed_process_is_free_and_no_child_of_it_keeps_it(tmp_path):
    path = tmp_path / "crawl.db"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as holder:
        child = int(holder.stdout.readline())
        came = threading.Event()
        turn = WriteTurn(path, came.set)
        assert not turn.take()
        holder.kill()
        assert came.wait(PATIENT_S), "the system has told it"
        assert turn.take()
    os.kill(child, signal.SIGKILL)
    turn.close()


async def test_what_waited_for_its_turn_is_done_on_the_event_loop(database_path, monkeypatch):
    writer = shared_writer(database_path)
    take, asked = writer._turns.take, []
    monkeypatch.setattr(writer._turns, "take", lambda: asked.append(take()) or asked[-1])
    other = WriteTurn(database_path, lambda: None)
    assert other.take()
    jobs = [writer.write(lambda _: threading.current_thread().name, brief=True) for _ in range(3)]
    waiting = [asyncio.ensure_future(job) for job in jobs]
    await asyncio.wait(waiting, timeout=0.05)
    assert not any(task.done() for task in waiting)
    other.give()
    assert await asyncio.gather(*waiting) == [threading.current_thread().name] * 3
    assert asked == [False, True], "it was not asked for again and again"
    assert other.take(wait=True), "it was given back"
    other.close()
    writer.close()


async def test_a_slice_wanted_for_the_first_time_while_the_turn_is_handed_on_is_done(database_path, monkeypatch):
    writer = shared_writer(database_path)
    give, handed_on, go_on = writer._turns.give, threading.Event(), threading.Event()

    def give_slowly() -> None:
        handed_on.set()
        go_on.wait(PATIENT_S)
        give()

    monkeypatch.setattr(writer._turns, "give", give_slowly)
    turn_thread = threading.Thread(target=writer._slice_now)  # a turn has come, and nobody has asked for a slice yet
    turn_thread.start()
    handed_on.wait(PATIENT_S)
    monkeypatch.undo()
    waiting = asyncio.ensure_future(writer.write(lambda _: "brief", brief=True))
    while not writer.outstanding:
        await asyncio.wait({waiting}, timeout=0.01)  # until the slice has come in vain
    go_on.set()
    async with asyncio.timeout(PATIENT_S):
        assert await waiting == "brief"
    turn_thread.join()
    writer.close()


async def test_who_stands_still_with_the_turn_stops_nobody(database_path, monkeypatch):
    monkeypatch.setattr(write_turn, "PATIENCE_S", 0.05)
    writer = shared_writer(database_path)
    other = WriteTurn(database_path, lambda: None)
    assert other.take()
    assert await writer.write(lambda _: "brief", brief=True) == "brief"
    assert await writer.write(lambda _: "long") == "long"
    writer.close()
    other.close()


@pytest.mark.parametrize("way", ["no such locks", "no such file"])
def test_where_there_are_no_such_locks_everybody_writes(tmp_path, monkeypatch, way):
    def refused(*_):
        raise OSError("no locks here")

    if way == "no such locks":
        monkeypatch.setattr(fcntl, "flock", refused)
    else:
        (tmp_path / "crawl.db-turn").mkdir()
    turns = [WriteTurn(tmp_path / "crawl.db", lambda: None) for _ in range(2)]
    assert all(turn.take() for turn in turns)
    for turn in turns:
        turn.close()
