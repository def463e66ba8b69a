"""What-if: the decision trace of any URL, also of one that was never seen; and the field where it is typed."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import FactsPane
from tui_crawler.console.panes.typing_line import PlainInput
from tui_crawler.console.ports import Explainer, Reports
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.rules.impact_lines import judged_lines
from tui_crawler.console.screen.base import ConsoleScreen, title
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.url.explanation import explained
from tui_crawler.console.url.why_lines import standing_lines, trace_lines
from tui_crawler.domain.rules.policy import PolicySet
from tui_crawler.text.cells import Styled


class WhyScreen(RowsScreen):
    """The trace of one URL, and where it stands."""

    WHERE = Where.why
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open_url", "Open", show=False)]
    AUTO_FOCUS = "#why-trace"

    def __init__(self, explainer: Callable[[Reports], Explainer], url: str) -> None:
        super().__init__()
        self._url = url
        self._explanation = PaneReading(lambda: explained(explainer, url))
        self.reads = (self._explanation,)

    def body(self) -> Iterable[Widget]:
        self._trace = FactsPane(self._facts, id="why-trace")
        standing = FactsPane(self._standing, "The URL", id="why-standing")
        yield Horizontal(self._trace, standing, id="body", classes="why-panes")

    def _facts(self) -> Sequence[Line]:
        clock, shown = self.console.clock, self._explanation.value
        return [] if shown is None else trace_lines(shown, clock.wall_ms(), clock.zone)

    def _standing(self) -> Sequence[Line]:
        """Where the URL stands; and what the draft of the rules says of it, if there is one below."""
        if (shown := self._explanation.value) is None:
            return []
        drafted = drafted_policies(self.app.screen_stack)
        lines = standing_lines(shown, self.console.clock.zone, self.key_names)
        if drafted is None:
            return lines
        return [*lines, "", Styled("With the draft of the rules", "accent bold"), *judged_lines(self._url, drafted)]

    def show_titles(self) -> None:
        title(self._trace, "Decision trace")

    def situation(self) -> Situation:
        shown = self._explanation.value
        return Situation(Where.why, urls=(shown.normalized,) if shown is not None and shown.known else ())

    def crumbs(self) -> tuple[str, ...]:
        return (*self.place.came_from, "why", self._url)

    def open_selected(self) -> None:
        for url in self.situation().urls:
            self.console.go_to(Where.url, url)

    action_open_url = open_selected


def drafted_policies(screens: Sequence[Screen[Any]]) -> PolicySet | None:
    """The rules as an open draft would have them; None without a draft that changes anything."""
    for screen in screens:
        if isinstance(screen, ConsoleScreen) and screen.WHERE is Where.rule_draft:
            from tui_crawler.console.rules.editor import RuleEditorScreen  # noqa: PLC0415  it is loaded by now

            return screen.session.drafted if isinstance(screen, RuleEditorScreen) else None
    return None


class AskUrlScreen(Dialog):
    """Gives the URL that was typed, or None."""

    def __init__(self, url: str) -> None:
        """`url` is what stands there at first, selected as a whole: typing replaces it."""
        super().__init__()
        self._url = url

    def compose(self) -> ComposeResult:
        with dialog_box("Why is a URL (not) crawled?", "enter: explain · esc: leave", "wide"):
            hint = "https://… any URL, also one never seen"
            yield PlainInput(self._url, id="why-url", compact=True, placeholder=hint)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip() or None)
