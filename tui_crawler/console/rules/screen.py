"""View 4: the rules in force, the versions they had, and what each version changed."""

from collections.abc import Iterable, Sequence

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.handlers import handles
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.reading.refresh import Snapshot
from tui_crawler.console.rules.draft import Start, start_with_rule
from tui_crawler.console.rules.entries import Entry, entries_of, section_word
from tui_crawler.console.rules.exclusion import readmit
from tui_crawler.console.rules.queries import RULES, RulesInForce, history_of
from tui_crawler.console.rules.reading_screen import RuleReadingScreen
from tui_crawler.console.rules.rows import (
    NO_RULES,
    RULE_LINES,
    VERSIONS,
    RuleLine,
    comparison_lines,
    difference_lines,
    entry_lines,
    rule_lines,
    since_words,
)
from tui_crawler.console.rules.rule_hits import logged_as
from tui_crawler.console.screen.base import title
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import EMPTY, PolicySet
from tui_crawler.domain.rules.ruleset import Ruleset, same_rules
from tui_crawler.text.cells import Present, cell_text
from tui_crawler.text.format import clock, count
from tui_crawler.text.rules_text import is_entry, rules_lines

_DRAFTS = frozenset({"rule.add", "rule.edit", "rule.delete", "rule.up", "rule.down", "rules.bring_back"})
"""Actions that begin a draft."""


