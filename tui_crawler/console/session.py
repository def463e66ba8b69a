"""What the console remembers of a database from one time to the next: view, order, filter, theme, zoom.

Kept in the user's own folder for state, never beside the database. A folder that cannot be read or written is no
fault: then nothing is remembered.
"""

import contextlib
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tui_crawler.console.action import Where
from tui_crawler.console.overview.order import SORT_COLUMNS, OverviewFilter
from tui_crawler.console.panes.zoom import FULL, HALF
from tui_crawler.console.table.layouts import LONGEST, MOST, TableLayout, ViewLayout
from tui_crawler.domain.record import asdict, dataclass, fields, replace

MOST_BYTES = 16_384
"""A longer file is not ours."""
MOST_KEPT = 200
"""So many databases are remembered; the ones not looked at for longest are forgotten."""
MOST_BOOKMARKS = 100
"""So many entries of the log have a bookmark, the newest."""
MOST_DISMISSED = 50
"""So many dismissed diagnoses are kept, the newest."""
MOST_LAYOUTS = 20
"""So many layouts are kept by name."""
_LONGEST, _LONGEST_NAME = 500, 40


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """What is remembered. `view` is the id of the action that shows it; empty strings: nothing is.

    `theme` was chosen with `t` while the configuration asked for `theme_over`; it ends when that asks for another one.
    `zooms` are the enlarged panes: view, pane, and by how many steps. `looks` are those of the other views, by name.
    `bookmarks` are places in the log: epoch ms, kind and number of an entry. `dismissed` are diagnoses: the run, the
    name, and how many origins or URLs it was about.
    """

    view: str = ""
    sort: str = ""
    descending: bool = True
    needle: str = ""
    problems: bool = False
    theme: str = ""
    theme_over: str = ""
    columns: tuple[str, ...] = ()
    zooms: tuple[tuple[str, str, int], ...] = ()
    looks: tuple[tuple[str, ViewLayout], ...] = ()
    bookmarks: tuple[tuple[int, str, int], ...] = ()
    dismissed: tuple[tuple[int, str, int], ...] = ()

    @property
    def arrangement(self) -> OverviewFilter:
        if self.sort not in SORT_COLUMNS:
            return OverviewFilter(needle=self.needle, problems=self.problems, columns=self.columns)
        return OverviewFilter(self.sort, self.descending, self.needle, self.problems, self.columns)


