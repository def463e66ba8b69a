"""The fold of one origin's log, where the journal leaves open what came first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tui_crawler.domain.crawl.delay import DelaySettings
from tui_crawler.domain.crawl.origin import CrawlSettings, SettingsByOrigin, from_json
from tui_crawler.domain.history.replay import LoggedAttempt, LoggedCommand, LoggedSession, OriginReplay
from tui_crawler.domain.records.command import RefetchRobots, SetDelay, TopUpPatience
from tui_crawler.domain.records.exit_code import AttemptKind, ExitCode

A = "http://a.test"
EXPIRY = CrawlSettings().robots_expiry_ms


def attempt(at: int, code: ExitCode = ExitCode.file_ingested, **changes: Any) -> LoggedAttempt:
    values = {
        "attempt_id": at,
        "run_id": 1,
        "session_id": 1,
        "page_id": at,
        "url": f"{A}/{at}",
        "kind": AttemptKind.page,
        "exit_code": code,
        "http_status": 200 if code is ExitCode.file_ingested else 500,
        "ended_at": at,
        "response_ms": 100,
        "bytes": 10,
        "requests": 1,
        "patience_after": 5,
        "politeness_after": 0,
        "delay_ms_after": 1_000,
        "delay_reason": "default",
        "made": True,
        **changes,
    }
    return LoggedAttempt(**values)


def robots(at: int, **changes: Any) -> LoggedAttempt:
    return attempt(at, kind=AttemptKind.robots, page_id=None, **changes)


def replay(*commands: LoggedCommand, settings: SettingsByOrigin | None = None) -> OriginReplay:
    session = LoggedSession(1, 1, 1_000, 0, rest=False, settings=settings or SettingsByOrigin())
    return OriginReplay(A, False, 1, (session,), commands, (), ())


def taken(fold: OriginReplay, *attempts: LoggedAttempt) -> list[tuple[str, object, object]]:
    for one in attempts:
        fold.take(one)
    return [(one.field, one.stored, one.folded) for one in fold.findings.differences]


def test_a_robots_txt_that_was_asked_for_again_tells_that_its_refetch_was_carried_out():
    fold = replay(LoggedCommand(3_000, 9_000, RefetchRobots()))
    known = [robots(2_000, politeness_after=1), robots(4_000), attempt(20_000)]
    assert taken(fold, *known) == []
    assert fold.state.robots.expires_at == 4_000 + EXPIRY


@pytest.mark.parametrize("delay_ms", [1_000, 7_000])
def test_an_attempt_that_ended_meanwhile_is_folded_with_and_without_a_command(delay_ms: int):
    fold = replay(LoggedCommand(3_000, 9_000, SetDelay(A, 7_000)))
    reason = {1_000: "default", 7_000: "operator"}[delay_ms]
    known = [robots(2_000, politeness_after=1), attempt(4_000, delay_ms_after=delay_ms, delay_reason=reason)]
    assert taken(fold, *known, attempt(20_000, delay_ms_after=7_000, delay_reason="operator")) == []


def test_before_and_after_a_command_there_is_no_choice():
    fold = replay(LoggedCommand(3_000, 9_000, SetDelay(A, 7_000)))
    late = attempt(20_000)
    assert taken(fold, robots(2_000, politeness_after=1), late) == [
        ("delay_ms_after", 1_000, 7_000),
        ("delay_reason", "default", "operator"),
    ]


def test_patience_rises_by_a_command_alone():
    lost = [robots(2_000, politeness_after=1)]
    lost += [attempt(at, ExitCode.server_internal_error, patience_after=4, politeness_after=1) for at in (4_000,)]
    fold = replay(LoggedCommand(5_000, 6_000, TopUpPatience()))
    assert taken(fold, *lost, attempt(8_000)) == []
    assert taken(replay(), *lost, attempt(8_000)) == [("patience_after", 5, 4)]


def test_after_a_difference_it_goes_on_with_what_is_recorded():
    wrong = attempt(4_000, patience_after=3)
    rest = [attempt(at, patience_after=3) for at in (6_000, 8_000)]
    assert taken(replay(), robots(2_000, politeness_after=1), wrong, *rest) == [("patience_after", 3, 5)]


def test_settings_are_kept_whole():
    settings = SettingsByOrigin(
        CrawlSettings(DelaySettings(model="fixed", default_ms=300, floor_ms=100), patience=9),
        (("b.test", 2_000), ("b.test:81", 3_000), ("http://b.test:82", 4_000)),
        polite_floor=True,
    )
    again = from_json(settings.to_json())
    assert again == settings
    delays = {"http://a.test": 300, "http://b.test": 2_000, "http://b.test:81": 3_000, "http://b.test:82": 4_000}
    assert {origin: again.of(origin).delay.default_ms for origin in delays} == delays
    floors = {
        origin: again.of(origin).delay.floor_ms for origin in ("http://a.test", "http://127.0.0.1:8", "no origin")
    }
    assert floors == {"http://a.test": 1_000, "http://127.0.0.1:8": 100, "no origin": 100}
    own = replace(settings, own=("http://a.test",), loopback=False)
    assert from_json(own.to_json()) == own
    assert [own.of(origin).delay.floor_ms for origin in ("http://a.test", "http://127.0.0.1:8")] == [100, 1_000]
