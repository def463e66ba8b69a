"""The way out: a question after ctrl+c, and the countdown while running requests end."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.operator.intent import Confirmation
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.text.format import plural, seconds
from tui_crawler.text.safe_text import safe
from tui_crawler.text.sparkline import bar

DETACH = "detach"
"""The answer of an operator who wants to leave without ending the crawl."""
_BAR = 30


class AskQuitScreen(ConfirmScreen):
    """Gives True when the operator wants to quit, `DETACH` when the crawl is to go on without the console."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "yes", "Quit", show=False),
        Binding("d,Q", "detach", "Detach", show=False),
    ]
    NO = "esc Stay"

    def __init__(self, at_work: bool, *, detachable: bool = False, elsewhere: str = "", warning: str = "") -> None:
        """`at_work`: quitting ends the run of this console. `detachable`: it could go on by itself. `elsewhere`: who
        crawls and goes on with it (raw); empty where nobody does. `warning`: why something else cannot be done."""
        what, note = "No crawl runs in this console.", ""
        if at_work:
            what = "Requests in flight get 5 seconds; the next start continues the run."
            note = "d detaches: the crawl continues as its own process." if detachable else ""
        elif elsewhere:
            what, note = f"The crawl continues in {safe(elsewhere, 80)}.", "{run.end} ends it."
        options = ("q Quit", True), *([("d Detach", DETACH)] if detachable else [])
        super().__init__(Confirmation("Quit?", f"{warning} {what}".lstrip(), options, note))
        self.set_class(detachable, "-detachable")
        self._detachable = detachable

    def action_detach(self) -> None:
        if self._detachable:
            self.dismiss(DETACH)


class QuitScreen(Dialog):
    """The countdown. `q` again, or ctrl+c, forces; `d` keeps the crawl going."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q", "force", "Force", show=False),
        Binding("d,Q", "detach", "Detach", show=False),
    ]

    def __init__(self, force: Callable[[], None], detach: Callable[[], None] | None) -> None:
        """`detach` None: the run could not go on by itself."""
        super().__init__()
        self._force_end, self._leave_crawling = force, detach

    def compose(self) -> ComposeResult:
        more = "   d: detach and keep crawling" if self._leave_crawling is not None else ""
        with dialog_box("Finishing"):
            yield Static("", id="countdown", markup=False)
            yield Static(f"q again: cancel them now{more}", id="quit-keys", classes="dialog-note", markup=False)

    def tell(
        self, in_flight: int, remaining_ms: int, whole_ms: int, *, forced: bool, detaching: bool, starting: bool
    ) -> None:
        """Shows how much is left; `detaching`: and that the crawl will continue by itself, in a process that may be
        `starting`."""
        words, gauge = "Starting the crawl as its own process…", ""
        if not starting:
            requests = plural(in_flight, "request")
            going = f"Cancelling {requests}…" if forced else f"Finishing {requests}… {seconds(remaining_ms)}"
            words = going if in_flight else "Writing the last results…"
            gauge = bar(remaining_ms / whole_ms, _BAR, track="░")
        if detaching:
            closes = "This console closes as soon as the new process crawls."
            self.query_one(".dialog").border_title = Content("Detaching")
            self.query_one("#quit-keys", Static).update(closes if starting else "q again: cancel the requests now")
        self.query_one("#countdown", Static).update(Content(f"{words}\n{gauge}"))

    def action_force(self) -> None:
        self._force_end()

    def action_detach(self) -> None:
        if self._leave_crawling is not None:
            self._leave_crawling()
