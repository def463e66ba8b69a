"""robots.txt of one origin: the text with the group in force, the line that decides on a URL, and the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.format import READING
from tui_crawler.console.keys import only_at
from tui_crawler.console.origin_parts import ContractOf, RobotsFile, RobotsSheet
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines, lay_out_line
from tui_crawler.console.panes.long_lines import LongLines
from tui_crawler.console.present.contract_card import contract_lines
from tui_crawler.console.present.origin_now import clock_line
from tui_crawler.console.present.robots_lines import decide, robots_lines, text_line, wanted_url
from tui_crawler.console.present.urls import host_of
from tui_crawler.console.refresh import OriginDetail, Snapshot, Wants
from tui_crawler.console.screens.base import ConsoleScreen, title
from tui_crawler.console.screens.origin_actions import act_on_origins
from tui_crawler.console.table_cells import Piece, Styled
from tui_crawler.domain.contract import Contract
from tui_crawler.domain.robots_words import unavailable_words, unreachable_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui_crawler.domain.robots import RobotsDecision
    from tui_crawler.domain.view import OriginView


class RobotsText(LongLines):
    """The lines of one robots.txt, with the line that decides."""

    def __init__(self) -> None:
        """Makes it empty."""
        super().__init__(id="robots-text", classes="pane")
        self._sheet: RobotsSheet | None = None
        self._decided: int | None = None
        self._obeyed = True

    def show_sheet(self, sheet: RobotsSheet | None, decided: int | None, empty: str, *, obeyed: bool) -> None:
        """Shows a file, or the words `empty`; `decided` is the number of the line that decides, and comes into view.

        `obeyed` False: it is kept from before, and none of its lines is in force.
        """
        if sheet is self._sheet and (decided, obeyed) == (self._decided, self._obeyed) and sheet is not None:
            return
        fresh = sheet is not self._sheet
        self._sheet, self._decided, self._obeyed = sheet, decided, obeyed
        number = len(sheet.lines) if sheet is not None else 0
        self._source = tuple([""] * number) if number else (Styled(empty, "muted"),)
        self._width = -1
        self._measure()
        if sheet is not None and (decided or fresh):
            first = decided or min(sheet.in_force, default=1)
            self.call_after_refresh(self._come_to, first)
        self.refresh()

    def _come_to(self, number: int) -> None:
        """Scrolls so that a line stands in the upper third."""
        self.scroll_to(y=max(0, number - 1 - self.size.height // 3), animate=False)

    def _row(self, index: int) -> list[Piece]:
        if self._sheet is None:
            return super()._row(index)
        line = text_line(self._sheet, index + 1, self._decided, obeyed=self._obeyed)
        return next(iter(lay_out_line(line, self._width)), [])


_TRY = "robots-url"


class RobotsScreen(ConsoleScreen):
    """One robots.txt, and what it means for one URL."""

    WHERE = Where.robots
    HERE = frozenset({"nav.open", "origin.add", "filter.open", "sort.pick", "copy.pick", "view.export", "table.pivot"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.robots)]
    AUTO_FOCUS = "#robots-text"

    def __init__(self, origin: str, url: str = "", came_from: tuple[str, ...] = ("Overview",)) -> None:
        """`origin` is raw text as stored; `url` is the one that is judged, empty for none. `came_from` are crumbs."""
        super().__init__()
        self._origin = origin
        self._came_from = came_from
        self._url = url
        self._detail: OriginDetail | None = None
        self._sheet: RobotsSheet | None = None
        self._read = False
        self._contract: Contract | None = None
        self._decision: RobotsDecision | None = None

    def body(self) -> Iterable[Widget]:
        """The text beside what is known of it."""
        self._text = RobotsText()
        self._facts = Lines(id="robots-facts", classes="pane")
        yield Vertical(Horizontal(self._text, self._facts, id="robots-panes"), id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        title(self._text, f"{host_of(self._origin)}/robots.txt")
        title(self._facts, "What it means")
        self._show()

    def wants(self) -> Wants:
        """The origin, its contract and its file."""
        view = self._view()
        parts: tuple[ContractOf | RobotsFile, ...] = (ContractOf(self._origin),)
        if view is not None:
            parts = (*parts, RobotsFile(self._origin, view.robots_fetched_at))
        return Wants(origin=self._origin, parts=parts)

    def take(self, shot: Snapshot) -> None:
        """Takes the parts that changed; held still, the picture stays."""
        if shot.origin is not None:
            self._detail = shot.origin
        if self.frozen:
            self.missed += 1
            return
        for part, value in shot.parts.items():
            match part, value:
                case ContractOf(), Contract():
                    self._contract = value
                case RobotsFile(), RobotsSheet() | None if value is not self._sheet or not self._read:
                    self._sheet, self._read = value, True
                    self._judge()
                case _:
                    continue
        self._show()

    def thaw(self) -> None:
        """Reads anew."""
        self.console.read_soon()
        self._show()

    def tick(self) -> None:
        """Clocks."""
        if not self.frozen:
            self._show()

    def _judge(self) -> None:
        self._decision = decide(self._sheet, self._url) if self._sheet is not None and self._url else None

    def _show(self) -> None:
        view = self._view()
        if view is None:
            unknown = f"{host_of(self._origin)} is not an origin of this crawl." if self._detail is not None else ""
            self._text.show_sheet(None, None, unknown, obeyed=False)
            self._facts.show([])
            return
        console = self.console
        now, zone = console.clock.wall_ms(), console.clock.zone
        in_force = view.robots_status == "parsed"
        decided = self._decision.line_number if self._decision is not None and in_force else None
        held = self._sheet is not None and in_force
        empty = "The file is empty." if held else _nothing(view) if self._read else READING
        sheet = self._sheet if self._sheet is not None and self._sheet.size else None
        self._text.show_sheet(sheet, decided, empty, obeyed=in_force)
        lines = robots_lines(view, self._sheet, self._url, self._decision, now, zone, self.key_names)
        lines += ["", clock_line(view, now, self._contract)]
        if self._contract is not None:
            lines += ["", *contract_lines(self._contract, view, now, zone, self.key_names)]
        self._facts.show(lines)

    def _view(self) -> OriginView | None:
        read = self._detail.view if self._detail is not None else None
        return read or self.console.picture.origins.get(self._origin)

    def situation(self) -> Situation:
        """This origin, and the URL that is judged."""
        view = self._view()
        return Situation(
            Where.robots,
            origins=(view,) if view is not None else (),
            urls=(self._url,) if self._url else (),
        )

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        host = host_of(self._origin)
        named = any(f"{crumb}/".startswith((f"{host}/", f"{self._origin}/")) for crumb in self._came_from)
        return (*self._came_from, *(() if named else (host,)), "robots.txt")

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        view = self._view()
        match action_id:
            case "robots.test" if argument:
                self._try(argument)
            case "robots.test":
                self.query_one(EntryLine).open(_TRY, "URL or path", "", "/path?query, or the whole URL")
            case _:
                return view is not None and act_on_origins(self.console, action_id, (view,))
        return True

    def _try(self, text: str) -> None:
        url = wanted_url(self._origin, text.strip())
        if not url:
            self.console.tell("no", f"{text} is no URL of {host_of(self._origin)}", "warning")
            return
        self._url = url
        self._judge()
        self._show()

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Judges the URL that was typed."""
        if event.purpose == _TRY:
            self.focus_main()
            if event.text.strip():
                self._try(event.text)

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        """Goes back to the text."""
        if event.purpose == _TRY:
            self.focus_main()


def _nothing(view: OriginView) -> str:
    match view.robots_status:
        case "unavailable":
            words = unavailable_words(view.robots_http_status)
        case "unreachable":
            words = unreachable_words(view.robots_http_status, view.robots_message)
        case _:
            words = "robots.txt has not been fetched"
    return f"{words.replace('there is', 'There is', 1)}."
