"""What screens use of the console: its app, described without it, so that no screen imports the app."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui_crawler.console.action import Situation
    from tui_crawler.console.appearance import Appearance
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.operator.engine_host import HostedEngine
    from tui_crawler.console.operator.intent import Confirmation, Intent
    from tui_crawler.console.operator.journal import News
    from tui_crawler.console.operator.retry_start import NextRequest, RetryEstimate
    from tui_crawler.console.panes.notice import Notify, ReportedError
    from tui_crawler.console.ports import RuleQueries
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.replay.player import ReplayControls
    from tui_crawler.console.session import SessionFile
    from tui_crawler.console.table.layouts import ViewLayout
    from tui_crawler.domain.explanation import Explanation
    from tui_crawler.domain.page_view import PageView, TodoView
    from tui_crawler.domain.view import OriginView
    from tui_crawler.text.charts import Dots


class Commands(Protocol):
    """What screens have done by the operator's command queue."""

    def carry_out(self, intent: Intent | None, hears: Callable[[News], None] | None = None, /) -> None: ...
    def ask(self, question: Confirmation, then: Callable[[], None] | None = None, /) -> None: ...
    def retry(self, now: Situation, /) -> None: ...
    def outlook_of(self, page: PageView, /) -> NextRequest: ...
    def outlook_on_list(self, item: TodoView, origin: OriginView | None, /) -> NextRequest: ...
    def estimate(self, origins: Iterable[OriginView], among: int | None = None, /) -> RetryEstimate: ...
    def cost_words(self, pages: Mapping[str, int], origins: Mapping[str, OriginView], /) -> str: ...


class Explanations(Protocol):
    """What is read to say why a URL was (not) crawled."""

    def of(self, url: str, /) -> Ask[Explanation] | None: ...


class Readings(Protocol):
    """How reading goes."""

    failure: str


class ScreenActions(Protocol):
    """What does actions and goes to other screens."""

    def do(self, action_id: str, typed: str = "", about: str = "", /) -> None: ...
    def go_back_to(self, crumbs: tuple[str, ...], /) -> None: ...
    def go_to_sql(self, question: str, /) -> None: ...
    def go_to_origin(self, origin: str, /) -> None: ...
    def go_to_timeline(self, origins: tuple[str, ...], /) -> None: ...
    def go_to_logs(self, time: str, /) -> None: ...
    def go_to_url(self, url: str, tab: str = "why", /) -> None: ...
    def go_to_diff(self, runs: tuple[int, ...], /) -> None: ...
    def compare_typed(self, text: str, /) -> None: ...
    def draft_rule(self, pattern: str, /) -> None: ...


class ConsolePort(Protocol):
    """What a screen of the console uses of the app. Parts that there is one of stand as they are."""

    clock: ConsoleClock
    who: str
    readonly: bool
    dots: Dots
    zooms: dict[str, tuple[str, int]]
    bookmarks: list[tuple[int, str, int]]
    troubles: tuple[ReportedError, ...]
    rules: RuleQueries | None
    inquiry: Explanations
    memory: SessionFile
    appearance: Appearance
    live_state: LiveState
    looks: dict[str, ViewLayout]
    dispatcher: ScreenActions
    hosting: HostedEngine
    replay: ReplayControls
    poll_timer: Readings

    @property
    def screen(self) -> Screen[Any]: ...
    @property
    def console_screen(self) -> Screen[Any] | None: ...
    @property
    def tell(self) -> Notify: ...
    @property
    def command_queue(self) -> Commands: ...
    def push_screen(self, screen: Screen[Any], callback: Callable[[Any], None] | None = None, /) -> object: ...
    def pop_screen(self) -> object: ...
    def situation(self, screen: Screen[Any], about: str = "", /) -> Situation: ...
    def screen_came_up(self, screen: Screen[Any], /) -> None: ...
    def show_header(self, screen: Screen[Any], /) -> None: ...
    def read_soon(self) -> None: ...
    def read_instead(self) -> None: ...
    def idle_ms(self) -> int: ...
    def let_keys_go_on(self) -> None: ...
    def drop_keys(self) -> None: ...
    def run_worker(
        self, work: Callable[[], object], /, name: str, group: str, *, exit_on_error: bool, thread: bool
    ) -> object: ...


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
