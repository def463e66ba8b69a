"""View 4: the rules in force, the versions they had, and what each version changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.handlers import handles
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.rules.draft import RuleDraft, Start, start_with_rule
from tui_crawler.console.rules.entries import Entry, added_entries, entries_of, moved, section_word, without
from tui_crawler.console.rules.exclusion import readmit
from tui_crawler.console.rules.exclusions import ExclusionEntry
from tui_crawler.console.rules.impact import ImpactCounter, ImpactNews, impact_counter
from tui_crawler.console.rules.impact_lines import judge, judged_lines
from tui_crawler.console.rules.queries import RULES, CountedRefusals, RulesInForce, history_of, refusals
from tui_crawler.console.rules.rows import (
    RULE_ENTRIES,
    VERSIONS,
    comparison_lines,
    counted_words,
    difference_lines,
    entry_line,
    entry_lines,
    heading_of,
    no_rules_lines,
    rule_hits_line,
    sheet_lines,
    since_of,
    without_empty,
    without_lines,
)
from tui_crawler.console.rules.rule_hits import RuleHits, firings
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.console.screen.waiting import WaitingScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.record import replace
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import EMPTY, QueryPolicy
from tui_crawler.domain.rules.ruleset import Ruleset, difference, same_rules
from tui_crawler.text.cells import Present
from tui_crawler.text.rules_text import rules_lines
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.panes.line import Line
    from tui_crawler.console.ports import RuleQueries
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.console.reading.refresh import Snapshot
    from tui_crawler.console.screen.base import ConsoleScreen


class RuleSheetScreen(Dialog):
    """Gives the action that was chosen for the entry, empty for none. It is chosen by the key it has elsewhere."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", "Leave", show=False),
        Binding("E", "choose('rule.edit')", "Edit", show=False, id="rule.edit"),
        Binding("D", "choose('rule.delete')", "Delete", show=False, id="rule.delete"),
    ]

    def __init__(
        self,
        heading: str,
        lines: Sequence[Line],
        offers: Mapping[str, str] | None = None,
        rule_queries: RuleQueries | None = None,
        without: RuleDraft | None = None,
    ) -> None:
        """`lines` say what is known, `offers` by its id what an action does here, in words. `without`: the rules
        without the entry, whose impact `rule_queries` counts; None: that is not to be counted."""
        super().__init__()
        self._heading = heading
        self._lines = list(lines)
        self._offers = dict(offers or {})
        self._rule_queries, self._without = rule_queries, without
        self._impact_counter: ImpactCounter | None = None

    def compose(self) -> ComposeResult:
        found = ((self.key_names.of(name), words) for name, words in self._offers.items())
        offered = [f"{keys[0]} {words}" for keys, words in found if keys]
        with dialog_box(safe(self._heading, 120), " · ".join((*offered, "esc leaves")), "search"):
            yield Lines(id="rule-sheet")

    def on_mount(self) -> None:
        """Shows the text; what would be otherwise is counted."""
        super().on_mount()
        self._show(None)
        self.query_one(Lines).focus()
        if self._rule_queries is not None and self._without is not None:
            self._impact_counter = impact_counter(self, self._rule_queries, self._show)
            self._impact_counter.ask(self._without)

    def on_unmount(self) -> None:
        if self._impact_counter is not None:
            self._impact_counter.close()

    def _show(self, news: ImpactNews | None) -> None:
        without = without_lines(news, self.key_names) if self._without is not None else ()
        self.query_one(Lines).show([*self._lines, *without])

    def action_leave(self) -> None:
        self.dismiss("")

    def action_choose(self, action_id: str) -> None:
        """Leaves for an action, if there is something to be done here."""
        if self._offers:
            self.dismiss(action_id)


