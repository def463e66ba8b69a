"""Host names to addresses."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Awaitable, Callable

from tui_crawler.fetch.threads import run_in_thread

Resolver = Callable[[str, int], Awaitable[tuple[str, ...]]]


async def resolve_name(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a name, best first (the operating system's order). Raises OSError when there are none."""

    def look_up() -> tuple[str, ...]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError as error:  # a label that no name server could be asked for
            raise OSError(str(error)) from error
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

    return await run_in_thread(f"resolve {host}", look_up)


def is_out_of_descriptors(error: BaseException | None) -> bool:
    """Whether an error came of the want of a file descriptor; a name look-up does not say so itself."""
    while error is not None:
        try:
            if isinstance(error, socket.gaierror) or getattr(error, "errno", 0) == errno.EBUSY:  # glibc says either
                os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as shortage:
            error = shortage
        if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
            return True
        error = error.__cause__
    return False
