"""What `X` opens among the rules: an entry for the operators' exclusion list, its impact counted before it is asked."""

import re
from collections.abc import Callable
from typing import cast

from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.ports import RuleQueries
from tui_crawler.console.rules.exclusion import HINT, exclude, exclusion_lines, unlisted
from tui_crawler.console.rules.impact import Counting
from tui_crawler.console.screen.base import ConsoleScreen, title
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
        """`added` is the list, `pane` (selector and title) shows what is typed, `over` what is there else."""
        self._screen, self._added, self._pane, self._over = screen, added, pane, over
        self._use = EntryUse("exclude", self.entered, self.typed, self.left, judged=True)
        self._rule_queries = cast("RuleQueries", screen.console.rules)  # the action is for consoles that write
        self._counting = Counting(screen, self._rule_queries, self._counted)
        self._text = ""
        self._read: RulesetChange | tuple[RulesProblem, ...] = RulesetChange()
        self._entered = False

    @property
    def _line(self) -> EntryLine:
        return self._screen.query_one(EntryLine)

    @property
    def is_open(self) -> bool:
        """Whether something is being typed for the list."""
        return self._line.display and self._line.use is self._use

    def open(self, text: str) -> None:
        """Opens the line; what is typed there already stays."""
        if self.is_open:
            self._screen.query_one("#entry-input").focus()
            return
        self._line.open(self._use, "exclude:", text, HINT)
        self.typed(text)

    def typed(self, text: str) -> None:
        """Reads what is typed, and counts what it would block."""
        self._text, self._entered, self._read = text, False, RulesetChange()
        if text.strip():
            item = f"{{{text}}}" if _SECOND_KEY.search(text) else text  # a single key needs no braces, nor quotes
            self._read = self._rule_queries.read(f"exclusions:\n- {item.strip()}\n")
        new = unlisted(self._typed, self._added())
        if new != self._counting.asked:
            self._counting.ask(new)
        self._tell()

    def entered(self, text: str) -> None:
        """Enter: asks once the impact is known; what is wrong stays in the line."""
        if text != self._text:
            self.typed(text)
        if not text.strip():
            self._line.leave()
        elif isinstance(self._read, tuple):
            self._screen.console.tell("no", self._read[0].words, "warning")
        elif self._counting.asked and not self._counting.is_fresh:
            self._entered = True
            self._counting.freshen()
        else:
            self._ask()

    @property
    def _typed(self) -> tuple[Exclusion, ...]:
        return () if isinstance(self._read, tuple) else self._read.exclusions or ()

    def left(self) -> None:
        """The line was left: what was counted for it is counted no further."""
        if self._counting.asked:
            self._counting.ask(())
        self._entered = False
        self._over()

    def _ask(self) -> None:
        asked = exclude(self._typed, self._added(), self._counting.news)
        if isinstance(asked, str):
            self._screen.console.tell("no", asked, "warning")
        else:
            self._line.leave()
            self._screen.console.command_queue.ask(asked)

    def _tell(self) -> None:
        wrong = self._read[0].words if isinstance(self._read, tuple) else ""
        if self._typed and isinstance(said := exclude(self._typed, self._added()), str):
            wrong = said
        lines = exclusion_lines(self._text, self._typed, wrong, self._counting.news)
        pane = self._screen.query_one(self._pane[0], Lines)
        title(pane, self._pane[1])
        pane.show(lines)

    def _counted(self) -> None:
        if not self.is_open:
            return
        self._tell()
        if self._entered and self._typed and self._counting.over:
            self._ask()