class RuleVersions:
    """Shows a history in a table, and what it says in the pane beside it."""

    def __init__(self, screen: ConsoleScreen, table: CrawlTable, difference: Lines) -> None:
        self._screen, self._table, self._difference = screen, table, difference
        self.history: tuple[Ruleset, ...] | None = None

    def show(self, history: tuple[Ruleset, ...], current_id: int, zone: tzinfo) -> None:
        """Shows a history (newest first). Who stands on the version in force stays on that."""
        selected = self.selected
        self.history = history
        self._table.fill(history, Present(zone=zone))
        if selected is None or selected.current:
            self._table.move_cursor(key=current_id)
        self.show_difference()

    def show_titles(self) -> None:
        """Names the panes."""
        title(self._table, "Rulesets", f"{self._screen.key_names('mark.toggle')} marks one to compare with")
        title(self._difference, self.heading)

    @property
    def heading(self) -> str:
        """What the difference is of; raw text."""
        one, pair = self.selected, self.compared
        if pair is not None:
            return f"From ruleset {pair[0].ruleset_id} to {pair[1].ruleset_id}"
        return f"What ruleset {one.ruleset_id} changed" if one is not None else "Difference"

    def show_difference(self) -> None:
        """Shows what the version under the cursor changed, or two differ in."""
        one, pair = self.selected, self.compared
        if pair is not None:
            self._difference.show(comparison_lines(*pair))
        else:
            self._difference.show(difference_lines(one, self.before(one)))
        self.show_titles()

    @property
    def selected(self) -> Ruleset | None:
        """The version under the cursor."""
        key = self._table.cursor_key
        return next((one for one in self.history or () if one.ruleset_id == key), None)

    @property
    def compared(self) -> tuple[Ruleset, Ruleset] | None:
        """The two versions that are marked, the older one first; or the marked one and the one under the cursor."""
        marked = [one for one in self.history or () if one.ruleset_id in self._table.marked]
        here = self.selected
        chosen = marked if len(marked) > 1 or here is None or here in marked else [*marked, here]
        if len(chosen) != 2:
            return None
        newer, older = sorted(chosen, key=lambda one: -one.ruleset_id)
        return older, newer

    def before(self, one: Ruleset | None) -> Ruleset | None:
        """The version that this one was made of, if it is in the history."""
        wanted = one.parent_id if one is not None else 0
        return next((each for each in self.history or () if each.ruleset_id == wanted), None)

    def line_back(self, now: Ruleset) -> list[Ruleset]:
        """The version in force, the one it was made of, and so on, as far as they are known."""
        line = [now]
        while (parent := self.before(line[-1])) is not None and parent.ruleset_id < line[-1].ruleset_id:
            line.append(parent)
        return line

    def wanted_back(self, now: Ruleset | None) -> Ruleset | str:
        """The version that is to be brought back, or why none is. On the one in force (`now`): what held before it. On
        an earlier one: that one."""
        one = self.selected
        if one is None:
            return "no version is selected"
        back = self.before(one) if one.current else one
        if back is None:
            return f"ruleset {one.ruleset_id} is the first: there is none before it"
        if now is not None and same_rules(back.policies, now.policies):
            return f"ruleset {back.ruleset_id} says the same as the one in force"
        return back


_DRAFTS = frozenset({"rule.add", "rule.edit", "rule.delete", "rule.up", "rule.down", "rules.bring_back"})
"""Actions that begin a draft."""
URL_HINT = "any URL: what the rules in force say of it"


