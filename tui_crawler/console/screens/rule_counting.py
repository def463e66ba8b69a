"""The impact of a draft: counted in a thread, kept up to date while the crawl goes on, told with its age."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from tui_crawler.console.impact_room import Extent, ImpactNews, ImpactRoom
from tui_crawler.console.present.rule_impact import age_words, impact_lines, impact_title
from tui_crawler.console.screens.base import title

if TYPE_CHECKING:
    from tui_crawler.console.panes.lines import Lines
    from tui_crawler.console.ports import RulesDesk
    from tui_crawler.console.rule_draft import RuleDraft
    from tui_crawler.console.screens.rule_editor import RuleEditorScreen


class Counting:
    """The counting for one editor; `news` is what is known of what was asked for last."""

    def __init__(self, screen: RuleEditorScreen, desk: RulesDesk, pane: Lines) -> None:
        """Nothing is asked for."""
        self._screen = screen
        self._pane = pane
        self._asked: RuleDraft | None = None
        self.news: ImpactNews | None = None
        self._under_way = False
        self._found = 0
        self._room = ImpactRoom(desk, screen.console.clock, self._deliver)
        self._begun = False

    def close(self) -> None:
        """Ends the thread."""
        self._room.close()

    def count(self, wanted: RuleDraft | None, *, anew: bool = False) -> None:
        """Counts the impact of a draft, None: there is none; `anew`: though it is the one that was counted last. The
        thread begins with the first."""
        if not self._begun:
            self._begun = True
            self._screen.run_worker(self._room.run, name="impact", group="impact", thread=True, exit_on_error=False)
        if anew or wanted is None or wanted != self._asked:
            self._asked, self.news, self._under_way = wanted, None, False
            if wanted is None:
                self._room.ask(())
            else:
                self._ask("all")
        self._show()

    @property
    def is_fresh(self) -> bool:
        """Whether something may be decided by what is known."""
        news = self.news
        return news is not None and news.over and news.timing.is_fresh(self._screen.console.clock.mono_ms())

    def freshen(self) -> None:
        """Something is to be decided: what became known since is counted now."""
        if self.news is not None and not self.is_fresh:
            self._ask(self.news.timing.for_decision())

    def tick(self) -> None:
        """Twice a second: counts what became known since, so often that it takes a small part of the time."""
        if self.news is not None and self.news.over:
            self._ask(self.news.timing.due(self._screen.console.clock.mono_ms()))
            self._show_title()

    def _ask(self, extent: Extent) -> None:
        if extent and self._asked is not None and not self._under_way:
            self._under_way = True
            self._room.ask(self._asked, extent)

    def _deliver(self, news: ImpactNews) -> None:
        with suppress(RuntimeError):  # the screen's loop has ended
            self._screen.call_later(self._heard, news)

    def _heard(self, news: ImpactNews) -> None:
        """Takes what was counted; what was known before stays until a later count is over."""
        if news.asked is not self._asked or (not news.over and self.news is not None and self.news.over):
            return
        self.news = news
        if news.over:
            self._under_way, self._found = False, self._discovered()
        self._show()
        if news.over:
            self._screen.go_on()

    def _discovered(self) -> int:
        """How many pages became known in this run, as far as it was read."""
        return sum(view.discovered for view in self._screen.console.picture.origins.values())

    def _show(self) -> None:
        self._show_title()
        self._pane.show(impact_lines(self._asked is not None, self.news, self._screen.key_names))

    def _show_title(self) -> None:
        heading, age = impact_title(self.news), ""
        if self.news is not None and self.news.over:
            ago_ms = self._screen.console.clock.mono_ms() - self.news.timing.ended
            age = age_words(ago_ms, self._discovered() - self._found)
        if self._screen.has_class("-narrow"):  # a pane has no lower border there
            heading, age = f"{heading} · {age}" if age else heading, ""
        title(self._pane, heading, age)
