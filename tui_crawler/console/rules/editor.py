"""A draft of other rules: a text that is edited, its impact counted as one types, nothing saved until it is applied."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from textual import events
from textual.app import SuspendNotSupported
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.handlers import handles
from tui_crawler.console.operator.intent import Confirmation, Intent
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.line import Paragraph
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.ports import RuleQueries
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.reading.refresh import Snapshot
from tui_crawler.console.rules.applying import Applying
from tui_crawler.console.rules.draft import FROM_VERSION, DraftSession, RuleDraft, Start, counted_changes
from tui_crawler.console.rules.editor_program import EditedText, edited_text, editor_program
from tui_crawler.console.rules.entries import Entry
from tui_crawler.console.rules.impact import Counting
from tui_crawler.console.rules.impact_lines import age_words, impact_lines
from tui_crawler.console.rules.queries import RULES, RulesInForce, writer_of
from tui_crawler.console.rules.reading_screen import RuleReadingScreen
from tui_crawler.console.rules.rows import NO_RULES, entry_lines, overtaken_lines
from tui_crawler.console.rules.rule_area import RuleArea
from tui_crawler.console.screen.base import title
from tui_crawler.domain.rules.policy import EMPTY, PolicySet
from tui_crawler.text.cells import Cell, Styled
from tui_crawler.text.format import plural

_PAUSE_S, _LONGEST_PAUSE_S, _CHARACTERS_A_SECOND = 0.15, 1.0, 400_000
"""How long a text rests before it is read: the longer it is, the longer that takes."""


_STAYS = frozenset({"view.freeze", "view.problems", "view.export"})
_GOES = frozenset({"app.quit", "nav.last", "nav.earlier", "nav.later"})
_STILL = frozenset({"nav.back", "rules.apply", "rules.editor", "journal.undo", "journal.redo", "rules.exclude"})
"""What is not done to a draft on its way, besides every action on entries and all that leaves it."""
_TEXT_KEYS = (("text.undo", "ctrl+z", "undo"), ("text.redo", "ctrl+y", "redo"))
"""What the footer names of the text's own keys while it has the focus."""


