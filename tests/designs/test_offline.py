"""Offline mode (M): documents now, queue later; segments sorted by origin and URL, each consumed exactly once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import Answer, Site

OFFLINE = "crawl: {mode: offline}"


def site_of(crawl: Crawling, *links: str) -> Site:
    """A site whose front page links to these pages."""
    site = crawl.site().front(*links)
    for link in links:
        site.page(link)
    return site


def build(crawl: Crawling, text: str = OFFLINE, *options: str) -> dict[str, Any]:
    """`queue build`."""
    crawl.configure(text)
    told = crawl.ask("queue", "build", str(crawl.file), *options, "--json")
    return dict(told.json)


def urls_of(path: Path) -> list[str]:
    """The URLs of a segment, in its order."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return ["".join(line.split("\t")[:2]) for line in lines]


def test_documents_are_stored_and_nothing_is_queued(crawl: Crawling) -> None:
    site = site_of(crawl, "/b", "/a")
    crawl.run(OFFLINE)
    assert site.asked == ["/"]
    assert crawl.value("SELECT count(*) FROM v_page") == 1
    assert crawl.value("SELECT count(*) FROM v_link") == 2


def test_build_writes_new_urls_into_segments_sorted_by_origin_and_url(crawl: Crawling) -> None:
    one, two = site_of(crawl, "/b", "/a", "/c"), site_of(crawl, "/z", "/y")
    crawl.run(OFFLINE)
    told = build(crawl)
    assert (told["scanned"], told["known"]) == (2, 0)
    (segment,) = told["segments"]
    path = Path(segment["path"])
    assert path.parent == crawl.folder / "segments"
    found = urls_of(path)
    assert found == sorted([one.url("/a"), one.url("/b"), one.url("/c"), two.url("/y"), two.url("/z")])
    assert build(crawl)["segments"] == [], "documents are scanned once"


def test_segments_hold_so_many_urls_each(crawl: Crawling) -> None:
    site_of(crawl, *(f"/{number}" for number in range(5)))
    crawl.run(OFFLINE)
    told = build(crawl, f"{OFFLINE}\nqueue: {{segment_urls: 2}}")
    assert [one["urls"] for one in told["segments"]] == [2, 2, 1]


def test_a_segment_is_loaded_exactly_once(crawl: Crawling) -> None:
    site = site_of(crawl, "/a", "/b")
    crawl.run(OFFLINE)
    path = build(crawl)["segments"][0]["path"]
    assert crawl.ask("queue", "load", path).status == 0
    crawl.run(OFFLINE)
    assert site.asked == ["/", "/a", "/b"]
    copy = crawl.folder / "copy.segment"
    copy.write_bytes(Path(path).read_bytes())
    for again in (path, str(copy)):
        refused = crawl.ask("queue", "load", again)
        assert refused.status != 0
        assert "loaded already" in refused.err or "consumed" in refused.err
    assert crawl.value("SELECT count(*) FROM v_page") == 3


def test_a_damaged_segment_is_refused_and_nothing_is_loaded(crawl: Crawling) -> None:
    site_of(crawl, "/a", "/b")
    crawl.run(OFFLINE)
    path = Path(build(crawl)["segments"][0]["path"])
    path.write_text(path.read_text(encoding="utf-8").replace("/b", "/x"), encoding="utf-8")
    refused = crawl.ask("queue", "load", str(path))
    assert refused.status != 0
    assert crawl.value("SELECT count(*) FROM v_page") == 1


@pytest.mark.parametrize("kind", ["database", "memory", "bloom"])
def test_known_urls_are_dropped_through_the_seen_index(crawl: Crawling, kind: str) -> None:
    site = site_of(crawl, "/a", "/b")
    site.page("/a", "/", "/b", "/new")
    site.page("/new")
    text = f"{OFFLINE}\nseen_index: {{kind: {kind}, capacity: 1000}}"
    crawl.run(text)
    crawl.ask("queue", "load", build(crawl, text)["segments"][0]["path"])
    crawl.run(text)
    told = build(crawl, text)
    assert told["known"] == 2
    assert urls_of(Path(told["segments"][0]["path"])) == [site.url("/new")]


def test_a_bloom_filter_is_kept_and_never_calls_a_known_url_new(crawl: Crawling) -> None:
    """With other parameters it is made anew from what is known."""
    site = site_of(crawl, "/a", "/b")
    small = f"{OFFLINE}\nseen_index: {{kind: bloom, capacity: 1000}}"
    crawl.run(small)
    build(crawl, small)
    site.page("/", "/a", "/b", "/c")
    site.page("/c")
    for capacity, name in ((1000, "/c"), (2000, "/d")):
        text = f"{OFFLINE}\nseen_index: {{kind: bloom, capacity: {capacity}}}"
        crawl.later(5 * WEEK)
        site.page("/", "/a", "/b", "/c", name)
        crawl.run(text)
        told = build(crawl, text)
        assert [url for one in told["segments"] for url in urls_of(Path(one["path"]))] == [site.url(name)]
        assert crawl.value("SELECT capacity FROM seen_filter") == capacity


