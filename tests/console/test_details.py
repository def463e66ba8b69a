"""Going down: an origin, failures by exit code, one URL with its attempts, requests and headers."""

from __future__ import annotations

from dataclasses import replace

from tests.console.sample_crawl import API, NOW, attempt, failed_pages, page
from tests.console.support import FakeReports, Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.origin.screen import OriginScreen
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.url.screen import UrlScreen
from tui_crawler.domain.records.command import PauseOrigins, RetryPages
from tui_crawler.domain.records.operator_view import ActionView


async def open_api(held: Stage) -> None:
    held.table("#origins").move_cursor(key=API)
    await held.press("enter", rounds=3)
    assert isinstance(held.app.screen, OriginScreen)


async def test_origin_shows_state_with_history_todo_in_order_counts_and_log() -> None:
    async with stage((160, 50)) as held:
        await open_api(held)
        text = held.text()
        held.sees("now: fetch  ▶ /v2/items?page=19", "2/5", "slowed by 429", "first 34 of 812")
        assert "⊘ policy" in text, "the bars stand beside"
        assert "Links refused" in text
        todo = [str(key) for key in held.table("#todo").row_order]
        assert todo[0] == f"{API}/v2/items?page=20"
        assert list(held.table("#attempts").row_order) == [("attempt", number) for number in (400, 395, 392, 390, 389)]


async def test_attempts_of_an_origin_come_in_live_and_the_cursor_stays_where_it_was_put() -> None:
    async with stage() as held:
        await open_api(held)
        await held.commit(log=[attempt(401, f"{API}/live", "file_ingested")], rounds=4)
        assert held.table("#attempts").cursor_key == ("attempt", 401)
        await held.press("j", rounds=0)
        await held.commit(log=[attempt(402, f"{API}/live2", "file_ingested")], rounds=4)
        assert held.table("#attempts").cursor_key == ("attempt", 400)
        assert "/live2" in held.text()


async def test_actions_on_the_origin_shown() -> None:
    async with stage() as held:
        await open_api(held)
        await held.decide("p")
        assert held.journal.sent == [PauseOrigins((API,))]
        await held.decide("r")
        assert held.journal.sent[-1] == RetryPages(urls=(f"{API}/v2/items?page=18",))


async def test_frozen_origin_holds_still() -> None:
    async with stage() as held:
        await open_api(held)
        await held.press("f")
        await held.commit(log=[attempt(401, f"{API}/live", "file_ingested")], rounds=4)
        assert "/live" not in held.text()
        assert "‖ frozen" in held.text()
        await held.press("f")
        assert "/live" in held.text()


async def test_failures_by_exit_code_open_a_page_with_attempts_requests_headers_and_message() -> None:
    async with stage(keys="2") as held:
        assert isinstance(held.app.screen, FailuresScreen)
        assert held.table("#groups").row_count == 4
        assert "15 pages, 14 retryable" in held.text()
        await held.press("enter", "j", "enter", rounds=3)
        assert isinstance(held.app.screen, UrlScreen)
        held.sees(f"{API}/v2/items?page=18", "Items page 18", "no response head within 30.0 s")
        assert held.table("#url-attempts").row_count == 3
        held.sees("user-agent: example-net-crawler", "↳ /v2/items?page=18")
        await held.press("j", "j")
        held.sees("content-type: text/html", "server: nginx \\x1b]52;c;aGk=\\x07")
        await held.press("escape", "escape", "escape")
        assert isinstance(held.app.screen, OverviewScreen)


async def test_the_second_request_of_an_attempt_is_named() -> None:
    async with stage((200, 60)) as held:
        held.app.go_to(Where.url, f"{API}/v2/items?page=18")
        await held.settle(2)
        await held.press("j", "enter")
        assert held.table("#url-requests").row_count == 2
        await held.press("j")
        held.sees("second try", "203.0.113.7")


async def test_a_url_that_is_not_known_says_so() -> None:
    async with stage(reports=FakeReports(detail=lambda url: None)) as held:
        held.app.go_to(Where.url, f"{API}/nowhere")
        await held.settle(2)
        assert "is unknown to this" in held.text()


