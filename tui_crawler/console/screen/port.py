"""What screens use of the console: its app, described without it, so that no screen imports the app."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui_crawler.console.action import Situation, Where
    from tui_crawler.console.appearance import Appearance
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.operator.intent import Confirmation, Intent
    from tui_crawler.console.operator.journal import News
    from tui_crawler.console.operator.retry_start import NextRequest, RetryEstimate
    from tui_crawler.console.panes.notice import Notify
    from tui_crawler.console.ports import RuleQueries
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.session import ConsoleMemory
    from tui_crawler.domain.records.page_view import PageView, TodoView
    from tui_crawler.domain.records.view import OriginView


class Commands(Protocol):
    """What screens have done by the operator's command queue."""

    def carry_out(self, intent: Intent | None, hears: Callable[[News], None] | None = None, /) -> None: ...
    def ask(self, question: Confirmation, then: Callable[[], None] | None = None, /) -> None: ...
    def retry(self, now: Situation, /) -> None: ...
    def outlook_of(self, page: PageView, /) -> NextRequest: ...
    def outlook_on_list(self, item: TodoView, origin: OriginView | None, /) -> NextRequest: ...
    def estimate(self, origins: Iterable[OriginView], among: int | None = None, /) -> RetryEstimate: ...
    def cost_words(self, pages: Mapping[str, int], origins: Mapping[str, OriginView], /) -> str: ...


class ConsolePort(Protocol):
    """What a screen of the console uses of the app."""

    clock: ConsoleClock
    live_state: LiveState
    appearance: Appearance
    memory: ConsoleMemory
    rules: RuleQueries | None

    @property
    def command_queue(self) -> Commands: ...
    @property
    def tell(self) -> Notify: ...
    def read_soon(self, *, instead: bool = False) -> None:
        """Read with the next beat; `instead` of what is being read, as soon as the screen is painted."""

    def idle_ms(self) -> int:
        """How long ago the operator did something."""

    def do(self, action_id: str, typed: str = "", about: str = "", /) -> None:
        """Do an action, with what was typed for it; it is `about` an origin or a worker, or about what is selected."""

    def go_to(self, where: Where, /, *values: object) -> None:
        """Show another screen, made of `values`. The next key meets it: this is no message that keys could overtake."""

    def situation(self, screen: Screen[Any], /) -> Situation:
        """What actions depend on."""


class ReachesConsole:
    """A screen or widget of the console: `console` is its app."""

    if TYPE_CHECKING:

        @property
        def console(self) -> ConsolePort: ...
    else:
        console = MessagePump.app

    @property
    def key_names(self) -> KeyNames:
        """The operator's keys, to be named in words."""
        return self.console.appearance.key_names
