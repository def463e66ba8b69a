"""The two decisions about a URL: whether a link found becomes a page, and whether a page may be crawled now.

Both walk a fixed list of stages (docs/behaviour.md) and stop at the first that refuses; `Admission.explain`
walks all of them with the same code, for the people who ask why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.rules.matcher import describe
from tui_crawler.domain.rules.pattern import BadPattern, Pattern
from tui_crawler.domain.rules.policy import CompiledPolicies, PolicySet, Rule, RuleSettings
from tui_crawler.domain.rules.verdict import JUDGEMENT_CODES, Admitted, Cleared, Denied, Refusal, Refused, Step, Verdict
from tui_crawler.domain.url import CrawlUrl, InvalidUrl

if TYPE_CHECKING:
    from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionKind
    from tui_crawler.domain.rules.robots import RobotsRules


@dataclass(frozen=True, slots=True)
class Scope:
    """The origins that are crawled, and per origin the path its pages must be under (G).

    A path that ends in "/" is a prefix; another one is that path itself and everything below it. `waived` are the
    origins, the operator's own, whose robots.txt is not obeyed.
    """

    origins: frozenset[str]
    start_paths: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    waived: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what is admitted; `max_url_length` in characters."""

    max_url_length: int = 2048
    max_redirect_hops: int = 10
    max_pages_per_origin: int | None = None
    max_path_segments: int = 20
    max_segment_repeats: int = 3


@dataclass(frozen=True, slots=True)
class Discovered:
    """A link as it was found: `redirect_hops` of the new page, the pattern of the parent item, and how many
    pages its origin has already. A `sitemap` need not lie under the start path of its site. `joins`: None, or the start
    path of an origin that joins the crawl as a seed leads there ("" for none)."""

    url: CrawlUrl | InvalidUrl
    redirect_hops: int = 0
    item_pattern: str | None = None
    origin_pages: int = 0
    sitemap: bool = False
    joins: str | None = None


LENGTH_LIMIT = "crawl.max_url_length"
"""What decides over a URL that is too long."""

# Steps that say the same of every URL; links are many, so they are made once.
_VALID = Step(Refusal.invalid_url, "pass", "a valid URL")
_IN_SCOPE = Step(Refusal.scope, "pass", "its origin is crawled")
_WELCOME = Step(Refusal.whitelist, "pass", "the whitelist does not forbid it")
_NO_START_PATH = Step(Refusal.start_path, "pass", "its site has no start path")
_NOT_EXCLUDED = Step(Refusal.exclusion, "pass", "not on the exclusion list")
_NO_REPEAT = Step(Refusal.trap_repeat, "pass", "no path segment is repeated too often")
_NOT_DEEP = Step(Refusal.trap_depth, "pass", "its path is not too deep")
_NOT_FULL = Step(Refusal.origin_full, "pass", "its origin is not full")
_REMEMBERED = 32_768  # verdicts on plain links: navigation repeats itself
_NO_ACCEPT_RULE = Step(Refusal.rule_accept, "pass", "no rule speaks of accepting it")
_NO_ITEM_PATTERN = Step(Refusal.item_pattern, "pass", "the page that links to it has no item pattern")
_CRAWLABLE = Step("do_not_crawl", "pass", "no do_not_crawl policy matches")
_NO_SKIP_RULE = Step("rule_skip", "pass", "no rule skips it")
_ROBOTS_UNKNOWN = Step("robots", "unknown", "robots.txt of its origin has not been fetched")
_ROBOTS_SILENT = Step("robots", "pass", "no line of robots.txt speaks of it", "robots.txt")


@lru_cache(maxsize=64)
def _few_hops(hops: int, limit: int) -> Step:
    return Step(Refusal.redirect_hops, "pass", f"{hops} of {limit} redirects in a row")


