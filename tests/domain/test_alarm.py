"""Alarms: each once, until what it tells of is over."""

from __future__ import annotations

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.alarm import Alarm, AlarmKind, AlarmWatch
from tui_crawler.domain.history.coverage import Coverage, CoverageEvent, SeedEnd
from tui_crawler.domain.history.trap import TrapSuspicion

A, B = "https://a.example", "https://b.example"
ALL = [kind.value for kind in AlarmKind]


def ended(origin: str, reason: str) -> Event:
    return Event(1, "origin_finished", origin, extra=(("reason", reason), ("pages_done", 1), ("pages_failed", 2)))


def attempt(origin: str, code: str, **extra: object) -> Event:
    values = {"kind": "page", "patience": 5, "response_ms": 20, "pages_done": 0, "pages_failed": 0, "todo": 9} | extra
    return Event(2, "attempt_finished", origin, f"{origin}/x", code, tuple(values.items()))


def told(watch: AlarmWatch, *events: Event) -> list[tuple[str, str, int, int]]:
    found = [alarm for event in events for alarm in watch.take(event)]
    return [(one.kind.value, one.origin, one.severe, one.warnings) for one in found]


def test_an_origin_that_gave_up_is_told_once_and_again_when_it_has_gone_on():
    watch = AlarmWatch(ALL, 0)
    assert told(watch, ended(A, "patience"), ended(A, "patience"), ended(B, "exhausted")) == [
        ("origin_gave_up", A, 1, 0)
    ]
    assert told(watch, ended(B, "database_error")) == [("origin_gave_up", B, 2, 0)]
    assert told(watch, Event(3, "origin_started", A), ended(A, "patience")) == [("origin_gave_up", A, 2, 0)]
    assert told(watch, attempt(A, "file_ingested", patience=5), ended(A, "patience")) == [("origin_gave_up", A, 2, 0)]


def test_most_pages_that_name_another_url_are_a_warning():
    watch = AlarmWatch(ALL, 0)
    events = [attempt(A, "not_canonical", pages_done=number) for number in range(1, 41)]
    assert told(watch, *events) == [("most_not_canonical", A, 0, 1)]


def test_an_origin_without_a_document_is_a_warning_with_the_reason():
    seed = SeedEnd(f"{A}/", "noindex", 200, f"{A}/", "noindex: it asks not to be indexed")
    (alarm,) = AlarmWatch(ALL, 0).take(CoverageEvent(3, "coverage", coverage=Coverage(seeds=(seed,), empty=(A,))))
    assert (alarm.kind, alarm.origin, alarm.message, alarm.warnings) == (AlarmKind.empty, A, seed.message, 1)
    assert told(AlarmWatch(["run_ended"], 0), CoverageEvent(3, "coverage", coverage=Coverage(empty=(A,)))) == []


def test_the_end_of_a_run_is_told_and_counts_for_nothing():
    watch = AlarmWatch(ALL, 0)
    (alarm,) = watch.take(Event(9, "run_finished", extra=(("reason", "exhausted"),)))
    assert alarm.as_document() == {
        "at": 9,
        "event": "run_ended",
        "message": "finished, nothing left in this run",
        "severe": 0,
        "warnings": 0,
    }


def test_a_disk_is_told_of_until_there_is_some_room_again():
    watch, least = AlarmWatch(ALL, 1_000 * 2**20), 1_000 * 2**20

    def look(free: int) -> list[Alarm]:
        return list(watch.look(5, free, {}))

    assert [one.message for one in look(least // 2)] == ["500 MiB are left for the database"]
    assert look(least // 2) == look(least + 1) == look(least // 2) == []
    assert look(2 * least) == []
    assert len(look(least // 2)) == 1


def test_a_trap_is_told_of_with_what_speaks_for_it():
    watch = AlarmWatch(ALL, 0)
    suspicion = TrapSuspicion(("21 links with more than 20 path segments",), f"{A}/a/a")
    assert [(one.origin, one.message) for one in watch.look(5, 1, {A: suspicion})] == [
        (A, "21 links with more than 20 path segments")
    ]
    assert list(watch.look(6, 1, {A: suspicion})) == []


def test_what_is_not_wanted_is_not_told():
    watch = AlarmWatch(["run_ended"], 10)
    assert told(watch, ended(A, "patience")) == []
    assert list(watch.look(5, 0, {A: TrapSuspicion(("x",), A)})) == []
    assert [name for name, *_ in told(watch, Event(9, "run_finished", extra=(("reason", "operator"),)))] == [
        "run_ended"
    ]
