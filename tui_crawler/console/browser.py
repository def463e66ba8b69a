"""The console in a browser: textual-serve shows a process of it in each page that is open.

Any page of the web can send requests to a loopback address. So a request has to name this server as its host, which
keeps out names that were made to lead here, and to come from a page of this server; with a token also to bring that.
"""

from __future__ import annotations

import hmac
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web
from textual_serve.server import Server

from tui_crawler.domain.url import is_loopback

COOKIE = "tui_crawler_token"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ConsoleServer(Server):  # type: ignore[misc]  # it ships no types
    """Serves the console to whom it may be shown."""

    def __init__(self, words: Sequence[str], host: str, port: int, token: str) -> None:
        """`words` start a console; an empty token: none is asked for."""
        super().__init__(shlex.join(words), host, port, "tui-crawler")
        self._token = token
        self.address = f"{self.public_url}/{f'?token={token}' if token else ''}"

    async def on_startup(self, app: web.Application) -> None:
        """Says nothing yet: it does not listen."""

    async def application(self) -> web.Application:
        """What answers requests."""
        app = await self._make_app()
        app.middlewares.append(self._guarded)
        return app

    @web.middleware  # type: ignore[untyped-decorator]  # not looked at, as it is an extra
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Lets a request through that comes from where it may. A token in the address becomes a cookie."""
        here = f"http://{request.url.authority}"
        if not self._token and not is_loopback(request.url.host or ""):
            raise web.HTTPForbidden(text="this is not the name of this server")
        if request.headers.get("Origin", here) != here:
            raise web.HTTPForbidden(text="this request is of a page of another server")
        if self._token and not self._is_token(request.cookies.get(COOKIE, "")):
            if not self._is_token(request.query.get("token", "")):
                raise web.HTTPForbidden(text="a token is asked for: the address that tui-crawler serve printed has it")
            found = web.HTTPFound("/")
            found.set_cookie(COOKIE, self._token, httponly=True, samesite="Strict")
            raise found
        self.public_url = here  # the name by which this browser knows it
        return await handler(request)

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._token.encode())


def serve_console(words: Sequence[str], host: str, port: int, token: str, tell: Callable[[str], object]) -> None:
    """Serves until a signal ends it; `words` follow the program's name, `tell` is told the address once it listens.
    Raises OSError where it cannot."""
    os.environ |= {"COLORTERM": "truecolor", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    os.environ.pop("NO_COLOR", None)
    server = ConsoleServer([sys.executable, "-m", "tui_crawler", *words], host, port, token)
    web.run_app(
        server.application(),
        host=host,
        port=port,
        access_log=None,
        shutdown_timeout=1,
        print=lambda *_: tell(server.address),
    )
