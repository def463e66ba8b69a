"""Short messages: on a line of their own, where they hide no row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.console.support import stage
from tui_crawler.console.notice import Notice, rows_of


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
        place = -2 if size[0] > 80 else -1
        assert DONE.text in after[place]
        kept = slice(1, place)
        assert after[kept] == before[kept]
        if size[0] > 80:
            assert SAME.text in after[place]
            assert after[-1] == before[-1], "the keys of the footer stay"
        else:
            last = SAME.text if SAME.text in after[-1] else DONE.text
            kept_keys = after[-1].partition(last)[2].strip()
            assert kept_keys
            assert f"  {kept_keys}" in before[-1], "no key of the footer is cut in two"
