"""`serve`: the console in a browser."""

from __future__ import annotations

import argparse
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database
from tui_crawler.cli.options import CommandSet, port, positive
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus, UsageProblem

if TYPE_CHECKING:
    from tui_crawler.domain.url import CrawlUrl

PORT = 8_731
MAX_CLIENTS = 8
TOKEN_VARIABLE = "TUI_CRAWLER_SERVE_TOKEN"  # noqa: S105  the name of a variable
_TOKEN = re.compile(r"[A-Za-z0-9_-]{8,200}")
_GENERATED_BYTES = 24


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "serve",
        "show the console in a browser",
        execute,
        "Serve the console to browsers on this machine, to watch only. Each page is a console of its own. Browsers on "
        "other machines, and pages that may steer the crawl, need a token: without --token it is read from "
        f"{TOKEN_VARIABLE}, or generated and printed. The connection is not encrypted: put a proxy with TLS in front "
        "of it, and name the proxy's URL with --public-url (docs/serve.md).",
        examples=(
            "serve --db crawl.db",
            "serve --db crawl.db --allow-control --token file:serve.token --public-url https://example.org/crawl/",
        ),
        json="",
    )
    parser.add_argument("--host", default="localhost", metavar="H", help="listen on this address (default: localhost)")
    parser.add_argument("--port", type=port, default=PORT, metavar="P", help=f"listen on this port (default: {PORT})")
    parser.add_argument("--public-url", metavar="URL", help="the URL at which a proxy shows this server to browsers")
    parser.add_argument("--allow-control", action="store_true", help="let pages steer the crawl")
    parser.add_argument(
        "--token", metavar="T", help="access token, at least 8 characters, best as file:PATH or ${NAME}"
    )
    parser.add_argument(
        "--max-clients",
        type=positive,
        default=MAX_CLIENTS,
        metavar="N",
        help=f"show at most N consoles at once (default: {MAX_CLIENTS})",
    )


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.records.database_place import location_of
    from tui_crawler.domain.url import is_loopback

    database, public = existing_database(arguments), _public_url(arguments.public_url)
    if find_spec("textual_serve") is None:
        raise UsageProblem(
            "serve needs textual-serve, which is not installed", hint="pip install 'tui-crawler[web]' installs it"
        )
    open_to_all = not is_loopback(arguments.host) or (public is not None and not is_loopback(public.host))
    token, shown = _token(arguments.token, printer, needed=open_to_all or arguments.allow_control)
    from tui_crawler.console.browser import ServeAccess, serve_console

    def tell(url: str) -> None:
        printer.line(f"the console is at {url}{f'?token={token}' if shown else ''}")

    words = ("--db", location_of(database), *(() if arguments.allow_control else ("--readonly",)))
    serve_console(words, arguments.host, arguments.port, ServeAccess(token, public, arguments.max_clients), tell)
    return ExitStatus.ok


def _public_url(text: str | None) -> CrawlUrl | None:
    from tui_crawler.domain.url import CrawlUrl, normalise

    url = None if text is None else normalise(text)
    if url is None or (isinstance(url, CrawlUrl) and not url.query and not url.fragment):
        return url
    why = "has a query or a fragment" if isinstance(url, CrawlUrl) else url.reason
    raise UsageProblem(f"--public-url {why}", hint="name it as browsers see it: https://example.org/crawl/")


def _token(given: str | None, printer: Printer, *, needed: bool) -> tuple[str, bool]:
    """Return the token (empty: pages need none), and whether to print it: not when it is kept elsewhere. Raises
    UsageProblem."""
    kept = os.environ.pop(TOKEN_VARIABLE, "")  # consoles need not inherit it
    if given is None and not kept:
        from secrets import token_urlsafe

        return token_urlsafe(_GENERATED_BYTES) if needed else "", needed
    from tui_crawler.config.problem import BadValue, SourcePlace
    from tui_crawler.config.web_kinds import Secret

    name, written = (TOKEN_VARIABLE, kept) if given is None else ("--token", given)
    try:
        token = Secret(written, _TOKEN, SourcePlace(name), "", Path()).reveal()
    except BadValue as problem:
        hint = "a token has 8 to 200 letters, digits, - or _; a long random one is best"
        raise UsageProblem(f"{name}: {problem}", hint=hint) from problem
    if shown := given == token:
        hint = f"pass file:PATH, or set {TOKEN_VARIABLE}"
        printer.note(f"warning: --token shows the token in the list of processes; {hint}")
    else:
        printer.note(f"open the page with ?token=TOKEN, the token of {given or TOKEN_VARIABLE}")
    return token, shown
