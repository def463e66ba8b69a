"""What a console remembers, where it has been, and what it keeps only the rows of that fit."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.sample_crawl import API, WWW
from tests.console.support import Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.actions import ACTIONS
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.console.origin.screen import OriginScreen
from tui_crawler.console.overview.order import OverviewFilter
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.zoom import FULL, HALF, NORMAL
from tui_crawler.console.screen.places import ScreenHistory, ScreenPlace
from tui_crawler.console.session import MOST_BYTES, ConsoleSession, SessionFile, state_folder
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.filter_terms import read_needle
from tui_crawler.console.url.screen import UrlScreen
from tui_crawler.domain.records.command import (
    AddSeeds,
    PauseOrigins,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    SetJob,
    SteerJobs,
    StopOrigins,
)
from tui_crawler.text.same_as import same_as


def table(held: Stage, selector: str) -> CrawlTable:
    return held.app.screen.query_one(selector, CrawlTable)


async def leave(held: Stage) -> ExitSummary:
    await held.press("q", rounds=0)
    await held.gone()
    assert held.app.return_value is not None
    return held.app.return_value


# the session


async def test_the_first_session_says_once_how_text_is_selected(tmp_path: Path) -> None:
    for is_said in (True, False):
        async with stage((120, 40), memory=SessionFile(tmp_path, "/data/a.db")) as held:
            assert ("shift and drag" in held.text()) == is_said
            await leave(held)


async def test_columns_are_chosen_and_layouts_kept_by_name_for_all_databases(tmp_path: Path) -> None:
    async with stage((160, 40), memory=SessionFile(tmp_path, "/data/a.db")) as held:
        await held.press("sort.took", rounds=1)
        assert "by took ▼" in held.text()
        await held.press("sort.took", rounds=1)
        assert "by took ▲" in held.text()
        await held.press("columns.choose", rounds=1)
        await held.press("space", "K", "down", "down", "space", "J", "enter", rounds=2)
        assert table(held, "#origins").visible_columns[:3] == ("origin", "fail", "done")
        await held.enter(":keeplayout slow ones", rounds=2)
        await leave(held)
    async with stage((160, 40), memory=SessionFile(tmp_path, "/data/a.db")) as held:
        assert table(held, "#origins").visible_columns[:3] == ("origin", "fail", "done"), "as it was left"
    async with stage((160, 40), memory=SessionFile(tmp_path, "/data/b.db")) as held:
        assert table(held, "#origins").visible_columns[0] == "state"
        await held.enter(":layout slow", rounds=2)
        assert table(held, "#origins").visible_columns[:3] == ("origin", "fail", "done")
        assert "by took ▲" in held.text()
        await held.enter(":droplayout slow", rounds=2)
        assert held.app.memory.file.layouts() == {}


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": {"sort": [], "columns": "x"}}', "[" * 9_000])
def test_layouts_that_cannot_be_read_are_left_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "layouts.json").write_text(text)
    assert set(SessionFile(tmp_path, "x").layouts().values()) <= {OverviewFilter()}


def test_a_layout_that_cannot_be_read_stays_beside_those_that_are_kept(tmp_path: Path) -> None:
    file, memory = tmp_path / "layouts.json", SessionFile(tmp_path, "x")
    file.write_text('{"later": 3, "wide": {"columns": ["state", 7]}}')
    assert memory.keep_layout("mine", OverviewFilter(needle="a"))
    assert memory.layouts() == {"mine": OverviewFilter(needle="a"), "wide": OverviewFilter(columns=("state",))}
    assert memory.keep_layout("mine", None)
    assert json.loads(file.read_text()) == {"later": 3, "wide": {"columns": ["state", 7]}}


@pytest.mark.parametrize("text", ["[]", "{", '{"bookmarks": [[1, "x', "[" * 9_000, "x" * (MOST_BYTES + 9)])
async def test_what_cannot_be_read_is_told_and_put_aside(tmp_path: Path, text: str) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    assert memory.keep(ConsoleSession())
    (session,) = (tmp_path / "sessions").iterdir()
    for file in (session, tmp_path / "layouts.json"):
        file.write_text(text)
    async with stage(memory=memory) as held:
        told = " ".join(notice.text for notice in held.app.notices)
        await held.enter(":keeplayout mine", rounds=2)
        await leave(held)
    for file in (session, tmp_path / "layouts.json"):
        assert "cannot be read; it is put aside as" in told
        assert file.with_suffix(".bad").name in told
        assert file.with_suffix(".bad").read_text() == text
    assert memory.layouts().keys() == {"mine"}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("bookmarks", [7, "event", 9], [3, [1, "event"], ["1", "event", 2], [1, 2, 3], None, [[], {}, ""]]),
        (
            "zooms",
            ["overview", "x", 2],
            [3, ["overview", "events"], ["overview", "events", 9], [1, "x", 2], ["no", "x", 2]],
        ),
    ],
)
def test_a_bookmark_or_zoom_that_is_none_is_left_out_and_the_others_stay(
    tmp_path: Path, name: str, good: list[object], bad: list[object]
) -> None:
    memory = SessionFile(tmp_path, "x")
    assert memory.keep(ConsoleSession(needle="kept"))
    (file,) = (tmp_path / "sessions").iterdir()
    document = json.loads(file.read_text())
    for listed, left in ((3, ()), ({}, ()), (bad, ()), ([*bad, good, *bad], (tuple(good),))):
        file.write_text(json.dumps(document | {name: listed}))
        assert memory.recall() == replace(ConsoleSession(needle="kept"), **{name: left})  # type: ignore[arg-type]


async def test_view_order_filter_and_theme_are_there_again(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    async with stage(memory=memory) as held:
        await held.type("/example")
        await held.press("enter", "sort.reverse", "theme.next")
        order = list(table(held, "#origins").row_order)
        theme = held.app.theme
        await held.press("2")
        await leave(held)
    async with stage(memory=memory) as held:
        assert isinstance(held.app.screen, FailuresScreen)
        assert held.app.theme == theme
        await held.press("1", rounds=2)
        assert list(table(held, "#origins").row_order) == order
        assert "filter: example" in held.text()
        await held.press("escape")
        await leave(held)
    async with stage(memory=SessionFile(tmp_path, "/data/other.db")) as held:
        assert isinstance(held.app.screen, OverviewScreen)
        assert "filter:" not in held.text()
    async with stage(memory=memory) as held:
        assert "filter:" not in held.text()


async def test_the_zoom_of_each_view_is_there_again(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    async with stage((120, 40), memory=memory) as held:
        await held.press("tab", "tab", "+", rounds=1)
        await held.press("7", "+", "+", rounds=1)
        await held.press("5", rounds=1)
        await leave(held)
    assert {name: (pane, level) for name, pane, level in memory.recall().zooms} == {
        "overview": ("events", HALF), "jobs": ("jobs", FULL)
    }  # fmt: skip
    async with stage((120, 40), memory=memory) as held:
        assert "zoom" not in held.text().replace("+ zoom", ""), "the view that is open has none"
        await held.press("1", rounds=2)
        assert re.search(r"Events · .* · zoom half", held.text())
        assert held.app.focused is table(held, "#events")
        await held.press("7", rounds=2)
        assert table(held, "#jobs").region == held.app.screen.query_one("#body").region
        await held.press("escape", "1", rounds=2)
        await held.press("escape", rounds=2)
        await leave(held)
    assert memory.recall().zooms == ()


async def test_a_zoom_that_does_not_fit_here_is_left_out(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "x")
    for zooms in ((("overview", "summary", HALF),), (("overview", "no-such-pane", FULL),), (("nowhere", "x", FULL),)):
        assert memory.keep(ConsoleSession(zooms=zooms))
        async with stage((60, 20), memory=memory) as held:
            assert isinstance(held.app.screen, OverviewScreen)
            assert held.app.screen.zoom.level == NORMAL
            assert held.app.focused is table(held, "#origins")


async def test_the_theme_of_the_configuration_wins(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "x")
    assert memory.keep(ConsoleSession(theme="nord"))
    async with stage(memory=memory, theme="gruvbox") as held:
        assert held.app.theme == "gruvbox"


def test_what_cannot_be_read_is_nothing(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "x")
    assert memory.recall() == ConsoleSession()
    session = ConsoleSession("view.failures", "todo", False, "a b", True, "nord")
    assert memory.keep(session)
    assert memory.recall() == session
    (file,) = (tmp_path / "sessions").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    for text in (
        "",
        "[]",
        "{",
        '"x"',
        "[" * 9_000,
        '{"view": 3, "descending": "no"}',
        "x" * (MOST_BYTES + 9),
        "\udcff",
    ):
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        assert memory.recall() == ConsoleSession()
    file.write_text(json.dumps({"sort": "no such column", "needle": "x" * 9_999, "more": [1]}))
    assert memory.recall().arrangement == OverviewFilter(needle="x" * 500)


def test_a_home_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", None):
        memory = SessionFile(folder, "x")
        assert not memory.keep(ConsoleSession(view="view.logs"))
        assert memory.recall() == ConsoleSession()


async def test_a_console_without_a_writable_home_leaves_as_ever(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with stage(memory=SessionFile(tmp_path / "file", "x")) as held:
        assert (await leave(held)).exit_status == 0
    assert (tmp_path / "file").read_text() == ""


async def test_an_unknown_view_is_left_out(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "x")
    for view in ("view.nothing", "app.quit", "nav.back", "\x1b[2J"):
        memory.keep(ConsoleSession(view=view))
        async with stage(memory=memory) as held:
            assert isinstance(held.app.screen, OverviewScreen)
            assert held.app.is_running


def test_the_oldest_databases_are_forgotten(tmp_path: Path) -> None:
    for number in range(203):
        memory = SessionFile(tmp_path, str(number))
        memory.keep(ConsoleSession())
        for file in (tmp_path / "sessions").iterdir():
            if file.stat().st_mtime > 1_000_000:
                os.utime(file, (number, number))
    assert len(list((tmp_path / "sessions").iterdir())) == 200
    assert SessionFile(tmp_path, "0").recall() == ConsoleSession()


def test_where_the_state_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert state_folder({"XDG_STATE_HOME": "/s"}) == Path("/s/tui-crawler")
    monkeypatch.setenv("HOME", "/home/me")
    for environment in ({}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "relative"}):
        assert state_folder(environment) == Path("/home/me/.local/state/tui-crawler")


# the history


def test_a_trail_is_walked_back_and_on() -> None:
    one, two, three = (ScreenPlace(Where.origin, (name,)) for name in "abc")
    trail = ScreenHistory().went(one).went(two).went(two).went(three)
    assert (trail.places, trail.last) == ((one, two, three), two)
    assert trail.moved(1) is None
    back = trail.moved(-1)
    assert (back.place, back.last) == (two, three)
    assert back.went(one).places == (one, two, one)
    assert ScreenHistory().moved(-1) is None
    long = ScreenHistory()
    for number in range(250):
        long = long.went(ScreenPlace(Where.origin, (str(number),)))
    assert len(long.places) == 100
    assert long.place == ScreenPlace(Where.origin, ("249",))


async def test_back_on_and_last() -> None:
    async with stage() as held:
        held.app.go_to(Where.origin, API)
        await held.settle()
        held.app.go_to(Where.url, f"{API}/v2/items?page=18")
        await held.settle()
        await held.press("2")
        assert isinstance(held.app.screen, FailuresScreen)
        await held.press("nav.earlier")
        assert isinstance(held.app.screen, UrlScreen)
        assert "api.example.org › /v2/items" in held.text()
        await held.press("nav.earlier")
        assert isinstance(held.app.screen, OriginScreen)
        await held.press("nav.earlier")
        assert isinstance(held.app.screen, OverviewScreen)
        await held.press("nav.earlier")
        assert "the history ends here" in held.text()
        await held.press("nav.later", "nav.later", "nav.later")
        assert isinstance(held.app.screen, FailuresScreen)
        await held.press("nav.last")
        assert isinstance(held.app.screen, UrlScreen)
        await held.press("nav.last")
        assert isinstance(held.app.screen, FailuresScreen)
        await held.press("?", "escape", "nav.last")
        assert isinstance(held.app.screen, UrlScreen)
        await held.press("escape")
        assert isinstance(held.app.screen, OverviewScreen)


async def test_there_is_no_last_place_at_first() -> None:
    async with stage() as held:
        await held.press("nav.last")
        assert "there is no last place yet" in held.text()


# filters

ROW = {"origin": "https://api.example.org", "state": "losing patience", "exit": "request_timeout"}


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        ("", True), ("API", True), ("api timeout", True), ("api none", False), ("losing patience", True),
        ("!api", False), ("!none", True), ("!", True), ("~aeo", True), ("~oea!", False), ("~", True),
        ("!~aeo", False), ("exit:timeout", True), ("exit:api", False), ("state:losing", True), ("exit:", True),
        ("!exit:timeout", False), ("origin:re:^https://api", True), ("re:^https://api", True), ("re:API", True),
        ("re:^api", False), ("re:", True), ("re:(", True), ("exit:~rto", True), ("https://api", True), ("job:x", False),
    ],
)  # fmt: skip
def test_what_a_filter_keeps(text: str, keeps: bool) -> None:
    assert read_needle(text).keeps(ROW) is keeps


def test_a_bad_pattern_is_named_and_a_column_is_a_field() -> None:
    assert read_needle("re:(").problem
    assert not read_needle("re:a").problem
    assert read_needle("foo:x", {"note"}).problem.startswith("no such field: foo; there are depth: exit: note: ")
    assert not any(read_needle(text).problem for text in ("https://x", "localhost:80", "a/b:c", "exit:", "re:"))
    assert read_needle("note:x", {"note"}).keeps({"note": "xy"})
    assert not read_needle("note:x", {"note"}).keeps({"url": "note:x"})


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_a_filter_and_a_part_of_a_row_is_found(text: str, value: str) -> None:
    read_needle(text).keeps({"url": value})
    for word in value.split():
        if not word.startswith(("!", "~", "re:", "=", '"', "exit:", "state:", "origin:")):
            assert read_needle(word).keeps({"url": value})


async def test_the_overview_knows_fields_and_opposites() -> None:
    async with stage() as held:
        await held.enter("/state:paused")
        assert table(held, "#origins").row_count == 1
        await held.type("/")
        await held.press(*["backspace"] * 12, rounds=0)
        await held.enter("!state:paused")
        assert table(held, "#origins").row_count == len(held.reports.rows) - 1
        await held.press("ctrl+l")
        await held.enter("/re:(")
        assert "missing" in held.text()


async def test_next_match_goes_on_after_the_filter_was_taken_off() -> None:
    async with stage() as held:
        shown = table(held, "#origins")
        await held.type("/www")
        await held.press("enter", "ctrl+l")
        shown.move_cursor(key=API)
        await held.press("n")
        assert shown.cursor_key == WWW
        await held.press("N")
        assert shown.cursor_key == WWW


async def test_attempts_of_an_origin_are_filtered_and_esc_takes_it_off() -> None:
    async with stage() as held:
        held.app.go_to(Where.origin, API)
        await held.settle()
        attempts = table(held, "#attempts")
        before = attempts.row_count
        await held.enter("/exit:timeout")
        fits = attempts.row_count
        assert 0 < fits < before
        assert f"/ exit:timeout · {fits} of {before}" in held.text()
        extra = replace(held.reports.log[0], attempt_id=9_999, origin=API, exit_code="request_timeout")
        held.reports.commit(
            held.reports.rows[API], log=[extra, replace(extra, attempt_id=10_000, exit_code="rate_limited")]
        )
        await held.settle(3)
        assert attempts.row_count == fits + 1
        assert len(attempts.held_rows()) == before + 2
        await held.press("log.next_error")
        await held.press("escape")
        assert isinstance(held.app.screen, OriginScreen)
        assert attempts.row_count == before + 2
        await held.press("n")
        assert attempts.cursor_key is not None
        await held.press("escape")
        assert isinstance(held.app.screen, OverviewScreen)


async def test_on_a_narrow_screen_the_footer_names_the_filter() -> None:
    async with stage((60, 20)) as held:
        await held.press("2", rounds=2)
        await held.enter("/timeout")
        assert held.text().splitlines()[-1].startswith(" / timeout")
        await held.press("escape")
        assert "/ timeout" not in held.text().splitlines()[-1]


async def test_a_filter_of_failures_hides_marks_and_says_when_nothing_fits() -> None:
    async with stage() as held:
        await held.press("2", "enter", "space", rounds=2)
        pages = table(held, "#pages")
        assert len(pages.marked) == 1
        await held.enter("/no-such-thing")
        assert pages.row_count == 0
        assert "no matches" in held.text()
        assert held.app.situation(held.app.console_screen).frame.filtered()  # type: ignore[arg-type]  # there is one
        await held.press("ctrl+l")
        assert pages.row_count > 0
        assert not pages.marked


# the same on the command line


def test_what_was_done_is_told_as_commands() -> None:
    assert same_as((PauseOrigins((API,)),)) == f"tui-crawler pause {API}"
    assert same_as((ResumeOrigins(),)) == "tui-crawler resume --all"
    assert same_as((StopOrigins(tuple("abcde")),)) == "tui-crawler stop a b c … (2 more)"
    assert same_as((AddSeeds((f"{API}/?a=b&c",)),)) == f"tui-crawler add '{API}/?a=b&c'"
    retry = RetryPages(exit_codes=("request_timeout",), origins=(API,))
    assert same_as((retry,)) == f"tui-crawler retry --exit-code request_timeout --origin {API}"
    assert same_as((SteerJobs("pause", ("news",)),)) == "tui-crawler jobs pause news"
    assert same_as((SetJob("news", depth=-1),)) == "tui-crawler jobs set news --depth none"
    assert same_as((PauseOrigins((API,)), SetDelay(API, 5))) == f"tui-crawler pause {API}; tui-crawler delay {API} 5ms"
    assert same_as((PauseOrigins((API,)), SetJob("news", tag="night"))) == ""


def test_each_is_a_command_of_the_table_of_actions() -> None:
    known = " ".join(action.command for action in ACTIONS)
    for command in (PauseOrigins(), ResumeOrigins(), StopOrigins(), AddSeeds(("x",)), RetryPages(("x",))):
        assert same_as((command,)).split()[1] in known


async def test_the_notice_tells_the_same_command() -> None:
    async with stage() as held:
        table(held, "#origins").move_cursor(key=WWW)
        await held.press("p")
        await held.decided()
        assert f"same as: tui-crawler pause {WWW}" in held.text()
