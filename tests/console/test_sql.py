"""SQL in the console: asked beside everything else, cancelled, completed, remembered; hostile answers are text."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.console.fake_queries import SCHEMA, FakeQueries, sample_answer
from tests.console.sample_crawl import API, NOW
from tests.console.support import Stage, stage
from tests.console.test_injection import CASES, FORBIDDEN, WORST, assert_clean
from tui_crawler.console.panes.bars import Bar, FooterBar
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.session import SessionFile
from tui_crawler.console.sql.chart import ResultChart, axes_of, chart_of, drawn
from tui_crawler.console.sql.queries import MOST_KEPT, QuerySession
from tui_crawler.console.sql.rows import answer_lines, answer_of, answer_rows, answer_words, complete
from tui_crawler.console.sql.screen import SqlEditor, SqlScreen
from tui_crawler.console.table.export import as_json
from tui_crawler.domain.records.operator_view import QueryAnswer
from tui_crawler.text.cells import Present
from tui_crawler.text.charts import Dots


def editor(held: Stage) -> SqlEditor:
    return held.app.screen.query_one(SqlEditor)


async def answered(held: Stage) -> None:
    """Waits until nothing is being asked any more."""
    await held.worked("sql")
    await held.settle(2)


async def ask(held: Stage, text: str) -> None:
    """Types a question over what stands there and asks it."""
    await held.press("sql.open")
    await answered(held)
    editor(held).select_all()
    await held.enter(text)
    await answered(held)


async def test_a_question_is_answered_in_a_table_and_its_rows_open_and_leave() -> None:
    queries = FakeQueries()
    async with stage((140, 44), queries=queries) as held:
        await ask(held, "select url from v_page")
        assert queries.asked == ["select url from v_page"]
        text = held.text()
        held.sees("Result · 40 rows · 12 ms", f"{API}/p/0", "NULL")
        assert "2026-" in text, "a time is read in the row that is shown in full"
        assert held.app.focused is editor(held)
        await held.press("tab", "j", rounds=1)
        assert held.app.focused is held.table("#sql-rows")
        assert held.situation.urls == (f"{API}/p/1",)
        row = held.table("#sql-rows").row(1)
        assert row is not None
        assert json.loads(as_json(held.table("#sql-rows").columns, row))["body"] == "001b"
        await held.press("enter", rounds=2)
        assert held.app.screen.WHERE.value == "URL"
        await held.press("escape", rounds=1)
        assert isinstance(held.app.screen, SqlScreen)
        await held.press("escape", rounds=1)
        assert held.app.focused is editor(held)
        await held.press("escape", rounds=1)
        assert held.app.screen.WHERE.value == "Origins"


async def test_the_answer_is_exported_and_copied_as_every_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage((140, 44), memory=SessionFile(tmp_path / "state", "/data/crawl.db")) as held:
        await ask(held, "select 1")
        held.app.screen.set_focus(held.table("#sql-rows"))
        held.app.dispatcher.do("filter.open", 'note:="text 3"')
        for kind in ("jsonl", "csv"):
            held.app.dispatcher.do("view.export", kind)
        (lines,) = (tmp_path / "exports").glob("*.jsonl")
        found = [json.loads(line) for line in lines.read_text().splitlines()]
        assert [one["url"] for one in found] == [f"{API}/p/{n}" for n in range(3, 40, 4)]
        assert found[0]["body"] is None
        (cells,) = (tmp_path / "exports").glob("*.csv")
        assert cells.read_text("utf-8-sig").splitlines()[0] == "url,depth,ended_at,body,note"
        await held.press("space", "space", rounds=0)
        held.app.dispatcher.do("copy.pick", "url")
        await held.quiet()
        told = [notice.text for notice in held.app.notices]
        assert any("2 × URL" in text for text in told), told


async def test_keys_typed_after_its_key_are_the_beginning_of_a_question() -> None:
    async with stage((140, 44)) as held:
        await held.type("gqq1 /:t")
        assert isinstance(held.app.screen, SqlScreen)
        assert editor(held).text == "q1 /:t"


async def test_a_question_typed_as_a_command_is_asked_at_once() -> None:
    queries = FakeQueries()
    async with stage((140, 44), queries=queries) as held:
        await held.command("sql SELECT 1", rounds=1)
        await answered(held)
        assert queries.asked == ["SELECT 1"]
        held.app.dispatcher.do_typed("sql SELECT 2")
        await answered(held)
        assert queries.asked == ["SELECT 1", "SELECT 2"]
        assert editor(held).text == "SELECT 2"


async def test_esc_cancels_what_is_being_answered_and_nothing_else_waits_for_it() -> None:
    queries = FakeQueries(holds=True)
    async with stage((140, 44), queries=queries) as held:
        await held.command("sql SELECT for ever", rounds=6)
        assert "running… 00:00:00 · esc cancels" in held.text()
        await held.press("enter")
        assert "a query is running; esc cancels it" in held.text()
        await held.press("escape", rounds=0)
        await answered(held)
        assert queries.cancels == 1
        assert "✗ cancelled" in held.text()
        assert isinstance(held.app.screen, SqlScreen)


async def test_leaving_cancels_too() -> None:
    queries = FakeQueries(holds=True)
    async with stage((140, 44), queries=queries) as held:
        await held.command("sql SELECT for ever", rounds=2)
        held.app.dispatcher.show_view("view.jobs")
        await held.quiet()
        assert queries.cancels >= 1
        await answered(held)
        assert held.app.is_running


@pytest.mark.parametrize("failure", [None, RuntimeError("odd [/] \x1b]52;c;x\x07")])
async def test_what_went_wrong_is_one_line(failure: Exception | None) -> None:
    answer = QueryAnswer(problem="only reading is possible here: DROP is refused, nothing was changed")
    async with stage((140, 44), queries=FakeQueries(answer=answer, failure=failure)) as held:
        await ask(held, "DROP TABLE page")
        text = held.text()
        assert "Result · failed" in text
        assert ("DROP is refused" in text) is (failure is None)
        assert ("RuntimeError: odd [/] " in text) is (failure is not None)
        assert "\x1b" not in text
        assert held.table("#sql-rows").row_count == 0


async def test_words_are_completed_from_the_views_and_their_columns() -> None:
    async with stage((140, 44)) as held:
        await held.press("sql.open")
        await answered(held)
        await held.type("select x from v_p")
        await held.press("tab", rounds=0)
        assert editor(held).text == "select x from v_page"
        await held.type(" where de")
        assert "depth" in held.text(), "what it may become is told"
        await held.press("tab", rounds=0)
        assert editor(held).text == "select x from v_page where depth"
        await held.type(" = 1 and x.")
        await held.press("ctrl+j", rounds=0)
        await held.type("order by v_")
        await held.press("tab", rounds=0)
        first = editor(held).text
        await held.press("tab", rounds=0)
        assert editor(held).text != first
        assert editor(held).text.count("\n") == 1
        assert held.app.focused is editor(held)


def test_completion_knows_where_it_stands() -> None:
    def words(text: str) -> tuple[str, ...]:
        return complete(text, len(text), SCHEMA).words

    assert words("select * from ") == ("v_page", "v_origin", "v_attempt")
    assert words("SELECT * FROM v_page JOIN v_o") == ("v_origin",)
    assert words("select p.ur from v_page p where p.u") == ("url",)
    assert words("select p.u from v_page AS p where p.st") == ("status",)
    assert words("select * from v_page, v_origin where v_origin.t") == ("todo",)
    assert words("select * from v_attempt where exit") == ("exit_code",)
    assert words("sel") == ("select",)
    assert words("SEL") == ("SELECT",)
    assert words("select 'v_p") == ()
    assert words("select ") == ()
    assert complete("select or from v_page", 9, SCHEMA).start == 7
    assert complete("select or from v_page", 9, SCHEMA).words[0] == "origin"


@pytest.mark.parametrize("number", [1, 299, 300, 301, 20_000])
def test_what_is_too_long_for_a_name_is_not_looked_at_as_a_whole(number: int) -> None:
    for begin in ("", "select ", "select v_page.", "s"):
        text = begin + "o" * number
        found = complete(text, len(text), SCHEMA)
        assert found.words == (() if number > 1 or begin == "s" else found.words)
        assert len(text) - found.start <= 300
    assert complete("from x.y " * 3_000, 27_000, SCHEMA).words == ()
    assert complete("y " * number + "from v_p", 2 * number + 8, SCHEMA).words == ("v_page",)


async def test_tab_completes_or_goes_to_the_next_pane() -> None:
    async with stage((140, 44)) as held:
        await held.act("sql.open")
        await answered(held)
        await held.type("select orig from v_pag")
        await held.press("tab", rounds=0)
        assert editor(held).text == "select orig from v_page"
        assert held.app.focused is editor(held)
        await held.press("tab", rounds=0)
        assert held.app.focused is held.table("#sql-rows")


async def test_what_was_asked_comes_back_also_the_next_time(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/crawl.db")
    async with stage((140, 44), memory=memory) as held:
        await ask(held, "SELECT 1")
        editor(held).select_all()
        await held.enter("SELECT 2")
        await answered(held)
        await held.type(" or so")
        await held.press("up", rounds=0)
        assert editor(held).text == "SELECT 2"
        await held.press("up", rounds=0)
        assert editor(held).text == "SELECT 1"
        await held.press("up", rounds=0)
        assert "no earlier query" in held.text()
        await held.press("down", "down", rounds=0)
        assert editor(held).text == "SELECT 2 or so"
    async with stage((140, 44), memory=memory) as held:
        await held.press("sql.open")
        await answered(held)
        assert "SELECT 2" not in held.text(), "it may be a question about another crawl"
        await held.press("up", rounds=0)
        assert editor(held).text == "SELECT 2"
        await held.press("up", rounds=0)
        assert editor(held).text == "SELECT 1"


async def test_the_footer_names_the_keys_of_the_editor_while_it_has_the_focus() -> None:
    async with stage((140, 44)) as held:
        await ask(held, "select 1")
        last = held.text().splitlines()[-1]
        assert "enter run" in last
        assert "↑ history" in last
        assert "failures" not in last
        assert "a add" not in last
        await held.press("tab", rounds=0)
        last = held.text().splitlines()[-1]
        assert "g go to…" in last
        assert "history" not in last
        await held.press("escape", rounds=0)
        for name, text in (
            ("editor.line", "select 1\n"),
            ("editor.recall", "select 1"),
            ("editor.complete", "select 1"),
        ):
            held.app.screen.query_one(FooterBar).post_message(Bar.Opened(name))
            await held.quiet()
            assert editor(held).text == text


async def test_a_question_that_fails_leaves_the_answer_before_it_dimmed() -> None:
    queries = FakeQueries()
    async with stage((140, 44), queries=queries) as held:
        await ask(held, "select url from v_page")
        queries.answer = QueryAnswer(problem="no such column: ulr")
        editor(held).put("select ulr from v_page")
        await held.press("enter")
        await answered(held)
        held.sees("✗ no such column: ulr", f"{API}/p/0", "Result · of the query before: 40 rows · 12 ms")
        assert all("dim" in row.role for row in held.table("#sql-rows").held_rows())
        assert held.table("#sql-rows").source(1) is not None
        queries.answer = sample_answer(2)
        await held.press("enter")
        await answered(held)
        assert "Result · 2 rows" in held.text()
        assert "no such column" not in held.text()
        assert not [row for row in held.table("#sql-rows").held_rows() if row.role]


def test_a_question_cancelled_before_its_thread_has_begun_is_not_asked() -> None:
    queries = FakeQueries()
    query_session = QuerySession(lambda: queries, None)
    query_session.remember("SELECT 1")
    query_session.cancel()
    assert query_session.ask("SELECT 1").problem == "cancelled"
    assert queries.asked == []
    query_session.remember("SELECT 2")
    assert query_session.ask("SELECT 2").rows
    assert query_session.schema() == SCHEMA


def test_the_history_is_bounded_and_a_strange_file_is_no_fault(tmp_path: Path) -> None:
    query_session = QuerySession(FakeQueries, tmp_path)
    for number in range(MOST_KEPT + 20):
        query_session.remember(f"SELECT {number}")
    query_session.remember(f"SELECT {MOST_KEPT}")
    assert len(query_session.asked) == MOST_KEPT
    assert query_session.asked[-1] == f"SELECT {MOST_KEPT}"
    assert query_session.asked.count(f"SELECT {MOST_KEPT}") == 1
    assert QuerySession(FakeQueries, tmp_path).asked == query_session.asked
    (file,) = tmp_path.glob("*.json")
    for strange in (b"\xff\xfe", b"[1, null, {}]", b'{"a": 1}', b"[" * 100_000):
        file.write_bytes(strange)
        assert QuerySession(FakeQueries, tmp_path).asked == ()


async def test_nothing_can_be_asked_where_there_is_no_database() -> None:
    async with stage() as held:
        held.app.queries = None
        await held.press("sql.open")
        assert "there is no database to query" in held.text()


def test_columns_fit_what_stands_in_them_and_names_stay_apart() -> None:
    answer = QueryAnswer(("n", "n", "text"), ((1, 2.5, "x" * 100), (None, -3, "y")), True, 2, 1_234)
    relation = answer_of(answer)
    first, second, text = relation.columns
    assert [first.id, second.id, text.id] == ["n", "n 2", "text"]
    assert (first.align, text.align, text.width) == ("right", "left", None)
    assert relation.source(answer_rows(answer)[0]) == {"n": 1, "n 2": 2.5, "text": "x" * 100}
    assert answer_words(answer) == "first 2 rows of more · 2 long values cut · 1.2s"
    assert answer_words(sample_answer(1)) == "1 row · 12 ms"


async def test_many_columns_to_sort_by_are_scrolled_to_on_a_low_terminal() -> None:
    names = tuple(f"column_{n}" for n in range(40))
    queries = FakeQueries(answer=QueryAnswer(names, (tuple(range(40)), tuple(range(40, 0, -1)))))
    async with stage((80, 20), queries=queries) as held:
        await ask(held, "select 1")
        held.app.screen.set_focus(held.table("#sql-rows"))
        await held.press("s", "end", rounds=0)
        assert "column_39" in held.text()
        await held.press("enter", rounds=0)
        assert held.table("#sql-rows").order == ("column_39", True)
        assert list(held.table("#sql-rows").row_order) == [0, 1]


@pytest.mark.parametrize("size", [(200, 60), (120, 40), (80, 24), (60, 20)])
async def test_it_is_usable_at_every_size(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        await ask(held, "select 1")
        assert f"{API}/p/0"[-12:] in held.text()
        assert held.table("#sql-rows").content_region.height >= 4
        await asyncio.sleep(0)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_hostile_answer_is_plain_characters(name: str) -> None:
    payload = CASES[name]
    answer = QueryAnswer((payload, "_at"), ((payload, payload), (payload.encode("utf-8", "replace"), None)))
    lines = [*answer_lines(answer, 0, UTC), *answer_lines(answer, 1, UTC)]
    lines += [cell for row in answer_rows(answer) for cell in answer_of(answer).cells(row, Present())]
    for line in lines:
        for pieces in lay_out_line(line, 50):
            text = "".join(text for text, _ in pieces)
            assert not [char for char in text if unicodedata.category(char) in FORBIDDEN], (name, text)


@pytest.mark.parametrize("payload", WORST)
async def test_hostile_names_values_and_problems_on_the_screen(payload: str) -> None:
    values = ((payload, payload), (None, payload))
    queries = FakeQueries(answer=QueryAnswer((payload, f"url{payload}"), values))
    async with stage((120, 40), queries=queries) as held:
        await ask(held, "select 1")
        assert_clean(held, payload)
        held.app.screen.set_focus(held.table("#sql-rows"))
        for key in ("table.pivot", "escape", "s", "escape", "j"):
            await held.press(key, rounds=0)
            assert_clean(held, payload)
        queries.answer = QueryAnswer(problem=payload)
        await held.press("escape", "enter", rounds=0)
        await answered(held)
        assert_clean(held, payload)
        editor(held).put(payload)
        await held.quiet()
        assert_clean(held, payload)


async def test_a_question_by_command_is_asked_in_the_screen_that_is_open() -> None:
    queries = FakeQueries()
    async with stage((140, 44), queries=queries) as held:
        await held.press("sql.open")
        first, depth = held.app.screen, len(held.app.screen_stack)
        held.app.dispatcher.do("sql.open", "SELECT 1")
        await held.worked("sql")
        assert held.app.screen is first
        assert len(held.app.screen_stack) == depth
        assert editor(held).text == "SELECT 1"
        assert queries.asked == ["SELECT 1"]


async def test_the_catalogue_is_shown_first_and_proposes_a_query() -> None:
    queries = FakeQueries()
    async with stage((80, 24), queries=queries) as held:
        await held.act("sql.open")
        await answered(held)
        held.sees("v_origin", "v_page · 5 columns", "last_exit_code")
        held.app.screen.set_focus(held.table("#sql-views"))
        await held.press("j", rounds=1)
        held.sees("v_origin · 5 columns", "failed")
        await held.press("enter", rounds=1)
        assert editor(held).text == "SELECT * FROM v_origin LIMIT 100"
        assert held.app.focused is editor(held)
        held.app.screen.set_focus(held.table("#sql-columns"))
        await held.press("enter", rounds=1)
        held.app.screen.set_focus(held.table("#sql-columns"))
        await held.press("j", "enter", rounds=1)
        assert editor(held).text == "SELECT origin, state FROM v_origin LIMIT 100"
        await held.press("enter")
        await answered(held)
        assert queries.asked == ["SELECT origin, state FROM v_origin LIMIT 100"]
        assert "Result · 40 rows" in held.text(), "where there is room for one of them, the result takes it"
        held.app.do("sql.catalogue")
        await held.quiet()
        assert "v_origin" in held.text()
        assert held.app.focused is held.table("#sql-views")
        held.app.do("sql.chart", "note depth")
        await held.quiet()
        held.sees("Chart · depth by note")
        await held.press("escape", "escape", "escape", rounds=1)
        await held.act("sql.open")
        await answered(held)
        held.app.screen.set_focus(held.table("#sql-views"))
        await held.press("enter", rounds=1)
        assert editor(held).text == "SELECT * FROM v_page LIMIT 100", "what was proposed before is replaced"


async def test_a_name_is_inserted_into_a_query_that_was_typed_and_a_filter_finds_columns() -> None:
    async with stage((120, 40)) as held:
        await held.act("sql.open")
        await answered(held)
        await held.type("select url")
        held.app.screen.set_focus(held.table("#sql-views"))
        held.app.do("filter.open", "ended_at")
        await held.quiet()
        assert list(held.table("#sql-views").row_order) == ["v_attempt"]
        held.app.screen.set_focus(held.table("#sql-columns"))
        await held.press("end", "enter", rounds=1)
        assert editor(held).text == "select url, ended_at"


async def test_two_columns_of_a_result_are_charted_and_esc_shows_the_rows_again() -> None:
    async with stage((120, 40)) as held:
        await ask(held, "select 1")
        held.app.do("sql.chart", "note depth")
        await held.quiet()
        held.sees("Chart · depth by note · 40 rows", "text 3", "█")
        held.app.do("sql.chart", "nothing depth")
        await held.quiet()
        assert "no column nothing in the result: url, depth, ended_at, body, note" in held.text()
        held.app.do("sql.chart")
        await held.quiet()
        assert "Chart · depth by url · 40 rows" in held.text()
        await held.press("escape", rounds=1)
        assert "Chart ·" not in held.text()
        assert held.app.focused is held.table("#sql-rows")


def text_lines(chart: ResultChart, width: int = 40, height: int = 8, dots: Dots = Dots.braille) -> list[str]:
    return ["".join(text for text, _ in line) for line in drawn(chart, width, height, dots, UTC)]


def test_categories_are_bars_and_times_are_a_line() -> None:
    bars = chart_of(("site", "n"), [("a", 1), ("b", 4), ("c", None)], "site", "n")
    assert bars.heading == "n by site · 2 rows · 1 row without a number"
    first, second = text_lines(bars)
    assert first.startswith("a █")
    assert second.count("█") == 4 * first.count("█")
    assert second.endswith(" 4")
    times = chart_of(("seen_at", "n"), [(NOW + 60_000 * at, at) for at in range(5)], "seen_at", "n")
    lines = text_lines(times)
    assert len(lines) == 8
    assert lines[-1].strip().startswith("10:41")
    few = chart_of(("depth", "n"), [(at, at) for at in range(5)], "depth", "n")
    assert len(text_lines(few)) == 5, "few numbers are bars"
    many = chart_of(("depth", "n"), [(at, at) for at in range(50)], "depth", "n")
    assert len(text_lines(many)) == 8


def test_why_there_is_no_chart() -> None:
    assert chart_of(("a", "b"), [("x", "y")], "a", "b").problem == "column b has no numbers"
    assert chart_of(("a", "b"), [], "a", "b").problem == "column b has no numbers"
    assert "negative numbers (-2)" in chart_of(("a", "b"), [("x", -2)], "a", "b").problem
    assert chart_of(("a",), [("x",)], "a", "c").problem == "no column c in the result: a"


def test_the_current_column_is_charted_and_then_the_next_one() -> None:
    columns, rows = ("origin", "seen_at", "todo", "done"), [("a", NOW, 1, 2)]
    assert axes_of(columns, rows, "origin", None) == ("origin", "todo")
    assert axes_of(columns, rows, "seen_at", None) == ("seen_at", "todo")
    assert axes_of(columns, rows, "done", None) == ("origin", "done")
    assert axes_of(columns, rows, "done", ResultChart("origin", "done")) == ("origin", "todo")
    assert axes_of(("n",), [(3,)], "n", None) == ("n", "n")


@given(
    st.lists(st.tuples(st.none() | st.text() | st.binary() | st.integers() | st.floats(), st.integers() | st.floats())),
    st.integers(0, 120),
    st.integers(0, 30),
    st.sampled_from(Dots),
)
def test_any_chart_fits_and_is_plain_characters(
    rows: list[tuple[object, object]], width: int, height: int, dots: Dots
) -> None:
    for x in ("x", "x_at"):
        chart = chart_of((x, "y"), rows, x, "y")
        for line in text_lines(chart, width, height, dots) if not chart.problem else ():
            assert not [char for char in line if unicodedata.category(char) in FORBIDDEN]
            assert width < 20 or cell_len(line) <= width
