"""One URL in tabs: why it is here and why it is (not) crawled, attempts, headers, links, the stored body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.handlers import handles
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.line import Line, heading
from tui_crawler.console.panes.lines import FactsPane, LongLines
from tui_crawler.console.panes.tabs import Tab, TabBar
from tui_crawler.console.reading.ask import WINDOW, Ask
from tui_crawler.console.reading.reading import AnyReading, PaneReading
from tui_crawler.console.reading.window import TurnedWindow
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.url import rows
from tui_crawler.console.url.explanation import explained
from tui_crawler.console.url.page_text import PageText, page_text
from tui_crawler.console.url.rows import LINKS, REQUESTS, TRIES, LinkLine
from tui_crawler.console.url.why_lines import trace_lines
from tui_crawler.console.urls.cells import host_of, origin_of, path_of
from tui_crawler.console.urls.queries import FIRST_LINKS, MOST_LINKS, BodyStart, LinkPlace, body_of, detail_of, links_of
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page_view import LinkEnd, PageDetail, PageView
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import READING, count, plural, size

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.ports import Explainer, Reports
    from tui_crawler.domain.records.attempt import RequestRecord
    from tui_crawler.text.cells import Present


class LinkList(TurnedWindow[LinkPlace, LinkEnd]):
    """A table of links, and what is to be read for it."""

    def __init__(self, url: str, show: Callable[[object], object], *, inward: bool) -> None:
        """`inward`: the links to `url`, else those from it."""

        def window(after: LinkPlace) -> Ask[tuple[LinkEnd, ...]]:
            return links_of(url, inward, after, WINDOW + 1)

        super().__init__(window, FIRST_LINKS, lambda end: end.after, show)
        self._inward, self.words = inward, "Links to it" if inward else "Links from it"
        nothing, name = ("no link to it is known", "url-inlinks") if inward else (LINKS.nothing, "url-outlinks")
        self.table = CrawlTable(LINKS, placeholder=nothing, id=name, classes="pane")
        self.table.name_pane(self.words)

    def show(self, detail: PageDetail, moment: Present) -> None:
        """Shows the window; `detail` knows how many links there are."""
        whole = detail.inlink_count if self._inward else detail.outlink_count
        ends = self.rows[:WINDOW]
        if not self.read and whole:
            self.table.placeholder = READING
        lines = (LinkLine(number, end, detail.page.origin, self._inward) for number, end in enumerate(ends))
        self.table.fill(lines, moment)
        title(self.table, rows.links_title(self.words, self.first, len(ends) if self.read else whole, whole))


class PageTextPane(LongLines):
    """The stored body; `spots` are where the links of a page as text can be clicked."""

    class LinkPressed(Message):
        """A link was clicked, or (0) enter was pressed: its number is to be asked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "press", "Open", show=False)]
    spots: Mapping[int, Sequence[tuple[int, int, int]]] = MappingProxyType({})

    def action_press(self) -> None:
        self.post_message(self.LinkPressed(0))

    def on_click(self, event: events.Click) -> None:
        if (at := event.get_content_offset(self)) is None:
            return
        for begin, end, number in self.spots.get(at.y + round(self.scroll_y), ()):
            if begin <= at.x < end:
                event.stop()
                self.post_message(self.LinkPressed(number))


_TABS = ("why", "attempts", "headers", "links", "body")
_FOCUS = {
    "why": "#url-attempts",
    "attempts": "#url-attempts",
    "headers": "#url-requests",
    "links": "#url-inlinks",
    "body": "#url-body",
}
"""Where the focus goes when a tab is opened."""

_DIGITS = 6