def test_a_full_bloom_filter_warns(crawl: Crawling) -> None:
    site_of(crawl, *(f"/{number}" for number in range(50)))
    text = f"{OFFLINE}\nseen_index: {{kind: bloom, capacity: 10, error_rate: 0.01}}"
    crawl.run(text)
    crawl.configure(text)
    told = crawl.ask("queue", "build", str(crawl.file), "--json")
    assert told.status == 0
    assert "warning" in told.err
    assert "capacity" in told.err or "full" in told.err


def test_links_go_through_the_filters_of_the_configuration(crawl: Crawling) -> None:
    site = site_of(crawl, "/a", "/private/x", "/t/t/t/t/t")
    crawl.run(OFFLINE)
    told = build(crawl, f"{OFFLINE}\nexclusions: [{{pattern: /private/}}]")
    assert told["refused"] == 2
    assert urls_of(Path(told["segments"][0]["path"])) == [site.url("/a")]


def with_redirect_and_noindex(crawl: Crawling) -> Site:
    """A site with a redirect and a noindex page, both naming what the scope refuses."""
    site = crawl.site().front("/moved", "/hidden", "/missing")
    site.redirect("/moved", "http://elsewhere.example.org/")
    site.page("/hidden", "http://elsewhere.example.org/a", head="<meta name=robots content=noindex>")
    return site


def test_what_an_online_crawl_has_judged_is_not_scanned_again(crawl: Crawling) -> None:
    """Neither its documents nor its redirects and noindex pages: each refusal is counted once."""
    site = with_redirect_and_noindex(crawl)
    crawl.run()
    assert site.asked == ["/", "/moved", "/hidden", "/missing"]
    assert crawl.refused() == {"scope": 2}
    told = build(crawl, "")
    assert (told["scanned"], told["found"], told["refused"], told["segments"]) == (0, 0, 0, [])
    assert crawl.refused() == {"scope": 2}


def test_redirects_and_noindex_pages_of_an_offline_crawl_are_scanned_once(crawl: Crawling) -> None:
    site = with_redirect_and_noindex(crawl)
    crawl.run(OFFLINE, seeds=[site.url("/moved"), site.url("/hidden")])
    assert crawl.refused() == {}
    for scanned in (2, 0):
        told = build(crawl)
        assert (told["scanned"], told["refused"]) == (scanned, scanned)
        assert crawl.refused() == {"scope": 2}


def test_a_page_that_an_online_crawl_has_seen_since_does_not_wait_for_a_build(crawl: Crawling) -> None:
    site = with_redirect_and_noindex(crawl)
    for mode in (OFFLINE, ""):
        crawl.run(mode, seeds=[site.url("/moved"), site.url("/hidden")])
        crawl.later(5 * WEEK)
    assert crawl.refused() == {"scope": 2}
    assert build(crawl)["scanned"] == 0
    assert crawl.refused() == {"scope": 2}


def test_a_page_that_fails_after_an_offline_crawl_still_waits_for_a_build(crawl: Crawling) -> None:
    site = with_redirect_and_noindex(crawl)
    seeds = [site.url("/moved"), site.url("/hidden")]
    crawl.run(OFFLINE, seeds=seeds)
    crawl.later(5 * WEEK)
    site.scripts.clear()
    crawl.run("", seeds=seeds)
    assert crawl.codes(seeds[0]) == ["permanent_redirect", "file_not_found"]
    assert build(crawl)["scanned"] == 2
    assert crawl.refused() == {"scope": 2}


def test_links_of_a_page_that_is_gone_wait_for_a_build_and_go_after_it(crawl: Crawling) -> None:
    site = crawl.site().pages("/found")
    crawl.run(OFFLINE)
    site.answer("/", Answer(404))
    for links, scanned in (1, 1), (0, 0):
        crawl.run(OFFLINE, later=5 * WEEK)
        assert crawl.value("SELECT count(*) FROM v_link") == links
        assert build(crawl)["scanned"] == scanned


def test_with_few_origins_left_the_rest_is_saved_as_a_segment_and_the_run_stops(crawl: Crawling) -> None:
    small, large = site_of(crawl), site_of(crawl, *(f"/{number}" for number in range(6)))
    ended = crawl.run("queue: {min_origins: 2}")
    assert ended.reason.value == "few_origins"
    assert small.asked == ["/"]
    assert len(large.asked) < 7
    (path,) = (crawl.folder / "segments").glob("*.segment")
    assert set(urls_of(path)) == {large.url(f"/{number}") for number in range(6)} - {
        large.url(one) for one in large.asked
    }
    assert crawl.value("SELECT finish_reason FROM v_run") == "few_origins"
    assert crawl.ask("queue", "load", str(path)).status == 0
    crawl.run(later=WEEK)
    assert len(large.asked) == 7


def test_with_few_origins_left_the_next_segment_is_loaded(crawl: Crawling) -> None:
    small, large = site_of(crawl), site_of(crawl, "/a", "/b")
    crawl.run(OFFLINE)
    build(crawl)
    small.page("/late")
    crawl.run("queue: {min_origins: 1, on_few_origins: load_next}", seeds=[small.url(), large.url()])
    assert set(large.asked) == {"/", "/a", "/b"}
    assert json.dumps(crawl.rows("SELECT finish_reason FROM v_run"))
