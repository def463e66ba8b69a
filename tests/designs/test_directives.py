"""What a page says to crawlers (U): canonical, noindex, nofollow; and redirect records."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import HTML, Answer, Site
from tui_crawler.cli.run_watch import summary
from tui_crawler.domain.history.run_totals import RunTotals


@dataclass(frozen=True)
class Case:
    """Where the directives of a page stand, and whether it is then kept and its links followed."""

    head: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    index: bool = True
    follow: bool = True


def in_meta(name: str, content: str) -> str:
    """A meta element."""
    return f'<meta name="{name}" content="{content}">'


def in_header(value: str) -> tuple[tuple[str, str], ...]:
    """An X-Robots-Tag."""
    return (("X-Robots-Tag", value),)


CASES = {
    "meta-noindex": Case(in_meta("robots", "noindex"), index=False),
    "meta-in-capitals": Case(in_meta("ROBOTS", "NoIndex, follow"), index=False),
    "named-meta-noindex": Case(in_meta("designs-crawler", "noindex"), index=False),
    "header-noindex": Case(headers=in_header("noindex"), index=False),
    "header-agent-noindex": Case(headers=in_header("designs-crawler: noindex"), index=False),
    "header-second-agent": Case(headers=in_header("otherbot: nofollow, designs-crawler: noindex"), index=False),
    "meta-nofollow": Case(in_meta("robots", "nofollow"), follow=False),
    "named-meta-nofollow": Case(in_meta("designs-crawler", "nofollow"), follow=False),
    "header-nofollow": Case(headers=in_header("nofollow"), follow=False),
    "header-agent-nofollow": Case(headers=in_header("designs-crawler: nofollow"), follow=False),
    "header-unavailable": Case(headers=in_header("unavailable_after: 25 Jun 2010 15:00:00 PST"), index=False),
    "meta-unavailable": Case(in_meta("robots", "unavailable_after: 2010-06-25"), index=False),
    "header-available": Case(headers=in_header("unavailable_after: 25 Jun 2099 15:00:00 GMT")),
    "header-unavailable-to-another": Case(headers=in_header("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST")),
    "none": Case(in_meta("robots", "none"), index=False, follow=False),
    "both-places": Case(in_meta("robots", "noindex"), in_header("nofollow"), index=False, follow=False),
    "named-meta-of-another": Case(in_meta("otherbot", "noindex, nofollow")),
    "header-of-another": Case(headers=in_header("otherbot: noindex, nofollow")),
    "another-meta": Case(in_meta("description", "noindex")),
}
REDIRECTS = {
    "301": (Answer(301, headers=(("Location", "/to#part"),)), "permanent_redirect", 1, "location"),
    "308": (Answer(308, headers=(("Location", "/to#part"),)), "permanent_redirect", 1, "location"),
    "302": (Answer(302, headers=(("Location", "/to#part"),)), "redirect", 0, "location"),
    "header": (
        Answer(200, b"<p>", (("Content-Type", HTML), ("Refresh", "3; url=/to#part"))),
        "redirect",
        0,
        "refresh_header",
    ),
    "meta": (
        Answer(200, b'<meta http-equiv=refresh content="0;url=/to#part">', (("Content-Type", HTML),)),
        "redirect",
        0,
        "meta_refresh",
    ),
}  # fmt: skip


def index(crawl: Crawling, head: str = "", *headers: tuple[str, str]) -> Site:
    """A site whose front page links to /it, which has these directives and links to /next."""
    site = crawl.site().front("/it")
    site.page("/it", "/next", head=head, headers=headers)
    site.page("/next")
    return site


@pytest.fixture(scope="module")
def obeyed(shared_crawl: Crawling) -> tuple[Crawling, dict[str, Site]]:
    """One crawl of a site for each case."""
    sites = {name: index(shared_crawl, case.head, *case.headers) for name, case in CASES.items()}
    for name, (answer, _, _, _) in REDIRECTS.items():
        sites[name] = shared_crawl.site()
        sites[name].answer("/", answer)
        sites[name].page("/to")
    shared_crawl.run()
    return shared_crawl, sites


@pytest.mark.parametrize("name", CASES)
def test_a_page_is_kept_and_its_links_followed_as_it_says(obeyed: tuple[Crawling, dict[str, Site]], name: str) -> None:
    """noindex drops the result and keeps the links; the links of a nofollow page are recorded and not followed."""
    (crawl, sites), case = obeyed, CASES[name]
    site = sites[name]
    page = crawl.page(site.url("/it"))
    wanted = ("file_ingested", "/it") if case.index else ("noindex", "")
    assert (page["last_exit_code"], page["title"]) == wanted
    assert site.asked == (["/", "/it", "/next"] if case.follow else ["/", "/it"])
    links = crawl.rows("SELECT to_url, nofollow FROM v_link WHERE from_url = ?", site.url("/it"))
    assert links == [{"to_url": site.url("/next"), "nofollow": int(not case.follow)}]


@pytest.mark.parametrize("name", REDIRECTS)
def test_a_redirect_is_recorded_with_permanence_fragment_and_source(
    obeyed: tuple[Crawling, dict[str, Site]], name: str
) -> None:
    (crawl, sites), (_, code, permanent, source) = obeyed, REDIRECTS[name]
    site = sites[name]
    assert crawl.codes(site.url()) == [code]
    (row,) = crawl.rows("SELECT * FROM v_redirect WHERE from_url = ?", site.url())
    assert row["to_url"] == site.url("/to")
    assert (row["to_fragment"], row["permanent"], row["source"]) == ("part", permanent, source)
    assert site.asked == ["/", "/to"], "the target is queued, not followed"


def test_a_nofollow_page_is_named_as_the_cause(crawl: Crawling) -> None:
    """At the end of the run with the page, and by `why` of what it links to."""
    site = crawl.site().front("/deep")
    site.page("/deep", "/a", "/b", head=in_meta("robots", "nofollow"))
    crawl.run()
    (group,) = crawl.ask("status", "--json").json["coverage"]["refused"]
    assert (group["reason"], group["count"], group["sample_url"]) == ("nofollow", 2, site.url("/deep"))
    assert site.url("/deep") in crawl.ask("status").out
    why = crawl.ask("why", site.url("/a"), "--json").json
    assert (why["verdict"], why["known"]) == ("not_queued", False)
    told = crawl.ask("why", site.url("/a")).out
    assert site.url("/deep") in told
    assert "crawl.obey_nofollow: false" in told, "what could be done"


def of_own(*sites: Site, **switched_off: bool) -> str:
    """A configuration in which these sites are the operator's own."""
    keys = ", ".join(f"{key}: false" for key in switched_off)
    return f"own_sites: [{', '.join(repr(site.origin) for site in sites)}]\ncrawl: {{{keys}}}"


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not (case.index and case.follow)])
def test_noindex_and_nofollow_have_no_effect_on_own_sites(crawl: Crawling, name: str) -> None:
    mine, other = (index(crawl, CASES[name].head, *CASES[name].headers) for _ in range(2))
    crawl.run(of_own(mine, obey_nofollow=False))
    assert mine.asked == ["/", "/it", "/next"]
    page = crawl.page(mine.url("/it"))
    assert (page["last_exit_code"], page["title"]) == ("file_ingested", "/it")
    assert other.asked == (["/", "/it", "/next"] if CASES[name].follow else ["/", "/it"]), "others are obeyed"
    assert crawl.page(other.url("/it"))["last_exit_code"] == ("file_ingested" if CASES[name].index else "noindex")
    message = crawl.value("SELECT message FROM v_attempt WHERE url = ?", mine.url("/it"))
    assert "crawl.obey_nofollow" in message
    assert mine.origin in crawl.ask("status", "--json").json["coverage"]["waived"]
    assert "Rules switched off" in crawl.ask("report", "--format", "md", "--output", "-").out


