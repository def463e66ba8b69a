"""Validation (G): `validation_type` and `valid`, and the first 20 errors with their places."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.designs.crawling import GONE, HOUR, Crawling
from tests.designs.web import Answer, Site
from tests.storage.reading import validation_of
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.wiring.crawl import Crawl

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><link>/</link><description>d</description>
<item><title>x</title></item></channel></rss>"""
ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><title>t</title>
<updated>2027-01-01T00:00:00Z</updated></feed>"""
CASES = {  # Content-Type, a valid document, one that is not
    "html": ("text/html", "<!DOCTYPE html><html lang=en><title>t</title><p>a</p></html>", "<p>no doctype <b><i>x</b>"),
    "xml": ("application/xml", '<?xml version="1.0"?><a><b/></a>', '<?xml version="1.0"?><a><b></a>'),
    "rss": ("application/rss+xml", RSS, RSS.replace("<link>/</link>", "")),
    "atom": ("application/atom+xml", ATOM, ATOM.replace("<id>urn:x</id>", "")),
    "css": ("text/css", "p { color: red }", 'p { color: "red\n } q { width: 1 } }'),
}


@pytest.fixture(scope="module")
def read(shared_crawl: Crawling) -> tuple[Crawling, Site]:
    """One crawl of a good and a bad document of each kind."""
    site, shared_crawl.apart = shared_crawl.site(), True
    site.page("/", *(f"/{kind}/{word}" for kind in CASES for word in ("good", "bad")))
    for kind, (mime, right, wrong) in CASES.items():
        site.file(f"/{kind}/good", right, mime)
        site.file(f"/{kind}/bad", wrong, mime)
    shared_crawl.run()
    return shared_crawl, site


@pytest.mark.parametrize("kind", CASES)
def test_a_document_is_valid_or_says_where_it_is_not(read: tuple[Crawling, Site], kind: str) -> None:
    crawl, site = read
    named = {"atom": "rss"}.get(kind, kind)
    urls = [site.url(f"/{kind}/{word}") for word in ("good", "bad")]
    pages = [crawl.page(url) for url in urls]
    assert [(page["validation_type"], page["valid"]) for page in pages] == [(named, 1), (named, 0)]
    with crawl.reports() as reports:
        good, bad = (validation_of(reports, url) for url in urls)
    assert good is not None
    assert bad is not None
    assert (good.type, good.valid, good.errors) == (named, True, ())
    assert (bad.type, bad.valid) == (named, False)
    assert bad.errors
    assert all(error.message and error.line >= 0 for error in bad.errors)


@pytest.mark.parametrize("form", ["json", "md", "html", "junit"])
def test_the_report_says_how_many_documents_are_invalid_and_why(read: tuple[Crawling, Site], form: str) -> None:
    crawl, site = read
    said = crawl.ask("report", "--format", form).out
    bad = [site.url(f"/{kind}/bad") for kind in CASES]
    assert all(url in said.replace("\\", "") for url in bad)
    if form == "json":
        document = json.loads(said)
        kinds = {row["type"]: row for row in document["validation"]["rows"]}
        figures = {kind: (kinds[kind]["judged"], kinds[kind]["invalid"]) for kind in ("xml", "rss", "css")}
        assert figures == {"xml": (2, 1), "rss": (4, 2), "css": (2, 1)}
        assert kinds["html"]["judged"] == kinds["html"]["documents"]
        found = document["invalid"]
        assert (found["severity"], found["total"]) == ("notice", len(found["rows"]))
        counts = [row["pages"] for row in found["rows"]]
        assert counts == sorted(counts, reverse=True)
        assert {url for row in found["rows"] for url in row["urls"]} >= set(bad)
        with crawl.reports() as reports:
            judged = validation_of(reports, bad[0])
        assert judged is not None
        assert {one.message for one in judged.errors} <= {r["message"] for r in found["rows"] if r["type"] == "html"}


def test_valid_is_unknown_until_a_document_was_read(crawl: Crawling) -> None:
    site = crawl.site().front("/p", "/gone")
    site.answer("/p", Answer(200, b"%PDF-1.7", (("Content-Type", "application/pdf"),)))
    crawl.run()
    for path in ("/p", "/gone"):
        page = crawl.page(site.url(path))
        assert (page["validation_type"], page["valid"]) == (None, None)
    (failed,) = crawl.ask("failures", "--list", "--json").json["pages"]
    failed.pop("message")
    assert failed == crawl.page(site.url("/gone")), "a row of v_page: NULL is null"
    rows = crawl.rows("SELECT url, validation_type, valid FROM crawler_urls WHERE valid IS NULL")
    assert {row["url"] for row in rows} == {site.url("/p"), site.url("/gone")}


def test_the_first_twenty_errors_are_kept_with_line_and_column(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", "<!DOCTYPE html><title>t</title>\n" + "</nothing>\n" * 30, "text/html")
    crawl.run()
    with crawl.reports() as reports:
        found = validation_of(reports, site.url())
    assert found is not None
    errors = found.errors
    assert len(errors) == 20
    assert [error.line for error in errors] == list(range(2, 22))
    assert all(error.column >= 1 for error in errors)


FAULTY = "<!DOCTYPE html><title>t</title><h1>x</h1></nothing>"
RULE = "data_rules: [{host: 127.0.0.1, name: headline, type: text, css: h1}]"
WAITS = "SELECT count(*) FROM document WHERE parsed_at < 0"


def judged(crawl: Crawling) -> list[tuple[str, int | None]]:
    """What is known of all documents: the kind that was judged, and the verdict."""
    return [tuple(row.values()) for row in crawl.rows("SELECT validation_type, valid FROM v_document ORDER BY url")]


def then_once(event: str, act: Callable[[], object]) -> Callable[[Event], object]:
    """A hook that acts at the first event of a name that concerns a page."""
    left = [act]

    def hook(one: Event) -> None:
        if one.event == event and not one.url.endswith("/robots.txt") and left:
            left.pop()()

    return hook


def test_what_waits_at_a_kill_is_validated_by_the_next_start(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", FAULTY, "text/html")
    crawl.run(RULE, owner=GONE, on_event=then_once("attempt_finished", crawl.go_on_from_here))
    assert judged(crawl) == [(None, None)], "it was stored, and not validated yet"
    status = crawl.ask("status", "--json").json
    assert status["totals"]["waiting"] == crawl.value(WAITS) == 1
    assert "1 stored document still to be validated" in crawl.ask("status").out
    crawl.run(RULE, later=HOUR)
    assert (judged(crawl), crawl.value(WAITS)) == ([("html", 0)], 0)
    assert [row["value"] for row in crawl.rows("SELECT value FROM v_data")] == ["x"]
    assert len(crawl.codes(site.url())) == 1, "the page itself is not asked for again"
    assert "to be validated" not in crawl.ask("status").out


def test_a_run_that_is_interrupted_leaves_documents_to_the_next_one(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", FAULTY, "text/html")
    held: list[Crawl] = []
    crawl.run(ready=held.append, on_event=then_once("attempt_finished", lambda: held[0].stop(RunReason.interrupted, 0)))
    crawl.run(later=HOUR)
    assert judged(crawl) == [("html", 0)]


def test_bodies_that_are_not_stored_are_validated_as_they_come(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", FAULTY, "text/html")
    crawl.run(
        f"{RULE}\nstorage: {{store_bodies: []}}",
        owner=GONE,
        on_event=then_once("attempt_finished", crawl.go_on_from_here),
    )
    assert judged(crawl) == [("html", 0)]
    assert [row["value"] for row in crawl.rows("SELECT value FROM v_data")] == ["x"]


def test_a_document_that_has_changed_meanwhile_keeps_its_own_verdict(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", FAULTY, "text/html")
    crawl.run()
    (stale,) = crawl.rows("SELECT * FROM document")
    crawl.later(5 * 7 * 24 * HOUR)
    site.file("/", "<!DOCTYPE html><title>t</title>", "text/html")
    crawl.run()
    assert judged(crawl) == [("html", 1)]
    assert crawl.value("SELECT sha256 FROM document") != stale["sha256"]


def test_a_data_rule_that_finds_too_much_says_so_where_it_did_before(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", f"<!DOCTYPE html><title>{'t' * 2_000}</title><p>a<p>b<p>c", "text/html")
    rule = "data_rules: [{host: 127.0.0.1, name: all, type: text, css: p}]"
    crawl.run(f"{rule}\nreading: {{max_data_values: 2}}")
    assert crawl.page(site.url())["incomplete"] == "title,data"
    (attempt,) = crawl.rows("SELECT cut FROM v_attempt WHERE url = ?", site.url())
    assert attempt == {"cut": "title,data"}
    assert len(crawl.rows("SELECT value FROM v_data")) == 2
    assert json.loads(crawl.ask("status", "--json").out)["totals"]["cut"] == 1
