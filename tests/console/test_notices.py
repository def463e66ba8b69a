"""Short messages: on a line of their own, where they hide no row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.console.rule_stage import counted
from tests.console.support import stage
from tui_crawler.console.panes.notice import Notice, rows_of


def notice(text: str, kind: str = "") -> Notice:
    return Notice(kind or text, text, "ok", 1_000)


DONE, SAME = notice("✓ pause api.example.org  z undoes", "journal"), notice("same as: tui-crawler pause X", "same")


def test_messages_that_fit_stand_side_by_side_and_an_aside_makes_no_line_of_its_own() -> None:
    assert rows_of((DONE, SAME), 118) == ((DONE, SAME),)
    assert rows_of((DONE, SAME), 60) == ((DONE,),)
    assert rows_of((SAME,), 20) == ((SAME,),)
    other = notice("another thing")
    assert rows_of((DONE, SAME, other), 60) == ((DONE, other),)
    assert rows_of((DONE, other), 30) == ((DONE,), (other,))
    assert rows_of((), 30) == ()


def test_an_older_muted_message_makes_room() -> None:
    refused = Notice("no", "pause: the origin has finished", "muted", 1_000)
    assert rows_of((refused, DONE), 118) == ((refused, DONE),)
    assert rows_of((refused, DONE), 50) == ((DONE,),)
    assert rows_of((DONE, refused), 50) == ((DONE,), (refused,))


@given(st.lists(st.text("abc ", max_size=40).map(notice), max_size=3), st.integers(1, 120))
def test_no_line_is_wider_than_there_is_room_unless_one_message_is(notices: list[Notice], width: int) -> None:
    rows = rows_of(tuple(notices), width)
    assert [one for row in rows for one in row] == notices
    assert all(len(row) == 1 or sum(cell_len(one.label) + 4 for one in row) - 2 <= width for row in rows)


@pytest.mark.parametrize("keys", [(), ("2",), ("3",), ("5",), ("6",), ("enter",)])
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_they_hide_no_row_of_any_pane(size: tuple[int, int], keys: tuple[str, ...]) -> None:
    async with stage(size) as held:
        for key in keys:
            await held.press(key, rounds=2)
        await held.quiet()
        before = held.text().splitlines()
        held.app.tell("journal", DONE.text, "ok")
        held.app.tell("same", SAME.text, "muted")
        await held.quiet()
        after = held.text().splitlines()
        if size[0] > 80:
            place = len(after) - 2
            assert SAME.text in after[place], "both fit into the border"
        else:
            place = next(row for row, line in enumerate(after) if DONE.text in line or SAME.text in line)
            assert before[place].startswith("─"), "the title line of a pane"
        assert DONE.text in after[place] or SAME.text in after[place]
        assert [*after[1:place], *after[place + 1 :]] == [*before[1:place], *before[place + 1 :]]


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_what_says_whether_an_entry_is_valid_stays_readable(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        await held.press("4", "rule.add", rounds=2)
        await held.type("(")
        await counted(held)
        before = held.text().splitlines()
        for number in range(3):
            held.app.tell(f"kind{number}", f"{number} something rather long to be told at once", "error")
        await held.quiet()
        after = held.text().splitlines()
        assert "2 something rather long" in held.text()
        (said,) = (line for line in before if "✗ line 11: rules[3].match: not a linear-time" in line)
        assert said in after
        assert after[-1] == before[-1]


async def test_what_is_too_long_for_a_line_goes_on_in_the_next_unless_something_is_typed() -> None:
    told = "rules of my-index: + rule /calendar/: skip true; blocks 85 of 4 205 known URLs, the end"
    async with stage((60, 20)) as held:
        held.app.tell("journal", told, "ok")
        await held.quiet()
        assert "the end" in held.text()
        await held.press("4", "rules.exclude", rounds=2)
        assert "the end" not in held.text()
        assert "▎ rules of my-index: + rule" in held.text()


def test_one_line_has_the_newest_then_errors_then_what_fits() -> None:
    error, old = Notice("e", "✗ it failed", "error", 1_000), notice("something older")
    assert rows_of((error, old, DONE), 50, 1) == ((error, DONE),)
    assert rows_of((old, error, DONE), 118, 1) == ((old, error, DONE),)
    assert rows_of((error, DONE), 10, 1) == ((DONE,),)
