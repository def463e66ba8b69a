"""Refused pages after a change of what refused them: only those whose verdict is another one go back into the queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.storage.making import T0, A, B, crawled, fill_of, plan, refusal, seed
from tests.storage.workbench import Workbench
from tui_crawler.domain.crawl.job import JobPlan, QueueChange
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.policy import EMPTY, DoNotCrawl, PolicySet, Rule
from tui_crawler.domain.rules.preview import Rejudgement
from tui_crawler.domain.rules.ruleset import to_json
from tui_crawler.storage.crawl import candidates, rejudging, rulesets, settle
from tui_crawler.storage.db import transaction
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.models import Page
from tui_crawler.storage.store import foresee

HOME = f"{A}/"
POLICY, EXCLUDED, SKIPPED = (
    ExitCode.blocked_url_by_local_policy,
    ExitCode.blocked_by_exclusion_list,
    ExitCode.skipped_by_rule,
)
ROBOTS, INVALID = ExitCode.blocked_by_robots_txt, ExitCode.invalid_url
CALENDAR, NO_ADMIN = Rule("/cal/", skip=True), DoNotCrawl(Test("path", "prefix", "/admin"))
RULES = PolicySet(do_not_crawl=(NO_ADMIN,), rules=(CALENDAR,))
ASKED = Exclusion("pattern", "/admin/1", "asked", "me", "operator")
CODES = {"/cal/1": SKIPPED, "/cal/2": SKIPPED, "/admin/1": POLICY, "/admin/2": POLICY, "/robots": ROBOTS}
RESTING = {f"{A}/cal/1": (3, 3), f"{A}/cal/2": (3, 3), f"{A}/admin/1": (0, 0), f"{A}/admin/2": (0, 0)}
RESTING |= {f"{A}/robots": (0, 0), HOME: (0, 0)}
AGAIN = (0, 3)
"""Status and tries of a page that is to be judged."""


def planned(policies: PolicySet = RULES, *jobs: JobPlan, **more: Any) -> RunPlan:
    return plan(HOME, policies=policies, jobs=jobs, **{"config_text": to_json(policies), **more})


def refuse(workbench: Workbench, claim: Claim, codes: Mapping[str, ExitCode], decided_by: str = "") -> None:
    """A front page that is crawled, and pages of A that a fill refuses with these codes."""
    urls = [f"{A}{path}" for path in codes]
    (home,) = taken(workbench, claim, first=True)
    workbench.settle(claim, crawled(home, T0, *urls))
    pages = taken(workbench, claim)
    refusals = []
    for page in pages:
        made = refusal(page, T0 + 1, codes[page.url.removeprefix(A)])
        made = replace(made, attempt=replace(made.attempt, decided_by=decided_by))
        refusals.append(replace(made, page=replace(made.page, attempts=0)))
    fill = replace(fill_of(()), ignored=tuple(page.page_id for page in pages), refusals=tuple(refusals))
    workbench.work(lambda work: settle.store_fill(work, claim, fill))


def taken(workbench: Workbench, claim: Claim, *, first: bool = False) -> tuple[Any, ...]:
    found = workbench.work(lambda work: candidates.candidates(work, claim, A, workbench.now, 99, first))
    return found.pages


def apply(workbench: Workbench, claim: Claim, policies: PolicySet, **more: Any) -> None:
    """Applies rules to the version in force."""
    job = more.get("job", "main")
    base = workbench.rows("SELECT ruleset_id FROM job WHERE name = ?", job)[0][0]
    workbench.work(lambda work: rulesets.apply(work, claim, ApplyRules(to_json(policies), base, **more), "ann"))


def exclude(workbench: Workbench, claim: Claim, one: Exclusion, *, remove: bool = False) -> QueueChange | None:
    return workbench.work(lambda work: rulesets.change_exclusion(work, claim, one, remove))


def pages(workbench: Workbench) -> dict[str, tuple[int, int]]:
    """Status and tries by URL."""
    rows = workbench.rows("SELECT href, status, attempts_remaining FROM page p JOIN url u ON u.id = p.url_id")
    return {href: (status, remaining) for href, status, remaining in rows}


def everything(workbench: Workbench) -> list[Any]:
    """The log, the pages (without the ignore list) and the counters."""
    return [
        workbench.rows("SELECT id, url_id, exit_code FROM attempt ORDER BY id"),
        workbench.rows(
            "SELECT id, status, attempts, attempts_remaining, not_before, last_exit_code FROM page ORDER BY id"
        ),
        workbench.rows("SELECT id, pending, done, failed, blocked FROM origin ORDER BY id"),
        workbench.rows("SELECT id, pending, done, failed, blocked FROM job ORDER BY id"),
    ]


@pytest.fixture
def claim(workbench: Workbench) -> Claim:
    """A run of RULES that has refused pages."""
    held, _ = workbench.begin(planned())
    refuse(workbench, held, CODES)
    assert pages(workbench) == RESTING
    return held


def back(*paths: str) -> dict[str, tuple[int, int]]:
    """The pages when these are to be judged again."""
    return RESTING | {f"{A}{path}": AGAIN for path in paths}


@pytest.mark.parametrize(
    ("policies", "paths"),
    [
        (RULES, ()),
        (replace(RULES, rules=(CALENDAR, Rule("/feed/", skip=True))), ()),
        (replace(RULES, rules=(Rule("/cal/1", skip=True),)), ("/cal/2",)),
        (replace(RULES, exclusions=(ASKED,)), ("/admin/1",)),
    ],
    ids=["the same", "none is concerned", "allowed", "another stage refuses it"],
)
def test_only_pages_with_another_verdict_go_back(workbench, claim, policies, paths):
    before = everything(workbench)
    apply(workbench, claim, policies)
    assert pages(workbench) == back(*paths)
    assert [page.url for page in taken(workbench, claim)] == [f"{A}{path}" for path in paths]
    assert workbench.rows("SELECT pending FROM job") == [(len(paths),)]
    assert (everything(workbench) == before) is not bool(paths)


@pytest.mark.parametrize(
    "changed",
    [
        PolicySet(),
        replace(RULES, rules=()),
        replace(RULES, do_not_crawl=()),
        replace(RULES, exclusions=(ASKED,)),
        PolicySet(exclusions=(Exclusion("domain", "a.example"),)),
    ],
)
def test_a_change_that_is_taken_back_leaves_no_trace(workbench, claim, changed):
    before = everything(workbench)
    apply(workbench, claim, changed)
    assert everything(workbench) != before
    apply(workbench, claim, RULES)
    assert everything(workbench) == before


def test_a_page_that_waits_stays_when_an_unlike_rule_changes(workbench, claim):
    apply(workbench, claim, replace(RULES, rules=()))
    apply(workbench, claim, PolicySet())
    assert pages(workbench) == {url: (0, 0) if url in {HOME, f"{A}/robots"} else AGAIN for url in RESTING}


def test_pages_are_judged_by_the_rules_of_their_job(workbench):
    news = JobPlan("news", (seed(f"{A}/news"),), rules=())
    claim, _ = workbench.begin(planned(RULES, news))
    refuse_all = {"/cal/1": SKIPPED, "/news": SKIPPED}
    (home, front) = sorted(taken(workbench, claim, first=True), key=lambda page: page.url)
    workbench.settle(claim, crawled(home, T0, f"{A}/cal/1"))
    workbench.settle(claim, crawled(front, T0, f"{A}/cal/1"))
    found = taken(workbench, claim)
    refusals = tuple(refusal(page, T0 + 1, refuse_all[page.url.removeprefix(A)]) for page in found)
    fill = replace(fill_of(()), ignored=tuple(page.page_id for page in found), refusals=refusals)
    workbench.work(lambda work: settle.store_fill(work, claim, fill))
    apply(workbench, claim, replace(RULES, rules=()), job="news")
    assert workbench.rows("SELECT name, pending FROM job ORDER BY id") == [("main", 0), ("news", 1)]
    apply(workbench, claim, RULES, job="news")
    assert workbench.rows("SELECT name, pending FROM job ORDER BY id") == [("main", 0), ("news", 0)]


def test_the_exclusion_list_is_a_rule_like_others(workbench, claim):
    before = everything(workbench)
    assert exclude(workbench, claim, Exclusion("domain", "x.example")) == QueueChange()
    assert exclude(workbench, claim, ASKED) == QueueChange(((A, 1),))
    assert pages(workbench) == back("/admin/1")
    assert exclude(workbench, claim, ASKED) is None
    assert exclude(workbench, claim, ASKED, remove=True) == QueueChange()
    assert everything(workbench) == before, "it is refused as it was"


def test_pages_come_back_when_their_entry_goes_also_one_of_a_pattern(workbench):
    claim, _ = workbench.begin(planned(PolicySet()))
    exclude(workbench, claim, ASKED)
    refuse(workbench, claim, {"/admin/1": EXCLUDED, "/admin/2": EXCLUDED})
    assert exclude(workbench, claim, ASKED, remove=True) == QueueChange(((A, 1),))
    assert pages(workbench) == {HOME: (0, 0), f"{A}/admin/1": AGAIN, f"{A}/admin/2": (0, 0)}


def test_rules_count_with_the_exclusions_that_operators_added(workbench, claim):
    exclude(workbench, claim, Exclusion("pattern", "/cal/"))
    assert pages(workbench)[f"{A}/cal/1"] == AGAIN, "the next fill says who refuses it now"
    (found,) = (page for page in taken(workbench, claim) if page.url == f"{A}/cal/1")
    done = replace(fill_of(()), ignored=(found.page_id,), refusals=(refusal(found, T0 + 2, EXCLUDED),))
    workbench.work(lambda work: settle.store_fill(work, claim, done))
    apply(workbench, claim, replace(RULES, rules=()))
    assert pages(workbench)[f"{A}/cal/1"] == (0, 0), "it is excluded whatever the rules say"


def test_what_is_taken_up_already_is_left_alone(workbench, claim):
    """Pages on a todo list and in flight are judged before they are crawled; those in a stash, and those an operator
    has put off, are not forgotten."""
    apply(workbench, claim, PolicySet())
    states = {
        "/cal/1": "todo_order = 7",
        "/cal/2": "status = 2, claimed_by = 1",
        "/admin/1": "status = 4, stash = 'later'",
        "/admin/2": f"not_before = {T0 + 99}",
    }
    for path, state in states.items():
        of_page = f"url_id = (SELECT id FROM url WHERE href = '{A}{path}')"
        workbench.rows(f"UPDATE page SET {state} WHERE {of_page}")
    before = pages(workbench)
    apply(workbench, claim, RULES)
    assert pages(workbench) == before
    workbench.rows("UPDATE page SET todo_order = 0, status = 0, stash = '', claimed_by = 0")
    workbench.rows("UPDATE job SET pending = (SELECT COUNT(*) FROM page WHERE attempts_remaining > 0)")
    workbench.rows("UPDATE origin SET pending = (SELECT COUNT(*) FROM page WHERE attempts_remaining > 0)")


def test_pages_are_read_a_window_at_a_time(workbench, claim, monkeypatch):
    monkeypatch.setattr(rejudging, "_WINDOW", 2)
    monkeypatch.setattr(transaction, "_PLACES", 2)
    apply(workbench, claim, PolicySet())
    assert {url for url, at in pages(workbench).items() if at == AGAIN} == RESTING.keys() - {HOME, f"{A}/robots"}
    apply(workbench, claim, RULES)
    assert pages(workbench) == RESTING


NO_RULES, EVERY_CAL = replace(RULES, rules=()), ("/cal/1", "/cal/2")


@pytest.mark.parametrize(
    ("edited", "paths"),
    [
        (planned(), ()),
        (planned(NO_RULES), EVERY_CAL),
        (planned(NO_RULES, config_text=to_json(RULES)), EVERY_CAL),
        (planned(config_text="shorter", max_url_length=len(f"{A}/cal/1")), ("/admin/1", "/admin/2")),
        (planned(user_agent="ua/2 (newer)"), ()),
        (planned(user_agent="other/1"), ("/robots",)),
        (plan(f"{B}/", policies=NO_RULES, config_text="elsewhere"), EVERY_CAL),
    ],
    ids=["unedited", "rules", "rules from elsewhere", "length", "version", "user agent", "origins that take no part"],
)
def test_an_edited_configuration_puts_back_what_it_might_let_pass(workbench, claim, edited, paths):
    before = everything(workbench)
    workbench.begin(edited)
    assert {url: state for url, state in pages(workbench).items() if url.startswith(A)} == back(*paths)
    assert paths or everything(workbench) == before
    workbench.begin(planned())
    assert paths != EVERY_CAL or back().items() <= pages(workbench).items()


def test_the_version_of_an_operator_is_what_an_edited_configuration_is_judged_by(workbench, claim):
    """Another setting was edited, not the rules: those of the operator stay in force."""
    apply(workbench, claim, replace(RULES, rules=()))
    workbench.begin(planned(RULES, config_text="another depth"))
    assert pages(workbench) == back(*EVERY_CAL)


@pytest.mark.parametrize(("longest", "goes_back"), [(2048, True), (40, False)])
def test_pages_that_were_too_long_go_back_when_the_limit_lets_them_pass(workbench, longest, goes_back):
    claim, _ = workbench.begin(planned(max_url_length=30))
    path = "/long-long-long-long-long-long"
    refuse(workbench, claim, {path: INVALID}, "crawl.max_url_length")
    workbench.begin(planned(config_text="longer", max_url_length=longest))
    assert (pages(workbench)[f"{A}{path}"] == AGAIN) is goes_back


def test_a_page_that_cannot_be_requested_stays_whatever_the_limit(workbench):
    claim, _ = workbench.begin(planned())
    refuse(workbench, claim, {"/odd": INVALID}, "")
    workbench.begin(planned(config_text="edited"))
    assert pages(workbench)[f"{A}/odd"] == (0, 0)


def test_stored_rules_that_cannot_be_compiled_change_nothing(workbench, claim):
    workbench.rows("UPDATE ruleset SET rules = ?", to_json(PolicySet(rules=(Rule("(", skip=True),))))
    before = everything(workbench)
    with pytest.raises(StorageFailure, match="cannot be compiled"):
        exclude(workbench, claim, ASKED)
    assert everything(workbench) == before
    assert workbench.rows("SELECT COUNT(*) FROM exclusion") == [(0,)]


class Judged:
    """Counts what is judged while it is in force."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.urls: list[str] = []
        effect = Rejudgement.effect

        def counted(one: Rejudgement, href: str, code: ExitCode) -> Any:
            self.urls.append(href)
            return effect(one, href, code)

        monkeypatch.setattr(Rejudgement, "effect", counted)


