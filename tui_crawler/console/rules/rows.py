"""Rulesets as rows and lines: the entries of one, an entry whole, the history, what two versions differ in. Pure."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING

from tui_crawler.console.panes.line import Line, Paragraph, fact
from tui_crawler.console.rules.entries import Entry, added_entries, entries_of
from tui_crawler.console.rules.rule_hits import RuleHits, without_entry
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import EMPTY, PolicySet
from tui_crawler.domain.rules.ruleset import Ruleset, Section, bare_entry, sections_of
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import compact, count, date_time, plural
from tui_crawler.text.rules_text import excluded_lines, is_entry, rules_difference, rules_lines

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.domain.records.page_view import RefusalCounts


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A line of the rules, and how often its entry, if it has one, has refused a URL; None: that is not counted."""

    row: int
    key: Hashable
    text: str
    entry: Entry | None
    fired: Cell = ""
    count: int | None = None


TOKENS = re.compile(
    r"""(?P<muted>(?:^|(?<=\s))\#.*)|(?P<ok>'[^']*'|"(?:\\.|[^"\\])*")|(?P<accent>[A-Za-z_]+(?=:(?:\s|$)))"""
)
"""Comments, quoted texts and keys, by the role of their colour."""


def painted(line: str) -> tuple[Styled, ...]:
    """Return a line of YAML in colours."""
    pieces, end = [], 0
    for found in TOKENS.finditer(line):
        pieces += [Styled(line[end : found.start()]), Styled(found[0], found.lastgroup or "")]
        end = found.end()
    return (*pieces, Styled(line[end:]))


RULE_LINES: Relation[RuleLine] = Relation(
    key=lambda line: line.key,
    nothing="no rules",
    source=lambda _: None,
    columns=(
        Column("fired", "HITS", shown.by_record(attrgetter("fired")), 7, 1, "right", 6, value=attrgetter("count"),
               opens="what it refused"),
        Column("text", "RULES", shown.by_value(painted), None, 0, min_width=34),
    ),
)  # fmt: skip
VERSIONS: Relation[Ruleset] = Relation(
    key=lambda one: one.ruleset_id,
    nothing="no versions",
    source=lambda _: None,
    columns=(
        Column("version", "RULESET", shown.plain("strong"), 7, 0, "right", value=lambda one: one.ruleset_id),
        Column("state", "", shown.plain("ok"), 10, 2, value=lambda one: "✓ in force" if one.current else ""),
        Column("at", "WHEN", lambda at, _, moment: Styled(date_time(at, moment.zone)[:16], "muted"), 16, 1),
        Column("who", "WHO", shown.plain(), 13, 4, min_width=8),
        Column("note", "NOTE", shown.plain("muted"), None, 3, min_width=12),
    ),
)

_MEANINGS: dict[Section, str] = {
    "do_not_crawl": "Matching URLs are never requested.",
    "url_query_parameters": "Which parameters a URL with a query may have; what no query policy allows is refused.",
    "rules": "Settings for the URLs in which the pattern is found; of several that match the last one wins.",
    "exclusions": "Overrides everything, also for redirects and robots.txt.",
    "whitelist": "Domains join the crawl when they are linked; with patterns, every URL must match one.",
}
Hits = Mapping[Hashable, RuleHits | None]
"""What the log says of each entry, by its key, and of each added exclusion, by its place."""


def rule_lines(policies: PolicySet, added: tuple[Exclusion, ...], hits: Hits | None, whole: bool) -> list[RuleLine]:
    """Return the rules with what operators `added` to every version. `hits` None: not counted yet; `whole`: in the
    whole log."""
    entries = iter((*entries_of(policies), *added_entries(added)))
    lines = []
    for row, text in enumerate(
        (*rules_lines(policies), *(line.replace("#  ", "✎  ", 1) for line in excluded_lines(added)))
    ):
        if not is_entry(text.removeprefix("✎")):
            lines.append(RuleLine(row, text, text, None))
            continue
        entry = next(entries)
        one = hits.get(entry.key) if hits is not None else None
        fired = Styled("…", "faint") if hits is None else _hits_cell(one, whole)
        lines.append(RuleLine(row, entry.key, text, entry, fired, one.count if one is not None else None))
    return lines


def _hits_cell(one: RuleHits | None, whole: bool) -> Cell:
    if one is None:
        return Styled("-", "faint")
    if one.count:
        return Styled(count(one.count), "strong", short=compact(one.count))
    if one.links:
        return Styled("links", "strong")
    if one.links_in_all:
        return Styled("?", "faint")
    return Styled("∅ never" if whole else "∅ 0", "warning", short="∅")


