"""The welcome as an app of its own: it runs before there is a database, and gives the first step that was chosen."""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from tui_crawler.console.appearance import dress
from tui_crawler.console.dialogs.add import AddScreen
from tui_crawler.console.operator.shutdown import HANGUP_STATUS
from tui_crawler.console.panes.bars import TooSmall
from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.typing_line import PlainInput
from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.console.screen.dialog import size_classes
from tui_crawler.console.screen.lifetime import is_ready, is_stale
from tui_crawler.console.terminal import catch_signals
from tui_crawler.console.terminal_app import TerminalApp
from tui_crawler.console.theme import DARK
from tui_crawler.console.welcome import first_step
from tui_crawler.console.welcome.actions import WELCOME
from tui_crawler.domain.records.seed_option import SEED_OPTIONS, OptionKind, SeedOption
from tui_crawler.domain.records.status_words import UNCONFIGURED_USER_AGENT
from tui_crawler.text.cells import Styled
from tui_crawler.text.safe_text import fit, safe

_WHO_HINT = "e.g. my-project-crawler (for https://example.net/why)"
_NAMELESS = f"⚠ empty: it goes out as {UNCONFIGURED_USER_AGENT}"
_ROLES = {"◆": "accent bold", "✓": "ok", "▶": "active", "◷": "waiting", "○": "muted"}
_DRAWN = ("       ╭── ✓ ──┬── ✓", "◆ ─────┼── ✓   ╰── ▶ ── ○", "       ╰── ◷ ───── ○")
ART: tuple[Line, ...] = tuple(
    tuple(Styled(part, _ROLES.get(part, "faint")) for part in re.split("([◆✓▶◷○])", line) if part) for line in _DRAWN
)
"""A seed and what is found from it."""
ART_WIDTH = 25
Draft = tuple[str, Mapping[str, str | bool]]
"""What was typed when the dialog of the seeds was left without beginning: the seeds, and values of `SEED_OPTIONS`."""


def _wrong(words: str) -> Line:
    return Paragraph(f"✗ {words}", "error", indent=2)


def _show_general(screen: Screen[Any], problems: Sequence[first_step.StepProblem]) -> None:
    """Show what is wrong with no setting in particular, where there is room only when there is something."""
    below = screen.query_one("#step-problems", Lines)
    below.show([_wrong(one.words) for one in problems if not one.option])
    below.display = any(not one.option for one in problems)


class OptionRow(Lines, can_focus=True):
    """A setting that is on or off."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", "Turn on or off", show=False),
        Binding("enter", "screen.add", "Begin", show=False),
    ]

    def __init__(self, option: SeedOption, value: bool) -> None:
        super().__init__(id=option.name, classes="option")
        self._option, self.value = option, value

    def on_mount(self) -> None:
        self.show([Styled(f"[{'x' if self.value else ' '}] {self._option.help}", "")])

    def action_turn(self) -> None:
        self.value = not self.value
        self.on_mount()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_turn()


class FirstSeedsScreen(AddScreen):
    """Begins with seeds, or gives the draft that the dialog shows the next time."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft[0], ())
        self._draft = draft[1]

    def more(self) -> Iterable[Widget]:
        for one in SEED_OPTIONS:
            with Horizontal(classes="option-row"):
                yield Static(one.label, classes="option-label", markup=False)
                value, hint = self._draft.get(one.name, ""), one.default or _WHO_HINT
                if one.kind is OptionKind.switch:
                    yield OptionRow(one, bool(value))
                else:
                    yield PlainInput(str(value), placeholder=hint, id=one.name, compact=True, select_on_focus=False)
            yield Lines(id=f"{one.name}-problem", classes="option-problem", still=True)
        yield Lines(id="step-problems", still=True)

    def show_problems(self, problems: Sequence[first_step.StepProblem]) -> None:
        """Show them below their fields, where there is room only when there are some."""
        _show_general(self, problems)
        for option in SEED_OPTIONS:
            lines = [_wrong(one.words) for one in problems if one.option == option.name]
            if option.kind is OptionKind.text and not lines and not self._given().get(option.name):
                lines = [Styled(_NAMELESS, "warning")]
            below = self.query_one(f"#{option.name}-problem", Lines)
            below.show(lines)
            below.display = bool(lines)

    def on_mount(self) -> None:
        box = self.query_one(".dialog")
        box.add_class("begin")
        self.show_problems(())
        box.border_title = Content("Begin with seeds")
        box.border_subtitle = Content("ctrl+s begins · tab next field · esc leaves")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        super().on_text_area_changed(event)
        self.show_problems(())

    def _given(self) -> dict[str, str | bool]:
        fields = ((one.name, cast("Input | OptionRow", self.query_one(f"#{one.name}"))) for one in SEED_OPTIONS)
        values = ((name, one.value.strip() if isinstance(one, Input) else one.value) for name, one in fields)
        return {name: value for name, value in values if value}

    def on_input_changed(self, event: Input.Changed) -> None:
        """Something else was typed: nothing is known to be wrong with it."""
        event.stop()
        self.show_problems(())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_add()

    def action_add(self) -> None:
        if self.seeds.urls:
            cast("WelcomeApp", self.app).begin(first_step.FromSeeds(self.seeds.urls, self._given()))

    def action_cancel(self) -> None:
        self.dismiss((self.query_one(TextArea).text, self._given()))


_SHORT_BELOW = 19
_KEY_WIDTH = 4
_NAME_WIDTH = 28