class UrlScreen(RowsScreen):
    """Everything about one URL. Panes are shared by tabs; the style sheet says which one shows which."""

    WHERE = Where.url
    AUTO_FOCUS = "#url-attempts"

    def __init__(self, explainer: Callable[[Reports], Explainer], url: str, tab: str = _TABS[0]) -> None:
        """`url` is raw text. `tab`: the name of the one that is shown first."""
        super().__init__()
        self._url, self.tab = url, tab
        self._page_read = PaneReading(lambda: detail_of(url, 0, MOST_LINKS), lambda _: self._show())
        self._explanation = PaneReading(lambda: explained(explainer, url) if self.tab == "why" else None)
        self._body = PaneReading(self._ask_body, lambda _: self._show_body())
        self._raw: bool | None = None
        self._text = PageText()  # without rows unless the body is shown as text to be read
        self._reads = False
        self._inward = LinkList(url, lambda _: self._show_links(), inward=True)
        self._outward = LinkList(url, lambda _: self._show_links(), inward=False)

    def body(self) -> Iterable[Widget]:
        page = FactsPane(self._page_facts, "Page", id="url-page")
        path = FactsPane(lambda: self._of_detail(rows.path_lines), "Why is it here?", id="url-path")
        self._trace = FactsPane(self._trace_facts, id="url-trace")
        self._attempts = CrawlTable(TRIES, id="url-attempts", classes="pane")
        self._requests = CrawlTable(REQUESTS, id="url-requests", classes="pane")
        self._requests.name_pane("Requests")
        sent = FactsPane(lambda: self._of_request(rows.sent_lines), "Sent", id="url-sent")
        self._received = FactsPane(lambda: self._of_request(rows.received_lines), "Received", id="url-received")
        self._redirects = FactsPane(self._redirect_facts, "Redirects", id="url-redirects")
        content = FactsPane(lambda: self._of_detail(rows.content_lines), "Document", id="url-content")
        self._body_pane = PageTextPane(id="url-body", classes="pane")
        title(self._body_pane, "Stored body")
        yield TabBar(id="url-tabs")
        yield Vertical(
            Horizontal(Vertical(page, path, id="url-left"), self._trace, id="url-upper"),
            self._attempts,
            self._requests,
            Horizontal(sent, self._received, id="url-lower"),
            Vertical(self._inward.table, self._outward.table, self._redirects, id="url-links"),
            Horizontal(content, self._body_pane, id="url-stored"),
            id="body",
            classes=f"url-panes tab-{self.tab}",
        )

    def on_mount(self) -> None:
        title(self._trace, "Decision trace", f"{self.key_names('url.inspect_why')} in full")
        if self.tab != _TABS[0]:
            self.focus_main()

    def fit(self, size: Size) -> None:
        super().fit(size)
        self.show_tabs()
        self.show_facts()
        self.call_after_refresh(self._show_body)

    @property
    def _detail(self) -> PageDetail | None:
        return self._page_read.value

    def readings(self) -> tuple[AnyReading, ...]:
        """This URL, its trace where that is shown, and its links or its body where they are."""
        links = (self._inward.reading, self._outward.reading) if self.tab == "links" else ()
        return (self._page_read, self._explanation, *links, self._body)

    def _ask_body(self) -> Ask[BodyStart | None] | None:
        detail = self._detail if self.tab == "body" else None
        return None if detail is None else body_of(self._url, detail.page.sha256)

    def show_titles(self) -> None:
        title(self._attempts, "Attempts")

    def _page_facts(self) -> Sequence[Line]:
        if self._detail is not None:
            return rows.page_lines(self._detail.page, self.console.clock.zone)
        return rows.unknown_lines(self._url) if self._page_read.read else []

    def _of_detail(self, lines: Callable[[PageDetail, tzinfo], list[Line]]) -> list[Line]:
        return lines(self._detail, self.console.clock.zone) if self._detail is not None else []

    def _redirect_facts(self) -> Sequence[Line]:
        redirects = rows.redirect_lines(self._detail) if self._detail is not None else []
        self._redirects.display = bool(redirects)
        return redirects

    def _trace_facts(self) -> Sequence[Line]:
        """The trace; where there is one column only, with the path from a seed below it."""
        clock, said = self.console.clock, self._explanation.latest
        lines = trace_lines(said, clock.wall_ms(), clock.zone, short=True) if said is not None else []
        if self.has_class("-narrow") and self._detail is not None:
            lines += ["", heading("Why is it here?"), *self._of_detail(rows.path_lines)]
        return lines

    def _show(self) -> None:
        detail = self._detail
        self.show_tabs()
        if detail is None:
            for table in self.tables:
                table.set_rows(())
            return
        self._attempts.fill(rows.tries_of(detail), present(self.console.clock))
        self._show_links()
        self._show_requests()

    def show_tabs(self) -> None:
        """Brings the line of tabs up to date, with what each holds."""
        notes, key_of = dict[str, str](), self.key_names.first
        if (detail := self._detail) is not None:
            notes = {
                "attempts": str(len(detail.attempts)),
                "links": f"{rows.many_links(detail.inlink_count)} in, {rows.many_links(detail.outlink_count)} out",
                "body": size(detail.page.size) if detail.page.size else "",
            }
        named = [(f"url.tab_{name}", name.capitalize(), notes.get(name, "")) for name in _TABS]
        tabs = [Tab(one, key_of(one), words, note) for one, words, note in named]
        self.query(TabBar).last().tell(tabs, f"url.tab_{self.tab}")

    def _show_links(self) -> None:
        if self._detail is not None:
            for links in (self._inward, self._outward):
                links.show(self._detail, present(self.console.clock))

    @handles("list.older", True)
    @handles("list.newer", False)
    def _turn_links(self, on: bool) -> None:
        links = self._links_here
        if links.turn(on=on):
            self._show_links()
            links.table.move_cursor(index=0)
            self.console.read_soon()

    @property
    def _links_here(self) -> LinkList:
        """Those that have the focus, else those to it."""
        return self._outward if self.focused is self._outward.table else self._inward

    def _show_requests(self) -> None:
        if self._detail is not None:
            key = self._attempts.cursor_key
            mine = [one for one in self._detail.requests if one.attempt_id == key]
            self._requests.fill(mine, present(self.console.clock))

    def _of_request(self, lines: Callable[[RequestRecord | None], Sequence[Line]]) -> Sequence[Line]:
        return lines(self._requests.current) if self._detail is not None else []

    def _show_body(self) -> None:
        body, width = self._body.latest, self._body_pane.scrollable_content_region.width
        if self.tab != "body" or width <= 0:
            return
        lines: list[Line] = [Styled("no body is stored" if self._body.read else READING, "muted")]
        words = "Stored body"
        self._text = PageText()
        if body is not None:
            lines, shown = self._lines_of(body, width)
            words = f"Stored body · {size(body.size)} · {shown}"
        self._body_pane.spots = self._text.spots
        hint = "{url.follow} opens a link" if self._text.rows else "{url.read} as text"
        title(self._body_pane, words, self.key_names.said(hint))
        self._body_pane.show(lines)

    def _lines_of(self, body: BodyStart, width: int) -> tuple[list[Line], str]:
        """A body as the operator wants to see it, and how that is, in words."""
        kind = self._detail.page.content_type if self._detail is not None else ""
        binary = rows.looks_binary(body.data)
        if self._reads and not binary:
            self._text = page_text(body.data, body.size, kind, self._url, width)
            return self._text.rows, f"as text, {plural(len(self._text.links), 'link')}"
        if binary if self._raw is None else self._raw:
            return rows.hex_lines(body.data, body.size, width), "bytes"
        return rows.text_lines(body.data, body.size, kind, width), "text"

    def situation(self) -> Situation:
        links = self._links_here if self.tab == "links" else None
        older, newer = (links.older, links.newer) if links is not None else (False, False)
        urls = (self._url,) if self._detail is not None else ()
        page, by_policy = self.page_of(self._url), ExitCode.blocked_url_by_local_policy.name
        refused = urls if page is not None and page.last_exit_code == by_policy else ()
        return Situation(Where.url, urls=urls, refused=refused, older=older, newer=newer)

    def page_of(self, url: str) -> PageView | None:
        return self._detail.page if self._detail is not None and self._detail.page.url == url else None

    def crumbs(self) -> tuple[str, ...]:
        origin, came_from = origin_of(self._url), self.place.came_from
        name, known = path_of(self._url, origin), host_of(origin)
        return (*came_from, name if known in came_from else f"{known}{name}")

    @handles("url.raw")
    def _show_raw(self) -> None:
        body = self._body.latest
        shown = rows.looks_binary(body.data) if body is not None and self._raw is None else bool(self._raw)
        self._raw, self._reads = not shown if self.tab == "body" else True, False
        self._open_tab("body")

    @handles("url.read")
    def _read_text(self) -> None:
        self._reads = not self._reads or self.tab != "body"
        self._open_tab("body")

    @handles("url.follow")
    def _follow(self, number: str) -> None:
        """Opens a link of the page as text by its number, or asks for that."""
        links = self._text.links
        if not links:
            self.console.tell("no", self.key_names.said("no link has a number here; {url.read} shows them"), "muted")
        elif not number:
            use = EntryUse("link", self._follow_number)
            self.query_one(EntryLine).open(use, "link", "", f"a number from 1 to {count(len(links))}")
        elif number.isdecimal() and len(number) < _DIGITS and 0 < int(number) <= len(links):
            self.console.go_to(Where.url, links[int(number) - 1])
        else:
            self.console.tell("no", f"no link has the number {number}", "warning")

    def _follow_number(self, number: str) -> None:
        if number:
            self._follow(number)

    def on_page_text_pane_link_pressed(self, event: PageTextPane.LinkPressed) -> None:
        self._follow(str(event.number or ""))

    def open_filter(self, text: str) -> None:
        if self.table_filter.table is None:
            self._open_tab("attempts")
        super().open_filter(text)

    @handles("url.tab_why", "why")
    @handles("url.tab_attempts", "attempts")
    @handles("url.tab_headers", "headers")
    @handles("url.tab_links", "links")
    @handles("url.tab_body", "body")
    def _open_tab(self, name: str) -> None:
        self.query_one("#body").update_classes({f"tab-{one}": one == name for one in _TABS}, animate=False)
        self.tab = name
        self.show_tabs()
        self.focus_main()
        self.console.read_soon()
        self.call_after_refresh(self._show_body)

    def focus_main(self) -> None:
        narrow = self.tab == "why" and self.has_class("-narrow")
        self.set_focus(self.query_one("#url-trace" if narrow else _FOCUS[self.tab]))  # at once: keys may follow

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._attempts:
            self._show_requests()

    def row_selected(self, event: CrawlTable.RowSelected) -> None:
        """From an attempt to its requests, from a request to its headers, from a link to its other end."""
        if event.table is self._attempts:
            if self.tab == "why":
                self._open_tab("headers")
            self._requests.focus()
        elif event.table is self._requests:
            self._open_tab("headers")
            self._received.focus()
        else:
            link = event.table.record(event.key).end.link
            self.console.go_to(Where.url, link.from_url if event.table is self._inward.table else link.to_url)