class RulesScreen(RuleReadingScreen):
    """The rules as text at the left, versions and what one of them changed at the right."""

    WHERE = Where.rules
    CRUMBS = ("Rules",)
    OPENS = frozenset({"rules.exclude", "rules.test"}) | _DRAFTS
    AUTO_FOCUS = "#rules-lines"
    JUDGES = "the rules in force say"

    def __init__(self) -> None:
        super().__init__()
        self._rules = PaneReading(lambda: RULES, lambda _: self._show_read())
        self._history = PaneReading(self._ask_history, self._show_history)
        self.reads = (self._rules, self._counts, self._history)
        self._drafted_from: Ruleset | None = None
        self._up_to_date = False  # nothing was read yet, or before a draft that may have changed it
        self._text: list[RuleLine] = []
        self._job, self._heading = "", "Difference"
        self._past: tuple[Ruleset, ...] | None = None

    def body(self) -> Iterable[Widget]:
        """The rules, versions, the difference, and the entry under the cursor."""
        self._lines = CrawlTable(RULE_LINES, id="rules-lines", classes="pane")
        self._versions = CrawlTable(VERSIONS, id="rules-versions", classes="pane")
        self._difference = Lines(id="rules-difference", classes="pane")
        right = Vertical(self._versions, self._difference, id="rules-right")
        yield Vertical(Horizontal(self._lines, right, id="rules-upper"), self._info, id="body")

    @property
    def in_force(self) -> RulesInForce | None:
        return self._rules.value

    @property
    def judging(self) -> PolicySet:
        now = self._current
        return (now.policies if now is not None else EMPTY).with_exclusions(self.added)

    @property
    def _current(self) -> Ruleset | None:
        return self.in_force.of(self._job) if self.in_force is not None else None

    @property
    def _line(self) -> RuleLine | None:
        """The line under the cursor; rows that are held still may be of an older text."""
        return next((line for line in self._text if line.key == self._lines.cursor_key), None)

    @property
    def _entry(self) -> Entry | None:
        return line.entry if (line := self._line) is not None else None

    @property
    def _row(self) -> int:
        return line.row if (line := self._line) is not None else 0

    def _ask_history(self) -> Ask[tuple[Ruleset, ...]] | None:
        now = self._current
        return None if now is None else history_of(now.job, now.ruleset_id)

    def take(self, shot: Snapshot) -> None:
        super().take(shot)
        if RULES in shot.parts:
            self._up_to_date = True
            self._point_at_what_was_drafted()
            self.go_on()

    def _show_read(self) -> None:
        self.show_rules()
        if self._current is None:
            self._show_history(())
        self.console.read_soon()

    def _show_history(self, history: tuple[Ruleset, ...]) -> None:
        """Show the versions, newest first. A cursor on the version in force stays on that."""
        selected, now = self._selected, self._current
        self._past = history
        self._versions.fill(history, Present(zone=self.console.clock.zone))
        if selected is None or selected.current:
            self._versions.move_cursor(key=now.ruleset_id if now is not None else 0)
        self._show_difference()

    def _show_difference(self) -> None:
        one, pair = self._selected, self._compared
        self._heading, lines = "Difference", []
        if pair is not None:
            self._heading = f"From ruleset {pair[0].ruleset_id} to {pair[1].ruleset_id}"
            lines = comparison_lines(*pair)
        elif one is not None:
            self._heading, lines = f"What ruleset {one.ruleset_id} changed", difference_lines(one, self._before(one))
        self._difference.show(lines)
        self.show_titles()

    @property
    def _selected(self) -> Ruleset | None:
        return next((one for one in self._past or () if one.ruleset_id == self._versions.cursor_key), None)

    @property
    def _compared(self) -> tuple[Ruleset, Ruleset] | None:
        """The two versions that are marked, the older one first; or the marked one and the one under the cursor."""
        here = self._selected
        chosen = [one for one in self._past or () if one.ruleset_id in self._versions.marked]
        if len(chosen) == 1 and here is not None and here not in chosen:
            chosen.append(here)
        if len(chosen) != 2:
            return None
        older, newer = sorted(chosen, key=lambda one: one.ruleset_id)
        return older, newer

    def _before(self, one: Ruleset) -> Ruleset | None:
        """The version that this one was made of, if it is in the history."""
        return next((each for each in self._past or () if each.ruleset_id == one.parent_id), None)

    def _point_at_what_was_drafted(self) -> None:
        """Back from a draft that was applied: the cursor is on what it put in or edited."""
        if self.frozen:
            return
        before, now, self._drafted_from = self._drafted_from, self._current, None
        if before is None or now is None or before.job != now.job:
            return
        known = {entry.key for entry in entries_of(before.policies)}
        new = next((entry.key for entry in entries_of(now.policies) if entry.key not in known), None)
        if new is not None:
            self._lines.move_cursor(key=new)

    def show_rules(self) -> None:
        now = self._current
        counts = self.counted.counts if self.counted is not None else None
        whole = counts is not None and counts.looked_at >= counts.known
        self._text = []
        if now is not None or self.added:
            policies = now.policies if now is not None else EMPTY
            self._text = rule_lines(policies, self.added, self.hits(now), whole)
        before = self._lines.cursor_key
        self._lines.fill(self._text, Present())
        entries = [line for line in self._text if line.entry is not None]
        if entries and self._lines.row(before) is None:  # not at the name of a section
            self._lines.move_cursor(key=next((line for line in entries if line.row >= self._row), entries[-1]).key)
        self.show_entry()
        self.show_titles()

    def show_titles(self) -> None:
        now, counted, heading, words = self._current, self.counted, "Rules", ""
        if now is not None:
            entries = sum(line.entry is not None for line in self._text)
            heading = f"Rules · job {now.job} · ruleset {now.ruleset_id} · {count(entries)} in force"
        if counted is not None:
            counts, at = counted.counts, clock(counted.at, self.console.clock.zone)
            of = "" if counts.looked_at >= counts.known else f" of {count(counts.known)}"
            again = self.key_names("rules.count")
            words = f"hits in {count(counts.looked_at)}{of} attempts, {at} · {again} counts again"
        title(self._lines, heading, words)
        title(self._versions, "Rulesets", f"{self.key_names('mark.toggle')} marks one to compare with")
        title(self._difference, self._heading)

    def show_entry(self) -> None:
        if self.query_one(EntryLine).tells:
            return  # what is typed is shown there
        entry = self._entry
        lines: Sequence[Line] = ()
        if self.in_force is not None and not self._text:
            lines = NO_RULES
        elif entry is not None:
            lines = entry_lines(entry, self.hits_line(entry, self._current))
        self.show_info("Entry", lines)

    def situation(self) -> Situation:
        rules = self._current is not None and self.console.rules is not None
        return Situation(Where.rules, rules=rules, entry=bool(self._text))

    @property
    def waits_for(self) -> str:
        return "the rules are still being read"

    def lacks(self, action_id: str) -> bool:
        """Rules that were not read yet, or not since a draft; what came before one is told by the versions."""
        if action_id not in self.OPENS and action_id != "rules.job":
            return False
        return not self._up_to_date or (
            action_id == "rules.bring_back" and self._current is not None and self._past is None
        )

    @handles("rules.count")
    def _count_again(self) -> None:
        self._asked += 1
        self.console.read_soon()

    @handles("rule.add")
    def _add(self, text: str) -> None:
        self._edit(Start(rule=(f"{{{text}", "}")) if text else start_with_rule(""))

    def leave(self) -> None:
        """The rules first."""
        if self.focused is not self._lines:
            self._lines.focus()
            self.show_entry()
        else:
            super().leave()

    def open_selected(self) -> None:
        """All of the entry under the cursor, or what its hits refused; from a version to what it changed."""
        entry, now = self._entry, self._current
        if self.focused is self._versions and self._difference.display:
            self._difference.focus()
        elif self.focused is self._versions:
            self._open_info(self._heading, self._difference.lines)
        elif self.focused is self._lines and entry is not None and self._lines.door is not None:
            self.console.go_to(Where.logs)
            self.console.do("log.search", logged_as(entry))
        elif self.focused is self._lines and entry is not None:
            line = [now] if now is not None else []
            while line and (parent := self._before(line[-1])) is not None and parent.ruleset_id < line[-1].ruleset_id:
                line.append(parent)
            since = since_words(entry, line, self.console.clock.zone)
            lines = entry_lines(entry, self.hits_line(entry, now), since)
            self._open_info("Entry", [Paragraph(cell_text(line)) for line in lines])

    def _open_info(self, heading: str, lines: Sequence[Line]) -> None:
        self.show_info(heading, lines)
        self._info.focus()
        if self.has_class("-narrow"):
            self.call_later(self.enlarge)

    def _edit(self, start: Start) -> None:
        if self.in_force is not None and self.console.rules is not None:
            self._up_to_date = False
            self._drafted_from = self._current
            self.console.go_to(Where.rule_draft, self._job, start)

    @handles("rule.edit", 0)
    @handles("rule.up", -1)
    @handles("rule.down", 1)
    def _change(self, by: int) -> None:
        """Begin a draft at the entry under the cursor, or with that entry moved."""
        row, entry, now = self._row, self._entry, self._current
        if now is None:
            return
        lines = [*rules_lines(now.policies), ""]
        if row >= len(lines) - 1:
            words = "it is on the operators' exclusion list: {rule.delete} removes it"
            self.console.tell("no", self.key_names.said(words), "muted")
        elif not by:
            self._edit(Start(now, row=row))
        elif entry is None:
            self._tell_no_entry()
        elif is_entry(lines[row + by]):
            lines[row], lines[row + by] = lines[row + by], lines[row]
            self._edit(Start(now, lines[:-1], row + by))
        else:
            word, only = section_word(entry.line.section), not is_entry(lines[row - by])
            end = "first" if by < 0 else "last"
            self.console.tell("no", f"it is the only {word}" if only else f"it is the {end} {word} already", "muted")

    def _tell_no_entry(self) -> None:
        self.console.tell("no", "this line names a section: no entry is selected", "muted")

    @handles("rule.delete")
    def _delete(self) -> None:
        """Begin a draft without the entry under the cursor; ask to take one of the operators' list off that."""
        entry, now = self._entry, self._current
        if entry is None:
            self._tell_no_entry()
        elif entry.added and isinstance(entry.value, Exclusion):
            self.console.command_queue.ask(readmit(entry.value))
        elif now is not None:
            lines = rules_lines(now.policies)
            del lines[self._row]
            self._edit(Start(now, lines, self._row))

    @handles("rules.bring_back")
    def _bring_back(self) -> None:
        """On the version in force: begin a draft of what held before it. On an earlier one: of that."""
        one, now = self._selected, self._current
        back = self._before(one) if one is not None and one.current else one
        if one is None:
            why_not = "no version is selected"
        elif back is None:
            why_not = f"ruleset {one.ruleset_id} is the first: there is none before it"
        elif now is not None and same_rules(back.policies, now.policies):
            why_not = f"ruleset {back.ruleset_id} says the same as the one in force"
        else:
            self._edit(Start(lines=rules_lines(back.policies), brings_back=back))
            return
        self.console.tell("no", why_not, "muted")

    @handles("rules.job")
    def _next_job(self) -> None:
        jobs = [one.job for one in self.in_force.current] if self.in_force is not None else []
        now = self._current
        if now is None or len(jobs) < 2:
            self.console.tell("no", "there is only one job", "muted")
            return
        self._job = jobs[(jobs.index(now.job) + 1) % len(jobs)]
        self._past = None
        self.show_rules()
        self.console.read_soon()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._versions:
            self._show_difference()
        else:
            self.show_entry()

    def on_crawl_table_marks_changed(self, event: CrawlTable.MarksChanged) -> None:
        if event.table is self._versions:
            self._show_difference()