class Admission:
    """All that decides about URLs, compiled once. Immutable: a change gives another Admission.

    Raises BadPattern when a policy, exclusion, whitelist or rule holds a value that cannot be compiled.
    """

    __slots__ = ("_cleared", "_compiled", "_verdicts", "limits", "names_agents", "scope")

    def __init__(
        self, policies: PolicySet, scope: Scope, limits: Limits, compiled: CompiledPolicies | None = None
    ) -> None:
        self._compiled = compiled or CompiledPolicies(policies)
        self.scope = scope
        self.limits = limits
        self._verdicts: dict[str, Admitted | Refused] = {}
        self._cleared: dict[str, tuple[RobotsRules | None, Cleared]] = {}  # until they are asked for again
        # whether a rule gives some pages a user agent of their own, whose robots.txt group then counts
        self.names_agents = any(rule.ua is not None for rule in self.policies.rules)

    @property
    def policies(self) -> PolicySet:
        """The policies in force, with the exclusions that came while crawling."""
        return self._compiled.policies

    def admit(self, found: Discovered) -> Admitted | Refused:
        """Whether a link becomes a page: the first filter that refuses decides."""
        url = found.url
        if isinstance(url, InvalidUrl):
            return Refused(Refusal.invalid_url, f"the URL {url.reason}")
        if found.redirect_hops or found.item_pattern or found.sitemap or self.limits.max_pages_per_origin is not None:
            return self._admit(url, found)
        return self.admit_plain(url)

    @property
    def bounds_origins(self) -> bool:
        """Whether a link is refused where its origin has too many pages."""
        return self.limits.max_pages_per_origin is not None

    def admit_plain(self, url: CrawlUrl) -> Admitted | Refused:
        """The same for a link whose URL alone decides: no hops, pattern or sitemap, and no bound on origins. The
        answer is remembered."""
        known = self._verdicts.get(url.href)
        if known is None:
            if len(self._verdicts) >= _REMEMBERED:
                self._verdicts.clear()
            known = self._verdicts[url.href] = self._admit(url, Discovered(url))
        return known

    def _admit(self, url: CrawlUrl, found: Discovered) -> Admitted | Refused:
        return _refusal(self._filters(url, found)) or Admitted(url, url.origin not in self.scope.origins)

    def start_path(self, origin: str) -> str:
        """The start path of an origin, empty where it has none."""
        return self.scope.start_paths.get(origin, "")

    def refuses_check(self, url: CrawlUrl, origin_pages: int, hops: int = 0) -> Refused | None:
        """Why a URL is not even checked: its length, an exclusion, a likely trap, too many redirects; None: it is."""
        found = Discovered(url, hops, origin_pages=origin_pages)
        return _refusal((self._length(url), self._exclusion(url), *self._trap(url, found), self._redirect_hops(found)))

    def judge(
        self, url: CrawlUrl | InvalidUrl, robots: RobotsRules | None, is_seed: bool = False, external: int = 0
    ) -> Cleared | Denied:
        """Whether a page that is about to be crawled may be requested: the first hit decides.

        `robots` None leaves robots.txt out, for the moment it is not known; `is_seed` is for the message only,
        since a seed is judged like any page. What is `external` is not crawled: the policies that say which pages are
        (whitelist, queries) do not hold for it. A page is judged as it is put on a todo list and as it is asked for;
        that it was cleared is remembered from the one to the other.
        """
        prefix = "this seed: " if is_seed else ""
        if isinstance(url, InvalidUrl):
            return Denied(ExitCode.invalid_url, f"{prefix}the URL {url.reason}")
        known = self._cleared.pop(url.href, None)
        if known is not None and known[0] is robots and not external:
            return known[1]
        settings = self._compiled.settings(url)
        for step in self._judgements(url, robots, settings):
            if step.verdict == "refuse" and not (external and step.stage in _OF_THE_CRAWL):
                return Denied(JUDGEMENT_CODES[step.stage], prefix + step.reason, step.source)
        cleared = Cleared(settings.ua, settings.custom_js, self._waived(url, robots))
        if not external and len(self._cleared) < _REMEMBERED:
            self._cleared[url.href] = robots, cleared
        return cleared

    def explain(
        self, url: CrawlUrl | InvalidUrl, robots: RobotsRules | None, found: Discovered | None = None
    ) -> tuple[Step, ...]:
        """Every stage in order, whatever the earlier ones said: the filters, then the judgements.

        What depends on the link (item pattern, redirect hops, pages of the origin) is unknown without `found`.
        """
        if isinstance(url, InvalidUrl):
            return (Step(Refusal.invalid_url, "refuse", f"the URL {url.reason}"),)
        filters = list(self._filters(url, found or Discovered(url)))
        if found is None:
            unknown = "depends on the page that links to it"
            filters = [Step(one.stage, "unknown", unknown) if one.stage in _OF_THE_LINK else one for one in filters]
        seen = {step.stage for step in filters}
        judged = self._judgements(url, robots, self._compiled.settings(url))
        return (*filters, *(step for step in judged if step.stage not in seen))

    def settings(self, url: CrawlUrl) -> RuleSettings:
        """What the rules together say of a URL, and which rule decided what (B)."""
        return self._compiled.settings(url)

    def excludes(self, target: CrawlUrl | str) -> Exclusion | None:
        """The entry of the exclusion list that holds for a URL, a host name or an address literal."""
        exclusions = self._compiled.exclusions
        return exclusions.of_url(target) if isinstance(target, CrawlUrl) else exclusions.of_host(target)

    def excludes_address(self, address: str) -> Exclusion | None:
        """The entry that holds for the address a connection reached."""
        return self._compiled.exclusions.of_address(address)

    def with_exclusion(self, exclusion: Exclusion) -> Admission:
        """The same with one exclusion more. Raises BadPattern if its value is none of its kind."""
        return self._with(self._compiled.with_exclusions(self._compiled.exclusions.added(exclusion)))

    def without_exclusion(self, kind: ExclusionKind, value: str) -> Admission:
        return self._with(self._compiled.with_exclusions(self._compiled.exclusions.removed(kind, value)))

    def with_origin(self, origin: str, start_path: str = "") -> Admission:
        """The same with one origin more in scope, and perhaps its start path."""
        paths = {origin: start_path, **self.scope.start_paths} if start_path else self.scope.start_paths
        scope = replace(self.scope, origins=self.scope.origins | {origin}, start_paths=paths)
        return Admission(self.policies, scope, self.limits, self._compiled)

    def _with(self, compiled: CompiledPolicies) -> Admission:
        return Admission(compiled.policies, self.scope, self.limits, compiled)

    def _filters(self, url: CrawlUrl, found: Discovered) -> Iterator[Step]:
        yield self._length(url)
        yield self._in_scope(url, found)
        yield self._whitelist(url)
        yield _NO_START_PATH if found.sitemap else self._start_path(url, found.joins)
        yield self._exclusion(url)
        yield from self._trap(url, found)
        said = self._compiled.settings(url)
        yield _by_rule(_NO_ACCEPT_RULE, said.accept_rule, "accept", said.accept, refuses=False)
        yield _item_pattern(url, found)
        yield self._redirect_hops(found)

    def _judgements(self, url: CrawlUrl, robots: RobotsRules | None, settings: RuleSettings) -> Iterator[Step]:
        yield self._length(url)
        yield self._exclusion(url)
        yield self._do_not_crawl(url)
        yield self._whitelist(url)
        yield self._query(url)
        yield _by_rule(_NO_SKIP_RULE, settings.skip_rule, "skip", settings.skip, refuses=True)
        waived = self._waived(url, robots)
        reason = f'robots.txt is not obeyed at a site of your own: "{waived}"'
        yield Step("robots", "pass", reason, "crawl.obey_robots") if waived else _robots(url, robots)

    def _waived(self, url: CrawlUrl, robots: RobotsRules | None) -> str:
        """Return the line of robots.txt that denies a URL of the operator's own sites and is not obeyed."""
        decision = robots.allows(url) if robots is not None and url.origin in self.scope.waived else None
        return "" if decision is None or decision.allowed else decision.line

    def _length(self, url: CrawlUrl) -> Step:
        length, limit = len(url.href), self.limits.max_url_length
        if length > limit:
            reason = f"the URL is {length} characters long, more than {limit}"
            return Step(Refusal.invalid_url, "refuse", reason, LENGTH_LIMIT)
        return _VALID

    def _in_scope(self, url: CrawlUrl, found: Discovered) -> Step:
        if url.origin in self.scope.origins:
            return _IN_SCOPE
        if self._compiled.welcomes(url.host):
            return Step(Refusal.scope, "pass", "the whitelist lets its origin join", "whitelist.domains")
        if found.joins is not None:
            return Step(Refusal.scope, "pass", "a seed redirects there", "crawl.follow_seed_redirects")
        reason = f"{url.origin} is not one of the origins that are crawled"
        return Step(Refusal.scope, "refuse", reason, "seeds")

    def _whitelist(self, url: CrawlUrl) -> Step:
        if self._compiled.whitelisted(url):
            return _WELCOME
        whitelist = self.policies.whitelist
        patterns = whitelist.patterns if whitelist else ()
        shown = ", ".join(patterns[:3]) + (f" and {len(patterns) - 3} more" if len(patterns) > 3 else "")
        reason = f"no pattern of the whitelist matches: {shown}"
        return Step(Refusal.whitelist, "refuse", reason, "whitelist.patterns")

    def _start_path(self, url: CrawlUrl, joining: str | None) -> Step:
        start = self.start_path(url.origin) or joining
        if not start:
            return _NO_START_PATH
        if url.path == start or url.path.startswith(start if start.endswith("/") else f"{start}/"):
            return Step(Refusal.start_path, "pass", f"under start_path {start}", "sites")
        return Step(Refusal.start_path, "refuse", f"not under start_path {start} of its site", "sites")

    def _exclusion(self, url: CrawlUrl) -> Step:
        entry = self._compiled.exclusions.of_url(url)
        if entry is None:
            return _NOT_EXCLUDED
        return Step(Refusal.exclusion, "refuse", entry.describe(), entry.source)

    def _trap(self, url: CrawlUrl, found: Discovered) -> Iterator[Step]:
        segments = url.path.split("/")[1:]
        if segments[-1] == "":
            segments.pop()
        limits = self.limits
        name, times = "", 0
        if len(segments) - len(set(segments)) >= limits.max_segment_repeats:
            name, times = Counter(segments).most_common(1)[0]
        if times > limits.max_segment_repeats:
            reason = f"path segment {name[:60]!r} comes {times} times, more than {limits.max_segment_repeats}"
            yield Step(Refusal.trap_repeat, "refuse", reason, "trap guard")
        else:
            yield _NO_REPEAT
        if len(segments) > limits.max_path_segments:
            reason = f"{len(segments)} path segments, more than {limits.max_path_segments}"
            yield Step(Refusal.trap_depth, "refuse", reason, "trap guard")
        else:
            yield _NOT_DEEP
        full = limits.max_pages_per_origin
        if full is not None and found.origin_pages >= full:
            reason = f"{url.origin} has {found.origin_pages} pages already, at most {full} are allowed"
            yield Step(Refusal.origin_full, "refuse", reason, "crawl.max_pages_per_origin")
        else:
            yield _NOT_FULL

    def _redirect_hops(self, found: Discovered) -> Step:
        limit = self.limits.max_redirect_hops
        if found.redirect_hops > limit:
            reason = f"{found.redirect_hops} redirects in a row, more than {limit}"
            return Step(Refusal.redirect_hops, "refuse", reason, "crawl.max_redirect_hops")
        return _few_hops(found.redirect_hops, limit)

    def _do_not_crawl(self, url: CrawlUrl) -> Step:
        policy = self._compiled.do_not_crawl(url)
        if policy is None:
            return _CRAWLABLE
        return Step("do_not_crawl", "refuse", f"do_not_crawl: {describe(policy.matcher)}", policy.source)

    def _query(self, url: CrawlUrl) -> Step:
        refusal = self._compiled.query_refusal(url)
        if refusal is None:
            allowed = "its query is allowed" if url.query else "it has no query"
            return Step("query_policy", "pass", allowed)
        return Step("query_policy", "refuse", refusal.detail, refusal.source)


