"""What the view of the rules and the draft share: the entry under the cursor, a URL judged, the operators' list."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from tui_crawler.console.handlers import handles
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.rules.entries import Entry, added_entries, entries_of
from tui_crawler.console.rules.exclusions import ExclusionEntry
from tui_crawler.console.rules.impact_lines import judged_lines
from tui_crawler.console.rules.queries import CountedRefusals, RulesInForce, refusals
from tui_crawler.console.rules.rows import Hits, rule_hits_line
from tui_crawler.console.rules.rule_hits import firings
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.waiting import WaitingScreen
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import EMPTY, PolicySet, QueryPolicy
from tui_crawler.domain.rules.ruleset import Ruleset
from tui_crawler.text.cells import Cell


class RuleReadingScreen(WaitingScreen):
    """Shows rules, and below them what is known of the entry under the cursor."""

    JUDGES: ClassVar[str]
    """What says something of a URL that is typed."""
    EXCLUDES: ClassVar[str] = "Exclude"
    """The title of what is typed for the operators' list."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = 0
        self._counts = PaneReading(lambda: refusals(self._asked), lambda _: self.show_rules())
        self._known: tuple[tuple[object, ...], Hits] = (), {}
        self._info = Lines(id="rules-info", classes="pane")
        self._exclusions = ExclusionEntry(self, lambda: self.added, ("#rules-info", self.EXCLUDES), self.leave_line)

    @property
    @abstractmethod
    def in_force(self) -> RulesInForce | None:
        """The rules in force; None: they were not read yet."""

    @property
    @abstractmethod
    def judging(self) -> PolicySet:
        """The rules that say something of a URL."""

    @abstractmethod
    def show_rules(self) -> None:
        """Show the rules and how often they refused a URL."""

    @abstractmethod
    def show_entry(self) -> None:
        """Show what is known of the entry under the cursor, or of the rules as a whole."""

    @property
    def added(self) -> tuple[Exclusion, ...]:
        """The exclusions that operators added to every version."""
        return self.in_force.added if self.in_force is not None else ()

    @property
    def counted(self) -> CountedRefusals | None:
        """What rules refused; None: it was not counted yet."""
        return self._counts.latest

    def hits(self, version: Ruleset | None) -> Hits | None:
        """Return what the entries of a version refused, and those that operators added; None: not counted yet."""
        counted = self.counted
        if counted is None:
            return None
        of = (version, self.added, counted)
        if not self._known[0] or any(one is not other for one, other in zip(of, self._known[0], strict=True)):
            entries = (*entries_of(version.policies if version is not None else EMPTY), *added_entries(self.added))
            self._known = of, firings(entries, counted.counts, counted.links)
        return self._known[1]

    def hits_line(self, entry: Entry, version: Ruleset | None) -> Cell:
        """Return what the log says of an entry."""
        hits, counts = self.hits(version), self.counted.counts if self.counted is not None else None
        fired = hits.get(entry.key) if hits is not None else None
        query = isinstance(entry.value, QueryPolicy)
        return rule_hits_line(fired, counts, self.console.clock.zone, query=query)

    def show_info(self, heading: str, lines: Sequence[Line]) -> None:
        """Show something in the place of the entry under the cursor."""
        title(self._info, heading)
        self._info.show(lines)

    @handles("rules.test")
    def open_test(self, text: str) -> None:
        """Open the line for a URL."""
        use = EntryUse("url", lambda _: self.focus_main(), self._test, self.leave_line)
        self.query_one(EntryLine).open(use, "test:", text, f"any URL: what {self.JUDGES} of it")
        self._test(text)

    def _test(self, text: str) -> None:
        self.show_info(f"What {self.JUDGES}", judged_lines(text, self.judging))

    @handles("rules.exclude")
    def exclude(self, text: str) -> None:
        """Open the line for the operators' list: what is put there holds at once, beside a draft."""
        self._exclusions.open(text)

    def leave_line(self) -> None:
        """The line was left."""
        self.focus_main()
        self.show_entry()
