"""The exit status of `run` (docs/behaviour.md), from the command itself, in real time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.designs.crawling import QUICK, Crawling
from tests.designs.web import Answer
from tests.support.patience import PATIENT_S
from tui_crawler.domain.crawl.event import Event


def test_0_when_nothing_is_left(crawl: Crawling) -> None:
    crawl.site().page("/", "/missing")
    said = crawl.live("--json")
    last = json.loads(said.out.splitlines()[-1])
    assert (said.status, last["event"], last["reason"]) == (0, "run_finished", "exhausted")
    assert (last["requests"], last["pages_done"], last["pages_failed"]) == (4, 1, 1), "robots.txt and /sitemap.xml"


def test_0_at_the_limit_of_requests(crawl: Crawling) -> None:
    site = crawl.site().front("/a", "/b", "/c")
    said = crawl.live("--max-requests", "2", "--json")
    assert (said.status, json.loads(said.out.splitlines()[-1])["reason"]) == (0, "max_requests")
    assert len(site.seen) == 2, "robots.txt counts"


@pytest.mark.parametrize("words", [(), ("--service",)])
def test_1_when_an_origin_gave_up(crawl: Crawling, words: tuple[str, ...]) -> None:
    crawl.web.refuse(crawl.site())
    said = crawl.live(*words)
    assert said.status == 1
    assert "out of patience" in said.out + said.err


def test_2_for_a_bad_configuration_and_nothing_is_asked(crawl: Crawling) -> None:
    site = crawl.site()
    said = crawl.live(text="crawl: {max_in_fligth: 2}")
    assert said.status == 2
    assert f"{crawl.file}:3:9" in said.err
    assert "max_in_flight" in said.err, "the nearest key"
    assert site.seen == []


def test_2_for_a_database_that_belongs_to_another_configuration(crawl: Crawling) -> None:
    crawl.site().front()
    config = crawl.configure(f"{QUICK}\ndatabase: mine.db")
    with crawl.web.in_thread():
        refused = crawl.command("run", str(config), "--db", str(crawl.folder / "other.db"))
        assert refused.status == 2
        assert "other.db" in refused.err
        assert "mine.db" in refused.err
        assert not (crawl.folder / "other.db").exists()
        told = crawl.command("run", str(config), "--db", str(crawl.folder / "other.db"), "--ignore-database-name")
    assert told.status == 0


def test_3_while_another_run_holds_the_database(crawl: Crawling) -> None:
    """The second command runs while the first one waits for an answer."""
    site = crawl.site()
    config = crawl.configure(QUICK)
    site.page()

    second = [sys.executable, "-m", "tui_crawler", "run", str(config)]
    said: list[subprocess.CompletedProcess[str]] = []

    def start(event: Event) -> None:
        if event.event == "todo_filled":
            said.append(subprocess.run(second, capture_output=True, text=True, timeout=PATIENT_S, check=False))

    crawl.run(QUICK, on_event=start)
    assert [one.returncode for one in said] == [3]
    assert f"process {os.getpid()}" in said[0].stderr
    assert len(site.asked) == 1


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=str)
def test_as_a_service_a_run_that_is_told_to_end_has_succeeded(crawl: Crawling, number: int, status: int) -> None:
    site = crawl.site()
    site.answer(
        "/", Answer(200, b"<a href=/a>", (("Content-Type", "text/html"),)), then=lambda: os.kill(os.getpid(), number)
    )
    assert crawl.live("--service").status == status
    assert crawl.value("SELECT finish_reason FROM v_run") == "interrupted"


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_a_signal_ends_the_run_in_order_and_the_next_start_continues_it(
    crawl: Crawling, number: int, status: int
) -> None:
    site = crawl.site()
    site.answer(
        "/", Answer(200, b"<a href=/a>", (("Content-Type", "text/html"),)), then=lambda: os.kill(os.getpid(), number)
    )
    config = crawl.configure(QUICK)
    with crawl.web.in_thread():
        assert crawl.command("run", str(config)).status == status
        assert crawl.value("SELECT finish_reason FROM v_run") == "interrupted"
        site.page("/")
        site.page("/a")
        assert crawl.command("run", str(config)).status == 0
    assert crawl.value("SELECT count(*) FROM v_run") == 1
    assert site.asked == ["/", "/a", "/sitemap.xml"]
