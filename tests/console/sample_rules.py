"""Rules that stand still for the pictures and the tests of view 4, and a desk that judges made-up URLs by them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.console.sample_crawl import API, NOW, WHO, WWW
from tests.support.patience import PATIENT_S
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.policy import DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.preview import Comparison, Impact, KnownUrl, Preview
from tui_crawler.domain.rules.ruleset import Ruleset, RulesetChange, RulesProblem
from tui_crawler.wiring.console_rules import ConsoleRules

JOB = "my-index"
HOUR = 3_600_000
FIRST = PolicySet(
    do_not_crawl=(
        DoNotCrawl(Test("path", "prefix", "/admin/"), "my.yaml:14"),
        DoNotCrawl(Test("path", "suffix", ".zip"), "my.yaml:15"),
    ),
    url_query_parameters=(
        QueryPolicy(Test("path", "prefix", "/v2/items"), frozenset({"page"}), source="my.yaml:18"),
        QueryPolicy(None, frozenset(), (("id", r"^\d+$"),), source="my.yaml:20"),
    ),
    exclusions=(Exclusion("domain", "example.net", "owner asked", "the owner", "my.yaml:24"),),
    whitelist=Whitelist(("*.example.org",), ()),
    rules=(Rule("/feed/", ua="special", source="my.yaml:30"), Rule("/calendar/", skip=True, source="my.yaml:31")),
)
SECOND = replace(FIRST, rules=(*FIRST.rules, Rule("/v2/user/", skip=True, source="console")))
THIRD = replace(SECOND, do_not_crawl=FIRST.do_not_crawl[:1])
ADDED = (Exclusion("host", "private.example.org", "mail of 5 January", WHO, "operator"),)


def versions() -> tuple[Ruleset, ...]:
    """Three versions, newest first."""
    return (
        Ruleset(13, JOB, THIRD, 12, NOW - HOUR // 2, WHO, '− do_not_crawl path ends with ".zip"'),
        Ruleset(12, JOB, SECOND, 11, NOW - 5 * HOUR, WHO, "+ rule /v2/user/: skip true", current=False),
        Ruleset(
            11, JOB, FIRST, 0, NOW - 30 * HOUR, "configuration", "read from the configuration", True, current=False
        ),
    )


def known_urls() -> list[KnownUrl]:
    """Made-up pages: 1 500 of a shop, 40 of an API, two seeds of the shop."""
    products = [(n, f"{WWW}/products/{n}", 0, JOB, 1 if n % 3 else None) for n in range(1, 1_501)]
    items = [(2_000 + n, f"{API}/v2/items?page={n}", 0, JOB, 102 if n % 2 else 1) for n in range(40)]
    seeds = [(3_000, f"{WWW}/", 1, JOB, 1), (3_001, f"{WWW}/products/sale", 1, JOB, 1)]
    return [*products, *items, *seeds]


@dataclass
class FakeRules:
    """The desk of the editor: reads as the configuration does, judges `known`. `gate` holds the judging up."""

    current: Callable[[], Ruleset] = lambda: versions()[0]
    known: list[KnownUrl] = field(default_factory=known_urls)
    gate: threading.Event | None = None
    begun: threading.Event = field(default_factory=threading.Event)
    failure: str = ""
    judged: list[RulesetChange] = field(default_factory=list)
    excluded: list[tuple[Exclusion, ...]] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)

    def let_go(self) -> None:
        """The judging goes on."""
        assert self.gate is not None
        self.gate.set()

    def read(self, text: str) -> RulesetChange | tuple[RulesProblem, ...]:
        return ConsoleRules(Path("none.db")).read(text)

    def impact(self, change: RulesetChange, job: str) -> FakeImpact:
        self.judged.append(change)
        base = self.current()
        return FakeImpact(self, base, change.applied_to(base.policies))

    def impact_of_exclusions(self, more: tuple[Exclusion, ...]) -> FakeImpact:
        self.excluded.append(more)
        base = self.current()
        return FakeImpact(self, base, replace(base.policies, exclusions=(*base.policies.exclusions, *more)))


@dataclass
class FakeImpact:
    """Judges what is known of a desk, from where it stopped the last time."""

    rule_queries: FakeRules
    base: Ruleset
    after: PolicySet
    judged: int = 0
    impact: Impact = field(init=False)

    def __post_init__(self) -> None:
        self.impact = Impact({self.base.job: Comparison(self.base.policies, self.after)})

    def go_on(self, progress: Callable[[int], None]) -> Preview:
        self.rule_queries.begun.set()
        if self.rule_queries.gate is not None:
            self.rule_queries.gate.wait(PATIENT_S)
        if self.rule_queries.failure:
            raise StorageFailure(self.rule_queries.failure)
        new = self.rule_queries.known[self.judged :]
        self.rule_queries.passes.append(len(new))
        self.impact.add(new)
        self.judged += len(new)
        progress(20_000)
        return self.impact.result()
