"""The program, with notes of what is loaded: `python -m tests.e2e.loaded_child FOLDER WORDS…`.

The names of all modules are written into the files `starting` (that word is printed), `picture` (the first picture
stands, nothing was read yet) and `rows` (the first rows were taken in) of the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tui_crawler.__main__ import main
from tui_crawler.cli.printer import Printer


def note(file: Path) -> None:
    """Writes the names, unless that was done before; the file is there when it is whole."""
    if not file.exists():
        scratch = file.with_suffix(".part")
        scratch.write_text("\n".join(sys.modules), encoding="utf-8")
        scratch.replace(file)


def take_notes(folder: Path) -> None:
    """Have the program take the notes from now on."""
    starting = Printer.starting

    def noting_starting(printer: Printer) -> None:
        starting(printer)
        note(folder / "starting")
        take_notes_of_console(folder)

    Printer.starting = noting_starting  # type: ignore[method-assign]  # only to take a note


def take_notes_of_console(folder: Path) -> None:
    """Have the console take its notes; loads it, as the program does."""
    from tui_crawler.wiring.console import CrawlerApp  # noqa: PLC0415  not before the first note

    begin, take = CrawlerApp._begin, CrawlerApp.on_crawler_app_delivered

    def noting_begin(app: CrawlerApp) -> None:
        note(folder / "picture")
        begin(app)

    def noting_take(app: CrawlerApp, message: CrawlerApp.Delivered) -> None:
        take(app, message)
        if app.live_state.origins:
            note(folder / "rows")

    CrawlerApp._begin = noting_begin  # type: ignore[method-assign]  # only to take a note
    CrawlerApp.on_crawler_app_delivered = noting_take  # type: ignore[method-assign]  # the same


if __name__ == "__main__":
    take_notes(Path(sys.argv[1]))
    sys.argv = ["tui-crawler", *sys.argv[2:]]
    sys.exit(main())
