"""The dialogs of the welcome screen: seeds and who crawls; a file of this folder, or any other. Both check first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from tui_crawler.console.crawl_table import Column, CrawlTable, Row
from tui_crawler.console.failure_words import failure_words
from tui_crawler.console.first_step import FirstStep, FoundFile, FromSeeds, Threshold
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.typing import PlainInput
from tui_crawler.console.present.first_step import problem_lines
from tui_crawler.console.screens.add import AddScreen
from tui_crawler.console.screens.base import Dialog
from tui_crawler.console.screens.lifetime import stands
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.user_agent import UNCONFIGURED_USER_AGENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MOST_ROWS = 8
_WHO = "Who crawls? Server owners see this name in their logs (User-Agent):"
_WHO_HINT = "e.g. my-project-crawler (for https://example.net/why)"
_NAMELESS = f"⚠ empty: it goes out as {UNCONFIGURED_USER_AGENT}"
_COLUMNS = (Column("name", "", 30, min_width=12), Column("about", "", None, priority=1))


@dataclass(frozen=True, slots=True)
class SeedsDraft:
    """What was typed when the seeds were left without beginning."""

    text: str = ""
    user_agent: str = ""


class StepCheck:
    """Has a step checked in a thread while its dialog stays open, which gives the step when nothing is wrong."""

    def __init__(self, dialog: Dialog, threshold: Threshold) -> None:
        self._dialog = dialog
        self._threshold = threshold

    def begin(self, step: FirstStep, show: Callable[[Sequence[str]], None]) -> None:
        """Checks; what is wrong is handed to `show`. A check that is under way is forgotten."""

        async def run() -> None:
            try:
                problems = await asyncio.to_thread(self._threshold.check, step)
            except Exception as error:  # noqa: BLE001, RUF100  whatever a file does must not end the console
                problems = (failure_words(error),)
            if not problems:
                self._dialog.dismiss(step)
            elif stands(self._dialog):
                show(problems)

        self._dialog.run_worker(run(), group="check", exclusive=True, exit_on_error=False)


class FirstSeedsScreen(AddScreen):
    """Gives FromSeeds, or the draft that is to stand there the next time."""

    def __init__(self, threshold: Threshold, draft: SeedsDraft) -> None:
        """Begins with the draft."""
        super().__init__(draft.text, ())
        self._user_agent = draft.user_agent
        self._check = StepCheck(self, threshold)

    def more(self) -> Iterable[Widget]:
        """Who crawls, and what is wrong."""
        yield Static(_WHO, id="who-label", markup=False)
        yield PlainInput(self._user_agent, placeholder=_WHO_HINT, id="who", compact=True, select_on_focus=False)
        nameless = Lines(id="who-nameless")
        nameless.can_focus = False
        yield nameless
        problems = Lines(id="step-problems")
        problems.can_focus = problems.display = False
        yield problems

    def on_mount(self) -> None:
        """Names what the button does."""
        box = self.query_one(".dialog")
        box.add_class("begin")
        self._warn(self._user_agent)
        box.border_title = Content("Begin with seeds")
        box.border_subtitle = Content("ctrl+s begins · tab next field · esc leaves")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """What was wrong may be right now."""
        super().on_text_area_changed(event)
        self._show([])

    def on_input_changed(self, event: Input.Changed) -> None:
        """Somebody says who crawls, or nobody does."""
        event.stop()
        self._warn(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Begins."""
        event.stop()
        self.action_add()

    def _warn(self, user_agent: str) -> None:
        """Says what an empty name means; its line stays where it is not."""
        self.query_one("#who-nameless", Lines).show([Styled("" if user_agent.strip() else _NAMELESS, "warning")])

    def action_add(self) -> None:
        """Gives the step, if it can be done."""
        if self.seeds.urls:
            self._check.begin(FromSeeds(self.seeds.urls, self.query_one("#who", Input).value.strip()), self._show)

    def action_cancel(self) -> None:
        """Gives what was typed."""
        self.dismiss(SeedsDraft(self.query_one(TextArea).text, self.query_one("#who", Input).value))

    def _show(self, problems: Sequence[str]) -> None:
        lines = self.query_one("#step-problems", Lines)
        lines.display = bool(problems)
        lines.show(problem_lines(problems))


class FileScreen(Dialog):
    """Gives the step that begins with a file, or None."""

    LEFT_BY_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("tab", "app.focus_next", "Next", show=False, priority=True),  # before the next key is looked at
    ]

    def __init__(
        self,
        heading: str,
        verb: str,
        files: Sequence[FoundFile],
        make: Callable[[str], FirstStep],
        threshold: Threshold,
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
                table = CrawlTable(_COLUMNS, id="files", show_header=False)
                table.styles.height = min(len(self._files), _MOST_ROWS)
                yield table
            yield Static("Path:", id="path-label", markup=False)
            yield PlainInput(id="path", compact=True, select_on_focus=False)
            yield Lines(id="step-problems")
            with Horizontal(classes="dialog-buttons"):
                yield Button(self._verb, id="begin", compact=True, variant="primary")
                yield Button("Cancel", id="cancel", compact=True)

    def on_mount(self) -> None:
        """Offers the files; without any a path is typed at once."""
        self.query_one(Lines).can_focus = False
        if not self._files:
            self.query_one(Input).focus()
            return
        table = self.query_one(CrawlTable)
        table.set_rows([_row(one) for one in self._files], cursor="first")
        table.focus()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        """The path is the file under the cursor."""
        event.stop()
        self.query_one(Input).value = str(event.key)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Begins with the file."""
        event.stop()
        self._begin(str(event.key))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another path: nothing is known to be wrong with it."""
        event.stop()
        self._show([])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Begins with the path."""
        event.stop()
        self._begin(event.value)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Begins, or not."""
        event.stop()
        if event.button.id == "begin":
            self._begin(self.query_one(Input).value)
        else:
            self.action_cancel()

    def action_cancel(self) -> None:
        """Gives nothing."""
        self.dismiss(None)

    def _begin(self, path: str) -> None:
        if path.strip():
            self._check.begin(self._make(path.strip()), self._show)

    def _show(self, problems: Sequence[str]) -> None:
        self.query_one(Lines).show(problem_lines(problems))


def _row(found: FoundFile) -> Row:
    about = Styled(found.about, "muted") if found.usable else Styled(f"✗ {found.about}", "warning")
    return Row(found.name, (found.name, about))
