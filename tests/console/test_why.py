"""Why a URL is (not) crawled: the trace of a known page, of any URL that is typed, and of a real database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.console.open_reports import OpenReports, one_page
from tests.console.sample_crawl import API, NOW
from tests.console.sample_trace import KNOWN, SampleExplainer, explanation
from tests.console.support import FakeReports, Stage, stage
from tests.storage.making import T0, A
from tui_crawler.console import ports
from tui_crawler.console.action import Where
from tui_crawler.console.keys import KeyNames
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.line import HangingText, Line
from tui_crawler.console.panes.lines import Lines, lay_out_line
from tui_crawler.console.reading.ask import ReadingRequest
from tui_crawler.console.reading.refresh import SnapshotReader
from tui_crawler.console.url.explanation import TRACE_MS, explained
from tui_crawler.console.url.screen import UrlScreen
from tui_crawler.console.url.why import AskUrlScreen, WhyScreen
from tui_crawler.console.url.why_lines import standing_lines, trace_lines
from tui_crawler.domain.history.explanation import Answer, Explanation
from tui_crawler.domain.rules.verdict import Step
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.explain import Explainer


def text_of(lines: list[Line], width: int = 80) -> str:
    return "\n".join(
        "".join(text for text, _ in pieces).rstrip() for line in lines for pieces in lay_out_line(line, width)
    )


# lines


def test_every_stage_has_a_mark_a_reason_and_the_line_that_decided() -> None:
    text = text_of(trace_lines(explanation(f"{API}/private/x"), NOW, UTC))
    assert text.splitlines()[0] == "✗ ROBOTS  ⊘ blocked_by_robots_txt"
    assert "✓ query_policy  it allows page (my.yaml:18)" in text
    assert "✗ robots        Disallow: /private/ is the longest match" in text
    assert "decided by robots.txt:5" in text
    assert "? item_pattern  depends on the page that links to it" in text
    assert "→ tui-crawler add URL makes it a seed" in text
    assert stages_listed(text) == [step.stage for step in explanation(f"{API}/private/x").steps[:-1]]


def stages_listed(text: str) -> list[str]:
    """The stages under the heading of all of them, in their order."""
    below = text.splitlines()[text.splitlines().index("all 13 stages:") + 1 :]
    return [line[2:].split()[0] for line in below if line[:2] in {"✓ ", "✗ ", "? "}]


@pytest.mark.parametrize("make", [trace_lines, partial(trace_lines, short=True)])
def test_a_trace_says_first_what_decided(make: Callable[[Explanation, int, tzinfo], list[Line]]) -> None:
    lines = text_of(make(explanation(f"{API}/private/x"), NOW, UTC), 60).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("✗ robots        Disallow"))
    assert "decided by robots.txt:5" in lines[at + 1]
    assert lines[at - 1] == ""
    assert at < 8, "it is in view on a low screen"
    heading = lines.index("all 13 stages:")
    assert lines[heading - 1] == ""
    assert heading > next(index for index, line in enumerate(lines) if line.startswith("✗ known"))


def test_the_short_trace_begins_with_what_refuses_and_keeps_a_line_for_each_stage() -> None:
    said = explanation(f"{API}/private/x")
    lines = text_of(trace_lines(said, NOW, UTC, short=True), 60).splitlines()
    first = next(line for line in lines[1:] if line[:2] in {"✓ ", "✗ ", "? "})
    assert first.startswith("✗ robots")
    assert [line.split()[1] for line in lines[-13:]] == [step.stage for step in said.steps[:-1]]
    assert all(len(line) <= 60 for line in lines)
    assert next(line for line in lines if "query_policy" in line).endswith("my.yaml:18")


def test_a_page_that_waits_for_its_time_is_not_refused() -> None:
    lines = text_of(trace_lines(explanation(), NOW, UTC)).splitlines()
    assert lines[0] == "◷ RETRY AT 10:43:07 (in 2m)  after ⚠ request_timeout"
    assert "✗" not in "".join(lines)
    assert sum(line.startswith("◷ due           not before ") for line in lines) == 2
    later = replace(explanation(), due_at=NOW + 86_400_000)
    assert text_of(trace_lines(later, NOW, UTC)).startswith("◷ RETRY AT 2026-01-06 10:41:07 (in 1d)")
    assert text_of(trace_lines(replace(explanation(), due_at=NOW), NOW, UTC)).startswith("◷ RETRY PENDING")
    for answer, words in ((Answer.not_due, "◷ NOT DUE"), (Answer.waiting, "◷ WAITING"), (Answer.held, "‖ HELD")):
        assert text_of(trace_lines(replace(explanation(), answer=answer), NOW, UTC, short=True)).startswith(words)
    stashed = replace(explanation(), answer=Answer.stashed, due_at=None)
    assert "✗ due " in text_of(trace_lines(stashed, NOW, UTC)), "what is never due is refused"


def test_a_long_source_leaves_half_of_the_line_to_the_reason() -> None:
    (row,) = lay_out_line(HangingText("✓ x", 6, "a reason of some length", tail="s" * 90), 40)
    assert "".join(text for text, _ in row) == "✓ x   a reason of som… " + "s" * 16 + "…"
    for width in (1, 3, 6, 7, 9):
        assert all(
            sum(len(text) for text, _ in row) == width
            for line in (HangingText("head", 6, "some text", tail="t"), HangingText("head", 6, "some text"))
            for row in lay_out_line(line, width)
        )


def test_where_a_url_stands_and_the_way_to_it() -> None:
    text = text_of(standing_lines(explanation(), UTC, KeyNames()))
    for words in ("✓ a known page", "4 on the todo list", "ruleset  13", "◆ /  seed", "timeout"):
        assert words in text
    unknown = replace(explanation("https://never.example/"), normalized="https://never.example/x", attempts=())
    text = text_of(standing_lines(unknown, UTC, KeyNames()))
    assert "becomes  https://never.example/x" in text
    assert "no crawled page links to it" in text


# reading


def test_the_trace_is_read_again_as_time_goes_on() -> None:
    class Clock:
        zone = UTC
        mono = 1_000

        def mono_ms(self) -> int:
            return self.mono

        def wall_ms(self) -> int:
            return NOW

    asked: list[str] = []

    class PendingCommands(SampleExplainer):
        def explain(self, written: str, now: int, job: str = "") -> Any:
            asked.append(written)
            return explanation(written)

    clock = Clock()
    reports: Any = FakeReports()
    reader = SnapshotReader(reports, clock)
    ask = explained(PendingCommands, KNOWN)
    wants = ReadingRequest((ask,))
    for _ in range(3):
        reader.read(wants)
    assert asked == [KNOWN]
    clock.mono += TRACE_MS
    reader.read(wants)
    assert asked == [KNOWN, KNOWN]


# the screens


async def ask(held: Stage, url: str) -> None:
    await held.press("i", rounds=0)
    await held.enter(url, rounds=3)
    assert isinstance(held.app.screen, WhyScreen)


async def test_a_url_shows_its_trace_beside_the_way_to_it() -> None:
    async with stage((140, 50)) as held:
        held.app.go_to(Where.url, KNOWN)
        await held.settle(3)
        held.sees("Decision trace", "◷ RETRY AT 10:43:07", "◷ due           not before 2026-01-05 10:43:07")
        held.sees("↳ /v2/items?page=17")


async def test_any_url_can_be_asked_for_from_any_screen() -> None:
    async with stage((140, 40)) as held:
        await ask(held, f"{API}/private/never-seen")
        held.sees("✗ ROBOTS", "∅ no page of this crawl", "decided by robots.txt:5")
        await held.press("enter")
        assert isinstance(held.app.screen, WhyScreen)
        await ask(held, "https://elsewhere.example/")
        assert "NEVER SEEN" in held.text()
        await held.press("escape", rounds=1)
        assert isinstance(held.app.screen, OverviewScreen)


async def test_the_field_begins_with_what_is_selected_and_typing_replaces_it() -> None:
    async with stage((140, 40), keys="3 j") as held:
        await held.press("i", rounds=0)
        assert isinstance(held.app.screen, AskUrlScreen)
        assert KNOWN in held.text()
        await held.press("enter", rounds=3)
        assert "◷ RETRY AT 10:43:07" in held.text()
        await held.press("enter", rounds=2)
        assert isinstance(held.app.screen, UrlScreen)
        await held.press("escape", rounds=1)
        await held.press("i", rounds=0)
        await held.press("escape", rounds=1)
        assert isinstance(held.app.screen, WhyScreen)


async def test_an_origin_stands_for_its_first_page_and_the_prompt_takes_a_url() -> None:
    async with stage((140, 40)) as held:
        await held.press("i", rounds=0)
        assert f"{held.app.screen._url}" == f"{held.app.situation(held.app.console_screen).origins[0].origin}/"  # type: ignore[attr-defined, arg-type]
        await held.press("escape", ":", rounds=0)
        await held.enter(f"why {API}/private/x", rounds=3)
        assert isinstance(held.app.screen, WhyScreen)
        assert "✗ ROBOTS" in held.text()


async def test_one_explainer_for_the_reports_of_the_reading_thread() -> None:
    made: list[object] = []

    def factory(reports: ports.Reports) -> SampleExplainer:
        made.append(reports)
        return SampleExplainer(reports)

    async with stage((140, 40), explains=factory) as held:
        for url in (KNOWN, f"{KNOWN}1"):
            held.app.go_to(Where.why, url)
            await held.settle(2)
        assert len(made) == 1


async def test_a_frozen_trace_holds_still() -> None:
    said = [explanation()]

    class Changing(SampleExplainer):
        def explain(self, written: str, now: int, job: str = "") -> Any:
            return said[0]

    async with stage((140, 40), explains=Changing) as held:
        held.app.go_to(Where.why, KNOWN)
        await held.settle(3)
        await held.press("f")
        said[0] = replace(explanation(), sentence="it is another one now")
        await held.settle(3, move_ms=TRACE_MS)
        assert "another one" not in held.text()
        assert "‖ frozen · 1 changes" in held.text()
        await held.press("f")
        await held.settle(2, move_ms=TRACE_MS)
        assert "it is another one now" in held.text()


# with a real database


async def test_pages_traces_links_and_bodies_of_a_real_database(tmp_path: Path) -> None:
    def explains(reports: ports.Reports) -> ports.Explainer:
        assert isinstance(reports, Reports)
        return Explainer(reports, zone=UTC, you="tester")

    async with one_page(path := tmp_path / "crawl.db", f"{A}/items/1", f"{A}/about"), AsyncExitStack() as opened:
        shown: Any = OpenReports(path, now=lambda: T0 + 100)
        held = await opened.enter_async_context(stage((140, 50), reports=shown, explains=explains, keys="3"))
        held.sees("URLs · row 1 of 3", "a.example/items/1")
        await held.press("enter", rounds=3)
        held.sees("✓ CRAWLED", "✓ scope")
        await held.press("url.tab_body", rounds=3)
        assert "<p>hello" in held.text()
        await held.press("url.tab_links", rounds=2)
        assert "/items/1" in held.text()
        await ask(held, "https://elsewhere.example/never")
        assert "✗ OTHER ORIGIN" in held.text()
        assert "scope" in held.app.screen.query_one("#why-trace", Lines).text
        await ask(held, "not a url")
        assert "✗ INVALID URL" in held.text()


def test_steps_of_a_newer_kind_are_shown_as_they_are() -> None:
    odd = replace(explanation(), steps=(Step("something new", "pass", "it holds"),))
    assert "✓ something new" in text_of(trace_lines(odd, NOW, UTC))
