"""A draft of other rules: a text that is to take the place of a version; what it says, and what it is worked on with.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.operator.commands import undo_note
from tui_crawler.console.operator.intent import Intent
from tui_crawler.console.rules.entries import Entry, entries_of, section_word
from tui_crawler.console.rules.merge import Merge, merge
from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.domain.rules.policy import EMPTY, PolicySet, QueryPolicy
from tui_crawler.domain.rules.ruleset import (
    Ruleset,
    RulesetChange,
    RulesetEntry,
    RulesetLine,
    RulesProblem,
    Section,
    bare_entry,
    difference,
    same_rules,
    to_json,
)
from tui_crawler.text.format import count
from tui_crawler.text.rules_text import bare_line, flow_scalar, is_entry, rules_lines
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.console.rules.queries import RulesInForce
    from tui_crawler.domain.rules.exclusion import Exclusion

SOURCE = "console"
"""What a version names as the place where an entry was written that is new in a draft."""
_LONGEST_NOTE = 200


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A text that is to take the place of the version `base`."""

    base: Ruleset
    text: str

    def merged(self, newer: Ruleset) -> Merge:
        """Return the text with what a newer version changed, as far as both did not change the same lines."""
        name = safe(f"ruleset {newer.ruleset_id} by {newer.who}", 80)
        return merge(rules_lines(self.base.policies), self.text.split("\n"), rules_lines(newer.policies), name)

    def is_in(self, newer: Ruleset) -> bool:
        """Whether a newer version has all that the text changed."""
        theirs = rules_lines(newer.policies)
        return [*map(bare_line, self.merged(newer).lines)] == [*map(bare_line, theirs)]


@dataclass(frozen=True, slots=True)
class DraftReading:
    """What the text of a draft says: `policies` and the `changes` to its base, or the `problems` in it.

    `entries` are those of the text, each with the line (from 1) it begins at; `same`: it says what the base says.
    """

    policies: PolicySet = EMPTY
    problems: tuple[RulesProblem, ...] = ()
    changes: tuple[RulesetLine, ...] = ()
    entries: tuple[tuple[int, Entry], ...] = ()
    same: bool = False

    def entry_at(self, line: int) -> Entry | None:
        """Return the entry that a line (from 1) of the text belongs to."""
        return next((entry for start, entry in reversed(self.entries) if start <= line), None)


def reading_of(draft: RuleDraft, read: RulesetChange | tuple[RulesProblem, ...]) -> DraftReading:
    """Return what a draft says; entries that its base has too were written where they were written there."""
    if not isinstance(read, RulesetChange):
        return DraftReading(problems=read)
    typed, base = read.applied_to(draft.base.policies), draft.base.policies
    sources = {(entry.line.section, bare_entry(entry.value)): entry.value for entry in entries_of(base)}

    def written(value: RulesetEntry, section: Section) -> RulesetEntry:
        return sources.get((section, bare_entry(value))) or replace(value, source=SOURCE)  # type: ignore[type-var]

    named: tuple[Section, ...] = ("do_not_crawl", "url_query_parameters", "rules", "exclusions")
    listed = {name: tuple(written(value, name) for value in getattr(typed, name)) for name in named}
    policies = replace(typed, **listed)  # type: ignore[arg-type]  # entries of each section
    entries = []
    for placed, entry in zip(entries_of(typed), entries_of(policies), strict=True):
        name, _, line = placed.line.source.rpartition(":")
        if name == SOURCE and line.isdecimal():
            entries.append((int(line), entry))
    in_order = tuple(sorted(entries, key=lambda one: one[0]))
    return DraftReading(policies, (), difference(base, policies), in_order, same_rules(base, policies))


def counted_changes(changes: Sequence[RulesetLine]) -> str:
    """Return how many entries differ: `2 added, 1 removed`; empty when none does."""
    added = sum(one.added for one in changes)
    numbers = (("added", added), ("removed", len(changes) - added))
    return ", ".join(f"{count(number)} {word}" for word, number in numbers if number)


def note_of(changes: Sequence[RulesetLine]) -> str:
    """Return what the history says of a draft."""
    texts = {(one.section, one.text) for one in changes}
    words = [f"{'+' if one.added else '−'} {section_word(one.section)} {one.text}" for one in changes]
    if len(changes) == 2 and len(texts) == 1:
        words = [f"moved {section_word(changes[0].section)} {changes[0].text}"]
    note = ", ".join(words) if len(words) <= 2 else counted_changes(changes)
    return note if len(note) <= _LONGEST_NOTE else note[: _LONGEST_NOTE - 1] + "…"


def apply_intent(base: Ruleset, policies: PolicySet, note: str, takes_back: int = 0) -> Intent:
    """Return the intent that puts rules in the place of a version; undoing it applies what that said.

    The version that undoing begins with is known only once it is written. `takes_back`: the id of the action that it
    undoes (0: none).
    """
    forth = ApplyRules(to_json(policies), base.ruleset_id, base.job, note)
    back = ApplyRules(to_json(base.policies), 0, base.job, undo_note(base.ruleset_id))
    return Intent((forth,), f"rules of {base.job}: {note}", (back,), (takes_back,) if takes_back else ())


