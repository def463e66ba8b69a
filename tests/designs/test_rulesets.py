"""Rulesets (B): immutable versions, edited optimistically, previewed before they are applied, and undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.designs.crawling import WEEK, Crawling, Said
from tests.designs.web import Site
from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.domain.rules.policy import PolicySet, Rule
from tui_crawler.domain.rules.ruleset import to_json


def crawled(crawl: Crawling, text: str = "") -> Site:
    """A small crawl that is over."""
    site = crawl.site()
    paths = ("/a", "/cal/1", "/cal/2", "/list?page=1")
    site.page("/", *paths)
    for path in paths:
        site.page(path)
    crawl.run(text)
    return site


def rules_file(crawl: Crawling, text: str, name: str = "rules.yaml") -> Path:
    """A file for `rules preview` and `rules apply`."""
    path = crawl.folder / name
    path.write_text(text, encoding="utf-8")
    return path


def history(crawl: Crawling) -> list[dict[str, Any]]:
    """The versions, newest first."""
    return list(crawl.ask("rules", "history", "--json").json["rulesets"])


def apply(crawl: Crawling, text: str, *options: str) -> Said:
    """`rules apply`."""
    return crawl.ask("rules", "apply", str(rules_file(crawl, text)), *options, "--json")


def test_the_rules_of_the_configuration_are_the_first_version(crawl: Crawling) -> None:
    crawled(crawl, "rules: [{match: /cal/, skip: true}]")
    shown = crawl.ask("rules", "show", "--json").json
    assert set(shown) == {"ruleset_id", "policies", "rules", "exclusions", "whitelist"}
    assert shown["rules"][0]["match"] == "/cal/"
    (version,) = history(crawl)
    assert (version["ruleset_id"], version["current"]) == (shown["ruleset_id"], True)
    assert crawl.value("SELECT ruleset_id FROM v_job") == shown["ruleset_id"]


def test_a_preview_tells_what_a_change_would_block_and_revive(crawl: Crawling) -> None:
    site = crawled(crawl, "rules: [{match: /cal/1, skip: true}]")
    change = "rules: []\npolicies: {do_not_crawl: [{path: /a}, {path: /}], url_query_parameters: [{allow: [page]}]}"
    told = crawl.ask("rules", "preview", str(rules_file(crawl, change)), "--json").json
    assert (told["known"], told["newly_blocked"], told["newly_allowed"], told["unchanged"]) == (5, 2, 2, 1)
    assert told["seeds_hit"] == [site.url()]
    (origin,) = told["by_origin"]
    assert (origin["origin"], origin["newly_blocked"]) == (site.origin, 2)
    samples = {one["url"]: one for one in told["samples"]}
    assert "path is" in samples[site.url("/a")]["decided_by"]
    assert samples[site.url("/cal/1")]["before"] != samples[site.url("/cal/1")]["after"]
    assert len(history(crawl)) == 1, "nothing was changed"


def test_applied_rules_are_a_new_version_and_refused_pages_are_judged_again(crawl: Crawling) -> None:
    site = crawled(crawl, "rules: [{match: /cal/, skip: true}]")
    first = history(crawl)[0]["ruleset_id"]
    assert apply(crawl, "rules: [{match: /cal/1, skip: true}]", "--note", "open two").status == 0
    new, old = history(crawl)
    assert (new["current"], old["current"], old["ruleset_id"], new["note"]) == (True, False, first, "open two")
    crawl.run("rules: [{match: /cal/, skip: true}]")
    assert "/cal/2" in site.asked, "an unedited configuration does not take it back"
    assert "/cal/1" not in site.asked
    ids = {
        row["url"]: row["ruleset_id"] for row in crawl.rows("SELECT url, ruleset_id FROM v_attempt WHERE kind = 'page'")
    }
    assert (ids[site.url("/a")], ids[site.url("/cal/2")]) == (first, new["ruleset_id"]), "an attempt keeps its ruleset"


def test_rules_are_applied_while_the_run_is_live_and_an_attempt_keeps_those_it_began_with(crawl: Crawling) -> None:
    site = crawl.site().front("/slow", "/cal/1")
    site.page("/slow", takes_ms=5_000)

    def apply_now() -> None:
        with crawl.reports() as reports:
            (current,) = reports.current_rulesets()
        crawl.steer(ApplyRules(to_json(PolicySet(rules=(Rule("/cal/", skip=True),))), current.ruleset_id))

    site.scripts["/slow"].then = apply_now
    crawl.run(poll_ms=500)
    assert site.asked == ["/", "/slow"]
    assert crawl.page(site.url("/cal/1"))["status"] == "SKIPPED"
    rows = crawl.rows("SELECT url, ruleset_id FROM v_attempt WHERE kind = 'page'")
    ids = {row["url"].removeprefix(site.origin): row["ruleset_id"] for row in rows}
    assert ids["/"] == ids["/slow"] < ids["/cal/1"]


def test_pages_that_rules_allow_while_the_run_is_live_are_crawled_in_it(crawl: Crawling) -> None:
    """Of the pages refused before, those that stay refused are not judged, nor logged, again."""
    site = crawl.site().front("/cal/1", "/cal/2", "/slow")
    site.page("/slow", takes_ms=5_000)
    site.page("/cal/2")

    def apply_now() -> None:
        with crawl.reports() as reports:
            (current,) = reports.current_rulesets()
        crawl.steer(ApplyRules(to_json(PolicySet(rules=(Rule("/cal/1", skip=True),))), current.ruleset_id))

    site.scripts["/slow"].then = apply_now
    crawl.run("rules: [{match: /cal/, skip: true}]", poll_ms=500)
    assert site.asked == ["/", "/slow", "/cal/2"]
    assert crawl.codes(site.url("/cal/1")) == ["skipped_by_rule"]
    assert crawl.codes(site.url("/cal/2")) == ["skipped_by_rule", "file_ingested"]
    assert crawl.value("SELECT pending FROM v_job") == 0


def test_a_ruleset_edited_by_two_is_a_conflict_that_writes_nothing(crawl: Crawling) -> None:
    crawled(crawl)
    base = str(history(crawl)[0]["ruleset_id"])
    assert apply(crawl, "rules: [{match: /x, skip: true}]", "--base", base).status == 0
    before = history(crawl)
    refused = apply(crawl, "rules: [{match: /y, skip: true}]", "--base", base)
    assert refused.status != 0
    assert base in refused.err
    assert history(crawl) == before


def test_bad_rules_are_refused_with_their_place_and_change_nothing(crawl: Crawling) -> None:
    crawled(crawl)
    refused = apply(crawl, "rules:\n  - {match: '(a)\\1', skip: true}")
    assert refused.status == 2
    assert "rules.yaml:2:" in refused.err
    assert len(history(crawl)) == 1


def test_a_version_is_undone(crawl: Crawling) -> None:
    crawled(crawl, "rules: [{match: /cal/, skip: true}]")
    apply(crawl, "rules: [{match: /other/, skip: true}]")
    assert crawl.ask("rules", "undo").status == 0
    assert crawl.ask("rules", "show", "--json").json["rules"][0]["match"] == "/cal/"
    assert len(history(crawl)) == 3, "history only grows"


def test_a_change_that_is_undone_leaves_the_queue_and_the_log_as_they_were(crawl: Crawling) -> None:
    """Nothing crawls: a change puts back the pages whose verdict is another one, undoing it takes them out."""
    text = "rules: [{match: /cal/, skip: true}]"
    site = crawled(crawl, text)

    def state() -> tuple[list[str], int, int]:
        waiting = crawl.rows("SELECT url FROM v_page WHERE status = 'READY' AND attempts_remaining > 0 ORDER BY url")
        pending = crawl.value("SELECT pending FROM v_job")
        return [row["url"] for row in waiting], pending, crawl.value("SELECT COUNT(*) FROM v_attempt")

    before = state()
    assert before[:2] == ([], 0)
    for change, back in (
        ("rules: [{match: /cal/, skip: true}, {match: /other/, skip: true}]", []),
        ("rules: [{match: /cal/1, skip: true}]", [site.url("/cal/2")]),
        ("rules: []\npolicies: {url_query_parameters: [{allow: [page]}]}", ["/cal/1", "/cal/2", "/list?page=1"]),
    ):
        urls = [url if url.startswith("http") else site.url(url) for url in back]
        assert apply(crawl, change).status == 0
        assert state() == (urls, len(urls), before[2])
        assert crawl.ask("rules", "undo").status == 0
        assert state() == before
    crawl.run(text)
    assert state() == before, "the next run finds nothing to judge"


def test_an_edited_configuration_is_a_new_version_too(crawl: Crawling) -> None:
    site = crawled(crawl, "rules: [{match: /cal/, skip: true}]")
    crawl.run("rules: [{match: /a, skip: true}]", later=5 * WEEK)
    new, old = history(crawl)
    assert new["ruleset_id"] > old["ruleset_id"]
    assert crawl.page(site.url("/a"))["status"] == "SKIPPED"
    assert crawl.page(site.url("/cal/1"))["last_exit_code"] == "file_ingested"


def test_rules_test_names_what_decides(crawl: Crawling) -> None:
    site = crawled(crawl, "rules:\n  - {match: /cal/, skip: true}\n  - {match: /feed, ua: reader}")
    told = crawl.ask("rules", "test", site.url("/cal/99"), "--json").json
    assert (told["exit_code"], told["settings"]["skip"]) == ("skipped_by_rule", True)
    assert "rule /cal/" in told["decided_by"]
    fine = crawl.ask("rules", "test", site.url("/feed"), "--json").json
    assert fine["settings"]["ua"] == "reader"
    assert fine["exit_code"] is None
