"""Rulesets, tests, previews and versions as documents and as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tui_crawler.cli.columns import columns
from tui_crawler.cli.printer import safe
from tui_crawler.console.format import count, date_time, plural

if TYPE_CHECKING:
    from tui_crawler.domain.preview import Preview
    from tui_crawler.domain.ruleset import Ruleset, RulesetLine
    from tui_crawler.domain.ruleset_change import EntryChange
    from tui_crawler.wiring.rules import RuleTest
    from tui_crawler.wiring.rules_in_force import RulesInForce

SHOWN = 10
"""So many origins, seeds and samples a person is shown; a document holds all that were kept."""

URL_LENGTH = 2_048


def rules_lines(rules: RulesInForce) -> Iterator[str]:
    """The rules in force, section by section."""
    from tui_crawler.domain.policy import EMPTY
    from tui_crawler.domain.ruleset import difference

    number = f"version {rules.ruleset_id}" if rules.ruleset_id else "the configuration (no version is stored yet)"
    yield f"{number} of job {safe(rules.job)}"
    section = ""
    for line in difference(EMPTY, rules.policies):
        if line.section != section:
            section = line.section
            yield f"{section}:"
        yield f"  {line_text(line)}"
    if not rules.policies.url_query_parameters:
        yield "no url_query_parameters policy: every URL with a query is refused"


def line_text(line: RulesetLine) -> str:
    """A line of a comparison in words, with the place it was written at."""
    return safe(line.text, URL_LENGTH) + (f"  ({safe(line.source)})" if line.source else "")


def changes_lines(changes: Sequence[EntryChange]) -> Iterator[str]:
    """What two versions differ in: how many entries were changed and how, then each of them."""
    from tui_crawler.console.rule_words import change_text, counted_changes

    yield counted_changes(changes)
    signs = {"added": "+", "removed": "-", "edited": "~", "moved": ">"}
    for one in changes:
        line = one.after or one.before
        place = f"  ({safe(line.source)})" if line is not None and line.source else ""
        yield f"{signs[one.kind]} {one.section}: {safe(change_text(one), 2 * URL_LENGTH)}{place}"


def tested_document(answer: RuleTest) -> dict[str, object]:
    """The document of `rules test`."""
    settings = answer.settings
    return {
        "url": answer.url,
        "verdict": answer.verdict,
        "exit_code": answer.exit_code.name if answer.exit_code is not None else None,
        "decided_by": answer.decided_by,
        "settings": {
            "accept": settings.accept,
            "skip": settings.skip,
            "ua": settings.ua,
            "custom_js": settings.custom_js,
        },
    }


def tested_lines(answer: RuleTest) -> Iterator[str]:
    """What the rules say of a URL, and which rule gave each setting."""
    yield safe(answer.url, URL_LENGTH)
    code = f" ({answer.exit_code.name})" if answer.exit_code is not None else ""
    yield f"{answer.verdict}{code}" + (f": {safe(answer.decided_by, URL_LENGTH)}" if answer.decided_by else "")
    for name in ("accept", "skip", "ua", "custom_js"):
        rule = getattr(answer.settings, f"{name}_rule")
        if rule is not None:
            value = str(getattr(answer.settings, name))
            place = f"  ({safe(rule.source)})" if rule.source else ""
            yield f"  {name} {safe(value)} by rule {safe(rule.match)}{place}"


def preview_document(preview: Preview) -> dict[str, object]:
    """The document of `rules preview`."""
    return {
        "known": preview.known,
        "newly_blocked": preview.newly_blocked,
        "newly_allowed": preview.newly_allowed,
        "unchanged": preview.unchanged,
        "by_origin": [
            {
                "origin": one.origin,
                "newly_blocked": one.newly_blocked,
                "newly_allowed": one.newly_allowed,
                "unchanged": one.unchanged,
            }
            for one in preview.by_origin
        ],
        "seeds_hit": list(preview.seeds_hit),
        "samples": [
            {"url": one.url, "before": one.before, "after": one.after, "decided_by": one.decided_by}
            for one in preview.samples
        ],
    }


def summary(preview: Preview) -> str:
    """A preview in one line."""
    return (
        f"of {count(preview.known)} known URLs {count(preview.newly_blocked)} newly blocked, "
        f"{count(preview.newly_allowed)} newly allowed, {count(preview.unchanged)} unchanged"
    )


def preview_lines(preview: Preview) -> Iterator[str]:
    """A preview: sums, seeds that are hit, origins, samples."""
    yield summary(preview)
    if preview.blocked_by_state:
        states = ", ".join(f"{count(number)} {state}" for state, number in preview.blocked_by_state)
        yield f"newly blocked by what became of them so far: {states} (what is stored is kept)"
    yield from seed_lines(preview)
    if preview.by_origin:
        yield ""
        rows = [
            (safe(one.origin), count(one.newly_blocked), count(one.newly_allowed), count(one.unchanged))
            for one in preview.by_origin[:SHOWN]
        ]
        yield from columns(("ORIGIN", "BLOCKED", "ALLOWED", "UNCHANGED"), rows, frozenset({1, 2, 3}))
        if len(preview.by_origin) > SHOWN:
            yield f"… and {count(len(preview.by_origin) - SHOWN)} more origins"
    if preview.samples:
        yield ""
    for one in preview.samples[:SHOWN]:
        yield f"{'-' if one.before == 'allowed' else '+'} {safe(one.url, URL_LENGTH)}"
        yield f"    {one.before} → {one.after}: {safe(one.decided_by, URL_LENGTH)}"


def seed_lines(preview: Preview) -> Iterator[str]:
    """The seeds a change blocks; nothing when there are none."""
    if preview.seeds_hit:
        yield f"this blocks {plural(len(preview.seeds_hit), 'seed')}:"
        yield from (f"  {safe(url, URL_LENGTH)}" for url in preview.seeds_hit[:SHOWN])
        if len(preview.seeds_hit) > SHOWN:
            yield f"  … and {count(len(preview.seeds_hit) - SHOWN)} more"


def version_document(one: Ruleset) -> dict[str, object]:
    """An entry of `rules history`."""
    return {"ruleset_id": one.ruleset_id, "at": one.at, "who": one.who, "note": one.note, "current": one.current}


def history_lines(versions: tuple[Ruleset, ...]) -> Iterator[str]:
    """The versions of a job, one a line."""
    if not versions:
        yield "there is no ruleset yet: the first run writes one"
        return
    zone = datetime.now(UTC).astimezone().tzinfo or UTC
    header = ("VERSION", "", "AT", "WHO", "NOTE")
    rows = [
        (str(one.ruleset_id), "in force" if one.current else "", date_time(one.at, zone), safe(one.who), safe(one.note))
        for one in versions
    ]
    yield from columns(header, rows, frozenset({0}))
