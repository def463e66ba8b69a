"""A draft of other rules: written entry by entry, its impact counted at once, nothing saved until it is applied."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.impact_room import Extent, ImpactNews, ImpactRoom
from tui_crawler.console.intent import Intent, Question
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.rule_impact import age_words, impact_lines, impact_title, judge, judged_lines
from tui_crawler.console.present.rule_rows import (
    ENTRY_COLUMNS,
    draft_heading,
    entry_lines,
    entry_row,
    no_rules_lines,
    operator_rows,
    overtaken_lines,
    selected_exclusion,
    typed_lines,
    under_way_lines,
    without_empty,
)
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.rule_bench import RuleBench, Start, Typing
from tui_crawler.console.rule_draft import DraftRow, Entry, RuleDraft, policies_of, with_exclusions
from tui_crawler.console.rule_parts import RulesInForce, RulesPart, WriterPart
from tui_crawler.console.rule_words import counted_changes
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.confirm import ConfirmScreen
from tui_crawler.console.screens.rule_applying import Applying
from tui_crawler.console.screens.rule_exclusions import PURPOSE as EXCLUDE
from tui_crawler.console.screens.rule_exclusions import ExclusionEntry
from tui_crawler.console.screens.waiting import WaitingScreen
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import EMPTY
from tui_crawler.domain.ruleset import RulesetChange

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tui_crawler.console.ports import RulesDesk
    from tui_crawler.console.present.line import Line
    from tui_crawler.domain.policy import PolicySet


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


RULE, URL = "rule", "url"
"""What the line is open for."""

ENTRY_HINT = "skip: /calendar/ · exclusion: host: a.example · do_not_crawl: path: {prefix: /x/} · query: allow: [page]"
URL_HINT = "any URL: what the draft says of it"


class RuleTyping:
    """The line of one editor. What is typed counts as drafted while it is an entry, and is in the draft after enter."""

    def __init__(self, screen: RuleEditorScreen, desk: RulesDesk, bench: RuleBench) -> None:
        """Nothing is typed."""
        self._screen = screen
        self._desk = desk
        self._bench = bench

    @property
    def _line(self) -> EntryLine:
        return self._screen.query_one(EntryLine)

    def comes_first(self) -> bool:
        """Whether an entry is being typed, which is to be ended before something else begins; says so."""
        line = self._line
        if not line.display or line.purpose != RULE:
            return False
        self._screen.console.tell("no", "an entry is being written: enter keeps it, esc drops it", "muted")
        self._screen.query_one("#entry-input").focus()
        return True

    def edit(self, entry: object) -> None:
        """Opens the line with an entry as it is now."""
        draft, tell, keys = self._bench.draft, self._screen.console.tell, self._screen.key_names
        if isinstance(entry, Exclusion):
            words = "it stands on the operators' exclusion list: {rule.delete} in the Rules view takes it off"
            tell("no", keys.said(words), "muted")
        if draft is None or not isinstance(entry, Entry):
            return
        if not draft.has(entry.key):
            tell("no", f"it is taken out of the draft; {keys('rule.delete')} puts it back", "muted")
        elif text := self._desk.write(policies_of((entry,))):
            self.write(Typing(entry), text)
        else:
            tell("no", "it cannot be written in one line; tui-crawler rules apply FILE changes it", "muted")

    def write(self, typing: Typing, text: str) -> None:
        """Opens the line for an entry; one that is being typed there already stays."""
        line = self._line
        if line.display and line.purpose == RULE:
            self._screen.query_one("#entry-input").focus()
            return
        self._bench.typing = typing
        line.open(RULE, "new:" if typing.edits is None else "edit:", text, ENTRY_HINT)
        self.read(text)

    def read(self, text: str) -> None:
        """Takes what is typed into the draft for the time being, if it is an entry."""
        typing = replace(self._bench.typing or Typing(), read=self._desk.read(text) if text.strip() else None)
        self._bench.typing = typing
        self._screen.count_impact()
        heading = "New entry" if typing.edits is None else "Edited entry"
        self._screen.show_info(heading, typed_lines(text, typing.read, typing.edits))

    def keep(self, text: str) -> None:
        """Enter: the entry is in the draft; one that is wrong stays in the line."""
        typing, draft = self._bench.typing or Typing(), self._bench.draft
        if not text.strip():
            self.drop()
        elif isinstance(typing.read, RulesetChange) and draft is not None:
            self._bench.typing = None
            self._line.close()
            made = typing.put_into(draft)
            self._screen.hold(replace(made, returns_to=0) if made != draft else draft, to_new=True)

    def drop(self) -> None:
        """Esc: what was typed is not in the draft."""
        self._bench.typing = None
        self._line.close()
        self._screen.focus_main()
        self._screen.hold(self._bench.renewed())

    def open_test(self, text: str) -> None:
        """Opens the line for a URL."""
        if not self.comes_first():
            self._line.open(URL, "test:", text, URL_HINT)
            self.test(text)

    def test(self, text: str) -> None:
        """Shows what the draft says of a URL."""
        draft = self._bench.candidate
        policies = with_exclusions(draft.policies if draft is not None else EMPTY, self._bench.added)
        judged = judge(text, policies) if text.strip() else None
        self._screen.show_info("What the draft says", judged_lines(judged))


_STAYS = frozenset({"view.freeze", "view.problems", "view.export"})
_GOES = frozenset({"app.quit", "nav.last", "nav.earlier", "nav.later"})
_OPENING = (RULE, URL, EXCLUDE)
_STILL = frozenset({"nav.back", "rules.apply", "journal.undo", "journal.redo", "rules.exclude"})
"""What is not done to a draft on its way, beside every action on entries and all that leaves it."""


class RuleEditorScreen(WaitingScreen):
    """Entries at the left, the impact at the right, what is typed below."""

    WHERE = Where.rule_draft
    HERE = frozenset({"nav.open", "origin.add", "view.freeze"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.rule_draft)]
    AUTO_FOCUS = "#draft-entries"
    OPENS = frozenset({"rule.add", "rule.edit", "rules.exclude"})

    def __init__(self, desk: RulesDesk, job: str, start: Start) -> None:
        """`job` empty: that of the newest run."""
        super().__init__()
        self._desk = desk
        self.bench = RuleBench(job)
        self._start: Start | None = start
        self._rows: dict[Hashable, DraftRow] = {}
        self._writers: dict[object, object] = {}
        self._typing = RuleTyping(self, desk, self.bench)
        self._applying = Applying(self)
        self._exclusions = ExclusionEntry(self, lambda: self.bench.added, self._show_exclusion)

    def body(self) -> Iterable[Widget]:
        """Entries, impact, and the entry under the cursor or the one that is typed."""
        self._entries = CrawlTable(ENTRY_COLUMNS, placeholder="no rules", id="draft-entries", classes="pane")
        self._impact = Lines(id="draft-impact", classes="pane")
        self._counting = Counting(self, self._desk, self._impact)
        self._info = Lines(id="rules-info", classes="pane")
        self._info.can_focus = False
        yield Vertical(Horizontal(self._entries, self._impact, id="rules-upper"), self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes; the counting begins, which has a thread of its own."""
        self.hold(None)

    def on_unmount(self) -> None:
        """Ends the threads."""
        self._counting.close()
        self._exclusions.close()

    # what is shown

    def wants(self) -> Wants:
        """The rules in force; of a draft that undoes the version it began with, the action that wrote that."""
        draft = self.bench.draft
        if draft is None or not draft.undoes_base:
            return Wants(parts=(RulesPart(),))
        return Wants(parts=(RulesPart(), WriterPart(draft.base.job, draft.base.ruleset_id)))

    def take(self, shot: Snapshot) -> None:
        """Begins the draft; later notes whether another version is in force meanwhile."""
        in_force, bench = shot.parts.get(RulesPart()), self.bench
        self._writers |= {key: one for key, one in shot.parts.items() if isinstance(key, WriterPart)}
        if not isinstance(in_force, RulesInForce) or in_force == bench.in_force:
            return
        before, excluded = bench.overtaken, bench.added
        bench.in_force = in_force
        if self._settle():
            return
        start, self._start = self._start, None if bench.now is not None else self._start
        draft = bench.renewed(start.base if start is not None else None)
        if draft is not None and start is not None:
            self._begin(draft, start)
        else:
            self.hold(draft)
            if excluded != bench.added:
                self.count_impact(anew=True)
        newer = bench.overtaken
        if newer is not None and newer != before and not self._applying.under_way:
            self.console.tell("rules", f"ruleset {newer.ruleset_id} by {newer.who} is in force now", "warning")
        if draft is None:
            self.console.drop_keys()
        self.console.let_keys_go_on()

    @property
    def waiting(self) -> bool:
        """Whether keys wait: for an action, or for the draft to begin."""
        return super().waiting or (self._start is not None and self.bench.in_force is None)

    @property
    def waits_for(self) -> str:
        """What an action waits for, in words."""
        if self._applying.under_way:
            return "the draft is on its way"
        return "the rules are still being read" if self.bench.in_force is None else "the impact is still being counted"

    def lacks(self, action_id: str) -> bool:
        """Nothing is done to a draft on its way, and none is applied before it is known what it does now."""
        if self._applying.under_way:
            return action_id.startswith("rule.") or action_id in _STILL or _leaves(action_id)
        bench, line = self.bench, self.query_one(EntryLine)
        counts = bench.dirty and bench.overtaken is None and not (line.display and line.purpose == RULE)
        return action_id == "rules.apply" and counts and not self._counting.is_fresh

    def postpone(self, action_id: str, argument: str) -> bool:
        """Lets an action wait; for applying, what became known since the last count is counted."""
        waits = super().postpone(action_id, argument)
        if waits and action_id == "rules.apply":
            self._counting.freshen()
        return waits

    def give_up(self) -> None:
        """Esc: what waits is not done; a draft that has not begun is left."""
        super().give_up()
        if self.waiting:
            self._leave()

    def tick(self) -> None:
        """What was handed in is not waited for without end."""
        self._applying.tick()
        self._counting.tick()
        super().tick()

    def heard(self, *, refused: bool) -> None:
        """Something became of the draft that was handed in. What waited for it is done, unless it was to apply it."""
        if refused:
            self.do_postponed(lambda action_id: action_id not in _STILL or action_id in {"nav.back", "rules.exclude"})
        elif not self._settle():
            self.go_on()
        self.show_standing()

    def _settle(self) -> bool:
        """Leaves, if the version in force has what was handed in; whoever does something here meanwhile stays, with a
        new draft of that version."""
        bench = self.bench
        if bench.now is None or not self._applying.settled(bench.now):
            return False
        if self.console.screen is self and not self.waiting and not self.query_one(EntryLine).display:
            self._leave()
        else:
            self.hold(RuleDraft(bench.now, bench.now.policies))
            self.go_on()
        return True

    def _begin(self, draft: RuleDraft, start: Start) -> None:
        back = start.brings_back
        self.hold(draft if back is None else draft.brought_back(back, start.history))
        self.console.read_soon()
        if start.does:
            self._entries.move_cursor(key=start.at)
            self.do(start.does)
        elif start.types and self.console.screen is self:
            self._typing.write(Typing(), start.typed)

    def hold(self, draft: RuleDraft | None, *, to_new: bool = False) -> None:
        """The draft is another one: shown, and its impact counted; `to_new`: the cursor goes to what is new in it."""
        known = set(self._rows)
        self.bench.hold(draft)
        rows = draft.rows() if draft is not None else ()
        self._rows = {row.entry.key: row for row in rows}
        lines = [*(entry_row(row) for row in rows), *operator_rows(self.bench.added)]
        columns, lines = without_empty(ENTRY_COLUMNS, lines)
        if columns != self._entries.columns:
            self._entries.set_columns(columns)
        self._entries.set_rows(lines)
        new = next((key for key in self._rows if key not in known), None) if to_new else None
        if new is not None:
            self._entries.move_cursor(key=new)
        title(self._entries, draft_heading(draft))
        self.count_impact()
        self.show_standing()
        self.tell_footer()

    def count_impact(self, *, anew: bool = False) -> None:
        """Counts the impact of the draft with what is being typed."""
        self._counting.count(self.bench.changing, anew=anew)

    def show_standing(self) -> None:
        """Shows the entry under the cursor, or how the draft stands."""
        line = self.query_one(EntryLine)
        if line.display and line.purpose in _OPENING:
            return
        title(self._info, "Entry")
        newer, draft = self.bench.overtaken, self.bench.draft
        if self.bench.in_force is not None and draft is None:
            self._info.show(no_rules_lines())
        elif self._applying.under_way:
            self._info.show(under_way_lines())
        elif newer is not None and draft is not None and self.bench.dirty:
            self._info.show(overtaken_lines(newer, draft.rebased(newer), self.key_names))
        else:
            self._info.show(entry_lines(self._entry(), self._rows.get(self._entries.cursor_key)))

    # what is selected

    @property
    def drafted(self) -> PolicySet | None:
        """All that would decide if the draft were applied now; None while it changes nothing."""
        return self.bench.drafted

    @property
    def impact(self) -> ImpactNews | None:
        """What is known of the impact of the draft."""
        return self._counting.news

    def _entry(self) -> Entry | Exclusion | None:
        key = self._entries.cursor_key
        row = self._rows.get(key)
        return row.entry if row is not None else selected_exclusion(key, self.bench.added)

    def situation(self) -> Situation:
        """What can be drafted and applied."""
        entry = isinstance(self._entry(), Entry)
        bench = self.bench
        return Situation(Where.rule_draft, rules=bench.draft is not None, entry=entry, draft=bench.dirty)

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Rules", "draft")

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen. Whatever leaves it asks first when something is drafted."""
        match action_id:
            case "nav.open":
                self._typing.edit(self._entry())
            case "rule.add":
                self._typing.write(Typing(), argument)
            case "rule.edit":
                self._typing.edit(self._entry())
            case "rule.delete" | "rule.up" | "rule.down":
                self._change(action_id)
            case "rules.apply":
                self._apply()
            case "rules.exclude":
                self._exclude(argument)
            case "rules.test":
                self._typing.open_test(argument)
            case "nav.back" if self.focused is self._impact:
                self._entries.focus()
            case "nav.back":
                self._ask_to_leave("")
            case _ if _leaves(action_id) and self.bench.dirty:
                self._ask_to_leave(action_id)
            case _:
                return False
        return True

    def _change(self, action_id: str) -> None:
        """Takes the entry out or in again, or moves it: of rules that match the last one wins."""
        entry, draft = self._entry(), self.bench.draft
        if draft is None or not isinstance(entry, Entry):
            return
        if action_id == "rule.delete":
            self.hold(replace(draft.toggled(entry.key), returns_to=0))
            return
        by = -1 if action_id == "rule.up" else 1
        if stays := draft.stays(entry.key, by):
            self.console.tell("no", self.key_names.said(stays), "muted")
            return
        self.hold(replace(draft.moved(entry.key, by), returns_to=0))
        self._entries.move_cursor(key=entry.key)

    def _apply(self) -> None:
        """Applies the draft; one that another version has overtaken is offered to be carried over to that."""
        draft, newer = self.bench.draft, self.bench.overtaken
        if draft is None or self._typing.comes_first():
            return
        if newer is not None:
            self._applying.offer(draft, newer)
            return
        writer = self._writers.get(WriterPart(draft.base.job, draft.base.ruleset_id), 0)
        self._applying.apply(draft, self.impact, writer if draft.undoes_base and isinstance(writer, int) else 0)

    def _exclude(self, text: str) -> None:
        """Opens the line for the operators' list: what is put there holds at once, beside the draft."""
        if not self._typing.comes_first():
            self._exclusions.open(text)

    def _show_exclusion(self, lines: list[Line]) -> None:
        self.show_info("Exclude, at once and beside the draft", lines)

    def show_info(self, heading: str, lines: list[Line]) -> None:
        """Shows what is typed, in place of the entry under the cursor."""
        title(self._info, heading)
        self._info.show(lines)

    def _ask_to_leave(self, then: str) -> None:
        """Leaves, and does `then` if it is an action; asks when something is drafted that no version has."""
        draft = self.bench.draft
        if draft is None or not self.bench.dirty or self.bench.moot:
            self._leave()
            return

        def answered(chosen: object) -> None:
            if isinstance(chosen, Intent):
                self._leave()
                if then:
                    self.console.dispatcher.do(then)

        discard = Intent((), "discard the draft")
        text = f"Entries of it: {counted_changes(draft.changes)}. That would be lost."
        question = Question("Discard the draft?", text, (("Discard", discard),), "{rules.apply} applies it instead.")
        self.console.push_screen(ConfirmScreen(question), answered)

    def _leave(self) -> None:
        self.bench.hold(None)
        if self.console.screen is self:
            self.console.pop_screen()

    # messages

    def on_entry_line_changed(self, event: EntryLine.Changed) -> None:
        """Counts, or judges, as one types."""
        if event.purpose == RULE:
            self._typing.read(event.text)
        elif event.purpose == EXCLUDE:
            self._exclusions.typed(event.text)
        elif event.purpose == URL:
            self._typing.test(event.text)

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Keeps the entry, or the answer."""
        if event.purpose == RULE:
            self._typing.keep(event.text)
        elif event.purpose == EXCLUDE:
            self._exclusions.entered(event.text)
        elif event.purpose == URL:
            self._entries.focus()

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        """Takes back what was typed."""
        if event.purpose == EXCLUDE:
            self._exclusions.left()
        if event.purpose in _OPENING:
            self._typing.drop()

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        """Another entry."""
        self.show_standing()
        self.tell_footer()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Edits it."""
        event.table.focus()
        self.do("nav.open")


def _leaves(action_id: str) -> bool:
    """Whether an action goes elsewhere and leaves the draft behind."""
    return action_id in _GOES or (action_id.startswith("view.") and action_id not in _STAYS)
