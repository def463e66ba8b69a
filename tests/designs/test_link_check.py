"""The link check: links that leave the crawl are asked whether they can be had, politely, and are never followed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest
from lxml import etree

from tests.designs.crawling import GONE, QUICK, WEEK, Crawling
from tests.designs.web import HTML, Answer, Site
from tests.storage.whole import assert_counted
from tui_crawler.domain.records.command import AddSeeds

CHECKED = "crawl: {check_external: true}"


def broken(crawl: Crawling, *words: str) -> dict[str, Any]:
    """What `links --broken` says of each URL."""
    return {one["url"]: one for one in crawl.ask("links", "--broken", *words, "--json").json["broken"]}


def methods(site: Site, path: str) -> list[str]:
    """How a path was asked for."""
    return [one.method for one in site.requests(path)]


def test_links_that_leave_the_crawl_are_asked_once_by_head_and_never_followed(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    far.page("/good?page=1", "/deeper")
    far.redirect("/moved", "/elsewhere")
    far.page("/secret")
    far.robots("User-agent: *\nDisallow: /secret")
    far.answer("/shy", Answer(405), Answer(body=b"x" * 100_000))
    far.answer("/dead", Answer(405), Answer(404))
    paths = ("/good?page=1", "/gone", "/moved", "/secret", "/shy", "/dead")
    home.page("/", *map(far.url, paths), "/two", "/out")
    home.page(
        "/two", far.url("/gone"), body=f'<a rel=nofollow href="{far.url("/followed-not")}">not <b>praised</b></a>'
    )
    home.redirect("/out", far.url("/by-redirect"))
    crawl.run(CHECKED, seeds=[home.url()])

    assert [methods(far, path) for path in paths] == [
        ["HEAD"],
        ["HEAD", "GET"],
        ["HEAD"],
        [],
        ["HEAD", "GET"],
        ["HEAD", "GET"],
    ]
    asked = {*paths, "/followed-not", "/by-redirect", "/elsewhere"} - {"/secret"}
    assert set(far.asked) == asked, "nothing that was found there but the end of a redirect"
    assert min(far.gaps) >= 1_000, "as polite as anywhere"
    codes = {path: crawl.page(far.url(path))["last_exit_code"] for path in paths}
    assert codes == {
        "/good?page=1": "file_ingested",
        "/gone": "file_not_found",
        "/moved": "permanent_redirect",
        "/secret": "blocked_by_robots_txt",
        "/shy": "file_ingested",
        "/dead": "file_not_found",
    }
    assert {row["kind"] for row in crawl.rows("SELECT kind FROM v_attempt WHERE url = ?", far.url("/dead"))} == {
        "check"
    }
    assert crawl.value("SELECT count(*) FROM v_document WHERE url LIKE ?", f"{far.origin}/%") == 0
    assert crawl.value("SELECT to_url FROM v_redirect WHERE from_url = ?", far.url("/moved")) == far.url("/elsewhere")
    assert crawl.value("SELECT max(cut) FROM attempt") == "", "nobody wanted the body"

    assert broken(crawl) == {}
    found = broken(crawl, "--external")
    assert set(found) == {far.url(path) for path in ("/gone", "/dead", "/followed-not", "/by-redirect", "/elsewhere")}
    assert found[far.url("/gone")]["external"] is True
    assert [one["url"] for one in found[far.url("/gone")]["referrers"]] == [home.url(), home.url("/two")]
    assert found[far.url("/followed-not")]["referrers"][0]["text"] == "not praised"
    assert found[far.url("/by-redirect")]["referrers"] == [
        {"url": home.url(), "kind": "a", "text": "/out", "chain": [home.url("/out")]}
    ]
    assert crawl.ask("audit", "--json").json["ok"] is True


def test_what_refuses_head_is_asked_by_get_though_pages_have_one_try(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/shy"), far.url("/dead"))
    far.answer("/shy", Answer(405), Answer())
    far.answer("/dead", Answer(405), Answer(404))
    crawl.run(f"crawl: {{check_external: true, tries: 1}}\n{QUICK}", seeds=[home.url()])
    assert [methods(far, path) for path in ("/shy", "/dead")] == [["HEAD", "GET"]] * 2
    assert set(broken(crawl, "--external")) == {far.url("/dead")}


def test_without_the_key_nothing_leaves_the_crawl(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/gone"))
    crawl.run(seeds=[home.url()])
    assert far.seen == []
    assert broken(crawl, "--external") == {}
    assert crawl.refused() == {"scope": 1}


def test_checks_are_no_pages_done_and_end_no_run_badly(crawl: Crawling) -> None:
    home, far, dead = crawl.site(), crawl.site(), crawl.site()
    home.page("/", far.url("/a"), far.url("/b"), dead.url("/x"), dead.url("/y"))
    far.page("/a")
    crawl.web.refuse(dead)
    ended = crawl.run(CHECKED, seeds=[home.url()])

    assert ended.gave_up == 0, "a site that is gone is a broken link, not an origin of this crawl that gave up"
    assert set(broken(crawl, "--external")) == {far.url("/b"), dead.url("/x"), dead.url("/y")}
    assert broken(crawl, "--external")[dead.url("/x")]["exit_code"] == "connection_failed"
    assert dict(crawl.heard.events[-1].extra)["pages_done"] == 1
    status = crawl.ask("status", "--json").json
    assert (status["totals"]["done"], status["totals"]["failed"]) == (1, 3)
    assert {one["origin"]: one["done"] for one in status["origins"]}[far.origin] == 1
    assert [row["external"] for row in crawl.rows("SELECT external FROM v_page ORDER BY url = ?", home.url())] == [
        1
    ] * 4 + [0]
    assert "it is checked, not crawled" in crawl.ask("why", far.url("/a")).out


def test_links_to_a_dead_site_that_are_found_late_count_in_the_summary_as_in_the_status(crawl: Crawling) -> None:
    home, dead = crawl.site(), crawl.site()
    paths = [f"/{number}" for number in range(40)]
    home.page("/", dead.url("/x"), *paths)
    for path in paths:
        home.page(path, *([dead.url("/late"), dead.url("/later")] if path == paths[-1] else []))
    crawl.web.refuse(dead)
    crawl.run(CHECKED, seeds=[home.url()])
    totals = crawl.ask("status", "--json").json["totals"]
    assert (dict(crawl.heard.events[-1].extra)["pages_failed"], totals["failed"]) == (3, 3)


def test_what_was_checked_is_asked_again_when_it_is_due(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/a"))
    far.page("/a")
    crawl.run(CHECKED, seeds=[home.url()])
    crawl.later(WEEK)
    home.page("/", far.url("/a"), "/two")
    crawl.run(
        CHECKED,
        seeds=[home.url()],
        crawl__force_recrawl=False,
        crawl__recrawl_interval="1 day",
        crawl__check_external=False,
    )
    assert methods(far, "/a") == ["HEAD"], "not wanted any more"
    crawl.run(CHECKED, seeds=[home.url()], later=WEEK)
    assert methods(far, "/a") == ["HEAD"], "not due yet"
    crawl.run(CHECKED, seeds=[home.url()], later=4 * WEEK)
    assert methods(far, "/a") == ["HEAD", "HEAD"]


def test_limits_of_the_crawl_hold_for_checks(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", *(far.url(f"/{number}") for number in range(4)), far.url("/no/1"), "/deep")
    home.page("/deep", far.url("/of-the-last-depth"))
    text = "crawl: {check_external: true, max_depth: 1, max_pages_per_origin: 4}\nexclusions: [{pattern: /no/}]"
    crawl.run(text, seeds=[home.url()])
    assert sorted(set(far.asked)) == ["/0", "/1", "/2", "/3"]
    assert crawl.refused() == {"exclusion": 1, "origin_full": 1}
    second = crawl.site()
    home.page("/deep", second.url("/of-the-last-depth"))
    crawl.run(text, seeds=[home.url()], crawl__force_recrawl=True)
    assert set(second.asked) == {"/of-the-last-depth"}


def test_an_origin_that_becomes_a_seed_is_crawled(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/a"))
    far.page("/a", "/b")
    far.page("/b")
    far.page("/", "/a")
    wished: list[int] = []

    def on_event(event: Any) -> None:
        if event.url == far.url("/a") and not wished:
            wished.append(crawl.steer(AddSeeds((far.url("/"),))))

    crawl.run(CHECKED, seeds=[home.url()], on_event=on_event, poll_ms=500)
    assert methods(far, "/a") == ["HEAD", "GET"]
    assert methods(far, "/b") == ["GET"]
    assert crawl.page(far.url("/a"))["external"] == 0
    crawl.run(CHECKED, seeds=[home.url()], crawl__force_recrawl=True, later=WEEK)
    assert methods(far, "/b") == ["GET", "GET"], "it stays one"


def test_a_killed_run_goes_on_with_its_checks(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/a"), far.url("/b"))

    def on_event(event: Any) -> None:
        if event.url == home.url():
            crawl.go_on_from_here()

    crawl.run(CHECKED, seeds=[home.url()], on_event=on_event, owner=GONE)
    far.seen.clear()
    crawl.run(CHECKED, seeds=[home.url()])
    assert sorted(set(far.asked)) == ["/a", "/b"]
    assert set(broken(crawl, "--external")) == {far.url("/a"), far.url("/b")}


def test_a_run_fails_on_what_it_is_told_to(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", "/gone", far.url("/gone"), far.url("/lost"))
    config = crawl.configure(f"{CHECKED}\n{QUICK}", [home.url()])
    with crawl.web.in_thread():
        run = ("run", str(config), "--db", str(crawl.database), "--json", "--new-run", "--fail-on")
        said = crawl.command(*run, "broken,external,gave_up,cut,slow=1m")
        fine = crawl.command(*run, "cut,gave_up")
        for wrong in ("brokn", "slow", "slow=x", "broken=1", ","):
            assert crawl.command(*run, wrong).status == 2, wrong
        assert "did you mean broken?" in crawl.command(*run, "brokn").err
    assert said.status == 1
    assert said.err == "tui-crawler: --fail-on: 1 broken, 2 external\n"
    last = json.loads(said.out.splitlines()[-1])
    assert last["event"] == "run_finished"
    assert last["fail_on"] == {"broken": 1, "external": 2, "gave_up": 0, "cut": 0, "slow": 0}
    assert (fine.status, fine.err) == (0, "")


EMBEDDED = "crawl: {check_embedded: true}"
KINDS = (
    "<img src=/img.png?v=3><link rel=stylesheet href=/style.css><script src=/script.js></script>"
    "<video src=/film.mp4></video><audio src=/sound.mp3></audio><img src=/fine.png>"
)


def test_what_pages_embed_is_checked_once_and_broken_by_its_kind(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", "/two", body=f"{KINDS}<img src={far.url('/far.png')}>")
    home.page("/two", body=KINDS)
    home.file("/fine.png", b"png", "image/png")
    crawl.run(EMBEDDED, seeds=[home.url()])

    found = broken(crawl)
    kinds = {url.removeprefix(home.origin): {each["kind"] for each in one["referrers"]} for url, one in found.items()}
    assert kinds == {
        "/img.png?v=3": {"img"},
        "/style.css": {"css"},
        "/script.js": {"script"},
        "/film.mp4": {"video"},
        "/sound.mp3": {"audio"},
    }
    assert len(found[home.url("/img.png?v=3")]["referrers"]) == 2
    assert not any(one["external"] for one in found.values())
    assert methods(home, "/fine.png") == ["HEAD"]
    assert methods(home, "/img.png?v=3") == ["HEAD", "GET"]
    assert min(home.gaps) >= 1_000, "as polite as anywhere"
    assert far.seen == [], "other hosts are checked with check_external"
    assert crawl.broken_counts() == {"broken": 5, "external": 0, "fragments": 0}
    audit = crawl.ask("report", "--json").json
    assert [audit[key]["total"] for key in ("broken", "broken_embedded", "broken_external", "walls")] == [0, 5, 0, 0]


def test_what_is_embedded_is_no_page_done(crawl: Crawling) -> None:
    home = crawl.site().front(body="<img src=/fine.png><img src=/gone.png>")
    home.file("/fine.png", b"png", "image/png")
    crawl.run(EMBEDDED, seeds=[home.url()])

    assert dict(crawl.heard.events[-1].extra)["pages_done"] == 1
    status = crawl.ask("status", "--json").json
    assert (status["totals"]["done"], status["origins"][0]["done"], status["totals"]["failed"]) == (1, 1, 1)
    assert crawl.value("SELECT done FROM v_job") == 1
    assert crawl.value("SELECT count(*) FROM v_document") == 1
    assert {row["kind"] for row in crawl.rows("SELECT kind FROM v_attempt WHERE url LIKE '%.png'")} == {"check"}
    assert crawl.page(home.url("/fine.png"))["external"] == 1
    assert "check_embedded" in crawl.ask("why", home.url("/fine.png")).out
    with closing(sqlite3.connect(crawl.database)) as database:
        assert_counted(lambda text: database.execute(text).fetchall())
    assert crawl.ask("replay", "--check", "--json").json["differences"] == []


def test_embedded_files_elsewhere_are_checked_with_check_external(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/gone"), body=f"<img src={far.url('/gone.png')}><img src={far.url('/fine.png')}>")
    far.file("/fine.png", b"png", "image/png")
    crawl.run("crawl: {check_embedded: true, check_external: true}", seeds=[home.url()])
    assert sorted(set(far.asked)) == ["/fine.png", "/gone", "/gone.png"]
    assert broken(crawl) == {}
    assert set(broken(crawl, "--external")) == {far.url("/gone"), far.url("/gone.png")}


def test_robots_exclusions_and_rules_hold_for_what_is_embedded(crawl: Crawling) -> None:
    home = crawl.site()
    home.robots("User-agent: *\nDisallow: /secret")
    home.page("/docs/", body="<img src=/secret/a.png><img src=/no/b.png><img src=/skip/c.png><img src=/pics/d.png>")
    text = f"{EMBEDDED}\nexclusions: [{{pattern: /no/}}]\nrules: [{{match: /skip/, skip: true}}]"
    text += f"\nsites: [{{origin: {home.origin!r}, start_path: /docs/}}]"
    crawl.run(text, seeds=[home.url("/docs/")])
    assert home.asked == ["/docs/", "/pics/d.png", "/pics/d.png"]
    assert crawl.refused() == {"exclusion": 1}


def test_failing_images_do_not_end_the_crawl_of_their_origin(crawl: Crawling) -> None:
    home = crawl.site()
    home.page("/", *(f"/{number}" for number in range(3)), body="".join(f"<img src=/{n}.png>" for n in range(8)))
    for number in range(3):
        home.page(f"/{number}")
    for number in range(8):
        home.answer(f"/{number}.png", Answer(500))
    ended = crawl.run(EMBEDDED, seeds=[home.url()])
    assert ended.gave_up == 0
    assert {f"/{number}" for number in range(3)} < set(home.asked)
    assert len(broken(crawl)) == 8
    assert crawl.ask("replay", "--check", "--json").json["differences"] == []


def test_an_image_that_is_linked_too_is_a_page(crawl: Crawling) -> None:
    home = crawl.site().front("/both.png", "/two", body="<img src=/both.png><img src=/later.png>")
    home.page("/two", "/later.png")
    for path in ("/both.png", "/later.png"):
        home.file(path, b"png", "image/png")
    crawl.run(EMBEDDED, seeds=[home.url()])
    assert methods(home, "/both.png") == ["GET"]
    assert methods(home, "/later.png") == ["HEAD", "GET"]
    assert crawl.page(home.url("/later.png"))["external"] == 0
    with closing(sqlite3.connect(crawl.database)) as database:
        assert_counted(lambda text: database.execute(text).fetchall())


def test_embedded_files_are_checked_again_when_due_and_only_while_that_is_wanted(crawl: Crawling) -> None:
    home = crawl.site().front(body="<img src=/a.png>")
    home.page("/a.png")
    for wanted, asked in ((True, 1), (False, 1), (True, 2)):
        crawl.run(seeds=[home.url()], crawl__check_embedded=wanted, crawl__force_recrawl=True)
        assert methods(home, "/a.png") == ["HEAD"] * asked
        crawl.later(WEEK)


FRAGMENTS = "crawl: {check_fragments: true}"
NOT_MADE = {
    "external": (FRAGMENTS, "crawl.check_external"),
    "fragments": (CHECKED, "crawl.check_fragments"),
    "external,broken": ("crawl: {check_external: true, mode: offline}", "crawl.mode"),
    "slow=2m": ("network: {total_timeout: 1m}", "network.total_timeout"),
}


@pytest.mark.parametrize("what", NOT_MADE)
def test_a_run_is_not_asked_to_fail_on_what_it_cannot_find(crawl: Crawling, what: str) -> None:
    site = crawl.site()
    text, key = NOT_MADE[what]
    said = crawl.live("--fail-on", what, text=f"{text}\n{QUICK}", seeds=[site.url()])
    assert said.status == 2
    assert key in said.err
    assert site.seen == []


def made(crawl: Crawling, *words: str) -> dict[str, tuple[str, str | None]]:
    """Status and key of the sections that a configuration can switch off, as JSON has them."""
    report = crawl.ask("report", "--json", *words).json
    assert {report[key]["status"] for key in ("broken", "redirect_loops", "noindex")} == {"checked"}
    sections = {key: report[key] for key in ("broken_embedded", "broken_external", "broken_fragments")}
    return {key: (one["status"], one.get("key")) for key, one in sections.items()}


def test_what_was_not_checked_is_shown_as_such_in_every_form(crawl: Crawling) -> None:
    site = crawl.site().front("/two#nowhere")
    site.page("/two")
    crawl.run()
    keys = {f"broken_{name}": f"crawl.check_{name}" for name in ("embedded", "external", "fragments")}
    assert made(crawl) == {name: ("not_checked", key) for name, key in keys.items()}
    for form in ("html", "md"):
        text = crawl.ask("report", "--format", form).out.replace("\\", "")
        assert all(text.count(f"not checked ({key})") == 2 for key in keys.values()), "in the verdict and in the list"
    suites = etree.fromstring(crawl.ask("report", "--format", "junit").raw)
    for name, key in keys.items():
        (case,) = suites.findall(f".//testcase[@classname='site_audit.{name}']")
        assert [(one.tag, key in one.get("message")) for one in case] == [("skipped", True)]
    (case,) = suites.findall(".//testcase[@classname='site_audit.broken']")
    assert list(case) == []

    crawl.run("crawl: {check_external: true, check_embedded: true, check_fragments: true}", later=5 * WEEK)
    assert {status for status, _ in made(crawl).values()} == {"checked"}
    assert "not checked" not in crawl.ask("report", "--format", "md").out
    assert made(crawl, "--run", "1")["broken_fragments"] == ("not_checked", "crawl.check_fragments")
    crawl.run(later=5 * WEEK)
    report = crawl.ask("report", "--json").json["broken_fragments"]
    assert (report["status"], report["total"]) == ("not_checked", 1), "what an earlier run found is still listed"


def test_pages_that_were_read_before_a_check_was_switched_on_are_not_checked(crawl: Crawling) -> None:
    """A server that says that a page did not change sends nothing to check."""
    site = crawl.site()
    kept = (("ETag", '"one"'), ("Content-Type", HTML))
    page = b"<!DOCTYPE html><title>t</title><p id=here><a href='/two#nowhere'>x</a>"
    for path in ("/", "/two"):
        site.answer(path, Answer(200, page, kept), Answer(304), Answer(200, page, kept))
    crawl.run()
    crawl.run(FRAGMENTS, later=5 * WEEK)
    assert made(crawl)["broken_fragments"] == ("partly_checked", "crawl.check_fragments")
    assert "not checked on 2 pages" in crawl.ask("links", "--broken").out
    said = crawl.live("--new-run", "--fail-on", "fragments", text=f"{FRAGMENTS}\n{QUICK}")
    assert said.status == 1, "what was not checked did not pass"
    assert "not checked on 2 pages" in said.err
    crawl.run(FRAGMENTS, crawl__force_recrawl=True)
    assert made(crawl)["broken_fragments"] == ("checked", None)
    assert list(missing(crawl)) == ["nowhere"]


def test_where_no_configuration_is_kept_it_is_not_known_what_was_checked(crawl: Crawling) -> None:
    crawl.site().front()
    crawl.run(FRAGMENTS)
    with closing(sqlite3.connect(crawl.database)) as database, database:
        database.execute("UPDATE run SET config_text = ''")
    assert made(crawl)["broken_fragments"] == ("unknown", "crawl.check_fragments")
    assert "not known whether checked (crawl.check_fragments)" in crawl.ask("links", "--broken").out


def test_broken_links_are_listed_with_what_was_not_looked_at(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", "/one", far.url("/gone"))
    home.page("/one")
    crawl.run("crawl: {check_external: true, max_requests: 2}", seeds=[home.url()])
    document = crawl.ask("links", "--broken", "--json").json
    assert document["broken"] == []
    assert document["not_checked"] == [
        {"check": name, "status": "not_checked", "key": f"crawl.check_{name}"} for name in ("embedded", "fragments")
    ]
    assert (document["external_left_out"], document["pending"]) == (0, 2)
    assert "2 pages not crawled yet" in crawl.ask("links", "--broken").out
    checks = "crawl: {check_external: true, check_embedded: true, check_fragments: true}"
    crawl.run(checks, seeds=[home.url()], crawl__force_recrawl=True)
    assert crawl.ask("links", "--broken").out.splitlines()[1:] == [
        "not looked at: 1 broken link to other sites (--external)"
    ]
    document = crawl.ask("links", "--broken", "--external", "--json").json
    assert (document["not_checked"], document["external_left_out"], document["pending"]) == ([], 0, 0)
    assert len(crawl.ask("links", "--broken", "--external").out.splitlines()) == 3


def missing(crawl: Crawling) -> dict[str, list[str]]:
    """The pages that name a fragment which is missing, by fragment."""
    found = crawl.ask("links", "--broken", "--json").json["broken"]
    return {one["fragment"]: [each["url"] for each in one["referrers"]] for one in found if one["fragment"]}


def test_fragments_are_checked_against_their_page(crawl: Crawling) -> None:
    site, far = crawl.site(), crawl.site()
    fine = (
        "/two#id",
        "/two#name",
        "/two#top",
        "/two#TOP",
        "/two#",
        "/two#%C3%BC",
        "/two#ü",
        "/two#50%25",
        "/two#a%20b",
    )
    fine += (
        "/two#:~:text=hello",
        "/two#id:~:text=hello",
        "/two#/route",
        "/two#!route",
        "#here",
        "/file#page=3",
        "/gone#x",
    )
    site.page("/", *fine, "/two#not", "/two#other", "/two#ID", "#nowhere", far.url("/#any"), body="<p id=here>")
    ids = '<p id=id><a name="name"></a><p id="ü"><p id="50%"><p id="a%20b"><p name="other">'
    site.page("/two", "/two#not", body=ids)
    site.file("/file", b"%PDF", "application/pdf")
    crawl.run(FRAGMENTS, seeds=[site.url()])
    assert missing(crawl) == {
        "not": [site.url(), site.url("/two")],
        "other": [site.url()],
        "ID": [site.url()],
        "nowhere": [site.url()],
    }
    one = next(each for each in crawl.ask("links", "--broken", "--json").json["broken"] if each["fragment"] == "not")
    assert (one["url"], one["exit_code"], one["http_status"]) == (site.url("/two"), "file_ingested", 200)
    assert one["referrers"][0] == {"url": site.url(), "kind": "a", "text": "/two#not", "chain": []}
    (more,) = [
        e for e in crawl.ask("links", "--broken", "--limit", "1", "--json").json["broken"] if e["fragment"] == "not"
    ]
    assert more["more_referrers"] == 1
    assert "no such fragment" in crawl.ask("links", "--broken").out
    assert crawl.broken_counts() == {"broken": 1, "external": 0, "fragments": 4}
    crawl.run("", seeds=[site.url()], crawl__force_recrawl=True, later=WEEK)
    assert crawl.value("SELECT count(*) FROM page_anchors") > 0, "what is known stays when the key is off"


def test_a_fragment_is_judged_anew_when_either_page_changes(crawl: Crawling) -> None:
    site = crawl.site().front("/two#a", "/two#b", "#c")
    site.page("/two", body="<p id=a>")

    def again() -> dict[str, list[str]]:
        crawl.run(FRAGMENTS, seeds=[site.url()], crawl__force_recrawl=True, later=WEEK)
        return missing(crawl)

    assert again() == {"b": [site.url()], "c": [site.url()]}
    site.page("/two", body="<p id=b>")
    assert again() == {"a": [site.url()], "c": [site.url()]}
    site.page("/", "/two#b", body="<p id=c>")
    assert again() == {}
    site.redirect("/two", "/three")
    site.page("/three")
    assert again() == {"b": [site.url()]}, "the redirect carries it on"
    site.page("/three", body="<p id=b>")
    assert again() == {}
    crawl.run(seeds=[site.url()], crawl__force_recrawl=True, later=WEEK)
    assert crawl.value("SELECT count(*) FROM fragment") == 1
    cut = "reading: {max_tags: 100}"
    site.page("/two", body="<p>" * 300)
    crawl.run(f"{FRAGMENTS}\n{cut}", seeds=[site.url()], crawl__force_recrawl=True, later=WEEK)
    assert missing(crawl) == {}, "of a page that was not read to its end it is not known what is there"


HEAD_ERRORS = {
    "/400": Answer(400),
    "/401": Answer(401),
    "/404": Answer(404),
    "/410": Answer(410),
    "/429": Answer(429),
    "/503": Answer(503),
    "/520": Answer(520),
    "/close": Answer(raw=b"", end="close"),
    "/garbage": Answer(raw=b"not http at all\r\n\r\n", end="close"),
    "/late": Answer(takes_ms=70_000),
    "/no-location": Answer(301),
    "/itself": Answer(302, headers=(("Location", "/itself"),)),
}


@pytest.mark.parametrize("path", HEAD_ERRORS)
def test_head_calls_no_link_broken(crawl: Crawling, path: str) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url(path), body=f"<img src={home.url(path)}>")
    fluke = 2 if path == "/close" else 1
    for site in (home, far):
        site.answer(path, *[HEAD_ERRORS[path]] * fluke, Answer(body=b"x" * 100))
    crawl.run("crawl: {check_external: true, check_embedded: true, tries: 1}", seeds=[home.url()])
    assert broken(crawl, "--external") == {}
    for site in (home, far):
        assert methods(site, path) == ["HEAD"] * fluke + ["GET"]
        assert site.requests(path)[-1].at - site.requests(path)[-2].ended >= 1_000, "GET waits for the delay"
    status = crawl.ask("status", "--json").json
    assert {one["patience"] for one in status["origins"]} == {5}, "a check costs no patience"
    assert crawl.ask("audit", "--json").json["ok"] is True
    assert crawl.ask("replay", "--check", "--json").json["differences"] == []


def test_a_host_whose_head_was_wrong_twice_is_asked_by_get_only(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    paths = [f"/{number}" for number in range(6)]
    home.page("/", *map(far.url, paths))
    for path in paths:
        far.answer(path, Answer(404), Answer())
    for path in paths[2:]:
        far.answer(path, Answer())
    crawl.run(CHECKED, seeds=[home.url()])
    assert [methods(far, path) for path in paths] == [["HEAD", "GET"]] * 2 + [["GET"]] * 4
    crawl.run(CHECKED, seeds=[home.url()], crawl__force_recrawl=True, later=WEEK)
    assert methods(far, paths[3]) == ["GET", "HEAD"], "until the run is over"


def test_links_that_are_dead_cost_a_living_host_nothing(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", *(far.url(f"/{number}") for number in range(8)), far.url("/good"))
    for number in range(8):
        far.answer(f"/{number}", Answer(raw=b"", end="close") if number % 2 else Answer(500))
    far.page("/good")
    crawl.run(CHECKED, seeds=[home.url()])
    assert set(broken(crawl, "--external")) == {far.url(f"/{number}") for number in range(8)}
    assert crawl.page(far.url("/good"))["last_exit_code"] == "file_ingested"


def test_a_host_that_is_down_is_given_up_after_a_few_links(crawl: Crawling) -> None:
    home, dead = crawl.site(), crawl.site()
    home.page("/", *(dead.url(f"/{number}") for number in range(30)))
    crawl.web.refuse(dead)
    crawl.run(CHECKED, seeds=[home.url()])
    assert crawl.value("SELECT count(*) FROM v_attempt WHERE url LIKE ? AND requests > 0", f"{dead.origin}%") <= 6
    assert len(broken(crawl, "--external")) == 30


def test_a_check_that_is_broken_off_between_head_and_get_is_not_called_broken(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/a"))
    far.answer("/a", Answer(404), Answer())
    crawl.run("crawl: {check_external: true, max_requests: 4}", seeds=[home.url()])
    assert methods(far, "/a") == ["HEAD"]
    assert broken(crawl, "--external") == {}
    assert crawl.ask("links", "--broken", "--json").json["pending"] == 1
    with closing(sqlite3.connect(crawl.database)) as database:
        assert_counted(lambda text: database.execute(text).fetchall())
    crawl.run(CHECKED, seeds=[home.url()])
    assert methods(far, "/a") == ["HEAD", "GET"]
    assert crawl.page(far.url("/a"))["last_exit_code"] == "file_ingested"


def named(one: dict[str, Any]) -> list[tuple[str, ...]]:
    """How and by what a broken link is named, with the hops that lead from there to it."""
    return [(each["kind"], each["url"], *each["chain"]) for each in one["referrers"]]


def test_a_link_to_another_site_is_as_good_as_the_end_of_its_redirects(crawl: Crawling) -> None:
    home, far, other, down = crawl.site(), crawl.site(), crawl.site(), crawl.site()
    paths = ("/to-dead", "/to-good", "/long", "/login", "/to-home", "/to-down", "/to-secret", "/refresh")
    home.page("/", *map(far.url, paths), "/known")
    home.page("/known")
    far.redirect("/to-dead", "/step")
    far.redirect("/step", other.url("/dead"), 302)
    far.redirect("/to-good", "/good")
    far.page("/good", "/never")
    far.redirect("/long", "/hop/1")
    for number in range(1, 9):
        far.redirect(f"/hop/{number}", f"/hop/{number + 1}")
    far.page("/hop/9")
    far.redirect("/login", other.url("/signin?next=x"), 307)
    other.page("/signin?next=x")
    far.redirect("/to-home", home.url("/known"))
    far.redirect("/to-down", down.url("/x"))
    far.redirect("/to-secret", other.url("/secret"))
    far.page("/refresh", head='<meta http-equiv=refresh content="0;url=/never">')
    other.robots("User-agent: *\nDisallow: /secret")
    crawl.web.refuse(down)
    crawl.run("crawl: {check_external: true, max_redirect_hops: 10}", seeds=[home.url()])

    found = broken(crawl, "--external")
    assert set(found) == {other.url("/dead"), down.url("/x")}
    assert named(found[other.url("/dead")]) == [("a", home.url(), far.url("/to-dead"), far.url("/step"))]
    assert found[other.url("/dead")]["external"] is True
    assert named(found[down.url("/x")]) == [("a", home.url(), far.url("/to-down"))]
    assert far.requests("/never") == other.requests("/secret") == []
    assert methods(home, "/known") == ["GET"], "a page of the crawl is not asked twice"
    assert min(*far.gaps, *other.gaps) >= 1_000, "each hop waits for its host"
    document = crawl.ask("links", "--broken", "--external", "--json").json
    assert document["refused"] == {"blocked_by_robots_txt": 1}
    assert "1 URL refused: blocked_by_robots_txt" in crawl.ask("links", "--broken").out
    report = crawl.ask("report", "--json").json["broken_external"]
    assert {row["url"] for row in report["rows"]} == set(found)
    assert crawl.ask("audit", "--json").json["ok"] is True
    assert crawl.ask("replay", "--check", "--json").json["differences"] == []


def test_redirects_in_a_circle_are_one_broken_link(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/into"), far.url("/self"))
    far.redirect("/into", "/one")
    far.redirect("/one", "/two")
    far.redirect("/two", "/one")
    far.redirect("/self", "/self")
    crawl.run(CHECKED, seeds=[home.url()])
    found = broken(crawl, "--external")
    assert len(found) == 2
    assert named(found[far.url("/self")]) == [("a", home.url())]
    (other,) = (one for url, one in found.items() if url != far.url("/self"))
    assert other["external"] is True
    assert set(other["leads_to"]) == {far.url("/one"), far.url("/two")}
    assert named(other)[0][:3] == ("a", home.url(), far.url("/into"))
    assert crawl.broken_counts()["external"] == 2
    assert broken(crawl) == {}


def test_a_redirect_without_end_ends_after_its_hops(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/0"))
    for number in range(30):
        far.redirect(f"/{number}", f"/{number + 1}")
    crawl.run("crawl: {check_external: true, max_redirect_hops: 10}", seeds=[home.url()])
    assert len(far.asked) == 11
    (found,) = broken(crawl, "--external").values()
    assert (found["url"], found["exit_code"], found["external"]) == (far.url("/11"), "redirect_hops", True)
    assert named(found)[0][:3] == ("a", home.url(), far.url("/0"))
    assert crawl.ask("links", "--broken", "--json").json["refused"] == {"redirect_not_followed": 1}


def test_a_redirect_to_a_private_address_is_refused_and_not_dead(crawl: Crawling) -> None:
    home, far, inside = crawl.site(), crawl.site(), crawl.site("127.0.0.3")
    home.page("/", far.url("/to-private"))
    far.redirect("/to-private", inside.url("/admin"))
    crawl.run(CHECKED, seeds=[home.url()])
    assert inside.seen == []
    assert broken(crawl, "--external") == {}
    assert crawl.ask("links", "--broken", "--json").json["refused"] == {"blocked_address": 1}


def test_an_embedded_file_is_followed_on_its_own_host_only(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", body="<img src=/a.png><img src=/b.png>")
    home.redirect("/a.png", "/gone.png")
    home.redirect("/b.png", far.url("/b.png"))
    crawl.run(EMBEDDED, seeds=[home.url()])
    assert far.seen == []
    assert crawl.ask("links", "--broken", "--json").json["refused"] == {"redirect_not_followed": 1}
    found = broken(crawl)
    assert named(found[home.url("/gone.png")]) == [("img", home.url(), home.url("/a.png"))]
    assert crawl.page(home.url("/gone.png"))["external"] == 1


WALLS = (401, 403, 405, 407, 429, 451, 999)


def test_walls_are_no_broken_links(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", *(far.url(f"/{status}") for status in (*WALLS, 404)), body="<img src=/403.png>")
    home.answer("/403.png", Answer(403))
    for status in WALLS:
        far.answer(f"/{status}", Answer(status))
    text = f"crawl: {{check_external: true, check_embedded: true}}\n{QUICK}"
    said = crawl.live("--json", "--fail-on", "broken,external", text=text, seeds=[home.url()])
    assert json.loads(said.out.splitlines()[-1])["fail_on"] == {"broken": 0, "external": 1}
    document = crawl.ask("links", "--broken", "--external", "--json").json
    assert [one["url"] for one in document["broken"]] == [far.url("/404")]
    walls = {one["url"]: one for one in document["walls"]}
    assert set(walls) == {home.url("/403.png"), *(far.url(f"/{status}") for status in WALLS)}
    assert walls[far.url("/999")]["http_status"] == 999
    assert named(walls[far.url("/401")]) == [("a", home.url())]
    assert [one["url"] for one in crawl.ask("links", "--broken", "--json").json["walls"]] == [home.url("/403.png")]
    text = crawl.ask("links", "--broken", "--external").out
    assert all(far.url(f"/{status}") in text for status in WALLS)
    report = crawl.ask("report", "--json").json
    assert (report["broken_external"]["total"], report["broken_embedded"]["total"]) == (1, 0)
    assert (report["walls"]["total"], report["walls"]["severity"]) == (8, "notice")


def test_a_host_whose_robots_txt_fails_has_no_dead_links(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/a"))
    far.answer("/robots.txt", Answer(500))
    crawl.run(CHECKED, seeds=[home.url()])
    assert far.asked == []
    assert broken(crawl, "--external") == {}
    assert crawl.ask("links", "--broken", "--json").json["refused"] == {"blocked_by_robots_txt": 1}


def test_a_fragment_is_checked_where_redirects_lead(crawl: Crawling) -> None:
    site, other = crawl.site(), crawl.site()
    fine = ("/moved#id", "/moved", "/twice#id", "/to-id", "/to-id#gone", "/away#id", "/refresh#not-carried", "/dead#x")
    bad = ("/moved#gone", "/twice#far", "/to-lost", "/to-lost2#id", "/away#other", "/refreshed", "/chain")
    site.page("/", "/t", *fine, *bad)
    site.page("/t", body="<p id=id>")
    other.page("/", "/u")
    other.page("/u", body="<p id=id>")
    site.redirect("/moved", "/t")
    site.redirect("/twice", "/moved", 302)
    site.redirect("/to-id", "/t#id")
    site.redirect("/to-lost", "/t#lost")
    site.redirect("/to-lost2", "/t#lost2")
    site.redirect("/away", other.url("/u"))
    site.redirect("/dead", "/gone")
    site.redirect("/chain", "/to-lost3")
    site.redirect("/to-lost3", "/t#lost3")
    site.page("/refresh", head='<meta http-equiv=refresh content="0;url=/t">')
    site.page("/refreshed", head='<meta http-equiv=refresh content="0;url=/t#after">')
    crawl.run(FRAGMENTS, seeds=[site.url(), other.url()])

    found = {(one["url"], one["fragment"]): named(one) for one in fragments(crawl)}
    a = ("a", site.url())
    assert found == {
        (site.url("/moved"), "gone"): [a],
        (site.url("/twice"), "far"): [a],
        (site.url("/away"), "other"): [a],
        (site.url("/t"), "lost"): [(*a, site.url("/to-lost"))],
        (site.url("/t"), "lost2"): [(*a, site.url("/to-lost2"))],
        (site.url("/t"), "lost3"): [(*a, site.url("/chain"), site.url("/to-lost3"))],
        (site.url("/t"), "after"): [(*a, site.url("/refreshed"))],
    }
    assert crawl.broken_counts()["fragments"] == len(found)
    assert crawl.ask("report", "--json").json["broken_fragments"]["total"] == len(found)
    assert f"{site.url('/moved')}#gone" in crawl.ask("links", "--broken").out
    crawl.later(WEEK)
    site.page("/t", body="".join(f"<p id={name}>" for name in ("id", "gone", "far", "lost", "lost2", "lost3", "after")))
    crawl.run(FRAGMENTS, seeds=[site.url(), other.url()], crawl__force_recrawl=True)
    assert [one["fragment"] for one in fragments(crawl)] == ["other"]


def fragments(crawl: Crawling) -> list[dict[str, Any]]:
    """The fragments that are missing."""
    return [one for one in crawl.ask("links", "--broken", "--json").json["broken"] if one["fragment"]]


def test_coverage_and_report_count_pages_and_no_checks(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.robots("User-agent: *\nDisallow: /secret")
    images = "<img src=/gone.png><img src=/secret.png><img src=/fine.png>"
    home.page("/", "/gone", "/secret", far.url("/a"), far.url("/gone"), body=images)
    home.file("/fine.png", b"png", "image/png")
    far.page("/a")
    crawl.run("crawl: {check_embedded: true, check_external: true}", seeds=[home.url()])
    status, report = crawl.ask("status", "--json").json, crawl.ask("report", "--json").json
    pages = {name: report["coverage"]["pages"][name] for name in ("crawled", "failed", "refused")}
    assert pages == {"crawled": 1, "failed": 1, "refused": 1}
    assert [(one["reason"], one["count"]) for one in report["coverage"]["refused"]] == [("blocked_by_robots_txt", 1)]
    assert report["summary"]["done"] == status["totals"]["done"] == 1


def redirecting(site: Site, *paths: str) -> None:
    """Each path redirects to the next."""
    for path, target in pairwise(paths):
        site.redirect(path, target)


def broken_by_url(crawl: Crawling) -> dict[str, Any]:
    """What `links --broken` says of each URL; it agrees with the counts that `run --fail-on` goes by."""
    found = crawl.ask("links", "--broken", "--json").json["broken"]
    assert crawl.broken_counts()["broken"] == len(found)
    return {one["url"]: one for one in found}


def test_a_chain_of_redirects_that_ends_dead_names_the_page_with_the_link_and_every_hop(crawl: Crawling) -> None:
    site = crawl.site().front("/old", "/h2")
    redirecting(site, "/old", "/h1", "/h2", "/h3", "/dead")
    crawl.run()
    (found,) = broken_by_url(crawl).values()
    assert (found["url"], found["exit_code"]) == (site.url("/dead"), "file_not_found")
    chains = {one["text"]: one["chain"] for one in found["referrers"]}
    hops = [site.url(path) for path in ("/old", "/h1", "/h2", "/h3")]
    assert chains == {"/old": hops, "/h2": hops[2:]}
    assert {one["url"] for one in found["referrers"]} == {site.url()}
    for words in (("links", "--broken"), ("failures", "--list", "--referrers")):
        lines = crawl.ask(*words).out.splitlines()
        assert any(all(url in line for url in (site.url(), *hops)) for line in lines), words
    (row,) = crawl.ask("report", "--json").json["broken"]["rows"]
    assert hops in [one["chain"] for one in row["referrers"]]


def test_a_seed_that_redirects_to_a_dead_page_is_named_itself(crawl: Crawling) -> None:
    site = crawl.site()
    redirecting(site, "/", "/h1", "/dead")
    crawl.run()
    (found,) = broken_by_url(crawl).values()
    assert found["referrers"] == [{"url": site.url(), "kind": "location", "text": "", "chain": [site.url("/h1")]}]


def test_a_loop_of_redirects_is_one_broken_link(crawl: Crawling) -> None:
    site = crawl.site().front("/in", "/b")
    redirecting(site, "/in", "/a", "/b", "/c", "/a")
    crawl.run()
    (found,) = broken_by_url(crawl).values()
    assert found["http_status"] == 301
    assert found["leads_to"][-1] == found["url"]
    assert {*found["leads_to"]} == {site.url(path) for path in ("/a", "/b", "/c")}
    assert {one["url"] for one in found["referrers"]} == {site.url()}
    assert any(site.url("/in") in one["chain"] for one in found["referrers"])
    assert found["url"] in crawl.ask("links", "--broken").out
    assert crawl.ask("report", "--json").json["redirect_loops"]["total"] == 1


def test_a_loop_is_said_at_the_end_of_a_run(crawl: Crawling) -> None:
    site = crawl.site().front("/a")
    redirecting(site, "/a", "/b", "/a")
    crawl.run()
    coverage = crawl.ask("status", "--json").json["coverage"]
    assert coverage["complete"] is False
    assert [(one["reason"], one["sample_url"]) for one in coverage["refused"]] == [("redirect_loop", site.url("/a"))]
    assert site.asked == ["/", "/a", "/b"]


def test_a_chain_that_is_too_long_names_every_hop_and_where_it_was_cut(crawl: Crawling) -> None:
    site = crawl.site()
    paths = [f"/h{number}" for number in range(9)]
    site.page("/", "/h0", "/fine")
    redirecting(site, *paths)
    redirecting(site, "/fine", "/f1", "/f2", "/f3", "/end")
    site.page("/end")
    site.page("/h8")
    crawl.run("crawl: {max_redirect_hops: 5}")
    (found,) = broken_by_url(crawl).values()
    assert (found["url"], found["exit_code"], found["http_status"]) == (site.url("/h6"), "redirect_hops", None)
    (referrer,) = found["referrers"]
    assert (referrer["url"], referrer["chain"]) == (site.url(), [site.url(path) for path in paths[:6]])
    crawl.run("crawl: {max_redirect_hops: 10}", later=5 * WEEK)
    assert "/h8" in site.asked
    assert broken_by_url(crawl) == {}


def test_a_link_to_a_cookie_wall_is_not_broken(crawl: Crawling) -> None:
    home, far = crawl.site(), crawl.site()
    home.page("/", far.url("/itself"), far.url("/wall"))
    sets = Answer(302, headers=(("Location", "/itself"), ("Set-Cookie", "ok=1; Path=/")))
    far.answer("/itself", sets, Answer())
    far.answer("/wall", Answer(302, headers=(("Location", "/gate"), ("Set-Cookie", "ok=2; Path=/"))), Answer())
    far.redirect("/gate", "/wall", 302)
    crawl.run(CHECKED, seeds=[home.url()])
    assert broken(crawl, "--external") == {}
    assert [one.header("Cookie") for one in far.requests("/wall")] == [None, "ok=2"]
    assert min(far.gaps) >= 1_000
