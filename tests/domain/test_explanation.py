"""Why a URL was (not) crawled: the word, the sentence and the chain, for every kind of answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.crawl.standing import PageStanding, Referral, Schedule, UrlStanding, length, moment
from tui_crawler.domain.history.explanation import Answer, Explanation, Question, explain, query_advice
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page_view import Hop, RefusedView
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.records.view import AttemptView, OriginView, RunView
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.robots import ALLOW_ALL, RobotsRules, parse_robots
from tui_crawler.domain.rules.verdict import Denied, Step
from tui_crawler.domain.url import CrawlUrl, normalise

ORIGIN = "https://example.org"
NOW = 1_800_000_000_000
DAY = 86_400_000
STARTED = NOW - DAY
SCHEDULE = Schedule("main", STARTED, 28 * DAY)
RUN = RunView(2, STARTED, 0, "", 9, "bot/1", "main", live=True)
ROBOTS = parse_robots(b"User-agent: *\nDisallow: /private/\n", "bot")


def origin_view(**more: Any) -> OriginView:
    texts = ("", False, 5, 5, 2, 1_000, "default", 0, 0, 0, "parsed", 1, 2, None, 3, 4, 5, 1, 2, 9, 1_000, "")
    seen = OriginView(ORIGIN, 1, "READY", *texts, f"{ORIGIN}/", "file_ingested", 200, 1, 500)
    return replace(seen, **more)


def page(**more: Any) -> PageStanding:
    return replace(PageStanding(7, "main", PageStatus.READY, 0, 3, depth=1, max_depth=3, due_at=NOW - 1), **more)


def done(code: ExitCode = ExitCode.file_ingested, at: int = NOW - 5_000, **more: Any) -> PageStanding:
    """A page that has no tries left; due again after the interval."""
    ended = page(attempts=1, attempts_remaining=0, last_exit_code=code.name, last_http_status=200, last_crawled_at=at)
    return replace(ended, **({"due_at": at + 28 * DAY} | more))


def attempt(code: ExitCode, message: str = "", kind: str = "page") -> AttemptView:
    return AttemptView(
        *(1, 2, f"{ORIGIN}/a", ORIGIN, kind, code.name, code.value, None, NOW - 9, NOW - 8, None, 0, 0, 5, 2, 1_000),
        worker="w",
        message=message,
    )


def link(url: str = f"{ORIGIN}/from", **more: Any) -> Referral:
    return replace(Referral(3, url, ORIGIN, "a", False, 0, "", 2, NOW - DAY), **more)


def known_robots(
    status: str = "none",
    fetched_at: int = 0,
    rules: RobotsRules | None = None,
    http_status: int | None = None,
    message: str = "",
) -> tuple[RobotsRules | None, dict[str, Any]]:
    return rules, {
        "robots_status": status,
        "robots_fetched_at": fetched_at,
        "robots_http_status": http_status,
        "robots_message": message,
    }


def ask(
    written: str = f"{ORIGIN}/a",
    standing: PageStanding | UrlStanding | None = None,
    policies: PolicySet = EMPTY,
    origin: OriginView | None = None,
    **more: Any,
) -> Explanation:
    """Asks about a URL of an origin that is crawled."""
    if standing is None or isinstance(standing, PageStanding):
        standing = UrlStanding(SCHEDULE, standing)
    scope = more.pop("scope", Scope(frozenset({ORIGIN})))
    admission = Admission(policies, scope, more.pop("limits", Limits()))
    rules, robots = more.pop("robots", None) or known_robots("parsed", NOW - 60_000, ROBOTS)
    known = {"run": RUN, "now": NOW, "zone": UTC, "rules": rules, "origin": replace(origin or origin_view(), **robots)}
    return explain(Question(written, normalise(written), admission, standing, **(known | more)))


def step(explanation: Explanation, stage: str) -> Step:
    (found,) = [each for each in explanation.steps if each.stage == stage]
    return found


class TestPages:
    def test_crawled(self) -> None:
        said = ask(standing=done())
        assert (said.answer, said.exit_code, said.known) == (Answer.crawled, "file_ingested", True)
        assert said.sentence == "it was crawled: file_ingested (200), 2027-01-15 07:59:55"
        assert step(said, "due").verdict == "refuse"
        assert "4 weeks after the last crawl" in step(said, "due").reason
        assert step(said, "due").source == "crawl.recrawl_interval"
        assert said.steps[-1] == Step("verdict", "pass", said.sentence)

    def test_not_due_is_what_an_earlier_run_crawled(self) -> None:
        said = ask(standing=done(at=STARTED - 7 * DAY))
        assert (said.answer, said.exit_code) == (Answer.not_due, "file_ingested")
        assert "due 2027-02-04 08:00:00 (in 20 days): 4 weeks after the last crawl" in said.sentence
        assert said.due_at == STARTED + 21 * DAY
        assert "--force" in said.advice

    def test_http_freshness_puts_a_page_off(self) -> None:
        fresh = NOW + 90 * DAY
        said = ask(standing=done(at=STARTED - 7 * DAY, fresh_until=fresh, due_at=fresh))
        assert step(said, "due").source == "crawl.respect_http_freshness"
        assert said.answer is Answer.not_due

    def test_a_later_not_before_is_not_due(self) -> None:
        said = ask(standing=page(not_before=NOW + 3_600_000, due_at=NOW + 3_600_000))
        assert said.answer is Answer.not_due
        assert step(said, "due") == Step(
            "due", "refuse", "not before 2027-01-15 09:00:00 (in 60 minutes)", "not_before"
        )

    def test_due_again_it_waits(self) -> None:
        said = ask(standing=done(at=STARTED - 40 * DAY))
        assert said.answer is Answer.waiting
        assert "last time: file_ingested (200)" in said.sentence
        assert step(said, "due").verdict == "pass"

    def test_a_forced_recrawl_is_due_once_per_run(self) -> None:
        forced = UrlStanding(replace(SCHEDULE, force_recrawl=True), done(at=STARTED - DAY))
        said = ask(standing=forced)
        assert said.answer is Answer.waiting
        assert step(said, "due").source == "crawl.force_recrawl"
        considered = replace(forced, page=done(at=STARTED - DAY, ignored=True))
        assert ask(standing=considered).answer is Answer.not_due
        assert ask(standing=replace(forced, page=done())).answer is Answer.crawled

    def test_failed_for_good(self) -> None:
        gone = done(ExitCode.file_not_found, last_http_status=404)
        said = ask(standing=UrlStanding(SCHEDULE, gone, attempts=(attempt(ExitCode.file_not_found, "Not Found"),)))
        assert (said.answer, said.exit_code) == (Answer.failed, "file_not_found")
        assert said.sentence.startswith("it failed after 1 attempt, and that is final: file_not_found (404), Not Found")
        assert "retry" in said.advice

    def test_failed_with_its_tries_used_up(self) -> None:
        timeout = done(ExitCode.request_timeout, last_http_status=None, attempts=3)
        said = ask(standing=timeout)
        assert said.sentence.startswith("it failed after 3 attempts and has used up its tries: request_timeout, 20")
        assert "retry" in said.advice
        due = ask(standing=replace(timeout, due_at=NOW - 1))
        assert due.sentence.startswith("it failed after 3 attempts, and its recrawl is due: request_timeout, 20")

    def test_a_failed_page_with_tries_left_is_tried_again(self) -> None:
        failed = page(
            attempts=1,
            attempts_remaining=2,
            last_exit_code="connection_failed",
            last_crawled_at=NOW - 9_000,
            queue_position=4,
        )
        said = ask(standing=failed)
        assert (said.answer, said.exit_code) == (Answer.retry_pending, "connection_failed")
        assert "2 more tries, now" in said.sentence
        assert said.queue_position == 4
        later = ask(standing=replace(failed, queue_position=None, ignored=True))
        assert later.answer is Answer.retry_pending
        assert "in the next run" in later.sentence
        assert step(later, "due").source == "ignore list"
        gave_up = ask(standing=failed, origin=origin_view(state="FINISHED", finish_reason="patience"))
        assert "2 more tries, when its origin resumes; its origin: stopped: errors" in gave_up.sentence
        assert gave_up.advice.startswith("tui-crawler top-up ")

    @pytest.mark.parametrize("ignored", [False, True])
    def test_after_the_end_of_a_run_what_has_tries_left_waits_for_the_next_one(self, ignored: bool) -> None:
        over = replace(SCHEDULE, over=True)
        failed = page(attempts=1, attempts_remaining=2, last_exit_code="connection_failed", last_crawled_at=NOW - 9_000)
        for one in (replace(failed, ignored=ignored), page(ignored=ignored)):
            said = ask(standing=UrlStanding(over, one))
            due = step(said, "due")
            assert due.reason == "in the next run: it has tries left"
            assert (due.verdict, due.source) == (("refuse", "ignore list") if one.ignored else ("pass", ""))
            assert "next run" in said.sentence
            assert "this one" not in said.sentence
            assert "now" not in said.sentence
        put_off = ask(standing=UrlStanding(over, replace(failed, not_before=NOW + DAY)))
        assert step(put_off, "due").reason.startswith("not before ")
        again = done(at=STARTED - 60 * DAY, ignored=ignored)
        assert step(ask(standing=UrlStanding(over, again)), "due").verdict == "pass"
        forced = replace(over, force_recrawl=True)
        fresh = done(at=STARTED - DAY)
        assert step(ask(standing=UrlStanding(forced, fresh)), "due").verdict == "refuse", "that run is over"

    def test_where_nobody_crawls_nothing_is_asked_for_now(self) -> None:
        killed = replace(RUN, live=False)
        failed = page(attempts=1, attempts_remaining=2, last_exit_code="connection_failed", last_crawled_at=NOW - 9_000)
        for one in (failed, page(), replace(failed, queue_position=4)):
            said = ask(standing=one, run=killed)
            assert step(said, "due") == Step("due", "pass", "when the run is continued: it has tries left")
            assert "now" not in said.sentence
            assert "no worker running" in said.sentence
        considered = ask(standing=replace(failed, ignored=True), run=killed)
        assert step(considered, "due").reason == "in the next run: this one has considered it already"
        claimed = page(status=PageStatus.CLAIMED, claimed_at=NOW - 5)
        left = ask(standing=claimed, run=killed)
        assert left.answer is Answer.waiting
        assert step(left, "status").reason.endswith("the next start gives it back")
        over = UrlStanding(replace(SCHEDULE, over=True), claimed)
        assert ask(standing=over, run=killed).answer is Answer.waiting

    def test_an_origin_that_ended_is_told_of_in_the_words_of_the_one_table(self) -> None:
        for reason, words in (
            ("patience", "stopped: errors, out of patience: 5 persistent failures"),
            ("operator", "stopped by the operator"),
            ("excluded", "excluded, on the exclusion list"),
            ("exhausted", "finished, nothing left in this run; 3 pages wait for the next"),
        ):
            ended = ask(standing=page(), origin=origin_view(state="FINISHED", finish_reason=reason, pending=3))
            assert step(ended, "origin").reason == f"{ORIGIN}: {words}"
            assert ended.sentence.startswith(f"it waits for its turn; its origin: {words}")

    def test_waiting_tells_place_and_what_the_origin_does(self) -> None:
        said = ask(standing=page(queue_position=3), origin=origin_view(next_request_at=NOW + 400, delay_ms=1_000))
        assert said.answer is Answer.waiting
        assert said.sentence == "it waits as number 3 of the todo list; its origin: delay 0.4 s of 1.0 s"
        assert said.steps[-1].verdict == "unknown"
        paused = ask(standing=page(), origin=origin_view(paused=True, paused_by="me"), you="me")
        assert step(paused, "origin") == Step("origin", "refuse", f"{ORIGIN}: paused by you")
        assert "paused by you" in paused.sentence
        assert paused.advice == f"tui-crawler resume {ORIGIN}"
        tired = ask(standing=page(), origin=origin_view(state="FINISHED", finish_reason="patience"))
        assert tired.answer is Answer.waiting
        assert "out of patience" in tired.sentence
        assert tired.advice == f"tui-crawler top-up {ORIGIN}, or the next run, begins its origin again"
        resting = ask(standing=page(), origin=origin_view(state="FINISHED", finish_reason="patience"), run=None)
        assert resting.advice == "the next run begins its origin again"

    def test_in_flight(self) -> None:
        assert ask(standing=page(status=PageStatus.CLAIMED, claimed_at=NOW - 5)).answer is Answer.in_flight

    @pytest.mark.parametrize(("held", "order"), [({"aborted": True}, "unabort"), ({"concurrency": 0}, "resume")])
    def test_a_held_job(self, held: dict[str, Any], order: str) -> None:
        said = ask(standing=page(**held))
        assert said.answer is Answer.held
        assert said.advice == f"tui-crawler jobs {order} main"
        assert step(said, "job").verdict == "refuse"

    def test_a_stash_and_a_depth(self) -> None:
        stashed = ask(standing=page(status=PageStatus.STASHED, stash="later", due_at=None))
        assert stashed.answer is Answer.stashed
        assert stashed.advice == "tui-crawler pages unstash later"
        deep = ask(standing=page(depth=9, beyond_depth=True))
        assert deep.answer is Answer.too_deep
        assert step(deep, "depth") == Step(
            "depth", "refuse", "depth 9 of at most 3: it waits in case a shorter path is found", "max_depth"
        )

    def test_an_origin_that_takes_no_part(self) -> None:
        said = ask(standing=page(), origin=origin_view(state="IDLE"))
        assert said.answer is Answer.other_origin
        assert step(said, "origin").verdict == "refuse"

    def test_cancelled_pages_wait(self) -> None:
        said = ask(standing=page(last_exit_code="cancelled", last_crawled_at=NOW - 9, ignored=True))
        assert said.answer is Answer.waiting
        assert "next run" in said.sentence


POLICIES = PolicySet(
    do_not_crawl=(DoNotCrawl(Test("path", "prefix", "/admin/"), "x.yaml:3"),),
    url_query_parameters=(QueryPolicy(Test("path", "prefix", "/list"), frozenset({"page"}), source="x.yaml:5"),),
    exclusions=(
        Exclusion("pattern", "/members/", "they asked", "ann", "x.yaml:7"),
        Exclusion("host", "gone.example", "", "bob", "operator"),
    ),
    rules=(Rule("/slides/", skip=True, source="x.yaml:9"), Rule("/ads/", accept=False, source="x.yaml:10")),
)
KINDS = [
    ("/admin/x", Answer.policy, "blocked_url_by_local_policy", "x.yaml:3", 'do_not_crawl: path begins with "/admin/"'),
    ("/list?sort=1", Answer.query_policy, "blocked_url_by_local_policy", "x.yaml:5", "parameter 'sort' is not allowed"),
    ("/private/x", Answer.robots, "blocked_by_robots_txt", "robots.txt:2", '"Disallow: /private/", fetched 2027'),
    ("/members/x", Answer.exclusion, "blocked_by_exclusion_list", "x.yaml:7", "they asked (by ann)"),
    ("/slides/x", Answer.rule, "skipped_by_rule", "x.yaml:9", "rule /slides/: skip true"),
]


class TestRefusals:
    @pytest.mark.parametrize(("path", "answer", "code", "source", "words"), KINDS)
    def test_what_waits_what_was_refused_and_what_was_never_seen(
        self, path: str, answer: Answer, code: str, source: str, words: str
    ) -> None:
        status = PageStatus.SKIPPED if code == "skipped_by_rule" else PageStatus.READY
        refused = done(ExitCode[code], status=status, attempts=0)
        for known, begins in (
            (page(), "it will be refused when its turn comes: "),
            (refused, "refused 2027-01-15 07:59:55: "),
            (None, "never seen, and would be refused: "),
        ):
            said = ask(ORIGIN + path, known, POLICIES)
            assert (said.answer, said.exit_code, said.known) == (answer, code, known is not None)
            assert said.sentence.startswith(begins)
            assert words in said.sentence
            assert source in {each.source for each in said.steps if each.verdict == "refuse"}

    @pytest.mark.parametrize(("answer", "code"), [(answer, code) for _, answer, code, _, _ in KINDS])
    def test_rules_that_have_changed_since(self, answer: Answer, code: str) -> None:
        by_query = answer is Answer.query_policy
        message = "url_query_parameters: parameter 'sort' is not allowed" if by_query else "as it was"
        old = UrlStanding(SCHEDULE, done(ExitCode[code], attempts=0), attempts=(attempt(ExitCode[code], message),))
        said = ask(f"{ORIGIN}/fine", old)
        assert (said.answer, said.exit_code) == (answer, code)
        assert message in said.sentence
        assert "the rules in force now allow it" in said.sentence
        again = ask(f"{ORIGIN}/fine", replace(old, page=page(last_exit_code=code)))
        assert again.answer is Answer.waiting, "it got its tries back: it is judged again"

    def test_no_query_policy_in_plain_words_with_what_to_add(self) -> None:
        said = ask(f'{ORIGIN}/li"st?a=1&b[]=2&a=3', page())
        assert said.answer is Answer.query_policy
        assert "no url_query_parameters policy is configured, so every URL with a query is refused" in said.sentence
        assert said.advice == (
            'add policies: {url_query_parameters: [{match: {path: {prefix: "/li%22st"}}, allow: ["a", "b[]"]}]}'
        )

    def test_an_entry_an_operator_added_can_be_taken_off(self) -> None:
        said = ask("https://gone.example/", None, POLICIES, scope=Scope(frozenset({"https://gone.example"})))
        assert said.answer is Answer.exclusion
        assert said.advice == "tui-crawler exclude host gone.example --remove"

    def test_robots_txt_not_fetched_unavailable_unreachable(self) -> None:
        none = ask(standing=page(), robots=known_robots())
        assert step(none, "robots") == Step("robots", "unknown", "robots.txt of its origin has not been fetched yet")
        gone = ask(standing=page(), robots=known_robots("unavailable", NOW, ALLOW_ALL, 404))
        assert step(gone, "robots").verdict == "pass"
        assert "no robots.txt (404): everything is allowed, fetched " in step(gone, "robots").reason
        down = ask(standing=page(), robots=known_robots("unreachable", message="a.example port 80: Connection refused"))
        assert step(down, "robots").verdict == "unknown"
        assert step(down, "robots").reason.startswith(
            "robots.txt unreachable: connection refused; the origin is not crawled"
        )
        assert down.sentence.startswith("it waits until robots.txt can be had; ")
        broken = ask(standing=page(), robots=known_robots("unreachable", http_status=503))
        assert step(broken, "robots").reason.startswith("robots.txt unreachable: HTTP 503; ")

    def test_a_robots_txt_that_was_never_answered_is_not_told_as_one_that_does_not_exist(self) -> None:
        said = "10.0.0.1 is not a public address"
        refused = ask(standing=page(), robots=known_robots("unavailable", NOW, ALLOW_ALL, None, said))
        assert step(refused, "robots") == Step("robots", "unknown", f"robots.txt: no response ({said})", "RFC 9309")

    def test_a_refused_address_names_what_decides_and_no_retry(self) -> None:
        failed = replace(done(), last_exit_code="blocked_address", last_http_status=None)
        said = ask(standing=failed)
        assert said.answer is Answer.failed
        assert said.advice.startswith("network.allow_private_addresses decides")
        assert "tui-crawler retry" not in said.advice

    def test_a_page_that_was_crawled_stays_crawled_when_rules_change(self) -> None:
        assert ask(f"{ORIGIN}/admin/x", done(), POLICIES).answer is Answer.crawled
        assert ask(f"{ORIGIN}/admin/x", done(at=STARTED - 40 * DAY), POLICIES).answer is Answer.policy


class TestUnknown:
    def test_never_seen(self) -> None:
        said = ask()
        assert (said.answer, said.exit_code, said.known, said.due_at) == (Answer.never_seen, "", False, None)
        assert said.advice
        assert step(said, "item_pattern").verdict == "unknown"

    @pytest.mark.parametrize(
        ("written", "answer", "more"),
        [
            ("http://example.org/", Answer.other_origin, {}),
            (f"{ORIGIN}/other", Answer.out_of_scope, {"scope": Scope(frozenset({ORIGIN}), {ORIGIN: "/docs/"})}),
            (f"{ORIGIN}/a/a/a/a", Answer.trap, {}),
            (f"{ORIGIN}/{'/'.join(map(str, range(21)))}", Answer.trap, {}),
            (f"{ORIGIN}/x", Answer.policy, {"policies": PolicySet(whitelist=Whitelist(patterns=("/y",)))}),
            (f"{ORIGIN}/ads/1", Answer.rule, {"policies": POLICIES}),
            (f"{ORIGIN}/{'x' * 90}", Answer.invalid_url, {"limits": Limits(max_url_length=64)}),
            ("ftp://example.org/", Answer.invalid_url, {}),
            ("https://user@example.org/", Answer.invalid_url, {}),
        ],
    )
    def test_refused_by_a_filter(self, written: str, answer: Answer, more: dict[str, Any]) -> None:
        said = ask(written, **more)
        assert said.answer is answer
        assert said.sentence

    def test_the_path_and_the_counters_of_a_link_that_was_refused(self) -> None:
        path = (Hop(f"{ORIGIN}/", f"{ORIGIN}/from", "a", 1), Hop(f"{ORIGIN}/from", "http://other.example/", "a", 2))
        named = UrlStanding(SCHEDULE, None, (link(), link(f"{ORIGIN}/b")), path)
        refused = (RefusedView(ORIGIN, "scope", 12, "http://third.example/"),)
        said = ask("http://other.example/", named, refused=refused)
        assert said.answer is Answer.other_origin
        assert said.provenance == path
        assert f"named by {ORIGIN}/from, and is refused" in said.sentence
        assert f"(12 links of {ORIGIN} refused so)" in said.sentence
        assert "and 1 more" in step(said, "known").reason
        assert "seeds" in said.advice

    def test_a_link_known_only_as_the_sample_of_a_counter(self) -> None:
        refused = (RefusedView(ORIGIN, "scope", 1, f"{ORIGIN}/a"),)
        said = ask(refused=refused)
        assert said.answer is Answer.not_queued
        assert f"found on a page of {ORIGIN}, but no page: it was refused when it was found (scope)" in said.sentence

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"nofollow": True}, "rel=nofollow"),
            ({"kind": "img"}, "it is named as img only; kinds that become pages: a"),
        ],
    )
    def test_links_that_do_not_become_pages(self, more: dict[str, Any], words: str) -> None:
        said = ask(standing=UrlStanding(SCHEDULE, None, (link(**more),)))
        assert said.answer is Answer.not_queued
        assert words in said.sentence

    def test_one_good_link_among_bad_ones_is_enough(self) -> None:
        bad = link(item_pattern="/other/")
        said = ask(standing=UrlStanding(SCHEDULE, None, (bad,)))
        assert said.answer is Answer.item_pattern
        both = ask(standing=UrlStanding(SCHEDULE, None, (bad, link(f"{ORIGIN}/b"))))
        assert both.answer is Answer.not_queued
        assert "nothing refuses it now" in both.sentence

    def test_redirect_hops_and_a_full_origin(self) -> None:
        hop = link(kind="location", redirect=True, redirect_hops=11)
        assert ask(standing=UrlStanding(SCHEDULE, None, (hop,))).answer is Answer.redirect_hops
        full = UrlStanding(SCHEDULE, None, (link(),), origin_pages=10)
        assert ask(standing=full, limits=Limits(max_pages_per_origin=10)).answer is Answer.trap

    def test_offline_mode_queues_nothing(self) -> None:
        said = ask(standing=UrlStanding(SCHEDULE, None, (link(),)), offline=True)
        assert said.answer is Answer.not_queued
        assert said.advice == "tui-crawler queue build"

    def test_robots_txt_itself_is_no_page(self) -> None:
        standing = UrlStanding(SCHEDULE, attempts=(attempt(ExitCode.file_ingested, kind="robots"),))
        said = ask(f"{ORIGIN}/robots.txt", standing)
        assert said.answer is Answer.not_queued
        assert "requested as robots: file_ingested" in said.sentence

    def test_a_page_of_another_job_is_told(self) -> None:
        said = ask(standing=UrlStanding(SCHEDULE, other_jobs=("news",)))
        assert "it is one of job news" in step(said, "known").reason


def test_normalisation_is_shown() -> None:
    said = ask("HTTPS://Example.org:443/a/../b#top")
    assert said.normalized == f"{ORIGIN}/b"
    assert step(said, "normalise").reason == f"HTTPS://Example.org:443/a/../b#top becomes {ORIGIN}/b"
    assert step(ask(f"{ORIGIN}/b#top"), "normalise").reason == "as written"
    assert ask("nonsense").normalized == ""


def test_every_stage_is_there_once_and_in_order() -> None:
    stages = [each.stage for each in ask(standing=page()).steps]
    assert stages == [
        *("normalise", "origin", "scope", "whitelist", "start_path", "exclusion", "trap_repeat", "trap_depth"),
        *("origin_full", "rule_accept", "item_pattern", "redirect_hops", "do_not_crawl", "query_policy", "rule_skip"),
        *("robots", "known", "job", "depth", "status", "tries", "due", "queue", "verdict"),
    ]


def test_advice_for_a_query_without_names() -> None:
    url = normalise(f"{ORIGIN}/x?&")
    assert isinstance(url, CrawlUrl)
    assert query_advice(url, others=True) == (
        'add to policies.url_query_parameters: {match: {path: {prefix: "/x"}}, allow_any: true}'
    )
    assert query_advice(url, "x.yaml:3") == (
        "change the policy at x.yaml:3, or add to policies.url_query_parameters: "
        '{match: {path: {prefix: "/x"}}, allow_any: true}'
    )


def test_lengths_and_moments() -> None:
    assert [length(ms) for ms in (0, 1_000, 90_000, 7_200_000, 20 * DAY, 28 * DAY)] == [
        *("less than a second", "1 second", "90 seconds", "2 hours", "20 days", "4 weeks")
    ]
    assert moment(NOW - 3 * DAY, NOW, UTC) == "2027-01-12 08:00:00 (3 days ago)"
    assert moment(2**70, NOW, UTC).startswith("a time out of all calendars")


paths = st.text(alphabet="abc/?=&%2-.", max_size=12)


@given(path=paths, skip=st.booleans(), accept=st.booleans(), allow=st.sampled_from(["a", "b"]))
def test_a_page_that_waits_is_answered_as_the_crawl_would_judge_it(
    path: str, skip: bool, accept: bool, allow: str
) -> None:
    policies = PolicySet(
        do_not_crawl=(DoNotCrawl(Test("path", "contains", "bb")),),
        url_query_parameters=(QueryPolicy(None, frozenset({allow})),),
        exclusions=(Exclusion("pattern", "aa"),),
        rules=(Rule("cc", skip=skip, accept=accept),),
    )
    url = normalise(f"{ORIGIN}/{path}")
    assert isinstance(url, CrawlUrl)
    robots = parse_robots(b"User-agent: *\nDisallow: /*c-\n", "bot")
    said = ask(url.href, page(), policies, robots=known_robots("parsed", NOW, robots))
    judged = Admission(policies, Scope(frozenset({ORIGIN})), Limits()).judge(url, robots)
    assert (said.exit_code == judged.exit_code.name) if isinstance(judged, Denied) else (said.answer is Answer.waiting)


@given(
    written=st.text(max_size=40) | st.builds("https://example.org/{}".format, st.text(max_size=20)),
    code=st.sampled_from(["", *ExitCode.__members__, "4711"]),
    status=st.sampled_from(list(PageStatus)),
    left=st.integers(0, 3),
    times=st.lists(st.integers(0, 2**63), min_size=4, max_size=4),
    ignored=st.booleans(),
)
def test_every_state_of_a_page_has_an_answer(
    written: str, code: str, status: PageStatus, left: int, times: list[int], ignored: bool
) -> None:
    crawled, not_before, fresh, due = times
    known = page(
        status=status,
        attempts_remaining=left,
        last_exit_code=code,
        last_crawled_at=crawled,
        not_before=not_before,
        fresh_until=fresh,
        due_at=due,
        ignored=ignored,
    )
    said = ask(written, known)
    assert said.sentence
    assert said.steps[-1].stage == "verdict"
    assert said.known
