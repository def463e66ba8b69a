"""The events: attempts beside what operators asked for, with the command line that does the same, and errors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.sample_crawl import API, NOW, WHO, WWW, attempt, origin
from tests.console.support import stage
from tui_crawler.console.operator.commands import seeds_note
from tui_crawler.console.operator.intent import add_seeds, retry_failed
from tui_crawler.console.operator.journal import IntentOutcome, News
from tui_crawler.console.overview.event_rows import line_of
from tui_crawler.console.panes.notice import TROUBLES_KEPT, ReportedError, add_trouble
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.command import (
    ActionResult,
    ApplyRules,
    Exclude,
    LoadSegment,
    PauseOrigins,
    ProbeUrls,
    ReclaimPages,
    RefetchRobots,
    SetDelay,
    SetDripfeed,
    SetJob,
    StashPages,
    TopUpPatience,
    UnstashPages,
    to_json,
)
from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.text.cells import Present, Styled
from tui_crawler.text.relations.actions import ACTIONS, action_mark
from tui_crawler.text.same_as import command_line_of, same_as

PAUSED = ActionView(
    30, NOW - 500, WHO, "pause", API, "{}", "{}", undone=False, applied=True, command=to_json(PauseOrigins((API,)))
)


async def test_actions_stand_among_the_attempts_by_time_with_their_command_line() -> None:
    async with stage((200, 50)) as held:
        held.reports.asked_for = (PAUSED, *held.reports.asked_for)
        await held.commit(rounds=12)
        assert list(held.table("#events").row_order)[:3] == [400, ("action", 30), ("action", 9)]
        line = next(line for line in held.text().splitlines() if f"tui-crawler pause {API}" in line)
        assert "✎ pause" in line
        assert f"by {WHO}  done" in line
        assert "tui-crawler retry 'https://api.example.org/v2/items?" in held.text()


async def test_columns_stand_still_whatever_comes_in_and_exit_codes_are_spelled_as_in_the_table_above() -> None:
    async with stage((120, 40)) as held:
        table = held.table("#events")

        def places() -> list[int]:
            painter = table._prepare()
            return [place.x for place in painter.layout.places]

        before = places()
        long = attempt(900, f"{WWW}/{'long/' * 30}", "blocked_url_by_local_policy")
        await held.commit(log=(replace(long, title="A title that goes on and on " * 3),), rounds=3)
        assert long.attempt_id in table.row_order
        assert places() == before
        assert "policy" in held.text()
        assert "blocked_url_by_local_policy" not in held.text()
        for size in ((200, 60), (80, 24)):
            await held.pilot.resize_terminal(*size)
            await held.quiet()
            tables = held.app.screen.query(CrawlTable)
            shown = "".join(table.render_line(y).text for table in tables for y in range(table.size.height))
            assert " timeout " in shown
            assert "request_timeout" not in shown


async def test_a_filter_says_which_table_it_is_for() -> None:
    async with stage((120, 40)) as held:
        await held.press("log.next_error", rounds=1)
        await held.type("/")
        assert "Events /" in held.text().splitlines()[-2]
        await held.press("escape", "escape", "tab", rounds=0)
        held.app.screen.query_one("#origins").focus()
        await held.type("/")
        assert "Origins /" in held.text().splitlines()[-2]


async def test_an_action_changes_its_row_when_something_becomes_of_it() -> None:
    async with stage((200, 50)) as held:
        held.reports.asked_for = (replace(PAUSED, applied=False),)
        await held.commit(rounds=12)
        assert "◷ pause" in held.text()
        held.reports.asked_for = (replace(PAUSED, error="it has finished"),)
        await held.commit(rounds=12)
        held.sees("✗ pause", "it has finished")
        assert len([key for key in held.table("#events").row_order if key == ("action", 30)]) == 1


async def test_an_error_that_was_told_stays_in_the_events_and_is_found_by_e() -> None:
    async with stage((160, 50)) as held:
        held.clock.move(60_000)
        held.app.tell("disk", "the disk is full", "error")
        held.clock.move(60_000)
        await held.settle(12)
        assert held.app.notices == ()
        assert "the disk is full" in held.text()
        assert held.table("#events").row_order[0] == ("trouble", 1)
        await held.press("log.next_error", rounds=0)
        assert held.table("#events").cursor_key == ("trouble", 1)
        await held.press("log.next_error", rounds=0)
        assert held.table("#events").cursor_key == 400


async def test_enter_tells_the_whole_of_an_action_or_an_error() -> None:
    async with stage((120, 50)) as held:
        text = "the disk is full, and what this console wants to write has to wait until there is room"
        held.app.tell("disk", text, "error")
        held.clock.move(60_000)
        await held.settle(12)
        assert text not in held.text()
        await held.press("tab", "tab", "move.first", "enter", rounds=0)
        assert text in held.text()
        held.table("#events").move_cursor(key=("action", 9))
        await held.press("enter", rounds=0)
        assert "tui-crawler retry 'https://api.example.org/v2/items?page=3'" in held.text()


def test_troubles_are_numbered_and_bounded() -> None:
    troubles: tuple[ReportedError, ...] = ()
    for number in range(TROUBLES_KEPT + 5):
        troubles = add_trouble(troubles, NOW, str(number))
    assert len(troubles) == TROUBLES_KEPT
    assert (troubles[0].number, troubles[-1].number) == (6, TROUBLES_KEPT + 5)


def test_what_the_command_line_has_for_each_action() -> None:
    lines = {
        Exclude("host", "a.example", "owner asked"): "exclude host a.example --reason 'owner asked'",
        Exclude("host", "a.example", remove=True): "exclude host a.example --remove",
        ApplyRules("{}", 3, "news", "why"): "rules apply FILE --job news --note why",
        StashPages("later", (), (API,), "/x"): f"pages stash later --origin {API} --pattern /x",
        UnstashPages("later", 9): "pages unstash later --limit 9",
        SetDripfeed("later", 5, "news"): "pages dripfeed later 5 --job news",
        ReclaimPages("worker died", older_ms=60_000): "pages reclaim --older 60000ms --reason 'worker died'",
        ProbeUrls((f"{API}/x",)): f"pages probe {API}/x",
        LoadSegment("/tmp/one.seg"): "queue load /tmp/one.seg",
        SetDelay(API, 5_000): f"delay {API} 5s",
        SetDelay(API, 1_500): f"delay {API} 1500ms",
        SetDelay(API, 0): f"delay {API} 0s",
        TopUpPatience((API,)): f"top-up {API}",
        RefetchRobots(): "refetch --all",
    }
    for command, line in lines.items():
        assert same_as((command,)) == f"tui-crawler {line}"
    assert same_as((SetJob("news", tag="night"),)) == ""
    assert command_line_of(PAUSED) == f"tui-crawler pause {API}"
    assert command_line_of(replace(PAUSED, command="damaged")) == ""
    assert command_line_of(replace(PAUSED, action="of a newer version")) == ""


def test_what_became_of_an_action_is_said_in_one_way() -> None:
    for action in (PAUSED, replace(PAUSED, applied=False), replace(PAUSED, undone=True), replace(PAUSED, error="no")):
        mark = action_mark(action)
        state = ACTIONS.cells(action, Present())[2]
        assert state == Styled(mark.label, mark.role)
        assert line_of(action).what == Styled(f"{mark.glyph} pause", mark.role)


def test_each_origin_that_gave_up_is_counted_in_the_question() -> None:
    down = [origin(name, state="FINISHED", finish_reason="patience", patience=0, failed=2) for name in (API, WWW)]
    assert (
        retry_failed(down[:1]).note == "api.example.org stopped after errors: without new patience it requests nothing."
    )
    assert retry_failed(down).note == "2 origins stopped after errors: without new patience they request nothing."
    assert retry_failed([origin(API, patience=3, failed=2)]).note == "It has lost patience in this run."


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ('{"added": 3, "known": 1}', "3 pages are new, 1 was already known"),
        ('{"added": 1, "known": 0}', "1 page is new"),
        ('{"added": 0, "known": 4}', "0 pages are new, 4 were already known"),
        ("", ""),
        ("[]", ""),
        ('{"added": "x"}', ""),
    ],
)
def test_how_many_of_the_seeds_are_new_pages_is_told(after: str, words: str) -> None:
    intent = add_seeds(("https://a.example/",))
    assert seeds_note(News(intent, IntentOutcome.done, results=(ActionResult(1, "{}", after),))) == words
    other = replace(intent, commands=(PauseOrigins(),))
    assert seeds_note(News(other, IntentOutcome.done, results=(ActionResult(1, "{}", after),))) == ""
