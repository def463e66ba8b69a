"""The welcome as an app of its own: it runs before there is a database, and gives the first step that was chosen."""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
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

from tui_crawler.console.action import Action
from tui_crawler.console.appearance import dress
from tui_crawler.console.dialogs.add import AddScreen
from tui_crawler.console.keys import key_name
from tui_crawler.console.operator.shutdown import HANGUP_STATUS
from tui_crawler.console.panes.bars import TooSmall
from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.typing_line import PlainInput
from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.console.screen.dialog import Dialog, dialog_box, size_classes
from tui_crawler.console.screen.lifetime import is_ready, is_stale
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.terminal import catch_signals
from tui_crawler.console.terminal_app import TerminalApp
from tui_crawler.console.theme import DARK, LIGHT
from tui_crawler.console.welcome import first_step
from tui_crawler.console.welcome.actions import WELCOME
from tui_crawler.domain.records.status_words import UNCONFIGURED_USER_AGENT
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import plural
from tui_crawler.text.safe_text import safe

_MOST_ROWS = 8
_WHO = "Who crawls? Server owners see this name in their logs (User-Agent):"
_WHO_HINT = "e.g. my-project-crawler (for https://example.net/why)"
_NAMELESS = f"⚠ empty: it goes out as {UNCONFIGURED_USER_AGENT}"


def _about(found: first_step.FoundFile) -> Cell:
    return Styled(found.about, "muted") if found.usable else Styled(f"✗ {found.about}", "warning")


FILES: Relation[first_step.FoundFile] = Relation(
    key=lambda found: found.name,
    columns=(
        Column("name", "", shown.plain(), 30, min_width=12),
        Column("about", "", shown.by_record(_about), None, 1),
    ),
)
_ROLES = {"◆": "accent bold", "✓": "ok", "▶": "active", "◷": "waiting", "○": "muted"}
_DRAWN = ("       ╭── ✓ ──┬── ✓", "◆ ─────┼── ✓   ╰── ▶ ── ○", "       ╰── ◷ ───── ○")
ART: tuple[Line, ...] = tuple(
    tuple(Styled(part, _ROLES.get(part, "faint")) for part in re.split("([◆✓▶◷○])", line) if part) for line in _DRAWN
)
"""A seed and what is found from it."""
ART_WIDTH = 25
_NAMED = 3


def ways(found: first_step.FolderFound | None) -> dict[str, tuple[str, bool]]:
    """Return what each way to begin is about, and whether it is possible; None: the folder was not read yet."""

    def files(kind: str, of: Sequence[first_step.FoundFile], none: str) -> str:
        names = ", ".join(one.name for one in of[:_NAMED]) + (" …" if len(of) > _NAMED else "")
        return f"{plural(len(of), kind)} here: {names}" if of else none

    configurations, databases = (found.configurations, found.databases) if found else ((), ())
    load = files("configuration", configurations, "None (*.yaml) is in this folder: type where it is.")
    opened = files("database", databases, "There is no database (*.db) in this folder.")
    return {
        "welcome.add": ("Paste URLs; default settings, politely crawled.", True),
        "welcome.load": (load if found else "Looking for configurations in this folder…", True),
        "welcome.demo": ("Ten made-up sites on this computer; no network.", True),
        "welcome.open": (opened if found else "Looking for crawls in this folder…", bool(databases)),
        "welcome.leave": ("No file was written and no request was sent.", True),
    }


Draft = tuple[str, str]
"""What was typed when the dialog of the seeds was left without beginning: the seeds, and who crawls."""