_OF_THE_CRAWL = frozenset({Refusal.whitelist, "query_policy"})
_OF_THE_LINK = frozenset({Refusal.origin_full, Refusal.item_pattern, Refusal.redirect_hops})


def _refusal(steps: Iterable[Step]) -> Refused | None:
    for step in steps:
        if step.verdict == "refuse":
            return Refused(Refusal(step.stage), step.reason, step.source)
    return None


def _item_pattern(url: CrawlUrl, found: Discovered) -> Step:
    text = found.item_pattern
    if text is None:
        return _NO_ITEM_PATTERN
    try:
        matched = Pattern(text).search(url.href)
    except BadPattern as bad:
        return Step(Refusal.item_pattern, "refuse", f"the item pattern is bad: {bad}", "item pattern")
    if matched:
        return Step(Refusal.item_pattern, "pass", f"matches the item pattern {text}", "item pattern")
    return Step(Refusal.item_pattern, "refuse", f"does not match the item pattern {text}", "item pattern")


def _by_rule(silent: Step, rule: Rule | None, setting: str, value: bool, *, refuses: bool) -> Step:
    """What the rule says that decided over a setting; `silent` without one."""
    if rule is None:
        return silent
    verdict: Verdict = "refuse" if value is refuses else "pass"
    return Step(silent.stage, verdict, f"rule {rule.match}: {setting} {str(value).lower()}", rule.source)


def _robots(url: CrawlUrl, robots: RobotsRules | None) -> Step:
    if robots is None:
        return _ROBOTS_UNKNOWN
    decision = robots.allows(url)
    if decision.line_number is None and decision.allowed:
        return _ROBOTS_SILENT
    verdict: Verdict = "pass" if decision.allowed else "refuse"
    reason = f'robots.txt, group {robots.group}: "{decision.line}"'
    return Step("robots", verdict, reason, f"robots.txt:{decision.line_number}")