class WayRow(Lines, can_focus=True):
    """A way to begin: its key, its name, and what it is about. `step` None: by the form of the seeds."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "choose", "Choose", show=False, priority=True)]

    def __init__(self, step: first_step.FirstStep | first_step.Cancelled | None, name: str, about: str, key: str = ""):
        super().__init__(id=f"way-{key}" if key else None, classes="way")
        self.step = step
        head = Styled(f" {key:{_KEY_WIDTH - 1}}", "accent bold"), Styled(name, "strong bold")
        self.show([head, Styled(" " * _KEY_WIDTH + about, "muted")])

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_choose()

    def action_choose(self) -> None:
        self.focus()
        cast("WelcomeApp", self.app).choose(self.step)


class FileRow(WayRow):
    """A file to begin with, on one line."""

    def __init__(self, step: first_step.FromConfiguration | first_step.FromDatabase, found: first_step.FoundFile):
        super().__init__(step, "", "")
        self.add_class("file")
        name = Styled(f"{' ' * _KEY_WIDTH}{fit(safe(found.name), _NAME_WIDTH)}  ", "strong")
        about = Styled(found.about, "muted") if found.usable else Styled(f"✗ {found.about}", "warning")
        self.show([(name, about)])


class WelcomeScreen(Screen[None], inherit_bindings=False):
    """The ways to begin."""

    AUTO_FOCUS = "WayRow"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(one.keys, f"choose('{one.keys[0]}')", one.label, id=one.id, show=False) for one in WELCOME),
        # with priority, as enter: else keys typed in one go meet the row that had the focus before the first of them
        Binding("down,j,tab", "app.focus_next", "Next", show=False, priority=True),
        Binding("up,k,shift+tab", "app.focus_previous", "Previous", show=False, priority=True),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(id="welcome"):
            with Horizontal(id="welcome-head"):
                for name in ("welcome-art", "welcome-name"):
                    yield Lines(id=name, still=True)
            with Vertical(id="ways") as box:
                box.border_title = Content("How do you want to begin?")
                yield WayRow(None, "Add seeds", "Paste URLs; choose User-Agent, delay and depth.", "a")
                yield WayRow(first_step.FromDemo(), "Demo", "Ten made-up sites on this computer; no network.")
                yield Lines(id="files", still=True)
                yield WayRow(first_step.Cancelled(), "Quit", "Nothing was written and nothing was sent.", "q")
            yield Lines(id="step-problems", still=True)
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
        self.query_one("#welcome-keys", Lines).show([Styled("↑ ↓ and enter, or a click", "faint")])
        self.query_one("#files", Lines).show([Styled(f"{' ' * _KEY_WIDTH}Looking for files in this folder…", "muted")])
        self.show_problems(())
        self.on_resize()

    def on_resize(self) -> None:
        size = self.app.size
        self.update_classes({**size_classes(size), "-short": size.height < _SHORT_BELOW}, animate=False)

    on_screen_resume = on_resize  # the size may be another one

    async def show_found(self, found: first_step.FolderFound) -> None:
        """Show the files to begin with, as they are in the folder."""
        rows = [FileRow(first_step.FromConfiguration(one.name), one) for one in found.configurations]
        rows += [FileRow(first_step.FromDatabase(one.name), one) for one in found.databases]
        none = "No configuration (*.yaml) and no database (*.db) is in this folder."
        words = "Configurations and databases in this folder:" if rows else none
        await self.query_one("#ways").mount_all(rows, before="#way-q")
        self.query_one("#files", Lines).show([Styled(f"{' ' * _KEY_WIDTH}{words}", "muted")])

    def show_problems(self, problems: Sequence[first_step.StepProblem]) -> None:
        _show_general(self, problems)

    def action_choose(self, key: str) -> None:
        self.query_one(f"#way-{key}", WayRow).action_choose()


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
        self._draft: Draft = ("", {})
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
            found = await asyncio.to_thread(self.threshold.look)
        except Exception as error:  # whatever is in a folder must not end the console
            found = first_step.FolderFound((first_step.FoundFile(".", failure_words(error), usable=False),))
        for screen in self.screen_stack:
            if isinstance(screen, WelcomeScreen) and is_ready(screen):
                await screen.show_found(found)

    # the ways

    def choose(self, step: first_step.FirstStep | first_step.Cancelled | None) -> None:
        if isinstance(step, first_step.Cancelled):
            self.leave()
        elif step is None:
            self.push_screen(FirstSeedsScreen(self._draft), self._keep_draft)
        else:
            self.begin(step)

    def _keep_draft(self, draft: object) -> None:
        self._draft = cast("Draft", draft)

    def begin(self, step: first_step.FirstStep) -> None:
        """Check a step and end with it, or show what is wrong; a check that is still running is forgotten."""
        self.run_worker(self._check(step), group="check", exclusive=True, exit_on_error=False)

    async def _check(self, step: first_step.FirstStep) -> None:
        screen = cast("WelcomeScreen | FirstSeedsScreen", self.screen)
        try:
            problems = await asyncio.to_thread(self.threshold.check, step)
        except Exception as error:  # whatever a file does must not end the console
            problems = (first_step.StepProblem(failure_words(error)),)
        if screen is self.screen and is_ready(screen):
            if problems:
                screen.show_problems(problems)
            else:
                self.exit(step)

    def leave(self, exit_status: int = 0) -> None:
        self.terminal_leaving()
        self.exit(first_step.Cancelled(exit_status))

    action_leave = leave

    # keys and signals

    def action_step_back(self) -> None:
        """Closes a dialog, with what was typed kept; leaves where there is none."""
        (self.screen.action_cancel if isinstance(self.screen, FirstSeedsScreen) else self.leave)()

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
