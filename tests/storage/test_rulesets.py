"""Rulesets in the database: versions by configuration and operators, conflicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, crawled, plan, seed
from tests.storage.whole import assert_whole
from tests.storage.workbench import Workbench
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.domain.records.failure import NoSuchJob, StorageFailure
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.ruleset import (
    BadRuleset,
    Ruleset,
    RulesetConflict,
    change_between,
    from_json,
    same_rules,
    to_json,
)
from tui_crawler.storage.crawl import rejudging, rulesets
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.reports.reports import Reports

HOME = f"{A}/"
NO_ADMIN = DoNotCrawl(Test("path", "prefix", "/admin"), "c.yaml:1")
SKIP, ACCEPT = Rule("/calendar/", skip=True, source="c.yaml:2"), Rule("/feed/", accept=False, source="c.yaml:3")
FIRST = PolicySet(do_not_crawl=(NO_ADMIN,), rules=(SKIP,))
EDITED = replace(FIRST, exclusions=(Exclusion("domain", "x.example", "asked"),))


def planned(policies: PolicySet, *jobs: JobPlan) -> RunPlan:
    return plan(policies=policies, jobs=jobs, config_text=to_json(policies))


def job(name: str, *rules: Rule) -> JobPlan:
    return JobPlan(name, (seed(f"{A}/{name}"),), rules=rules)


def edit(workbench: Workbench, claim: Claim, policies: PolicySet, base_id: int, **more: Any) -> tuple[Ruleset, ...]:
    command = ApplyRules(to_json(policies), base_id, **more)
    return workbench.work(lambda work: rulesets.apply(work, claim, command, "ann")[0])


def everything(workbench: Workbench) -> list[Any]:
    return [workbench.rows(f"SELECT * FROM {table}") for table in ("ruleset", "job", "page", "activity")]


def moved(policies: PolicySet) -> PolicySet:
    """The same, ten lines further down."""
    return from_json(to_json(policies).replace("c.yaml:", "c.yaml:1"))


def test_the_first_start_writes_version_one_of_every_job(workbench, reports):
    _, start = workbench.begin(planned(FIRST, job("news", ACCEPT)))
    main, news = start.rulesets
    assert (main.ruleset_id, main.job, main.policies) == (1, "main", FIRST)
    assert (news.job, news.policies) == ("news", replace(FIRST, rules=(SKIP, ACCEPT)))
    assert (main.who, main.note, main.parent_id, main.at) == ("configuration", "read from the configuration", 0, T0)
    assert main.from_config
    assert main.current
    assert reports.current_rulesets() == start.rulesets
    assert [state.ruleset_id for state in start.jobs] == [1, 2]
    assert sorted(reports.rows("v_job", ["job", "ruleset_id"])) == [("main", 1), ("news", 2)]


def test_a_start_with_the_same_configuration_writes_nothing(workbench, reports):
    workbench.begin(planned(FIRST))
    _, start = workbench.begin(planned(FIRST))
    assert [one.ruleset_id for one in start.rulesets] == [1]
    assert len(reports.rulesets()) == 1


def test_lines_that_only_moved_are_no_new_version_but_the_run_goes_by_the_new_places(workbench, reports):
    workbench.begin(planned(FIRST))
    _, start = workbench.begin(planned(moved(FIRST)))
    assert [(one.ruleset_id, one.policies) for one in start.rulesets] == [(1, moved(FIRST))]
    assert reports.ruleset(1).policies == FIRST


def test_an_edited_configuration_is_a_new_version(workbench, reports):
    workbench.begin(planned(FIRST))
    workbench.now += 5
    _, start = workbench.begin(planned(EDITED))
    (now,) = start.rulesets
    assert (now.ruleset_id, now.parent_id, now.policies, now.at) == (2, 1, EDITED, T0 + 5)
    assert (now.note, now.from_config) == ("the configuration was edited", True)
    assert [(one.ruleset_id, one.current) for one in reports.rulesets()] == [(2, True), (1, False)]
    assert reports.ruleset(1).policies == FIRST  # the old one stays readable


def test_what_an_operator_applied_survives_restarts(workbench, reports):
    claim, _ = workbench.begin(planned(FIRST))
    workbench.now += 7
    (now,) = edit(workbench, claim, EDITED, 1, note="by mail")
    assert (now.ruleset_id, now.parent_id, now.policies) == (2, 1, EDITED)
    assert (now.who, now.note, now.at, now.from_config) == ("ann", "by mail", T0 + 7, False)
    for again in (FIRST, moved(FIRST)):
        _, start = workbench.begin(planned(again))
        assert start.rulesets == (now,)
    assert [(one.ruleset_id, one.current) for one in reports.rulesets("main")] == [(2, True), (1, False)]


def test_the_last_edit_wins_and_says_what_it_replaced(workbench, reports):
    claim, _ = workbench.begin(planned(FIRST))
    edit(workbench, claim, EDITED, 1, note="by mail")
    third = replace(FIRST, whitelist=Whitelist((), ("/docs/",)))
    _, start = workbench.begin(planned(third))
    (now,) = start.rulesets
    assert (now.ruleset_id, now.parent_id, now.policies, now.from_config) == (3, 2, third, True)
    assert now.note == "the configuration was edited; replaces version 2 of ann (by mail)"
    events = [row[1] for row in reports.rows("v_activity", ["event", "message"]) if row[0] == "ruleset_applied"]
    assert events == [
        "job main: version 2 of ann replaces 1",
        f"job main: version 3 replaces 2, {now.note}",
    ]


def test_a_stale_edit_is_a_conflict_and_writes_nothing(workbench):
    claim, _ = workbench.begin(planned(FIRST))
    workbench.now = T0 + 61_000
    edit(workbench, claim, EDITED, 1)
    before = everything(workbench)
    with pytest.raises(RulesetConflict) as caught:
        edit(workbench, claim, EMPTY, 1)
    at = "2027-01-15 08:01:01 UTC"
    for part in ("version 1", "version 2", "'main'", "ann", at, "nothing was written"):
        assert part in str(caught.value)
    for base_id in (0, -1, 99):
        with pytest.raises(RulesetConflict):
            edit(workbench, claim, EMPTY, base_id)
    assert everything(workbench) == before


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (to_json(replace(FIRST, rules=(Rule("(", skip=True),))), BadPattern),
        (to_json(replace(FIRST, exclusions=(Exclusion("host", "no host"),))), BadPattern),
        (to_json(replace(FIRST, url_query_parameters=(QueryPolicy(values=(("a", "["),)),))), BadPattern),
        ("{}", BadRuleset),
        ("", BadRuleset),
    ],
)
def test_what_cannot_be_compiled_or_read_writes_nothing(workbench, text, error):
    claim, _ = workbench.begin(planned(FIRST))
    before = everything(workbench)
    with pytest.raises(error):
        workbench.work(lambda work: rulesets.apply(work, claim, ApplyRules(text, 1), "ann"))
    assert everything(workbench) == before


def test_an_edit_that_changes_nothing_writes_nothing(workbench):
    claim, _ = workbench.begin(planned(FIRST))
    before = everything(workbench)
    (now,) = edit(workbench, claim, moved(FIRST), 1)
    assert (now.ruleset_id, now.policies) == (1, FIRST)
    assert everything(workbench) == before


def test_an_edit_of_one_job_leaves_the_others(workbench):
    claim, _ = workbench.begin(planned(FIRST, job("news", ACCEPT)))
    now = edit(workbench, claim, EMPTY, 2, job="news")
    assert [(one.job, one.ruleset_id, one.policies) for one in now] == [("main", 1, FIRST), ("news", 3, EMPTY)]
    with pytest.raises(RulesetConflict, match="'news'"):
        edit(workbench, claim, FIRST, 1, job="news")
    with pytest.raises(NoSuchJob, match="news"):
        edit(workbench, claim, FIRST, 1, job="new")


def test_an_edit_of_all_jobs_changes_in_each_what_it_changes_in_that_of_the_run(workbench):
    claim, _ = workbench.begin(planned(FIRST, job("news", ACCEPT)))
    now = edit(workbench, claim, EDITED, 1)
    assert [(one.job, one.ruleset_id, one.policies, one.parent_id) for one in now] == [
        ("main", 3, EDITED, 1),
        ("news", 4, replace(EDITED, rules=(SKIP, ACCEPT)), 2),
    ]


def test_common_rules_are_not_put_over_those_of_a_job(workbench):
    claim, _ = workbench.begin(planned(FIRST, job("news", ACCEPT), job("wiki")))
    before = everything(workbench)
    with pytest.raises(ValueError, match="--job") as caught:
        edit(workbench, claim, replace(FIRST, rules=()), 1)
    assert "news" in str(caught.value)
    assert "wiki" not in str(caught.value)
    assert everything(workbench) == before


def test_policies_hold_for_a_job_that_is_no_longer_configured(workbench):
    workbench.begin(planned(FIRST, job("news", ACCEPT)))
    _, start = workbench.begin(planned(EDITED))
    assert [(one.job, one.policies) for one in start.rulesets] == [("main", EDITED), ("news", EDITED)]


def test_a_job_without_a_version_gets_one_when_a_run_begins(workbench):
    claim, _ = workbench.begin(planned(FIRST))
    workbench.rows("UPDATE job SET ruleset_id = 0")
    workbench.rows("DELETE FROM ruleset")
    assert workbench.work(rulesets.current) == ()
    with pytest.raises(ValueError, match="no ruleset yet"):
        edit(workbench, claim, EMPTY, 0)
    _, start = workbench.begin(planned(FIRST))
    assert [one.policies for one in start.rulesets] == [FIRST]


def test_a_damaged_version_stops_the_start_rather_than_to_be_passed_over(workbench):
    workbench.begin(planned(FIRST))
    workbench.rows("UPDATE ruleset SET rules = ?", "{")
    with pytest.raises(StorageFailure, match="ruleset 1 of job 'main'"):
        workbench.begin(planned(FIRST))
    workbench.rows("UPDATE ruleset SET rules = ?, id = 9", to_json(FIRST))
    with pytest.raises(StorageFailure, match="ruleset 1 is not in the database"):
        workbench.begin(planned(EDITED))
    workbench.rows("UPDATE job SET ruleset_id = 9")


def test_the_reports_know_no_other_versions(workbench, reports):
    workbench.begin(planned(FIRST, job("news")))
    assert reports.ruleset(99) is None
    assert reports.rulesets("nobody") == ()
    assert [one.job for one in reports.rulesets("news")] == ["news"]
    assert [one.ruleset_id for one in reports.rulesets(limit=1)] == [2]


@pytest.mark.parametrize("many", [2_000, 0], ids=["judged in the transaction", "judged before it"])
async def test_the_store_applies_rules(database_bench: DatabaseBench, monkeypatch: pytest.MonkeyPatch, many: int):
    monkeypatch.setattr(rejudging, "_FEW", many)
    store = database_bench.open()
    with pytest.raises(StorageFailure, match="no run"):
        await store.apply_rules(ApplyRules(to_json(EMPTY), 1), "ann")
    await store.begin_run(planned(FIRST))
    (now,), _ = await store.apply_rules(ApplyRules(to_json(EDITED), 1, note="n"), "ann")
    assert (now.ruleset_id, now.who, now.note, now.policies) == (2, "ann", "n", EDITED)
    with pytest.raises(RulesetConflict):
        await store.apply_rules(ApplyRules(to_json(EMPTY), 1), "bob")
    await store.end_run("exhausted", True)
    rest = await store.begin_rest()
    assert rest.rulesets == (now,)
    (later,), _ = await store.apply_rules(ApplyRules(to_json(FIRST), 2), "bob")
    assert (later.ruleset_id, later.policies) == (3, FIRST)
    await store.end_rest()


async def test_an_attempt_keeps_the_version_it_began_with(database_bench: DatabaseBench):
    store = database_bench.open()
    start = await store.begin_run(planned(FIRST))
    (page,) = (await store.candidates(A, T0, 9, True)).pages
    await store.apply_rules(ApplyRules(to_json(EDITED), 1), "ann")
    made = crawled(page, T0 + 9)
    await store.settle(replace(made, attempt=replace(made.attempt, ruleset_id=start.rulesets[0].ruleset_id)))
    reports = Reports(database_bench.place)
    try:
        assert list(reports.rows("v_attempt", ["ruleset_id"])) == [(1,)]
    finally:
        reports.close()


@pytest.fixture(scope="module")
def segment_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workbench, Claim]]:
    """A run of three jobs, before any version; random examples use it one after the other, each rolled back."""
    path = tmp_path_factory.mktemp("rulesets") / "crawl.db"
    made = Workbench(path)
    claim, _ = made.begin(planned(FIRST, job("news"), job("wiki")))
    made.rows("UPDATE job SET ruleset_id = 0")
    made.rows("DELETE FROM ruleset")
    yield made, claim
    made.close()
    assert_whole(path)


@dataclass
class Version:
    """A version as the model keeps it; rules without the places they were written at."""

    policies: PolicySet
    parent: int
    from_config: bool


@dataclass
class Model:
    """What the rulesets of three jobs must come to."""

    versions: dict[str, dict[int, Version]] = field(default_factory=lambda: {"main": {}, "news": {}, "wiki": {}})
    current: dict[str, int] = field(default_factory=dict)

    def now(self, name: str) -> PolicySet:
        return self.versions[name][self.current[name]].policies

    def write(self, name: str, ruleset_id: int, policies: PolicySet, *, from_config: bool) -> None:
        version = Version(policies, self.current.get(name, 0), from_config)
        self.versions[name][ruleset_id] = version
        self.current[name] = ruleset_id

    def configured(self, name: str) -> PolicySet | None:
        return next((v.policies for _, v in sorted(self.versions[name].items(), reverse=True) if v.from_config), None)


RULE_POOL = st.lists(st.sampled_from([SKIP, ACCEPT, replace(SKIP, source="c.yaml:9")]), max_size=2).map(tuple)
POLICY_POOL = st.builds(
    PolicySet,
    do_not_crawl=st.sampled_from([(), (NO_ADMIN,), (replace(NO_ADMIN, source="c.yaml:5"),)]),
    exclusions=st.sampled_from([(), EDITED.exclusions]),
    whitelist=st.sampled_from([None, Whitelist(), Whitelist(("*.x",))]),
    rules=RULE_POOL,
)
STARTS = st.tuples(st.just("start"), POLICY_POOL, RULE_POOL)
EDITS = st.tuples(st.just("edit"), POLICY_POOL, st.sampled_from(["", "main", "news"]), st.integers(0, 3))


@given(POLICY_POOL, RULE_POOL, st.lists(STARTS | EDITS, max_size=8))
def test_whoever_edits_the_rules_the_last_edit_holds(segment_store, policies, own, steps):
    workbench, claim = segment_store
    model = Model()
    with workbench.scratch() as transaction:
        for step in [("start", policies, own), *steps]:
            if step[0] == "start":
                _start(transaction, claim, model, step[1], step[2])
            else:
                _edit(transaction, claim, model, *step[1:])
            stored = {one.job: one for one in rulesets.current(transaction)}
            assert list(stored) == ["main", "news", "wiki"]
            for name, one in stored.items():
                assert one.ruleset_id == model.current[name]
                assert same_rules(one.policies, model.now(name))
            rows = workbench.rows(
                "SELECT r.id, j.name, r.parent_id, r.from_config FROM ruleset r JOIN job j ON j.id = job_id"
            )
            assert {(row[1], row[0]): (row[2], bool(row[3])) for row in rows} == {
                (name, number): (version.parent, version.from_config)
                for name, versions in model.versions.items()
                for number, version in versions.items()
            }


def _start(transaction: Any, claim: Claim, model: Model, policies: PolicySet, own: tuple[Rule, ...]) -> None:
    begun = planned(policies, job("news", *own), job("wiki"))
    answer = {one.job: one for one in rulesets.begin(transaction, claim, begun, rulesets.Edited())}
    for name, one in answer.items():
        wanted = replace(policies, rules=policies.rules + (own if name == "news" else ()))
        known = model.configured(name)
        if known is None or not same_rules(known, wanted):
            assert one.ruleset_id not in model.versions[name]
            model.write(name, one.ruleset_id, wanted, from_config=True)
        if model.versions[name][model.current[name]].from_config:
            assert one.policies == wanted  # to the line
        else:
            assert same_rules(one.policies, model.now(name))


def _edit(transaction: Any, claim: Claim, model: Model, wanted: PolicySet, name: str, choice: int) -> None:
    based_on = name or "main"
    known = sorted(model.versions[based_on])
    base_id = known[-1] if choice < 2 else known[choice % len(known)]
    before = dict(model.current)
    command = ApplyRules(to_json(wanted), base_id, job=name)
    common = model.now("main").rules
    names = [name] if name else list(model.versions)
    change = change_between(model.now(based_on), wanted)
    own = [one for one in names if not same_rules(PolicySet(rules=model.now(one).rules), PolicySet(rules=common))]
    if base_id != model.current[based_on]:
        with pytest.raises(RulesetConflict):
            rulesets.apply(transaction, claim, command, "ann")
        return
    if not name and change.rules is not None and own:
        with pytest.raises(ValueError, match="rules of their own"):
            rulesets.apply(transaction, claim, command, "ann")
        return
    answer = {one.job: one for one in rulesets.apply(transaction, claim, command, "ann")[0]}
    for each in names:
        policies = change.applied_to(model.now(each))
        if same_rules(policies, model.now(each)):
            assert answer[each].ruleset_id == before[each]
        else:
            assert answer[each].ruleset_id not in model.versions[each]
            model.write(each, answer[each].ruleset_id, policies, from_config=False)
    if name or not own:
        assert same_rules(answer[based_on].policies, wanted)