@dataclass(frozen=True, slots=True)
class Start:
    """What a draft begins with. `base`: the version that was seen; None: the one in force.

    `lines` take its place at first, and the cursor goes to the next entry from line `row` (from 0) on. `rule` is to be
    written at the end of the rules, or of the query policies (`for_queries`), in two parts: the cursor goes between
    them. `says_something`: it is no mere beginning. `brings_back`: the version that `lines` are of.
    """

    base: Ruleset | None = None
    lines: Sequence[str] | None = None
    row: int = 0
    rule: tuple[str, str] = ("", "")
    for_queries: bool = False
    says_something: bool = True
    brings_back: Ruleset | None = None

    def lines_of(self, base: Ruleset) -> tuple[list[str], tuple[int, int]]:
        """Return the text and where its cursor is (line and column from 0)."""
        lines = [*(rules_lines(base.policies) if self.lines is None else self.lines)]
        if any(self.rule):
            after, dash = ("rules:", "    - ") if self.for_queries else ("exclusions:", "  - ")
            place = lines.index(after)
            lines.insert(place, f"{dash}{''.join(self.rule)}")
            return lines, (place, len(f"{dash}{self.rule[0]}"))
        rows = [row for row, line in enumerate(lines) if is_entry(line)]
        row = next((row for row in rows if row >= self.row), rows[-1] if rows else 0)
        return lines, (row, lines[row].find("- ") + 2 if rows else 0)


FROM_VERSION = Start()
"""With the version in force."""


def start_with_rule(pattern: str) -> Start:
    """Return the start of a rule that skips the URLs of a pattern; what is typed next continues it."""
    scalar = flow_scalar(pattern)
    quote = scalar[-1] if scalar[-1] in "'\"" else ""
    head = scalar[:-1] if quote else f"'{scalar}"
    return Start(rule=(f"{{match: {head}", f"{quote or chr(39)}, skip: true}}"), says_something=bool(pattern))


def start_with_policy(policy: QueryPolicy) -> Start:
    """Return the start of a policy that allows the queries of some URLs."""
    (line,) = filter(is_entry, rules_lines(PolicySet(url_query_parameters=(policy,))))
    return Start(rule=("", line.strip().removeprefix("- ")), for_queries=True)


class DraftSession:
    """Holds the draft of one job (`job` empty: that of the newest run)."""

    def __init__(self, job: str) -> None:
        self.job = job
        self.in_force: RulesInForce | None = None
        self.draft: RuleDraft | None = None
        self.reading: DraftReading | None = None
        """What the draft says; None: it is not read yet."""
        self.last_reading = DraftReading(same=True)
        """The same; what it said before, while it is not read yet."""
        self._untouched = ""
        self._brings_back: Ruleset | None = None

    @property
    def now(self) -> Ruleset | None:
        """The version in force."""
        return self.in_force.of(self.job) if self.in_force is not None else None

    @property
    def added(self) -> tuple[Exclusion, ...]:
        """The exclusions that operators added to every version."""
        return self.in_force.added if self.in_force is not None else ()

    def begin(self, start: Start) -> tuple[int, int] | None:
        """Begin with a version; return where the cursor is, or None while no version is known."""
        base = start.base or self.now
        if base is None:
            return None
        self.job, self._brings_back = base.job, start.brings_back
        lines, cursor = start.lines_of(base)
        text = "\n".join(lines)
        says_nothing = start.lines is None and not (any(start.rule) and start.says_something)
        self._untouched = text if says_nothing else "\n".join(rules_lines(base.policies))
        self.draft, self.reading = RuleDraft(base, text), None
        return cursor

    def write(self, text: str) -> None:
        """Take another text."""
        if self.draft is not None and text != self.draft.text:
            self.draft, self.reading = RuleDraft(self.draft.base, text), None

    def take_reading(self, reading: DraftReading) -> None:
        """Take what the draft says."""
        self.reading = self.last_reading = reading

    @property
    def dirty(self) -> bool:
        """Whether something is drafted, be it wrong."""
        if self.draft is None or self.draft.text == self._untouched:
            return False
        return self.reading is None or not self.reading.same

    @property
    def drafted(self) -> PolicySet | None:
        """All that would decide if the draft were applied now; None while it changes nothing."""
        reading = self.reading
        if not self.dirty or reading is None or reading.problems:
            return None
        return reading.policies.with_exclusions(self.added)

    @property
    def returns_to(self) -> int:
        """The id of the version that the draft brings back; 0: none."""
        back, reading = self._brings_back, self.reading
        if back is None or reading is None or not same_rules(back.policies, reading.policies):
            return 0
        return back.ruleset_id

    @property
    def undoes_base(self) -> bool:
        """Whether it brings back what held before its base."""
        return self.draft is not None and self.returns_to == self.draft.base.parent_id != 0

    @property
    def overtaken(self) -> Ruleset | None:
        """The version in force, if the draft began with another one."""
        now, draft = self.now, self.draft
        return now if now is not None and draft is not None and now.ruleset_id != draft.base.ruleset_id else None

    @property
    def moot(self) -> bool:
        """Whether a newer version has all that the draft changed."""
        newer, draft = self.overtaken, self.draft
        return newer is not None and draft is not None and self.dirty and draft.is_in(newer)
