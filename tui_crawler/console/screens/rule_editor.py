"""A draft of other rules: written entry by entry, its impact counted at once, nothing saved until it is applied."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.format import plural
from tui_crawler.console.impact_room import ImpactNews, ImpactRoom
from tui_crawler.console.intent import Intent, Question
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.rule_impact import (
    apply_question,
    impact_lines,
    impact_title,
    judge,
    judged_lines,
    must_type,
)
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
)
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.rule_bench import RuleBench, Start, Typing
from tui_crawler.console.rule_draft import Entry, RuleDraft, policies_of, with_exclusions
from tui_crawler.console.rule_parts import RulesInForce, RulesPart, WriterPart
from tui_crawler.console.screens.base import ConsoleScreen, title
from tui_crawler.console.screens.confirm import ConfirmScreen
from tui_crawler.console.screens.type_count import TypeCountScreen
from tui_crawler.domain.policy import EMPTY, PolicySet
from tui_crawler.domain.ruleset import RulesetChange

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tui_crawler.console.ports import RulesDesk
    from tui_crawler.domain.exclusion import Exclusion

ENTRY_HINT = "skip: /calendar/ · exclusion: host: a.example · do_not_crawl: path: {prefix: /x/} · query: allow: [page]"
URL_HINT = "any URL: what the draft says of it"
_STAYS = frozenset({"view.freeze", "view.problems"})
_OPENING = ("rule", "url")


class RuleEditorScreen(ConsoleScreen):
    """Entries at the left, the impact at the right, what is typed below."""

    WHERE = Where.rule_draft
    HERE = frozenset({"origin.add", "view.freeze", "view.failures", "view.urls", "view.logs", "view.stats"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.rule_draft)]
    AUTO_FOCUS = "#draft-entries"

    class Counted(Message):
        """The impact of a draft is known, or known further."""

        def __init__(self, news: ImpactNews) -> None:
            super().__init__()
            self.news = news

    def __init__(self, desk: RulesDesk, job: str, start: Start) -> None:
        """`job` empty: that of the newest run."""
        super().__init__()
        self._desk = desk
        self._bench = RuleBench(job)
        self._start: Start | None = start
        self._by_key: dict[Hashable, Entry] = {}
        self._writers: dict[object, object] = {}
        self._asked: RuleDraft | None = None
        self._news: ImpactNews | None = None
        self._handed_in = False
        self._room = ImpactRoom(desk, self._deliver)

    def body(self) -> Iterable[Widget]:
        """Entries, impact, and the entry under the cursor or the one that is typed."""
        self._entries = CrawlTable(ENTRY_COLUMNS, placeholder="no rules", id="draft-entries", classes="pane")
        self._impact = Lines(id="draft-impact", classes="pane")
        self._info = Lines(id="rules-info", classes="pane")
        self._info.can_focus = False
        yield Vertical(Horizontal(self._entries, self._impact, id="rules-upper"), self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes; the counting has a thread of its own."""
        self._set(None)
        self.run_worker(self._room.run, name="impact", group="impact", thread=True, exit_on_error=False)

    def on_unmount(self) -> None:
        """Ends the thread."""
        self._room.close()

    def _deliver(self, news: ImpactNews) -> None:
        with suppress(RuntimeError):  # the screen's loop has ended
            self.post_message(self.Counted(news))

    # what is shown

    def wants(self) -> Wants:
        """The rules in force; of a draft that undoes the version it began with, the action that wrote that."""
        draft = self._bench.draft
        if draft is None or not draft.undoes_base:
            return Wants(parts=(RulesPart(),))
        return Wants(parts=(RulesPart(), WriterPart(draft.base.job, draft.base.ruleset_id)))

    def take(self, shot: Snapshot) -> None:
        """Begins the draft; later notes whether another version is in force meanwhile."""
        in_force, bench = shot.parts.get(RulesPart()), self._bench
        self._writers |= {key: one for key, one in shot.parts.items() if isinstance(key, WriterPart)}
        if not isinstance(in_force, RulesInForce) or in_force == bench.in_force:
            return
        before, bench.in_force = bench.overtaken, in_force
        if self._handed_in and bench.holds:
            self._leave()
            return
        start, self._start = self._start, None if bench.now is not None else self._start
        draft = bench.renewed(start.base if start is not None else None)
        if draft is not None and start is not None:
            self._begin(draft, start)
        else:
            self._set(draft)
        newer = bench.overtaken
        if newer is not None and newer != before:
            self.console.tell("rules", f"version {newer.ruleset_id} of {newer.who} is in force now", "warning")

    def _begin(self, draft: RuleDraft, start: Start) -> None:
        self._set(draft if start.brings_back is None else draft.brought_back(start.brings_back))
        self.console.read_soon()
        if start.does:
            self._entries.move_cursor(key=start.at)
            self.do(start.does)
        elif start.types and self.console.screen is self:
            self._write(Typing(), start.typed)

    def _set(self, draft: RuleDraft | None) -> None:
        """The draft is another one: shown, and its impact counted."""
        self._bench.hold(draft)
        rows = draft.rows() if draft is not None else ()
        self._by_key = {row.entry.key: row.entry for row in rows}
        self._entries.set_rows([*(entry_row(row) for row in rows), *operator_rows(self._bench.added)])
        title(self._entries, draft_heading(draft))
        self._count()
        self._show_entry()
        self.tell_footer()

    def _count(self) -> None:
        """Counts the impact of the draft with what is being typed."""
        wanted = self._bench.changing
        if wanted is None or wanted != self._asked:
            self._asked, self._news = wanted, None
            if wanted is not None:
                self._room.ask(wanted)
        self._show_impact()

    def _show_impact(self) -> None:
        title(self._impact, impact_title(self._news))
        self._impact.show(impact_lines(self._asked is not None, self._news))

    def _show_entry(self) -> None:
        line = self.query_one(EntryLine)
        if line.display and line.purpose in _OPENING:
            return
        title(self._info, "Entry")
        newer, draft = self._bench.overtaken, self._bench.draft
        if self._bench.in_force is not None and draft is None:
            self._info.show(no_rules_lines())
        elif newer is not None and draft is not None:
            self._info.show(overtaken_lines(draft, newer))
        else:
            self._info.show(entry_lines(self._entry()))

    def on_rule_editor_screen_counted(self, message: Counted) -> None:
        """Shows the impact, unless it is that of an earlier draft."""
        if message.news.draft is self._asked:
            self._news = message.news
            self._show_impact()

    # what is selected

    @property
    def drafted(self) -> PolicySet | None:
        """All that would decide if the draft were applied now; None while it changes nothing."""
        return self._bench.drafted

    def _entry(self) -> Entry | Exclusion | None:
        key = self._entries.cursor_key
        return self._by_key.get(key) or selected_exclusion(key, self._bench.added)

    def situation(self) -> Situation:
        """What can be drafted and applied."""
        entry = isinstance(self._entry(), Entry)
        bench = self._bench
        return Situation(Where.rule_draft, rules=bench.draft is not None, entry=entry, draft=bench.dirty)

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Rules", "draft")

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen. Whatever leaves it asks first when something is drafted."""
        leaves = action_id == "app.quit" or (action_id.startswith("view.") and action_id not in _STAYS)
        match action_id:
            case "nav.open":
                (self._impact if self.focused is self._entries else self._entries).focus()
            case "rule.add":
                self._write(Typing(), argument)
            case "rule.edit":
                self._edit()
            case "rule.delete":
                entry, draft = self._entry(), self._bench.draft
                if draft is not None and isinstance(entry, Entry):
                    self._set(replace(draft.toggled(entry.key), returns_to=0))
            case "rule.up" | "rule.down":
                self._move(-1 if action_id == "rule.up" else 1)
            case "rules.apply":
                self._apply()
            case "rules.test":
                self.query_one(EntryLine).open("url", "test:", argument, URL_HINT)
                self._test(argument)
            case "nav.back" if self.focused is self._impact:
                self._entries.focus()
            case "nav.back":
                self._ask_to_leave("")
            case _ if leaves and self._bench.dirty:
                self._ask_to_leave(action_id)
            case _:
                return False
        return True

    def _move(self, by: int) -> None:
        """Moves the entry: of rules that match the last one wins."""
        entry, draft = self._entry(), self._bench.draft
        if draft is not None and isinstance(entry, Entry):
            moved = draft.moved(entry.key, by)
            if moved == draft:
                self.console.tell("no", "it is at the end of its section, or not in the draft", "muted")
                return
            self._set(replace(moved, returns_to=0))
            self._entries.move_cursor(key=entry.key)

    def _edit(self) -> None:
        """Opens the line with the selected entry as it is now."""
        entry, draft = self._entry(), self._bench.draft
        if draft is None or not isinstance(entry, Entry):
            return
        if not draft.has(entry.key):
            self.console.tell("no", "it is taken out of the draft; D puts it back", "muted")
        elif text := self._desk.write(policies_of((entry,))):
            self._write(Typing(entry), text)
        else:
            told = "it cannot be written in one line; tui-crawler rules apply FILE changes it"
            self.console.tell("no", told, "muted")

    def _write(self, typing: Typing, text: str) -> None:
        """Opens the line for an entry; one that is being typed there already stays."""
        line = self.query_one(EntryLine)
        if line.display and line.purpose == "rule":
            self.query_one("#entry-input").focus()
            return
        self._bench.typing = typing
        line.open("rule", "new:" if typing.edits is None else "edit:", text, ENTRY_HINT)
        self._read(text)

    def _read(self, text: str) -> None:
        """Takes what is typed into the draft for the time being, if it is an entry."""
        typing = replace(self._bench.typing or Typing(), read=self._desk.read(text) if text.strip() else None)
        self._bench.typing = typing
        self._count()
        title(self._info, "New entry" if typing.edits is None else "Edited entry")
        self._info.show(typed_lines(text, typing.read, typing.edits))

    def _test(self, text: str) -> None:
        draft = self._bench.candidate
        policies = with_exclusions(draft.policies if draft is not None else EMPTY, self._bench.added)
        title(self._info, "What the draft says")
        self._info.show(judged_lines(judge(text, policies) if text.strip() else None))

    def _keep(self, text: str) -> None:
        """Enter: the entry is in the draft; one that is wrong stays in the line."""
        typing, draft = self._bench.typing or Typing(), self._bench.draft
        if not text.strip():
            self._drop()
        elif not isinstance(typing.read, RulesetChange):
            self._write(typing, text)
        elif draft is not None:
            known, self._bench.typing = set(self._by_key), None
            self._entries.focus()
            made = typing.put_into(draft)
            self._set(replace(made, returns_to=0) if made != draft else draft)
            new = next((key for key in self._by_key if key not in known), None)
            if new is not None:
                self._entries.move_cursor(key=new)

    def _drop(self) -> None:
        """Esc: what was typed is not in the draft."""
        self._bench.typing = None
        self._entries.focus()
        self._set(self._bench.renewed())

    def _apply(self) -> None:
        """Applies the draft; asks first when that blocks much or a seed."""
        draft, news = self._bench.draft, self._news
        if draft is None:
            return
        if news is None or (news.preview is None and not news.error):
            self.console.tell("no", "the impact is still being counted", "muted")
            return
        writer = self._writers.get(WriterPart(draft.base.job, draft.base.ruleset_id), 0)
        intent = draft.intent(writer if draft.undoes_base and isinstance(writer, int) else 0)
        question = apply_question(intent, news)
        if question is None:
            self._hand_in(intent)
            return
        number = must_type(news)
        dialog = TypeCountScreen(question, number) if number else ConfirmScreen(question)
        self.console.push_screen(dialog, self._hand_in)

    def _hand_in(self, chosen: object) -> None:
        if isinstance(chosen, Intent):
            self._handed_in = True
            self.console.wishes.carry_out(chosen)

    def _ask_to_leave(self, then: str) -> None:
        """Leaves, and does `then` if it is an action; asks when something is drafted."""
        draft = self._bench.draft
        if draft is None or not self._bench.dirty:
            self._leave()
            return

        def answered(chosen: object) -> None:
            if isinstance(chosen, Intent):
                self._leave()
                if then:
                    self.console.dispatcher.do(then)

        changes = plural(len(draft.lines), "change")
        discard = Intent((), "discard the draft")
        question = Question("Discard the draft?", f"{changes} would be lost. A applies them.", (("Discard", discard),))
        self.console.push_screen(ConfirmScreen(question), answered)

    def _leave(self) -> None:
        self._bench.hold(None)
        if self.console.screen is self:
            self.console.pop_screen()

    # messages

    def on_entry_line_changed(self, event: EntryLine.Changed) -> None:
        """Counts, or judges, as one types."""
        if event.purpose == "rule":
            self._read(event.text)
        elif event.purpose == "url":
            self._test(event.text)

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Keeps the entry, or the answer."""
        if event.purpose == "rule":
            self._keep(event.text)
        elif event.purpose == "url":
            self._entries.focus()

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        """Takes back what was typed."""
        if event.purpose in _OPENING:
            self._drop()

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        """Another entry."""
        self._show_entry()
        self.tell_footer()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Goes to the impact."""
        event.table.focus()
        self._impact.focus()
