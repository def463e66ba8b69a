"""A canonical inside the crawl is a claim (docs/behaviour.md): where it leads to no content the page counts."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.designs.crawling import GONE, WEEK, Crawling
from tests.designs.web import Answer, Site

KEPT, DROPPED = ["not_canonical", "file_ingested"], ["not_canonical"]
RECHECK = {"crawl__recheck": True}


def canonical(to: str) -> str:
    """A link element."""
    return f'<link rel="canonical" href="{to}">'


def link(to: str) -> tuple[tuple[str, str], ...]:
    """A Link header."""
    return (("Link", f'<{to}>; rel="canonical"'),)


def one_page(site: Site, to: str, *more: str) -> None:
    """A front page that links to /p, which names `to` as canonical and links to /next."""
    site.page("/", "/p", *more)
    site.page("/p", "/next", head=canonical(to))
    site.page("/next")


@dataclass(frozen=True)
class Case:
    """What stands at the canonical /c of /p, and whether /p counts; `config` of the crawl."""

    make: Callable[[Site], object]
    kept: bool
    config: str = ""
    to: str = "/c"


def _several(*steps: Callable[[Site], object]) -> Callable[[Site], None]:
    def make(site: Site) -> None:
        for step in steps:
            step(site)

    return make


CASES: dict[str, Case] = {
    "content": Case(lambda site: site.page("/c", "/next"), kept=False),
    "names-itself": Case(lambda site: site.page("/c", "/next", head=canonical("/c")), kept=False),
    "file": Case(lambda site: site.file("/c", b"%PDF-1.4", "application/pdf"), kept=False),
    "noindex": Case(lambda site: site.page("/c", "/next", head='<meta name=robots content=noindex>'), kept=False),
    "redirects-back": Case(lambda site: site.redirect("/c", "/p"), kept=True),
    "refreshes-back": Case(
        lambda site: site.page("/c", head='<meta http-equiv=refresh content="0;url=/p">'), kept=True
    ),
    "leads-on-to-content": Case(
        _several(lambda site: site.redirect("/c", "/d", 302), lambda site: site.page("/d", "/next")), kept=False
    ),
    "leads-on-to-nothing": Case(lambda site: site.redirect("/c", "/d"), kept=True),
    "leads-out": Case(lambda site: site.redirect("/c", "https://elsewhere.example/"), kept=True),
    "redirects-in-a-circle": Case(
        _several(lambda site: site.redirect("/c", "/d"), lambda site: site.redirect("/d", "/c")), kept=True
    ),
    "names-the-page": Case(lambda site: site.page("/c", "/next", head=canonical("/p")), kept=True),
    "missing": Case(lambda site: None, kept=True),
    "gone": Case(lambda site: site.answer("/c", Answer(410)), kept=True),
    "forbidden": Case(lambda site: site.answer("/c", Answer(403)), kept=True),
    "failing": Case(lambda site: site.answer("/c", Answer(500)), kept=True),
    "busy": Case(lambda site: site.answer("/c", Answer(503)), kept=True),
    "empty": Case(lambda site: site.answer("/c", Answer(204)), kept=True),
    "robots": Case(lambda site: site.robots("User-agent: *\nDisallow: /c"), kept=True),
    "do-not-crawl": Case(lambda site: None, kept=True, config="policies: {do_not_crawl: [{path: /c}]}"),
    "query": Case(lambda site: None, kept=True, to="/c?id=1"),
    "exclusion": Case(
        lambda site: None, kept=True, config="exclusions: [{pattern: /c$, reason: asked}]"
    ),
    "rule-skips": Case(lambda site: site.page("/c"), kept=True, config="rules: [{match: /c$, skip: true}]"),
    "rule-refuses": Case(lambda site: site.page("/c"), kept=True, config="rules: [{match: /c$, accept: false}]"),
    "trap": Case(lambda site: None, kept=True, to="/x/x/x/x/x/x"),
    "hops": Case(lambda site: site.page("/c"), kept=True, config="crawl: {max_redirect_hops: 0}"),
    "elsewhere": Case(lambda site: None, kept=False, to="https://elsewhere.example/"),
    "not-obeyed": Case(
        lambda site: site.page("/c", "/next", head=canonical("https://elsewhere.example/")),
        kept=False,
        config="crawl: {canonical: same_origin}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_page_counts_unless_its_canonical_leads_to_content(crawl: Crawling, name: str) -> None:
    """Where it counts, so do its links, after one request; where it is dropped, nothing of it is left."""
    case, site = CASES[name], crawl.site()
    one_page(site, case.to)
    case.make(site)
    crawl.run(case.config)
    assert crawl.codes(site.url("/p")) == (KEPT if case.kept else DROPPED)
    assert len(site.requests("/p")) == 1
    page = crawl.page(site.url("/p"))
    assert page["title"] == ("/p" if case.kept else "")
    links = crawl.rows("SELECT to_url FROM v_link WHERE from_url = ?", site.url("/p"))
    assert [row["to_url"] for row in links] == ([site.url("/next")] if case.kept else [])
    if case.kept:
        assert len(site.requests("/next")) == 1
    assert crawl.value("SELECT count(*) FROM canonical_claim WHERE answer IS NOT NULL") == 0
    assert crawl.ask("replay", "--check").status == 0
    assert crawl.ask("audit").status == 0


@pytest.mark.parametrize("known", [(), ("/c", "/missing")], ids=["later", "crawled before"])
def test_a_canonical_in_a_header_is_a_claim_too(crawl: Crawling, known: tuple[str, ...]) -> None:
    site = crawl.site().front(*known, "/on")
    site.page("/on", "/p", "/q")
    site.page("/p", "/next", headers=link("/missing"))
    site.page("/q", "/other", headers=link("/c"))
    site.page("/c")
    site.page("/next")
    crawl.run()
    assert (crawl.codes(site.url("/p")), crawl.codes(site.url("/q"))) == (KEPT, DROPPED)
    assert "/next" in site.asked and "/other" not in site.asked


def test_pages_that_name_each_other_are_all_kept(crawl: Crawling) -> None:
    site = crawl.site()
    names = ("/a", "/b", "/c")
    site.page("/", *names, "/outside")
    for name, to in zip(names, (*names[1:], "/a"), strict=True):
        site.page(name, head=canonical(to))
    site.page("/outside", head=canonical("/a"))
    crawl.run()
    assert [crawl.codes(site.url(name)) for name in names] == [KEPT] * 3
    assert crawl.codes(site.url("/outside")) == DROPPED, "it names a page that is kept"


@pytest.mark.parametrize(("end", "last"), [(200, DROPPED), (404, KEPT)])
def test_a_chain_of_canonicals_ends_at_the_first_page_with_content(crawl: Crawling, end: int, last: list[str]) -> None:
    """/a names /b, /b names /c: without /c it is /b that counts, and /a is dropped for it."""
    site = crawl.site().front("/a")
    site.page("/a", head=canonical("/b"))
    site.page("/b", head=canonical("/c"))
    site.answer("/c", Answer(end, b"<p>c", (("Content-Type", "text/html"),)))
    crawl.run()
    assert (crawl.codes(site.url("/a")), crawl.codes(site.url("/b"))) == (DROPPED, last)


def test_the_canonical_may_be_at_another_origin_of_the_crawl(crawl: Crawling) -> None:
    site, other = crawl.site(), crawl.site()
    site.page("/", "/p", "/q")
    site.page("/p", "/next", head=canonical(other.url("/slow")))
    site.page("/q", head=canonical(other.url("/there")))
    site.page("/next")
    other.page("/", "/1", "/2")
    other.answer("/slow", Answer(404, takes_ms=20_000))
    other.page("/there")
    crawl.run()
    assert (crawl.codes(site.url("/p")), crawl.codes(site.url("/q"))) == (KEPT, DROPPED)
    assert "/next" in site.asked, "its origin had nothing left to do, and continues"


def test_many_claims_to_one_canonical_are_decided_together(crawl: Crawling) -> None:
    site = crawl.site()
    good, bad = [f"/g{number}" for number in range(30)], [f"/b{number}" for number in range(30)]
    site.page("/", *good, *bad)
    for path in good:
        site.page(path, head=canonical("/c"))
    for path in bad:
        site.page(path, head=canonical("/missing"))
    site.page("/c")
    crawl.run()
    codes = crawl.rows("SELECT last_exit_code code, count(*) n FROM v_page GROUP BY 1 ORDER BY 1")
    assert {row["code"]: row["n"] for row in codes} == {
        "file_ingested": 32, "file_not_found": 1, "not_canonical": 30
    }  # fmt: skip
    (row,) = crawl.ask("status", "--json").json["origins"]
    assert (row["not_canonical"], row["warning"]) == (30, "")


def tagged(site: Site, path: str, to: str, tag: str = '"1"') -> None:
    """A page with an ETag that names a canonical; it is there once, then not modified."""
    head = canonical(to)
    body = f"<!DOCTYPE html><title>{path}</title>{head}<a href=/next>n</a>".encode()
    fields = (("Content-Type", "text/html"), ("ETag", tag))
    site.answer(path, Answer(body=body, headers=fields), Answer(304, headers=(("ETag", tag),)))


def test_what_was_decided_stays_decided_in_a_later_run(crawl: Crawling) -> None:
    """With or without a validator; no page is dropped and read again for it."""
    site = crawl.site().front("/p", "/tagged", "/good", "/east", "/west")
    site.page("/p", "/next", head=canonical("/missing"))
    site.page("/east", head=canonical("/west"))
    site.page("/west", head=canonical("/east"))
    tagged(site, "/tagged", "/missing")
    site.page("/good", head=canonical("/c"))
    site.page("/c")
    site.page("/next")
    crawl.run()
    seen = crawl.rows("SELECT * FROM v_link ORDER BY from_url, to_url")
    for _ in range(2):
        crawl.run(**RECHECK, later=WEEK)
    for path in ("/p", "/east", "/west"):
        assert crawl.codes(site.url(path)) == [*KEPT, "file_ingested", "file_ingested"]
    assert crawl.codes(site.url("/tagged")) == [*KEPT, "file_did_not_change", "file_did_not_change"]
    assert crawl.codes(site.url("/good")) == DROPPED * 3
    assert crawl.rows("SELECT * FROM v_link ORDER BY from_url, to_url") == seen
    assert [len(site.requests(path)) for path in ("/p", "/tagged", "/good")] == [3, 3, 3]


def test_it_is_decided_again_once_the_canonical_has_content(crawl: Crawling) -> None:
    site = crawl.site().front("/missing", "/p", "/tagged")
    site.page("/p", head=canonical("/missing"))
    tagged(site, "/tagged", "/missing")
    crawl.run()
    site.page("/missing")
    for _ in range(2):  # the canonical is found to have content, then the pages are asked
        crawl.run(**RECHECK, later=WEEK)
        site.answer("/tagged", site.scripts["/tagged"].answers[0])
    assert crawl.codes(site.url("/p"))[-1] == crawl.codes(site.url("/tagged"))[-1] == "not_canonical"
    assert crawl.page(site.url("/tagged"))["title"] == ""


def test_a_page_that_names_another_canonical_is_decided_anew(crawl: Crawling) -> None:
    site = crawl.site()
    one_page(site, "/missing")
    crawl.run()
    site.page("/p", head=canonical("/c"))
    site.page("/c")
    crawl.run(**RECHECK, later=WEEK)
    assert crawl.codes(site.url("/p")) == [*KEPT, "not_canonical"]
    site.page("/p")
    crawl.run(**RECHECK, later=WEEK)
    assert crawl.codes(site.url("/p"))[-1] == "file_ingested"
    assert crawl.value("SELECT count(*) FROM canonical_claim") == 0


def test_a_claim_survives_the_end_of_a_run(crawl: Crawling) -> None:
    """At a number of requests it stays open; the next run decides it without another request of the page."""
    site = crawl.site()
    one_page(site, "/c")
    crawl.run(crawl__max_requests=3)
    assert crawl.codes(site.url("/p")) == DROPPED
    assert crawl.rows("SELECT * FROM v_document WHERE url = ?", site.url("/p")) == []
    crawl.run()
    assert crawl.codes(site.url("/p")) == KEPT
    assert len(site.requests("/p")) == 1


def test_a_claim_survives_a_kill(crawl: Crawling) -> None:
    site = crawl.site()
    one_page(site, "/c")
    site.answer("/c", Answer(404), then=crawl.go_on_from_here)
    crawl.run(owner=GONE)
    assert crawl.codes(site.url("/p")) == DROPPED, "as it was when the process was killed"
    crawl.run()
    assert crawl.codes(site.url("/p")) == KEPT
    assert len(site.requests("/p")) == 1


def test_a_canonical_that_is_not_reached_is_decided_at_the_end(crawl: Crawling) -> None:
    """The origin of the canonical has given up."""
    site, other = crawl.site(), crawl.site()
    site.page("/", "/p")
    site.page("/p", "/next", head=canonical(other.url("/c")))
    site.page("/next")
    other.answer("/", Answer(end="close"))
    crawl.web.refuse(other)
    crawl.run("crawl: {patience: 1}")
    assert crawl.codes(site.url("/p")) == KEPT
    assert "/next" in site.asked


def test_a_canonical_beyond_the_depth_is_none(crawl: Crawling) -> None:
    site = crawl.site().front("/p")
    site.page("/p", "/deep", head=canonical("/missing"))
    crawl.run("crawl: {max_depth: 1}")
    assert crawl.codes(site.url("/p")) == KEPT
    assert crawl.codes(site.url("/deep")) == []


def test_a_claim_of_the_offline_mode_waits_for_the_queue(crawl: Crawling) -> None:
    site = crawl.site().front("/next", head=canonical("/c"))
    site.page("/next")
    offline = "crawl: {mode: offline}"
    crawl.run(offline)
    assert crawl.codes(site.url()) == DROPPED
    crawl.configure(offline)
    (segment,) = crawl.ask("queue", "build", str(crawl.file), "--json").json["segments"]
    crawl.ask("queue", "load", segment["path"])
    crawl.run(offline)
    assert crawl.codes(site.url()) == KEPT
    assert site.asked == ["/", "/c"]


def test_why_and_the_report_name_the_canonical_that_leads_nowhere(crawl: Crawling) -> None:
    site = crawl.site()
    one_page(site, "/missing")
    crawl.run()
    for one, other in (("/p", "/missing"), ("/missing", "/p")):
        said: dict[str, Any] = crawl.ask("why", site.url(one), "--json").json
        assert site.url(other) in str(said)
    (row,) = crawl.rows("SELECT to_url, source FROM v_redirect WHERE from_url = ?", site.url("/p"))
    assert row == {"to_url": site.url("/missing"), "source": "canonical"}
    assert site.url("/missing") in crawl.ask("links", "--broken").out
    findings = crawl.ask("report", "--format", "json").json
    assert {"url": site.url("/p"), "canonical": site.url("/missing")} in findings["canonical_nowhere"]["rows"]


def test_a_rehearsal_fetches_what_was_fetched(crawl: Crawling) -> None:
    """Also where a rule of the configuration refuses the canonical now, so that the page counts."""
    site = crawl.site().front("/p", "/q")
    site.page("/p", "/next", head=canonical("/missing"))
    site.page("/q", head=canonical("/c"))
    site.page("/c")
    site.page("/next")
    crawl.run()
    for rules, fetched in (("", 6), ("policies: {do_not_crawl: [{path: /c}]}", 5)):
        crawl.configure(f"crawl: {{sitemaps: robots}}\n{rules}")
        said = crawl.command("rehearse", str(crawl.file), "--from", str(crawl.database), "--json").json
        assert sum(one["fetched"] for one in said["by_origin"]) == fetched


def test_an_archive_has_the_answer_that_was_kept_aside(crawl: Crawling) -> None:
    site = crawl.site()
    one_page(site, "/missing")
    crawl.run()
    archive = crawl.folder / "out.warc.gz"
    assert crawl.ask("export", "bodies", "--format", "warc", "--output", str(archive)).status == 0
    records = gzip.decompress(archive.read_bytes()).split(b"WARC/1.")
    (stored,) = [one for one in records if b"WARC-Type: response" in one and f"URI: {site.url('/p')}\r".encode() in one]
    assert b"HTTP/1.1 200" in stored
    assert b"<title>/p</title>" in stored