def test_links_marked_nofollow_are_followed_on_own_sites(crawl: Crawling) -> None:
    site = crawl.site().front(body='<a rel="nofollow" href="/yes">n</a>')
    site.page("/yes", "/dead")
    crawl.run(of_own(site, obey_nofollow=False))
    assert site.asked == ["/", "/yes", "/dead"]
    assert crawl.page(site.url("/dead"))["depth"] == 2


def test_rel_nofollow_links_are_recorded_and_not_queued(crawl: Crawling) -> None:
    site = crawl.site().front(body='<a rel="nofollow noopener" href="/no">n</a><a href="/yes">y</a>')
    site.page("/yes")
    crawl.run()
    assert site.asked == ["/", "/yes"]
    links = crawl.rows("SELECT to_url, nofollow FROM v_link ORDER BY to_url")
    assert [(row["to_url"], row["nofollow"]) for row in links] == [(site.url("/no"), 1), (site.url("/yes"), 0)]


@pytest.mark.parametrize("where", ["element", "header"])
def test_a_page_that_is_not_canonical_is_dropped_and_its_canonical_queued(crawl: Crawling, where: str) -> None:
    head = '<link rel="canonical" href="/right">' if where == "element" else ""
    headers = (("Link", '</right>; rel="canonical"'),) if where == "header" else ()
    site = index(crawl, head, *headers)
    site.page("/right")
    crawl.run()
    assert site.asked == ["/", "/it", "/right"], "its links are not queued"
    assert crawl.codes(site.url("/it")) == ["not_canonical"]
    assert crawl.page(site.url("/it"))["title"] == ""
    assert crawl.rows("SELECT * FROM v_link WHERE from_url = ?", site.url("/it")) == []
    (row,) = crawl.rows("SELECT to_url, permanent, source FROM v_redirect")
    assert row == {"to_url": site.url("/right"), "permanent": 1, "source": "canonical"}