class StepDialog(Dialog):
    """A dialog that checks a step in a thread while it stays open, and gives the step when nothing is wrong."""

    LEFT_BY_CLICK = False
    threshold: first_step.StartFolder

    @abstractmethod
    def step(self) -> first_step.FirstStep | None:
        """Return the step that is typed; None: it is not yet one."""

    def begin(self) -> None:
        """Check the step; a check that is still running is forgotten."""
        if (step := self.step()) is not None:
            self.run_worker(self._check(step), group="check", exclusive=True, exit_on_error=False)

    async def _check(self, step: first_step.FirstStep) -> None:
        try:
            problems = await asyncio.to_thread(self.threshold.check, step)
        except Exception as error:  # whatever a file does must not end the console
            problems = (failure_words(error),)
        if not problems:
            self.dismiss(step)
        elif is_ready(self):
            self.show_problems(problems)

    def show_problems(self, problems: Sequence[str]) -> None:
        lines = [Paragraph(f"✗ {problem}", "error", indent=2) for problem in problems]
        self.query_one("#step-problems", Lines).show(lines)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Something else was typed: nothing is known to be wrong with it."""
        event.stop()
        self.show_problems(())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.begin()


class FirstSeedsScreen(StepDialog, AddScreen):
    """Gives FromSeeds, or the draft that the dialog shows the next time."""

    def __init__(self, threshold: first_step.StartFolder, draft: Draft) -> None:
        super().__init__(draft[0], ())
        self._user_agent, self.threshold = draft[1], threshold

    def more(self) -> Iterable[Widget]:
        yield Static(_WHO, id="who-label", markup=False)
        yield PlainInput(self._user_agent, placeholder=_WHO_HINT, id="who", compact=True, select_on_focus=False)
        yield Lines(id="who-nameless", still=True)
        yield Lines(id="step-problems", still=True)

    def show_problems(self, problems: Sequence[str]) -> None:
        """Show them where there is room only when there are some."""
        self.query_one("#step-problems").display = bool(problems)
        super().show_problems(problems)

    def on_mount(self) -> None:
        box = self.query_one(".dialog")
        box.add_class("begin")
        self._warn(self._user_agent)
        self.show_problems(())
        box.border_title = Content("Begin with seeds")
        box.border_subtitle = Content("ctrl+s begins · tab next field · esc leaves")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        super().on_text_area_changed(event)
        self.show_problems(())

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._warn(event.value)

    def _warn(self, user_agent: str) -> None:
        self.query_one("#who-nameless", Lines).show([Styled("" if user_agent.strip() else _NAMELESS, "warning")])

    def step(self) -> first_step.FirstStep | None:
        who = self.query_one("#who", Input).value.strip()
        return first_step.FromSeeds(self.seeds.urls, who) if self.seeds.urls else None

    def action_add(self) -> None:
        self.begin()

    def action_cancel(self) -> None:
        self.dismiss((self.query_one(TextArea).text, self.query_one("#who", Input).value))


class FileScreen(StepDialog):
    """Gives the step that begins with a file, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next", show=False, priority=True),  # before the next key is looked at
    ]

    def __init__(
        self,
        make: type[first_step.FromConfiguration | first_step.FromDatabase],
        found: first_step.FolderFound,
        threshold: first_step.StartFolder,
    ) -> None:
        """`make` is the step of a path; the files that were found are offered, others can be typed."""
        super().__init__()
        loads, self._make, self.threshold = make is first_step.FromConfiguration, make, threshold
        self._heading, self._verb = ("Load a configuration", "Load") if loads else ("Open a crawl", "Open")
        self._files = found.configurations if loads else found.databases

    def compose(self) -> ComposeResult:
        with dialog_box(self._heading, f"enter {self._verb.lower()}s · tab other field · esc leaves", "wide begin"):
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
        if self._files:
            self.query_one(CrawlTable).fill(self._files, Present(), cursor="first")
        self.query_one(CrawlTable if self._files else Input).focus()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted | CrawlTable.RowSelected) -> None:
        event.stop()
        self.query_one(Input).value = str(event.key)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        self.on_crawl_table_row_highlighted(event)
        self.begin()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        (self.begin if event.button.id == "begin" else self.action_cancel)()

    def step(self) -> first_step.FirstStep | None:
        path = self.query_one(Input).value.strip()
        return self._make(path) if path else None


_SHORT_BELOW = 19
_KEY_WIDTH = 4