def rule_hits_line(fired: RuleHits | None, counted: RefusalCounts | None, zone: tzinfo, *, query: bool) -> Cell:
    """What the log says of the entry under the cursor; `query`: it is a query policy."""
    if counted is None:
        return Styled("counting how often it refused a URL…", "muted")
    if fired is None:
        if query:
            words = "several entries have this place; the log does not show which of them refused"
            return Styled(words, "muted")
        return Styled("how often it decided is not in the log: only what is refused is logged", "muted")
    whole = counted.looked_at >= counted.known
    of = "" if whole else f" among the newest {count(counted.looked_at)} of {plural(counted.known, 'attempt')}"
    more = without_entry(counted) if query else 0
    about = f" · {plural(more, 'URL')} without an entry" if more else ""
    about += f" · estimated from samples with {plural(fired.others, 'other')} of its place" if fired.others else ""
    links = f"{plural(fired.links_in_all, 'link')} refused by entries of its kind, not counted one by one"
    if not fired.count and fired.links:
        return (Styled("refused links", "strong"), Styled(f" ({links}), for example ", "muted"), fired.sample_url)
    if not fired.count and fired.links_in_all:
        return Styled(f"refused nothing that was tried{of}; {links}", "muted")
    if not fired.count:
        return (Styled("∅ no hits", "warning"), Styled(f"{of}{about}", "muted"))
    first, last = fired.first_ruleset, fired.last_ruleset
    by = f"ruleset {last}" if first == last else f"rulesets {first}–{last}"
    return (
        Styled(plural(fired.count, "hit"), "strong"),
        Styled(f"{of}, last {date_time(fired.last_at, zone)} by {by}{about}: ", "muted"),
        fired.sample_url,
    )


def entry_lines(entry: Entry, hits: Cell, since: str = "") -> list[Cell]:
    """Return the words of an entry, its `hits`, where and `since` when it is written, what its section means."""
    words, why = entry.line.text, ""
    if isinstance(one := entry.value, Exclusion):
        words = f"{one.kind} {one.value}"
        why = " · ".join(part for part in (one.reason, f"by {one.who}" if one.who else "") if part)
    held = Styled("Added by an operator, independent of the rulesets: it applies with every version.  ", "paused")
    facts = " · ".join(part for part in (entry.line.source, since) if part)
    written = held if entry.added else Styled(f"{facts}  " if facts else "", "faint")
    return [
        (Styled(words, "strong"), f"  {why}" if why else ""),
        hits,
        (written, Styled(_MEANINGS[entry.line.section], "muted")),
    ]


def difference_lines(one: Ruleset, before: Ruleset | None) -> list[Line]:
    """What a version says otherwise than the one before it (None: it is the first, or the one before is unknown)."""
    head: list[Line] = [fact("by", Styled(one.who, "strong")), fact("note", one.note), ""]
    if before is None and one.parent_id:
        return [*head, Styled(f"made from ruleset {one.parent_id}, which is not in this list", "muted")]
    if before is None:
        return [*head, Styled("The first ruleset:", "muted"), *_diff_lines(None, one)]
    return [*head, *_diff_lines(before, one)]


def comparison_lines(older: Ruleset, newer: Ruleset) -> list[Line]:
    """What two versions differ in, whatever lies between them."""
    return [
        fact("from", Styled(f"ruleset {older.ruleset_id}", "strong"), Styled(f"  {older.who}", "muted")),
        fact("to", Styled(f"ruleset {newer.ruleset_id}", "strong"), Styled(f"  {newer.who}", "muted")),
        "",
        *_diff_lines(older, newer),
    ]


_DIFF_ROLES = {"+": "ok", "-": "error", "@": "accent"}


def _diff_lines(before: Ruleset | None, after: Ruleset) -> list[Line]:
    lines = rules_difference(before.policies if before is not None else EMPTY, after.policies)
    same = f"The same as ruleset {before.ruleset_id}." if before is not None else "It is empty."
    return [Styled(line, _DIFF_ROLES.get(line[0], "muted")) for line in lines] or [Styled(same, "muted")]


def overtaken_lines(newer: Ruleset, moot: bool, keys: KeyNames) -> list[Line]:
    """Another version is in force than the one the draft began with; `moot`: it has all that the draft changed."""
    merges = f"{keys('rules.apply')} merges the draft with it, line by line"
    return [
        Styled(f"⚠ ruleset {newer.ruleset_id} by {newer.who} is in force now", "warning"),
        Styled(f"  it says what the draft says; {keys('nav.back')} leaves" if moot else f"  {merges}", "muted"),
    ]


NO_RULES: Sequence[Line] = (Paragraph("No ruleset yet: the first run writes one from the configuration.", "muted"),)
"""What is shown while there is no version."""


def since_words(entry: Entry, line: Sequence[Ruleset], zone: tzinfo) -> str:
    """Return which version brought an entry in; empty for one that operators added. `line`: the version in force and
    those before it, each made of the next one, as far as they are known."""
    if entry.added:
        return ""

    def has(one: Ruleset) -> bool:
        return entry.key[1] in map(bare_entry, dict(sections_of(one.policies))[entry.line.section])

    with_it = [*takewhile(has, line)]
    if not with_it or (len(with_it) == len(line) and line[-1].parent_id):
        return "longer than the versions that are shown"
    since = with_it[-1]
    return f"since ruleset {since.ruleset_id} by {since.who}, {date_time(since.at, zone)[:16]}"
