"""View 2: failed pages in groups of any kind, clusters among them, and what putting them back costs in time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import draft_text
from tests.console.sample_crawl import API, NOW, WWW, failed_pages, origin, page, run_view
from tests.console.support import FakeHost, Stage, stage
from tui_crawler.console.dialogs.choose import ChooseScreen, ConfirmScreen
from tui_crawler.console.failures.queries import ONCE_MS, counted_every, failure_groups, retry_plan
from tui_crawler.console.failures.retry_cost import RetryCost, cost_words, retry_cost
from tui_crawler.console.failures.rows import GROUPINGS, cluster_words, retry_cell
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.operator.engine_host import EnginePhase
from tui_crawler.console.operator.retry_start import RetryEstimate, RetryStart, estimate_words, outlook_of
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.pattern import clusters_of
from tui_crawler.console.url.screen import UrlScreen
from tui_crawler.domain.crawl.contract import Contract
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.command import RetryPages, TopUpPatience
from tui_crawler.domain.records.page_view import PageView
from tui_crawler.domain.records.view import OriginView
from tui_crawler.text.cells import cell_text


async def group_by(held: Stage, name: str) -> None:
    """Opens the view and goes round to a grouping."""
    await held.press("2", rounds=2)
    while (name,) != held.app.screen._groups.by:  # type: ignore[attr-defined]
        await held.press("failures.group", "enter", rounds=2)


# what it costs


def test_a_retry_takes_a_turn_per_page_and_as_many_again_per_try() -> None:
    views = {API: origin(API, delay_ms=4_000, last_response_ms=1_000, next_request_at=NOW + 2_000)}
    cost = retry_cost({API: 10}, views, 3, NOW)
    assert (cost.low_ms, cost.high_ms) == (27_000, 152_000), "five failures use its patience up"
    assert (cost.origin, cost.pages, cost.turn_ms, cost.origins, cost.held) == (API, 10, 5_000, 1, 0)
    assert cost_words(cost) == (
        "Takes 27s–3m at the present delay: api.example.org, 10 pages, 1–3 turns of 5.0s each, fewer if its "
        "patience ends (5 left)."
    )
    few = retry_cost({API: 5}, views, 3, NOW)
    assert cost_words(few) == "Takes 27s–1m at the present delay: api.example.org, 5 pages, 1–3 turns of 5.0s each."
    stale = {API: replace(views[API], robots_expires_at=NOW)}
    assert retry_cost({API: 5}, stale, 3, NOW).low_ms == few.low_ms + 5_000, "robots.txt takes a turn before them"


def test_more_pages_than_come_next_have_no_upper_end() -> None:
    views = {API: origin(API, delay_ms=1_000, last_response_ms=0, next_request_at=0, patience=900, patience_max=900)}
    words = cost_words(retry_cost({API: 600}, views, 3, NOW))
    assert words == "Takes 10m or more at the present delay: api.example.org, 600 turns of 1.0s."


def test_origins_take_their_turns_beside_each_other_and_the_slowest_is_named() -> None:
    views = {
        API: origin(API, delay_ms=1_000, last_response_ms=0, next_request_at=0),
        WWW: origin(WWW, delay_ms=1_000, operator_delay_ms=9_000, last_response_ms=0, next_request_at=0),
    }
    cost = retry_cost({API: 20, WWW: 3}, views, 1, NOW)
    assert (cost.low_ms, cost.high_ms, cost.origin) == (27_000, 27_000, WWW)
    assert cost_words(cost) == (
        "Takes 27s at the present delay: www.example.com, 3 turns of 9.0s, the longest of 2 origins."
    )


def test_pages_of_origins_that_take_no_turns_would_wait() -> None:
    held = [
        origin("https://a.example", paused=True),
        origin("https://b.example", asleep_until=HELD),
        origin("https://c.example", state="FINISHED", finish_reason="patience"),
        origin("https://d.example", state="FINISHED", finish_reason="exhausted"),
    ]
    cost = retry_cost({view.origin: 2 for view in held}, {view.origin: view for view in held}, 2, NOW)
    assert (cost.held, cost.origins) == (4, 2)  # the one that gave up is offered new patience
    assert cost_words(cost).endswith("4 pages would wait: their origins are paused or stopped.")
    later = retry_cost(
        {view.origin: 2 for view in held}, {view.origin: view for view in held}, 2, NOW, RetryStart.new_run
    )
    assert (later.held, later.origins) == (4, 2)  # the one that gave up has full patience again
    assert cost_words(later).endswith("4 pages would wait: their origins are paused.")
    assert cost_words(retry_cost({"https://unknown.example": 4}, {}, 2, NOW)) == ""
    assert cost_words(RetryCost(0, 0)) == ""


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 90_000), st.integers(0, 9_000)), max_size=6))
def test_a_range_is_never_upside_down_and_more_pages_never_take_less(turns: list[tuple[int, int, int]]) -> None:
    views = {
        f"https://{n}.example": origin(f"https://{n}.example", delay_ms=delay, last_response_ms=took)
        for n, (_, delay, took) in enumerate(turns)
    }
    pages = {name: turns[n][0] for n, name in enumerate(views)}
    cost = retry_cost(pages, views, 3, NOW)
    more = retry_cost({name: number + 1 for name, number in pages.items()}, views, 3, NOW)
    assert cost.low_ms <= cost.high_ms
    assert (cost.low_ms, cost.high_ms) <= (more.low_ms, more.high_ms)
    assert bool(cost.origin) == bool(turns)


# clusters


def test_urls_that_differ_in_numbers_are_a_cluster() -> None:
    urls = [*(f"{API}/v2/items?page={n}" for n in range(8)), f"{API}/about", f"{WWW}/v2/items?page=1"]
    (found,) = clusters_of(urls)
    assert (found.words, found.urls) == ("/v2/items?page=*", tuple(urls[:8]))
    assert cluster_words(found, 10) == "cluster: /v2/items?page=* (8 of 10)"
    assert clusters_of(urls[8:]) == clusters_of(()) == ()
    assert cluster_words(None, 10) == ""


async def test_the_largest_cluster_is_named_and_becomes_a_rule() -> None:
    async with stage((140, 40), keys="2") as held:
        assert "cluster: /v2/user/* (7 of 9) · m makes a rule" in held.text()
        await held.press("m", rounds=3)
        assert r"{match: '^https://api\.example\.org/v2/user/[0-9]+$', skip: true}" in draft_text(held)


async def test_among_the_pages_it_is_the_cluster_of_the_one_under_the_cursor() -> None:
    async with stage((140, 40), keys="2 enter") as held:
        await held.press("j", rounds=1)
        assert "cluster: /v2/items?page=* (2 of 9)" in held.text()
        await held.press("move.last", rounds=1)
        assert "cluster: /v2/user/* (7 of 9)" in held.text()


async def test_in_one_column_the_title_of_the_pages_names_the_cluster() -> None:
    async with stage((80, 24), keys="2") as held:
        assert "timeout · row 1 of 9 · cluster: /v2/user/* (7 of 9)" in held.text()


# groupings


async def test_status_pattern_and_message_have_groups_and_pages_of_their_own() -> None:
    async with stage((160, 40)) as held:
        await group_by(held, "http_status")
        assert [dict(key)["http_status"] for key in held.table("#groups").row_order] == ["", "404", "503"]  # type: ignore[call-overload]
        assert "no status · row 1 of 13" in held.text()
        await held.press("j", rounds=3)
        assert "404 · row 1 of 1" in held.text()
        await group_by(held, "pattern")
        assert "/v2/user/{n} · row 1 of 7" in held.text()
        await group_by(held, "message")
        assert "no response head within 30.0 s · row 1 of 9" in held.text()
        assert "failure_window(no response head within 30.0 s, 0)" in held.reports.asked


async def test_a_grouping_can_be_chosen_from_a_list() -> None:
    async with stage((140, 40), keys="2") as held:
        await held.press("failures.group", rounds=0)
        assert isinstance(held.app.screen, ChooseScreen)
        await held.press("j", "j", "j", "enter", rounds=3)
        assert "By path pattern" in held.text()


async def test_groups_show_recent_ones_origins_and_a_trend_of_an_hour() -> None:
    async with stage((180, 40), keys="2") as held:
        row = held.table("#groups").row((("exit_code", "request_timeout"),))
        total, recent, recovers, origins, trend, last = map(cell_text, row.cells[1:])
        assert (total, recent, recovers, origins) == ("9", "2", "yes", "1")
        assert len(trend) == 12
        assert trend.endswith("█")
        assert last == "now"
        other = held.table("#groups").row((("exit_code", "file_not_found"),))
        assert cell_text(other.cells[3]) == "no"


async def test_checks_that_are_switched_off_are_named_as_the_groups_are_counted() -> None:
    class Unchecked(FakeReports):
        def contract(self, origin: str) -> Contract:
            return replace(super().contract(origin), not_checked=("crawl.check_external", "crawl.check_fragments"))

    async with stage((180, 40), reports=Unchecked(), keys="2") as held:
        held.sees("not checked: crawl.check_external, crawl.check_fragments", "2 checks off")
    async with stage((180, 40), keys="2") as held:
        assert "not checked" not in held.text()


async def test_pages_tell_tries_the_last_duration_and_the_next_try() -> None:
    waiting = replace(failed_pages()[1], not_before=NOW + 120_000)
    async with stage((200, 40), reports=FakeReports(pages=(waiting,)), keys="2") as held:
        row = held.table("#pages").row(waiting.page_id)
        cells = dict(
            zip((column.id for column in held.table("#pages").columns), map(cell_text, row.cells), strict=True)
        )
        assert (cells["tries"], cells["took"], cells["retry"]) == ("3/5", "30.0s", "in 2m")
        assert cells["title"] == "Items page 18"


# many failures


def test_the_more_were_counted_the_less_often_that_is_done() -> None:
    few, some, many = map(counted_every, (10, 10_000, 100_000))
    assert few < some < many == ONCE_MS
    assert failure_groups(("origin",), 0).every(few) == failure_groups(("origin",), 0) != failure_groups(("origin",), 1)


async def test_what_was_not_counted_is_told_and_u_counts_again() -> None:
    reports = FakeReports(counted=200_000, failed=1_204_331)
    async with stage((160, 40), reports=reports, keys="2") as held:
        held.sees("counted 15 of 1 204 331, 14 retryable", "as of 10:41:0")
        await held.settle(4, move_ms=30_000)
        assert reports.asked.count("failure_count(exit_code)") == 2, "the first pages, and all of them"
        await held.press("failures.count", rounds=2)
        assert reports.asked.count("failure_count(exit_code)") == 3


async def test_a_grouping_that_was_shown_before_is_there_at_once_and_counted_anew() -> None:
    async with stage((160, 40), keys="2") as held:
        for _ in GROUPINGS:
            await held.press("failures.group", "enter", rounds=2)
        held.reports.pages = held.reports.pages[1:]
        held.reports.commit()
        await held.press("failures.group", "enter", rounds=0)
        assert "By origin · 15 pages" in held.text()
        assert held.table("#pages").row_count == 0, "whose pages are not read yet"
        await held.settle(2)
        assert "By origin · 14 pages" in held.text()
        assert held.table("#pages").row_count


# putting them back


async def test_a_group_that_no_command_names_is_put_back_by_its_pages() -> None:
    async with stage((160, 40)) as held:
        await group_by(held, "pattern")
        await held.press("R", rounds=2)
        assert isinstance(held.app.screen, ConfirmScreen)
        assert "Retry 7 failed pages?" in held.text()
        assert "7 pages, 1–5 turns of 34.0s each" in " ".join(held.text().replace("│", " ").split())
        await held.decide("y")
        assert held.journal.sent == [RetryPages(urls=tuple(f"{API}/v2/user/{n}" for n in range(7)))]


def test_only_so_many_pages_are_named_and_origins_looked_at() -> None:
    pages = tuple(page(n, f"{WWW}/p/{n}", "request_timeout") for n in range(1, 2_100))
    reports = FakeReports(pages=pages)
    plan = retry_plan((("pattern", "/p/{n}"),), ((WWW, 2_099),), 1).read(reports, NOW)
    assert (len(plan.urls), plan.pages, set(plan.origins)) == (2_000, ((WWW, 2_000),), {WWW})
    named = retry_plan((("exit_code", "request_timeout"),), ((WWW, 2_099),), 1).read(reports, NOW)
    assert (named.urls, named.pages) == ((), ((WWW, 2_099),))


async def test_one_page_is_put_back_at_once() -> None:
    async with stage((140, 40), keys="2 enter") as held:
        await held.decide("r", rounds=0)
        assert held.journal.sent == [RetryPages(urls=(f"{API}/v2/items?page=3",))]


DOWN = "https://down.example.com"


def words_of(held: Stage) -> str:
    """What is on the screen without frames and line breaks."""
    return " ".join(held.text().replace("│", " ").replace("┃", " ").split())


def retry_cells(held: Stage) -> list[str]:
    """The column RETRY of the pages."""
    pages = held.table("#pages")
    place = [column.id for column in pages.columns].index("retry")
    rows = [row for key in pages.row_order if (row := pages.row(key)) is not None]
    return [cell_text(row.cells[place]) for row in rows]


async def test_where_origins_gave_up_in_the_live_run_new_patience_is_offered() -> None:
    async with stage((140, 40), keys="2 j R") as held:
        assert isinstance(held.app.screen, ConfirmScreen)
        words = words_of(held)
        assert "the pages get their tries back; with new patience they come next in this run, and then up to" in words
        assert "other pages still queued there are asked, as long as it lasts. Takes" in words
        assert "4 pages, 1–5 turns of 10.0s each" in words
        assert "down.example.com stopped after errors: without new patience it requests nothing." in words
        assert "0 pages may" not in words
        assert "Retry with new patience" in words
        await held.decide("y")
        assert held.journal.sent == [RetryPages(exit_codes=("connection_failed",)), TopUpPatience((DOWN,))]


async def test_r_on_one_page_of_an_origin_that_gave_up_asks_the_same() -> None:
    async with stage((140, 40), keys="2 j") as held:
        await held.press("enter", "r", rounds=2)
        assert isinstance(held.app.screen, ConfirmScreen)
        words = words_of(held)
        assert "Retry 1 failed page?" in words
        assert "1 page, 1–5 turns of 10.0s each" in words
        assert "down.example.com stopped after errors: without new patience it requests nothing." in words
        await held.decide("y")
        (retry, patience) = held.journal.sent
        assert isinstance(retry, RetryPages)
        assert len(retry.urls) == 1
        assert patience == TopUpPatience((DOWN,))


async def test_r_on_a_page_of_a_paused_origin_says_that_it_waits() -> None:
    async with stage((140, 40)) as held:
        await held.commit(replace(held.reports.rows[API], paused=True), rounds=2)
        await held.press("2", "enter", rounds=3)
        await held.decide("r", rounds=0)
        assert any(one.text.endswith("; it waits, its origin is paused") for one in held.app.notices)


async def run_ends(held: Stage, host: FakeHost) -> None:
    """The hosted run comes to its end, and so it stands in the database."""
    host.end.set()
    await held.engine_over()
    held.reports.newest_run = run_view(live=False, finished_at=NOW, finish_reason="exhausted")
    held.reports.commit()


async def test_after_the_end_of_the_hosted_run_the_retry_of_one_page_asks_before_it_starts_another() -> None:
    host = FakeHost()
    async with stage((140, 40), host=host) as held:
        await run_ends(held, host)
        await held.press("2", "enter", "r", rounds=3)
        assert isinstance(held.app.screen, ConfirmScreen)
        assert "Retry 1 failed page?" in held.text()
        assert "starts a new run" in words_of(held)
        assert not held.journal.sent


async def test_r_is_about_no_page_while_groups_are_marked() -> None:
    async with stage(keys="2 space space r") as held:
        held.sees("2 marked", "no URL is selected")
        assert not held.journal.sent


async def test_after_the_end_of_the_hosted_run_a_retry_tells_of_the_new_run() -> None:
    host = FakeHost()
    async with stage((140, 40), host=host) as held:
        await run_ends(held, host)
        await held.press("2", "j", "R", rounds=3)
        words = words_of(held)
        queued = sum(view.pending for view in held.reports.rows.values() if not view.paused)
        asked = f"{queued:,}".replace(",", " ") + " other pages still queued are requested too,"
        assert "starts a new run; origins stopped by errors start again with full patience." in words
        assert f"{asked} and those whose recrawl is due." in words
        assert "Takes" in words
        untrue = ("in this run", "would wait", "Retry with new patience", "It stopped")
        assert not any(one in words for one in untrue)
        host.started.clear()
        await held.decide("y")
        assert held.journal.sent == [RetryPages(exit_codes=("connection_failed",))]
        assert await asyncio.to_thread(host.started.wait, 5), "another run starts"


def test_a_new_run_asks_for_more_than_what_is_put_back() -> None:
    assert estimate_words(RetryEstimate(RetryStart.new_run)).endswith("It also requests pages whose recrawl is due.")
    assert "Up to 9 other pages still queued are requested" in estimate_words(
        RetryEstimate(RetryStart.new_run, 9, most=True)
    )
    assert "1 other page still queued is requested too" in estimate_words(RetryEstimate(RetryStart.new_run, 1))


async def test_a_question_that_the_end_of_the_run_has_overtaken_does_nothing() -> None:
    host = FakeHost()
    async with stage((140, 40), host=host, keys="2 j R") as held:
        assert "come next in this run" in words_of(held)
        await run_ends(held, host)
        await held.press("enter", rounds=2)
        assert "not retried: a run started or ended in the meantime" in words_of(held)
        assert not held.journal.sent


async def test_after_the_end_of_the_hosted_run_pages_can_be_put_back_alone() -> None:
    host = FakeHost()
    async with stage((140, 40), host=host) as held:
        await run_ends(held, host)
        await held.press("2", "j", "R", rounds=3)
        host.started.clear()
        await held.decide("right", "enter")
        assert held.journal.sent == [RetryPages(exit_codes=("connection_failed",))]
        await held.settle(3)
        assert held.app.hosting.phase is EnginePhase.ended
        assert not host.started.is_set()
        assert "requeued for the next run" in words_of(held)


async def test_at_a_resting_database_the_next_run_takes_a_retry_up() -> None:
    resting = run_view(live=False, finished_at=NOW, finish_reason="exhausted")
    async with stage((140, 40), reports=FakeReports(newest_run=resting), keys="2") as held:
        assert "next run" in held.text()
        await held.press("j", "R", rounds=3)
        words = words_of(held)
        assert "connection_failed: noted; the next run takes them up. Takes" in words
        assert "new run" not in words
        assert "would wait" not in words


def test_the_retry_column_says_what_will_become_of_a_page() -> None:
    tried = page(1, f"{API}/x", "request_timeout", attempts_remaining=2)
    live, down = RetryStart.this_run, origin(DOWN, state="FINISHED", finish_reason="patience")

    def said(one: PageView, view: OriginView | None, retry_start: RetryStart) -> str:
        return retry_cell(one, NOW, outlook_of(one, NOW, view, retry_start, 7)).text

    assert said(tried, origin(API), live) == said(tried, None, live) == "now"
    assert said(replace(tried, not_before=NOW + 120_000), None, live) == "in 2m"
    assert said(replace(tried, ignored_in=7), None, live) == "next run", "this one has considered it"
    assert said(replace(tried, ignored_in=7), down, live) == "next run", "which begins with full patience"
    assert said(replace(tried, ignored_in=6), None, live) == "now"
    spent = replace(tried, attempts_remaining=0, recoverable=True, due_at=NOW + 1)
    assert said(spent, None, live) == "tries used up"
    assert said(replace(spent, recoverable=False), None, live) == "final"
    assert said(replace(spent, recoverable=False, due_at=NOW - 1), None, live) == "now", "its recrawl is due"
    assert said(replace(tried, status="SKIPPED"), None, live) == "skipped"
    assert said(tried, down, live) == "stopped: errors"
    assert said(tried, origin(API, state="FINISHED", finish_reason="operator"), live) == "stopped"
    assert said(tried, origin(API, state="FINISHED", finish_reason="exhausted"), live) == "now"
    assert said(tried, down, RetryStart.new_run) == said(tried, None, RetryStart.next_run) == "next run"
    assert said(tried, origin(API, paused=True), RetryStart.next_run) == "paused"


async def test_the_retry_column_follows_the_origin() -> None:
    async with stage((160, 40)) as held:
        held.reports.pages = tuple(replace(one, attempts_remaining=3) for one in failed_pages() if DOWN in one.url)
        held.reports.commit()
        await held.press("2", rounds=3)
        assert retry_cells(held) == ["stopped: 5 errors"] * 4
        held.reports.commit(replace(held.reports.rows[DOWN], state="READY", finish_reason="", patience=5))
        await held.settle(3, move_ms=500)
        assert retry_cells(held) == ["now"] * 4


async def test_a_retry_cannot_be_undone_and_z_says_so() -> None:
    async with stage((140, 40), keys="2 enter") as held:
        await held.decide("r", rounds=0)
        await held.press("journal.undo")
        told = held.told
        assert told.startswith("undo: the last action, retry https://")
        assert told.endswith(", cannot be undone")


# holding still, going on


async def test_a_frozen_view_counts_only_what_is_another_one() -> None:
    async with stage((140, 40), keys="2") as held:
        await held.press("f", rounds=1)
        await held.settle(3, move_ms=1_100)
        assert "‖ frozen" in held.text()
        held.reports.pages = (*failed_pages(), page(900, f"{API}/late", "request_timeout"))
        await held.commit(rounds=2, move_ms=1_100)
        assert "‖ frozen · 1 changes" in held.text()
        assert "/late" not in held.text()
        await held.press("f", rounds=1)
        assert "/late" in held.text()


async def test_groups_keep_their_places_for_a_second_after_the_last_key() -> None:
    async with stage((160, 40), keys="2") as held:
        await held.settle(3, move_ms=500)
        groups = held.table("#groups")
        before = list(groups.row_order)
        last = next(one for one in held.reports.pages if (("exit_code", one.last_exit_code),) == before[-1])
        await held.press("j", rounds=0)
        held.reports.pages += tuple(replace(last, page_id=9_000 + n, url=f"{last.url}/{n}") for n in range(99))
        held.reports.commit()
        for _ in range(8):
            await held.press("j", rounds=0)
            await held.settle(1, move_ms=400)
            assert list(groups.row_order) == before, "somebody is at the keys"
        assert groups.row(before[-1]) is not None
        assert "100" in held.text(), "what the rows say goes on"
        under = groups.cursor_key
        await held.settle(4, move_ms=600)
        assert list(groups.row_order) == [before[-1], *before[:-1]]
        assert groups.cursor_key == under


async def test_the_view_keeps_its_place_when_a_page_was_opened() -> None:
    async with stage((140, 40)) as held:
        await group_by(held, "pattern")
        await held.press("enter", "j", "enter", rounds=3)
        assert isinstance(held.app.screen, UrlScreen)
        await held.press("escape", rounds=2)
        assert isinstance(held.app.screen, FailuresScreen)
        assert "/v2/user/{n} · row 2 of 7" in held.text()
        assert held.table("#pages").cursor_index == 1


async def test_narrow_the_groups_are_as_tall_as_their_rows_and_the_pages_have_the_rest() -> None:
    async with stage((80, 24), keys="2", rounds=2) as held:
        groups, pages = (
            held.table("#groups"),
            held.table("#pages"),
        )
        assert groups.region.height == groups.row_count + 2
        assert pages.region.height >= pages.row_count + 2
        await held.pilot.resize_terminal(120, 40)
        await held.quiet()
        assert groups.region.height == pages.region.height


# who names a page


async def test_who_names_the_page_under_the_cursor_is_shown_and_opened() -> None:
    async with stage(keys="2 tab", rounds=2) as held:
        await held.settle(2)
        referrers = held.table("#referrers")
        assert str(referrers.border_title) == "Linked from 15"
        assert referrers.row_count == 12
        await held.press("tab", "j", "enter", rounds=2)
        assert held.app.screen.crumbs()[-1].endswith("/v2/items?page=2")
        await held.press("escape", "escape", rounds=2)
        assert held.app.focused is held.table("#pages")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_all_links_of_a_failed_page_are_a_key_away_at_any_size(size: tuple[int, int]) -> None:
    async with stage(size, keys="2 tab", rounds=2) as held:
        await held.settle(2)
        info = held.app.screen.query_one("#page-info", Lines)
        assert ("linked from 15 (o l)" in str(info.border_title)) == (size[0] < 81)
        await held.press("url.tab_links", rounds=2)
        assert held.app.focused is held.table("#url-inlinks")