class WayRow(Lines, can_focus=True):
    """One way to begin: its key, its name, and what it is about."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "choose", "Choose", show=False)]

    def __init__(self, action: Action) -> None:
        super().__init__(id=action.id.replace(".", "-"), classes="way")
        self.action, self.possible = action, False

    def tell(self, about: str, possible: bool) -> None:
        self.possible = possible
        key, name, rest = ("accent bold", "strong bold", "muted") if possible else ("faint", "muted", "faint")
        letter = key_name(self.action.keys.partition(",")[0]).ljust(_KEY_WIDTH - 1)
        head = Styled(f" {letter}", key), Styled(self.action.label, name)
        self.show([head, Styled(" " * _KEY_WIDTH + about, rest)])

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_choose()

    def action_choose(self) -> None:
        self.focus()
        if self.possible:
            cast("WelcomeApp", self.app).choose(self.action.id)


class WelcomeScreen(Screen[None], inherit_bindings=False):
    """The ways to begin."""

    AUTO_FOCUS = "WayRow"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(one.keys, f"choose('{one.id}')", one.label, id=one.id, show=False) for one in WELCOME),
        Binding("down,j,tab", "app.focus_next", "Next", show=False),
        Binding("up,k,shift+tab", "app.focus_previous", "Previous", show=False),
        Binding("t", "app.next_theme", "Theme", show=False),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(id="welcome"):
            with Horizontal(id="welcome-head"):
                for name in ("welcome-art", "welcome-name"):
                    yield Lines(id=name, still=True)
            with Vertical(id="ways") as box:
                box.border_title = Content("How do you want to begin?")
                yield from map(WayRow, WELCOME)
            yield Lines(id="welcome-keys", still=True)
        yield TooSmall()

    async def on_event(self, event: events.Event) -> None:
        if not is_stale(event, self):
            await super().on_event(event)

    def on_mount(self) -> None:
        app = cast("WelcomeApp", self.app)
        words = Styled("polite web crawling, seen from your terminal", "muted")
        folder = Styled("folder ", "faint"), Styled(safe(app.threshold.folder), "accent")
        self.query_one("#welcome-art", Lines).show(ART)
        self.query_one("#welcome-art").styles.width = ART_WIDTH
        self.query_one("#welcome-name", Lines).show([Styled("tui-crawler", "strong bold"), words, folder])
        self.query_one("#welcome-keys", Lines).show([Styled("↑ ↓ and enter, the key, or a click  ·  t theme", "faint")])
        self.show_found(app.found)
        self.on_resize()

    def on_resize(self) -> None:
        size = self.app.size
        self.update_classes({**size_classes(size), "-short": size.height < _SHORT_BELOW}, animate=False)

    on_screen_resume = on_resize  # the size may be another one

    def show_found(self, found: first_step.FolderFound | None) -> None:
        for action_id, (about, possible) in ways(found).items():
            self._row(action_id).tell(about, possible)

    def action_choose(self, action_id: str) -> None:
        self._row(action_id).action_choose()

    def _row(self, action_id: str) -> WayRow:
        return self.query_one(f"#{action_id.replace('.', '-')}", WayRow)


_LOOK_S = 0.5
_CRASHED = 3  # the exit status of what could not run


class WelcomeApp(TerminalApp[first_step.FirstStep | first_step.Cancelled]):
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

    def __init__(self, threshold: first_step.StartFolder) -> None:
        """Makes it; the folder is looked into when the first picture stands."""
        super().__init__()
        dress(self, DARK.name)
        self.threshold = threshold
        self.found: first_step.FolderFound | None = None
        self._draft: Draft = ("", "")
        self._restore_signals: Callable[[], None] = lambda: None

    def run_to_end(self) -> first_step.FirstStep | first_step.Cancelled:
        """Runs it until something was chosen (blocking)."""
        answer = self.run()
        return first_step.Cancelled(_CRASHED) if answer is None else answer

    def get_default_screen(self) -> Screen[None]:
        return WelcomeScreen()

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
            self.found = first_step.FolderFound(
                configurations=(first_step.FoundFile(".", failure_words(error), usable=False),)
            )
        for screen in self.screen_stack:
            if isinstance(screen, WelcomeScreen) and is_ready(screen):
                screen.show_found(self.found)

    # the ways

    def choose(self, action_id: str) -> None:
        found = self.found or first_step.FolderFound()
        match action_id:
            case "welcome.add":
                self.push_screen(FirstSeedsScreen(self.threshold, self._draft), self._answered)
            case "welcome.load" | "welcome.open":
                make = first_step.FromConfiguration if action_id == "welcome.load" else first_step.FromDatabase
                self.push_screen(FileScreen(make, found, self.threshold), self._answered)
            case "welcome.demo":
                self.exit(first_step.FromDemo())
            case _:
                self.leave()

    def _answered(self, answer: object) -> None:
        """A dialog gives a step, a draft of the seeds, or None."""
        if isinstance(answer, tuple):
            self._draft = answer
        elif answer is not None:
            self.exit(cast("first_step.FirstStep", answer))

    def leave(self, exit_status: int = 0) -> None:
        self.terminal_leaving()
        self.exit(first_step.Cancelled(exit_status))

    action_leave = leave

    # keys and signals

    def action_step_back(self) -> None:
        """Closes a dialog, with what was typed kept; leaves where there is none."""
        (self.screen.action_cancel if isinstance(self.screen, StepDialog) else self.leave)()

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
