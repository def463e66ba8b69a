"""The welcome as an app of its own: it runs before there is a database, and gives the first step that was chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from tui_crawler.console.appearance import dress
from tui_crawler.console.dialogs.add import AddScreen
from tui_crawler.console.keys import key_name
from tui_crawler.console.operator.shutdown import HANGUP_STATUS
from tui_crawler.console.panes.bars import TooSmall
from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.typing import PlainInput
from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.console.screen.base import Dialog, size_classes
from tui_crawler.console.screen.lifetime import is_ready, is_stale
from tui_crawler.console.table.cells import Styled
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.terminal import catch_signals
from tui_crawler.console.terminal_app import TerminalApp
from tui_crawler.console.theme import DARK, LIGHT
from tui_crawler.console.welcome.actions import STEP_BY_ID, WELCOME
from tui_crawler.console.welcome.first_step import (
    Cancelled,
    FirstStep,
    FolderFound,
    FoundFile,
    FromConfiguration,
    FromDatabase,
    FromDemo,
    FromSeeds,
    StartFolder,
)
from tui_crawler.domain.status_words import UNCONFIGURED_USER_AGENT
from tui_crawler.text.columns import Cell, Column, Present, Relation, by_record, plain
from tui_crawler.text.format import plural
from tui_crawler.text.safe_text import safe

_MOST_ROWS = 8
_WHO = "Who crawls? Server owners see this name in their logs (User-Agent):"
_WHO_HINT = "e.g. my-project-crawler (for https://example.net/why)"
_NAMELESS = f"⚠ empty: it goes out as {UNCONFIGURED_USER_AGENT}"


def _about(found: FoundFile) -> Cell:
    return Styled(found.about, "muted") if found.usable else Styled(f"✗ {found.about}", "warning")


FILES = Relation[FoundFile](
    key=lambda found: found.name,
    columns=(Column("name", "", plain(), 30, min_width=12), Column("about", "", by_record(_about), None, 1)),
)
ART: tuple[Line, ...] = (
    (Styled("       ╭── ", "faint"), Styled("✓", "ok"), Styled(" ──┬── ", "faint"), Styled("✓", "ok")),
    (
        Styled("◆", "accent bold"),
        Styled(" ─────┼── ", "faint"),
        Styled("✓", "ok"),
        Styled("   ╰── ", "faint"),
        Styled("▶", "active"),
        Styled(" ── ", "faint"),
        Styled("○", "muted"),
    ),
    (Styled("       ╰── ", "faint"), Styled("◷", "waiting"), Styled(" ───── ", "faint"), Styled("○", "muted")),
)
"""A seed and what is found from it."""
ART_WIDTH = 25
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Way:
    """One way to begin, as it is offered. Not `possible`: `about` says why."""

    action_id: str
    about: str
    possible: bool = True


def ways(found: FolderFound | None) -> tuple[Way, ...]:
    """The ways in the order of the screen; None: nobody has looked into the folder yet."""
    return (
        Way("welcome.add", "Paste URLs; default settings, politely crawled."),
        Way("welcome.load", _load_words(found)),
        Way("welcome.demo", "Ten made-up sites on this computer; no network."),
        _open_way(found),
        Way("welcome.leave", "Nothing was written and nothing was sent."),
    )


def problem_lines(problems: Sequence[str]) -> list[Line]:
    """What keeps a step from being done, in the order it was found."""
    return [Paragraph(f"✗ {problem}", "error", indent=2) for problem in problems]


def _load_words(found: FolderFound | None) -> str:
    if found is None:
        return "Looking for configurations in this folder…"
    if not found.configurations:
        return "None (*.yaml) is in this folder: type where it is."
    return _names(found.configurations, "configuration")


def _open_way(found: FolderFound | None) -> Way:
    if found is None:
        return Way("welcome.open", "Looking for crawls in this folder…", possible=False)
    if not found.databases:
        return Way("welcome.open", "There is no database (*.db) in this folder.", possible=False)
    return Way("welcome.open", _names(found.databases, "database"))


def _names(files: Sequence[FoundFile], what: str) -> str:
    names = ", ".join(one.name for one in files[:_NAMED])
    more = " …" if len(files) > _NAMED else ""
    return f"{plural(len(files), what)} here: {names}{more}"


@dataclass(frozen=True, slots=True)
class SeedsDraft:
    """What was typed when the seeds were left without beginning."""

    text: str = ""
    user_agent: str = ""


class StepCheck:
    """Has a step checked in a thread while its dialog stays open, which gives the step when nothing is wrong."""

    def __init__(self, dialog: Dialog, threshold: StartFolder) -> None:
        self._dialog = dialog
        self._threshold = threshold

    def begin(self, step: FirstStep, show: Callable[[Sequence[str]], None]) -> None:
        """Checks; what is wrong is handed to `show`. A check that is under way is forgotten."""

        async def run() -> None:
            try:
                problems = await asyncio.to_thread(self._threshold.check, step)
            except Exception as error:  # whatever a file does must not end the console
                problems = (failure_words(error),)
            if not problems:
                self._dialog.dismiss(step)
            elif is_ready(self._dialog):
                show(problems)

        self._dialog.run_worker(run, group="check", exclusive=True, exit_on_error=False)  # type: ignore[arg-type]  # two types fit


class FirstSeedsScreen(AddScreen):
    """Gives FromSeeds, or the draft that is to stand there the next time."""

    def __init__(self, threshold: StartFolder, draft: SeedsDraft) -> None:
        super().__init__(draft.text, ())
        self._user_agent = draft.user_agent
        self._check = StepCheck(self, threshold)

    def more(self) -> Iterable[Widget]:
        yield Static(_WHO, id="who-label", markup=False)
        yield PlainInput(self._user_agent, placeholder=_WHO_HINT, id="who", compact=True, select_on_focus=False)
        yield Lines(id="who-nameless", still=True)
        problems = Lines(id="step-problems", still=True)
        problems.display = False
        yield problems

    def on_mount(self) -> None:
        box = self.query_one(".dialog")
        box.add_class("begin")
        self._warn(self._user_agent)
        box.border_title = Content("Begin with seeds")
        box.border_subtitle = Content("ctrl+s begins · tab next field · esc leaves")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        super().on_text_area_changed(event)
        self._show([])

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._warn(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_add()

    def _warn(self, user_agent: str) -> None:
        """Says what an empty name means; its line stays where it is not."""
        self.query_one("#who-nameless", Lines).show([Styled("" if user_agent.strip() else _NAMELESS, "warning")])

    def action_add(self) -> None:
        if self.seeds.urls:
            self._check.begin(FromSeeds(self.seeds.urls, self.query_one("#who", Input).value.strip()), self._show)

    def action_cancel(self) -> None:
        self.dismiss(SeedsDraft(self.query_one(TextArea).text, self.query_one("#who", Input).value))

    def _show(self, problems: Sequence[str]) -> None:
        lines = self.query_one("#step-problems", Lines)
        lines.display = bool(problems)
        lines.show(problem_lines(problems))


class FileScreen(Dialog):
    """Gives the step that begins with a file, or None."""

    LEFT_BY_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next", show=False, priority=True),  # before the next key is looked at
    ]

    def __init__(
        self,
        heading: str,
        verb: str,
        files: Sequence[FoundFile],
        make: Callable[[str], FirstStep],
        threshold: StartFolder,
    ) -> None:
        """`files` are offered, others can be typed; `make` makes the step of a path, `verb` names what it does."""
        super().__init__()
        self._heading, self._verb = heading, verb
        self._files = tuple(files)
        self._make = make
        self._check = StepCheck(self, threshold)

    def compose(self) -> ComposeResult:
        """The files that were found, a path, what is wrong with it, and the buttons."""
        with Vertical(classes="dialog wide begin") as box:
            box.border_title = Content(self._heading)
            box.border_subtitle = Content(f"enter {self._verb.lower()}s · tab other field · esc leaves")
            if self._files:
                table = CrawlTable(FILES, id="files", show_header=False)
                table.styles.height = min(len(self._files), _MOST_ROWS)
                yield table
            yield Static("Path:", id="path-label", markup=False)
            yield PlainInput(id="path", compact=True, select_on_focus=False)
            yield Lines(id="step-problems", still=True)
            with Horizontal(classes="dialog-buttons"):
                yield Button(self._verb, id="begin", compact=True, variant="primary")
                yield Button("Cancel", id="cancel", compact=True)

    def on_mount(self) -> None:
        """Offers the files; without any a path is typed at once."""
        if not self._files:
            self.query_one(Input).focus()
            return
        table = self.query_one(CrawlTable)
        table.fill(self._files, Present(), cursor="first")
        table.focus()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        event.stop()
        self.query_one(Input).value = str(event.key)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        event.stop()
        self._begin(str(event.key))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another path: nothing is known to be wrong with it."""
        event.stop()
        self._show([])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._begin(event.value)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "begin":
            self._begin(self.query_one(Input).value)
        else:
            self.action_cancel()

    def _begin(self, path: str) -> None:
        if path.strip():
            self._check.begin(self._make(path.strip()), self._show)

    def _show(self, problems: Sequence[str]) -> None:
        self.query_one(Lines).show(problem_lines(problems))


