"""Rows that leave the screen: copied (to the terminal's clipboard by OSC 52, and to a file) or exported.

Whether a terminal takes OSC 52 cannot be known, so the file is written as well and its path is told.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.session import write_privately
from tui_crawler.console.table import export as view_export
from tui_crawler.domain.records.page_view import LinkView, PageView
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.text.format import plural

if TYPE_CHECKING:
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.screen.base import ConsoleScreen
    from tui_crawler.console.screen.stack import Screens
    from tui_crawler.console.table.crawl_table import CrawlTable


MOST_BYTES = 64_000
"""More is written to the file only: terminals drop what is longer."""
MOST_ROWS = 1_000
FILE_NAME = "copied.txt"
_URL_CHARACTERS = "!#$%&'()*+,-./:;=?@[]_~"


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of a copy. `for_terminal` is the text for OSC 52, empty when it is too long; `file` empty: none."""

    text: str
    for_terminal: str
    file: str


def copy_text(text: str, folder: Path | None) -> Copied:
    """Cleans a text of everything a terminal could obey and writes it to the file in `folder` (None: to none)."""
    clean = plain_text(text)
    path = folder / FILE_NAME if folder is not None else None
    written = path is not None and write_privately(path, f"{clean}\n")
    fits = len(clean.encode("utf-8")) <= MOST_BYTES
    return Copied(clean, clean if fits else "", str(path) if written else "")


def encoded_url(url: str) -> str:
    """A URL in printable ASCII: normalised, or, where it is none, percent-encoded as it stands."""
    found = normalise(url)
    if isinstance(found, CrawlUrl) and _is_header_safe(found.href):
        return found.href
    return quote(url.encode("utf-8", "surrogatepass"), safe=_URL_CHARACTERS)


def curl_command(url: str, user_agent: str, etag: str = "", last_modified: str = "") -> str:
    """The request as a curl command for a POSIX shell; a value that no header could carry is left out."""
    headers = [("User-Agent", user_agent), ("If-None-Match", etag), ("If-Modified-Since", last_modified)]
    given = [("-H", f"{name}: {value}") for name, value in headers if value and _is_header_safe(value)]
    words = ["curl", "--globoff", "--compressed", *(word for pair in given for word in pair), encoded_url(url)]
    return shlex.join(words)


def _is_header_safe(text: str) -> bool:
    return text.isascii() and text.isprintable()


EXPORT_FOLDER = Path("exports")
COPIES = {"url": "URL", "curl": "curl command", "json": "JSON", "row": "row"}


