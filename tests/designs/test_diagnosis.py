"""Diagnoses of real crawls: what `status` and the console say needs a person, until it is mended."""

from __future__ import annotations

import asyncio
import json

from tests.console.rule_stage import counted, draft_text, on_database
from tests.designs.crawling import QUICK, Crawling
from tests.designs.web import Answer
from tui_crawler.domain.history.diagnosis import Diagnosis, diagnoses
from tui_crawler.domain.rules.policy import PolicySet
from tui_crawler.text.rules_text import rules_lines


def found(crawl: Crawling) -> list[Diagnosis]:
    """What needs a person, by the reports."""
    with crawl.reports() as reports:
        return [*diagnoses(reports.run(), reports.diagnosis_facts())]


def test_a_crawl_that_went_well_needs_nobody(crawl: Crawling) -> None:
    crawl.site().pages("/a", "/b")
    crawl.run()
    assert found(crawl) == []
    assert crawl.ask("status", "--json").json["diagnosis"] == []


def test_refused_queries_are_named_until_the_policy_is_applied_that_comes_with_them(crawl: Crawling) -> None:
    pages = [f"/list?page={number}" for number in range(5)]
    site = crawl.site().pages(*pages, "/list?sid=9", "/list?sid=8", "/a")
    crawl.run(QUICK)
    (one,) = found(crawl)
    host = site.url().split("/")[2]
    assert (one.words, one.count) == (f"7 query URLs of {host} refused (?page=)", 7)
    assert one.policy is not None
    assert f"⚠ {one.words}" in crawl.ask("status").out
    assert [entry["kind"] for entry in crawl.ask("status", "--json").json["diagnosis"]] == ["queries_refused"]
    rules = crawl.folder / "rules.yaml"
    rules.write_text("\n".join(rules_lines(PolicySet(url_query_parameters=(one.policy,)))), encoding="utf-8")
    assert crawl.ask("rules", "apply", str(rules)).status == 0
    assert found(crawl) == [], "sessions alone need nobody"
    crawl.run(QUICK)
    assert set(pages) <= set(site.asked)
    assert not any("sid" in target for target in site.asked)


def test_a_query_that_the_operator_decides_on_is_no_news(crawl: Crawling) -> None:
    crawl.site().pages("/list?page=1", "/list?sort=up")
    crawl.run(f"{QUICK}\npolicies: {{url_query_parameters: [{{allow: [page]}}]}}")
    assert found(crawl) == []


def test_stopped_origins_are_summed_by_what_stopped_them(crawl: Crawling) -> None:
    down, broken, fine = crawl.site(), crawl.site(), crawl.site().pages("/a")
    crawl.web.refuse(down)
    threads = [f"/thread/{number}" for number in range(9)]
    broken.front(*threads)
    for path in threads:
        broken.answer(path, Answer(500))
    crawl.run(QUICK)
    (one,) = found(crawl)
    assert one.words == "2 origins stopped: 1 × connection refused, 1 × HTTP 500 on /thread/*"
    assert set(one.origins) == {site.url().rstrip("/") for site in (down, broken)}
    assert fine.asked == ["/", "/a"]


def test_a_seed_that_moved_to_another_site_is_named_with_where_it_leads(crawl: Crawling) -> None:
    old, new = crawl.web.named("http://old.example.org"), crawl.web.named("http://new.example.net")
    old.redirect("/", new.url("/start"))
    network = f"network: {{proxy: {crawl.web.proxy!r}}}"
    crawl.run(network, seeds=[old.url()])
    (one,) = found(crawl)
    assert (one.words, one.urls) == (f"seed moved to {new.url('/start')}", (new.url("/start"),))
    new.page("/start")
    crawl.run(network, seeds=[old.url(), new.url("/start")])
    assert found(crawl) == []


def test_a_seed_that_is_gone_and_one_that_robots_txt_disallows_are_named(crawl: Crawling) -> None:
    gone, denied = crawl.site(), crawl.site()
    denied.front().robots("User-agent: *\nDisallow: /")
    gone.answer("/", Answer(404))
    crawl.run(QUICK)
    assert [one.words for one in found(crawl)] == [
        f"seed {gone.url().partition('://')[2]}: HTTP 404",
        f"robots.txt of {denied.url().split('/')[2]} disallows the seed",
    ]


def test_the_policy_that_the_console_drafts_for_a_refused_page_has_such_pages_crawled(
    crawl: Crawling,
) -> None:
    pages = [f"/list?page={number}" for number in range(5)]
    site = crawl.site().pages(*pages, "/a")
    crawl.run(QUICK)

    async def operate() -> None:
        async with on_database(crawl.database) as held:
            await held.act("view.urls", rounds=3)
            await held.command("filter exit:blocked_url_by_local_policy", rounds=3)
            await held.act("rule.from_selection", rounds=2)
            assert f"- {{match: {{all: [{{origin: {{equals: '{site.origin}'}}}}, " in draft_text(held)
            assert "allow: [page]" in draft_text(held)
            assert "✓ newly allowed 5" in " ".join((await counted(held)).split())
            held.app.do("rules.apply")
            await held.decided()

    asyncio.run(operate())
    after = json.loads(crawl.value("SELECT after FROM operator_action ORDER BY id DESC LIMIT 1"))
    assert after["pages"] == {site.origin: 5}, "so that a console whose run has ended crawls on"
    crawl.run(QUICK)
    assert set(pages) <= set(site.asked)
