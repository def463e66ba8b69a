"""The log, held in part: of attempts, activity and actions no gap and no entry twice, bounded, whatever comes when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import DOCS, NOW, attempt
from tests.console.sample_log import activities, operator_actions
from tui_crawler.console.logs import queries as log_parts
from tui_crawler.console.logs import window as log_window
from tui_crawler.console.logs.queries import BEGINNING, END, LogEntries, LogPlace, LogScope, log_after, log_before
from tui_crawler.console.logs.window import LogListWindow
from tui_crawler.console.reading import window as log_book
from tui_crawler.console.reading.ask import Ask
from tui_crawler.domain.records.exit_code import Severity
from tui_crawler.domain.records.operator_view import ActionView, ActivityView
from tui_crawler.domain.records.view import AttemptView

KEPT, PAGE = 40, 10
ERRORS = frozenset({Severity.error})


@pytest.fixture(scope="module", autouse=True)
def small() -> object:
    """Windows small enough to see many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_book, "KEPT", KEPT)
        patch.setattr(log_window, "JOINED", PAGE)
        patch.setattr(log_parts, "PAGE", PAGE)
        yield


def attempt_at(number: int, at: int) -> AttemptView:
    return attempt(number, f"{DOCS}/{number}", "file_ingested", ended_at=NOW + at)


def activity_at(number: int, at: int) -> ActivityView:
    return replace(activities()[5], activity_id=number, at=NOW + at)


def action_at(number: int, at: int) -> ActionView:
    return replace(operator_actions()[1], action_id=number, at=NOW + at)


KINDS = (("attempt", attempt_at), ("activity", activity_at), ("action", action_at))


class Log:
    """What happened, in the order in which it was noted: kind and time of each entry."""

    def __init__(self, entries: list[tuple[int, int]]) -> None:
        self.reports = FakeReports(log=(), happened=(), asked_for=())
        self.add(entries)

    def add(self, entries: list[tuple[int, int]]) -> None:
        reports = self.reports
        for kind, at in entries:
            match kind:
                case 0:
                    reports.log = (attempt_at(len(reports.log) + 1, at), *reports.log)
                case 1:
                    reports.happened = (activity_at(len(reports.happened) + 1, at), *reports.happened)
                case _:
                    reports.asked_for = (action_at(len(reports.asked_for) + 1, at), *reports.asked_for)

    def numbers(self) -> tuple[int, int, int]:
        return len(self.reports.log), len(self.reports.happened), len(self.reports.asked_for)


def read(keyset: LogListWindow, log: Log, part: Ask[LogEntries] | None) -> bool:
    return part is not None and keyset.take(part, part.read(log.reports, NOW))


def assert_stretch(keyset: LogListWindow, log: Log) -> None:
    """Of each kind exactly the entries between the two places are held, all in the order of time."""
    after, up_to = keyset.spans[0].after, keyset.spans[-1].up_to
    for (kind, _), low, high in zip(KINDS, after, up_to, strict=True):
        assert sorted(line.key[1] for line in keyset.rows if line.key[0] == kind) == list(range(low + 1, high + 1))
    assert [line.order for line in keyset.rows] == sorted(line.order for line in keyset.rows)
    assert keyset.at_first == (after == BEGINNING)
    if keyset.at_first:
        assert keyset.spans[0].after == LogPlace()
    for one, other in zip(keyset.spans, keyset.spans[1:], strict=False):
        assert one.up_to == other.after


TIMES = st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 2]), st.integers(0, 40)), max_size=90)
STEPS = st.lists(st.sampled_from(["above", "below", "latest", "grow", "go"]), max_size=40)


@given(entries=TIMES, in_time=st.booleans(), steps=STEPS, from_start=st.booleans(), anchor=st.floats(0, 0.999))
@example(entries=[(2, 0), (2, 0)], in_time=True, steps=[], from_start=True, anchor=0.0)
def test_what_is_held_is_always_a_stretch_of_the_log_also_where_the_clock_went_back(
    entries: list[tuple[int, int]], in_time: bool, steps: list[str], from_start: bool, anchor: float
) -> None:
    log = Log(sorted(entries, key=lambda one: one[1]) if in_time else entries)
    keyset = LogListWindow(start=BEGINNING if from_start else END)
    assert read(keyset, log, keyset.begin) or keyset.started
    assert_stretch(keyset, log)
    for step in steps:
        match step:
            case "above":
                read(keyset, log, keyset.above)
            case "below":
                read(keyset, log, keyset.below)
            case "latest":
                read(keyset, log, keyset.latest)
            case "grow":
                log.add([(0, 41), (1, 41), (0, 42)])
            case _ if keyset.rows:
                keyset.let_go(keyset.rows[int(anchor * len(keyset.rows))].key)
                assert len(keyset.rows) <= KEPT + 3 * PAGE or len(keyset.spans) == 1
        assert_stretch(keyset, log)