_SHORT_BELOW = 19
_KEY_WIDTH = 4


class WayRow(Lines, can_focus=True):
    """One way to begin: its key, its name, and what it is about."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "choose", "Choose", show=False)]

    def __init__(self, way: Way) -> None:
        super().__init__(id=way.action_id.replace(".", "-"), classes="way")
        self.way = way

    def on_mount(self) -> None:
        self.tell(self.way)

    def tell(self, way: Way) -> None:
        """Shows what the way is about now."""
        self.way = way
        action = STEP_BY_ID[way.action_id]
        key = key_name(action.keys.partition(",")[0])
        name = (Styled(f" {key.ljust(_KEY_WIDTH - 1)}", "accent bold"), Styled(action.label, "strong bold"))
        if not way.possible:
            name = (Styled(f" {key.ljust(_KEY_WIDTH - 1)}", "faint"), Styled(action.label, "muted"))
        self.show([name, Styled(f"{' ' * _KEY_WIDTH}{way.about}", "muted" if way.possible else "faint")])

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_choose()

    def action_choose(self) -> None:
        cast("WelcomeScreen", self.screen).action_choose(self.way.action_id)


class WelcomeScreen(Screen[None], inherit_bindings=False):
    """The ways to begin."""

    AUTO_FOCUS = "WayRow"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(one.keys, f"choose('{one.id}')", one.label, id=one.id, show=False) for one in WELCOME),
        Binding("down,j,tab", "app.focus_next", "Next", show=False),
        Binding("up,k,shift+tab", "app.focus_previous", "Previous", show=False),
        Binding("t", "app.next_theme", "Theme", show=False),
    ]

    def __init__(self, folder: str) -> None:
        """`folder` is where one is (raw)."""
        super().__init__()
        self._folder = folder

    def compose(self) -> ComposeResult:
        """A picture and a name, where one is, the ways, and a line of keys."""
        found = self._app.found
        with Vertical(id="welcome"):
            with Horizontal(id="welcome-head"):
                for name in ("welcome-art", "welcome-name"):
                    yield Lines(id=name, still=True)
            with Vertical(id="ways") as box:
                box.border_title = Content("How do you want to begin?")
                for way in ways(found):
                    yield WayRow(way)
            yield Lines(id="welcome-keys", still=True)
        yield TooSmall()

    async def on_event(self, event: events.Event) -> None:
        if not is_stale(event, self):
            await super().on_event(event)

    def on_mount(self) -> None:
        self.query_one("#welcome-art", Lines).show(ART)
        self.query_one("#welcome-art").styles.width = ART_WIDTH
        self.query_one("#welcome-name", Lines).show(
            [
                Styled("tui-crawler", "strong bold"),
                Styled("polite web crawling, seen from your terminal", "muted"),
                (Styled("folder ", "faint"), Styled(safe(self._folder), "accent")),
            ]
        )
        self.query_one("#welcome-keys", Lines).show([Styled("↑ ↓ and enter, the key, or a click  ·  t theme", "faint")])
        self.on_resize()

    def on_resize(self) -> None:
        size = self.app.size
        self.update_classes({**size_classes(size), "-short": size.height < _SHORT_BELOW}, animate=False)

    on_screen_resume = on_resize  # the size may be another one

    def show_found(self, found: FolderFound) -> None:
        """Tells what lies in the folder."""
        for way in ways(found):
            self._row(way.action_id).tell(way)

    def action_choose(self, action_id: str) -> None:
        row = self._row(action_id)
        row.focus()
        if row.way.possible:
            self._app.ways[action_id]()

    def _row(self, action_id: str) -> WayRow:
        return self.query_one(f"#{action_id.replace('.', '-')}", WayRow)

    @property
    def _app(self) -> WelcomeApp:
        return cast("WelcomeApp", self.app)


_LOOK_S = 0.5
_CRASHED = 3  # the exit status of what could not run


class WelcomeApp(TerminalApp[FirstStep | Cancelled]):
    """The welcome. `run_to_end` runs it."""

    TITLE = "tui-crawler"
    CSS_PATH: ClassVar[list[str | PurePath]] = [
        Path(__file__).parents[1] / name for name in ("console.tcss", "dialogs/style.tcss", "welcome/style.tcss")
    ]
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "step_back", "Back", show=False, priority=True),
        Binding("ctrl+q", "leave", "Quit", show=False, priority=True),
    ]

    def __init__(self, threshold: StartFolder) -> None:
        """Makes it; the folder is looked into when the first picture stands."""
        super().__init__()
        dress(self, DARK.name)
        self.threshold = threshold
        self.found: FolderFound | None = None
        self._draft = SeedsDraft()
        self.ways: Mapping[str, Callable[[], object]] = {
            "welcome.add": lambda: self.push_screen(FirstSeedsScreen(self.threshold, self._draft), self._answered),
            "welcome.load": lambda: self._ask_file("Load a configuration", "Load", FromConfiguration),
            "welcome.demo": lambda: self.exit(FromDemo()),
            "welcome.open": lambda: self._ask_file("Open a crawl", "Open", FromDatabase),
            "welcome.leave": self.leave,
        }
        """What each of the ways to begin does."""
        self._restore_signals: Callable[[], None] = lambda: None

    def run_to_end(self) -> FirstStep | Cancelled:
        """Runs it until something was chosen (blocking)."""
        answer = self.run()
        return Cancelled(_CRASHED) if answer is None else answer

    def get_default_screen(self) -> Screen[None]:
        """The ways to begin."""
        return WelcomeScreen(self.threshold.folder)

    def on_mount(self) -> None:
        if not self.is_headless:
            self._restore_signals = catch_signals(self._caught)
            self.set_interval(_LOOK_S, self._look_at_terminal)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.run_worker(self._look, name="look", exit_on_error=False)  # type: ignore[arg-type]  # two types fit

    async def _look(self) -> None:
        try:
            self.found = await asyncio.to_thread(self.threshold.look)
        except Exception as error:  # whatever lies in a folder must not end the console
            self.found = FolderFound(configurations=(FoundFile(".", failure_words(error), usable=False),))
        for screen in self.screen_stack:
            if isinstance(screen, WelcomeScreen) and is_ready(screen):
                screen.show_found(self.found)

    # the ways

    def _ask_file(self, heading: str, verb: str, make: type[FromConfiguration | FromDatabase]) -> None:
        found = self.found or FolderFound()
        files = found.configurations if make is FromConfiguration else found.databases
        self.push_screen(FileScreen(heading, verb, files, make, self.threshold), self._answered)

    def _answered(self, answer: object) -> None:
        """A dialog gives a step, a draft of the seeds, or None."""
        if isinstance(answer, SeedsDraft):
            self._draft = answer
        elif answer is not None:
            self.exit(cast("FirstStep", answer))

    def leave(self, exit_status: int = 0) -> None:
        """Leaves without having begun."""
        self.terminal_leaving()
        self.exit(Cancelled(exit_status))

    action_leave = leave

    # keys and signals

    def action_step_back(self) -> None:
        """Closes a dialog, with what was typed kept; leaves where there is none."""
        top = self.screen
        if isinstance(top, FirstSeedsScreen | FileScreen):
            top.action_cancel()
        else:
            self.leave()

    def action_next_theme(self) -> None:
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def _caught(self, status: int) -> None:
        """Takes a signal: runs in the main thread, at any point of what it does."""
        self.terminal_leaving()
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.leave, status)

    def _look_at_terminal(self) -> None:
        if self.terminal_lost:
            self.leave(HANGUP_STATUS)

    def on_unmount(self) -> None:
        self._restore_signals()
