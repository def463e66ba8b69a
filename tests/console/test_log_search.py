"""Looking through the whole log for the next entry of a kind: the nearest one, in bounded pieces, either way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, DOCS, NOW, attempt
from tests.console.sample_log import activities, operator_actions
from tui_crawler.console.logs import queries as log_parts
from tui_crawler.console.logs import seeking as log_seeking
from tui_crawler.console.logs.queries import BEGINNING, END, LogPlace, LogScope, levels_from, log_around
from tui_crawler.console.logs.rows import LogLine, action_line, activity_line, attempt_line
from tui_crawler.console.logs.seeking import FEWEST, MOST, LogSearch
from tui_crawler.console.logs.window import LogListWindow
from tui_crawler.domain.records.exit_code import Severity
from tui_crawler.domain.records.operator_view import ActionView, ActivityView
from tui_crawler.domain.records.view import AttemptView

ALL = frozenset(Severity)
ENDS = ("file_ingested", "file_not_found", "server_internal_error", "request_timeout", "file_ingested", "redirect")
EVENTS = (activities()[2], activities()[3], activities()[4], activities()[5], activities()[6])
QUESTS = (
    LogScope(levels=frozenset({Severity.error})),
    LogScope(levels=frozenset({Severity.warning})),
    LogScope(API, frozenset({Severity.error})),
    LogScope("", frozenset({Severity.warning, Severity.error}), "x7"),
    LogScope(text="x7"),
    LogScope(DOCS, text="patience"),
    LogScope(text="refused by hand"),
)


def attempt_at(number: int, at: int) -> AttemptView:
    origin = API if number % 3 == 0 else DOCS
    return attempt(number, f"{origin}/x{number % 10}", ENDS[number % len(ENDS)], ended_at=NOW + at)


def activity_at(number: int, at: int) -> ActivityView:
    return replace(EVENTS[number % len(EVENTS)], activity_id=number, at=NOW + at, origin=DOCS if number % 2 else "")


def action_at(number: int, at: int) -> ActionView:
    error = "refused by hand" if number % 3 == 0 else ""
    return replace(operator_actions()[1], action_id=number, at=NOW + at, error=error, target=API)


def logged(entries: list[tuple[int, int]]) -> FakeReports:
    """A log of these kinds and times, in their order."""
    reports = FakeReports(log=(), happened=(), asked_for=())
    for kind, at in entries:
        match kind:
            case 0:
                reports.log = (attempt_at(len(reports.log) + 1, at), *reports.log)
            case 1:
                reports.happened = (activity_at(len(reports.happened) + 1, at), *reports.happened)
            case _:
                reports.asked_for = (action_at(len(reports.asked_for) + 1, at), *reports.asked_for)
    return reports


def every_line(reports: FakeReports) -> list[LogLine]:
    lines = [*map(attempt_line, reports.log), *map(activity_line, reports.happened)]
    return sorted([*lines, *map(action_line, reports.asked_for)], key=lambda line: line.order)


def searched(reports: FakeReports, search: LogSearch, took_ms: int = 100) -> LogSearch:
    """The end of a search; each piece looks at no more than it may."""
    for _ in range(1_000):
        fresh = search.read(reports)
        assert fresh.looked_at - search.looked_at <= 3 * search.look
        if fresh.over:
            return fresh
        search = fresh.sized(took_ms)
    raise AssertionError("it goes round in circles")


@pytest.fixture(scope="module", autouse=True)
def small() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_seeking, "FEWEST", 3)
        yield


IN_TIME = st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 2]), st.integers(0, 60)), max_size=70).map(
    lambda entries: sorted(entries, key=lambda one: one[1])
)


@given(entries=IN_TIME, quest=st.sampled_from(QUESTS), cut=st.floats(0, 1), older=st.booleans())
def test_it_finds_the_nearest_entry_that_fits_and_its_place(
    entries: list[tuple[int, int]], quest: LogScope, cut: float, older: bool
) -> None:
    reports, at = logged(entries), int(cut * 61) + NOW
    lines = every_line(reports)
    place = LogPlace(
        *(
            max((line.key[1] for line in lines if line.key[0] == kind and line.at <= at), default=0)
            for kind in ("attempt", "activity", "action")
        )
    )
    fits = [line for line in lines if quest.fits(line) and (line.at <= at) is older]
    expected = (fits[-1] if older else fits[0]) if fits else None
    found = searched(reports, replace(LogSearch(quest, older, place), look=3))
    assert found.found == expected
    if expected is not None:
        around = log_around(found.place, LogScope()).read(reports, NOW)
        assert expected in around.lines
        keyset = LogListWindow(start=found.place)
        assert keyset.take(keyset.begin, around)
        assert (keyset.at_first, keyset.at_last) == (around.after == BEGINNING, around.ended)


@given(
    entries=st.lists(st.tuples(st.sampled_from([0, 0, 1, 2]), st.integers(0, 60)), max_size=50),
    quest=st.sampled_from(QUESTS),
    older=st.booleans(),
)
def test_where_the_clock_went_back_it_still_ends_and_finds_something_if_there_is_anything(
    entries: list[tuple[int, int]], quest: LogScope, older: bool
) -> None:
    reports = logged(entries)
    start = LogSearch(quest, older, END if older else BEGINNING)
    found = searched(reports, replace(start, look=3)).found
    assert (found is not None) is any(map(quest.fits, every_line(reports)))
    assert found is None or quest.fits(found)


def test_a_search_of_many_pieces_asks_the_database_by_level_and_text() -> None:
    reports = logged([(0, at) for at in range(100)])
    start = replace(LogSearch(LogScope(text="nowhere"), True, END), look=10)
    assert searched(reports, start).found is None
    asked = [one for one in reports.asked if one.startswith("attempt_stretch")]
    assert asked[0] == "attempt_stretch(0, <, 'nowhere')"
    assert len(asked) == 11


def test_pieces_are_of_the_size_that_fits_the_machine() -> None:
    search = LogSearch(LogScope(text="x"), True, END)
    assert search.look == FEWEST
    assert search.sized(10).look == 2 * FEWEST
    assert search.sized(100).look == FEWEST
    assert replace(search, look=MOST).sized(0).look == MOST
    assert replace(search, look=2_000).sized(400).look == 1_000


def test_nothing_is_older_than_the_beginning() -> None:
    search = LogSearch(LogScope(text="x"), True, BEGINNING).read(logged([(0, 1), (1, 2), (2, 3)]))
    assert search.over
    assert search.found is None


@given(
    entries=st.lists(st.tuples(st.sampled_from([0, 0, 1, 2]), st.integers(0, 60)), max_size=60),
    level=st.sampled_from(Severity),
    origin=st.sampled_from(["", API]),
    from_start=st.booleans(),
)
@example(entries=[(2, 0), (2, 0)], level=Severity.info, origin="", from_start=True)
@example(entries=[(2, 0)] * 6, level=Severity.info, origin="", from_start=True)
def test_windows_of_a_level_hold_every_entry_of_it_once(
    entries: list[tuple[int, int]], level: Severity, origin: str, from_start: bool
) -> None:
    reports = logged(entries)
    keyset = LogListWindow(LogScope(origin, levels_from(level)), start=BEGINNING if from_start else END)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_parts, "PAGE", 4)
        patch.setattr(log_parts, "LOOK", 6)
        assert keyset.take(keyset.begin, keyset.begin.read(reports, NOW)) or keyset.started
        for _ in range(200):
            part = keyset.below if from_start else keyset.above
            if part is None or keyset.whole:
                break
            keyset.take(part, part.read(reports, NOW))
    quest = LogScope(origin, levels_from(level))
    assert keyset.whole
    assert [line.key for line in keyset.rows] == [line.key for line in every_line(reports) if quest.fits(line)]
    assert keyset.below is not None
    assert keyset.below.read(reports, NOW).lines == (), "what was looked at is not looked at again"