class RulesScreen(WaitingScreen):
    """Entries at the left, versions and what one of them changed at the right."""

    WHERE = Where.rules
    CRUMBS = ("Rules",)
    OPENS = frozenset({"rule.add", "rule.edit", "rules.exclude", "rules.test"}) | _DRAFTS
    AUTO_FOCUS = "#rules-entries"

    def __init__(self) -> None:
        super().__init__()
        self._rules = PaneReading(lambda: RULES, lambda _: self._show_rules())
        self._counts = PaneReading(lambda: refusals(self._asked), lambda _: self._show_rules())
        self._history = PaneReading(self._ask_history, self._show_history)
        self.reads = (self._rules, self._counts, self._history)
        self._drafted_from: Ruleset | None = None
        self._up_to_date = False  # nothing was read yet, or before a draft that may have changed it
        self._exclusions = ExclusionEntry(self, self._added, ("#rules-info", "Exclude"), self._leave_line)
        self._by_key: dict[Hashable, Entry] = {}
        self._job = ""
        self._asked = 0
        self._fired: Mapping[Hashable, RuleHits | None] | None = None

    def body(self) -> Iterable[Widget]:
        """Entries, versions, the difference, and the entry under the cursor."""
        self._entries = CrawlTable(RULE_ENTRIES, id="rules-entries", classes="pane")
        self._versions = CrawlTable(VERSIONS, id="rules-versions", classes="pane")
        self._difference = Lines(id="rules-difference", classes="pane")
        self._past = RuleVersions(self, self._versions, self._difference)
        self._info = Lines(id="rules-info", classes="pane", still=True)
        right = Vertical(self._versions, self._difference, id="rules-right")
        yield Vertical(Horizontal(self._entries, right, id="rules-upper"), self._info, id="body")

    def on_unmount(self) -> None:
        self._exclusions.close()

    @property
    def _in_force(self) -> RulesInForce | None:
        return self._rules.value

    @property
    def _counted(self) -> CountedRefusals | None:
        return self._counts.latest

    def _ask_history(self) -> Ask[tuple[Ruleset, ...]] | None:
        """The versions of the job that is shown."""
        now = self._current()
        return None if now is None else history_of(now.job, now.ruleset_id)

    def take(self, shot: Snapshot) -> None:
        super().take(shot)
        if RULES in shot.parts:
            self._up_to_date = True
            self._point_at_what_was_drafted()
            self.go_on()

    def _show_rules(self) -> None:
        self._show_entries()
        if self._current() is None:
            self._show_history(())
        self.console.read_soon()

    def _show_history(self, history: tuple[Ruleset, ...]) -> None:
        now = self._current()
        self._past.show(history, now.ruleset_id if now is not None else 0, self.console.clock.zone)

    def _point_at_what_was_drafted(self) -> None:
        """Back from a draft that was applied: the cursor stands on what it put in, edited or moved."""
        if self.frozen:
            return
        before, now, self._drafted_from = self._drafted_from, self._current(), None
        if before is None or now is None or before.job != now.job or before.ruleset_id == now.ruleset_id:
            return
        lines = difference(before.policies, now.policies)
        new = {one.text for one in lines if one.added} - {one.text for one in lines if not one.added}
        changed = next((entry.key for entry in entries_of(now.policies) if entry.line.text in new), None)
        if changed is not None:
            self._entries.move_cursor(key=changed)

    def _show_entries(self) -> None:
        now = self._current()
        entries = (*entries_of(now.policies if now is not None else EMPTY), *added_entries(self._added()))
        self._by_key = {entry.key: entry for entry in entries}
        counted = self._counted
        counts = counted.counts if counted is not None else None
        self._fired = None if counted is None else firings(entries, counted.counts, counted.links)
        whole = counts is not None and counts.looked_at >= counts.known
        lines = [entry_line(entry, self._fired, whole) for entry in entries]
        columns = without_empty(RULE_ENTRIES.columns, lines)
        if columns != self._entries.columns:
            self._entries.set_relation(replace(RULE_ENTRIES, columns=columns))
        self._entries.fill(lines, Present())
        self._show_entry()
        self.show_titles()

    def show_titles(self) -> None:
        counted = counted_words(self._counted, self.console.clock.zone, self.key_names)
        title(self._entries, heading_of(self._current(), self._entries.row_count), counted)
        self._past.show_titles()

    def _show_entry(self) -> None:
        if self.query_one(EntryLine).tells:
            return  # what is typed is shown there
        title(self._info, "Entry")
        if self._in_force is not None and self._current() is None and not self._added():
            self._info.show(no_rules_lines())
            return
        entry = self._entry()
        lines = entry_lines(entry)
        if lines:
            fired = self._fired.get(self._entries.cursor_key) if self._fired is not None else None
            counts = self._counted.counts if self._counted is not None else None
            query = isinstance(entry, Entry) and isinstance(entry.value, QueryPolicy)
            lines.insert(1, rule_hits_line(fired, counts, self.console.clock.zone, query=query))
        self._info.show(lines)

    def _current(self) -> Ruleset | None:
        return self._in_force.of(self._job) if self._in_force is not None else None

    def _added(self) -> tuple[Exclusion, ...]:
        return self._in_force.added if self._in_force is not None else ()

    def _entry(self) -> Entry | None:
        key = self._entries.cursor_key
        return self._by_key.get(key)

    def situation(self) -> Situation:
        entry = self._entry()
        rules = self._current() is not None and self.console.rules is not None
        return Situation(Where.rules, rules=rules, entry=entry is not None)

    @property
    def waits_for(self) -> str:
        return "the rules are still being read"

    def lacks(self, action_id: str) -> bool:
        """Rules that were not read yet, or not since a draft; what came before one is told by the versions."""
        if action_id not in self.OPENS and action_id != "rules.job":
            return False
        return not self._up_to_date or (
            action_id == "rules.bring_back" and self._current() is not None and self._past.history is None
        )

    @handles("rules.count")
    def _count_again(self) -> None:
        self._asked += 1
        self.console.read_soon()

    @handles("rules.exclude")
    def _exclude(self, text: str) -> None:
        self._exclusions.open(text)

    @handles("rules.test")
    def _open_test(self, text: str) -> None:
        use = EntryUse("url", lambda _: self._entries.focus(), self._test, self._leave_line)
        self.query_one(EntryLine).open(use, "test:", text, URL_HINT)
        self._test(text)

    @handles("rule.add")
    def _add(self, text: str) -> None:
        self._edit(Start(line=(f"{{{text}", "}")) if text else start_with_rule(""))

    @handles("rule.edit", "rule.edit")
    @handles("rule.delete", "rule.delete")
    @handles("rule.up", "rule.up")
    @handles("rule.down", "rule.down")
    def _change_selected(self, action_id: str) -> None:
        self._change(action_id, self._entry())

    def leave(self) -> None:
        """The entries first."""
        if self.focused is not self._entries:
            self._entries.focus()
        else:
            super().leave()

    def open_selected(self) -> None:
        """The entry under the cursor, whole; from a version to what it changed."""
        entry = self._entry()
        if self.focused is self._versions and not self._difference.display:  # there is no room for it
            self.app.push_screen(RuleSheetScreen(self._past.heading, self._difference.lines))
        elif self.focused is self._versions:
            self._difference.focus()
        elif entry is not None:
            self.app.push_screen(self._sheet(entry), lambda chosen: self._chosen(chosen, entry))

    def _chosen(self, action_id: object, entry: Entry) -> None:
        if isinstance(action_id, str) and action_id:
            self._change(action_id, entry)

    def _sheet(self, entry: Entry) -> RuleSheetScreen:
        now, may_write = self._current(), self.console.rules is not None and not self.console.live_state.readonly
        counts = self._counted.counts if self._counted is not None else None
        fired = self._fired.get(self._entries.cursor_key) if self._fired is not None else None
        since, less, offers = None, None, {"rule.delete": "takes it off the list"}
        if not entry.added and now is not None:
            since = since_of(entry, self._past.line_back(now))
            less = RuleDraft(now, "\n".join(rules_lines(without(now.policies, entry))))
            offers = {"rule.edit": "edits", "rule.delete": "deletes"}
        lines = sheet_lines(entry, since, (fired, counts), self.console.clock.zone)
        heading = "exclusion of an operator" if entry.added else section_word(entry.section)
        return RuleSheetScreen(heading, lines, offers if may_write else None, self.console.rules, less)

    def _edit(self, start: Start) -> None:
        rule_queries = self.console.rules
        if self._in_force is not None and rule_queries is not None:
            self._up_to_date = False
            self._drafted_from = self._current()
            self.console.go_to(Where.rule_draft, self._job, start)

    def _change(self, action_id: str, entry: Entry | None) -> None:
        """Begins a draft with a change of the entry; what stands on the operators' list is no matter of a draft."""
        now = self._current()
        if entry is None or now is None:
            return
        if entry.added:
            words = "it stands on the operators' exclusion list: {rule.delete} takes it off"
            if action_id == "rule.delete" and isinstance(entry.value, Exclusion):
                self.console.command_queue.ask(readmit(entry.value))
            else:
                self.console.tell("no", self.key_names.said(words), "muted")
            return
        policies = now.policies
        number = next(n for n, one in enumerate(entries_of(policies)) if one.key == entry.key)
        by = {"rule.up": -1, "rule.down": 1}.get(action_id, 0)
        changed = moved(policies, entry, by) if by else without(policies, entry)
        if action_id == "rule.edit":
            self._edit(Start(now, entry=number))
        elif isinstance(changed, str):
            self.console.tell("no", changed, "muted")
        else:
            self._edit(Start(now, changed, number + by))

    @handles("rules.bring_back")
    def _bring_back(self) -> None:
        back = self._past.wanted_back(self._current())
        if isinstance(back, str):
            self.console.tell("no", back, "muted")
        else:
            self._edit(Start(policies=back.policies, brings_back=back))

    @handles("rules.job")
    def _next_job(self) -> None:
        jobs = [one.job for one in self._in_force.current] if self._in_force is not None else []
        now = self._current()
        if now is None or len(jobs) < 2:
            self.console.tell("no", "there is only one job", "muted")
            return
        self._job = jobs[(jobs.index(now.job) + 1) % len(jobs)]
        self._past.history = None
        self._show_entries()
        self.console.read_soon()

    def _test(self, text: str) -> None:
        now = self._current()
        policies = (now.policies if now is not None else EMPTY).with_exclusions(self._added())
        title(self._info, "What the rules in force say")
        self._info.show(judged_lines(judge(text, policies) if text.strip() else None))

    def _leave_line(self) -> None:
        self._entries.focus()
        self._show_entry()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._versions:
            self._past.show_difference()
        else:
            self._show_entry()

    def on_crawl_table_marks_changed(self, event: CrawlTable.MarksChanged) -> None:
        if event.table is self._versions:
            self._past.show_difference()
