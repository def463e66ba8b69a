"""View 3: pages by windows and filters, and one URL in its tabs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from rich.cells import get_character_cell_size
from textual.widgets import Static

from tests.console.sample_crawl import API, NOW, failed_pages, origin, page, page_detail, run_view
from tests.console.sample_relations import texts_of
from tests.console.support import FakeReports, Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.app import TICK_MS
from tui_crawler.console.operator.retry_start import NextRequest, RetryStart, outlook_of
from tui_crawler.console.origin.screen import OriginScreen
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.lines import LongLines
from tui_crawler.console.panes.tabs import TabBar
from tui_crawler.console.reading.ask import WINDOW
from tui_crawler.console.table import export as view_export
from tui_crawler.console.url.rows import MOST_LINES, hex_lines, looks_binary, text_lines
from tui_crawler.console.url.screen import UrlScreen
from tui_crawler.console.urls import whole_list as mark_beyond
from tui_crawler.console.urls.queries import FIELDS_MS, SCAN_MS, url_window
from tui_crawler.console.urls.rows import URLS, PageLine
from tui_crawler.console.urls.screen import UrlsScreen
from tui_crawler.domain.crawl.recovery import NextTry
from tui_crawler.domain.records.attempt import DataValue, Validation, ValidationError
from tui_crawler.domain.records.command import RetryPages
from tui_crawler.domain.records.page_view import LinkEnd, LinkView, RedirectView
from tui_crawler.domain.rules.page_filter import PageFilter, read_page_filter
from tui_crawler.text.cells import cell_text


def many(number: int) -> FakeReports:
    return FakeReports(pages=tuple(page(n, f"{API}/p/{n}", "request_timeout") for n in range(1, number + 1)))


async def narrow(held: Stage, text: str) -> None:
    await held.press("/", rounds=0)
    await held.enter(text, rounds=2)


# the view


async def test_pages_of_the_crawl_with_the_one_under_the_cursor_in_full() -> None:
    async with stage((160, 40), keys="3") as held:
        assert isinstance(held.app.screen, UrlsScreen)
        held.sees("URLs · row 1 of 15", "↻ retry", "api.example.org/v2/items?page=18", "Items page 18")
        await held.press("j", rounds=0)
        assert "no response head within 30.0 s" in held.text()
        await held.press("enter", rounds=3)
        assert isinstance(held.app.screen, UrlScreen)
        await held.press("escape", "escape", rounds=2)
        assert isinstance(held.app.screen, OverviewScreen)


TITLES = (
    "⚠\ufe0f Warnung",
    "👩\u200d👩\u200d👧 Familie",
    "🇩🇪🇫🇷 flags",
    "日本語の題",
    "❤\ufe0f\u200d🔥 heart",
    "👍\U0001f3fd",
    "plain",
)


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
@pytest.mark.parametrize("size", [(160, 24), (200, 40)])
async def test_titles_and_urls_of_any_script_are_readable_and_their_columns_stay_aligned(
    size: tuple[int, int], locale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    pages = (
        page(n, f"{API}/%E6%97%A5/{n}", "file_ingested", title=title, size=777) for n, title in enumerate(TITLES, 1)
    )
    async with stage(size, reports=FakeReports(pages=tuple(pages)), keys="3") as held:
        table = held.table("#urls")
        lines = [table.render_line(line).text for line in range(len(TITLES) + 1)]
        ends = {sum(map(get_character_cell_size, line[: line.index("777")])) for line in lines[1:]}
        assert len(ends) == 1, lines
        assert not [line for line in lines if "\\" in line or set(line) & set("\ufe0f\u200d🇩🇪🇫🇷\U0001f3fd")]
        assert ("example.org/日/7" if locale != "C" else "example.org/%E6%97%A5/7") in "".join(lines)
        assert f"{API}/%E6%97%A5/1" in held.text()  # in full below the list, as it is copied


async def test_the_newest_come_first_where_one_wants_that() -> None:
    async with stage(reports=many(5_000), keys="3 sort.reverse") as held:
        assert held.table("#urls").row_order[0] == 5_000
        assert "newest first" in held.text()
        await held.press("move.last", rounds=3)
        assert held.table("#urls").cursor_key == 1


async def test_a_sort_by_any_column_reads_all_of_a_short_list_first() -> None:
    async with stage((140, 40), reports=many(450), keys="3") as held:
        assert held.table("#urls").row_count == WINDOW
        held.app.dispatcher.do("sort.pick", "url")
        await held.settle(4)
        assert held.table("#urls").row_count == 450
        assert "row 1 of 450" in held.text()
        assert "rows loaded" not in held.text()
        assert list(held.table("#urls").row_order)[:3] == [1, 10, 100]
        await held.press("sort.reverse")
        assert list(held.table("#urls").row_order)[:3] == [99, 98, 97]
        held.app.dispatcher.do("sort.pick", "@found")
        await held.settle(2)
        held.app.dispatcher.do("sort.pick", "tries")
        held.app.dispatcher.do("sort.pick", "title")
        await held.settle(4)
        assert held.table("#urls").cursor_index == 0, "one looks at what comes first"


async def test_a_sort_of_a_long_list_holds_for_the_rows_held_and_says_so() -> None:
    async with stage((140, 40), reports=many(2_450), keys="3") as held:
        held.app.dispatcher.do("sort.pick", "url")
        await held.settle()
        count = held.table("#urls").row_count
        assert f"only the {count} rows loaded of 2 450" in held.text()
        assert held.table("#urls").order == ("url", False)
        await held.press("move.last")
        assert held.table("#urls").row_count == count, "nothing is read on while it is sorted"
        held.app.dispatcher.do("sort.pick", "@newest")
        await held.settle(3)
        assert held.table("#urls").row_order[0] == 2_450
        assert "rows loaded" not in held.text()


async def test_how_many_pages_match_is_counted_in_pieces_and_told() -> None:
    async with stage((160, 40), reports=many(900)) as held:
        held.reports.looks_at = 250
        await held.press("3", rounds=3)
        await narrow(held, "/p/")
        await held.settle(6)
        assert [asked for asked in held.reports.asked if "tally" in asked] == [
            f"page_tally({after})" for after in (0, 250, 500, 750)
        ]
        assert "row 1 of 900 that match" in held.text()
        await narrow(held, "depth:>40")
        await held.settle(3)
        assert "that match" not in held.text()


async def test_while_it_is_counted_what_was_found_so_far_is_told() -> None:
    async with stage((160, 40), reports=many(900)) as held:
        held.reports.looks_at = 300
        await held.press("3", rounds=3)
        held.app.dispatcher.do("filter.open", "/p/")
        await held.settle(2)
        assert "300 match of 300 looked at, 900 in all" in held.text()
        await held.settle(4)
        assert "900 that match" in held.text()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "md"])
async def test_an_export_writes_all_rows_that_match_not_only_those_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage((160, 40), reports=many(1_300), keys="3") as held:
        await narrow(held, "!/p/7")
        await held.settle(2)
        length = sum("/p/7" not in one.url for one in held.reports.pages)
        await held.press("view.export", rounds=0)
        assert f"Export all {length // 1_000} {length % 1_000:03} rows" in held.text()
        await held.press("escape", rounds=0)
        held.app.dispatcher.do("view.export", kind)
        await held.settle(6)
        assert f"{length // 1_000} {length % 1_000:03} rows written: " in held.text()
        assert isinstance(held.app.screen, UrlsScreen)
        (file,) = (tmp_path / "exports").iterdir()
        lines = file.read_text("utf-8").splitlines()
        assert lines[0].startswith("\ufeff") == (kind == "csv")  # by which Excel knows UTF-8
        assert "\ufeff" not in "".join(lines[1:])
        assert len(lines) == length + {"csv": 1, "jsonl": 0, "md": 2}[kind]
        assert sum(f"{API}/p/1299" in line for line in lines) == (kind != "md")


async def test_esc_stops_an_export_and_the_file_keeps_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage((160, 40), reports=many(1_300), keys="3") as held:
        held.app.dispatcher.do("view.export", "jsonl")
        await held.settle(1)
        assert "500 of 1 300 rows written" in held.text()
        await held.press("escape", rounds=2)
        assert "500 rows written, then it was stopped" in held.text()
        (file,) = (tmp_path / "exports").iterdir()
        assert len(file.read_text("utf-8").splitlines()) == 500
        assert isinstance(held.app.screen, UrlsScreen)


async def test_an_export_that_cannot_be_written_to_its_end_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    async with stage((160, 40), reports=many(900), keys="3") as held:
        monkeypatch.setattr(view_export, "lines", full)
        held.app.dispatcher.do("view.export", "jsonl")
        await held.settle(2)
        assert "could not be written: [Errno 28] No space left on device" in held.text()
        assert isinstance(held.app.screen, UrlsScreen)


async def test_marking_all_marks_what_is_held_then_all_that_match_then_nothing() -> None:
    async with stage((160, 40), reports=many(1_300), keys="3") as held:
        await narrow(held, "!/p/7")
        await held.settle(2)
        length = sum("/p/7" not in one.url for one in held.reports.pages)
        await held.press("mark.all", rounds=0)
        assert f"200 marked of {length // 1_000} {length % 1_000} · t a again marks all that match" in held.text()
        await held.press("mark.all", rounds=5)
        assert f"all {length // 1_000} {length % 1_000} marked · t a takes the marks off" in held.text()
        assert set(held.situation.urls) == {one.url for one in held.reports.pages if "/p/7" not in one.url}
        await held.press("mark.all", rounds=1)
        assert held.table("#urls").mark_count == 0
        assert len(held.situation.urls) == 1


async def test_marking_beyond_what_is_held_is_bounded_and_esc_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage((160, 40), reports=many(1_300), keys="3") as held:
        await held.press("mark.all", "mark.all", rounds=1)
        assert held.table("#urls").mark_count == 500
        await held.press("escape", rounds=3)
        assert held.table("#urls").mark_count == 0
        monkeypatch.setattr(mark_beyond, "MOST_MARKED", 700)
        await held.press("mark.all", "mark.all", rounds=4)
        assert held.table("#urls").mark_count == 700
        assert "700 marked, more cannot be at once of 1 300" in held.text()


async def test_a_retry_of_marked_pages_is_about_those_that_failed() -> None:
    done = tuple(page(n, f"{API}/d/{n}", "file_ingested") for n in range(1, 31))
    bad = tuple(page(n, f"{API}/x/{n}", "request_timeout") for n in range(31, 36))
    async with stage((160, 40), reports=FakeReports(pages=(*done, *bad)), keys="3") as held:
        await held.press("mark.all", "r", rounds=1)
        assert "Retry 5 failed pages?" in held.text()
        words = str(held.app.screen.query_one(".dialog-text", Static).render())
        assert words.startswith("5 of the 35 marked have failed: the pages get their tries back")
        await held.decide("y")
        (retry,) = held.journal.sent
        assert isinstance(retry, RetryPages)
        assert set(retry.urls) == {one.url for one in bad}
        await narrow(held, "/d/")
        await held.press("mark.all", "r", rounds=1)
        assert "retry: none of the 30 marked pages has failed, was blocked or dropped" in held.text()


async def test_where_none_of_the_marked_pages_failed_those_that_were_blocked_are_meant() -> None:
    done = tuple(page(n, f"{API}/d/{n}", "file_ingested") for n in range(1, 5))
    codes = ("blocked_by_robots_txt", "not_canonical", "noindex")
    shut = tuple(page(n, f"{API}/x/{n}", code) for n, code in enumerate(codes, 5))
    bad = (page(9, f"{API}/y", "request_timeout"),)
    async with stage((160, 40), reports=FakeReports(pages=(*done, *shut, *bad)), keys="3") as held:
        await held.press("mark.all", "r", rounds=1)
        words = str(held.app.screen.query_one(".dialog-text", Static).render())
        assert words.startswith("1 of the 8 marked has failed: ")
        await held.press("escape", "escape", rounds=1)
        await narrow(held, "!/y")
        await held.press("mark.all", "r", rounds=1)
        assert "Retry 3 blocked or dropped pages?" in held.text()
        words = str(held.app.screen.query_one(".dialog-text", Static).render())
        assert words.startswith("3 of the 7 marked were blocked or dropped: ")


async def test_the_pivot_counts_all_pages_and_filters_by_a_value() -> None:
    async with stage((140, 40), reports=many(900)) as held:
        held.reports.pages = (*held.reports.pages, *failed_pages())
        held.reports.looks_at = 905
        await held.press("3", "right", "table.pivot", rounds=3)
        assert "page_counts(exit)" in held.reports.asked
        held.sees("of the first 905 of 915", "request_timeout")
        await held.press("enter", rounds=3)
        assert "filter: exit:request_timeout" in held.text()


async def test_a_column_the_database_does_not_narrow_by_is_counted_over_the_rows_held() -> None:
    async with stage((140, 40), keys="3") as held:
        await held.press(*["right"] * 6, "table.pivot", rounds=1)
        text = held.text()
        assert "in 15 rows loaded" in text
        await held.press("enter", rounds=2)
        assert held.table("#urls").needle.startswith(str(held.table("#urls").current_column))
        assert f"URLs · row 1 of {held.table('#urls').row_count}" in held.text()
        await held.press("escape")
        assert held.table("#urls").row_count == 15


async def test_newest_first_follows_what_is_found_while_the_cursor_is_at_the_top() -> None:
    reports = many(300)
    async with stage(reports=reports, keys="3 sort.reverse") as held:
        reports.pages = (*reports.pages, page(301, f"{API}/p/301", "request_timeout"))
        reports.commit()
        await held.settle(12)
        assert held.table("#urls").cursor_key == 301
        await held.press("j", rounds=0)
        reports.pages = (*reports.pages, page(302, f"{API}/p/302", "request_timeout"))
        reports.commit()
        await held.settle(12)
        assert held.table("#urls").cursor_key == 300


async def test_a_filter_is_live_and_inverted_and_taken_off() -> None:
    async with stage((140, 40), keys="3") as held:
        await narrow(held, "exit:timeout !user")
        assert list(held.table("#urls").row_order) == [3, 18]
        assert "filter: exit:timeout !user" in held.text()
        await held.press("escape", rounds=2)
        assert held.table("#urls").row_count == 15
        await narrow(held, "~LGN")
        assert list(held.table("#urls").row_order) == [203, 300]
        await held.press("escape", rounds=2)
        await narrow(held, "!~lgn")
        assert held.table("#urls").row_count == 13
        await held.press("escape", rounds=2)
        await narrow(held, "status:404,503")
        assert list(held.table("#urls").row_order) == [300, 301]
        await held.press("ctrl+l", rounds=2)
        assert held.table("#urls").row_count == 15
        assert isinstance(held.app.screen, UrlsScreen)


async def test_a_filter_follows_the_typing() -> None:
    async with stage((140, 40), keys="3") as held:
        await held.press("/", rounds=0)
        await held.type("login")
        await held.settle(2)
        assert list(held.table("#urls").row_order) == [203]
        await held.press("escape", rounds=2)
        assert held.table("#urls").row_count == 15


async def test_the_rows_before_the_filter_are_there_again_at_once_and_keys_go_on_among_them() -> None:
    async with stage((140, 40), reports=many(450), keys="3") as held:
        await held.press("j", "j", rounds=0)
        await narrow(held, "nowhere")
        assert "No URL passes the filter" in held.text()
        await held.press("escape", "j", rounds=0)
        assert "row 4 of 450" in held.text()
        assert held.table("#urls").cursor_key == 4
        await held.settle(2)
        assert held.table("#urls").cursor_key == 4


async def test_what_is_not_understood_leaves_the_rows_and_says_why() -> None:
    async with stage((140, 40), keys="3") as held:
        await narrow(held, "re:(")
        assert "filter not understood: re:" in held.text()
        assert held.table("#urls").row_count == 15
        await narrow(held, "")


async def test_a_text_found_nowhere_near_is_looked_for_on_and_on() -> None:
    reports = many(450)
    reports.looks_at = 100
    async with stage((140, 40), reports=reports, keys="3") as held:
        await narrow(held, "/p/44")
        await held.settle(8)
        assert list(held.table("#urls").row_order) == [44, *range(440, 450)]
        assert "row 1 of 11" in held.text()
        await held.press("/", rounds=0)
        await held.type("/p/44zzz")
        await held.settle(1)
        assert "Nothing among 100 of 450 rows yet; looking on." in held.text()
        await held.settle(8)
        assert "No URL passes the filter" in held.text()


async def test_marked_pages_that_are_let_go_stay_marked() -> None:
    async with stage(reports=many(5_000), keys="3") as held:
        await held.press("space", rounds=0)
        await held.press("move.last", rounds=3)
        await held.press("space")
        assert held.situation.urls == (f"{API}/p/1", f"{API}/p/5000")
        assert "2 marked" in held.text()


async def test_marked_pages_that_do_not_pass_the_next_filter_stay_marked() -> None:
    async with stage(reports=many(450), keys="3") as held:
        await held.press("space", rounds=1)
        await narrow(held, "/p/44")
        assert 1 not in held.table("#urls").row_order
        await held.commit(rounds=2, move_ms=SCAN_MS)
        assert held.situation.urls == (f"{API}/p/1",)


async def test_of_a_filtered_list_no_more_is_read_ahead_than_is_in_view() -> None:
    async with stage((140, 40), reports=many(900), keys="3") as held:
        await narrow(held, "exit:timeout")
        await held.settle(3)
        assert held.table("#urls").row_count == WINDOW
        held.table("#urls").move_cursor(index=WINDOW - 101)
        await held.settle(3)
        assert held.table("#urls").row_count == WINDOW, "of the whole list the next window would be here by now"
        held.table("#urls").move_cursor(index=WINDOW - 10)
        await held.settle(3)
        assert held.table("#urls").row_count == 2 * WINDOW


async def test_rows_in_an_order_of_their_own_say_so_soon_after_a_click() -> None:
    async with stage((140, 40), reports=many(450), keys="3") as held:
        held.table("#urls").toggle_order("url")
        await held.settle(1, move_ms=TICK_MS)
        assert f"only the {held.table('#urls').row_count} rows loaded" in held.text()


async def test_nothing_known_yet_and_frozen() -> None:
    async with stage(reports=FakeReports(pages=()), keys="3") as held:
        assert "No URLs yet" in held.text()
        await held.press("f")
        held.reports.pages = failed_pages()
        await held.commit(rounds=12)
        assert "‖ frozen · 1 changes" in held.text()
        assert held.table("#urls").row_count == 0
        await held.press("f")
        assert held.table("#urls").row_count == 15


def test_the_more_rows_a_window_looks_at_the_less_often_it_is_read() -> None:
    def every(text: str) -> int:
        narrowing = read_page_filter(text)
        assert isinstance(narrowing, PageFilter)
        return url_window(narrowing).every_ms

    assert every("") < every("depth:3") == FIELDS_MS < every("text") == every("re:x") == SCAN_MS


def test_a_page_never_tried_shows_where_it_stands() -> None:
    fresh = page(1, f"{API}/x", "", attempts=0, attempts_remaining=3, last_crawled_at=0, due_at=0, size=0)
    cells = texts_of(URLS, PageLine(fresh, NextRequest(NextTry.now)))
    assert "○ queued" in cells["state"]
    assert "not tried" in cells["exit"]
    stashed = replace(fresh, status="STASHED")
    held = texts_of(URLS, PageLine(stashed, NextRequest(NextTry.stashed)))
    assert "stashed" in held["exit"]
    assert "never" in cells["last"]
    assert cells["due"] == "now"
    assert held["due"] == "-"


DOWN = "https://down.example.com"


def test_a_page_whose_origin_asks_for_nothing_says_so_as_among_the_failed_pages() -> None:
    tried = page(1, f"{DOWN}/x", "request_timeout", attempts_remaining=2)
    done = page(2, f"{DOWN}/y", "file_ingested", attempts_remaining=0, due_at=NOW - 1)
    gave_up = origin(DOWN, state="FINISHED", finish_reason="patience")
    for one in (tried, replace(tried, not_before=NOW + 60_000), replace(tried, attempts=0), done):
        assert outlook_of(one, NOW, gave_up, RetryStart.this_run, 7).held == "stopped: errors"
        assert outlook_of(one, NOW, gave_up, RetryStart.next_run, 7).held == "", "it begins with full patience"
        assert outlook_of(one, NOW, origin(DOWN, paused=True), RetryStart.next_run, 7).held == "paused"
        assert outlook_of(one, NOW, None, RetryStart.this_run, 7).held == ""
    for rests in (replace(done, due_at=NOW + 1), replace(tried, status="SKIPPED"), replace(tried, status="STASHED")):
        assert outlook_of(rests, NOW, gave_up, RetryStart.this_run, 7).held == ""
    assert outlook_of(replace(tried, ignored_in=7), NOW, gave_up, RetryStart.this_run, 7).held == "", (
        "the next run asks"
    )


async def test_that_is_told_in_its_row_and_below() -> None:
    tried = page(1, f"{DOWN}/x", "request_timeout", attempts_remaining=2)
    async with stage((160, 40), reports=FakeReports(pages=(tried,)), keys="3") as held:
        row = held.table("#urls").row(1)
        due = row.cells[[column.id for column in held.table("#urls").columns].index("due")]
        assert cell_text(due) == "stopped: 5 errors"
        assert "origin stopped: 5 errors · depth" in held.text()
        resting = run_view(live=False, finished_at=NOW, finish_reason="exhausted")
        held.reports.newest_run = resting
        await held.commit(rounds=4, move_ms=1_100)
        assert "errors ·" not in held.text()


# one URL in tabs


def full_detail() -> FakeReports:
    found = page_detail()
    url = found.page.url
    return FakeReports(
        detail=lambda asked: replace(
            found,
            redirects=(RedirectView(url, f"{API}/new", "part", True, "location", 1),),
            validation=Validation("html", (ValidationError(7, 3, "Stray end tag"),)),
            data=(DataValue("price", "text", 0, "12 pounds"),),
        ),
        ends=lambda asked, inward: (
            (LinkEnd(LinkView(f"{API}/from", url, "a", True, "in text", 1), "The page before", "redirect", (1, "a")),)
            if inward
            else (LinkEnd(LinkView(url, "https://elsewhere.example/x", "img", False, "out text", 1), "", "", (2, "a")),)
        ),
    )


async def open_url(held: Stage) -> None:
    held.app.go_to(Where.url, f"{API}/v2/items?page=18")
    await held.settle(3)
    assert isinstance(held.app.screen, UrlScreen)


async def test_links_and_redirects_have_a_tab_and_open() -> None:
    async with stage((140, 40), reports=full_detail()) as held:
        await open_url(held)
        await held.press("url.tab_links", rounds=2)
        held.sees("Links to it · 1–1 of 12", "nofollow", "The page before", "elsewhere.example/x", f"→ {API}/new#part")
        await held.press("enter", rounds=2)
        assert isinstance(held.app.screen, UrlScreen)
        assert held.app.screen._url == f"{API}/from"


async def test_the_stored_body_as_text_and_bytes_beside_validation_and_data() -> None:
    async with stage((140, 40), reports=full_detail()) as held:
        await open_url(held)
        await held.press("url.tab_body", rounds=3)
        held.sees("1 <!doctype html>", "\\x1b]52;c;aGk=\\x07", "✗ not valid, 1 error", "Stray end tag", "12 pounds")
        await held.press("url.raw", rounds=2)
        assert "00000000  3c 21 64 6f 63 74 79 70 65 20 68 74 6d 6c 3e 0a  <!doctype html>." in held.text()
        pane = held.app.screen.query_one("#url-body", LongLines)
        await held.press("move.last", rounds=2)
        assert pane.scroll_y == pane.max_scroll_y
        await held.press("url.raw", rounds=2)
        assert "1 <!doctype html>" in pane.text


async def test_no_body_and_a_body_read_only_where_it_is_shown() -> None:
    reports = FakeReports(stored=None)
    async with stage((140, 40), reports=reports) as held:
        await open_url(held)
        assert "body()" not in held.reports.asked
        await held.press("url.tab_body", rounds=3)
        assert "no body is stored" in held.text()


TABS = {"attempts": "url-requests", "headers": "url-sent", "links": "url-inlinks", "why": "url-trace"}
"""What each tab shows."""


async def test_tabs_by_key_and_by_click() -> None:
    async with stage((140, 40)) as held:
        await open_url(held)
        for tab, name in TABS.items():
            await held.act(f"url.tab_{tab}", rounds=1)
            shown = {pane.id for pane in held.app.screen.query(".pane") if pane.region.width}
            assert name in shown
        bar = held.app.screen.query_one("#url-tabs", TabBar)
        where = bar.text.index("Headers")
        await held.pilot.click(bar, offset=(where + 1, 0))
        await held.settle(1)
        assert "▸o h Headers" in held.text()


async def test_an_attempt_opens_its_headers() -> None:
    async with stage((140, 40)) as held:
        await open_url(held)
        await held.press("enter", rounds=1)
        assert "▸o h Headers" in held.text()
        assert held.app.focused is held.table("#url-requests")


def test_a_body_is_cut_into_rows_of_the_width() -> None:
    lines = text_lines("a\tb\n{}é漢漢漢漢漢漢".format("x" * 30).encode(), 99_000, "text/plain; charset=UTF-8", 20)
    shown = [line for line in lines if isinstance(line, tuple)]
    assert [str(line[1]) for line in shown][:2] == ["a   b", "x" * 14]
    assert "".join(str(line[1]) for line in shown[1:]) == "x" * 30 + "é漢漢漢漢漢漢"
    assert "first" in str(lines[-1])
    assert "99 KB" in str(lines[-1])


def test_a_body_of_a_strange_charset_or_of_nothing_but_line_ends_is_shown_at_once() -> None:
    for kind in ("text/html; charset=punycode", "text/html; charset=rot13", "charset='nope'", ""):
        assert "caf" in str(text_lines(b"caf\xe9", 4, kind, 40)[0])
    assert "café" in str(text_lines(b"caf\xe9", 4, "text/html; charset=iso-8859-1", 40)[0])
    assert len(text_lines(b"\n" * 65_536, 65_536, "", 80)) == MOST_LINES + 2
    assert text_lines(b"", 0, "", 80)


def test_bytes_in_rows_that_fit() -> None:
    data = bytes(range(40))
    assert looks_binary(data)
    assert not looks_binary(b"text")
    assert [len(hex_lines(data, 40, width)) for width in (80, 50, 20)] == [3, 5, 10]
    assert "00 01 02 03" in str(hex_lines(data, 40, 20)[0])


async def test_the_view_opens_over_an_origin_too() -> None:
    async with stage() as held:
        await held.press("enter", rounds=2)
        assert isinstance(held.app.screen, OriginScreen)
        await held.press("3", rounds=2)
        assert isinstance(held.app.screen, UrlsScreen)
        assert held.app.clock.zone is UTC
