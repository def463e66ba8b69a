"""What a change of the rules would block and revive among the URLs that are known, before it is applied, and which
refusals it overturns: only pages whose verdict is another one are for a run to judge again. Pure.

A URL counts as blocked when one of the stages that rules can change refuses it: exclusion list, do_not_crawl,
whitelist, query policy, rule `skip`, rule `accept`. Scope, traps and robots.txt stay what they are. Of the exit
codes of pages that were not crawled (docs/behaviour.md), 201, 202 and 203 depend on policies, exclusions and rules,
221 on `max_url_length`. Depth, scope and start paths refuse no page: they keep it out of the queue, or keep a link from
becoming a page.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import TypeVar

from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.exit_code import BLOCKED, FAILURES, ExitCode
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.exclusion import ExclusionIndex, address_of
from tui_crawler.domain.rules.matcher import All, MatcherSet
from tui_crawler.domain.rules.pattern import PatternSet
from tui_crawler.domain.rules.policy import CompiledPolicies, PolicySet, Whitelist
from tui_crawler.domain.rules.ruleset import RulesetEntry, bare_entry, change_between
from tui_crawler.domain.rules.verdict import JUDGEMENT_CODES, Refusal
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, CrawlUrl, InvalidUrl, normalise

ALLOWED = "allowed"
"""The verdict on a URL that no rule refuses; the others are names of stages."""

SAMPLES = 20
_NO_LIMITS = Limits(max_url_length=CLIENT_MAX_LENGTH)

Entry = TypeVar("Entry", bound=RulesetEntry)
"""An entry of a section of the rules, or a pattern of the whitelist."""

KnownUrl = tuple[int, str, int, str, int | None]
"""Id of the page, URL as it is stored, 1 for a seed, name of the job, id of the last exit code (None: none yet)."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One URL over which the change decides otherwise; `decided_by` is the line that refuses it, then or now."""

    url: str
    before: str
    after: str
    decided_by: str


