"""Every exit code (U, docs/behaviour.md), each from a server that really behaves so."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import HTML, Answer, Site
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.wiring.crawl import Crawl

BODY = b"<!DOCTYPE html><title>x</title>"
TYPE = ("Content-Type", HTML)
HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"


def html(status: int = 200, *headers: tuple[str, str], body: bytes = BODY) -> Answer:
    """An answer with an HTML body."""
    return Answer(status, body, (TYPE, *headers))


def moved(status: int) -> Answer:
    """A redirect to another page of the site."""
    return Answer(status, headers=(("Location", "/"),))


def raw(text: bytes) -> Answer:
    """These bytes, then the connection is closed."""
    return Answer(raw=text, end="close")


@dataclass(frozen=True)
class Case:
    """What a page answers, the exit code that follows, how often it is asked in the run, the tries left, and the
    patience that was lost."""

    name: str
    answer: Answer
    code: ExitCode
    asked: int = 1
    left: int = 0
    patience: int = 0


X = ExitCode
CASES = (
    Case("200", html(), X.file_ingested),
    Case("201", html(201), X.file_ingested),
    Case("pdf", Answer(200, b"%PDF-1.7", (("Content-Type", "application/pdf"),)), X.file_of_unknown_type),
    Case("204", Answer(204, headers=(("X-A", "b"), ("Content-Length", "0"))), X.file_of_unknown_type),
    Case("300-without-location", html(300), X.file_of_unknown_type),
    Case("301", moved(301), X.permanent_redirect),
    Case("308", moved(308), X.permanent_redirect),
    Case("300", moved(300), X.redirect),
    Case("302", moved(302), X.redirect),
    Case("303", moved(303), X.redirect),
    Case("307", moved(307), X.redirect),
    Case("refresh", html(200, ("Refresh", "0; url=/")), X.redirect),
    Case("402", html(402, ("Crawler-Price", "USD 0.01")), X.server_blamed_client),
    Case("403", html(403), X.server_blamed_client),
    Case("418", html(418), X.server_blamed_client, left=2),
    Case("410", html(410), X.file_gone),
    Case("404", html(404), X.file_not_found),
    *(
        Case(name, answer, X.did_not_understand_answer, left=2, patience=1)
        for name, answer in {
            "not-http": raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
            "bad-header": raw(b"HTTP/1.1 200 OK\r\nContent-Length 5\r\n\r\n"),
            "bad-chunk": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            "bad-gzip": html(200, ("Content-Encoding", "gzip")),
            "304-unasked": Answer(304),
            "206-unasked": html(206),
            "301-without-location": html(301),
            "bad-location": html(302, ("Location", "http://a:99999/")),
            "305": moved(305),
            "600": html(600),
        }.items()
    ),
    Case("429", html(429), X.rate_limited, asked=3),
    Case("500", html(500), X.server_internal_error, left=2, patience=1),
    Case("501", html(501), X.server_internal_error, left=2, patience=1),
    Case("502", html(502), X.server_internal_error, asked=3, patience=3),
    Case("503", html(503), X.server_internal_error, asked=3, patience=3),
    Case("504", html(504), X.server_internal_error, asked=3, patience=3),
    Case("closed", Answer(raw=b"", end="close"), X.connection_failed, asked=6, patience=3),
    Case("reset", Answer(raw=b"", end="reset"), X.connection_failed, asked=6, patience=3),
    Case("no-head", Answer(raw=b"", end="silent"), X.request_timeout, asked=3, patience=3),
    Case("408", html(408), X.request_timeout, asked=3, patience=3),
    Case("stall", Answer(raw=HALF, end="silent"), X.error_reading_response, asked=3, patience=3),
    Case("short", raw(HALF), X.error_reading_response, asked=3, patience=3),
    Case("not-canonical", html(200, ("Link", "</>; rel=canonical")), X.not_canonical),
    Case("noindex", html(200, ("X-Robots-Tag", "noindex")), X.noindex),
    Case("too-large", html(body=b"x" * 5_000), X.file_too_large),
    Case("too-large-announced", Answer(raw=HALF.replace(b"9", b"9999999"), end="silent"), X.file_too_large),
)
FROM_OUTSIDE = {case.code for case in CASES}


@pytest.fixture(scope="module")
def answered(shared_crawl: Crawling) -> tuple[Crawling, dict[str, Site]]:
    """One crawl of a site for each case."""
    sites = {case.name: shared_crawl.site() for case in CASES}
    for case in CASES:
        sites[case.name].page("/", "/it")
        sites[case.name].answer("/it", case.answer)
    shared_crawl.run("network: {max_body_bytes: 4KiB}")
    return shared_crawl, sites


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_and_its_exit_code(answered: tuple[Crawling, dict[str, Site]], case: Case) -> None:
    crawl, sites = answered
    site = sites[case.name]
    page = crawl.page(site.url("/it"))
    assert (page["last_exit_code"], page["attempts_remaining"]) == (case.code.name, case.left)
    attempts = crawl.rows("SELECT DISTINCT exit_code, exit_code_id FROM v_attempt WHERE url = ?", site.url("/it"))
    assert attempts == [{"exit_code": case.code.name, "exit_code_id": case.code.value}]
    assert len(site.requests("/it")) == case.asked
    assert crawl.value("SELECT 5 - patience FROM v_origin WHERE origin = ?", site.origin) == case.patience


def run_with(crawl: Crawling, text: str, path: str = "/it") -> Site:
    """A crawl of a page that is fine by itself."""
    site = crawl.site().front(path)
    site.page(path)
    crawl.run(text)
    return site


@pytest.mark.parametrize("answer", [Answer(304), html(200, ("ETag", '"1"'))], ids=["304", "equal-etag"])
def test_file_did_not_change(crawl: Crawling, answer: Answer) -> None:
    site = crawl.site()
    site.answer("/", html(200, ("ETag", '"1"')), answer)
    crawl.run()
    crawl.run(later=5 * WEEK)
    assert crawl.codes(site.url()) == ["file_ingested", "file_did_not_change"]


REFUSALS = {
    X.blocked_url_by_local_policy: "policies: {do_not_crawl: [{path: /it}]}",
    X.skipped_by_rule: "rules: [{match: /it, skip: true}]",
    X.local_processing_error: "rules: [{match: /it, custom_js: 'document.title'}]",
    X.blocked_by_robots_txt: "",
}


@pytest.mark.parametrize("code", REFUSALS, ids=lambda code: code.name)
def test_refused_here_before_a_request_is_made(crawl: Crawling, code: ExitCode) -> None:
    site = crawl.site()
    site.robots("User-agent: *\nDisallow: /it" if not REFUSALS[code] else "")
    site.page("/", "/it")
    crawl.run(REFUSALS[code])
    assert set(crawl.codes(site.url("/it"))) == {code.name}
    assert site.asked == ["/"]


def test_blocked_by_exclusion_list(crawl: Crawling) -> None:
    site = run_with(crawl, "")
    crawl.run("exclusions: [{pattern: /it, reason: asked}]", later=5 * WEEK)
    assert crawl.codes(site.url("/it")) == ["file_ingested", "blocked_by_exclusion_list"]
    assert len(site.requests("/it")) == 1


def test_invalid_url(crawl: Crawling) -> None:
    """A URL that was short enough when it was found."""
    path = "/" + "x" * 100
    site = run_with(crawl, "", path)
    crawl.run("crawl: {max_url_length: 80}", later=5 * WEEK)
    assert crawl.codes(site.url(path)) == ["file_ingested", "invalid_url"]


def test_blocked_address(crawl: Crawling) -> None:
    site = run_with(crawl, "network: {allow_private_addresses: false}")
    assert set(crawl.codes(site.url())) == {"blocked_address"}
    assert site.seen == []
    assert "is not a public address" in crawl.value("SELECT message FROM v_attempt WHERE url = ?", site.url())


def test_connection_refused_costs_all_patience(crawl: Crawling) -> None:
    site = crawl.site()
    crawl.web.refuse(site)
    ended = crawl.run()
    assert set(crawl.codes(site.url("/robots.txt"))) == {"connection_failed"}
    assert crawl.value("SELECT finish_reason FROM v_origin") == "patience"
    assert ended.gave_up == 1


def test_cancelled_gives_the_try_back(crawl: Crawling) -> None:
    crawls: list[Crawl] = []
    site = crawl.site()
    site.answer("/", Answer(end="silent", raw=b""), then=lambda: crawls[0].engine.stop(RunReason.interrupted, 0))
    crawl.run(ready=crawls.append)
    assert crawl.codes(site.url()) == ["cancelled"]
    page = crawl.page(site.url())
    assert (page["status"], page["attempts"], page["attempts_remaining"]) == ("READY", 0, 3)
    assert crawl.value("SELECT finish_reason FROM v_run") == "interrupted"


@contextlib.contextmanager
def another(crawl: Crawling) -> Iterator[sqlite3.Connection]:
    """A connection of somebody else to the database."""
    with contextlib.closing(sqlite3.connect(crawl.database, isolation_level=None, check_same_thread=False)) as other:
        yield other


def test_database_error_ends_the_origin_and_is_told(crawl: Crawling) -> None:
    """The database itself refuses the attempt: that does not pass by itself, as a full disk or a lock does."""
    site, other_site = crawl.site(), crawl.site()
    other_site.page()
    with another(crawl) as other:
        refusal = (
            f"WHEN NEW.url_id = (SELECT id FROM url WHERE href = '{site.url()}') BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        site.answer("/", html(), then=lambda: other.execute(f"CREATE TRIGGER no BEFORE INSERT ON attempt {refusal}"))
        ended = crawl.run()
    reasons = {row["origin"]: row["finish_reason"] for row in crawl.rows("SELECT origin, finish_reason FROM v_origin")}
    assert reasons == {site.origin: "database_error", other_site.origin: "exhausted"}
    assert crawl.codes(site.url()) == []
    assert (ended.reason, ended.gave_up) == (RunReason.error, 1), "pages are pending: not exhausted"
    assert crawl.value("SELECT finish_reason FROM v_run") == "error"


def test_a_page_that_another_worker_has_taken_meanwhile_is_left_alone(crawl: Crawling) -> None:
    """What was sent stays in the log, for the audit; the result is dropped."""
    site = crawl.site()

    def take() -> None:
        with another(crawl) as other:
            other.execute("UPDATE page SET claimed_by = claimed_by + 1000")

    site.answer("/", Answer(200, BODY, (TYPE,), takes_ms=10_000), then=lambda: crawl.loop.call_later(9, take))
    crawl.run()
    (attempt,) = crawl.rows("SELECT exit_code, requests, message FROM v_attempt WHERE url = ?", site.url())
    assert (attempt["exit_code"], attempt["requests"]) == ("someone_stole_my_work", 1)
    page = crawl.page(site.url())
    assert (page["status"], page["attempts"], page["title"]) == ("CLAIMED", 0, "")


def test_every_code_that_an_attempt_can_have_was_seen_here() -> None:
    """database_error is the one that no row can have: its attempt could not be stored."""
    elsewhere = {X.file_did_not_change, X.blocked_by_exclusion_list, X.invalid_url, X.blocked_address, X.cancelled}
    elsewhere.add(X.someone_stole_my_work)
    assert FROM_OUTSIDE | set(REFUSALS) | elsewhere == set(ExitCode) - {X.database_error}


def test_the_price_of_a_page_is_kept_and_shown(answered: tuple[Crawling, dict[str, Site]]) -> None:
    """402 with `crawler-price` (Cloudflare's pay per crawl)."""
    crawl, sites = answered
    paid = sites["402"].url("/it")
    assert "USD 0.01" in crawl.value("SELECT message FROM v_attempt WHERE url = ?", paid)
    assert "USD 0.01" in crawl.ask("why", paid).out
