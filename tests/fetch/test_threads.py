"""Blocking work in threads: answers, failures, and nobody waiting any more."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tui_crawler.fetch.threads import run_in_thread


async def test_the_answer_comes_from_another_thread() -> None:
    name = await run_in_thread("worker", lambda: threading.current_thread().name)
    assert name == "worker"


async def test_what_the_work_raises_is_raised() -> None:
    def fail() -> None:
        raise OSError("no such host")

    with pytest.raises(OSError, match="no such host"):
        await run_in_thread("worker", fail)


async def test_a_caller_that_was_cancelled_is_not_told() -> None:
    release, begun = threading.Event(), threading.Event()

    def work() -> bool:
        begun.set()
        return release.wait()

    task = asyncio.create_task(run_in_thread("worker", work))
    await run_in_thread("watcher", begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    worker = next(thread for thread in threading.enumerate() if thread.name == "worker")
    assert worker.daemon
    release.set()
    await run_in_thread("watcher", worker.join)
    await asyncio.sleep(0)  # its answer is delivered now, and thrown away


def test_a_loop_that_was_closed_is_not_told() -> None:
    release = threading.Event()

    async def leave() -> None:
        asyncio.ensure_future(run_in_thread("late", release.wait)).add_done_callback(lambda _: None)
        await asyncio.sleep(0)

    asyncio.run(leave())
    worker = next(thread for thread in threading.enumerate() if thread.name == "late")
    release.set()
    worker.join()
    assert not worker.is_alive()
