"""The impact of a draft while a crawl goes on: kept up to date for little, told with its age, fresh when it decides."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest
from textual.widgets import Static

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import asked, counted, editor, rules_stage, until, write
from tests.console.sample_crawl import WWW
from tests.console.sample_rules import JOB, FakeRules
from tests.console.support import Stage, stage
from tests.support.patience import PATIENT_S
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.applying import TypeCountScreen
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.rules.impact import Timing
from tui_crawler.console.rules.impact_lines import age_words
from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.domain.rules.preview import KnownUrl


def found(number: int, path: str = "/feed/", seed: int = 0) -> list[KnownUrl]:
    """So many pages that a crawl has found."""
    return [(5_000 + n, f"{WWW}{path}{n}", seed, JOB, None) for n in range(number)]


async def drafted(held: Stage, entry: str = "match: /feed/, skip: true") -> None:
    await held.press("4", rounds=3)
    await write(held, entry)
    await counted(held)


async def later(held: Stage, ms: int) -> None:
    """Time goes by; what is counted then is waited for."""
    held.clock.move(ms)
    held.app.beat()
    await held.quiet()
    await until(held, lambda: not editor(held).counting._under_way)
    await held.quiet()


def impact(held: Stage) -> str:
    """The pane of the impact with its border."""
    pane = held.app.screen.query_one("#draft-impact", Lines)
    return f"{pane.border_title}\n{pane.text}\n{pane.border_subtitle}"


async def test_urls_that_a_crawl_finds_are_judged_as_they_come() -> None:
    rules = FakeRules()
    async with stage((160, 40), rules=rules) as held:
        await drafted(held)
        assert "Impact on 1 542 known URLs" in impact(held)
        rules.known += found(85)
        await later(held, 1_000)
        assert "1 542 known" in impact(held), "not too often"
        await later(held, 2_000)
        assert "Impact on 1 627 known URLs" in impact(held)
        assert "85" in impact(held)
        assert rules.passes[-2:] == [1_542, 85], "those that were judged are not judged again"
        await later(held, 15_100)
        assert rules.passes[-1] == 1_627, "now and then all of them are, since what became of them changes"


async def test_how_old_the_count_is_stands_beside_it_and_how_many_came_since() -> None:
    reports = FakeReports()
    rules = FakeRules()
    async with stage((160, 40), reports=reports, rules=rules) as held:
        await drafted(held)
        assert "counted just now" in impact(held)
        rules.gate = threading.Event()
        held.clock.move(10_400)
        reports.commit(*(replace(one, discovered=one.discovered + 5) for one in reports.rows.values()))
        await held.settle(3, move_ms=600)
        assert f"counted 12s ago, {5 * len(reports.rows)} more since" in impact(held)
        assert "Impact on 1 542 known URLs" in impact(held), "what is known stays while it is counted anew"
        rules.gate.set()


@pytest.mark.parametrize(
    ("age_ms", "more", "words"),
    [
        (0, 0, "counted just now"),
        (4_999, 3, "counted just now, 3 more since"),
        (12_000, 85, "counted 12s ago, 85 more since"),
        (12_000, -4, "counted 12s ago"),
    ],
)
def test_age_in_words(age_ms: int, more: int, words: str) -> None:
    assert age_words(age_ms, more) == words


async def test_what_is_asked_before_applying_counts_what_came_since() -> None:
    rules = FakeRules()
    async with stage((160, 40), rules=rules) as held:
        await drafted(held, "match: '/products/1[0-9]$', skip: true")
        rules.known += [(9_000, f"{WWW}/products/17", 1, JOB, None)]
        held.clock.move(5_000)  # no beat: nothing was counted since
        await held.press("rules.apply", rounds=0)
        await asked(held)
        text = str(held.app.screen.query_one(".dialog-text", Static).content)
        assert "It blocks 11 URLs of 1 543 that are known." in text
        assert f"Among them is 1 seed: {WWW}/products/17" in text
        assert "Counted at 10:41:12;" in held.text()


async def test_the_number_to_be_typed_is_that_of_now() -> None:
    rules = FakeRules()
    async with stage((160, 40), rules=rules) as held:
        await drafted(held)
        rules.known += found(2_000)
        held.clock.move(5_000)
        await held.press("rules.apply", rounds=0)
        await until(held, lambda: isinstance(held.app.screen, TypeCountScreen))
        await held.quiet()
        assert "Type 2 000 to continue:" in held.text()


@pytest.mark.parametrize(("more", "again"), [(90, False), (110, True)])
async def test_who_answers_late_is_asked_again_if_it_has_grown_by_a_tenth(more: int, again: bool) -> None:
    rules = FakeRules()
    rules.known += [*found(999), (9_000, f"{WWW}/feed/", 1, JOB, None)]
    async with stage((160, 40), rules=rules) as held:
        await drafted(held)
        await held.press("rules.apply", rounds=0)
        await asked(held)
        first = held.app.screen
        assert "asked again if that grows by a tenth" in " ".join(
            str(held.app.screen.query_one(".dialog-note", Static).content).split()
        )
        rules.known += found(more)
        held.clock.move(60_000)
        held.app.beat()
        screen = held.app.console_screen
        assert isinstance(screen, RuleEditorScreen)
        await until(held, lambda: screen.counting.news is not None and screen.counting.news.known == 2_542 + more)
        await held.press("y", rounds=1)
        if again:
            assert isinstance(held.app.screen, TypeCountScreen)
            assert held.app.screen is not first
            assert held.journal.sent == []
        else:
            await held.decided()
            assert len(held.journal.sent) == 1


async def test_what_was_done_is_told_with_what_it_blocks() -> None:
    rules = FakeRules()
    async with stage((160, 40), rules=rules) as held:
        await drafted(held)
        rules.known += found(7)
        held.clock.move(5_000)
        await held.press("rules.apply", rounds=0)
        await until(held, lambda: bool(held.journal.sent))
        await held.decided()
        assert isinstance(held.journal.sent[0], ApplyRules)
        assert "blocks 7 of 1 549 known URLs" in held.text()


async def test_an_exclusion_is_asked_about_with_a_fresh_count() -> None:
    rules = FakeRules()
    async with rules_stage("rules.exclude", rules=rules) as held:
        await held.type("host: www.example.com")
        await until(held, lambda: "would newly block" in held.text())
        rules.known += found(3)
        held.clock.move(5_000)
        await held.press("enter", rounds=1)
        await asked(held)
        text = str(held.app.screen.query_one(".dialog-text", Static).content)
        assert "It would newly block 1 505 of 1 545 known URLs" in text


async def test_another_exclusion_of_an_operator_counts_at_once() -> None:
    reports = FakeReports()
    rules = FakeRules()
    async with stage((160, 40), reports=reports, rules=rules) as held:
        await drafted(held)
        before = len(rules.judged)
        reports.added = reports.added[:0]
        reports.commit()
        await held.settle(4, move_ms=1_100)
        await counted(held)
        assert len(rules.judged) > before


class TestTiming:
    def test_counting_takes_a_small_part_of_the_time(self) -> None:
        quick, slow = Timing(0, 1_000, 2, 1_000, 40), Timing(0, 10_000, 5_000, 10_000, 5_000)
        assert [quick.due(ms) for ms in (2_999, 3_000, 15_999, 16_000)] == ["", "new", "new", "all"]
        assert [slow.due(ms) for ms in (30_000, 109_999, 110_000, 159_999, 160_000)] == ["", "", "new", "new", "all"]
        after_some_new = Timing(0, 20_000, 10, 10_000, 5_000)
        assert [after_some_new.due(ms) for ms in (21_000, 22_000)] == ["", "new"]

    def test_what_is_decided_by_it_is_counted_whole_where_that_is_quick(self) -> None:
        assert Timing(all_ms=500).for_decision() == "all"
        assert Timing(all_ms=501).for_decision() == "new"
        assert Timing(ended=1_000).is_fresh(3_000)
        assert not Timing(ended=1_000).is_fresh(3_001)


async def test_after_a_failure_everything_is_counted() -> None:
    rules = FakeRules()
    async with stage((160, 40), rules=rules) as held:
        await drafted(held)
        rules.failure = "locked"
        await later(held, 2_100)
        assert "✗ the impact could not be counted" in impact(held)
        rules.failure, rules.known = "", [*rules.known, *found(10)]
        await later(held, 2_100)
        assert rules.passes == [1_542, 1_552]


async def test_only_the_newest_change_is_counted_to_the_end() -> None:
    rules = FakeRules(gate=threading.Event())
    async with rules_stage("rule.delete", rules=rules) as held:
        assert await asyncio.to_thread(rules.begun.wait, PATIENT_S)
        for name in "ab":
            await write(held, f"match: /{name}/, skip: true")
        rules.let_go()
        await counted(held)
        assert [[rule.match for rule in (one.rules or ())][3:] for one in rules.judged] == [[], ["/a/", "/b/"]]
