"""The welcome: where there is no crawl yet, the ways to begin one. By key, by arrow and enter, by mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from tui_crawler.console.first_step import Found, FromConfiguration, FromDatabase
from tui_crawler.console.keys import key_name
from tui_crawler.console.panes.bars import TooSmall
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.first_step import ART, ART_WIDTH, Way, ways
from tui_crawler.console.safe_text import safe
from tui_crawler.console.screens.base import size_classes
from tui_crawler.console.screens.lifetime import is_for_nobody
from tui_crawler.console.table_cells import Styled
from tui_crawler.console.welcome_actions import STEP_BY_ID, WELCOME

if TYPE_CHECKING:
    from tui_crawler.console.welcome_app import WelcomeApp

_SHORT_BELOW = 19
_KEY_WIDTH = 4


class WayRow(Lines, can_focus=True):
    """One way to begin: its key, its name, and what it is about."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "choose", "Choose", show=False)]

    class Chosen(Message):
        """A way was chosen with enter, or clicked."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(self, way: Way) -> None:
        """Shows a way."""
        super().__init__(id=way.action_id.replace(".", "-"), classes="way")
        self.way = way

    def on_mount(self) -> None:
        """Writes it."""
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
        """Chooses it."""
        event.stop()
        self.action_choose()

    def action_choose(self) -> None:
        """Chooses it."""
        self.post_message(self.Chosen(self.way.action_id))


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
                    lines = Lines(id=name)
                    lines.can_focus = False
                    yield lines
            with Vertical(id="ways") as box:
                box.border_title = Content("How do you want to begin?")
                for way in ways(found):
                    yield WayRow(way)
            keys = Lines(id="welcome-keys")
            keys.can_focus = False
            yield keys
        yield TooSmall()

    async def on_event(self, event: events.Event) -> None:
        """Handles what is for somebody."""
        if not is_for_nobody(event, self):
            await super().on_event(event)

    def on_mount(self) -> None:
        """Writes what stays."""
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
        self._fit()

    def on_resize(self, _event: events.Resize) -> None:
        """Fits another size."""
        self._fit()

    def on_screen_resume(self) -> None:
        """Comes to the top again: the size may be another one."""
        self._fit()

    def show_found(self, found: Found) -> None:
        """Tells what lies in the folder."""
        for way in ways(found):
            self.query_one(f"#{way.action_id.replace('.', '-')}", WayRow).tell(way)

    def on_way_row_chosen(self, event: WayRow.Chosen) -> None:
        """Does what was chosen."""
        event.stop()
        self.action_choose(event.action_id)

    def action_choose(self, action_id: str) -> None:
        """Goes one way."""
        app = self._app
        row = self.query_one(f"#{action_id.replace('.', '-')}", WayRow)
        row.focus()
        match action_id:
            case "welcome.add":
                app.ask_seeds()
            case "welcome.load":
                files = app.found.configurations if app.found else ()
                app.ask_file("Load a configuration", "Load", files, FromConfiguration)
            case "welcome.open" if row.way.possible:
                files = app.found.databases if app.found else ()
                app.ask_file("Open a crawl", "Open", files, FromDatabase)
            case "welcome.demo":
                app.begin_demo()
            case "welcome.leave":
                app.leave()

    @property
    def _app(self) -> WelcomeApp:
        return cast("WelcomeApp", self.app)

    def _fit(self) -> None:
        size = self.app.size
        self.update_classes({**size_classes(size), "-short": size.height < _SHORT_BELOW}, animate=False)