@dataclass(slots=True)
class OriginImpact:
    """The effect of a change on the known URLs of one origin, as far as they are counted."""

    origin: str
    newly_blocked: int = 0
    newly_allowed: int = 0
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect of a change. `by_origin` holds origins with any change, most changes first.

    `blocked_by_state` counts what would be blocked by what became of it so far: waiting, done, failed, blocked.
    """

    known: int
    newly_blocked: int
    newly_allowed: int
    unchanged: int
    by_origin: tuple[OriginImpact, ...] = ()
    seeds_hit: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    blocked_by_state: tuple[tuple[str, int], ...] = ()


class RuleSide:
    """One set of rules, asked about known URLs. Raises BadPattern when it holds a bad value."""

    def __init__(self, policies: PolicySet) -> None:
        compiled = CompiledPolicies(policies)
        self._admission = Admission(policies, Scope(frozenset()), _NO_LIMITS, compiled)

        def by_rules(url: CrawlUrl) -> str:
            settings = compiled.settings(url)
            return "rule_skip" if settings.skip else "" if settings.accept else Refusal.rule_accept

        self.refuses: dict[str, Callable[[CrawlUrl], str]] = {
            "exclusions": lambda url: Refusal.exclusion if compiled.exclusions.of_url(url) else "",
            "do_not_crawl": lambda url: "do_not_crawl" if compiled.do_not_crawl(url) else "",
            "whitelist": lambda url: "" if compiled.whitelisted(url) else Refusal.whitelist,
            "url_query_parameters": lambda url: "query_policy" if compiled.query_refusal(url) else "",
            "rules": by_rules,
        }

    def stage(self, url: CrawlUrl) -> str:
        """The first stage that refuses the URL, or ALLOWED."""
        for refuse in self.refuses.values():
            stage = refuse(url)
            if stage:
                return str(stage)
        return ALLOWED

    def exit_code(self, url: CrawlUrl) -> ExitCode | None:
        """Return what a page is refused with when it is about to be crawled (docs/behaviour.md), before robots.txt is
        asked; None: it is not. `accept` speaks of links only."""
        return JUDGEMENT_CODES.get(self.stage(url))

    def verdict(self, url: CrawlUrl) -> tuple[str, str]:
        """The same with the line that decided, in words; empty for ALLOWED."""
        stage = self.stage(url)
        if stage == ALLOWED:
            return ALLOWED, ""
        step = next(step for step in self._admission.explain(url, None) if step.stage == stage)
        return stage, f"{step.reason} ({step.source})" if step.source else step.reason


@lru_cache(65_536)
def _root(name: str) -> CrawlUrl | InvalidUrl:
    return normalise(f"{name}/")


def stored_url(href: str) -> CrawlUrl | InvalidUrl:
    """Return a stored URL in its parts. It was normalised before: only its origin is parsed, once."""
    slash = href.find("/", 8)
    root = _root(href[:slash])
    if isinstance(root, InvalidUrl):
        return root
    path, _, query = href[slash:].partition("?")
    return CrawlUrl(href, root.origin, root.scheme, root.host, root.port, path, query)


class Comparison:
    """Rules before and after a change, compiled. Raises BadPattern when one of them holds a bad value."""

    def __init__(self, before: PolicySet, after: PolicySet) -> None:
        self.before = RuleSide(before)
        self.after = RuleSide(after)
        self._concerns = tuple(_concerns(before, after))
        edit = change_between(before, after)
        self._stages = tuple(
            (refuse, self.after.refuses[name] if getattr(edit, name) is not None else None)
            for name, refuse in self.before.refuses.items()
        )

    def concerns(self, url: CrawlUrl) -> bool:
        """Return whether an edited entry speaks of the URL: one of which none does is judged as before."""
        for concern in self._concerns:  # noqa: SIM110  a generator for every URL takes as long as the question
            if concern(url):
                return True
        return False

    def changes(self, url: CrawlUrl) -> tuple[str, str] | None:
        """The verdicts before and after, if one of them is ALLOWED and the other is not.

        What the change speaks of is asked first: it is the answer for most URLs.
        """
        if not self.concerns(url):
            return None
        old = new = ""
        for before, after in self._stages:  # no `after`: both are the same
            answer = before(url)
            old, new = old or answer, new or (answer if after is None else after(url))
            if old and new:
                return None
        return (str(old) or ALLOWED, str(new) or ALLOWED) if old or new else None


def _concerns(before: PolicySet, after: PolicySet) -> Iterator[Callable[[CrawlUrl], object]]:
    """For each section that was edited, whether it may judge a URL otherwise: whether an edited entry matches it.

    Entries that both have, in the same order, decide the same where no other one matches.
    """
    exclusions = _edited(before.exclusions, after.exclusions)
    if exclusions:
        yield ExclusionIndex(exclusions).of_url
    forbidden = _edited(before.do_not_crawl, after.do_not_crawl)
    if forbidden:
        yield MatcherSet([each.matcher for each in forbidden]).all
    rules = _edited(before.rules, after.rules)
    if rules:
        by_rule = PatternSet([rule.match for rule in rules])
        yield lambda url: by_rule.first(url.href) is not None
    queries = _edited(before.url_query_parameters, after.url_query_parameters)
    if queries:
        applicable = MatcherSet([All(()) if each.match is None else each.match for each in queries])
        yield lambda url: url.query and applicable.all(url)
    patterns = [(each.whitelist or Whitelist()).patterns for each in (before, after)]
    edited = _edited(*patterns)
    if edited:  # where one of them has none, it refuses nothing; the other one refuses what it does not match
        listed, speaks = PatternSet(edited), all(patterns)
        yield lambda url: (listed.first(url.href) is not None) is speaks


def _edited(before: Sequence[Entry], after: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries of both without those at the beginning and at the end that are the same in both, wherever they were
    written."""
    former, latter = ([bare_entry(each) for each in entries] for entries in (before, after))
    most = min(len(former), len(latter))
    first = next((n for n in range(most) if former[n] != latter[n]), most)
    most -= first
    last = next((n for n in range(most) if former[-1 - n] != latter[-1 - n]), most)
    return (*before[first : len(before) - last], *after[first : len(after) - last])


