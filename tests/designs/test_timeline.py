"""The timeline of an origin out of a crawl that met a 429 with Retry-After, was paused, killed, and taken over."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.designs.crawling import GONE, MINUTE, SECOND, Crawling
from tests.designs.test_delays import slow
from tests.designs.web import HTML, Answer, Site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.audit import audit, judged
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import LaneEvent, LanePhase, Timeline
from tui_crawler.domain.records.command import PauseOrigins, ResumeOrigins
from tui_crawler.storage.reports.reports import Reports

Lived = tuple[Crawling, Site]


@pytest.fixture(scope="module")
def lived(shared_crawl: Crawling) -> Lived:
    """A crawl of one site: /1 asks for 90 s at first; after /2 an operator pauses for some minutes; at /4, which times
    out (408), the process is killed; the next one goes on."""
    crawl = shared_crawl
    site = slow(crawl, 10, *[10] * 7)
    link = Answer(200, b'<a href="/2">', (("Content-Type", HTML),))
    site.answer("/1", Answer(429, headers=(("Retry-After", "90"),)), link)
    site.answer("/4", Answer(408), Answer(200, b'<a href="/5">', (("Content-Type", HTML),)))

    def steer(event: Event) -> None:
        if event.event == "attempt_finished" and event.url == site.url("/2"):
            crawl.steer(PauseOrigins((site.origin,)))
            crawl.loop.call_later(300, crawl.steer, ResumeOrigins((site.origin,)))
        if event.event == "attempt_finished" and event.url == site.url("/4"):
            crawl.go_on_from_here()

    crawl.run("robots: {expiry: 24h}", on_event=steer, owner=GONE, poll_ms=SECOND)
    crawl.run("robots: {expiry: 24h}", later=2 * MINUTE)
    return crawl, site


def drawn(lived: Lived, cells: int = 300) -> Timeline:
    crawl, site = lived
    with closing(Reports(crawl.database, now=lambda: crawl.now)) as reports:
        first, last = crawl.rows("SELECT MIN(sent_at) a, MAX(ended_at) b FROM v_request")[0].values()
        return reports.timeline(site.origin, TimeSpan(first, last + SECOND, cells))


def test_it_is_what_the_audit_says(lived: Lived) -> None:
    crawl, _ = lived
    timeline = drawn(lived)
    with crawl.reports() as reports:
        (proof,) = audit(reports.attempts_for_audit())
        gaps = [gap for gap in judged(reports.attempts_for_audit()) if gap.kept_ms is not None]
    assert timeline.audit == proof
    assert timeline.kept == proof.requests > 8
    kept = [(cell.kept_ms, cell.promised_ms) for cell in timeline.cells if cell.kept_ms is not None]
    assert set(kept) <= {(gap.kept_ms, gap.promised_ms) for gap in gaps}
    assert (90_000, "retry_after") in {(cell.delay_ms, cell.delay_reason) for cell in timeline.cells}


def test_what_happened_is_marked_in_its_order(lived: Lived) -> None:
    marks = drawn(lived).marks
    events = [mark.event for mark in marks]
    assert events[:1] == [LaneEvent.slower]
    assert (marks[0].after, marks[0].reason) == (90_000, "retry_after")
    after = [LaneEvent.pause_begun, LaneEvent.pause_over, LaneEvent.impatient, LaneEvent.takeover]
    assert [event for event in events if event in after] == after
    (paused, resumed) = (mark.at for mark in marks if mark.event in after[:2])
    assert 4 * MINUTE < resumed - paused <= 5 * MINUTE
    timeline = drawn(lived)
    middle = timeline.cells[timeline.span.cell((paused + resumed) // 2)]
    assert (middle.phase, middle.requests) == (LanePhase.held, 0)


def test_the_command_line_says_it_in_text_and_for_programs(lived: Lived) -> None:
    crawl, site = lived
    said = crawl.ask("audit", "--verbose")
    lines = said.out.splitlines()
    assert (said.status, said.err) == (0, "")
    assert lines[0].startswith(f"✓ {site.origin}")
    assert any(line.endswith("Retry-After") and "→ 1m30s" in line for line in lines)
    assert {line[4:12].strip() for line in lines if line.startswith("    ")} >= {"requests", "patience", "state"}
    asked = next(line for line in lines if line.startswith("    requests"))
    assert set(asked[13:]) >= {"╷", "✗", "⚠"}
    assert "‖" in next(line for line in lines if line.startswith("    state"))
    (origin,) = crawl.ask("audit", "--verbose", "--json").json["origins"]
    assert origin["findings"] == []
    assert sum(origin["timeline"]["requests"]) == origin["requests"]
    assert {"slower", "pause_begun", "takeover"} <= {mark["event"] for mark in origin["timeline"]["marks"]}


def test_the_report_has_it_as_a_picture(lived: Lived) -> None:
    crawl, site = lived
    text = crawl.ask("report").out
    assert 'class="lane"' in text
    assert '<rect class="held"' in text
    assert '<path class="mark slower"' in text
    assert "1m30s: Retry-After" in text
    (lane,) = crawl.ask("report", "--json").json["timelines"]["rows"]
    assert (lane["origin"], sum(lane["timeline"]["requests"])) == (
        site.origin,
        len(crawl.rows("SELECT 1 FROM v_request")),
    )
