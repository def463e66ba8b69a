"""The console in a browser: textual-serve shows a process of it in each open page.

Any page of the web can send requests to a loopback address. So a request must name this server as its host, which
keeps out foreign names that resolve to it, and must come from a page of this server; with a token it must bring that.
"""

import asyncio
import hmac
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import WSCloseCode, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

from tui_crawler.domain.url import CrawlUrl, is_loopback, normalise

COOKIE = "tui_crawler_token"
_LARGEST = 1_000  # cells of a page's terminal, in width and height
_HEARTBEAT_S = 15.0  # a browser that has vanished is noticed after one and a half of this
_CHANGES_S = 3.0  # how long a page that is loaded again waits for its previous console to end
_ENDS_S = 10.0  # how long a console may take to end before it is killed

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class ServeAccess:
    """The token that pages must bring (empty: none), the URL by which browsers reach the server through a proxy
    (None: there is no proxy), and the greatest number of consoles at once."""

    token: str
    public: CrawlUrl | None
    max_clients: int


class _Console(AppService):  # type: ignore[misc]  # it ships no types
    """The process of one page, which does not outlive it."""

    async def set_terminal_size(self, width: int, height: int) -> None:
        await super().set_terminal_size(_cells(width), _cells(height))

    async def stop(self) -> None:
        """Ask the process to quit; kill it when it does not."""
        if process := self._process:
            ends = [asyncio.ensure_future(one) for one in (super().stop(), process.wait())]
            try:
                await asyncio.wait(ends, timeout=_ENDS_S)
            finally:
                if process.returncode is None:
                    process.kill()


class ConsoleServer(Server):  # type: ignore[misc]  # it ships no types
    """A server that shows the console to browsers that may see it."""

    public_url: str

    def __init__(self, words: Sequence[str], host: str, port: int, access: ServeAccess) -> None:
        """`words` start a console."""
        public = access.public and access.public.href.rstrip("/")
        super().__init__(f"exec {shlex.join(words)}", host, port, "tui-crawler", public)
        self.address = f"{self.public_url}/"
        self._access = access
        self._prefix = access.public.path.rstrip("/") if access.public else ""
        self._places = asyncio.Semaphore(access.max_clients)

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the server does not listen yet."""

    async def application(self) -> web.Application:
        """Return what handles requests: by their path, also with the prefix of the public URL, as proxies remove it
        or pass it on."""
        app = await self._make_app()
        app.middlewares.append(self._guarded)
        if self._prefix:
            for path, handler in (("/", self.handle_index), ("/ws", self.handle_websocket)):
                app.router.add_get(f"{self._prefix}{path}", handler)
            app.router.add_static(f"{self._prefix}/static", self.statics_path)
        return app

    @web.middleware  # type: ignore[untyped-decorator]  # not looked at, as it is an extra
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Pass on a request that comes from where it may. A token in the address becomes a cookie."""
        here, token, public = normalise(f"http://{request.host}/"), self._access.token, self._access.public
        if not isinstance(here, CrawlUrl) or here.target != "/":
            raise web.HTTPBadRequest(text="the header Host does not hold the name of a server")
        if not self._is_own(here.host):
            raise web.HTTPForbidden(text="the header Host does not hold a name of this server")
        own = (public or here).origin
        if any(origin != own for origin in request.headers.getall("Origin", ())):
            raise web.HTTPForbidden(text="this request comes from a page of another server")
        if token and not self._is_token(request.cookies.get(COOKIE, "")):
            if not self._is_token(request.query.get("token", "")):
                raise web.HTTPForbidden(text="this page needs a token: add ?token=TOKEN to its address")
            found = web.HTTPFound(f"{self._prefix}/")
            secure = own.startswith("https:")
            found.set_cookie(COOKIE, token, path=f"{self._prefix}/", secure=secure, httponly=True, samesite="Strict")
            raise found
        if public is None:
            self.public_url = own  # the name by which this browser knows the server
        return await handler(request)

    def _is_own(self, host: str) -> bool:
        """Whether a request may name this host. Without a public URL the names of this machine are not known; then
        only a token keeps foreign ones out."""
        if (public := self._access.public) is None:
            return bool(self._access.token) or is_loopback(host)
        return is_loopback(host) or host.strip("[]") in {public.host.strip("[]"), self.host.lower()}

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), self._access.token.encode())

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """Send the page, if there is room for its console."""
        await self._take_place()
        self._places.release()
        page: web.StreamResponse = await super().handle_index(request)
        return page

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Show a console until its page or the console ends."""
        try:
            size = [_cells(int(request.query.get(*one))) for one in (("width", "80"), ("height", "24"))]
        except ValueError as error:
            raise web.HTTPBadRequest(text="width and height are numbers of cells") from error
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S)
        send = {"write_bytes": socket.send_bytes, "write_str": socket.send_str, "close": socket.close}
        console = _Console(self.command, **send, download_manager=self.download_manager)
        await self._take_place()
        try:
            await socket.prepare(request)
            await console.start(*size)
            await self._process_messages(socket, console)
        except (ValueError, TypeError, LookupError, AttributeError, AssertionError):
            await socket.close(code=WSCloseCode.INVALID_TEXT)  # a message that no page of ours sends
        except OSError:
            await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)  # the page has gone, or no process can be started
        finally:
            await console.stop()
            self._places.release()
        return socket

    async def _take_place(self) -> None:
        """Take one of the places for clients. Raises HTTPServiceUnavailable when none is free."""
        most = self._access.max_clients
        try:
            async with asyncio.timeout(_CHANGES_S):
                await self._places.acquire()
        except TimeoutError:
            why = f"all {most} consoles are in use: close the page of one, or start serve with a larger --max-clients"
            raise web.HTTPServiceUnavailable(text=why, headers={"Retry-After": "30"}) from None


def _cells(number: Any) -> int:
    if isinstance(number, int) and 0 < number <= _LARGEST:
        return number
    raise ValueError(f"{number} cells")


def serve_console(
    words: Sequence[str], host: str, port: int, access: ServeAccess, tell: Callable[[str], object]
) -> None:
    """Serve until a signal ends it. `words` follow the program's name; `tell` gets the address once the server listens.
    Raises OSError when it cannot listen."""
    os.environ |= {"COLORTERM": "truecolor", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    os.environ.pop("NO_COLOR", None)
    server = ConsoleServer([sys.executable, "-m", "tui_crawler", *words], host, port, access)
    web.run_app(
        server.application(),
        host=host,
        port=port,
        access_log=None,
        shutdown_timeout=1,
        print=lambda *_: tell(server.address),
    )