@dataclass(eq=False)
class RowActions(Handles):
    """Copies and exports rows of the table that has the focus on the screen on top. What is copied is kept in `_folder`
    (None: nowhere)."""

    _screens: Screens
    _live_state: LiveState
    _clock: ConsoleClock
    _folder: Path | None
    _to_clipboard: Callable[[str], None]

    @handles("copy.pick")
    def choose_copy(self, argument: str) -> None:
        """Copy as what is named, or show the menu of what there is."""
        if argument in COPIES:
            self.copy(argument)
        else:
            self._screens.begin_menu("y")

    def _rows_of(self, kind: str, nothing: str) -> tuple[ConsoleScreen, CrawlTable] | None:
        """The screen on top and its table; None, and said so, where it has no row."""
        screen = self._screens.console_screen
        table = screen.table_filter.table if screen is not None else None
        if screen is not None and table is not None and table.row_count:
            return screen, table
        self._screens.tell(kind, nothing, "muted")
        return None

    @handles("copy.url", "url")
    @handles("copy.curl", "curl")
    @handles("copy.json", "json")
    @handles("copy.row", "row")
    def copy(self, what: str) -> None:
        """Copy the marked rows, or the one under the cursor."""
        if (found := self._rows_of("copy", "there is no row to copy")) is None:
            return
        screen, table = found
        marked = tuple(key for key in table.row_order if key in table.marked)[:MOST_ROWS]
        lines = [line for key in marked or table.chosen if (line := self._line(screen, table, key, what))]
        if not lines:
            self._screens.tell("copy", f"there is no {COPIES[what]} to copy", "muted")
            return
        copied = copy_text("\n".join(lines), self._folder)
        if copied.for_terminal:
            self._to_clipboard(copied.for_terminal)
        name = COPIES[what] if len(lines) == 1 else f"{len(lines)} × {COPIES[what]}"
        if copied.file:
            too_long = "" if copied.for_terminal else ", which is too long for the terminal"
            self._screens.tell("copy", f"✓ copied {name}{too_long}; also in {copied.file}", "ok")
        elif copied.for_terminal:
            self._screens.tell("copy", f"✓ {name} handed to the terminal's clipboard", "ok")
        else:
            self._screens.tell("copy", f"✗ {name}: too long for the terminal, and no file could be written", "error")

    def _line(self, screen: ConsoleScreen, table: CrawlTable, key: Hashable, what: str) -> str:
        row, record = table.row(key), table.source(key)
        url = _url_of(screen, table, key)
        match what:
            case "url":
                return encoded_url(url) if url else ""
            case "curl":
                run = self._live_state.run
                page = record if isinstance(record, PageView) else screen.page_of(url)
                agent = run.user_agent if run is not None else ""
                etag, modified = (page.etag, page.last_modified) if page is not None else ("", "")
                return curl_command(url, agent, etag, modified) if url else ""
            case "json" if row is not None:
                return view_export.as_json(table.columns, row)
            case "row" if row is not None:
                return view_export.as_line(row)
            case _:
                return ""

    @handles("view.export")
    def choose_export(self, argument: str) -> None:
        """Writes the rows in the format that is named, or asks in which."""
        from tui_crawler.console.dialogs.choose import ChooseScreen  # noqa: PLC0415  not before the first paint

        if (found := self._rows_of("export", "there are no rows to export")) is None:
            return
        screen, table = found

        def chosen(format_id: object) -> None:
            if isinstance(format_id, str):
                self._export(screen, table, format_id)

        if argument in dict(view_export.FORMATS):
            chosen(argument)
        else:
            heading = screen.export_heading(table)
            self._screens.push_screen(ChooseScreen(heading, view_export.FORMATS, view_export.FORMATS[0][0]), chosen)

    def _export(self, screen: ConsoleScreen, table: CrawlTable, format_id: str) -> None:
        path = EXPORT_FOLDER / f"{screen.WHERE.name}-{table.id or 'rows'}-{self._clock.wall_ms()}.{format_id}"
        try:
            EXPORT_FOLDER.mkdir(exist_ok=True)
            if (exporter := screen.exporter(table)) is not None:
                exporter.begin(format_id, path)
                return
            screen.bring_up_to_date(table)
            rows = tuple(table.shown_rows())
            text = view_export.export(view_export.TableText(tuple(table.columns), rows), format_id)
            with path.open("x", encoding=view_export.ENCODINGS[format_id], newline="") as file:
                file.write(text)
        except OSError as error:
            self._screens.tell("export", f"✗ the rows could not be written: {error}", "error")
        else:
            self._screens.tell("export", f"✓ {plural(len(rows), 'row')} written: {path.absolute()}", "ok")


def url_under_cursor(screen: ConsoleScreen, table: CrawlTable | None) -> str:
    """The URL of the row under the cursor, whatever is marked; else what the screen is about; empty when nothing is."""
    found = _url_of(screen, table, table.cursor_key) if table is not None and table.cursor_key is not None else ""
    now = screen.situation()
    return found or next(iter((*now.urls, *(f"{view.origin}/" for view in now.origins))), "")


def _url_of(screen: ConsoleScreen, table: CrawlTable, key: Hashable) -> str:
    """The URL a row is about: its own, that of its origin; of a row without a record, the one the screen is about."""
    record = table.source(key)
    if isinstance(record, LinkView):
        here = screen.situation().urls
        return record.to_url if record.from_url in here else record.from_url
    if isinstance(record, Mapping):
        url, origin = record.get("url"), record.get("origin")
    else:
        url, origin = (getattr(record, name, "") for name in ("url", "origin"))
    if isinstance(url, str) and url:
        return url
    if isinstance(origin, str) and origin:
        return f"{origin}/"
    about = screen.situation().urls if record is None else ()
    return about[0] if about else ""
