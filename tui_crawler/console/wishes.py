"""What the operator wants done: asked, written to the journal, followed up, undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.applied_versions import AppliedVersions
from tui_crawler.console.intent import Intent, Question, add_seeds, retry_named, retry_urls, toggle_pause_all
from tui_crawler.console.journal_desk import Fate, JournalDesk, News
from tui_crawler.console.present.same_as import same_as
from tui_crawler.console.undo import UndoStack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.domain.command import Command
    from tui_crawler.domain.view import OriginView


class Wishes:
    """The operator's side of the journal. `desk` None: this console only watches."""

    def __init__(self, app: CrawlerApp, desk: JournalDesk | None) -> None:
        """Begins with nothing to undo."""
        self._app = app
        self.desk = desk
        self.undo_stack = UndoStack()
        self._versions = AppliedVersions()

    def carry_out(self, intent: Intent | None) -> None:
        """Writes an intent; what becomes of it is told when it is known. None: nothing was possible."""
        if intent is not None and self.desk is not None:
            self.undo_stack = self.undo_stack.did(intent)
            self.desk.hand_in(intent)

    def carry_out_each(self, make: Callable[[OriginView], Intent | None], targets: Sequence[OriginView]) -> None:
        """Makes an intent for each origin and writes those that are possible."""
        for view in targets:
            self.carry_out(make(view))

    def ask(self, question: Question) -> None:
        """Asks first."""
        from tui_crawler.console.screens.confirm import ConfirmScreen  # noqa: PLC0415  not before the first paint

        def answered(chosen: object) -> None:
            if isinstance(chosen, Intent):
                self.carry_out(chosen)

        self._app.push_screen(ConfirmScreen(question), answered)

    def add(self, text: str) -> None:
        """Asks for seeds; `text` stands there at first."""
        from tui_crawler.console.screens.add import AddScreen  # noqa: PLC0415  not before the first paint

        def answered(urls: object) -> None:
            if isinstance(urls, tuple) and urls:
                self.carry_out(add_seeds(urls))

        self._app.push_screen(AddScreen(text, tuple(self._app.picture.origins)), answered)

    def pause_all(self) -> None:
        """Pauses every origin, or resumes every one."""
        self.carry_out(toggle_pause_all(tuple(self._app.picture.origins.values())))

    def retry(self, urls: tuple[str, ...]) -> None:
        """Gives URLs their tries back; asks first when there are several, and says how long that takes."""
        if len(urls) == 1:
            self.carry_out(retry_urls(urls))
            return
        from tui_crawler.console.present.retry_cost import cost_words, pages_by_origin, retry_cost  # noqa: PLC0415

        picture = self._app.picture
        tries = picture.run.tries if picture.run is not None else 0
        cost = retry_cost(pages_by_origin(urls), picture.origins, tries, self._app.clock.wall_ms())
        self.ask(retry_named(urls, "the marked URLs", len(urls), cost_words(cost)))

    def undo(self) -> None:
        """Undoes the last intent that can be undone."""
        stack = self.undo_stack
        self._move(stack.undo(), stack.done[-1].commands if stack.done else ())

    def redo(self) -> None:
        """Does again what was undone last."""
        stack = self.undo_stack
        self._move(stack.redo(), stack.undone[-1].inverse if stack.undone else ())

    def heard(self, news: News) -> None:
        """Tells what became of an intent."""
        says = news.intent.says
        match news.fate:
            case Fate.written:
                self._app.read_soon()
            case Fate.done:
                self._versions.learn(news.intent, news.results)
                undo = "  z undoes" if news.intent.inverse else ""
                self._app.tell("journal", f"✓ {says}{undo}", "ok")
                if line := same_as(news.intent.commands):
                    self._app.tell("same", f"same as: {line}", "muted")
            case Fate.waiting:
                self._app.tell("journal", f"◷ {says}: noted, no engine has taken it up yet", "warning")
            case Fate.refused | Fate.failed:
                self.undo_stack = self.undo_stack.without(news.intent)
                self._app.tell("journal", f"✗ {says}: {news.error}", "error")

    def _move(self, step: tuple[Intent, UndoStack] | None, written: Sequence[Command]) -> None:
        """Hands in the intent of a step; `written` are the commands whose result it begins with."""
        if step is not None and self.desk is not None:
            intent, self.undo_stack = step
            self.desk.hand_in(self._versions.based(intent, written))
