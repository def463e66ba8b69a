"""What view 3 does with all pages that pass its filter, also those it does not hold: counted, exported, marked, and
counted by the values of a column. Each reads a piece with each reading."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TextIO, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tui_crawler.console.dialogs.choose import PivotScreen
from tui_crawler.console.dialogs.pivot_rows import Pivot
from tui_crawler.console.reading.ask import Ask, PageAsk
from tui_crawler.console.reading.reading import AnyReading
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.console.screen.lifetime import is_ready
from tui_crawler.console.table import export as view_export
from tui_crawler.console.urls.queries import export_window, page_counts_of, page_tally_of
from tui_crawler.console.urls.rows import URLS
from tui_crawler.domain.rules.page_filter import PageCounts, PageFilter, PageTally, PageWindow
from tui_crawler.text.format import count, plural
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from pathlib import Path

    from tui_crawler.console.reading.refresh import Snapshot
    from tui_crawler.console.urls.screen import UrlsScreen


A = TypeVar("A", bound=Ask[Any])

RECOUNT_MS = 10_000
"""So long a number holds at least while pages come in."""
_SHARE = 10
"""It holds so many times as long as it took to count: counting a long list takes a small part of the time."""


class _Piecewise(AnyReading, Generic[A]):
    def __init__(self, read_soon: Callable[[], object]) -> None:
        self._read_soon = read_soon
        self._ask: A | None = None

    def asks(self, *, frozen: bool) -> tuple[A, ...]:
        return () if self._ask is None else (self._ask,)

    def take(self, shot: Snapshot, *, frozen: bool) -> bool:
        ask = self._ask
        if ask is not None and ask in shot.parts:
            self._go_on(ask, shot.parts[ask])
            if self._ask is not None:
                self._read_soon()
        return False

    @abstractmethod
    def _go_on(self, ask: A, read: Any, /) -> None:
        """Takes a piece, and asks for the next one if there is any."""


class MatchCount(_Piecewise[Ask[PageTally]]):
    """The number of pages that pass a filter. Where it is counted anew, the one before holds until that is done."""

    def __init__(self, read_soon: Callable[[], object], now: Callable[[], int]) -> None:
        """`now` is monotonic ms."""
        super().__init__(read_soon)
        self._now = now
        self._narrowing = PageFilter()
        self._round = 0
        self._matched = self._looked_at = 0
        self._began_at = self._ended_at = 0
        self.found: PageTally | None = None
        """What is known of it; None without a filter, and until the first piece was counted."""

    def look(self, narrowing: PageFilter) -> None:
        self.found = None
        self._begin(narrowing)

    def _go_on(self, _ask: Ask[PageTally], tally: PageTally) -> None:
        now = self._now()
        if not self._looked_at:
            self._began_at = now
        self._matched += tally.matched
        self._looked_at += tally.looked_at
        self._ended_at = now
        self._ask = None if tally.ended else page_tally_of(self._narrowing, tally.last_id, self._round)
        if tally.ended or self.found is None or not self.found.ended:
            self.found = replace(tally, matched=self._matched, looked_at=self._looked_at, last_id=0)

    def count_again(self) -> None:
        """Begins again where the number is old; to be called while the crawl goes on."""
        took, age = self._ended_at - self._began_at, self._now() - self._ended_at
        if self.found is not None and self._ask is None and age >= max(RECOUNT_MS, _SHARE * took):
            self._begin(self._narrowing)
            self._read_soon()

    def _begin(self, narrowing: PageFilter) -> None:
        self._round += 1
        self._matched = self._looked_at = 0
        self._narrowing = narrowing
        self._ask = page_tally_of(narrowing, 0, self._round) if narrowing.terms else None


MOST_MARKED = 10_000
"""So many pages are marked at most: what is done with them is one command that names each."""


class MarkBeyond(_Piecewise[PageAsk]):
    """Marks what the table of view 3 does not hold, a window with each reading."""

    def __init__(self, screen: UrlsScreen) -> None:
        super().__init__(lambda: screen.console.read_soon())  # noqa: PLW0108  it has none yet
        self._screen = screen
        self._done: object = None  # the filter of which all pages are marked, or as many as can be

    def pressed(self) -> bool:
        """`*`: whether that is dealt with here. The rows held are marked first, then all; then the marks go."""
        screen, table = self._screen, self._screen.pages.table
        if screen.pages.in_part or screen.keyset.whole:
            return False
        if not table.marked.issuperset(table.row_order):
            self._tell(f"{count(len(table.marked.union(table.row_order)))} marked", "again marks all that match")
            return False
        if self._done == screen.keyset.narrowing or self._ask is not None:
            self.stop()
            table.clear_marks()
            return True
        self._ask = export_window(screen.keyset.narrowing, newest_first=screen.keyset.newest_first)
        screen.console.read_soon()
        return True

    def _go_on(self, ask: PageAsk, window: PageWindow) -> None:
        pages = self._screen.pages
        room = MOST_MARKED - pages.table.mark_count
        fresh = [page for page in window.pages if page.page_id not in pages.table.marked]
        pages.mark(fresh[: max(0, room)])
        marked = count(pages.table.mark_count)
        full = len(fresh) > room
        if full or window.ended:
            self._ask, self._done = None, self._screen.keyset.narrowing
            words = f"{marked} marked, more cannot be at once" if full else f"all {marked} marked"
            self._tell(words, "takes the marks off", every=not full)
        else:
            self._ask = ask.at(window.last_id, newest_first=ask.newest_first)
            self._tell(f"◷ {marked} marked so far", "stops")

    def stop(self) -> None:
        self._ask = self._done = None

    def _tell(self, words: str, what: str, *, every: bool = False) -> None:
        """How many are marked (`every`: all there are), and what the key does next."""
        screen = self._screen
        of = f" of {count(screen.length)}" if screen.length is not None and not every else ""
        screen.console.tell("marks", f"{words}{of} · {screen.key_names('mark.all')} {what}")


_FIELDS: Mapping[str, str] = {"state": "state", "exit": "exit", "status": "status", "depth": "depth", "url": "origin"}
"""The field of the filter that a column stands for: of URLs the origin is counted."""


class UrlPivot(_Piecewise[Ask[PageCounts]]):
    """Asks for the counting, shows it, and filters by what is chosen."""

    def __init__(self, screen: UrlsScreen) -> None:
        super().__init__(lambda: None)
        self._screen = screen
        self._field = ""
        self._dialog: PivotScreen | None = None

    def open(self, column_id: str) -> bool:
        """Counts a column; False when the database keeps no such field."""
        if (field := _FIELDS.get(column_id)) is None:
            return False
        column = next(column for column in URLS.columns if column.id == column_id)
        self._field, self._ask = field, page_counts_of(self._screen.keyset.narrowing, field)
        self._dialog = PivotScreen("ORIGIN" if field == "origin" else column.title, None)
        self._screen.app.push_screen(self._dialog, self._chosen)
        self._screen.console.read_soon()
        return True

    def _go_on(self, _ask: Ask[PageCounts], value: PageCounts) -> None:
        if self._dialog is not None and is_ready(self._dialog):
            self._ask = None
            part = value.looked_at < value.known
            of = f" of the first {count(value.looked_at)} of {count(value.known)}" if part else ""
            self._dialog.show(Pivot(value.counts, value.values, sum(n for _, n in value.counts), of))

    def _chosen(self, value: object) -> None:
        self._ask = self._dialog = None
        if isinstance(value, str):
            word = f"{self._field}:{value.removeprefix('https://') or 'none'}"
            self._screen.open_filter(f"{self._screen.filter_text} {word}".strip())


class ExportingScreen(Dialog):
    """Tells how many rows were written; gives None where that is to be stopped, else True."""

    LEFT_BY_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "cancel", "Stop", show=False)]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._words = "reading…"

    def compose(self) -> ComposeResult:
        with dialog_box("Export", "esc stops"):
            yield Static(Content(self._words), id="exported", classes="dialog-text")
            yield Static(Content(safe(str(self._path), 600)), classes="dialog-note")

    def tell(self, words: str) -> None:
        self._words = words
        for line in self.query("#exported").results(Static):
            line.update(Content(words))


class PageExport(_Piecewise[PageAsk]):
    """Reads the list from its beginning, a window with each reading, and writes it. One at a time."""

    def __init__(self, screen: UrlsScreen) -> None:
        super().__init__(lambda: screen.console.read_soon())  # noqa: PLW0108  it has none yet
        self._screen = screen
        self._file: TextIO | None = None
        self._path: Path | None = None
        self._format = ""
        self._written = 0
        self._dialog: ExportingScreen | None = None

    def begin(self, format_id: str, path: Path) -> None:
        """Begins to write a new file. Raises OSError."""
        self.stop()
        keyset = self._screen.keyset
        self._file = path.open("x", encoding=view_export.ENCODINGS[format_id], newline="")
        self._format, self._path, self._written = format_id, path, 0
        self._ask = export_window(keyset.narrowing, newest_first=keyset.newest_first)
        self._dialog = ExportingScreen(path.absolute())
        self._screen.app.push_screen(self._dialog, self._left)
        self._screen.console.read_soon()

    def _go_on(self, ask: PageAsk, window: PageWindow) -> None:
        try:
            self._write(window)
        except OSError as error:
            self.stop()
            self._screen.console.tell("export", f"✗ the rows could not be written: {error}", "error")
            return
        self._ask = None if window.ended else ask.at(window.last_id, newest_first=ask.newest_first)
        of = "" if self._screen.length is None else f" of {count(self._screen.length)}"
        if self._dialog is not None:
            self._dialog.tell(f"{count(self._written)}{of} rows written")
        if window.ended:
            self._end("✓", "written", "ok")

    def stop(self) -> None:
        if self._file is not None:
            self._file.close()
        dialog, self._ask, self._file, self._dialog = self._dialog, None, None, None
        if dialog is not None and is_ready(dialog):
            dialog.dismiss(True)

    def _write(self, window: PageWindow) -> None:
        table = self._screen.table_of(window.pages)
        if self._file is not None:
            if not self._written:
                self._file.write(view_export.heading(table, self._format))
            self._file.write(view_export.lines(table, self._format))
            self._written += len(window.pages)
            if window.ended:
                self._file.flush()

    def _left(self, result: object) -> None:
        """The operator stopped it, unless it was closed by itself."""
        if result is None:
            self._end("■", "written, then it was stopped", "warning")

    def _end(self, sign: str, what: str, role: str) -> None:
        path, self._path = self._path, None
        self.stop()
        if path is not None:
            words = f"{sign} {plural(self._written, 'row')} {what}: {path.absolute()}"
            self._screen.console.tell("export", words, role)
