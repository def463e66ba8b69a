"""The turn machine: what comes next, how outcomes fold, and what holds for every sequence of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.crawl.delay import DelaySettings, Pace
from tui_crawler.domain.crawl.origin import (
    Check,
    CrawlSettings,
    OriginState,
    RobotsHop,
    RobotsState,
    RobotsStatus,
    Takeover,
    record_of,
    restore,
)
from tui_crawler.domain.crawl.turn import (
    CheckUrl,
    CrawlAnswer,
    CrawlNext,
    FetchRobots,
    FillTodo,
    Finish,
    RestReason,
    RobotsAnswer,
    Sleep,
    after_check,
    after_crawl,
    after_fill,
    after_robots,
    finish,
    next_turn,
    refetch_robots,
    reopen,
    slow_down,
    top_up,
    touch,
)
from tui_crawler.domain.moment import HELD, Moment
from tui_crawler.domain.records.attempt import OriginRecord
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.domain.records.status import DelayReason
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.robots import ALLOW_ALL, parse_robots
from tui_crawler.domain.url import CrawlUrl, normalise

T0 = Moment(1_000, 1_700_000_000_000)
S = CrawlSettings()
RULES = parse_robots(b"User-agent: *\nDisallow: /no/\nCrawl-delay: 7\n", "bot")
PLAIN = parse_robots(b"User-agent: *\nDisallow: /no/\n", "bot")


def fresh(**changes):
    return replace(OriginState("http://a.test", patience=5, pace=Pace()), **changes)


def ready(*pages, now=T0, **changes):
    """An origin whose robots.txt is known and whose todo list holds these pages."""
    robots = RobotsState(RobotsStatus.parsed, 200, now.wall_ms, now.wall_ms + 1_800_000, PLAIN)
    return fresh(robots=robots, todo=pages, filled=True, **changes)


def page(number=1):
    return TodoPage(number, 1, f"http://a.test/{number}")


def test_robots_then_fill_then_crawl():
    state = fresh()
    assert next_turn(state, T0) == FetchRobots(None)
    state = after_robots(state, RobotsAnswer(ExitCode.file_ingested, 200, 100, PLAIN), T0, S)
    assert next_turn(state, T0) == FillTodo()
    state = after_fill(state, (page(),), 1, None, T0)
    assert next_turn(state, T0) == Sleep(T0.mono_ms + 1000, RestReason.delay)
    assert next_turn(state, T0.later(1000)) == CrawlNext(page())
    state = after_crawl(state, CrawlAnswer(1, ExitCode.file_ingested, 200, 100), T0.later(1000), S)
    assert next_turn(state, T0.later(1000)) == FillTodo()
    assert next_turn(after_fill(state, (), 0, None, T0), T0) == Finish(FinishReason.exhausted)


def test_a_page_whose_body_cannot_be_read_does_not_take_the_last_patience_by_failing_again():
    state = ready(page(1), page(2))
    for number, patience in ((1, 4), (2, 3), (1, 2), (2, 1), (1, 1), (2, 1), (1, 1)):
        state = after_crawl(state, CrawlAnswer(number, ExitCode.error_reading_response, 200, 10), T0, S)
        assert state.patience == patience
    for code in (ExitCode.error_reading_response, ExitCode.request_timeout):
        ended = after_crawl(state, CrawlAnswer(3, code, None, 10), T0, S)
        assert (ended.patience, ended.finished) == (0, FinishReason.patience)


def test_robots_is_asked_again_after_its_expiry_and_not_before():
    state = ready(page())
    assert isinstance(next_turn(state, T0.later(1_799_999)), CrawlNext)
    assert next_turn(state, T0.later(1_800_000)) == FetchRobots(None)


def test_crawl_delay_holds_from_the_robots_request_on():
    state = after_robots(fresh(), RobotsAnswer(ExitCode.file_ingested, 200, 10, RULES), T0, S)
    assert state.delay_ms == 7000
    assert state.delay_reason is DelayReason.crawl_delay
    assert state.next_request_at == T0.wall_ms + 7000


def test_nothing_due_now_but_later_sleeps_and_then_fills():
    state = after_fill(ready(), (), 0, T0.wall_ms + 90_000, T0)
    assert next_turn(state, T0) == Sleep(T0.mono_ms + 90_000, RestReason.asleep)
    assert next_turn(state, T0.later(90_000)) == FillTodo()


def test_missing_robots_allows_everything_and_costs_no_patience():
    state = after_robots(fresh(), RobotsAnswer(ExitCode.file_not_found, 404, 10), T0, S)
    assert state.robots.rules is ALLOW_ALL
    assert state.patience == 5
    assert state.robots.status is RobotsStatus.unavailable


def test_unreachable_robots_ends_the_origin_after_five_tries():
    state, now = fresh(), T0
    for left in (4, 3, 2, 1):
        state = after_robots(state, RobotsAnswer(ExitCode.server_internal_error, 500, 10), now, S)
        assert state.patience == left
        now = now.later(state.delay_ms)
        assert next_turn(state, now) == FetchRobots(None)
    state = after_robots(state, RobotsAnswer(ExitCode.connection_failed, None, 10), now, S)
    assert next_turn(state, now) == Finish(FinishReason.patience)


def test_a_certificate_that_cannot_be_verified_ends_the_origin_at_once():
    answer = RobotsAnswer(ExitCode.connection_failed, None, 10, untrusted="it has expired")
    state = after_robots(fresh(), answer, T0, S)
    assert (state.patience, state.finished, state.untrusted) == (0, FinishReason.patience, "it has expired")
    failed = CrawlAnswer(1, ExitCode.connection_failed, None, 10, untrusted="it has expired")
    state = after_crawl(ready(page(), page(2)), failed, T0, S)
    assert (state.patience, state.finished) == (0, FinishReason.patience)
    checked = after_crawl(ready(page(), external=True), replace(failed, is_check=True), T0, S)
    assert checked.lost
    assert checked.finished is None


def test_rules_of_the_last_day_stay_in_force_and_the_next_try_is_after_five_minutes():
    state = ready(page())
    now = T0.later(1_800_000)
    state = after_robots(state, RobotsAnswer(ExitCode.request_timeout, None, 10), now, S)
    assert state.robots.rules is PLAIN
    assert state.robots.expires_at == now.wall_ms + 300_000
    assert state.patience == 4
    late = T0.later(86_400_001)
    state = after_robots(state, RobotsAnswer(ExitCode.request_timeout, None, 10), late, S)
    assert state.robots.rules is None
    assert state.robots.status is RobotsStatus.unreachable


def test_a_rate_limited_robots_slows_down_instead_of_costing_patience():
    state = after_robots(fresh(), RobotsAnswer(ExitCode.rate_limited, 429, 10), T0, S)
    assert state.patience == 5
    assert state.pace.politeness == 3
    full = fresh(pace=Pace(politeness=11))
    assert after_robots(full, RobotsAnswer(ExitCode.rate_limited, 429, 10), T0, S).patience == 4


def test_an_endless_429_makes_fourteen_requests_for_robots_txt_as_for_a_page():
    robots, crawled = fresh(), ready(*(page(number) for number in range(1, 20)))
    made = [0, 0]
    while robots.finished is None:
        robots = after_robots(robots, RobotsAnswer(ExitCode.rate_limited, 429, 10), T0, S)
        made[0] += 1
    while crawled.finished is None:
        crawled = after_crawl(crawled, CrawlAnswer(made[1], ExitCode.rate_limited, 429, 10), T0, S)
        made[1] += 1
    assert made == [14, 14]


def test_a_hop_of_robots_is_followed_after_the_delay():
    url = normalise("https://a.test/robots.txt")
    hop = RobotsHop(url, 1, T0.wall_ms, ())
    state = after_robots(fresh(), RobotsAnswer(ExitCode.redirect, 302, 10, hop=hop), T0, S)
    assert isinstance(next_turn(state, T0), Sleep)
    assert next_turn(state, T0.later(1000)) == FetchRobots(hop)
    state = after_robots(state, RobotsAnswer(ExitCode.redirect, 302, 10), T0.later(1000), S)
    assert state.robots.status is RobotsStatus.unavailable


def test_retry_after_is_waited_out_or_ends_the_run():
    answer = CrawlAnswer(1, ExitCode.rate_limited, 429, 10, 30_000)
    state = after_crawl(ready(page()), answer, T0, S)
    assert (state.delay_ms, state.delay_reason) == (30_000, DelayReason.retry_after)
    assert state.finished is None
    state = after_crawl(ready(page()), replace(answer, retry_after_ms=3_600_000), T0, S)
    assert state.finished is FinishReason.rate_limited
    assert state.next_request_at == T0.wall_ms + 3_600_000


def test_a_cancelled_page_stays_on_the_todo_list():
    state = after_crawl(ready(page()), CrawlAnswer(1, ExitCode.cancelled, None, 500), T0, S)
    assert state.todo == (page(),)
    assert state.patience == 5


def test_database_error_ends_the_origin_with_its_own_reason():
    state = after_crawl(ready(page()), CrawlAnswer(1, ExitCode.database_error), T0, S)
    assert (state.patience, state.finished) == (0, FinishReason.database_error)


def test_paused_rests_until_somebody_says_so():
    assert next_turn(ready(page(), paused=True), T0) == Sleep(None, RestReason.paused)


def test_top_up_and_reopen():
    gone = finish(ready(page(), patience=0), FinishReason.patience)
    again = top_up(gone, S)
    assert (again.patience, again.finished) == (5, None)
    assert reopen(gone, frozenset({FinishReason.exhausted})).finished is FinishReason.patience


def test_the_operator_lengthens_the_present_wait_and_never_shortens_it():
    state = after_crawl(ready(page()), CrawlAnswer(1, ExitCode.file_ingested, 200, 10), T0, S)
    slower = slow_down(state, 5_000, T0.later(400), S)
    assert slower.release_ms == T0.mono_ms + 5_000
    back = slow_down(slower, 0, T0.later(500), S)
    assert (back.delay_ms, back.delay_reason) == (1_000, DelayReason.lowered)
    assert (back.release_ms, back.next_request_at) == (slower.release_ms, slower.next_request_at)
    assert restore(record_of(back), (), PLAIN, S, Takeover(True, False), T0.later(600)).release_ms == back.release_ms
    day_back = Moment(50, T0.wall_ms - 86_400_000)
    assert restore(record_of(back), (), PLAIN, S, Takeover(True, False), day_back).release_ms == 50 + 5_000
    again = slow_down(back, 2_000, T0.later(600), S)
    assert (again.delay_ms, again.delay_reason, again.release_ms) == (2_000, DelayReason.lowered, slower.release_ms)


def test_a_delay_taken_off_after_its_wait_is_what_it_was_before():
    state = after_crawl(ready(page()), CrawlAnswer(1, ExitCode.file_ingested, 200, 10), T0, S)
    slower = slow_down(state, 5_000, T0.later(400), S)
    over = T0.later(60_000)
    back = slow_down(slower, 0, over, S)
    assert (back.delay_ms, back.delay_reason) == (state.delay_ms, state.delay_reason)
    assert back.next_request_at == slower.next_request_at
    limited = after_crawl(ready(page()), CrawlAnswer(1, ExitCode.rate_limited, 429, 10, 20_000), T0, S)
    assert slow_down(slow_down(limited, 2_000, over, S), 0, over, S).delay_reason is DelayReason.retry_after


@given(
    steps=st.lists(st.tuples(st.integers(0, 8_000), st.integers(0, 20_000)), max_size=6),
    response_ms=st.integers(0, 5_000),
    rest_ms=st.integers(0, 30_000),
    unclean=st.booleans(),
)
def test_no_step_of_the_operator_makes_a_promised_request_sooner(steps, response_ms, rest_ms, unclean):
    """Whatever the operator sets, and whenever somebody takes over: the next request never comes before its time."""
    state = after_crawl(ready(page()), CrawlAnswer(1, ExitCode.file_ingested, 200, response_ms), T0, S)
    now, promised = T0, state.next_request_at
    for after_ms, own_ms in steps:
        now = now.later(after_ms)
        state = slow_down(state, own_ms, now, S)
        assert state.next_request_at - now.wall_ms == state.release_ms - now.mono_ms
        assert state.next_request_at >= promised
        assert state.delay_ms >= max(S.delay.floor_ms, own_ms)
        promised = state.next_request_at
    now = now.later(rest_ms)
    taken = restore(record_of(state), (), PLAIN, S, Takeover(True, unclean), now)
    assert now.wall_ms + taken.release_ms - now.mono_ms >= promised


def test_a_touch_from_another_origin_counts_as_a_request():
    state = touch(ready(page()), 3_000, T0)
    assert state.release_ms == T0.mono_ms + 3_000
    assert touch(state, 10, T0).release_ms == state.release_ms


def test_restore_keeps_the_wait_that_was_promised():
    waiting = after_crawl(ready(page()), CrawlAnswer(1, ExitCode.rate_limited, 429, 10, 20_000), T0, S)
    record = record_of(waiting)
    later = Moment(50, T0.wall_ms + 5_000)
    kept = restore(record, waiting.todo, PLAIN, S, Takeover(True, False), later)
    assert kept.release_ms == 50 + 15_000
    assert kept.robots.rules is PLAIN
    day_back = Moment(50, T0.wall_ms - 86_400_000)
    assert restore(record, (), PLAIN, S, Takeover(True, False), day_back).release_ms == 50 + 20_000
    unclean = Moment(50, T0.wall_ms + 86_400_000)
    again = restore(record, (), PLAIN, S, Takeover(True, True), unclean)
    assert again.release_ms == 50 + 20_000 + 10
    assert again.delay_reason is DelayReason.restart


def test_after_a_kill_the_answer_that_was_under_way_is_allowed_for():
    state = ready(page())
    for response_ms in (200, 900, 100):
        state = after_crawl(state, CrawlAnswer(1, ExitCode.file_ingested, 200, response_ms), T0, S)
    killed = Takeover(continued=True, unclean=True)
    full = max(state.delay_ms, S.delay.default_ms)
    assert restore(record_of(state), (), PLAIN, S, killed, T0).release_ms == T0.mono_ms + full + 900
    nothing_known = restore(record_of(fresh()), (), PLAIN, S, killed, T0)
    assert nothing_known.release_ms == T0.mono_ms + 2 * S.delay.default_ms


def test_a_new_run_does_not_wait_out_an_hour():
    record = OriginRecord("http://a.test", "rate_limited", False, 5, 2, True, 0, 3_600_000, "retry_after", 0,
                          T0.wall_ms + 3_600_000, T0.wall_ms, 10)  # fmt: skip
    state = restore(record, (), None, S, Takeover(False, False), T0)
    assert state.finished is FinishReason.rate_limited
    assert state.next_request_at == T0.wall_ms + 3_600_000
    short = replace(record, next_request_at=T0.wall_ms + 60_000, delay_ms=60_000)
    assert restore(short, (), None, S, Takeover(False, False), T0).finished is None


CODES = st.sampled_from([c for c in ExitCode if c is not ExitCode.database_error])
STATUSES = st.none() | st.integers(100, 599)


@st.composite
def answers(draw):
    return (
        draw(CODES),
        draw(STATUSES),
        draw(st.none() | st.integers(0, 200_000)),
        draw(st.none() | st.integers(0, 10**7)),
    )


@given(st.integers(1, 6), st.lists(answers(), min_size=0, max_size=60))
def test_every_run_terminates_and_patience_never_rises(pages, outcomes):
    """A walk over whole runs: whatever the answers, the machine ends, patience falls only, Finish is absorbing."""
    state, now = fresh(), T0
    todo = [page(n) for n in range(pages)]
    remaining = {p.page_id: 3 for p in todo}
    script = iter(outcomes)
    for _ in range(2_000):
        turn = next_turn(state, now)
        assert turn == next_turn(state, now)
        code, status, response_ms, retry_after = next(script, (ExitCode.file_not_found, 404, 10, None))
        patience = state.patience
        match turn:
            case Finish(reason=reason):
                assert state.finished is reason
                assert finish(state, FinishReason.operator).finished is reason
                return
            case Sleep(until_ms=until):
                assert until is not None
                assert until > now.mono_ms
                now = now.later(until - now.mono_ms)
            case FetchRobots():
                rules = PLAIN if code is ExitCode.file_ingested else None
                answer = RobotsAnswer(code, status, response_ms or 1, rules, retry_after_ms=retry_after)
                state = after_robots(state, answer, now, S)
                assert state.release_ms >= now.mono_ms + S.delay.floor_ms
            case FillTodo():
                due = tuple(p for p in todo if remaining[p.page_id] > 0)
                state = after_fill(state, due, len(due), None, now)
            case CrawlNext(page=crawled):
                assert state.robots.rules is not None
                remaining[crawled.page_id] -= 1
                code = ExitCode.file_gone if code is ExitCode.cancelled else code
                state = after_crawl(state, CrawlAnswer(crawled.page_id, code, status, response_ms, retry_after), now, S)
                assert crawled not in state.todo
        assert 0 <= state.patience <= patience
    raise AssertionError("the run did not end")


def test_a_job_without_room_is_passed_over_and_what_is_left_rests():
    one, other = replace(page(1), job_id=7), replace(page(2), job_id=8)
    assert next_turn(ready(one, other), T0, full={7}) == CrawlNext(other)
    assert next_turn(ready(one, other), T0, full={7, 8}) == Sleep(None, RestReason.held)


def test_an_origin_with_nothing_but_held_pages_waits_and_is_not_finished():
    state = after_fill(ready(), (), 0, None, T0, held=True)
    assert state.asleep_until == HELD
    assert next_turn(state, T0) == Sleep(None, RestReason.held)
    assert next_turn(reopen(state, frozenset()), T0) == FillTodo()
    kept = restore(record_of(state), (), PLAIN, S, Takeover(continued=True, unclean=False), T0)
    assert kept.asleep_until == 0, "after a restart it looks again"


def probe(number=1):
    url = normalise(f"http://a.test/probe/{number}")
    assert isinstance(url, CrawlUrl)
    return Check(1, url)


def test_a_probe_comes_before_the_pages_after_robots_and_delay():
    state = replace(ready(page()), checks=(probe(),))
    assert next_turn(replace(fresh(), checks=(probe(),)), T0) == FetchRobots(None)
    assert next_turn(replace(state, release_ms=T0.mono_ms + 5), T0) == Sleep(T0.mono_ms + 5, RestReason.delay)
    assert next_turn(replace(state, paused=True), T0) == Sleep(None, RestReason.paused)
    assert next_turn(state, T0) == CheckUrl(probe())
    after = after_check(state, probe(), CrawlAnswer(0, ExitCode.server_internal_error, 500, 300), T0, S)
    assert after.checks == ()
    assert after.patience == state.patience
    assert after.release_ms == T0.mono_ms + 1200


def test_a_finished_origin_is_probed_and_stays_finished():
    state = replace(finish(ready(page()), FinishReason.patience), checks=(probe(),))
    assert next_turn(state, T0) == CheckUrl(probe())
    after = after_check(state, probe(), CrawlAnswer(0, ExitCode.file_ingested, 200, 300), T0, S)
    assert next_turn(after, T0.later(60_000)) == Finish(FinishReason.patience)


def test_where_nothing_is_crawled_only_probes_are_made():
    assert next_turn(ready(page()), T0, crawls=False) == Sleep(None, RestReason.held)
    assert next_turn(replace(ready(page()), checks=(probe(),)), T0, crawls=False) == CheckUrl(probe())


def test_fixed_delay_settings_are_used():
    quick = CrawlSettings(delay=DelaySettings(model="fixed", default_ms=20, floor_ms=20))
    state = after_crawl(ready(page()), CrawlAnswer(1, ExitCode.file_ingested, 200, 900), T0, quick)
    assert state.delay_ms == 20


def test_a_refetch_makes_robots_due_without_touching_the_wait_or_the_rules_in_force():
    robots = RobotsState(RobotsStatus.parsed, 200, T0.wall_ms, T0.wall_ms + 1_800_000, PLAIN, b"x")
    state = fresh(robots=robots, release_ms=T0.mono_ms + 700, next_request_at=T0.wall_ms + 700)
    due = refetch_robots(state)
    assert due.robots.rules is PLAIN
    assert (due.release_ms, due.next_request_at) == (state.release_ms, state.next_request_at)
    assert next_turn(due, T0) == Sleep(T0.mono_ms + 700, RestReason.delay)
    assert next_turn(due, Moment(T0.mono_ms + 700, T0.wall_ms + 700)) == FetchRobots()


def test_a_refetch_wakes_only_an_origin_that_had_nothing_left():
    assert refetch_robots(fresh(finished=FinishReason.exhausted)).finished is None
    assert refetch_robots(fresh(asleep_until=HELD)).asleep_until == 0
    for reason in set(FinishReason) - {FinishReason.exhausted}:
        assert refetch_robots(fresh(finished=reason)).finished is reason
    assert next_turn(refetch_robots(fresh(paused=True)), T0) == Sleep(None, RestReason.paused)
