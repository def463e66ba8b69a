"""The delay between two requests to an origin (U, M, R), as the crawl log has it and as the site saw it."""

from __future__ import annotations

import pytest

from tests.designs.crawling import DAY, HOUR, MINUTE, SECOND, Crawling
from tests.designs.web import HTML, Answer, Site


def slow(crawl: Crawling, *times_ms: int, robots: str = "", status: int = 200) -> Site:
    """A site whose robots.txt takes the first of the times, and its pages in a row the others."""
    site = crawl.site()
    site.answer("/robots.txt", Answer(200, robots.encode(), (("Content-Type", "text/plain"),), takes_ms=times_ms[0]))
    for number, ms in enumerate(times_ms[1:]):
        path = f"/{number}" if number else "/"
        body = f'<a href="/{number + 1}">'.encode()
        site.answer(path, Answer(status, body, (("Content-Type", HTML),), takes_ms=ms))
    return site


def delays(crawl: Crawling, site: Site) -> list[int]:
    """The delay after each attempt that made a request."""
    query = "SELECT delay_ms_after d FROM v_attempt WHERE origin = ? AND requests > 0 ORDER BY attempt_id"
    return [row["d"] for row in crawl.rows(query, site.origin)]


def reason(crawl: Crawling, site: Site) -> str:
    """Why the delay of a site is what it is now."""
    return str(crawl.value("SELECT delay_reason FROM v_origin WHERE origin = ?", site.origin))


CRAWL_DELAYS = {
    "7": (7_000, "crawl_delay"),
    "600": (120_000, "crawl_delay"),
    "0.2": (1_000, "floor"),
    "soon": (1_000, "default"),
}
DATE, UNTIL = "Fri, 15 Jan 2027 10:00:00 GMT", "Fri, 15 Jan 2027 10:01:40 GMT"
Paced = tuple[Crawling, dict[str, Site]]


@pytest.fixture(scope="module")
def paced(shared_crawl: Crawling) -> Paced:
    """One crawl, at the delays that are the defaults."""
    crawl = shared_crawl
    sites = {said: slow(crawl, 10, 10, 10, robots=f"User-agent: *\nCrawl-delay: {said}") for said in CRAWL_DELAYS}
    sites["fast"] = slow(crawl, 300, 300, 300)
    sites["limited"] = slow(crawl, 2000, 2000, 2000, 2000)
    sites["limited"].answer("/3", Answer(429, takes_ms=2000), Answer(200, takes_ms=2000))
    sites["request-rate"] = slow(crawl, 10, 10, 10, robots="User-agent: *\nRequest-rate: 1/9s")
    sites["very-slow"] = slow(crawl, 100_000, 10)
    for status in (429, 503):
        sites[f"seconds-{status}"] = slow(crawl, 10)
        sites[f"seconds-{status}"].answer("/", Answer(status, headers=(("Retry-After", "90"),)), Answer(200))
    sites["date"] = slow(crawl, 10)
    sites["date"].answer("/", Answer(503, headers=(("Date", DATE), ("Retry-After", UNTIL))), Answer(200))
    crawl.run("network: {read_timeout: 5m, total_timeout: 5m}\ncrawl: {max_in_flight: 20}")
    return crawl, sites


def test_a_fast_site(paced: Paced) -> None:
    crawl, sites = paced
    assert delays(crawl, sites["fast"])[:3] == [1200, 1000, 1000]
    assert sites["fast"].gaps[:2] == [1200, 1000]
    assert sites["very-slow"].gaps[0] == 180_000, "the cap"


def test_a_slow_site_and_then_429(paced: Paced) -> None:
    """Politeness falls with each good answer; a 429 raises it and ends the falling."""
    crawl, sites = paced
    site = sites["limited"]
    assert delays(crawl, site) == [8000, 4000, 2000, 2000, 4000, 4000]
    assert site.gaps == [8000, 4000, 2000, 2000, 4000]
    assert crawl.value("SELECT politeness FROM v_origin WHERE origin = ?", site.origin) == 1


def test_crawl_delay_up_to_its_cap_and_down_to_the_floor(paced: Paced) -> None:
    crawl, sites = paced
    for said, (ms, why) in CRAWL_DELAYS.items():
        assert set(sites[said].gaps) == {ms}, said
        assert reason(crawl, sites[said]) == why
    assert set(sites["request-rate"].gaps) == {9_000}


@pytest.mark.parametrize(("name", "ms"), [("seconds-429", 90_000), ("seconds-503", 90_000), ("date", 100_000)])
def test_retry_after_is_waited_for(paced: Paced, name: str, ms: int) -> None:
    crawl, sites = paced
    assert sites[name].gaps[1] == ms
    assert crawl.page(sites[name].url())["last_exit_code"] == "file_of_unknown_type"


def test_any_crawl_delay_is_obeyed_without_a_cap(crawl: Crawling) -> None:
    site = slow(crawl, 10, 10, robots="User-agent: *\nCrawl-delay: 600")
    crawl.run("delay: {crawl_delay_cap: null}")
    assert site.gaps[0] == 600_000


@pytest.mark.parametrize(("factor", "last"), [("10.0", 40_000), ("1.0", 15_000)])
def test_running_average(crawl: Crawling, factor: str, last: int) -> None:
    """The first wait is long; then the mean of the last five total times, robots.txt too, times the factor."""
    site = slow(crawl, *(n * SECOND for n in range(1, 8)))
    crawl.run(f"delay: {{model: running_average, average: {{factor: {factor}}}}}", crawl__max_requests=7)
    assert site.gaps[0] == 60_000
    assert site.gaps[5] == last
    assert reason(crawl, site) == "average"


