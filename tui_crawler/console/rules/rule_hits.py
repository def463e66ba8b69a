"""How often each entry of the rules has refused a URL, as far as the crawl log tells it. Pure.

An attempt that rules refuse is logged with the words and the place of the entry that decided. The words of a query
policy name a parameter, and several policies may be written at one place (in one line, or in the console): which one
it was is told by the newest URL that was refused so. Links that exclusions and accept rules refuse are counted by
reason and origin, each with a sample: an entry that matches one has fired. What an entry allows and what it sets is not
logged: of those entries nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import describe
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import CompiledPolicies, DoNotCrawl, PolicySet, QueryPolicy, Rule
from tui_crawler.domain.rules.verdict import Refusal
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, InvalidUrl, normalise

if TYPE_CHECKING:
    from tui_crawler.console.rules.entries import Entry
    from tui_crawler.domain.records.page_view import RefusalCount, RefusalCounts, RefusedView

MOST_SAMPLES = 2_000
MOST_JUDGED = 20_000
"""So often samples are judged by query policies of other places."""
LINK_REASONS = frozenset({str(Refusal.exclusion), str(Refusal.rule_accept)})
"""Why links are refused by an entry of the rules, which their samples can tell."""

_Judge = tuple["Entry", CompiledPolicies | None]
_SEED = "this seed: "
_QUERY = "url_query_parameters: "
_POLICY, _EXCLUDED, _SKIPPED = "blocked_url_by_local_policy", "blocked_by_exclusion_list", "skipped_by_rule"


@dataclass(frozen=True, slots=True)
class RuleHits:
    """How often an entry refused a URL: `last_at` (epoch ms) was the last time, `sample_url` what it refused then, by
    the versions from `first_ruleset` to `last_ruleset`.

    `links`: it refused links, of which only the sample is known. `links_in_all` entries of its kind refused.
    `others`: how many other query policies are written at the same place; the samples tell them apart.
    """

    count: int = 0
    last_at: int = 0
    sample_url: str = ""
    first_ruleset: int = 0
    last_ruleset: int = 0
    links: bool = False
    links_in_all: int = 0
    others: int = 0


def firings(
    entries: Sequence[Entry], counts: RefusalCounts, links: Sequence[RefusedView] = ()
) -> Mapping[Hashable, RuleHits | None]:
    """Return what the log says of each entry, by its key; None: it cannot say.

    `links` are the links that filters refused; at most MOST_SAMPLES of their samples are judged.
    """
    said: dict[tuple[str, str], list[RefusalCount]] = {}
    for row in counts.rows:
        said.setdefault((row.exit_code, row.message.removeprefix(_SEED)), []).append(row)
    found: dict[Hashable, RuleHits | None] = {}
    for entry in entries:
        words = _words_of(entry.value)
        found[entry.key] = None if words is None else _sum(said.get(words, ()))
    found |= _query_firings([entry for entry in entries if isinstance(entry.value, QueryPolicy)], counts.rows)
    samples = _samples([entry.value for entry in entries], links)
    totals = {reason: sum(row.count for row in links if row.reason == reason) for reason in LINK_REASONS}
    for entry in entries:
        fired, value = found[entry.key], entry.value
        reason = Refusal.exclusion if isinstance(value, Exclusion) else Refusal.rule_accept
        if fired is not None and (reason is Refusal.exclusion or (isinstance(value, Rule) and value.accept is False)):
            in_all, sample = totals[reason], samples.get(id(value), "")
            url = fired.sample_url or sample
            found[entry.key] = replace(fired, links=bool(sample), links_in_all=in_all, sample_url=url)
    return found


def _samples(values: Sequence[object], links: Sequence[RefusedView]) -> dict[int, str]:
    """Return a link that was refused by each entry, by the identity of its value."""
    exclusions = tuple(value for value in values if isinstance(value, Exclusion))
    rules = tuple(value for value in values if isinstance(value, Rule))
    found: dict[int, str] = {}
    with suppress(BadPattern):
        compiled = CompiledPolicies(PolicySet(exclusions=exclusions, rules=rules))
        for row in [row for row in links if row.reason in LINK_REASONS][:MOST_SAMPLES]:
            url = normalise(row.sample_url, None, CLIENT_MAX_LENGTH)
            if not isinstance(url, InvalidUrl):
                of_rule = row.reason == Refusal.rule_accept
                decided = compiled.settings(url).accept_rule if of_rule else compiled.exclusions.of_url(url)
                found.setdefault(id(decided), row.sample_url)
    return found


def without_entry(counts: RefusalCounts) -> int:
    """How many URLs were refused because no query policy is for them: no entry decided that."""
    return sum(row.count for row in counts.rows if row.exit_code == _POLICY and not row.decided_by)


def logged_as(entry: Entry) -> str:
    """Return what the refusals by an entry have in the log; for a query policy, what those by all of these have."""
    words = _words_of(entry.value)
    return words[1] if words is not None else _QUERY.strip()


def _words_of(value: object) -> tuple[str, str] | None:
    """Return the exit code and the words that a refusal by an entry is logged with; None where it refuses nothing."""
    match value:
        case DoNotCrawl(matcher=matcher):
            return _POLICY, f"do_not_crawl: {describe(matcher)}"
        case Rule(match=match) if value.skip is True or value.accept is False:
            return _SKIPPED, f"rule {match}: skip true"
        case Exclusion():
            return _EXCLUDED, value.describe()
        case _:
            return None


def _query_firings(policies: Sequence[Entry], rows: Iterable[RefusalCount]) -> dict[Hashable, RuleHits | None]:
    """Return what the log says of each query policy; None for those of a place where a refusal stays in doubt."""
    places = Counter(entry.line.source for entry in policies)
    judges = [(entry, _alone(entry.value)) for entry in policies]
    refused: dict[Hashable, list[RefusalCount]] = {entry.key: [] for entry in policies}
    doubted: set[str] = set()
    of_queries = (
        row for row in rows if row.exit_code == _POLICY and row.message.removeprefix(_SEED).startswith(_QUERY)
    )
    for number, row in enumerate(of_queries):
        entry = _which(row, judges, number * len(judges) < MOST_JUDGED)
        if entry is not None:
            refused[entry.key].append(row)
        elif row.decided_by:
            doubted.add(row.decided_by)
    return {
        entry.key: replace(_sum(refused[entry.key]), others=places[entry.line.source] - 1)
        if refused[entry.key] or entry.line.source not in doubted
        else None
        for entry in policies
    }


def _which(row: RefusalCount, judges: Sequence[_Judge], anywhere: bool) -> Entry | None:
    """The policy that refused: of those that refuse the sample in the same words the first one of its place, else the
    first one `anywhere`. One that was edited since is known by its place, if that is its own."""
    there = [judge for judge in judges if row.decided_by and judge[0].line.source == row.decided_by]
    url = normalise(row.sample_url, None, CLIENT_MAX_LENGTH)
    if not isinstance(url, InvalidUrl):
        words = row.message.removeprefix(_SEED)
        for entry, judge in (*there, *judges) if anywhere else there:
            refusal = judge.query_refusal(url) if judge is not None else None
            if (refusal.detail if refusal is not None else "") == words:
                return entry
    return there[0][0] if len(there) == 1 else None


def _alone(value: object) -> CompiledPolicies | None:
    """One query policy without the others; None for one with a pattern that is none."""
    try:
        return CompiledPolicies(PolicySet(url_query_parameters=(value,))) if isinstance(value, QueryPolicy) else None
    except BadPattern:
        return None


def _sum(rows: Sequence[RefusalCount]) -> RuleHits:
    if not rows:
        return RuleHits()
    newest = max(rows, key=lambda row: row.last_at)
    first, last = min(row.first_ruleset for row in rows), max(row.last_ruleset for row in rows)
    return RuleHits(sum(row.count for row in rows), newest.last_at, newest.sample_url, first, last)
