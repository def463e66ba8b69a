"""One URL: what is known of it, how it was found, every attempt with its requests, headers and message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.url_detail import (
    ATTEMPT_COLUMNS,
    REQUEST_COLUMNS,
    attempt_rows,
    page_lines,
    path_lines,
    received_lines,
    request_row,
    sent_lines,
    unknown_lines,
)
from tui_crawler.console.present.urls import host_of, path_of
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.screens.base import ConsoleScreen, title
from tui_crawler.domain.view import PageDetail


class UrlScreen(ConsoleScreen):
    """Everything about one URL."""

    WHERE = Where.url
    HERE = frozenset({"view.failures"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.url)]
    AUTO_FOCUS = "#url-attempts"

    def __init__(self, url: str, came_from: tuple[str, ...]) -> None:
        """`came_from` is where one was before; both are raw text."""
        super().__init__()
        self._url = url
        self._came_from = came_from
        self._detail: PageDetail | None = None
        self._held: Snapshot | None = None

    def body(self) -> Iterable[Widget]:
        """Page and path, attempts, requests, headers as sent and as received."""
        self._page = Lines(id="url-page", classes="pane")
        self._path = Lines(id="url-path", classes="pane")
        self._attempts = CrawlTable(ATTEMPT_COLUMNS, placeholder="never tried", id="url-attempts", classes="pane")
        self._requests = CrawlTable(REQUEST_COLUMNS, placeholder="no request", id="url-requests", classes="pane")
        self._sent = Lines(id="url-sent", classes="pane")
        self._received = Lines(id="url-received", classes="pane")
        yield Vertical(
            Horizontal(self._page, self._path, id="url-upper"),
            self._attempts,
            self._requests,
            Horizontal(self._sent, self._received, id="url-lower"),
            id="body",
            classes="url-panes",
        )

    def on_mount(self) -> None:
        """Names the panes."""
        title(self._page, "Page")
        title(self._path, "Why is it here?")
        title(self._attempts, "Attempts")
        title(self._requests, "Requests")
        title(self._sent, "Sent")
        title(self._received, "Received")

    # what is shown

    def wants(self) -> Wants:
        """This URL."""
        return Wants(url=self._url)

    def take(self, shot: Snapshot) -> None:
        """Takes the page when it changed."""
        if not shot.page_read or (shot.page is not None and shot.page is self._detail):
            return
        if self.frozen:
            self.missed += 1
            self._held = shot
            title(self._attempts, "Attempts", f"‖ frozen · {self.missed} changes")
            return
        self._detail = shot.page
        self._show()

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        title(self._attempts, "Attempts")
        if self._held is not None:
            held, self._held = self._held, None
            self.take(held)

    def _show(self) -> None:
        detail = self._detail
        if detail is None:
            self._page.show(unknown_lines(self._url))
            return
        clock = self.console.clock
        self._page.show(page_lines(detail.page, clock.wall_ms(), clock.zone))
        self._path.show(path_lines(detail))
        self._attempts.set_rows(attempt_rows(detail.attempts, clock.zone))
        self._show_requests()

    def _show_requests(self) -> None:
        detail = self._detail
        if detail is None:
            return
        key = self._attempts.cursor_key
        mine = [one for one in detail.requests if one.attempt_id == key]
        self._requests.set_rows([request_row(one, self.console.clock.zone) for one in mine])
        self._show_headers()

    def _show_headers(self) -> None:
        detail = self._detail
        key = self._requests.cursor_key
        requests = detail.requests if detail is not None else ()
        request = next((one for one in requests if one.request_id == key), None)
        self._sent.show(sent_lines(request))
        self._received.show(received_lines(request))

    # what is selected

    def situation(self) -> Situation:
        """This URL."""
        return Situation(Where.url, urls=(self._url,) if self._detail is not None else ())

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        origin = "/".join(self._url.split("/", 3)[:3])
        name = path_of(self._url, origin)
        known = host_of(origin)
        return (*self._came_from, name if known in self._came_from else f"{known}{name}")

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        return False

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        """Another attempt, or another request."""
        if event.table is self._attempts:
            self._show_requests()
        else:
            self._show_headers()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """From an attempt to its requests, from a request to its headers."""
        (self._requests if event.table is self._attempts else self._received).focus()