ELSEWHERE = replace(RULES, do_not_crawl=(), rules=(Rule("/cal/1", skip=True), Rule("/admin/2", skip=True)))


def command(workbench: Workbench, policies: PolicySet) -> ApplyRules:
    base = workbench.rows("SELECT ruleset_id FROM job WHERE name = 'main'")[0][0]
    return ApplyRules(to_json(policies), base, "main")


@pytest.mark.parametrize("policies", [ELSEWHERE, EMPTY, replace(RULES, rules=())])
def test_what_was_foreseen_is_done_and_not_judged_again(workbench, claim, monkeypatch, policies):
    edit = command(workbench, policies)
    with workbench.scratch() as transaction:
        rulesets.apply(transaction, claim, edit, "ann")
        wanted = transaction.fetch(Page.select(Page.id, Page.status, Page.attempts_remaining).order_by(Page.id))
    judged = Judged(monkeypatch)
    estimate = foresee(workbench.place, OpenSettings(), claim, edit)
    assert estimate is not None
    assert len(judged.urls) == 4
    workbench.work(lambda work: rulesets.apply(work, claim, edit, "ann", estimate))
    assert len(judged.urls) == 4
    assert workbench.rows("SELECT id, status, attempts_remaining FROM page ORDER BY id") == wanted


