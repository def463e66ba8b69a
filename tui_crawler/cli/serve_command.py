"""`serve`: the console in a browser."""

from __future__ import annotations

import argparse
import re
from importlib.util import find_spec

from tui_crawler.cli.known_names import existing_database
from tui_crawler.cli.options import CommandSet, add_database, port
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus, UsageProblem

PORT = 8_731
_TOKEN = re.compile(r"[A-Za-z0-9_-]{8,200}")


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "serve",
        "show the console in a browser",
        execute,
        "Serves the console to browsers of this machine, to watch only. Each page is a console of its own. "
        "Who may steer the crawl, or come from another machine, has to bring the token: it stands in the address that "
        "is printed. What is sent is not encrypted; over a network a proxy with TLS belongs before it.",
        examples=("serve --db crawl.db", "serve --db crawl.db --allow-control --token a-long-secret"),
    )
    parser.add_argument("--host", default="localhost", metavar="H", help="the address to listen at (else localhost)")
    parser.add_argument("--port", type=port, default=PORT, metavar="P", help=f"the port (else {PORT})")
    parser.add_argument("--allow-control", action="store_true", help="pages may steer the crawl; wants --token")
    parser.add_argument("--token", default="", metavar="T", help="what pages have to bring, 8 characters at least")
    add_database(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.url import is_loopback

    database, token = existing_database(arguments), arguments.token
    why = "with --allow-control" if arguments.allow_control else f"at {arguments.host}"
    if not token and (arguments.allow_control or not is_loopback(arguments.host)):
        raise UsageProblem(f"{why} pages have to bring a token", hint="name one with --token T")
    if token and not _TOKEN.fullmatch(token):
        raise UsageProblem("--token: 8 to 200 letters, digits, - or _", hint="a long random one is best")
    if find_spec("textual_serve") is None:
        raise UsageProblem(
            "serve needs textual-serve, which is not installed", hint="pip install 'tui-crawler[web]' installs it"
        )
    from tui_crawler.console.browser import serve_console

    words = ("--db", str(database), *(() if arguments.allow_control else ("--readonly",)))
    serve_console(words, arguments.host, arguments.port, token, lambda url: printer.line(f"the console is at {url}"))
    return ExitStatus.ok