class RuleEditorScreen(RuleReadingScreen):
    """The text at the left, the impact at the right, the entry under the cursor or what is wrong below.

    In the text all keys type; esc goes to the impact, where they act.
    """

    WHERE = Where.rule_draft
    CRUMBS = ("Rules", "draft")
    HERE = frozenset({"nav.open", "origin.add", "view.freeze"})
    AUTO_FOCUS = "#draft-impact"
    OPENS = frozenset({"rules.exclude"})

    JUDGES = "the draft says"
    EXCLUDES = "Exclude, at once and independent of the draft"

    def __init__(self, rule_queries: RuleQueries, job: str, start: Start) -> None:
        """`job` empty: that of the newest run."""
        super().__init__()
        self.writer = PaneReading(self._ask_writer)  # of the action that applying the draft takes back
        self.reads = (self._counts, self.writer)
        self.session = DraftSession(job)
        self._start: Start | None = start
        self._applying = Applying(self)
        self.counting = Counting(self, rule_queries, self._count_heard)
        self._found = 0

    def body(self) -> Iterable[Widget]:
        """Text, impact, and what is said of the line under the cursor."""
        self._text = RuleArea(lambda: self.console.do("rules.editor"), id="draft-text", classes="pane")
        self._impact = Lines(id="draft-impact", classes="pane")
        yield Vertical(Horizontal(self._text, self._impact, id="rules-upper"), self._info, id="body")

    def on_mount(self) -> None:
        """Name the panes."""
        self._show_impact()
        self.show_entry()

    @property
    def in_force(self) -> RulesInForce | None:
        return self.session.in_force

    @property
    def judging(self) -> PolicySet:
        drafted, draft = self.session.drafted, self.session.draft
        if drafted is not None or draft is None:
            return drafted or EMPTY
        return draft.base.policies.with_exclusions(self.added)

    def _ask_writer(self) -> Ask[int] | None:
        draft = self.session.draft
        return writer_of(draft.base.job, draft.base.ruleset_id) if draft and self.session.undoes_base else None

    def wants(self) -> tuple[Ask[Any], ...]:
        """The rules in force and what they refused; of a draft that undoes its base, the action that wrote that."""
        return (*super().wants(), RULES)  # not what view 4 asks for first: that would be no news

    def take(self, shot: Snapshot) -> None:
        """Begin the draft; later notice whether another version is in force."""
        super().take(shot)
        in_force, session = RULES.found_in(shot), self.session
        if in_force is None or in_force == session.in_force:
            return
        before, excluded = session.overtaken, session.added
        session.in_force = in_force
        if self._settle():
            return
        if self._start is not None or not session.dirty:
            self.begin(self._start or FROM_VERSION)
        elif excluded != session.added:
            self._count(at_once=True)
        newer = session.overtaken
        if newer is not None and newer != before and not self._applying.under_way:
            self.console.tell("rules", f"ruleset {newer.ruleset_id} by {newer.who} is in force now", "warning")
        self.show_entry()
        self.let_keys_go_on(kept=session.draft is not None)

    @property
    def waiting(self) -> bool:
        """Whether keys wait: for an action, or for the draft to begin."""
        return super().waiting or (self._start is not None and self.session.in_force is None)

    @property
    def waits_for(self) -> str:
        if self._applying.under_way:
            return "the draft is being applied"
        unread = self.session.in_force is None
        return "the rules are still being read" if unread else "the impact is still being counted"

    def lacks(self, action_id: str) -> bool:
        """Nothing is done to a draft on its way, and none is applied before it is known what it does now."""
        if self._applying.under_way:
            return action_id.startswith("rule.") or action_id in _STILL or _leaves(action_id)
        counts = self.session.dirty and self.session.overtaken is None
        return action_id == "rules.apply" and counts and not self.counting.is_fresh

    def postpone(self, action_id: str, argument: str) -> bool:
        """Let an action wait; for applying, what became known since the last count is counted."""
        waits = super().postpone(action_id, argument)
        if waits and action_id == "rules.apply":
            self.counting.freshen()
        return waits

    def give_up(self) -> None:
        """Esc: what waits is not done; a draft that has not begun is left."""
        super().give_up()
        if self.waiting:
            self._close()

    def tick(self) -> None:
        """What was handed in is not waited for without end."""
        self._applying.tick()
        self.counting.follow()
        self._show_impact_title()
        super().tick()

    def heard(self, *, refused: bool) -> None:
        """Something became of the draft that was handed in. What waited for it is done, unless it was to apply it."""
        self.show_entry()
        if refused:
            self.do_postponed(lambda action_id: action_id not in _STILL or action_id in {"nav.back", "rules.exclude"})
        elif not self._settle():
            self.go_on()
        self.show_entry()

    def _settle(self) -> bool:
        """Leave, if the version in force has what was handed in; who does something here meanwhile stays, with a new
        draft of that version."""
        if self.session.now is None or not self._applying.settled(self.session.now):
            return False
        if self.app.screen is self and not self.waiting and not self.query_one(EntryLine).display:
            self._close()
        else:
            self.begin()
            self.go_on()
        return True

    def begin(self, start: Start = FROM_VERSION) -> None:
        """Show what a draft begins with. A complete change is looked at first, anything else is typed."""
        first, self._start = self._start is not None, None
        cursor = self.session.begin(start)
        if cursor is None or self.session.draft is None:
            return
        self._text.put(self.session.draft.text, cursor if first else self._text.cursor_location)
        self._taken(at_once=True)
        self.console.read_soon()
        if first and start.lines is None and not self.query_one(EntryLine).display:
            self.set_focus(self._text)

    def _taken(self, *, at_once: bool = False) -> None:
        if self.session.draft != self.counting.asked:
            self._count(at_once=at_once)
        self._show_impact()
        self.show_entry()
        self.tell_footer()

    def _count(self, *, at_once: bool) -> None:
        if (draft := self.session.draft) is not None:
            wait_s = 0 if at_once else min(_PAUSE_S + len(draft.text) / _CHARACTERS_A_SECOND, _LONGEST_PAUSE_S)
            self.counting.ask(draft, wait_s)

    def _count_heard(self) -> None:
        news = self.counting.news
        if news is None:
            return
        if news.reading is not None and self.session.reading is not news.reading:
            self.session.take_reading(news.reading)
            self._text.mark_wrong(frozenset(one.line - 1 for one in news.reading.problems))
            self.show_entry()
            self.tell_footer()
            self.console.read_soon()
        if news.over:
            self._found = self._discovered
        self._show_impact()
        if news.over:
            self.go_on()

    @property
    def _discovered(self) -> int:
        return sum(view.discovered for view in self.console.live_state.origins.values())

    def _show_impact(self) -> None:
        self._show_impact_title()
        self._impact.show(impact_lines(self.session.dirty, self.counting.news, self.key_names))

    def _show_impact_title(self) -> None:
        heading, age, news = "Impact", "", self.counting.news
        if news is not None and news.preview is not None:
            heading = f"Impact on {plural(news.preview.known, 'known URL')}"
        if news is not None and news.over and not news.counts_nothing:
            ago_ms = self.console.clock.mono_ms() - news.timing.ended
            age = age_words(ago_ms, self._discovered - self._found)
        if self.has_class("-narrow"):  # a pane has no lower border there
            heading, age = f"{heading} · {age}" if age else heading, ""
        title(self._impact, heading, age)

    def show_rules(self) -> None:
        """How often entries refused a URL is shown of the one under the cursor alone."""
        self.show_entry()

    def show_entry(self) -> None:
        """Show the entry under the cursor, or how the draft stands."""
        session, problems = self.session, self.session.last_reading.problems
        self._text.read_only = self._applying.under_way
        draft, newer = session.draft, session.overtaken
        if draft is None:
            title(self._text, "Draft")
        else:
            changes = counted_changes(session.last_reading.changes) or "nothing changed yet"
            words = plural(len(problems), "error") if problems else changes
            title(self._text, f"Draft · job {draft.base.job} · from ruleset {draft.base.ruleset_id} · {words}")
        if self.query_one(EntryLine).tells:
            return
        if self._applying.under_way:
            words = "  further actions wait for it"
            self.show_info("Entry", [Styled("◷ the draft is being applied", "waiting"), Styled(words, "muted")])
        elif session.in_force is not None and draft is None:
            self.show_info("Entry", NO_RULES)
        elif newer is not None and session.dirty:
            self.show_info("Another version", overtaken_lines(newer, session.moot, self.key_names))
        elif problems:
            lines = [Paragraph(f"✗ line {one.line}: {one.words}", "error", indent=2) for one in problems]
            self.show_info(plural(len(problems), "error"), lines)
        else:
            entry = session.last_reading.entry_at(self._text.cursor_location[0] + 1)
            self.show_info("Entry", self._entry_lines(entry, draft) if entry and draft else [])

    def _entry_lines(self, entry: Entry, draft: RuleDraft) -> list[Cell]:
        hits = self.hits(draft.base)
        if hits is not None and entry.key not in hits:
            return entry_lines(entry, Styled("new in this draft", "muted"))
        return entry_lines(entry, self.hits_line(entry, draft.base))

    def situation(self) -> Situation:
        session = self.session
        known = session.draft is not None
        return Situation(Where.rule_draft, rules=known, entry=known, draft=session.dirty)

    def perform(self, action_id: str, typed: str, now: Situation) -> bool:
        """As everywhere; but whatever leaves it asks first when something is drafted."""
        if _leaves(action_id) and self.session.dirty:
            self._ask_to_leave(action_id)
            return True
        return super().perform(action_id, typed, now)

    def footer_keys(self) -> Sequence[tuple[str, str, str]]:
        """The keys of the text while it has the focus: it takes all others as text."""
        if self.focused is not self._text:
            return super().footer_keys()
        names = (("rules.apply", "apply"), ("nav.back", "done"), ("help.pane", "help"))
        apply, done, helps = ((action_id, self.key_names(action_id), label) for action_id, label in names)
        return (apply, done, *_TEXT_KEYS, helps)

    @handles("rule.edit")
    def open_selected(self) -> None:
        """Go into the text."""
        self.set_focus(self._text)

    @handles("rules.editor")
    def _open_editor(self) -> None:
        tell, program, draft = self.console.tell, editor_program(os.environ), self.session.draft
        if not program:
            tell("no", "set VISUAL or EDITOR to the editor of your choice", "warning")
        elif draft is not None and not self._applying.under_way:
            edited = EditedText(problem="there is no terminal for an editor")
            with suppress(SuspendNotSupported), self.app.suspend():
                edited = edited_text(draft.text, program)
            if edited.problem:
                tell("no", f"{edited.problem}; the draft is unchanged", "warning")
            else:
                self._text.replace(plain_text(edited.text), (0, 0), self._text.document.end)

    @handles("rules.apply")
    def _apply(self) -> None:
        """Apply the draft; one that another version has overtaken is offered to be merged with that."""
        draft, newer = self.session.draft, self.session.overtaken
        if draft is not None and newer is not None:
            self._applying.offer(draft, newer)
        elif draft is not None:
            self._applying.apply(draft, self.counting.news)

    def leave(self) -> None:
        """From the text to the impact; from there away, after asking when something is drafted."""
        if self.focused is self._text:
            self.set_focus(self._impact)
        else:
            self._ask_to_leave("")

    def _ask_to_leave(self, then: str) -> None:
        """Leave, and do `then` if it is an action; ask when something is drafted that no version has."""
        session = self.session
        if session.draft is None or not session.dirty or session.moot:
            self._close()
            return

        def answered(chosen: object) -> None:
            if isinstance(chosen, Intent):
                self._close()
                if then:
                    self.console.do(then)

        changes = counted_changes(session.reading.changes) if session.reading is not None else ""
        discard = Intent((), "discard the draft")
        text = f"Entries of it: {changes}. That would be lost." if changes else "Your changes would be lost."
        note = "{rules.apply} applies it instead."
        question = Confirmation("Discard the draft?", text, (("Discard", discard),), note)
        self.app.push_screen(ConfirmScreen(question), answered)

    def _close(self) -> None:
        self.session.draft = self.session.reading = None
        if self.app.screen is self:
            self.app.pop_screen()

    def on_text_area_changed(self) -> None:
        """Something was typed."""
        if self.session.draft is not None and self._text.text != self.session.draft.text:
            self.session.write(self._text.text)
            self._taken()

    def on_text_area_selection_changed(self) -> None:
        self.show_entry()

    def on_descendant_focus(self, _event: events.DescendantFocus) -> None:
        """Other keys act where the focus is now."""
        self.tell_footer()


def _leaves(action_id: str) -> bool:
    return action_id in _GOES or (action_id.startswith("view.") and action_id not in _STAYS)
