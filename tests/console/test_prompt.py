"""The `:` prompt: what it offers as one types, Tab, what it runs, and that nothing of it stays behind."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.console.sample_crawl import API, WWW
from tests.console.support import Stage, stage
from tests.console.test_asked import sent
from tui_crawler.console.action import Where
from tui_crawler.console.dialogs.completion import Completion, shared_beginning
from tui_crawler.console.dialogs.jump import pane_name
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.url.why import AskUrlScreen
from tui_crawler.domain.records.command import PauseOrigins, ResumeOrigins


def entry(held: Stage) -> EntryLine:
    return held.on_top.query_one(EntryLine)


def test_the_beginning_that_words_share() -> None:
    assert shared_beginning(("pause", "pauseall")) == "pause"
    assert shared_beginning(("pause", "stop")) == ""
    assert shared_beginning(("stop",)) == "stop"
    assert shared_beginning(()) == ""
    assert Completion(0, ()).words == ()


@pytest.mark.parametrize("size", [(120, 30), (60, 20)], ids=["large", "small"])
async def test_candidates_stand_beside_the_prompt_as_one_types(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        await held.type(":pau")
        assert "pause  pauseall" in held.text()
        await held.type("z")
        assert "no action starts with this" in held.text()
        await held.press("escape", rounds=0)
        assert "pauseall" not in held.text()
        assert not entry(held).display


async def test_tab_completes_to_the_common_beginning_then_cycles_and_shift_tab_goes_back() -> None:
    async with stage() as held:
        await held.type(":pa")
        line = entry(held)
        await held.press("tab", rounds=0)
        assert line.text == "pause"  # pause, pauseall and pane share no more, so that the first one is put in
        await held.press("escape", rounds=0)
        await held.type(":pau")
        await held.press("tab", rounds=0)
        assert line.text == "pause"
        await held.press("tab", rounds=0)
        assert line.text == "pauseall"
        await held.press("tab", rounds=0)
        assert line.text == "pause"
        await held.press("shift+tab", rounds=0)
        assert line.text == "pauseall"
        assert held.focused == "entry-input"


async def test_tab_without_a_candidate_stays_in_the_prompt() -> None:
    async with stage() as held:
        await held.type(":zzz")
        await held.press("tab", "shift+tab", rounds=0)
        assert entry(held).text == "zzz"
        assert held.focused == "entry-input"


async def test_an_unambiguous_beginning_runs_and_an_ambiguous_one_names_the_words() -> None:
    async with stage() as held:
        await held.enter(":pau", rounds=0)
        assert held.told == "pau: pause or pauseall?"
        assert held.journal.sent == []
        await held.enter(":free", rounds=0)
        assert held.on_top.frozen


async def test_o_alone_is_an_origin_on_every_screen_though_other_words_begin_so() -> None:
    async with stage() as held:
        for view in "1257":
            await held.press(view, rounds=1)
            await held.type(":o")
            assert "origins" in held.text(), "what it begins is offered"
            await held.enter(f" {API.removeprefix('https://')}")
            assert held.on_top.crumbs() == ("Origins", API.removeprefix("https://"))


async def test_options_of_the_command_line_are_told_as_such_and_do_nothing_here() -> None:
    """The selected URL would be put back, whatever exit code was meant."""
    async with stage() as held:
        await held.press("3", rounds=2)
        await held.enter(":retry --exit-code zzz", rounds=0)
        assert held.told == (
            "retry: no exit code is called zzz; "
            "--exit-code is for the command line (tui-crawler retry URL…); here it is about what is selected"
        )
        await held.press("1", rounds=1)
        await held.enter(":retryf --exit-code=request_timeout", rounds=0)
        assert held.told.startswith("retryfailed: --exit-code is for the command line")
        await held.enter(":retryf --exit-code=file_not_fund --origin x", rounds=0)
        assert "is called file_not_fund; did you mean file_not_found?; --exit-code" in held.told
        assert held.journal.sent == []


async def test_an_origin_is_offered_completed_and_paused_though_another_one_is_selected() -> None:
    async with stage() as held:
        await held.type(":pause api")
        assert API in held.text().splitlines()[-3]
        await held.press("tab", rounds=0)
        assert entry(held).text == f"pause {API}"
        await held.press("enter", rounds=0)
        await held.decided()
        assert held.journal.sent == [PauseOrigins((API,))]


async def test_an_origin_after_the_word_of_the_overview_opens_it_and_an_unknown_one_is_told() -> None:
    async with stage() as held:
        await held.enter(":origins api.ex")
        assert held.on_top.crumbs() == ("Origins", "api.example.org")
        await held.enter(":overview 127", rounds=0)
        assert held.told == "origins: there is no origin 127"
        await held.enter(":origin https", rounds=0)
        assert " or " in held.told
        await held.enter(":logs api", rounds=0)
        assert held.told.startswith("logs takes nothing after it")
        assert held.on_top.crumbs() == ("Origins", "api.example.org")


async def test_the_beginning_of_an_origin_does_and_what_begins_nothing_pauses_nothing() -> None:
    async with stage() as held:
        await held.enter(":pause nowhere.example", rounds=0)
        assert held.told == "pause: there is no origin nowhere.example"
        await held.enter(":pause https", rounds=0)
        assert held.told.startswith("pause https: ")
        assert held.journal.sent == []
        await held.enter(":pause www.ex", rounds=0)
        await held.decided()
        assert held.journal.sent == [PauseOrigins((WWW,))]


async def test_columns_are_offered_for_sort_and_a_beginning_orders() -> None:
    async with stage() as held:
        await held.type(":sor")
        await held.press("tab", rounds=0)
        assert entry(held).text == "sort "
        assert "todo" in held.text().splitlines()[-3]
        await held.enter("tod")
        assert "by todo" in held.text()


async def test_the_prompt_is_about_the_pane_it_was_opened_from() -> None:
    async with stage() as held:
        await held.press("tab", "tab", rounds=0)
        await held.type(":sort ")
        assert "url" in held.text().splitlines()[-3]
        await held.press("escape", rounds=0)
        assert held.focused == "events"


async def test_nothing_of_the_prompt_is_left_when_something_else_takes_the_focus() -> None:
    async with stage() as held:
        screen = held.on_top
        await held.type(":pau")
        screen.query_one("#events").focus()
        await held.quiet()
        assert not entry(held).display
        assert held.focused == "events"
        await held.type(":pau")
        await held.press("f1", rounds=0)
        assert "Events · Origins" in held.text()
        await held.press("escape", rounds=0)
        assert not entry(held).display


async def test_a_terminal_that_loses_the_focus_for_a_while_leaves_the_prompt_open() -> None:
    async with stage() as held:
        await held.type(":pau")
        held.app.app_focus = False
        await held.quiet()
        held.app.app_focus = True
        await held.quiet()
        await held.type("seal")
        assert entry(held).text == "pauseal"


async def test_f1_during_a_filter_speaks_of_the_row_under_the_cursor() -> None:
    async with stage((120, 60)) as held:
        held.app.go_to(Where.origin, API)
        await held.settle(3)
        screen = held.on_top
        screen.query_one("#todo").focus()
        attempts = screen.query_one("#attempts", CrawlTable)
        attempts.set_rows([])
        await held.quiet()
        assert screen.situation().urls
        await held.type("/")
        await held.press("f1", rounds=0)
        assert f"{pane_name(screen.query_one('#todo'))} · Origin" in held.text()
        assert "Retry the marked URLs" in held.text()
        assert "no URL is selected" not in held.text()


async def test_i_begins_with_the_url_under_the_cursor_not_with_a_marked_one() -> None:
    async with stage((140, 40)) as held:
        await held.press("3", rounds=3)
        await held.press("space", "j", "j", rounds=1)
        screen = held.on_top
        marked = screen.situation().urls
        await held.press("i", rounds=0)
        asked = held.app.screen
        assert isinstance(asked, AskUrlScreen)
        assert len(marked) == 1
        assert asked.query_one(Input).value not in {"", *marked}


async def test_another_key_for_back_leaves_the_prompt_as_escape_does() -> None:
    async with stage(keymap={"nav.back": "ctrl+g,escape"}) as held:
        await held.press("3", rounds=2)
        here = held.app.screen
        await held.type(":pau")
        await held.press("ctrl+g", rounds=0)
        assert not entry(held).display
        assert held.app.screen is here


async def test_pause_only_pauses_and_resume_only_resumes() -> None:
    async with stage() as held:
        held.journal.answer = None  # no row shows it: what was asked for counts
        await held.enter(":resume api", rounds=0)
        assert held.told == "resume: the origin is not paused"
        await held.enter(":pause api", rounds=0)
        await held.enter(":pause api", rounds=0)
        assert held.told == "pause: the origin is already paused"
        await held.enter(":resume api", rounds=0)
        await held.enter(":resume api", rounds=0)
        assert held.told == "resume: the origin is not paused"
        await sent(held, 2)
        assert held.journal.sent == [PauseOrigins((API,)), ResumeOrigins((API,))]


async def test_pauseall_only_pauses_and_resumeall_only_resumes() -> None:
    async with stage() as held:
        held.journal.answer = None
        paused = [view.origin for view in held.reports.rows.values() if view.paused]
        await held.enter(":pauseall", rounds=0)
        await held.enter(":pauseall", rounds=0)
        assert held.told == "pause all: every origin is already paused"
        await held.enter(":resumeall", rounds=0)
        await held.enter(":resumeall", rounds=0)
        assert held.told == "resume all: no origin is paused"
        await sent(held, 2)
        assert paused
        assert held.journal.sent == [PauseOrigins(), ResumeOrigins()]


async def test_a_resume_of_all_takes_off_what_another_one_paused_and_undo_pauses_these_alone() -> None:
    async with stage() as held:
        paused = tuple(view.origin for view in held.reports.rows.values() if view.paused)
        await held.enter(":resumeall", rounds=0)
        await held.decided()
        await held.press("journal.undo", rounds=0)
        await held.decided()
        assert held.journal.sent == [ResumeOrigins(), PauseOrigins(paused)]


async def test_up_and_down_bring_back_what_was_typed_after_the_colon() -> None:
    async with stage() as held:
        for text in (":keys", ":sort todo", ":sort todo", ":nonsense"):
            await held.type(text)
            await held.press("enter", "escape", rounds=0)
        await held.press("5", rounds=1)
        await held.type(":pau")
        for key, text in (
            ("up", "nonsense"), ("up", "sort todo"), ("up", "keys"), ("up", "keys"), ("down", "sort todo"),
            ("down", "nonsense"), ("down", "pau"), ("down", "pau"),
        ):  # fmt: skip
            await held.press(key, rounds=0)
            assert entry(held).text == text


async def test_a_filter_opened_again_is_replaced_by_what_is_typed() -> None:
    async with stage() as held:
        for view in ("3", "2", "5"):
            search = "log.search" if view == "5" else "filter.open"
            await held.press(view, search, rounds=2)
            await held.type("9305")
            await held.press("enter", search, rounds=0)
            await held.type("77")
            assert entry(held).text == "77"
            await held.press("enter", search, "end", rounds=0)
            await held.type("8")
            assert entry(held).text == "778"
            await held.press("escape", rounds=1)


@pytest.mark.parametrize(
    ("typed", "crumbs"),
    [
        ("origin www.ex", ("Origins", "www.example.com")),
        ("tree api", ("Origins", "api.example.org", "Site tree")),
        ("robots api", ("Origins", "api.example.org", "robots.txt")),
        ("url api.example.org/v2/items?page=18", ("Origins", "api.example.org/v2/items?page=18")),
        ("fail timeout", ("Failures",)),
        ("goto 10:41", ("Logs",)),
    ],
)
async def test_words_take_what_they_are_about(typed: str, crumbs: tuple[str, ...]) -> None:
    async with stage((120, 30)) as held:
        await held.enter(f":{typed}", rounds=3)
        assert held.on_top.crumbs() == crumbs
        if crumbs == ("Failures",):
            assert "/ exit:timeout" in held.text()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("zzz", "fail: no exit code is called zzz"),
        ("request_timeuot", "fail: no exit code is called request_timeuot; did you mean request_timeout?"),
    ],
)
async def test_what_is_no_exit_code_is_told_with_the_nearest_one(typed: str, words: str) -> None:
    async with stage((120, 30)) as held:
        await held.enter(f":fail {typed}")
        assert held.told == words
        assert held.on_top.crumbs() == ("Origins",)


async def test_a_ghost_shows_the_likeliest_completion_and_right_takes_it() -> None:
    async with stage((120, 30)) as held:
        await held.type(":tree api")
        await held.press("right", rounds=1)
        assert entry(held).text == "tree api" + API.removeprefix("https://api")
        await held.press("escape", rounds=0)
        await held.type(":fail request_t")
        assert "request_timeout" in held.text().splitlines()[-2]
        await held.press("right", rounds=0)
        assert entry(held).text == "fail request_timeout"