class SessionFile:
    """The file of one database in a folder; `folder` None: nothing is remembered. Nothing here raises."""

    def __init__(self, folder: Path | None, database: str = "") -> None:
        """`database` is its whole path, of which only a digest is kept."""
        self.folder = folder
        digest = hashlib.sha256(database.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._file = None if folder is None else folder / "sessions" / f"{digest}.json"
        self._layouts = None if folder is None else folder / "layouts.json"

    @property
    def is_first(self) -> bool:
        """Return whether no session was kept yet, of any database."""
        return self._file is not None and not self._file.parent.exists()

    def recall(self) -> ConsoleSession:
        """What was kept last; what cannot be read is left out."""
        return _session(_document(self._file) or {})

    def put_aside(self) -> tuple[Path, ...]:
        """Renames those of the files that hold no such thing, so that nothing of them is lost; answers what they are
        called now."""
        bad = [file for file in (self._file, self._layouts) if file is not None and _document(file) is None]
        with contextlib.suppress(OSError):
            return tuple(file.replace(file.with_suffix(".bad")) for file in bad)
        return ()

    def keep(self, session: ConsoleSession) -> bool:
        """Keeps it for the next time; answers whether that was possible."""
        if self._file is None:
            return False
        text = json.dumps(asdict(session), ensure_ascii=True)
        if len(text) > MOST_BYTES:
            text = json.dumps(asdict(replace(session, looks=())), ensure_ascii=True)
        if not write_privately(self._file, text):
            return False
        with contextlib.suppress(OSError):
            kept = sorted(self._file.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
            for file in kept[:-MOST_KEPT]:
                file.unlink(missing_ok=True)
        return True

    def layouts(self) -> dict[str, OverviewFilter]:
        """The layouts of the overview that were kept by name, of all databases; what cannot be read is left out."""
        document = _document(self._layouts) or {}
        found = {name: _session(one).arrangement for name, one in document.items() if isinstance(one, dict)}
        return dict(sorted(found.items())[:MOST_LAYOUTS])

    def keep_layout(self, name: str, wanted: OverviewFilter | None) -> bool:
        """Keeps a layout by its name in place of one of that name (None: forgets it); answers whether that was
        possible."""
        kept = {one: held for one, held in (_document(self._layouts) or {}).items() if one != name}
        if self._layouts is None or (wanted is not None and (len(kept) >= MOST_LAYOUTS or len(name) > _LONGEST_NAME)):
            return False
        if wanted is not None:
            kept[name] = asdict(wanted)
        text = json.dumps(kept, ensure_ascii=True)
        return len(text) <= MOST_BYTES and write_privately(self._layouts, text)


class ConsoleMemory:
    """What a console remembers: of what is shown while it runs, and in its file for the next time."""

    def __init__(self, file: SessionFile) -> None:
        self.file, self.last = file, file.recall()
        self.zooms = {view: (pane, level) for view, pane, level in self.last.zooms}
        """What is enlarged in each view: the id of the pane, and how much."""
        self.looks = dict(self.last.looks)
        """What was chosen to be seen in each view."""
        self.bookmarks = [*self.last.bookmarks]
        """Places in the log, the oldest first."""
        self.dismissed = {(run, name): number for run, name, number in self.last.dismissed}
        """The diagnoses that were dismissed: run, name, and how many origins or URLs each was about."""

    def note(self, view: Where, look: ViewLayout) -> None:
        """Note what is chosen in a view."""
        self.looks.pop(view.name, None)
        if view.remembered and look != ViewLayout():
            self.looks[view.name] = look

    def keep(self, session: ConsoleSession) -> None:
        """Keep the session, with what is remembered here, for the next time."""
        zooms = tuple((name, pane, level) for name, (pane, level) in sorted(self.zooms.items()))
        looks = tuple(sorted(self.looks.items(), key=lambda item: item[0]))
        dismissed = [(run, name, number) for (run, name), number in self.dismissed.items()]
        kept = replace(session, bookmarks=tuple(self.bookmarks), dismissed=tuple(dismissed[-MOST_DISMISSED:]))
        self.file.keep(replace(kept, zooms=zooms, looks=looks))


def _document(path: Path | None) -> dict[str, object] | None:
    """What a file of ours holds: nothing where there is none, or it cannot be opened; None: it is none of ours."""
    try:
        with path.open("rb") if path is not None else io.BytesIO(b"{}") as file:
            document = json.loads(file.read(MOST_BYTES))
    except OSError:
        return {}
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """The console's folder for state (XDG_STATE_HOME, else ~/.local/state); None without a home."""
    named = environment.get("XDG_STATE_HOME", "")
    if Path(named).is_absolute():  # the specification: a relative path is to be ignored
        return Path(named) / "tui-crawler"
    try:
        return Path.home() / ".local" / "state" / "tui-crawler"
    except RuntimeError:
        return None


def write_privately(path: Path, text: str) -> bool:
    """Writes a file that only its owner can read, whole or not at all; answers whether that was possible."""
    scratch = ""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, scratch = tempfile.mkstemp(prefix=".", dir=path.parent)
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        Path(scratch).replace(path)
    except OSError:
        if scratch:
            with contextlib.suppress(OSError):
                Path(scratch).unlink()
        return False
    return True


def _session(document: Mapping[str, object]) -> ConsoleSession:
    kinds: dict[str, type] = dict.fromkeys(("view", "sort", "needle", "theme", "theme_over"), str)
    kinds |= {"descending": bool, "problems": bool}
    values = {name: document.get(name) for name, kind in kinds.items() if isinstance(document.get(name), kind)}
    plain: dict[str, Any] = {name: one[:_LONGEST] if isinstance(one, str) else one for name, one in values.items()}
    listed = document.get("columns")
    columns = tuple(one for one in listed[:MOST] if isinstance(one, str)) if isinstance(listed, list) else ()
    zooms = [
        (view, pane[:_LONGEST], level)
        for view, pane, level in _rows(document.get("zooms"), str, str, int)
        if view in Where.__members__ and level in {HALF, FULL}
    ]
    marks = sorted(
        (at, kind[:_LONGEST], number) for at, kind, number in _rows(document.get("bookmarks"), int, str, int)
    )
    return ConsoleSession(
        **plain,
        columns=columns,
        zooms=tuple(zooms[: len(Where)]),
        looks=_looks(document.get("looks")),
        bookmarks=tuple(marks[-MOST_BOOKMARKS:]),
        dismissed=tuple(map(tuple, _rows(document.get("dismissed"), int, str, int)[-MOST_DISMISSED:])),
    )


def _looks(listed: object) -> tuple[tuple[str, ViewLayout], ...]:
    found: dict[str, ViewLayout] = {}
    for view, look in _rows(listed, str, dict):
        tables, words = look.get("tables"), look.get("words")
        if (
            view in Where.__members__
            and Where[view].remembered
            and isinstance(tables, list)
            and isinstance(words, list)
        ):
            names = [field.name for field in fields(TableLayout)]
            values = [[one.get(name) for name in names] for one in tables[:MOST] if isinstance(one, dict)]
            found[view] = ViewLayout(
                tuple(TableLayout(*one) for one in _rows(values, str, str, str, bool) if len(one[1]) <= LONGEST),
                tuple((name, value) for name, value in _rows(words[:MOST], str, str) if len(value) <= LONGEST),
            )
    return tuple(found.items())


def _rows(listed: object, *kinds: type) -> list[Any]:
    """The rows of a list whose values are of these kinds."""
    rows = [one for one in listed if isinstance(one, list)] if isinstance(listed, list) else []
    return [one for one in rows if len(one) == len(kinds) and all(map(isinstance, one, kinds))]
