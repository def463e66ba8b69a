"""What is written around the rows of every screen: the header, and short messages in the corner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.console.keys import key_name
from tui_crawler.console.lock_watch import Lock, lock_words
from tui_crawler.console.notice import ERROR_SHOWN_MS, SHOWN_MS, Notice, Trouble, add_notice, add_trouble, still_shown
from tui_crawler.console.panes.bars import HeaderBar
from tui_crawler.console.panes.notices import NoticeBox
from tui_crawler.console.screens.lifetime import stands

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.screens.base import ConsoleScreen

HEADER_MS = 250


class Board:
    """Writes header and messages of one console."""

    def __init__(self, app: CrawlerApp) -> None:
        """Nothing is written yet."""
        self._app = app
        self._header_at = 0
        self._has_read = False
        self.notices: tuple[Notice, ...] = ()
        self.troubles: tuple[Trouble, ...] = ()
        self._dead: set[str] = set()  # keys that were told to do nothing
        app.nobodys_key = self._tell_of_key

    def beat(self, screen: ConsoleScreen, now: int) -> None:
        """Four times a second the header. `now` is monotonic ms."""
        if now - self._header_at >= HEADER_MS:
            self.show_header(screen, now)

    def was_read(self, screen: ConsoleScreen, now: int) -> None:
        """A reading was taken in: the header shows the first, and the end of a delay, at once; others with its beat."""
        if not self._has_read and self._app.watches:
            self.tell("watches", f"watching only: {self._app.watches}", "warning")
        if not self._has_read or self._app.rounds.stale:
            self._has_read = True
            self.show_header(screen, now)
        else:
            self.beat(screen, now)

    def show_header(self, screen: ConsoleScreen, now: int) -> None:
        """Brings the header up to date. `now` is monotonic ms."""
        if not stands(screen):
            return
        self._header_at = now
        app = self._app
        standing = app.room.standing(app.picture.run, app.rounds.failure, self._lock_words())
        state = app.picture.header(
            app.crawl_name or (app.picture.run.config_name if app.picture.run else ""),
            replace(standing, hint=app.succession.hint),
            hz=app.rounds.pace.hz,
            stale_ms=app.rounds.look_at_age(app.picture.age_ms()),
            readonly=app.readonly,
        )
        screen.query_one(HeaderBar).tell(replace(state, frozen=screen.frozen))

    def _lock_words(self) -> str:
        """That another program keeps the database locked, whoever has noticed; empty while none does."""
        app = self._app
        lock, known = app.picture.lock, (app.room.locked_since, app.rounds.locked_since)
        if lock is None and any(known):
            lock = Lock(0, min(filter(None, known)))
        return lock_words(lock, app.clock.zone, crawling=app.room.is_crawling(app.picture.run)) if lock else ""

    def tell(self, kind: str, text: str, role: str) -> None:
        """Shows a short message (raw text)."""
        clock, screen = self._app.clock, self._app.console_screen
        shown = ERROR_SHOWN_MS if role == "error" else SHOWN_MS
        if role == "error":
            self.troubles = add_trouble(self.troubles, clock.wall_ms(), text)
        self.notices = add_notice(self.notices, Notice(kind, text, role, clock.mono_ms() + shown))
        if screen is not None:
            self.show_notices(screen)

    def _tell_of_key(self, key: str) -> None:
        """A key did nothing where it was pressed: said once of each."""
        if key not in self._dead:
            self._dead.add(key)
            help_key = self._app.appearance.key_names("help.keys")
            self.tell("no", f"{key_name(key)} does nothing here; {help_key} lists the keys", "muted")

    def show_notices(self, screen: ConsoleScreen) -> None:
        """Shows the messages whose time has not passed."""
        self.notices = still_shown(self.notices, self._app.clock.mono_ms())
        for box in screen.query(NoticeBox):  # none before its widgets came, or after they went
            box.tell(self.notices)
