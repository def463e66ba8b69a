"""The robots.txt panel: the text with the group in force, the line that decides, and the refetch."""

from __future__ import annotations

from dataclasses import replace

from tests.console.sample_crawl import API, NOW
from tests.console.support import FakeReports, Stage, stage
from tui_crawler.console.origin.queries import robots_sheet
from tui_crawler.console.origin.rows import decide, wanted_url
from tui_crawler.console.origin.screen import OriginScreen, RobotsLines, RobotsScreen
from tui_crawler.domain.crawl.contract import Contract
from tui_crawler.domain.records.command import RefetchRobots


async def open_robots(held: Stage, *keys: str) -> None:
    held.table("#origins").move_cursor(key=API)
    await held.press(*keys, "robots.view", rounds=3)
    assert isinstance(held.app.screen, RobotsScreen)


def shown_text(held: Stage) -> str:
    return held.app.screen.query_one(RobotsLines).text


async def test_the_group_in_force_and_the_line_that_decides_are_marked_with_their_numbers() -> None:
    async with stage((120, 40)) as held:
        await open_robots(held, "enter")
        held.sees(" 3    Disallow: /", " 5  ● User-agent: example-net-crawler", " 7 ▸● Allow: /v2/")
        held.sees("✓ allowed by line 7", "fetched  12m ago", "again    in 18m", "225 B", "2.0s between requests")
        held.sees("https://api.example.org/sitemap.xml", "User-Agent  example-net-crawler")
        await held.press("escape", rounds=1)
        assert isinstance(held.app.screen, OriginScreen)


async def test_any_url_or_path_of_the_origin_can_be_tried() -> None:
    async with stage((120, 40)) as held:
        await open_robots(held)
        assert "o t tries a URL" in held.text()
        for path, line in (("/v2/?sort=a", 9), ("/v2/user/7", 8)):
            await held.press("robots.test", rounds=0)
            await held.enter(path, rounds=1)
            assert f"⊘ refused by line {line}" in held.text()
        assert " 8 ▸● Disallow: /v2/user/" in held.text()
        held.app.dispatcher.do("robots.test", "https://elsewhere.example/x")
        await held.quiet()
        held.sees("is no URL of api.example.org", "⊘ refused by line 8")
        held.app.dispatcher.do("robots.test", f"{API}/about")
        await held.quiet()
        assert "✓ allowed: no line is about it" in held.text()


async def test_a_refetch_goes_through_the_journal_and_the_new_file_is_shown() -> None:
    async with stage((120, 40)) as held:
        await open_robots(held)
        await held.decide("robots.refetch")
        assert held.journal.sent == [RefetchRobots((API,))]
        assert "✓ fetch robots.txt of api.example.org again" in held.text()
        view = held.reports.rows[API]
        await held.commit(replace(view, robots_expires_at=0), rounds=3)
        assert "due now, after the delay" in held.text()
        held.reports.robots = b"User-agent: *\nDisallow: /new/\n"
        await held.commit(replace(view, robots_fetched_at=NOW, robots_expires_at=NOW + 1_800_000), rounds=4)
        assert "2  ● Disallow: /new/" in held.text()


async def test_what_stands_there_without_a_file() -> None:
    reports = FakeReports(robots=None)
    view = reports.rows[API]
    async with stage((120, 40), reports=reports) as held:
        await open_robots(held)
        assert "robots.txt is not stored" in held.text()
        await held.commit(replace(view, robots_status="unavailable", robots_http_status=404), rounds=3)
        assert "no robots.txt (404): everything is allowed" in held.text()
        await held.commit(replace(view, robots_status="unavailable"), rounds=3)
        assert "robots.txt: no response (its address is refused)" in held.text()
        assert "there is no" not in held.text().lower()


async def test_a_robots_txt_that_cannot_be_had_says_why_and_is_no_empty_file() -> None:
    reports = FakeReports(robots=b"")
    down = replace(
        reports.rows[API],
        robots_status="unreachable",
        robots_message="api.example.org port 443: Connection refused",
        state="FINISHED",
        finish_reason="patience",
        robots_expires_at=0,
    )
    reports.commit(down)
    async with stage((120, 40), reports=reports) as held:
        await open_robots(held)
        assert "robots.txt unreachable: connection refused" in held.text()
        assert "The file is empty" not in held.text()
        assert "not fetched yet" not in held.text()
        assert "due now" not in held.text()
        await held.commit(replace(down, state="WAITING", finish_reason="", robots_http_status=503), rounds=3)
        held.sees("robots.txt unreachable: HTTP 503", "due now, after the delay")