def test_crawl_delay_wins_over_the_running_average(crawl: Crawling) -> None:
    site = slow(crawl, 10, 10, 10, robots="User-agent: *\nCrawl-delay: 90")
    crawl.run("delay: {model: running_average}", crawl__max_requests=3)
    assert site.gaps == [90_000, 90_000]


def test_fixed_is_the_least_delay(crawl: Crawling) -> None:
    site = slow(crawl, 5_000, 5_000, 5_000)
    crawl.run("delay: {model: fixed, default: 3s}", crawl__max_requests=3)
    assert site.gaps == [3_000, 3_000]


def test_settings_of_one_host(crawl: Crawling) -> None:
    site, other = slow(crawl, 10, 10, 10), crawl.site("127.0.0.2")
    other.page("/", "/1")
    crawl.run("hosts: [{host: 127.0.0.2, default_delay: 5s}]")
    assert site.gaps == [1_000] * 3
    assert other.gaps == [5_000] * 2


def test_each_429_doubles_the_least_delay_seven_times_at_most(crawl: Crawling) -> None:
    """So that a fast server gets room, too."""
    site = crawl.site()
    site.answer("/", Answer(429))
    crawl.run("crawl: {tries: 9, patience: 99}")
    assert [gap // SECOND for gap in site.gaps[1:]] == [2, 4, 8, 16, 32, 64, 128, 128]
    assert reason(crawl, site) == "rate_limit"


def test_429_costs_patience_only_once_politeness_is_at_its_maximum(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", Answer(429))
    crawl.run("crawl: {tries: 3}\ndelay: {max_politeness: 4}")
    patience = crawl.rows(
        "SELECT patience_after p, politeness_after q FROM v_attempt WHERE kind = 'page' ORDER BY attempt_id"
    )
    assert patience == [{"p": 5, "q": 3}, {"p": 5, "q": 4}, {"p": 4, "q": 4}]


def test_a_longer_retry_after_ends_the_run_of_the_origin_and_is_kept(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", Answer(429, headers=(("Retry-After", "7200"),)), Answer(200))
    crawl.run()
    (row,) = crawl.rows("SELECT finish_reason, delay_reason, next_request_at FROM v_origin")
    assert (row["finish_reason"], row["delay_reason"]) == ("rate_limited", "retry_after")
    until = row["next_request_at"]
    assert until == site.seen[-1].ended + 2 * HOUR
    said = crawl.ask("status", "--json").json["origins"][0]
    assert (said["finish_reason"], said["next_request_at"]) == ("rate_limited", until)
    crawl.run(later=HOUR)
    assert site.asked == ["/"], "the wait is still longer than retry_after_max: rate_limited at once"
    assert crawl.value("SELECT finish_reason FROM v_origin") == "rate_limited"
    crawl.run(later=HOUR - MINUTE)
    assert site.asked == ["/", "/"], "a shorter one is waited out"
    assert site.seen[-1].at >= until


def test_the_gap_is_kept_over_restarts(crawl: Crawling) -> None:
    """next_request_at is stored with the attempt: a new run does not ask sooner."""
    site = slow(crawl, 10, 10, 10, robots="User-agent: *\nCrawl-delay: 60")
    crawl.run(crawl__max_requests=2)
    crawl.run(crawl__max_requests=1, later=10 * SECOND)
    assert len(site.seen) == 3
    assert min(site.gaps) >= 60_000


def test_the_audit_proves_it(crawl: Crawling) -> None:
    site = slow(crawl, 2000, 2000, 2000)
    site.answer("/2", Answer(raw=b"", end="close"))
    crawl.run()
    said = crawl.ask("audit", "--json")
    assert said.status == 0
    (row,) = said.json["origins"]
    assert said.json["ok"] is True
    assert (row["violations"], row["overlaps"], row["requests"]) == (0, 0, len(site.seen))


def test_a_floor_below_a_second_is_for_loopback_only(crawl: Crawling) -> None:
    crawl.site()
    quick = "delay: {floor: 100ms, allow_impolite: true}"
    assert crawl.command("check", str(crawl.configure(quick))).status == 0
    refused = crawl.command("check", str(crawl.configure(quick, ["https://example.org/"])))
    assert refused.status == 2
    assert "is not loopback" in refused.out + refused.err


def test_delays_below_a_second_are_for_own_sites_only(crawl: Crawling) -> None:
    own, other = slow(crawl, 10, 10, 10), slow(crawl, 10, 10, 10)
    text = f"own_sites: [{own.origin!r}]\ndelay: {{default: 100ms, floor: 100ms, start_politeness: 0}}"
    crawl.run(text)
    assert own.gaps == [100] * 3
    assert other.gaps == [1_000] * 3, "loopback alone is not enough without allow_impolite"
    assert crawl.ask("audit", "--json").json["ok"] is True
    assert crawl.ask("replay", "--check", "--json").json["differences"] == []


def test_a_pause_of_a_day_shortens_nothing(crawl: Crawling) -> None:
    """The wait that was promised before a long rest is over; the delay after the next request is not."""
    site = slow(crawl, 10, 10, 10)
    crawl.run(crawl__max_requests=2)
    crawl.run("robots: {expiry: 24h}", later=DAY)
    assert min(site.gaps) >= 1_000
