"""The export of view 3: all pages that pass the filter, also those that are not held, written as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TextIO

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tui_crawler.console import view_export
from tui_crawler.console.format import count, plural
from tui_crawler.console.safe_text import safe
from tui_crawler.console.screens.base import Dialog
from tui_crawler.console.screens.lifetime import stands
from tui_crawler.console.url_parts import ExportWindow
from tui_crawler.domain.page_filter import PageWindow

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tui_crawler.console.refresh import Part
    from tui_crawler.console.screens.urls import UrlsScreen


class ExportingScreen(Dialog):
    """Tells how many rows were written; gives None where that is to be stopped, else True."""

    LEFT_BY_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "cancel", "Stop", show=False)]

    def __init__(self, path: Path) -> None:
        """`path` is the file that is written."""
        super().__init__()
        self._path = path
        self._words = "reading…"

    def compose(self) -> ComposeResult:
        """How far it is, and where to."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content("Export")
            box.border_subtitle = Content("esc stops")
            yield Static(Content(self._words), id="exported", classes="dialog-text")
            yield Static(Content(safe(str(self._path), 600)), classes="dialog-note")

    def tell(self, words: str) -> None:
        """How far it is."""
        self._words = words
        for line in self.query("#exported").results(Static):
            line.update(Content(words))

    def action_cancel(self) -> None:
        """Writes no further rows."""
        self.dismiss(None)


class PageExport:
    """Reads the list from its beginning, a window with each reading, and writes it. One at a time."""

    def __init__(self, screen: UrlsScreen) -> None:
        """Nothing is written."""
        self._screen = screen
        self._part: ExportWindow | None = None
        self._file: TextIO | None = None
        self._path: Path | None = None
        self._format = ""
        self._written = 0
        self._dialog: ExportingScreen | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is written next."""
        return () if self._part is None else (self._part,)

    def begin(self, format_id: str, path: Path) -> None:
        """Begins to write a new file. Raises OSError."""
        self.stop()
        book = self._screen.book
        self._file = path.open("x", encoding="utf-8", newline="")
        self._format, self._path, self._written = format_id, path, 0
        self._part = ExportWindow(book.narrowing, 0, book.newest_first)
        self._dialog = ExportingScreen(path.absolute())
        self._screen.console.push_screen(self._dialog, self._left)
        self._screen.console.read_soon()

    def take(self, read: Mapping[Part, object]) -> bool:
        """Writes what was read; whether more is to be read."""
        part = self._part
        window = None if part is None else read.get(part)
        if part is None or not isinstance(window, PageWindow):
            return False
        try:
            self._write(window)
        except OSError as error:
            self.stop()
            self._screen.console.tell("export", f"✗ the rows could not be written: {error}", "error")
            return False
        self._part = None if window.ended else ExportWindow(part.narrowing, window.last_id, part.newest_first)
        self._tell(window)
        if window.ended:
            self._end("✓", "written", "ok")
        return not window.ended

    def stop(self) -> None:
        """Writes no further rows; the file keeps those it has."""
        self._part = None
        file, self._file = self._file, None
        if file is not None:
            file.close()
        dialog, self._dialog = self._dialog, None
        if dialog is not None and stands(dialog):
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

    def _tell(self, window: PageWindow) -> None:
        length = self._screen.length
        of = "" if length is None else f" of {count(length)}"
        if self._dialog is not None:
            self._dialog.tell(f"{count(self._written)}{of} rows written")

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