@given(entries=TIMES)
@example(entries=[(2, 0)] * (PAGE + 2))
def test_reading_on_reaches_every_entry_in_either_direction(entries: list[tuple[int, int]]) -> None:
    log = Log(entries)
    for from_start in (False, True):
        keyset = LogListWindow(start=BEGINNING if from_start else END)
        read(keyset, log, keyset.begin)
        seen = {line.key for line in keyset.rows}
        for _ in range(100):
            if not (read(keyset, log, keyset.below if from_start else keyset.above)):
                break
            seen |= {line.key for line in keyset.rows}
            keyset.let_go(keyset.rows[-1 if from_start else 0].key)
        assert len(seen) == sum(log.numbers())
        assert keyset.at_last if from_start else keyset.at_first


def test_entries_are_in_the_order_of_time_and_what_was_asked_stands_before_what_followed() -> None:
    log = Log([(0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (0, 4)])
    keyset = LogListWindow()
    read(keyset, log, keyset.begin)
    assert [line.key for line in keyset.rows] == [
        ("attempt", 1), ("attempt", 2), ("action", 1), ("activity", 1), ("attempt", 3), ("attempt", 4),
    ]  # fmt: skip
    assert keyset.whole


def test_an_action_is_shown_anew_when_something_became_of_it() -> None:
    log = Log([(2, 1)])
    keyset = LogListWindow()
    read(keyset, log, keyset.begin)
    (waits,) = log.reports.asked_for
    assert not keyset.take_actions((waits,))
    assert not keyset.take_actions((replace(waits, action_id=99),)), "one that was not read yet comes at the end"
    assert keyset.take_actions((replace(waits, applied=True, error="no such origin"),))
    assert [line.problem for line in keyset.rows] == [True]


def test_what_comes_in_is_news_wherever_one_is_and_once_only() -> None:
    log = Log([(0, at) for at in range(100)])
    keyset = LogListWindow()
    read(keyset, log, keyset.begin)
    assert (keyset.news, keyset.latest, keyset.at_last) == (0, None, True)
    log.add([(0, 100), (1, 100), (2, 101)])
    read(keyset, log, keyset.below)
    assert keyset.news == 3
    for _ in range(6):
        read(keyset, log, keyset.above)
        keyset.let_go(keyset.rows[0].key)
    assert not keyset.at_last
    log.add([(0, 102), (0, 103)])
    assert not read(keyset, log, keyset.latest), "it is counted, not held"
    assert not read(keyset, log, keyset.latest)
    assert keyset.news == 5
    while not keyset.at_last:
        read(keyset, log, keyset.below)
        keyset.let_go(keyset.rows[-1].key)
    assert keyset.news == 5
    assert keyset.rows[-1].key == ("attempt", 103)


def test_a_span_that_is_looked_at_is_not_let_go() -> None:
    log = Log([(0, at) for at in range(200)])
    keyset = LogListWindow()
    read(keyset, log, keyset.begin)
    key = keyset.rows[0].key
    for _ in range(10):
        read(keyset, log, keyset.above)
    keyset.let_go(key)
    assert keyset.row(key) is not None
    assert len(keyset.rows) <= KEPT + PAGE


def test_of_a_level_only_its_entries_are_held_and_a_window_of_another_log_is_not_taken() -> None:
    log = Log([(0, at) for at in range(15)])
    keyset = LogListWindow(LogScope(levels=ERRORS))
    assert not read(keyset, log, log_before(END, LogScope())), "it reads problems only"
    assert not read(keyset, log, log_before(END, LogScope("https://other.example", ERRORS)))
    assert read(keyset, log, keyset.begin)
    assert (list(keyset.rows), keyset.started) == ([], True)
    assert not read(keyset, log, log_after(LogPlace(3), LogScope(levels=ERRORS))), "it touches nothing that is held"
    assert keyset.row("no key") is None


def test_of_the_attempts_at_an_origin_nothing_else_is_held_nor_taken() -> None:
    log = Log([(0, 1), (1, 2), (2, 3), (0, 4)])
    log.reports.log = (attempt(3, "https://other.example/", "file_ingested"), *log.reports.log)
    keyset = LogListWindow(LogScope(DOCS, attempts_only=True))
    assert not read(keyset, log, log_before(END, LogScope(DOCS))), "a window of the whole log of the origin"
    assert read(keyset, log, keyset.begin)
    assert [line.key for line in keyset.rows] == [("attempt", 1), ("attempt", 2)]
    assert (keyset.whole, keyset.actions, keyset.restarted(Severity.warning).scope.attempts_only) == (True, None, True)
