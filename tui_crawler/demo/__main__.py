"""`python -m tui_crawler.demo`: the demo web until standard input ends.

Prints one JSON line when all sites answer: `{"sites": [{"name", "title", "shows", "seed", "port"}]}`,
or `{"error": message}` and exit status 1.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from tui_crawler.demo.web import DemoWeb


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until standard input ends or SIGTERM or SIGINT arrives; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tui_crawler.demo", description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address")
    parser.add_argument("--base-port", type=int, help="the first of ten ports in a row (default: free ones)")
    parser.add_argument("--access-log", type=Path, help="append one JSON line per request to this file")
    parser.add_argument("--pace", type=float, default=1.0, help="multiplies every wait of the sites")
    options = parser.parse_args(arguments)
    try:
        asyncio.run(_serve(DemoWeb(options.host, options.access_log, options.pace, options.base_port)))
    except (OSError, ValueError) as error:
        _say({"error": str(error)})
        return 1
    return 0


async def _serve(web: DemoWeb) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with web:
        sites = [
            {"name": site.name, "title": site.title, "shows": site.shows, "seed": seed, "port": urlsplit(seed).port}
            for site, seed in zip(web.sites, web.seeds, strict=True)
        ]
        _say({"sites": sites})
        Thread(target=_watch_input, args=(loop, stop), daemon=True).start()
        await stop.wait()


def _watch_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Read standard input to its end in a thread, which works for pipes, terminals and files alike."""
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(stop.set)


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
