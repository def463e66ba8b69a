"""What `X` opens among the rules: an entry for the operators' exclusion list, its impact counted before it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.exclusion import HINT, exclude, exclusion_lines, unlisted
from tui_crawler.console.rules.impact import ImpactCounter, ImpactNews, impact_counter
from tui_crawler.console.screen.base import title

if TYPE_CHECKING:
    from tui_crawler.console.screen.base import ConsoleScreen
    from tui_crawler.domain.rules.exclusion import Exclusion
    from tui_crawler.domain.rules.ruleset import RulesetChange, RulesProblem

_SECOND_KEY = re.compile(r",\s*[a-z_]+:\s")


class ExclusionEntry:
    """The line of one screen. What it would block is counted in a thread, and no further when something else is typed;
    who enters it before that is known is asked when it is."""

    def __init__(
        self,
        screen: ConsoleScreen,
        added: Callable[[], tuple[Exclusion, ...]],
        pane: tuple[str, str],
        over: Callable[[], None],
    ) -> None:
        """`added` is the list as it is, `pane` (selector and title) shows what is typed, `over` what is there else."""
        self._screen, self._added, self._pane, self._over = screen, added, pane, over
        self._use = EntryUse("exclude", self.entered, self.typed, self.left, judged=True)
        self._impact_counter: ImpactCounter | None = None
        self._text = ""
        self._read: RulesetChange | tuple[RulesProblem, ...] | None = None
        self._asked: tuple[Exclusion, ...] = ()
        self._news: ImpactNews | None = None
        self._entered = False

    @property
    def _line(self) -> EntryLine:
        return self._screen.query_one(EntryLine)

    @property
    def is_open(self) -> bool:
        """Whether something is being typed for the list."""
        return self._line.serves(self._use)

    def open(self, text: str) -> None:
        """Opens the line; what is typed there already stays."""
        if self.is_open:
            self._screen.query_one("#entry-input").focus()
            return
        self._line.open(self._use, "exclude:", text, HINT)
        self.typed(text)

    def typed(self, text: str) -> None:
        """Reads what is typed, and counts what it would block."""
        rule_queries = self._screen.console.rules
        self._text, self._entered = text, False
        self._read = None
        if rule_queries is not None and text.strip():
            item = f"{{{text}}}" if _SECOND_KEY.search(text) else text  # a single key needs no braces, nor quotes
            self._read = rule_queries.read(f"exclusions:\n- {item.strip()}\n")
        new = unlisted(self._typed, self._added())
        if rule_queries is not None and new != self._asked:
            self._asked, self._news = new, None
            if self._impact_counter is None:
                self._impact_counter = impact_counter(self._screen, rule_queries, self._counted)
            self._impact_counter.ask(new)
        self._tell()

    def entered(self, text: str) -> None:
        """Enter: asks once the impact is known; what is wrong stays in the line."""
        if text != self._text:
            self.typed(text)
        if self._read is None:
            self.leave()
        elif isinstance(self._read, tuple):
            self._screen.console.tell("no", self._read[0].words, "warning")
        elif self._asked and (self._news is None or not self._news.over):
            self._entered = True
        elif (
            self._asked
            and self._news is not None
            and not self._news.timing.is_fresh(self._screen.console.clock.mono_ms())
            and self._impact_counter is not None
        ):
            self._entered = True
            self._impact_counter.ask(self._asked, self._news.timing.for_decision())
        else:
            self._ask()

    @property
    def _typed(self) -> tuple[Exclusion, ...]:
        """The entries that are typed."""
        return () if self._read is None or isinstance(self._read, tuple) else self._read.exclusions or ()

    def leave(self) -> None:
        """Closes the line."""
        if self.is_open:
            self._line.leave()

    def left(self) -> None:
        """The line was left: what was counted for it is counted no further."""
        if self._impact_counter is not None and self._asked:
            self._impact_counter.ask(())
        self._asked, self._news, self._entered = (), None, False
        self._over()

    def close(self) -> None:
        """Ends the thread."""
        if self._impact_counter is not None:
            self._impact_counter.close()

    def _ask(self) -> None:
        asked = exclude(self._typed, self._added(), self._news)
        if isinstance(asked, str):
            self._screen.console.tell("no", asked, "warning")
        else:
            self.leave()
            self._screen.console.command_queue.ask(asked)

    def _tell(self) -> None:
        wrong = self._read[0].words if isinstance(self._read, tuple) else ""
        if self._typed and not self._asked and isinstance(said := exclude(self._typed, self._added()), str):
            wrong = said
        lines = exclusion_lines(self._text, self._typed, wrong, self._news)
        pane = self._screen.query_one(self._pane[0], Lines)
        title(pane, self._pane[1])
        pane.show(lines)

    def _counted(self, news: ImpactNews) -> None:
        counted_before = self._news is not None and self._news.over and not news.over
        if news.asked is not self._asked or not self.is_open or counted_before:
            return
        self._news = news
        self._tell()
        if self._entered and news.over and self._typed:
            self._ask()
