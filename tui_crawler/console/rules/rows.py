"""Rulesets as rows and lines: the entries of one, an entry whole, the history, what two versions differ in. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING

from tui_crawler.console.panes.line import Line, Paragraph, fact, heading
from tui_crawler.console.rules.entries import Entry, is_in, section_word
from tui_crawler.console.rules.impact_lines import impact_lines
from tui_crawler.console.rules.rule_hits import RuleHits, without_entry
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import EMPTY, QueryPolicy
from tui_crawler.domain.rules.ruleset import Ruleset, RulesProblem, Section
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled, cell_text
from tui_crawler.text.columns import AnyColumn, Column, Relation
from tui_crawler.text.format import clock, compact, count, date_time, plural
from tui_crawler.text.rules_text import rules_difference

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.rules.impact import ImpactNews
    from tui_crawler.console.rules.merge import Merge
    from tui_crawler.console.rules.queries import CountedRefusals
    from tui_crawler.domain.records.page_view import RefusalCounts


@dataclass(frozen=True, slots=True)
class RuleLine:
    """An entry as it is shown: cells, and how often it has refused a URL; None: that is not counted."""

    key: Hashable
    section: Cell
    entry: Cell
    fired: Cell
    why: Cell
    source: Cell
    count: int | None = None


RULE_ENTRIES: Relation[RuleLine] = Relation(
    key=lambda line: line.key,
    nothing="no rules",
    source=lambda _: None,
    columns=(
        Column("section", "SECTION", shown.itself, 14, 1, min_width=13),
        Column("entry", "ENTRY", shown.itself, None, 0, min_width=34),
        Column("fired", "FIRED", shown.by_record(attrgetter("fired")), 7, 1, "right", 6, value=attrgetter("count")),
        Column("why", "WHY", shown.itself, 20, 3, min_width=18),
        Column("source", "WRITTEN", shown.itself, 12, 2, min_width=10),
    ),
)
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


def entry_line(entry: Entry, hits: Hits | None, whole: bool) -> RuleLine:
    """An entry. `hits` None: not counted yet; `whole`: in the whole log."""
    section = f"{'✎ ' if entry.added else ''}{section_word(entry.section)}"
    role, one = "paused" if entry.added else "muted", hits.get(entry.key) if hits is not None else None
    return RuleLine(
        entry.key,
        Styled(section, role),
        Styled(entry_words(entry), "strong"),
        Styled("…", "faint") if hits is None else _hits_cell(one, whole),
        Styled(reason_of(entry), "muted"),
        Styled(source_of(entry), role),
        one.count if one is not None else None,
    )


def without_empty(columns: Sequence[AnyColumn], lines: Sequence[RuleLine]) -> tuple[AnyColumn, ...]:
    """The columns without those that may be dropped and in which nothing stands: others have their room. Without lines
    all columns stay."""
    return tuple(
        column
        for column in columns
        if not column.priority or not lines or any(cell_text(column.cell(line, Present())) for line in lines)
    )


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


def rule_hits_line(fired: RuleHits | None, counted: RefusalCounts | None, zone: tzinfo, *, query: bool) -> Line:
    """What the log says of the entry under the cursor; `query`: it is a query policy."""
    if counted is None:
        return Styled("counting how often it refused a URL…", "muted")
    if fired is None:
        if query:
            words = "it stands at one place with others, and the log does not tell which of them refused"
            return Styled(words, "muted")
        return Styled("how often it decided is not in the log: only what is refused is logged", "muted")
    whole = counted.looked_at >= counted.known
    of = "" if whole else f" among the newest {count(counted.looked_at)} of {plural(counted.known, 'attempt')}"
    more = without_entry(counted) if query else 0
    beside = f" · {plural(more, 'URL')} beside it: no query policy is for them" if more else ""
    beside += f" · told by samples from {plural(fired.beside, 'other')} of its place" if fired.beside else ""
    links = f"{plural(fired.links_in_all, 'link')} refused by entries of its kind, not counted one by one"
    if not fired.count and fired.links:
        return (Styled("refused links", "strong"), Styled(f" ({links}), for example ", "muted"), fired.sample_url)
    if not fired.count and fired.links_in_all:
        return Styled(f"refused nothing that was tried{of}; {links}", "muted")
    if not fired.count:
        return (Styled("∅ never fired", "warning"), Styled(f"{of}{beside}", "muted"))
    first, last = fired.first_ruleset, fired.last_ruleset
    by = f"ruleset {last}" if first == last else f"rulesets {first}–{last}"
    return (
        Styled(f"fired {plural(fired.count, 'time')}", "strong"),
        Styled(f"{of}, last {date_time(fired.last_at, zone)} by {by}{beside}: ", "muted"),
        fired.sample_url,
    )


def counted_words(counted: CountedRefusals | None, zone: tzinfo, keys: KeyNames) -> str:
    """When and in how many attempts it was counted what fired; raw text."""
    if counted is None:
        return ""
    counts = counted.counts
    of = "" if counts.looked_at >= counts.known else f" of {count(counts.known)}"
    at = f"{count(counts.looked_at)}{of} attempts, {clock(counted.at, zone)}"
    return f"fired in {at} · {keys('rules.count')} counts again"


def entry_words(entry: Entry) -> str:
    """An entry in words, without reason and who asked; raw text."""
    if isinstance(entry.value, Exclusion):
        return f"{entry.value.kind} {entry.value.value}"
    return entry.line.text


def reason_of(entry: Entry) -> str:
    """Why it is there and who asked; raw text."""
    if not isinstance(one := entry.value, Exclusion):
        return ""
    return " · ".join(part for part in (one.reason, f"asked by {one.who}" if one.who else "") if part)


def source_of(entry: Entry) -> str:
    """Where it was written; raw text."""
    return entry.line.source or ("by an operator" if entry.added else "")


def entry_lines(entry: Entry | None) -> list[Line]:
    """The entry under the cursor, whole, and what its section means."""
    if entry is None:
        return []
    why = f"  {reason_of(entry)}" if reason_of(entry) else ""
    held = Styled("Added by an operator beside the rulesets: it holds with every version.", "paused")
    source = held if entry.added else Styled(entry.line.source, "faint")
    return [
        (Styled(entry_words(entry), "strong"), why),
        (Styled(f"{_MEANINGS[entry.section]}  ", "muted"), source),
    ]


def difference_lines(one: Ruleset | None, before: Ruleset | None) -> list[Line]:
    """What a version says otherwise than the one before it (None: it is the first, or the one before is unknown)."""
    if one is None:
        return []
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
    same = f"The same as ruleset {before.ruleset_id}." if before is not None else "It says nothing."
    return [Styled(line, _DIFF_ROLES.get(line[0], "muted")) for line in lines] or [Styled(same, "muted")]


def heading_of(one: Ruleset | None, entries: int) -> str:
    """The title of the entries; raw text."""
    if one is None:
        return "Rules"
    return f"Rules · job {one.job} · ruleset {one.ruleset_id} · {count(entries)} in force"


def problem_lines(problems: Sequence[RulesProblem]) -> list[Line]:
    """What is wrong in a draft, by its lines."""
    return [Paragraph(f"✗ line {one.line}: {one.words}", "error", indent=2) for one in problems]


def overtaken_lines(newer: Ruleset, moot: bool, keys: KeyNames) -> list[Line]:
    """Another version is in force than the one the draft began with; `moot`: it has all that the draft changed."""
    merges = f"{keys('rules.apply')} merges the draft with it, line by line"
    return [
        Styled(f"⚠ ruleset {newer.ruleset_id} by {newer.who} is in force now", "warning"),
        Styled(f"  it says what the draft says; {keys('nav.back')} leaves" if moot else f"  {merges}", "muted"),
    ]


def merge_words(newer: Ruleset, merged: Merge) -> str:
    """What is asked before a draft is merged with a newer version; raw text."""
    if not merged.conflicts:
        return f"Ruleset {newer.ruleset_id} changed other lines than the draft: both changes are kept."
    both = plural(merged.conflicts, "place")
    return f"Both changed the same lines in {both}: they are marked in the text, and one side has to go."


def under_way_lines() -> list[Line]:
    """The draft was handed in, and nothing is known of it yet."""
    return [Styled("◷ the draft is on its way", "waiting"), Styled("  what is done next waits for it", "muted")]


def no_rules_lines() -> list[Line]:
    """What is shown while there is no version."""
    return [Paragraph("There is no ruleset yet: the first run writes one from the configuration.", "muted")]


_LONGEST = 12


def sheet_lines(
    entry: Entry, since: Ruleset | None, fired: tuple[RuleHits | None, RefusalCounts | None], zone: tzinfo
) -> list[Line]:
    """What is known of an entry. `since` is the version that brought it in, None: an earlier one than is known; `fired`
    what it refused, and the counts that tell it."""
    firing, counted = fired
    reasons, written = reason_of(entry), source_of(entry)
    held = "beside the rulesets, with every version" if entry.added else "longer than the versions that are shown"
    if since is not None:
        held = f"ruleset {since.ruleset_id} by {since.who}, {date_time(since.at, zone)[:16]}"
    return [
        Paragraph(entry_words(entry), "strong", most=_LONGEST),
        Paragraph(_MEANINGS[entry.section], "muted"),
        "",
        *([fact("reason", reasons)] if reasons else []),
        *([fact("written", written)] if written else []),
        fact("since", held),
        "",
        *_fired_lines(rule_hits_line(firing, counted, zone, query=isinstance(entry.value, QueryPolicy))),
    ]


def _fired_lines(line: Line) -> list[Line]:
    """What the log says, folded; the URL that it names has a line of its own."""
    pieces = line if isinstance(line, tuple) else (line,)
    texts = [piece if isinstance(piece, str) else piece.text for piece in pieces if isinstance(piece, str | Styled)]
    url = pieces[-1] if isinstance(pieces[-1], str) else ""
    said = "".join(texts[: -1 if url else None]).rstrip(": ")
    return [Paragraph(said, ""), *([("  ", url)] if url else [])]


def without_lines(news: ImpactNews | None, keys: KeyNames) -> list[Line]:
    """What would be otherwise among the known URLs if the entry were taken out."""
    return ["", heading("Without it"), *impact_lines(True, news, keys)]


def since_of(entry: Entry, line: Sequence[Ruleset]) -> Ruleset | None:
    """The version that brought an entry in. `line`: the version in force and those before it, each made of the next
    one. None: all of them have it, and the last one was made of another."""
    with_it = list(takewhile(lambda one: is_in(one.policies, entry), line))
    whole = len(with_it) < len(line) or not line[-1].parent_id
    return with_it[-1] if with_it and whole else None
