"""A child process that runs a module of this very package, also where that is not installed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path


def child_words(module: str, *words: str) -> tuple[str, ...]:
    """The command line of a module."""
    return (sys.executable, "-P", "-m", module, *words)


def child_environment() -> dict[str, str]:
    """The environment of this process, in which the child finds the package."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


def end_with_stdin(stop: Callable[[], object]) -> None:
    """In a child: call `stop` on this loop when stdin, which its parent holds, ends."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):  # not sys.stdin: its lock would be missed when the interpreter ends
                continue
        with contextlib.suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait, name="stdin", daemon=True).start()
