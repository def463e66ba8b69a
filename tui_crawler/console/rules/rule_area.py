"""The text of a draft of rules: YAML with colours and line numbers."""

from collections.abc import Callable, Collection

from rich.style import Style
from rich.text import Text
from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import TextAreaTheme

from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.panes.typing_area import PlainArea
from tui_crawler.console.rules.rows import TOKENS
from tui_crawler.console.table.paint import role_styles


class _Theme(TextAreaTheme):
    """Leaves the colours of the line under the cursor; of it only the background is another."""

    def apply_css(self, text_area: TextArea) -> None:
        super().apply_css(text_area)
        if (style := self.cursor_line_style) is not None:
            self.cursor_line_style = Style(bgcolor=style.bgcolor)


class RuleArea(PlainArea):
    """Lines with one entry each. `wrong` are the lines (from 0) in which something is wrong."""

    def __init__(self, edit: Callable[[], None], *, id: str, classes: str) -> None:
        """`edit` is called for ctrl+x ctrl+e."""
        super().__init__(id=id, classes=classes, soft_wrap=False, show_line_numbers=True)
        self._edit = edit
        self.cursor_blink = False
        self.register_theme(_Theme("rules"))
        self.wrong: Collection[int] = ()
        self._roles: dict[str, Style] = {}
        self._prefixed = False  # ctrl+x was pressed where nothing is selected

    def on_mount(self) -> None:
        self.theme = "rules"

    def on_resize(self) -> None:
        """Keep the cursor in view where there is less room."""
        self.call_after_refresh(self.scroll_cursor_visible)

    def put(self, text: str, cursor: tuple[int, int]) -> None:
        """Show another text; what is typed later can be undone as far as this."""
        self.load_text(plain_text(text))
        self.move_cursor(cursor, center=True)
        self.scroll_to(0, animate=False)  # the beginnings of lines, as far as the cursor stays in view
        self.scroll_cursor_visible()

    def mark_wrong(self, lines: Collection[int]) -> None:
        """Paint the lines in which something is wrong."""
        if lines != self.wrong:
            self.wrong = lines
            self.notify_style_update()
            self.refresh()

    def notify_style_update(self) -> None:
        """Forget the colours: the theme may be another one."""
        super().notify_style_update()
        self._roles = {}

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        if not self._roles:
            self._roles = role_styles(self.app.theme_variables, self.app.current_theme.dark)
        if line_index in self.wrong:
            line.stylize(self._roles["error"])
            return line
        for found in TOKENS.finditer(line.plain):
            line.stylize(self._roles[found.lastgroup or ""], found.start(), found.end())
        return line

    async def _on_key(self, event: events.Key) -> None:
        """Keep the indentation at enter, and cut only what is selected: ctrl+x also begins ctrl+x ctrl+e."""
        prefixed, self._prefixed = self._prefixed, False
        match event.key:
            case "enter" if not self.read_only:
                line = self.document.get_line(self.cursor_location[0])
                self.insert("\n" + line[: len(line) - len(line.lstrip())])
            case "ctrl+x" if not self.selected_text:
                self._prefixed = True
            case "ctrl+e" if prefixed:
                self._edit()
            case _:
                return
        event.stop()
        event.prevent_default()