async def test_groupings_go_round_and_pages_follow_the_group() -> None:
    async with stage(keys="2") as held:
        await held.press("failures.group", "enter", rounds=3)
        assert "By origin" in held.text()
        assert held.table("#pages").row_count == 9
        await held.press("j", rounds=3)
        assert held.table("#pages").row_count == 4
        await held.press("failures.group", "enter", rounds=3)
        assert "By exit code × origin" in held.text()


async def test_retry_of_marked_pages_and_of_a_whole_group() -> None:
    async with stage(keys="2") as held:
        await held.press("enter", rounds=0)
        await held.press("space", "space", "r")
        held.sees("Retry 2 failed pages?", "Takes 1m–6m at the present delay")
        await held.decide("y")
        assert held.journal.sent == [RetryPages(urls=(f"{API}/v2/items?page=3", f"{API}/v2/items?page=18"))]
        await held.press("R", rounds=2)
        held.sees("Retry 9 failed pages?", "Takes 1m–26m at the present delay")
        await held.decide("y")
        assert held.journal.sent[-1] == RetryPages(exit_codes=("request_timeout",))


async def test_nothing_has_failed() -> None:
    async with stage(reports=FakeReports(pages=()), keys="2") as held:
        assert "no failed pages" in held.text()
        await held.press("R")
        assert "retry failed: no failed pages here" in held.text()


async def test_failures_change_while_they_are_shown() -> None:
    async with stage(keys="2") as held:
        held.reports.pages = (*failed_pages(), page(900, f"{API}/late", "request_timeout"))
        await held.commit(rounds=12)
        assert "/late" in held.text()


async def test_an_event_opens_its_url() -> None:
    async with stage() as held:
        await held.press("tab", "tab", "enter", rounds=2)
        assert isinstance(held.app.screen, UrlScreen)


async def test_hidden_screens_are_not_read_for() -> None:
    async with stage() as held:
        await open_api(held)
        held.reports.asked.clear()
        held.reports.commit(replace(held.reports.rows[API], done=421))
        await held.settle(5)  # 600 ms
        assert [one for one in held.reports.asked if one.startswith("origins_changed")] == ["origins_changed(1)"]
        assert "attempts(after_id=400, before_id=0)" not in held.reports.asked, "events are of the overview"
        await held.press("escape", rounds=3)
        assert "421" in held.text()


async def test_a_rule_is_drafted_from_a_url_of_the_origin() -> None:
    async with stage((160, 50)) as held:
        await open_api(held)
        await held.press("m", rounds=2)
        assert isinstance(held.app.screen, RuleEditorScreen)
        assert ", skip: true}" in held.text()


async def test_the_origin_shows_its_clock_contract_and_who_gave_patience_back() -> None:
    reports = FakeReports()
    given = ActionView(
        40, NOW - 60_000, "ines", "top_up", API, f'{{"{API}": 1}}', f'{{"{API}": 5}}', undone=False, applied=True
    )
    reports.asked_for = (given, *reports.asked_for)
    async with stage((200, 60), reports=reports) as held:
        await open_api(held)
        held.sees("1→5 topped up by ines 10:40:07", "3→2 timeout 10:41:07", "User-Agent  example-net-crawler")
        held.sees("never")
        view = held.reports.rows[API]
        now = held.clock.wall
        held.reports.commit(replace(view, in_flight_url="", state="WAITING", next_request_at=now + 4_000))
        await held.settle(2, move_ms=500)
        assert "next     3.0s  ▓▓▓░░░░░░░░░" in held.text()
        held.clock.move(1_000)
        held.app.screen.tick()
        await held.quiet()
        assert "next     2.0s  ▓▓▓▓▓▓░░░░░░" in held.text()


async def test_an_origin_that_looks_like_a_trap_says_why() -> None:
    reports = FakeReports()
    reports.log = tuple(
        attempt(n, f"{API}/calendar/{n}", "file_ingested", new_pages=2, title="Calendar") for n in range(140, 100, -1)
    )
    async with stage((160, 50), reports=reports) as held:
        await open_api(held)
        held.sees("⚠ trap suspected", "/calendar/{n}: 40 of the last 40", "drafts a rule")