async def test_rules_of_an_earlier_file_are_not_shown_as_in_force_when_there_is_none_now() -> None:
    reports = FakeReports()
    reports.commit(replace(reports.rows[API], robots_status="unavailable", robots_http_status=404))
    async with stage((120, 40), reports=reports) as held:
        await open_robots(held, "enter")
        assert "✓ allowed: there is no robots.txt" in held.text()
        assert "rules in force" not in held.text()
        assert "▸" not in shown_text(held)
        assert "●" not in shown_text(held)


async def test_a_file_of_half_a_million_bytes_is_shown_without_laying_out_what_is_not_seen() -> None:
    rules = b"".join(b"Disallow: /area-%d/*.html\n" % number for number in range(19_000))
    reports = FakeReports(robots=b"User-agent: *\n" + rules)
    made: list[int] = []
    async with stage((120, 40), reports=reports) as held:
        await open_robots(held)
        pane = held.app.screen.query_one(RobotsLines)
        row = pane._row
        pane._row = lambda index: (made.append(index), row(index))[1]  # type: ignore[method-assign]  # counts
        pane.scroll_end(animate=False)
        await held.settle(2)
        assert "Disallow: /area-18999/*.html" in held.text()
        assert len(set(made)) < 300
        held.app.dispatcher.do("robots.test", "/area-12000/x.html")
        await held.quiet()
        await held.settle(2)
        held.sees("⊘ refused by line 12002", "12002 ▸● Disallow: /area-12000/*.html")


async def test_what_is_cut_or_made_stricter_is_said() -> None:
    sheet = robots_sheet(b"User-agent: *\nDisallow: /a\nDisallow: /b\n", Contract("bot", robots_max_bytes=30))
    assert sheet.rules.truncated
    assert len(sheet.lines) == 4
    assert sheet.in_force == {1, 2}
    allowed = decide(sheet, "https://h.example/b")
    assert allowed.allowed
    assert decide(sheet, "http://[") is None


def test_a_typed_path_is_completed_and_another_origin_refused() -> None:
    assert wanted_url(API, "v2/x?y=1") == f"{API}/v2/x?y=1"
    assert wanted_url(API, f"{API}/v2/x#f") == f"{API}/v2/x"
    assert wanted_url(API, "https://other.example/") == ""
    assert wanted_url(API, "http://[") == ""


async def test_from_a_list_of_urls_the_selected_one_is_judged() -> None:
    for keys in (("2", "tab"), ("3",), ("i", "enter")):
        async with stage((120, 40)) as held:
            held.table("#origins").move_cursor(key=API)
            await held.press(*keys, rounds=3)
            url = held.situation.urls[0]
            await held.press("robots.view", rounds=3)
            robots = held.app.screen
            assert isinstance(robots, RobotsScreen)
            assert robots.situation().urls == (url,)
            assert ("allowed" in held.text()) or ("refused by line" in held.text())


async def test_the_way_there_is_told() -> None:
    ways: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
        ((), ("Origins", "api.example.org", "robots.txt")),
        (("enter",), ("Origins", "api.example.org", "robots.txt")),
        (("3",), ("URLs", "api.example.org", "robots.txt")),
        (("3", "enter"), ("URLs", "api.example.org/v2/items?page=3", "robots.txt")),
        (("3", "i", "enter"), ("URLs", "why", f"{API}/v2/items?page=3", "robots.txt")),
    )
    async with stage((120, 40)) as held:
        for keys, crumbs in ways:
            held.app.dispatcher.show_view("view.overview")
            await held.quiet()
            held.table("#origins").move_cursor(key=API)
            await held.press(*keys, rounds=3)
            held.app.dispatcher.do("robots.view")
            await held.settle(2)
            robots = held.app.screen
            assert isinstance(robots, RobotsScreen)
            assert robots.crumbs() == crumbs


async def test_an_origin_that_is_none_of_the_crawl_says_so() -> None:
    async with stage((120, 40)) as held:
        held.app.push_screen(RobotsScreen("https://nowhere.example"))
        await held.settle(3)
        assert "nowhere.example is not an origin of this crawl." in held.text()
        await held.press("robots.refetch")
        assert "refetch: no origin is selected" in held.text()


async def test_a_frozen_panel_holds_still() -> None:
    async with stage((120, 40)) as held:
        await open_robots(held)
        await held.press("f")
        held.reports.robots = b"User-agent: *\nDisallow: /new/\n"
        await held.commit(replace(held.reports.rows[API], robots_fetched_at=NOW), rounds=3)
        assert "/new/" not in held.text()
        await held.press("f", rounds=3)
        assert "/new/" in held.text()
