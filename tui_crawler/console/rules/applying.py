"""A draft on its way: asked about, handed in, accepted or refused, and carried over to a version that came meanwhile.

While it is on its way nothing else is done to it: what is asked for waits until something is known (`WaitingScreen`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.operator.intent import Confirmation, Intent
from tui_crawler.console.operator.journal import IntentOutcome
from tui_crawler.console.panes.typing_line import PlainInput
from tui_crawler.console.rules.draft import Start, apply_intent, note_of
from tui_crawler.console.rules.impact import has_outgrown
from tui_crawler.console.rules.impact_lines import apply_question, impact_words, must_type
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.console.screen.lifetime import is_ready
from tui_crawler.domain.rules.ruleset import same_rules
from tui_crawler.text.format import count, plural
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.console.operator.journal import News
    from tui_crawler.console.rules.draft import RuleDraft
    from tui_crawler.console.rules.editor import RuleEditorScreen
    from tui_crawler.console.rules.impact import ImpactNews
    from tui_crawler.domain.rules.policy import PolicySet
    from tui_crawler.domain.rules.ruleset import Ruleset


class TypeCountScreen(Dialog):
    """Gives the intent of the question's only option, or None."""

    def __init__(self, question: Confirmation, number: int) -> None:
        """`number` is what has to be typed, with or without spaces."""
        super().__init__()
        self._question, self._number = question, number

    def compose(self) -> ComposeResult:
        """What is asked, and where the number is typed."""
        question = self._question
        with dialog_box(safe(question.title, 120), "enter: do it · esc: leave"):
            yield Static(Content(safe(question.text, 600)), classes="dialog-text")
            if question.note:
                yield Static(Content(safe(self.key_names.said(question.note), 600)), classes="dialog-note")
            yield Static(Content(f"Type {count(self._number)} to continue:"), id="count-label")
            yield PlainInput(id="count", compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Goes on with the right number; says so with another one."""
        event.stop()
        if "".join(event.value.split()) == str(self._number):
            self.dismiss(self._question.options[0][1])
        else:
            self.query_one("#count-label", Static).update(Content(f"That is not {count(self._number)}; type it:"))


_PATIENT_TICKS = 20
"""So many ticks (of half a second) the version of a draft that was accepted is waited for."""


class Applying:
    """The applying of the drafts of one editor, one after the other."""

    def __init__(self, screen: RuleEditorScreen) -> None:
        self._screen = screen
        self._handed_in: tuple[RuleDraft, PolicySet] | None = None
        self._noted = False  # no engine took it up in time: it is not waited for, though its version may come
        self._version: int | None = None  # what an engine wrote; 0: not known yet; None: none has accepted it
        self._ticks = 0

    @property
    def under_way(self) -> bool:
        """Whether a draft is on its way and must not change."""
        return self._handed_in is not None and not self._noted

    def apply(self, draft: RuleDraft, news: ImpactNews | None) -> None:
        """Hand a draft in; ask first when it blocks much or a seed."""
        console, session = self._screen.console, self._screen.session
        if news is None or not news.over or news.reading is None:
            console.tell("no", "the impact is still being counted", "muted")
            return
        if news.reading.problems:
            first = news.reading.problems[0]
            console.tell("no", f"line {first.line}: {first.words}", "warning")
            return
        policies, back = news.reading.policies, session.returns_to
        note = f"back to version {back}" if back else note_of(news.reading.changes)
        intent = replace(
            apply_intent(draft.base, policies, note, self._screen.writer.value or 0), note=impact_words(news)
        )
        question = apply_question(intent, news, console.clock.zone)

        def answered(chosen: object) -> None:
            if not isinstance(chosen, Intent) or self.under_way or session.draft != draft:
                return
            newer, latest = session.overtaken, self._screen.counting.news
            if newer is not None:
                self.offer(draft, newer)
            elif latest is not None and has_outgrown(news, latest):
                self.apply(draft, latest)
            else:
                self._handed_in, self._noted, self._version, self._ticks = (draft, policies), False, None, 0
                console.command_queue.carry_out(chosen, self._heard)
                self._screen.show_entry()

        if question is None:
            answered(intent)
            return
        number = must_type(news)
        self._screen.app.push_screen(TypeCountScreen(question, number) if number else ConfirmScreen(question), answered)

    def offer(self, draft: RuleDraft, newer: Ruleset) -> None:
        """Ask whether the draft is to be merged with a newer version; nothing is applied by that."""
        if draft.is_in(newer):
            self._screen.begin()
            self._screen.console.tell("rules", f"ruleset {newer.ruleset_id} says what the draft says", "muted")
            return
        merged = draft.merged(newer)
        merges = Intent((), f"merge the draft with ruleset {newer.ruleset_id}")
        question = Confirmation(
            f"Merge the draft with ruleset {newer.ruleset_id} by {newer.who}?",
            f"Both changed the same lines in {plural(merged.conflicts, 'place')}: they are marked in the text, and one "
            "side has to go."
            if merged.conflicts
            else f"Ruleset {newer.ruleset_id} changed other lines than the draft: both changes are kept.",
            (("Merge", merges),),
            "Not applied yet: the impact is counted again, then {rules.apply} applies it.",
        )

        def answered(chosen: object) -> None:
            if isinstance(chosen, Intent) and self._screen.session.draft == draft:
                self._screen.begin(Start(newer, merged.lines))

        self._screen.app.push_screen(ConfirmScreen(question), answered)

    def settled(self, now: Ruleset) -> bool:
        """Return whether the version in force has the draft that was handed in, or says the same. Told once; not of one
        that was changed since it was handed in, which no version has."""
        session = self._screen.session
        if self._handed_in is None:
            reading = session.reading
            if not session.moot or reading is None or not same_rules(now.policies, reading.policies):
                return False
            words = f"ruleset {now.ruleset_id} says what the draft said: it has ended"
            self._screen.console.tell("rules", words, "muted")
            return True
        draft, policies = self._handed_in
        if self._version is None:  # not before something is known of it: undoing it needs that
            seen = self._noted and same_rules(now.policies, policies)
        else:  # an engine may have written nothing, or not say yet what
            seen = now.ruleset_id >= (self._version or draft.base.ruleset_id + 1)
        if seen:
            self._handed_in = None
        return seen and session.draft == draft

    def tick(self) -> None:
        """Twice a second: an accepted draft is not waited for without end."""
        self._ticks += self.under_way
        if self._handed_in is not None and self._version is not None and self._ticks > _PATIENT_TICKS:
            self._noted, self._version = True, None
            self._screen.go_on()

    def _heard(self, news: News) -> None:
        if self._handed_in is None:
            return
        match news.outcome:
            case IntentOutcome.written | IntentOutcome.locked:
                pass
            case IntentOutcome.done:
                versions = (json.loads(one.after or "{}").get("rulesets", {}) for one in news.results)
                job = self._handed_in[0].base.job
                self._noted, self._version = False, next((int(one[job]) for one in versions if job in one), 0)
            case IntentOutcome.waiting:
                self._noted, self._version = True, None
            case _:
                self._handed_in = None
        self._screen.console.read_soon()
        if is_ready(self._screen):
            self._screen.heard(refused=self._handed_in is None)