@dataclass(slots=True)
class Impact:
    """Counts what a change does, URL by URL: for each job what its rules are before and after.

    URLs of a job that is not named are unchanged.
    """

    _comparisons: Mapping[str, Comparison]
    _samples_wanted: int = SAMPLES
    _origins: dict[str, OriginImpact] = field(default_factory=dict)
    _states: Counter[str] = field(default_factory=Counter)
    _seeds_hit: list[str] = field(default_factory=list)
    _samples: dict[bool, list[Sample]] = field(default_factory=lambda: {True: [], False: []})
    known: int = 0
    last_id: int = 0
    """The page that was judged last."""

    def add(self, rows: Iterable[KnownUrl]) -> None:
        """Take a window of known URLs in."""
        for row in rows:
            self.last_id, href, _, job, _ = row
            self.known += 1
            url = stored_url(href)
            if isinstance(url, InvalidUrl):
                raise TypeError(f"not a stored URL: {href[:200]!r}")
            origin = self._origins.get(url.origin)
            if origin is None:
                origin = self._origins[url.origin] = OriginImpact(url.origin)
            comparison = self._comparisons.get(job)
            found = comparison.changes(url) if comparison is not None else None
            if found is None or comparison is None:
                origin.unchanged += 1
                continue
            self._note(url, row, found, comparison)

    def result(self) -> Preview:
        """Return what was counted so far."""
        every = self._origins.values()
        changed = sorted(
            (one for one in every if one.newly_blocked or one.newly_allowed),
            key=lambda one: (-one.newly_blocked - one.newly_allowed, one.origin),
        )
        blocked, allowed, wanted = self._samples[True], self._samples[False], self._samples_wanted
        shown = blocked[: max(wanted // 2, wanted - len(allowed))]
        return Preview(
            self.known,
            sum(one.newly_blocked for one in every),
            sum(one.newly_allowed for one in every),
            sum(one.unchanged for one in every),
            tuple(changed),
            tuple(dict.fromkeys(self._seeds_hit)),
            (*shown, *allowed[: wanted - len(shown)]),
            tuple(sorted(self._states.items())),
        )

    def _note(self, url: CrawlUrl, row: KnownUrl, found: tuple[str, str], comparison: Comparison) -> None:
        (_, _, seed, _, code), origin = row, self._origins[url.origin]
        blocks = found[1] != ALLOWED
        if blocks:
            origin.newly_blocked += 1
            ended = "blocked" if code in BLOCKED else "failed" if code in FAILURES else "done"
            state = "waiting" if code is None else ended
            self._states[state] += 1
            if seed:
                self._seeds_hit.append(url.href)
        else:
            origin.newly_allowed += 1
        samples = self._samples[blocks]
        if len(samples) < self._samples_wanted:
            decided_by = comparison.after.verdict(url)[1] or comparison.before.verdict(url)[1]
            samples.append(Sample(url.href, *found, decided_by))


_EXCLUDED = ExitCode.blocked_by_exclusion_list


class Effect(Enum):
    """The effect of a change on a page that was refused."""

    none = "none"  # it says nothing of it: the page stays what it is, refused or waiting to be judged
    upheld = "upheld"  # it is refused with the same exit code
    overturned = "overturned"  # it is allowed, or refused with another exit code


class Rejudgement:
    """Refusals of one job's pages, looked at by its rules before and after a change. Raises BadPattern.

    robots.txt is not asked: it is judged last, by a page that nothing else refuses.
    """

    def __init__(self, before: PolicySet, after: PolicySet, longest: int | None = None) -> None:
        """`longest` None: the rules alone have changed, and of a URL of which no edited entry speaks nothing is said.
        Otherwise the whole configuration may be another one, whose `max_url_length` (characters) this is: then every
        URL is judged."""
        self._comparison = Comparison(before, after)
        self._freed = bool(_addresses(before) - _addresses(after))
        self._longest = longest

    def effect(self, href: str, code: ExitCode) -> Effect:
        """Return what the change does to a page with this URL that was refused with this code.

        A refusal by the address that a host name led to stands until an entry for addresses is taken away: what the
        name leads to now is not known.
        """
        url = stored_url(href)
        if isinstance(url, InvalidUrl) or (self._longest is not None and len(href) > self._longest):
            return Effect.upheld if code is ExitCode.invalid_url else Effect.overturned
        may_be_free = self._freed and code is _EXCLUDED
        if self._longest is None and not (may_be_free or self._comparison.concerns(url)):
            return Effect.none
        now = self._comparison.after.exit_code(url)
        by_address = now is None and code is _EXCLUDED and self._comparison.before.exit_code(url) is not code
        if by_address and not self._freed:
            return Effect.none
        return Effect.upheld if now is code else Effect.overturned


def _addresses(policies: PolicySet) -> frozenset[tuple[str, str]]:
    """The exclusions that hold for addresses, also for those that names lead to."""
    return frozenset(
        (each.kind, each.value)
        for each in policies.exclusions
        if each.kind == "cidr" or (each.kind == "host" and address_of(each.value.strip().strip("[]")))
    )