def test_what_was_refused_since_is_judged(workbench, claim, monkeypatch):
    edit = command(workbench, ELSEWHERE)
    estimate = foresee(workbench.place, OpenSettings(), claim, edit)
    workbench.rows("UPDATE page SET last_exit_code = 202 WHERE url_id IN (SELECT id FROM url WHERE href LIKE '%n/1')")
    judged = Judged(monkeypatch)
    workbench.work(lambda work: rulesets.apply(work, claim, edit, "ann", estimate))
    assert judged.urls == [f"{A}/admin/1"]


def test_what_was_foreseen_for_another_list_of_exclusions_is_of_no_use(workbench, claim, monkeypatch):
    edit = command(workbench, ELSEWHERE)
    estimate = foresee(workbench.place, OpenSettings(), claim, edit)
    exclude(workbench, claim, ASKED)
    judged = Judged(monkeypatch)
    workbench.work(lambda work: rulesets.apply(work, claim, edit, "ann", estimate))
    assert len(judged.urls) == 4
    assert pages(workbench)[f"{A}/cal/2"] == AGAIN


def test_of_an_edit_that_cannot_be_made_nothing_is_foreseen(workbench, claim, tmp_path):
    edit = command(workbench, ELSEWHERE)
    assert foresee(workbench.place, OpenSettings(), claim, replace(edit, base_id=edit.base_id + 1)) is None
    assert foresee(workbench.place, OpenSettings(), claim, replace(edit, rules="{")) is None
    assert foresee(tmp_path / "none.db", OpenSettings(), claim, edit) is None
    same = foresee(workbench.place, OpenSettings(), claim, command(workbench, RULES))
    assert not same.verdicts


def test_few_are_judged_in_the_transaction_itself(workbench, claim, monkeypatch):
    with workbench.scratch() as transaction:
        assert not rejudging.are_many(transaction)
        monkeypatch.setattr(rejudging, "_FEW", 5)
        assert rejudging.are_many(transaction)
