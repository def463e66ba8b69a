"""A draft of other rules: written entry by entry, its impact counted at once, nothing saved until it is applied."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.handlers import handles, handles_typed
from tui_crawler.console.keys import only_at
from tui_crawler.console.operator.intent import Confirmation, Intent
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.refresh import Snapshot
from tui_crawler.console.rules.applying import Applying
from tui_crawler.console.rules.draft import (
    DraftRow,
    DraftSession,
    Entry,
    RuleDraft,
    Start,
    Typing,
    policies_of,
    with_exclusions,
)
from tui_crawler.console.rules.exclusions import ExclusionEntry
from tui_crawler.console.rules.impact import Extent, ImpactNews, impact_counter
from tui_crawler.console.rules.impact_lines import age_words, impact_lines, judge, judged_lines
from tui_crawler.console.rules.queries import RULES, writer_of
from tui_crawler.console.rules.rows import (
    ENTRIES,
    draft_heading,
    entry_line,
    entry_lines,
    no_rules_lines,
    operator_lines,
    overtaken_lines,
    selected_exclusion,
    typed_lines,
    under_way_lines,
    without_empty,
)
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.waiting import WaitingScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import EMPTY
from tui_crawler.domain.ruleset import RulesetChange
from tui_crawler.text.cells import Present
from tui_crawler.text.format import plural
from tui_crawler.text.rule_words import counted_changes

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.console.ports import RuleQueries


class Counting:
    """The counting for one editor; `news` is what is known of what was asked for last."""

    def __init__(self, screen: RuleEditorScreen, rule_queries: RuleQueries, pane: Lines) -> None:
        self._screen, self._pane = screen, pane
        self._asked: RuleDraft | None = None
        self.news: ImpactNews | None = None
        self._under_way = False
        self._found = 0
        self._impact_counter = impact_counter(screen, rule_queries, self._heard)
        self._begun = False

    def close(self) -> None:
        """Ends the thread."""
        self._impact_counter.close()

    def count(self, wanted: RuleDraft | None, *, anew: bool = False) -> None:
        """Counts the impact of a draft, None: there is none; `anew`: though it is the one that was counted last. The
        thread begins with the first."""
        if not self._begun:
            self._begun = True
            run = self._impact_counter.run
            self._screen.run_worker(run, name="impact", group="impact", thread=True, exit_on_error=False)
        if anew or wanted is None or wanted != self._asked:
            self._asked, self.news, self._under_way = wanted, None, False
            if wanted is None:
                self._impact_counter.ask(())
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
            self._impact_counter.ask(self._asked, extent)

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
        return sum(view.discovered for view in self._screen.console.live_state.origins.values())

    def _show(self) -> None:
        self._show_title()
        self._pane.show(impact_lines(self._asked is not None, self.news, self._screen.key_names))

    def _show_title(self) -> None:
        heading, age = "Impact", ""
        if self.news is not None and self.news.preview is not None:
            heading = f"Impact on {plural(self.news.preview.known, 'known URL')}"
        if self.news is not None and self.news.over:
            ago_ms = self._screen.console.clock.mono_ms() - self.news.timing.ended
            age = age_words(ago_ms, self._discovered() - self._found)
        if self._screen.has_class("-narrow"):  # a pane has no lower border there
            heading, age = f"{heading} · {age}" if age else heading, ""
        title(self._pane, heading, age)


ENTRY_HINT = "skip: /calendar/ · exclusion: host: a.example · do_not_crawl: path: {prefix: /x/} · query: allow: [page]"
URL_HINT = "any URL: what the draft says of it"


class RuleTyping:
    """The line of one editor. What is typed counts as drafted while it is an entry, and is in the draft after enter."""

    def __init__(self, screen: RuleEditorScreen, rule_queries: RuleQueries, session: DraftSession) -> None:
        self._screen, self._rule_queries, self._session = screen, rule_queries, session
        self.use = EntryUse("rule", self.keep, self.read, self.drop, judged=True)
        """What the line is open for while an entry is typed."""

    @property
    def _line(self) -> EntryLine:
        return self._screen.query_one(EntryLine)

    def comes_first(self) -> bool:
        """Whether an entry is being typed, which is to be ended before something else begins; says so."""
        if not self._line.serves(self.use):
            return False
        self._screen.console.tell("no", "an entry is being written: enter keeps it, esc drops it", "muted")
        self._screen.query_one("#entry-input").focus()
        return True

    def edit(self, entry: object) -> None:
        """Opens the line with an entry as it is now."""
        draft, tell, keys = self._session.draft, self._screen.console.tell, self._screen.key_names
        if isinstance(entry, Exclusion):
            words = "it stands on the operators' exclusion list: {rule.delete} in the Rules view takes it off"
            tell("no", keys.said(words), "muted")
        if draft is None or not isinstance(entry, Entry):
            return
        if not draft.has(entry.key):
            tell("no", f"it is taken out of the draft; {keys('rule.delete')} puts it back", "muted")
        elif text := self._rule_queries.write(policies_of((entry,))):
            self.write(Typing(entry), text)
        else:
            tell("no", "it cannot be written in one line; tui-crawler rules apply FILE changes it", "muted")

    def write(self, typing: Typing, text: str) -> None:
        """Opens the line for an entry; one that is being typed there already stays."""
        line = self._line
        if line.serves(self.use):
            self._screen.query_one("#entry-input").focus()
            return
        self._session.typing = typing
        line.open(self.use, "new:" if typing.edits is None else "edit:", text, ENTRY_HINT)
        self.read(text)

    def read(self, text: str) -> None:
        """Takes what is typed into the draft for the time being, if it is an entry."""
        typing = replace(self._session.typing or Typing(), read=self._rule_queries.read(text) if text.strip() else None)
        self._session.typing = typing
        self._screen.count_impact()
        heading = "New entry" if typing.edits is None else "Edited entry"
        self._screen.show_info(heading, typed_lines(text, typing.read, typing.edits))

    def keep(self, text: str) -> None:
        """Enter: the entry is in the draft; one that is wrong stays in the line."""
        typing, draft = self._session.typing or Typing(), self._session.draft
        if not text.strip():
            self.drop()
        elif isinstance(typing.read, RulesetChange) and draft is not None:
            self._session.typing = None
            self._line.close()
            made = typing.put_into(draft)
            self._screen.hold(replace(made, returns_to=0) if made != draft else draft, to_new=True)

    def drop(self) -> None:
        """Esc: what was typed is not in the draft."""
        self._session.typing = None
        self._line.close()
        self._screen.focus_main()
        self._screen.hold(self._session.renewed())

    def open_test(self, text: str) -> None:
        """Opens the line for a URL."""
        if not self.comes_first():
            use = EntryUse("url", lambda _: self._screen.focus_main(), self.test, self.drop)
            self._line.open(use, "test:", text, URL_HINT)
            self.test(text)

    def test(self, text: str) -> None:
        """Shows what the draft says of a URL."""
        draft = self._session.candidate
        policies = with_exclusions(draft.policies if draft is not None else EMPTY, self._session.added)
        judged = judge(text, policies) if text.strip() else None
        self._screen.show_info("What the draft says", judged_lines(judged))


_STAYS = frozenset({"view.freeze", "view.problems", "view.export"})
_GOES = frozenset({"app.quit", "nav.last", "nav.earlier", "nav.later"})
_STILL = frozenset({"nav.back", "rules.apply", "journal.undo", "journal.redo", "rules.exclude"})
"""What is not done to a draft on its way, beside every action on entries and all that leaves it."""


class RuleEditorScreen(WaitingScreen):
    """Entries at the left, the impact at the right, what is typed below."""

    WHERE = Where.rule_draft
    CRUMBS = ("Rules", "draft")
    HERE = frozenset({"nav.open", "origin.add", "view.freeze"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.rule_draft)]
    AUTO_FOCUS = "#draft-entries"
    OPENS = frozenset({"rule.add", "rule.edit", "rules.exclude"})

    def __init__(self, rule_queries: RuleQueries, job: str, start: Start) -> None:
        """`job` empty: that of the newest run."""
        super().__init__()
        self._rule_queries = rule_queries
        self.session = DraftSession(job)
        self._start: Start | None = start
        self._rows: dict[Hashable, DraftRow] = {}
        self._writers: dict[Ask[Any], Any] = {}
        self._typing = RuleTyping(self, rule_queries, self.session)
        self._applying = Applying(self)
        pane = "#rules-info", "Exclude, at once and beside the draft"
        self._exclusions = ExclusionEntry(self, lambda: self.session.added, pane, self._typing.drop)

    def body(self) -> Iterable[Widget]:
        """Entries, impact, and the entry under the cursor or the one that is typed."""
        self._entries = CrawlTable(ENTRIES, id="draft-entries", classes="pane")
        self._impact = Lines(id="draft-impact", classes="pane")
        self._counting = Counting(self, self._rule_queries, self._impact)
        self._info = Lines(id="rules-info", classes="pane", still=True)
        yield Vertical(Horizontal(self._entries, self._impact, id="rules-upper"), self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes; the counting begins, which has a thread of its own."""
        self.hold(None)

    def on_unmount(self) -> None:
        self._counting.close()
        self._exclusions.close()

    def wants(self) -> tuple[Ask[Any], ...]:
        """The rules in force; of a draft that undoes the version it began with, the action that wrote that."""
        draft = self.session.draft
        if draft is None or not draft.undoes_base:
            return (RULES,)
        return (RULES, writer_of(draft.base.job, draft.base.ruleset_id))

    def take(self, shot: Snapshot) -> None:
        """Begins the draft; later notes whether another version is in force meanwhile."""
        in_force, session = RULES.found_in(shot), self.session
        self._writers |= shot.parts
        if in_force is None or in_force == session.in_force:
            return
        before, excluded = session.overtaken, session.added
        session.in_force = in_force
        if self._settle():
            return
        start, self._start = self._start, None if session.now is not None else self._start
        draft = session.renewed(start.base if start is not None else None)
        if draft is not None and start is not None:
            self._begin(draft, start)
        else:
            self.hold(draft)
            if excluded != session.added:
                self.count_impact(anew=True)
        newer = session.overtaken
        if newer is not None and newer != before and not self._applying.under_way:
            self.console.tell("rules", f"ruleset {newer.ruleset_id} by {newer.who} is in force now", "warning")
        if draft is None:
            self.console.drop_keys()
        self.console.let_keys_go_on()

    @property
    def waiting(self) -> bool:
        """Whether keys wait: for an action, or for the draft to begin."""
        return super().waiting or (self._start is not None and self.session.in_force is None)

    @property
    def waits_for(self) -> str:
        if self._applying.under_way:
            return "the draft is on its way"
        unread = self.session.in_force is None
        return "the rules are still being read" if unread else "the impact is still being counted"

    def lacks(self, action_id: str) -> bool:
        """Nothing is done to a draft on its way, and none is applied before it is known what it does now."""
        if self._applying.under_way:
            return action_id.startswith("rule.") or action_id in _STILL or _leaves(action_id)
        session, line = self.session, self.query_one(EntryLine)
        counts = session.dirty and session.overtaken is None and not line.serves(self._typing.use)
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
            self._close()

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
        session = self.session
        if session.now is None or not self._applying.settled(session.now):
            return False
        if self.console.screen is self and not self.waiting and not self.query_one(EntryLine).display:
            self._close()
        else:
            self.hold(RuleDraft(session.now, session.now.policies))
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
        self.session.hold(draft)
        rows = draft.rows() if draft is not None else ()
        self._rows = {row.entry.key: row for row in rows}
        lines = [*(entry_line(row) for row in rows), *operator_lines(self.session.added)]
        columns = without_empty(ENTRIES.columns, lines)
        if columns != self._entries.columns:
            self._entries.set_relation(replace(ENTRIES, columns=columns))
        self._entries.fill(lines, Present())
        new = next((key for key in self._rows if key not in known), None) if to_new else None
        if new is not None:
            self._entries.move_cursor(key=new)
        title(self._entries, draft_heading(draft))
        self.count_impact()
        self.show_standing()
        self.tell_footer()

    def count_impact(self, *, anew: bool = False) -> None:
        """Counts the impact of the draft with what is being typed."""
        self._counting.count(self.session.changing, anew=anew)

    def show_standing(self) -> None:
        """Shows the entry under the cursor, or how the draft stands."""
        if self.query_one(EntryLine).tells:
            return
        title(self._info, "Entry")
        newer, draft = self.session.overtaken, self.session.draft
        if self.session.in_force is not None and draft is None:
            self._info.show(no_rules_lines())
        elif self._applying.under_way:
            self._info.show(under_way_lines())
        elif newer is not None and draft is not None and self.session.dirty:
            self._info.show(overtaken_lines(newer, draft.rebased(newer), self.key_names))
        else:
            self._info.show(entry_lines(self._entry(), self._rows.get(self._entries.cursor_key)))

    @property
    def impact(self) -> ImpactNews | None:
        """What is known of the impact of the draft."""
        return self._counting.news

    def _entry(self) -> Entry | Exclusion | None:
        key = self._entries.cursor_key
        row = self._rows.get(key)
        return row.entry if row is not None else selected_exclusion(key, self.session.added)

    def situation(self) -> Situation:
        entry = isinstance(self._entry(), Entry)
        session = self.session
        return Situation(Where.rule_draft, rules=session.draft is not None, entry=entry, draft=session.dirty)

    def perform(self, action_id: str, typed: str, now: Situation) -> bool:
        """As everywhere; but whatever leaves it asks first when something is drafted."""
        if _leaves(action_id) and self.session.dirty:
            self._ask_to_leave(action_id)
            return True
        return super().perform(action_id, typed, now)

    @handles("rule.edit")
    def open_selected(self) -> None:
        self._typing.edit(self._entry())

    @handles_typed("rule.add")
    def _add(self, text: str) -> None:
        self._typing.write(Typing(), text)

    @handles_typed("rules.test")
    def _open_test(self, text: str) -> None:
        self._typing.open_test(text)

    def leave(self) -> None:
        """The entries first; asks when something is drafted."""
        if self.focused is self._impact:
            self._entries.focus()
        else:
            self._ask_to_leave("")

    @handles("rule.delete")
    def _delete(self) -> None:
        entry, draft = self._entry(), self.session.draft
        if draft is not None and isinstance(entry, Entry):
            self.hold(replace(draft.toggled(entry.key), returns_to=0))

    @handles("rule.up", -1)
    @handles("rule.down", 1)
    def _move(self, by: int) -> None:
        """Moves the entry: of rules that match the last one wins."""
        entry, draft = self._entry(), self.session.draft
        if draft is None or not isinstance(entry, Entry):
            return
        if why_fixed := draft.why_fixed(entry.key, by):
            self.console.tell("no", self.key_names.said(why_fixed), "muted")
        else:
            self.hold(replace(draft.moved(entry.key, by), returns_to=0))
            self._entries.move_cursor(key=entry.key)

    @handles("rules.apply")
    def _apply(self) -> None:
        """Applies the draft; one that another version has overtaken is offered to be carried over to that."""
        draft, newer = self.session.draft, self.session.overtaken
        if draft is None or self._typing.comes_first():
            return
        if newer is not None:
            self._applying.offer(draft, newer)
            return
        writer = self._writers.get(writer_of(draft.base.job, draft.base.ruleset_id), 0)
        self._applying.apply(draft, self.impact, writer if draft.undoes_base and isinstance(writer, int) else 0)

    @handles_typed("rules.exclude")
    def _exclude(self, text: str) -> None:
        """Opens the line for the operators' list: what is put there holds at once, beside the draft."""
        if not self._typing.comes_first():
            self._exclusions.open(text)

    def show_info(self, heading: str, lines: list[Line]) -> None:
        """Shows what is typed, in place of the entry under the cursor."""
        title(self._info, heading)
        self._info.show(lines)

    def _ask_to_leave(self, then: str) -> None:
        """Leaves, and does `then` if it is an action; asks when something is drafted that no version has."""
        draft = self.session.draft
        if draft is None or not self.session.dirty or self.session.moot:
            self._close()
            return

        def answered(chosen: object) -> None:
            if isinstance(chosen, Intent):
                self._close()
                if then:
                    self.console.dispatcher.do(then)

        discard = Intent((), "discard the draft")
        text = f"Entries of it: {counted_changes(draft.changes)}. That would be lost."
        note = "{rules.apply} applies it instead."
        question = Confirmation("Discard the draft?", text, (("Discard", discard),), note)
        self.console.push_screen(ConfirmScreen(question), answered)

    def _close(self) -> None:
        self.session.hold(None)
        if self.console.screen is self:
            self.console.pop_screen()

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        self.show_standing()
        self.tell_footer()


def _leaves(action_id: str) -> bool:
    return action_id in _GOES or (action_id.startswith("view.") and action_id not in _STAYS)
