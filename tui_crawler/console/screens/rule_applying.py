"""A draft on its way: asked about, handed in, accepted or refused, and carried over to a version that came meanwhile.

While it is on its way nothing else is done to it: what is asked for waits until something is known (`WaitingScreen`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.console.impact_room import has_outgrown
from tui_crawler.console.intent import Intent, Question
from tui_crawler.console.present.rule_impact import apply_question, impact_words, must_type
from tui_crawler.console.present.rule_rows import carry_text, lost_words
from tui_crawler.console.rule_handover import Handover
from tui_crawler.console.screens.confirm import ConfirmScreen
from tui_crawler.console.screens.lifetime import stands
from tui_crawler.console.screens.type_count import TypeCountScreen

if TYPE_CHECKING:
    from tui_crawler.console.impact_room import ImpactNews
    from tui_crawler.console.journal_desk import News
    from tui_crawler.console.rule_draft import RuleDraft
    from tui_crawler.console.screens.rule_editor import RuleEditorScreen
    from tui_crawler.domain.ruleset import Ruleset

_PATIENT_TICKS = 20
"""So many ticks (of half a second) the version of a draft that was accepted is waited for."""


class Applying:
    """The applying of the drafts of one editor, one after the other."""

    def __init__(self, screen: RuleEditorScreen) -> None:
        """Nothing is on its way."""
        self._screen = screen
        self._handover: Handover | None = None
        self._ticks = 0

    @property
    def under_way(self) -> bool:
        """Whether a draft is on its way and must stand still."""
        return self._handover is not None and self._handover.under_way

    def apply(self, draft: RuleDraft, news: ImpactNews | None, takes_back: int) -> None:
        """Hands a draft in; asks first when it blocks much or a seed. `takes_back`: the action that it undoes."""
        console = self._screen.console
        if news is None or not news.over:
            console.tell("no", "the impact is still being counted", "muted")
            return
        intent = replace(draft.intent(takes_back), note=impact_words(news))
        question = apply_question(intent, news, console.clock.zone)

        def answered(chosen: object) -> None:
            if not isinstance(chosen, Intent) or self.under_way or self._screen.bench.draft is not draft:
                return
            newer, latest = self._screen.bench.overtaken, self._screen.impact
            if newer is not None:
                self.offer(draft, newer)
            elif latest is not None and has_outgrown(news, latest):
                self.apply(draft, latest, takes_back)
            else:
                self._handover, self._ticks = Handover(draft), 0
                console.wishes.carry_out(chosen, self._heard)
                self._screen.show_standing()

        if question is None:
            answered(intent)
            return
        number = must_type(news)
        console.push_screen(TypeCountScreen(question, number) if number else ConfirmScreen(question), answered)

    def offer(self, draft: RuleDraft, newer: Ruleset) -> None:
        """Asks whether the draft is to be carried over to a newer version; its impact is counted anew then."""
        console, rebased = self._screen.console, draft.rebased(newer)
        if not rebased.draft.dirty and rebased.lost:
            console.tell("no", f"nothing of the draft is left to be carried over: {lost_words(rebased)}", "warning")
            return
        if not rebased.draft.dirty:
            self._screen.hold(rebased.draft)
            console.tell("rules", f"ruleset {newer.ruleset_id} says what the draft says", "muted")
            return
        carry = Intent((), f"carry the draft over to ruleset {newer.ruleset_id}")
        question = Question(
            f"Carry the change over to ruleset {newer.ruleset_id} by {newer.who}?",
            carry_text(newer, rebased),
            (("Carry over", carry),),
            "Nothing is applied by that: the impact is counted anew, then {rules.apply} applies it.",
        )

        def answered(chosen: object) -> None:
            if isinstance(chosen, Intent) and self._screen.bench.draft is draft:
                self._screen.hold(rebased.draft)

        console.push_screen(ConfirmScreen(question), answered)

    def settled(self, now: Ruleset | None) -> bool:
        """Whether the version in force has the draft that was handed in, or says the same. Told once; not of one
        that was changed since it was handed in, which no version has."""
        handed_in = self._handover
        if handed_in is None and now is not None and self._screen.bench.moot and self._screen.bench.holds:
            words = f"ruleset {now.ruleset_id} says what the draft said: it has ended"
            self._screen.console.tell("rules", words, "muted")
            return True
        if handed_in is None or now is None or not handed_in.seen_in(now):
            return False
        self._handover = None
        return self._screen.bench.draft is handed_in.draft

    def tick(self) -> None:
        """Twice a second: an accepted draft is not waited for without end."""
        self._ticks += self.under_way
        if self._handover is not None and self._handover.accepted and self._ticks > _PATIENT_TICKS:
            self._handover = Handover(self._handover.draft, noted=True)
            self._screen.go_on()

    def _heard(self, news: News) -> None:
        """Something became of what was handed in."""
        if self._handover is None:
            return
        self._handover = self._handover.after(news)
        self._screen.console.read_soon()
        if stands(self._screen):
            self._screen.heard(refused=self._handover is None)
