"""The screens that lie over each other, for those who go from one to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui_crawler.console.panes.notice import Notify
    from tui_crawler.console.screen.base import ConsoleScreen


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
    def begin_menu(self, first: str, /) -> None: ...
    def push_screen(self, screen: Screen[Any], callback: Callable[[Any], None] | None = None, /) -> object: ...
    def pop_screen(self) -> object: ...
    def switch_screen(self, screen: Screen[Any], /) -> object: ...
    def install_screen(self, screen: Screen[Any], name: str) -> None: ...
