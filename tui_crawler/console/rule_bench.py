"""The draft of the rules as it is worked on: what it began with, what is typed, what is in force meanwhile. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.rule_draft import Entry, RuleDraft, with_exclusions
from tui_crawler.domain.ruleset import Ruleset, RulesetChange, same_rules

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tui_crawler.console.rule_parts import RulesInForce
    from tui_crawler.domain.exclusion import Exclusion
    from tui_crawler.domain.policy import PolicySet


@dataclass(frozen=True, slots=True)
class Typing:
    """An entry as it is typed: `read` is what the text makes, or what is wrong with it (None: there is no text).

    `edits` is the entry of the draft that it takes the place of; None: it is a new one.
    """

    edits: Entry | None = None
    read: RulesetChange | str | None = None

    def put_into(self, draft: RuleDraft) -> RuleDraft:
        """The draft with what is typed; the same while that is no entry."""
        if not isinstance(self.read, RulesetChange):
            return draft
        return draft.added(self.read) if self.edits is None else draft.replaced(self.edits.key, self.read)


@dataclass(frozen=True, slots=True)
class Start:
    """What the draft begins with. `types`: the line for a new entry is open, with `typed` in it. `does`: the action
    that is done first, on the entry `at` of the version `base`. `history`: what led from a version that is brought back
    to the one in force."""

    typed: str = ""
    types: bool = False
    does: str = ""
    at: Hashable = None
    base: Ruleset | None = None
    brings_back: Ruleset | None = None
    history: tuple[Ruleset, ...] = ()


class RuleBench:
    """Holds the draft of one job (`job` empty: that of the newest run)."""

    def __init__(self, job: str) -> None:
        """Nothing is read and nothing drafted yet."""
        self.job = job
        self.in_force: RulesInForce | None = None
        self.draft: RuleDraft | None = None
        self.dirty = False
        self.typing: Typing | None = None

    @property
    def now(self) -> Ruleset | None:
        """The version in force."""
        return self.in_force.of(self.job) if self.in_force is not None else None

    @property
    def added(self) -> tuple[Exclusion, ...]:
        """The exclusions that operators added beside the rulesets."""
        return self.in_force.added if self.in_force is not None else ()

    def renewed(self, base: Ruleset | None = None) -> RuleDraft | None:
        """The draft to go on with. It begins with `base`, else with the version in force, and begins anew with a later
        one as long as nothing is drafted; an entry that is edited keeps the version it was read from."""
        now, draft = self.now, self.draft
        if now is None or self.dirty or (draft is not None and self.edited is not None):
            return draft
        self.job = now.job
        begun = base if base is not None and draft is None else now
        return RuleDraft(begun, begun.policies)

    def hold(self, draft: RuleDraft | None) -> None:
        """This is the draft from now on."""
        self.draft, self.dirty = draft, draft is not None and draft.dirty

    @property
    def edited(self) -> Entry | None:
        """The entry that is being edited."""
        return self.typing.edits if self.typing is not None else None

    @property
    def candidate(self) -> RuleDraft | None:
        """The draft with what is being typed."""
        draft, typing = self.draft, self.typing
        return draft if draft is None or typing is None else typing.put_into(draft)

    @property
    def changing(self) -> RuleDraft | None:
        """The candidate, None when it says what its base says."""
        one = self.candidate
        return one if one is not None and (self.dirty if one is self.draft else one.dirty) else None

    @property
    def drafted(self) -> PolicySet | None:
        """All that would decide if the draft were applied now; None while it changes nothing."""
        one = self.changing
        return None if one is None else with_exclusions(one.policies, self.added)

    @property
    def overtaken(self) -> Ruleset | None:
        """The version in force, if the draft began with another one."""
        now, draft = self.now, self.draft
        return now if now is not None and draft is not None and now.ruleset_id != draft.base.ruleset_id else None

    @property
    def moot(self) -> bool:
        """Whether a version that came meanwhile says all that the draft changed; not while an entry is typed."""
        newer, draft = self.overtaken, self.draft
        if newer is None or draft is None or self.typing is not None or not self.dirty:
            return False
        rebased = draft.rebased(newer)
        return not rebased.draft.dirty and not rebased.lost

    @property
    def holds(self) -> bool:
        """Whether the version in force says what the draft says."""
        now, draft = self.now, self.draft
        return now is not None and draft is not None and same_rules(now.policies, draft.policies)
