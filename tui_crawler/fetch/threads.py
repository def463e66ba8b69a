"""Blocking work in daemon threads: it delays neither the event loop nor the end of the process."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def run_in_thread(name: str, work: Callable[[], T]) -> T:
    """Return what `work` answers or raises, from a thread of its own.

    The event loop's thread pool would make the process wait for its threads when it ends, and the work that hangs
    would take the place of other work. When the caller is cancelled the thread comes to its end unheard.
    """
    answer = Future[T]()
    answer.set_running_or_notify_cancel()  # it continues when the caller is cancelled

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as error:  # it is raised again where the work is waited for
            answer.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(answer)
