"""What is used of the app: by those who go from screen to screen or say something, and by the screens themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui_crawler.console.action import Situation
    from tui_crawler.console.app import ExplanationQuery
    from tui_crawler.console.appearance import Appearance
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.dispatcher import Dispatcher
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.operator.commands import CommandQueue
    from tui_crawler.console.operator.engine_host import HostedEngine
    from tui_crawler.console.operator.shutdown import ExitActions
    from tui_crawler.console.panes.notice import ReportedError
    from tui_crawler.console.ports import RuleQueries
    from tui_crawler.console.reading.poll_loop import PollTimer
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.replay.player import ReplayControls
    from tui_crawler.console.screen.base import ConsoleScreen
    from tui_crawler.console.session import SessionFile
    from tui_crawler.console.table.layouts import ViewLayouts
    from tui_crawler.text.charts import Dots


class Notify(Protocol):
    """Shows a short message (raw text); it takes the place of one of its kind."""

    def __call__(self, kind: str, text: str, role: str = "accent") -> None: ...


class Screens(Protocol):
    """The screens that lie over each other; `console_screen` is the topmost one that shows rows."""

    @property
    def screen(self) -> Screen[Any]: ...
    @property
    def screen_stack(self) -> Sequence[Screen[Any]]: ...
    @property
    def console_screen(self) -> ConsoleScreen | None: ...
    @property
    def tell(self) -> Notify: ...
    def push_screen(self, screen: Screen[Any], callback: Callable[[Any], None] | None = None, /) -> object: ...
    def pop_screen(self) -> object: ...
    def switch_screen(self, screen: Screen[Any], /) -> object: ...
    def install_screen(self, screen: Screen[Any], name: str) -> None: ...


class ConsolePort(Screens, Protocol):
    """What a screen of the console uses of the app. Parts that there is one of stand as they are."""

    clock: ConsoleClock
    who: str
    readonly: bool
    dots: Dots
    zooms: dict[str, tuple[str, int]]
    bookmarks: list[tuple[int, str, int]]
    troubles: tuple[ReportedError, ...]
    rules: RuleQueries | None
    inquiry: ExplanationQuery
    memory: SessionFile
    appearance: Appearance
    live_state: LiveState
    looks: ViewLayouts
    dispatcher: Dispatcher
    hosting: HostedEngine
    replay: ReplayControls
    way_out: ExitActions
    poll_timer: PollTimer

    @property
    def command_queue(self) -> CommandQueue: ...
    def situation(self, screen: ConsoleScreen, about: str = "", /) -> Situation: ...
    def screen_came_up(self, screen: ConsoleScreen, /) -> None: ...
    def show_header(self, screen: ConsoleScreen, /) -> None: ...
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
