"""How often each entry of the rules has refused a URL, as far as the crawl log tells it. Pure.

An attempt that rules refuse is logged with the words and the place of the entry that decided. Links that exclusions and
accept rules refuse are counted by reason and origin, each with a sample: an entry that matches one has fired. What an
entry allows and what it sets is not logged: of those entries nothing is said.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import BadPattern, CompiledPolicies, DoNotCrawl, PolicySet, QueryPolicy, Rule, describe
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, InvalidUrl, normalise
from tui_crawler.domain.verdict import Refusal

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from tui_crawler.console.rule_draft import Entry
    from tui_crawler.domain.refusal_view import RefusalCount, RefusalCounts
    from tui_crawler.domain.view import RefusedView

MOST_SAMPLES = 2_000
LINK_REASONS = frozenset({str(Refusal.exclusion), str(Refusal.rule_accept)})
"""Why links are refused by an entry of the rules, which their samples can tell."""

_SEED = "this seed: "
_QUERY = "url_query_parameters: "
_POLICY, _EXCLUDED, _SKIPPED = "blocked_url_by_local_policy", "blocked_by_exclusion_list", "skipped_by_rule"


@dataclass(frozen=True, slots=True)
class Firing:
    """How often an entry refused a URL: `last_at` (epoch ms) was the last time, `sample_url` what it refused then, by
    the versions from `first_ruleset` to `last_ruleset`.

    `links`: it refused links, of which only the sample is known. `links_in_all` entries of its kind refused.
    """

    count: int = 0
    last_at: int = 0
    sample_url: str = ""
    first_ruleset: int = 0
    last_ruleset: int = 0
    links: bool = False
    links_in_all: int = 0


def firings(
    entries: Iterable[Entry], added: Sequence[Exclusion], counts: RefusalCounts, links: Sequence[RefusedView] = ()
) -> Mapping[Hashable, Firing | None]:
    """What the log says of each entry, by its key, and of each added exclusion, by its place; None: it cannot say.

    `links` are the links that filters refused; at most MOST_SAMPLES of their samples are judged.
    """
    held = list(entries)
    places = Counter(entry.value.source for entry in held if isinstance(entry.value, QueryPolicy))
    found: dict[Hashable, Firing | None] = {
        entry.key: _sum(_of_entry(entry, counts.rows)) if _is_told(entry, places) else None for entry in held
    }
    for place, one in enumerate(added):
        found["operator", place] = _sum(_of_exclusion(one, counts.rows))
    values: dict[Hashable, object] = {entry.key: entry.value for entry in held}
    values |= {("operator", place): one for place, one in enumerate(added)}
    samples = _samples(values, links)
    totals = {reason: sum(row.count for row in links if row.reason == reason) for reason in LINK_REASONS}
    for key, fired in found.items():
        reason = _reason(values[key])
        if fired is not None and reason:
            in_all, sample = totals[reason], samples.get(key, "")
            found[key] = replace(fired, links=bool(sample), links_in_all=in_all, sample_url=fired.sample_url or sample)
    return found


def _reason(value: object) -> str:
    """Why links are counted that an entry refuses; empty where it refuses none."""
    match value:
        case Exclusion():
            return str(Refusal.exclusion)
        case Rule(accept=False):
            return str(Refusal.rule_accept)
        case _:
            return ""


def _samples(values: Mapping[Hashable, object], links: Sequence[RefusedView]) -> dict[Hashable, str]:
    """A refused link for each entry that decided over a sample, by its key."""
    exclusions = tuple(value for value in values.values() if isinstance(value, Exclusion))
    rules = tuple(value for value in values.values() if isinstance(value, Rule))
    try:
        compiled = CompiledPolicies(PolicySet(exclusions=exclusions, rules=rules))
    except BadPattern:
        return {}
    keys = {id(value): key for key, value in values.items()}
    found: dict[Hashable, str] = {}
    for row in [row for row in links if row.reason in LINK_REASONS][:MOST_SAMPLES]:
        url = normalise(row.sample_url, None, CLIENT_MAX_LENGTH)
        if isinstance(url, InvalidUrl):
            continue
        of_rule = row.reason == Refusal.rule_accept
        decided = compiled.settings(url).accept_rule if of_rule else compiled.exclusions.of_url(url)
        if decided is not None and id(decided) in keys:
            found.setdefault(keys[id(decided)], row.sample_url)
    return found


def without_entry(counts: RefusalCounts) -> int:
    """How many URLs were refused because no query policy is for them: no entry decided that."""
    return sum(row.count for row in counts.rows if row.exit_code == _POLICY and not row.decided_by)


def _is_told(entry: Entry, places: Counter[str]) -> bool:
    match entry.value:
        case DoNotCrawl() | Exclusion():
            return True
        case Rule(skip=skip, accept=accept):
            return skip is True or accept is False
        case QueryPolicy(source=source):
            return bool(source) and places[source] == 1  # several of one place cannot be told apart
        case _:
            return False


def _of_entry(entry: Entry, rows: Iterable[RefusalCount]) -> list[RefusalCount]:
    match entry.value:
        case DoNotCrawl(matcher=matcher):
            return _said(rows, _POLICY, f"do_not_crawl: {describe(matcher)}")
        case Rule(match=match):
            return _said(rows, _SKIPPED, f"rule {match}: skip true")
        case QueryPolicy(source=source):
            return [row for row in rows if row.decided_by == source and _bare(row.message).startswith(_QUERY)]
        case Exclusion() as exclusion:
            return _of_exclusion(exclusion, rows)
        case _:
            return []


def _of_exclusion(exclusion: Exclusion, rows: Iterable[RefusalCount]) -> list[RefusalCount]:
    return _said(rows, _EXCLUDED, exclusion.describe())


def _said(rows: Iterable[RefusalCount], code: str, words: str) -> list[RefusalCount]:
    return [row for row in rows if row.exit_code == code and _bare(row.message) == words]


def _bare(message: str) -> str:
    return message.removeprefix(_SEED)


def _sum(rows: Sequence[RefusalCount]) -> Firing:
    if not rows:
        return Firing()
    newest = max(rows, key=lambda row: row.last_at)
    return Firing(
        sum(row.count for row in rows),
        newest.last_at,
        newest.sample_url,
        min(row.first_ruleset for row in rows),
        max(row.last_ruleset for row in rows),
    )
