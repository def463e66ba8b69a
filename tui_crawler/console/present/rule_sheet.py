"""One entry of the rules, whole: what it says, since when, what it refused, what would be without it. Pure."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from tui_crawler.console.format import date_time
from tui_crawler.console.present.line import Line, Prose, fact, heading
from tui_crawler.console.present.rule_impact import impact_lines
from tui_crawler.console.present.rule_rows import entry_words, firing_line, meaning_of, reason_of
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import QueryPolicy
from tui_crawler.domain.ruleset_change import keys_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from tui_crawler.console.impact_room import ImpactNews
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.rule_draft import Entry
    from tui_crawler.console.rule_firing import Firing
    from tui_crawler.domain.refusal_view import RefusalCounts
    from tui_crawler.domain.ruleset import Ruleset

_LONGEST = 12


def sheet_lines(
    entry: Entry | Exclusion,
    since: Ruleset | None,
    fired: tuple[Firing | None, RefusalCounts | None],
    zone: tzinfo,
) -> list[Line]:
    """What is known of an entry. `since` is the version that brought it in, None: an earlier one than is known; `fired`
    what it refused, and the counts that tell it."""
    firing, counted = fired
    if isinstance(entry, Exclusion):
        words, why, written = f"{entry.kind} {entry.value}", [entry.reason], entry.source or "by an operator"
        why += [f"asked by {entry.who}"] if entry.who else []
        held = "beside the rulesets, with every version"
    else:
        words, why, written = entry_words(entry), [reason_of(entry)], entry.line.source
        held = "longer than the versions that are shown"
        if since is not None:
            held = f"ruleset {since.ruleset_id} by {since.who}, {date_time(since.at, zone)[:16]}"
    query = not isinstance(entry, Exclusion) and isinstance(entry.value, QueryPolicy)
    reasons = " · ".join(filter(None, why))
    return [
        Prose(words, "strong", most=_LONGEST),
        Prose(meaning_of(entry), "muted"),
        "",
        *([fact("reason", reasons)] if reasons else []),
        *([fact("written", written)] if written else []),
        fact("since", held),
        "",
        *_fired_lines(firing_line(firing, counted, zone, query=query)),
    ]


def _fired_lines(line: Line) -> list[Line]:
    """What the log says, folded; the URL that it names has a line of its own."""
    pieces = line if isinstance(line, tuple) else (line,)
    texts = [piece if isinstance(piece, str) else piece.text for piece in pieces if isinstance(piece, str | Styled)]
    url = pieces[-1] if isinstance(pieces[-1], str) else ""
    said = "".join(texts[: -1 if url else None]).rstrip(": ")
    return [Prose(said, ""), *([("  ", url)] if url else [])]


def without_lines(news: ImpactNews | None, keys: KeyNames) -> list[Line]:
    """What would be otherwise among the known URLs if the entry were taken out."""
    return ["", heading("Without it"), *impact_lines(True, news, keys)]


def since_of(entry: Entry, line: Sequence[Ruleset]) -> Ruleset | None:
    """The version that brought an entry in. `line`: the version in force and those before it, each made of the next
    one. None: all of them have it, and the last one was made of another."""
    with_it = list(takewhile(lambda one: entry.key in keys_of(one.policies)[entry.section], line))
    whole = len(with_it) < len(line) or not line[-1].parent_id
    return with_it[-1] if with_it and whole else None
