"""Reading only what changed, at the pace that is due: Reader, Pace, Poller."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from queue import Queue

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.sample_crawl import API, WWW, attempt, run_view
from tests.console.support import FakeReports, FrozenClock
from tests.support.patience import PATIENT_S
from tui_crawler.console.failures.queries import failure_window
from tui_crawler.console.logs.queries import END, LogScope, levels_from, log_before
from tui_crawler.console.origin.queries import contract_of, history_of, todo_of
from tui_crawler.console.ports import Reports
from tui_crawler.console.reading.ask import WINDOW, Ask, ReadingRequest, asks
from tui_crawler.console.reading.poll_loop import Answer, Poller, PollPace, ReadFailed
from tui_crawler.console.reading.refresh import (
    DIAGNOSIS,
    EVENTS,
    JOBS,
    ORIGINS,
    TOTALS,
    WORKERS,
    Snapshot,
    SnapshotReader,
)
from tui_crawler.console.urls.queries import MOST_LINKS, detail_of
from tui_crawler.domain.records.exit_code import Severity
from tui_crawler.domain.records.failure import BadKeptConfig, ReadingStopped, StorageFailure
from tui_crawler.domain.records.page_view import PageDetail
from tui_crawler.domain.records.view import OriginView

OVERVIEW = ReadingRequest((ORIGINS, EVENTS))
OF_API = ReadingRequest((history_of(API), todo_of(API, WINDOW), contract_of(API)))


def reader() -> tuple[SnapshotReader, FakeReports, FrozenClock]:
    reports, clock = FakeReports(), FrozenClock()
    return SnapshotReader(reports, clock), reports, clock


def read(one: SnapshotReader, wants: ReadingRequest) -> Snapshot:
    shot = one.read(wants)
    assert shot is not None
    return shot


def changed(shot: Snapshot) -> tuple[OriginView, ...]:
    return ORIGINS.found_in(shot) or ()


def test_the_first_reading_has_everything_wanted_and_nothing_else() -> None:
    one, _, _ = reader()
    shot = read(one, OVERVIEW)
    assert len(changed(shot)) == 11
    assert shot.parts[EVENTS][0].attempt_id == 400
    assert shot.run is not None
    assert shot.parts.keys() == {ORIGINS, EVENTS, TOTALS}


def test_parts_that_need_a_configuration_that_cannot_be_read_leave_the_others_alone() -> None:
    @asks(100)
    def of_configuration(reports: Reports, now: int) -> object:
        raise BadKeptConfig("crawl.max_in_fligth: unknown key")

    one, _, clock = reader()
    ask, other = of_configuration(), detail_of(f"{API}/p", 0, MOST_LINKS)
    shot = read(one, ReadingRequest((ORIGINS, ask, other)))
    assert (ask in shot.parts, other in shot.parts) == (False, True)
    assert shot.unreadable == "crawl.max_in_fligth: unknown key"
    assert len(changed(shot)) == 11
    clock.move(100)
    assert read(one, ReadingRequest((ORIGINS, other))).unreadable == shot.unreadable, "it is told once"


def test_changed_origins_are_read_on_every_view_for_its_header_at_the_rate_of_counters() -> None:
    one, reports, clock = reader()
    elsewhere = OF_API
    assert len(changed(read(one, elsewhere))) == 11
    read(one, elsewhere)  # jobs and workers, for the tabs
    reports.asked.clear()
    reports.commit(replace(reports.rows[WWW], done=1))
    clock.move(100)
    assert one.read(elsewhere) is None, "their rows are not shown: four times a second is enough"
    assert "origins_changed(1)" not in reports.asked
    clock.move(150)
    assert [view.origin for view in changed(read(one, elsewhere))] == [WWW]
    assert "origins_changed(1)" in reports.asked


def test_without_an_engine_at_work_no_origin_crawls_or_waits() -> None:
    one, reports, clock = reader()
    assert {view.state for view in changed(read(one, OVERVIEW))} == {"BUSY", "WAITING", "READY", "FINISHED"}
    assert reports.newest_run is not None
    reports.newest_run = replace(reports.newest_run, live=False)
    clock.move(1_000)
    at_rest = changed(read(one, OVERVIEW))
    assert len(at_rest) == 11
    assert {view.state for view in at_rest} == {"RESTING", "FINISHED"}
    assert not any(view.in_flight_url for view in at_rest)
    reports.commit(replace(reports.rows[WWW], todo=1))  # a rule was applied
    clock.move(100)
    assert [(view.origin, view.state) for view in changed(read(one, OVERVIEW))] == [(WWW, "RESTING")]


def test_a_job_that_is_paused_or_resumed_has_every_origin_read_anew() -> None:
    one, reports, clock = reader()
    read(one, OVERVIEW)
    for paused in ((3,), ()):
        reports.newest_run = replace(run_view(), paused_jobs=paused)
        reports.commit()
        clock.move(1_000)
        assert len(changed(read(one, OVERVIEW))) == 11
    reports.commit()
    clock.move(1_000)
    assert changed(read(one, OVERVIEW)) == ()


def test_an_engine_that_begins_is_seen_with_its_commit() -> None:
    one, reports, clock = reader()
    reports.newest_run = run_view(live=False)
    read(one, OF_API)
    reports.newest_run = run_view()
    reports.commit()
    clock.move(250)
    shot = read(one, OF_API)
    assert shot.run is not None
    assert shot.run.live
    assert len(changed(shot)) == 11
    assert {view.origin: view.state for view in changed(shot)}[API] == "BUSY"


def test_nothing_is_read_while_nothing_is_committed() -> None:
    one, reports, clock = reader()
    read(one, OVERVIEW)
    assert {JOBS, WORKERS} <= read(one, OVERVIEW).parts.keys(), "for the tabs, after the first picture"
    reports.asked.clear()
    for _ in range(60):
        clock.move(100)
        assert one.read(OVERVIEW) is None
    assert reports.asked == []


def test_only_changed_rows_come_and_only_once() -> None:
    one, reports, clock = reader()
    read(one, OVERVIEW)
    reports.commit(replace(reports.rows[WWW], done=1), log=[attempt(401, f"{WWW}/x", "file_ingested")])
    clock.move(100)
    shot = read(one, OVERVIEW)
    assert [view.origin for view in changed(shot)] == [WWW]
    clock.move(200)
    later = read(one, OVERVIEW)
    assert [event.attempt_id for event in later.parts[EVENTS]] == [401]
    assert changed(later) == ()


def test_a_part_that_is_not_due_yet_is_read_later_without_another_commit() -> None:
    one, reports, clock = reader()
    often, seldom = todo_of(API, WINDOW), history_of(API)
    wants = ReadingRequest((often, seldom))
    first = read(one, wants)
    reports.commit()
    clock.move(250)
    soon = read(one, wants)
    assert soon.parts[often] is not first.parts[often]
    assert soon.parts[seldom] is first.parts[seldom]
    clock.move(1_000)
    assert read(one, wants).parts[seldom] is not soon.parts[seldom]


def test_unchanged_parts_stay_the_same_object() -> None:
    one, reports, clock = reader()
    window = failure_window((("exit_code", "request_timeout"),))
    wants = ReadingRequest((window,))
    first = read(one, wants)
    clock.move(1_500)
    reports.newest_run = replace(reports.newest_run, requests=1) if reports.newest_run else None
    second = read(one, wants)
    assert second.parts[window] is first.parts[window]


def counted(name: str, *, by_time: bool = False) -> Ask[tuple[str, int]]:
    """What reads how many origins there are."""

    @asks(by_time=by_time)
    def read_count(reports: Reports, now: int, name: str) -> tuple[str, int]:
        return name, len(reports.origins_changed(0))

    return read_count(name)


def test_parts_of_screens_are_read_at_their_rate_and_forgotten_when_nobody_wants_them() -> None:
    one, reports, clock = reader()
    a, b = counted("a"), counted("b", by_time=True)
    shot = read(one, ReadingRequest((a, b)))
    assert (shot.parts[a], shot.parts[b]) == (("a", 11), ("b", 11))
    clock.move(1_000)
    again = read(one, ReadingRequest((a, b)))
    assert again.parts[a] is shot.parts[a], "nothing was committed"
    assert again.parts[b] is not shot.parts[b], "it changes by time"
    reports.commit(replace(reports.rows[WWW], done=1))
    clock.move(1_000)
    assert read(one, ReadingRequest((a,))).parts.keys() == {ORIGINS, TOTALS, JOBS, WORKERS, DIAGNOSIS, a}


def test_another_window_is_read_at_once() -> None:
    one, reports, clock = reader()
    read(one, ReadingRequest((log_before(END, LogScope(API, attempts_only=True)),)))
    clock.move(10)
    reports.asked.clear()
    problems = log_before(END, LogScope(API, levels_from(Severity.warning), attempts_only=True))
    found = read(one, ReadingRequest((problems,))).parts[problems]
    assert "attempt_stretch(0, <, '')" in reports.asked
    assert {line.source.exit_code for line in found.lines} == {"request_timeout", "rate_limited"}


def test_what_a_failed_reading_took_in_comes_again() -> None:
    one, reports, clock = reader()
    read(one, OVERVIEW)
    reports.commit(replace(reports.rows[WWW], done=1), log=[attempt(401, f"{WWW}/x", "file_ingested")])
    clock.move(300)

    def broken(**_: object) -> tuple[()]:
        raise StorageFailure("locked")

    reports.attempts = broken  # type: ignore[assignment]  # only for one reading
    with pytest.raises(StorageFailure):
        one.read(OVERVIEW)
    del reports.attempts
    shot = read(one, OVERVIEW)
    assert [view.origin for view in changed(shot)] == [WWW]
    assert [event.attempt_id for event in shot.parts[EVENTS]] == [401]


def test_the_run_is_read_again_by_time_since_its_owner_may_die_without_a_commit() -> None:
    one, reports, clock = reader()
    read(one, OVERVIEW)
    assert reports.newest_run is not None
    reports.newest_run = replace(reports.newest_run, live=False)
    clock.move(1_000)
    shot = read(one, OVERVIEW)
    assert shot.run is not None
    assert not shot.run.live


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 9_000), st.booleans())))
def test_pace_stays_between_its_bounds(rounds: list[tuple[int, int, bool]]) -> None:
    pace = PollPace()
    for paint, took, failed in rounds:
        pace = pace.failed() if failed else pace.after(paint, took)
        assert pace.hz in {10, 5, 2}
        assert 100 <= pace.wait_ms <= 5_000


def test_pace_slows_down_when_painting_is_slow_and_recovers_after_a_calm_while() -> None:
    pace = PollPace().after(26, 0)
    assert pace.hz == 5
    assert pace.after(40, 0).hz == 2
    assert pace.after(40, 0).after(40, 0).hz == 2
    for _ in range(20):
        pace = pace.after(3, 0)
    assert pace.hz == 10


def test_pace_gives_a_slow_database_half_the_time_and_doubles_the_wait_after_each_failure() -> None:
    assert PollPace().after(1, 700).wait_ms == 700
    pace, waits = PollPace(), []
    for _ in range(7):
        pace = pace.failed()
        waits.append(pace.wait_ms)
    assert waits == [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]
    assert pace.after(1, 1).wait_ms == 100


@contextmanager
def polling(factory: Callable[[], Reports]) -> Iterator[tuple[Poller, Queue[Answer]]]:
    """A poller at work, and what it delivers; in the end it is closed."""
    answers: Queue[Answer] = Queue()
    poller = Poller(factory, FrozenClock(), answers.put)
    thread = threading.Thread(target=poller.run)
    thread.start()
    yield poller, answers
    poller.close()
    thread.join(PATIENT_S)
    assert not thread.is_alive(), "nothing holds up the end"
    assert answers.empty()


def test_the_poller_takes_one_wish_at_a_time_and_tells_failures_as_values() -> None:
    reports = FakeReports()
    reports.gate = threading.Event()
    with polling(lambda: reports) as (poller, answers):
        assert poller.ask(OVERVIEW)
        assert not poller.ask(OVERVIEW)
        reports.gate.set()
        assert isinstance(answers.get(timeout=PATIENT_S), Snapshot)
        reports.failure = "disk I/O error"
        while not poller.ask(OVERVIEW):
            pass
        assert answers.get(timeout=PATIENT_S) == ReadFailed("disk I/O error")
    assert reports.closed.is_set()
    assert not poller.ask(OVERVIEW)


def test_what_is_wanted_instead_gives_up_the_reading_under_way() -> None:
    begun = threading.Event()

    class Long(FakeReports):
        """A reading for another screen than the overview lasts until it is given up."""

        def page_detail(self, url: str, links: int, counted: int) -> PageDetail | None:
            begun.set()
            while not self.stops():
                pass
            raise ReadingStopped

    with polling(Long) as (poller, answers):
        long = ReadingRequest((detail_of(WWW, 0, MOST_LINKS),))
        assert poller.ask(long)
        assert begun.wait(PATIENT_S)
        assert not poller.ask(OVERVIEW)
        assert poller.ask(OVERVIEW, instead=True)
        answer = answers.get(timeout=PATIENT_S)
        assert isinstance(answer, Snapshot)
        assert answer.wants == OVERVIEW
        assert changed(answer), "what the one given up had read of the origins is not lost"
        while not poller.ask(long):
            pass


def test_a_database_that_cannot_be_opened_is_a_failure_too() -> None:
    def factory() -> FakeReports:
        raise StorageFailure("no such file")

    with polling(factory) as (poller, answers):
        poller.ask(OVERVIEW)
        assert answers.get(timeout=PATIENT_S) == ReadFailed("no such file")
