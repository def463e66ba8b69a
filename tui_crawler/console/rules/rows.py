"""Rulesets as rows and lines: the entries of one, an entry whole, the history, what two versions differ in. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING

from tui_crawler.console.panes.line import HangingText, Line, Paragraph, fact, heading
from tui_crawler.console.rules.draft import DraftRow, Entry, Rebased, RuleDraft
from tui_crawler.console.rules.impact_lines import impact_lines
from tui_crawler.console.rules.rule_hits import RuleHits, without_entry
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import EMPTY, QueryPolicy
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.ruleset import Ruleset, RulesetChange, Section, difference
from tui_crawler.domain.ruleset_change import keys_of
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled, cell_text
from tui_crawler.text.columns import AnyColumn, Column, Relation
from tui_crawler.text.format import clock, compact, count, date_time, plural
from tui_crawler.text.rule_words import change_text, change_words, counted_changes, section_word

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.rules.impact import ImpactNews
    from tui_crawler.console.rules.queries import CountedRefusals
    from tui_crawler.domain.page_view import RefusalCounts
    from tui_crawler.domain.ruleset_change import EntryChange


@dataclass(frozen=True, slots=True)
class RuleLine:
    """An entry as it is shown: cells, and how often it has refused a URL; None: that is not counted."""

    key: Hashable
    section: Cell
    entry: Cell
    why: Cell
    source: Cell
    fired: Cell = ""
    count: int | None = None


_SECTION: AnyColumn = Column("section", "SECTION", shown.itself, 14, 1, min_width=13)
_ENTRY: AnyColumn = Column("entry", "ENTRY", shown.itself, None, 0, min_width=34)
_FIRED: AnyColumn = Column(
    "fired", "FIRED", shown.by_record(attrgetter("fired")), 7, 1, "right", 6, value=attrgetter("count")
)
_WHY: AnyColumn = Column("why", "WHY", shown.itself, 20, 3, min_width=18)
_SOURCE: AnyColumn = Column("source", "WRITTEN", shown.itself, 12, 2, min_width=10)
ENTRIES: Relation[RuleLine] = Relation(
    key=lambda line: line.key, nothing="no rules", source=lambda _: None, columns=(_SECTION, _ENTRY, _WHY, _SOURCE)
)
RULE_ENTRIES = replace(ENTRIES, columns=(_SECTION, _ENTRY, _FIRED, _WHY, _SOURCE))
"""With how often each entry has refused a URL."""


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

EXAMPLES = "skip: /calendar/   rule: match: /feed/, ua: special   exclusion: host: a.example, reason: they asked"

_MEANINGS: dict[Section, str] = {
    "do_not_crawl": "Matching URLs are never requested.",
    "url_query_parameters": "Which parameters a URL with a query may have; what no query policy allows is refused.",
    "rules": "Settings for the URLs in which the pattern is found; of several that match the last one wins.",
    "exclusions": "Overrides everything, also for redirects and robots.txt.",
    "whitelist": "Domains join the crawl when they are linked; with patterns, every URL must match one.",
}
_SHOWN = 3
"""So many changes are named one by one in a question."""
_SIGNS = {"new": "+ ", "deleted": "− ", "edited": "✎ "}
_KINDS = {"added": ("+ ", "ok"), "removed": ("− ", "error"), "edited": ("✎ ", "accent")}


def entry_line(row: DraftRow) -> RuleLine:
    """An entry. What was done to it in the draft is said with a sign and a word."""
    entry, sign = row.entry, _SIGNS.get(row.change, "")
    own = entry_words(entry)
    role = "muted"
    words: Cell = Styled(own, "strong")
    match row.change:
        case "new":
            role, words = "ok", (Styled("new ", "ok"), Styled(own, "strong"))
        case "deleted":
            role, words = "error", (Styled("deleted ", "error"), Styled(own, "muted"))
        case "edited":
            was = entry_words(row.was) if row.was is not None else own
            before = Styled(f"{was} → " if was != own else "", "muted")
            role, words = "accent", (Styled("edited ", "accent"), before, Styled(own, "strong"))
        case "moved":
            sign, role = _moved_sign(row.place, row.to), "accent"
            words = (Styled(f"moved {row.place} → {row.to} ", "accent"), Styled(own, "strong"))
    section = Styled(sign + section_word(entry.section), role)
    return RuleLine(entry.key, section, words, Styled(reason_of(entry), "muted"), Styled(entry.line.source, "muted"))


def without_empty(columns: Sequence[AnyColumn], lines: Sequence[RuleLine]) -> tuple[AnyColumn, ...]:
    """The columns without those that may be dropped and in which nothing stands: others have their room. Without lines
    all columns stay."""
    return tuple(
        column
        for column in columns
        if not column.priority or not lines or any(cell_text(column.cell(line, Present())) for line in lines)
    )


def operator_lines(added: Sequence[Exclusion]) -> list[RuleLine]:
    """Exclusions that were added beside the rulesets: they hold for all versions."""
    return [
        RuleLine(
            ("operator", place),
            Styled("✎ exclusion", "paused"),
            Styled(f"{one.kind} {one.value}", "strong"),
            Styled(_why(one), "muted"),
            Styled(one.source or "by an operator", "paused"),
        )
        for place, one in enumerate(added)
    ]


def with_rule_hits(line: RuleLine, fired: Mapping[Hashable, RuleHits | None] | None, whole: bool) -> RuleLine:
    """A line of `RULE_ENTRIES`. `fired` None: not counted yet; `whole`: in the whole log."""
    hits = fired.get(line.key) if fired is not None else None
    return replace(line, fired=_fired(line.key, fired, whole), count=hits.count if hits is not None else None)


def _fired(key: Hashable, fired: Mapping[Hashable, RuleHits | None] | None, whole: bool) -> Cell:
    if fired is None:
        return Styled("…", "faint")
    one = fired.get(key)
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


def selected_exclusion(key: Hashable, added: Sequence[Exclusion]) -> Exclusion | None:
    """The exclusion of a row of `operator_rows`; None for another row."""
    return next((one for place, one in enumerate(added) if key == ("operator", place)), None)


def entry_words(entry: Entry) -> str:
    """An entry in words, without reason and who asked; raw text."""
    if isinstance(entry.value, Exclusion):
        return f"{entry.value.kind} {entry.value.value}"
    return entry.line.text


def reason_of(entry: Entry) -> str:
    """Why it is there and who asked; raw text."""
    return _why(entry.value) if isinstance(entry.value, Exclusion) else ""


def entry_lines(entry: Entry | Exclusion | None, row: DraftRow | None = None) -> list[Line]:
    """The entry under the cursor, whole, and what its section means. `row`: what the draft does to it."""
    match entry:
        case None:
            return []
        case Exclusion():
            held = Styled("  Added by an operator beside the rulesets: it holds with every version.", "paused")
            why = f"  {_why(entry)}" if _why(entry) else ""
            return [
                (Styled(f"{entry.kind} {entry.value}", "strong"), Styled(why, "")),
                (Styled(_MEANINGS["exclusions"], "muted"), held),
            ]
        case _:
            why = f"  {reason_of(entry)}" if reason_of(entry) else ""
            was = Styled(f"  in place of {entry_words(row.was)}" if row is not None and row.was else "", "accent")
            return [
                (Styled(entry_words(entry), "strong"), why, was),
                (Styled(f"{_MEANINGS[entry.section]}  ", "muted"), Styled(entry.line.source, "faint")),
            ]


def difference_lines(one: Ruleset | None, before: Ruleset | None, changes: Sequence[EntryChange]) -> list[Line]:
    """What a version says otherwise than the one before it (None: it is the first, or the one before is unknown)."""
    if one is None:
        return []
    head: list[Line] = [fact("by", Styled(one.who, "strong")), fact("note", one.note), ""]
    if before is None and one.parent_id:
        return [*head, Styled(f"made from ruleset {one.parent_id}, which is not in this list", "muted")]
    if before is None:
        first = f"The first ruleset: {plural(len(changes), 'entry', 'entries')}."
        return [*head, Styled(first, "muted"), *map(change_line, changes)]
    same = f"The same as ruleset {before.ruleset_id}."
    return [*head, Styled(counted_changes(changes) or same, "muted"), *map(change_line, changes)]


def comparison_lines(older: Ruleset, newer: Ruleset, changes: Sequence[EntryChange]) -> list[Line]:
    """What two versions differ in, whatever lies between them."""
    head: list[Line] = [
        fact("from", Styled(f"ruleset {older.ruleset_id}", "strong"), Styled(f"  {older.who}", "muted")),
        fact("to", Styled(f"ruleset {newer.ruleset_id}", "strong"), Styled(f"  {newer.who}", "muted")),
        "",
    ]
    return [*head, Styled(counted_changes(changes) or "They say the same.", "muted"), *map(change_line, changes)]


def change_line(change: EntryChange) -> Line:
    """What became of an entry."""
    sign, role = _KINDS.get(change.kind) or (_moved_sign(change.place, change.to), "accent")
    section = f"{section_word(change.section)}  "
    head = (Styled(sign, role), Styled(section, "muted"))
    if change.kind in {"edited", "moved"}:
        return HangingText(head, len(sign) + len(section), change_text(change))
    return (*head, change_text(change))


def _moved_sign(place: int, to: int) -> str:
    return "▲ " if to < place else "▼ "


def heading_of(one: Ruleset | None, entries: int) -> str:
    """The title of the entries; raw text."""
    if one is None:
        return "Rules"
    return f"Rules · job {one.job} · ruleset {one.ruleset_id} · {count(entries)} in force"


def draft_heading(draft: RuleDraft | None) -> str:
    """The title of the entries of a draft; raw text."""
    if draft is None:
        return "Draft"
    drafted = counted_changes(draft.changes) or "nothing changed yet"
    return f"Draft · job {draft.base.job} · from ruleset {draft.base.ruleset_id} · {drafted}"


def typed_lines(text: str, read: RulesetChange | str | None, edited: Entry | None = None) -> list[Line]:
    """What becomes of a typed entry; `edited` is the one it takes the place of."""
    if read is None:
        return [Styled("A section and an entry, as the configuration writes it:", "muted"), Styled(EXAMPLES, "muted")]
    if isinstance(read, str):
        return [(Styled("✗ ", "error"), text), Styled(f"  {read}", "muted")]
    made = difference(EMPTY, read.applied_to(EMPTY))
    if edited is not None and [(line.section, line.text) for line in made] == [(edited.section, edited.line.text)]:
        return [(Styled("✎ ", "accent"), entry_words(edited)), Styled("  unchanged so far; enter keeps it", "muted")]
    word = "✓ adds  " if edited is None else "✓ becomes  "
    says = "  enter takes it into the draft"
    if edited is not None:
        place = "in the place of" if all(line.section == edited.section for line in made) else "instead of"
        says += f" {place} {section_word(edited.section)} {edited.line.text}"
    return [
        *((Styled(word, "ok"), Styled(f"{section_word(line.section)}  ", "muted"), line.text) for line in made),
        Styled(says, "muted"),
    ]


def overtaken_lines(newer: Ruleset, rebased: Rebased, keys: KeyNames) -> list[Line]:
    """Another version is in force than the one the draft began with: what becomes of the change there."""
    head = Styled(f"⚠ ruleset {newer.ruleset_id} by {newer.who} is in force now", "warning")
    rest = counted_changes(rebased.draft.changes)
    lost = f"no longer makes sense: {lost_words(rebased)}" if rebased.lost else ""
    if rest:
        words = f"{keys('rules.apply')} carries the change over to it: {rest}" + (f"; {lost}" if lost else "")
    else:
        leaves = keys("nav.back")
        words = f"{lost}; {leaves} discards the draft" if lost else f"it says what the draft says; {leaves} leaves"
    return [head, Styled(f"  {words}", "muted")]


def carry_text(newer: Ruleset, rebased: Rebased) -> str:
    """What is asked before a draft is carried over; raw text."""
    changes = rebased.draft.changes
    some = "; ".join(change_words(one) for one in changes[:_SHOWN]) + ("; …" if len(changes) > _SHOWN else "")
    text = f"On ruleset {newer.ruleset_id} it would be: {counted_changes(changes)}. {some}"
    return f"{text} No longer makes sense and would be lost: {lost_words(rebased)}." if rebased.lost else text


def lost_words(rebased: Rebased) -> str:
    """The changes that cannot be carried over."""
    return "; ".join(
        f"{section_word(one.section)} {one.before.text if one.before is not None else ''} (to be {one.kind}) is gone"
        for one in rebased.lost
    )


def under_way_lines() -> list[Line]:
    """The draft was handed in, and nothing is known of it yet."""
    return [Styled("◷ the draft is on its way", "waiting"), Styled("  what is done next waits for it", "muted")]


def no_rules_lines() -> list[Line]:
    """What is shown while there is no version."""
    return [Paragraph("There is no ruleset yet: the first run writes one from the configuration.", "muted")]


def _why(one: Exclusion) -> str:
    return " · ".join(part for part in (one.reason, f"asked by {one.who}" if one.who else "") if part)


_LONGEST = 12


def sheet_lines(
    entry: Entry | Exclusion, since: Ruleset | None, fired: tuple[RuleHits | None, RefusalCounts | None], zone: tzinfo
) -> list[Line]:
    """What is known of an entry. `since` is the version that brought it in, None: an earlier one than is known; `fired`
    what it refused, and the counts that tell it."""
    firing, counted = fired
    if isinstance(entry, Exclusion):
        words, reasons, written = f"{entry.kind} {entry.value}", _why(entry), entry.source or "by an operator"
        held = "beside the rulesets, with every version"
    else:
        words, reasons, written = entry_words(entry), reason_of(entry), entry.line.source
        held = "longer than the versions that are shown"
        if since is not None:
            held = f"ruleset {since.ruleset_id} by {since.who}, {date_time(since.at, zone)[:16]}"
    query = not isinstance(entry, Exclusion) and isinstance(entry.value, QueryPolicy)
    return [
        Paragraph(words, "strong", most=_LONGEST),
        Paragraph(_MEANINGS["exclusions" if isinstance(entry, Exclusion) else entry.section], "muted"),
        "",
        *([fact("reason", reasons)] if reasons else []),
        *([fact("written", written)] if written else []),
        fact("since", held),
        "",
        *_fired_lines(rule_hits_line(firing, counted, zone, query=query)),
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
    with_it = list(takewhile(lambda one: entry.key in keys_of(one.policies)[entry.section], line))
    whole = len(with_it) < len(line) or not line[-1].parent_id
    return with_it[-1] if with_it and whole else None