@pytest.mark.parametrize(
    ("rule", "dropped"), [("obey", {"/far", "/near"}), ("same_origin", {"/near"}), ("ignore", set())]
)
def test_which_canonicals_are_obeyed_can_be_chosen(crawl: Crawling, rule: str, dropped: set[str]) -> None:
    site = crawl.site().front("/far", "/near")
    site.page("/far", "/on", head='<link rel="canonical" href="https://production.example/far">')
    site.page("/near", head='<link rel="canonical" href="/on">')
    site.page("/on")
    crawl.run(f"crawl: {{canonical: {rule}}}")
    for path in ("/far", "/near"):
        assert crawl.codes(site.url(path)) == ["not_canonical" if path in dropped else "file_ingested"]
    named = crawl.rows("SELECT canonical FROM v_document WHERE url = ?", site.url("/far"))
    assert named == ([] if "/far" in dropped else [{"canonical": "https://production.example/far"}])
    assert ("/on" in site.asked) == (rule != "ignore" or "/far" not in dropped)


@pytest.mark.parametrize("pages", [19, 20])
def test_an_origin_whose_pages_name_another_one_is_warned_of(crawl: Crawling, pages: int) -> None:
    """Status, console and the summary of the run say so from twenty pages on, with the key to change."""
    site = crawl.site()
    paths = [f"/{number}" for number in range(pages)]
    site.page("/", *paths)
    for path in paths:
        site.page(path, head='<link rel="canonical" href="https://production.example/">')
    told = RunTotals()
    crawl.run(on_event=told.take)
    (row,) = crawl.ask("status", "--json").json["origins"]
    assert row["not_canonical"] == pages
    assert ("crawl.canonical: same_origin" in row["warning"]) == (pages == 20)
    for lines, name in (
        (summary(told), site.origin),
        (crawl.ask("status").out.splitlines(), site.origin.removeprefix("http://")),
    ):
        warned = [line for line in lines if line.startswith("⚠")]
        assert warned == ([f"⚠ {name}: {row['warning']}"] if pages == 20 else [])


def test_a_page_that_is_canonical_itself_stays(crawl: Crawling) -> None:
    site = index(crawl, '<link rel="canonical" href="/it">')
    crawl.run()
    assert crawl.codes(site.url("/it")) == ["file_ingested"]


def test_a_redirect_is_queued_for_its_own_origin(crawl: Crawling) -> None:
    site, other, stranger = crawl.site(), crawl.site(), crawl.site()
    site.page("/", "/in", "/out")
    site.redirect("/in", other.url("/target"))
    site.redirect("/out", stranger.url("/target"))
    other.page("/")
    other.page("/target")
    crawl.run(seeds=[site.url(), other.url()])
    assert other.asked == ["/", "/target"]
    assert stranger.seen == []
    assert crawl.refused() == {"scope": 1}


def test_redirects_in_a_row_are_queued_up_to_a_limit(crawl: Crawling) -> None:
    site = crawl.site()
    site.redirect("/", "/1")
    site.page("/1", head='<link rel="canonical" href="/2">')
    for number in range(2, 14):
        site.redirect(f"/{number}", f"/{number + 1}")
    crawl.run()
    assert site.asked == ["/", *(f"/{number}" for number in range(1, 11))], "a canonical counts as a hop"
    assert crawl.refused() == {"redirect_hops": 1}
    (row,) = crawl.rows("SELECT origin, reason, sample_url FROM v_refused")
    assert row == {"origin": site.origin, "reason": "redirect_hops", "sample_url": site.url("/11")}


def test_the_document_of_a_page_that_became_a_redirect_is_dropped(crawl: Crawling) -> None:
    site = crawl.site().pages("/x")
    crawl.run()
    assert crawl.page(site.url())["title"] == "/"
    site.redirect("/", "/x", 302)
    crawl.run(later=5 * WEEK)
    page = crawl.page(site.url())
    assert (page["last_exit_code"], page["title"], page["sha256"]) == ("redirect", "", "")
    assert crawl.rows("SELECT * FROM v_link WHERE from_url = ?", site.url()) == []
