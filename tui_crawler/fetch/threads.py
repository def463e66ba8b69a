"""Blocking work in daemon threads: it delays neither the event loop nor the end of the process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def run_in_thread(name: str, work: Callable[[], T]) -> T:
    """What `work` answers or raises, from a thread of its own.

    The event loop's thread pool would make the process wait for its threads when it ends, and the work that hangs
    would take the place of other work. When the caller is cancelled the thread comes to its end unheard.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: Exception | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(value)  # type: ignore[arg-type]  # without an error there is a value

    def run() -> None:
        value: T | None = None
        failure: Exception | None = None
        try:
            value = work()
        except Exception as error:  # it is raised again where the work is waited for
            failure = error
        try:
            loop.call_soon_threadsafe(settle, value, failure)
        except RuntimeError:  # the loop was closed in the meantime
            return

    threading.Thread(target=run, name=name, daemon=True).start()
    return await answer
