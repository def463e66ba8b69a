"""View 4: the rules in force, the versions they had, and what each version changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.format import READING
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.rule_impact import judge, judged_lines
from tui_crawler.console.present.rule_rows import (
    RULE_COLUMNS,
    VERSION_COLUMNS,
    counted_words,
    entry_lines,
    entry_row,
    firing_line,
    heading_of,
    no_rules_lines,
    operator_rows,
    selected_exclusion,
    with_firing,
    without_empty,
)
from tui_crawler.console.present.rule_sheet import sheet_lines, since_of
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.rule_bench import Start
from tui_crawler.console.rule_draft import DraftRow, Entry, RuleDraft, entries_of, with_exclusions
from tui_crawler.console.rule_exclusion import readmit
from tui_crawler.console.rule_firing import Firing, firings
from tui_crawler.console.rule_parts import CountedRefusals, HistoryPart, RefusalsPart, RulesInForce, RulesPart
from tui_crawler.console.rule_words import section_word
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.rule_editor import RuleEditorScreen
from tui_crawler.console.screens.rule_exclusions import PURPOSE as EXCLUDE
from tui_crawler.console.screens.rule_exclusions import ExclusionEntry
from tui_crawler.console.screens.rule_sheet import RuleSheetScreen
from tui_crawler.console.screens.rule_versions import RuleVersions
from tui_crawler.console.screens.waiting import WaitingScreen
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import EMPTY, PolicySet, QueryPolicy
from tui_crawler.domain.ruleset import Ruleset
from tui_crawler.domain.ruleset_change import keys_of
from tui_crawler.domain.ruleset_lineage import changes_along

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from tui_crawler.console.present.line import Line

_DRAFTS = frozenset({"rule.add", "rule.edit", "rule.delete", "rule.up", "rule.down", "rules.bring_back"})
"""Actions that begin a draft."""
URL_HINT = "any URL: what the rules in force say of it"


class RulesScreen(WaitingScreen):
    """Entries at the left, versions and what one of them changed at the right."""

    WHERE = Where.rules
    OPENS = frozenset({"rule.add", "rule.edit", "rules.exclude", "rules.test"}) | _DRAFTS
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.rules)]
    AUTO_FOCUS = "#rules-entries"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._in_force: RulesInForce | None = None
        self._drafted_from: Ruleset | None = None
        self._up_to_date = False  # nothing was read yet, or before a draft that may have changed it
        self._exclusions = ExclusionEntry(self, self._added, self._show_exclusion)
        self._by_key: dict[Hashable, Entry] = {}
        self._job = ""
        self._asked = 0
        self._counted: CountedRefusals | None = None
        self._fired: Mapping[Hashable, Firing | None] | None = None
        self._held: Snapshot | None = None

    def body(self) -> Iterable[Widget]:
        """Entries, versions, the difference, and the entry under the cursor."""
        self._entries = CrawlTable(RULE_COLUMNS, placeholder=READING, id="rules-entries", classes="pane")
        self._versions = CrawlTable(VERSION_COLUMNS, placeholder="no versions", id="rules-versions", classes="pane")
        self._difference = Lines(id="rules-difference", classes="pane")
        self._past = RuleVersions(self, self._versions, self._difference)
        self._info = Lines(id="rules-info", classes="pane")
        self._info.can_focus = False
        right = Vertical(self._versions, self._difference, id="rules-right")
        yield Vertical(Horizontal(self._entries, right, id="rules-upper"), self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_titles()

    def on_unmount(self) -> None:
        """Ends the thread that counts."""
        self._exclusions.close()

    # what is shown

    def wants(self) -> Wants:
        """The rules in force, and the versions of the job that is shown."""
        now = self._current()
        history = (HistoryPart(now.job, now.ruleset_id),) if now is not None else ()
        return Wants(parts=(RulesPart(), RefusalsPart(self._asked), *history))

    def take(self, shot: Snapshot) -> None:
        """Takes what changed."""
        in_force = shot.parts.get(RulesPart())
        if isinstance(in_force, RulesInForce):
            self._take(in_force, shot)
            self._up_to_date = True
            self._point_at_what_was_drafted()
            self.go_on()

    def _take(self, in_force: RulesInForce, shot: Snapshot) -> None:
        if self.frozen and self._in_force is not None:
            self.missed += in_force != self._in_force
            self._held = shot
            self._show_titles()
            return
        counted = shot.parts.get(RefusalsPart(self._asked))
        counted_anew = isinstance(counted, CountedRefusals) and counted is not self._counted
        if isinstance(counted, CountedRefusals):
            self._counted = counted
        if in_force != self._in_force or counted_anew:
            self._in_force = in_force
            self._show_entries()
            self.console.read_soon()
        now = self._current()
        history = shot.parts.get(HistoryPart(now.job, now.ruleset_id)) if now is not None else ()
        if now is not None and isinstance(history, tuple) and history is not self._past.history:
            self._past.take(history, now.ruleset_id, self.console.clock.zone)

    def _point_at_what_was_drafted(self) -> None:
        """Back from a draft that was applied: the cursor stands on what it put in, edited or moved."""
        if self.frozen:
            return
        before, now, self._drafted_from = self._drafted_from, self._current(), None
        if before is None or now is None or before.job != now.job or before.ruleset_id == now.ruleset_id:
            return
        changed = [one for one in changes_along(self._past.history or (), before, now) if one.to]
        if changed:
            one = min(changed, key=lambda one: ("added", "edited", "moved").index(one.kind))
            self._entries.move_cursor(key=keys_of(now.policies)[one.section][one.to - 1])

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        if self._held is not None:
            held, self._held = self._held, None
            self.take(held)
        self._show_titles()

    def _show_entries(self) -> None:
        now = self._current()
        entries = entries_of(now.policies if now is not None else EMPTY)
        self._by_key = {entry.key: entry for entry in entries}
        counts = self._counted.counts if self._counted is not None else None
        self._fired = self._firings(entries)
        whole = counts is not None and counts.looked_at >= counts.known
        rows = [*(entry_row(DraftRow(entry)) for entry in entries), *operator_rows(self._added())]
        columns, rows = without_empty(RULE_COLUMNS, [with_firing(row, self._fired, whole) for row in rows])
        if columns != self._entries.columns:
            self._entries.set_columns(columns)
        self._entries.placeholder = "no rules"
        self._entries.set_rows(rows)
        self._show_entry()
        self._show_titles()

    def _firings(self, entries: tuple[Entry, ...]) -> Mapping[Hashable, Firing | None] | None:
        counted = self._counted
        return None if counted is None else firings(entries, self._added(), counted.counts, counted.links)

    def _show_titles(self) -> None:
        held = f"‖ frozen · {self.missed} changes" if self.frozen else ""
        held = held or counted_words(self._counted, self.console.clock.zone, self.key_names)
        title(self._entries, heading_of(self._current(), self._entries.row_count), held)
        title(self._info, "Entry")
        self._past.show_titles()

    def _show_entry(self) -> None:
        line = self.query_one(EntryLine)
        if line.display and line.purpose in {"url", EXCLUDE}:
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
            lines.insert(1, firing_line(fired, counts, self.console.clock.zone, query=query))
        self._info.show(lines)

    # what is selected

    def _current(self) -> Ruleset | None:
        return self._in_force.of(self._job) if self._in_force is not None else None

    def _added(self) -> tuple[Exclusion, ...]:
        return self._in_force.added if self._in_force is not None else ()

    def _policies(self) -> PolicySet:
        """Everything in force, with what operators added."""
        now = self._current()
        return with_exclusions(now.policies if now is not None else EMPTY, self._added())

    def _entry(self) -> Entry | Exclusion | None:
        key = self._entries.cursor_key
        return self._by_key.get(key) or selected_exclusion(key, self._added())

    def situation(self) -> Situation:
        """Rules are in force or not."""
        entry = self._entry()
        return Situation(
            Where.rules,
            rules=self._current() is not None and self.console.rules is not None,
            entry=entry is not None,
        )

    @property
    def waits_for(self) -> str:
        """What an action waits for, in words."""
        return "the rules are still being read"

    def lacks(self, action_id: str) -> bool:
        """Rules that were not read yet, or not since a draft; what came before one is told by the versions."""
        if action_id not in self.OPENS and action_id != "rules.job":
            return False
        return not self._up_to_date or (
            action_id == "rules.bring_back" and self._current() is not None and self._past.history is None
        )

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Rules",)

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        match action_id:
            case "nav.open":
                self._open()
            case "rule.add":
                self._edit(Start(typed=argument, types=True))
            case "rule.edit" | "rule.delete" | "rule.up" | "rule.down":
                self._change(action_id, self._entry())
            case "rules.exclude":
                self._exclusions.open(argument)
            case "rules.bring_back":
                self._bring_back()
            case "rules.count":
                self._asked += 1
                self.console.read_soon()
            case "rules.job":
                self._next_job()
            case "rules.test":
                self.query_one(EntryLine).open("url", "test:", argument, URL_HINT)
                self._test(argument)
            case "nav.back" if self.focused is not self._entries:
                self._entries.focus()
            case _:
                return False
        return True

    def _open(self) -> None:
        """The entry under the cursor, whole; from a version to what it changed."""
        entry = self._entry()
        if self.focused is self._versions and not self._difference.display:  # there is no room for it
            self.console.push_screen(RuleSheetScreen(self._past.heading, self._difference.lines))
        elif self.focused is self._versions:
            self._difference.focus()
        elif entry is not None:
            self.console.push_screen(self._sheet(entry), lambda chosen: self._chosen(chosen, entry))

    def _chosen(self, action_id: object, entry: Entry | Exclusion) -> None:
        if isinstance(action_id, str) and action_id:
            self._change(action_id, entry)

    def _sheet(self, entry: Entry | Exclusion) -> RuleSheetScreen:
        now, may_write = self._current(), self.console.rules is not None and not self.console.readonly
        counts = self._counted.counts if self._counted is not None else None
        fired = self._fired.get(self._entries.cursor_key) if self._fired is not None else None
        since, without, offers = None, None, {"rule.delete": "takes it off the list"}
        if isinstance(entry, Entry) and now is not None:
            since = since_of(entry, self._past.line_back(now))
            without = RuleDraft(now, now.policies).toggled(entry.key)
            offers = {"rule.edit": "edits", "rule.delete": "deletes"}
        lines = sheet_lines(entry, since, (fired, counts), self.console.clock.zone)
        heading = section_word(entry.section) if isinstance(entry, Entry) else "exclusion of an operator"
        return RuleSheetScreen(heading, lines, offers if may_write else None, self.console.rules, without)

    def _edit(self, start: Start) -> None:
        desk = self.console.rules
        if self._in_force is not None and desk is not None:
            self._up_to_date = False
            self._drafted_from = self._current()
            self.console.push_screen(RuleEditorScreen(desk, self._job, start))

    def _change(self, action_id: str, entry: Entry | Exclusion | None) -> None:
        """Begins a draft with a change of the entry; what stands on the operators' list is no matter of a draft."""
        now = self._current()
        by = {"rule.up": -1, "rule.down": 1}.get(action_id, 0)
        match entry:
            case Entry() if now is not None and by and (stays := RuleDraft(now, now.policies).stays(entry.key, by)):
                self.console.tell("no", self.key_names.said(stays), "muted")
            case Entry():
                self._edit(Start(does=action_id, at=entry.key, base=now))
            case Exclusion() if action_id == "rule.delete":
                self.console.wishes.ask(readmit(entry))
            case Exclusion():
                words = "it stands on the operators' exclusion list: {rule.delete} takes it off"
                self.console.tell("no", self.key_names.said(words), "muted")

    def _show_exclusion(self, lines: list[Line]) -> None:
        """Shows what is typed for the operators' list."""
        title(self._info, "Exclude")
        self._info.show(lines)

    def _bring_back(self) -> None:
        back = self._past.wanted_back(self._current())
        if isinstance(back, str):
            self.console.tell("no", back, "muted")
        else:
            self._edit(Start(brings_back=back, history=self._past.history or ()))

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
        title(self._info, "What the rules in force say")
        self._info.show(judged_lines(judge(text, self._policies()) if text.strip() else None))

    # messages

    def on_entry_line_changed(self, event: EntryLine.Changed) -> None:
        """Judges the URL as it is typed."""
        if event.purpose == "url":
            self._test(event.text)
        elif event.purpose == EXCLUDE:
            self._exclusions.typed(event.text)

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Keeps the answer on the screen; asks for what was typed."""
        if event.purpose == "url":
            self._entries.focus()
        elif event.purpose == EXCLUDE:
            self._exclusions.entered(event.text)

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        """Back to the entries."""
        if event.purpose in {"url", EXCLUDE}:
            self._exclusions.left()
            self._entries.focus()
            self._show_entry()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        """Another entry, or another version."""
        if event.table is self._versions:
            self._past.show_difference()
        else:
            self._show_entry()
        self.tell_footer()

    def on_crawl_table_marks_changed(self, event: CrawlTable.MarksChanged) -> None:
        """Two versions are compared, or no longer."""
        if event.table is self._versions:
            self._past.show_difference()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Opens it."""
        event.table.focus()
        self._open()
