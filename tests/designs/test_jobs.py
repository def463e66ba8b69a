"""Jobs (B): groups of pages with their own seeds, rules, depth, niceness and concurrency; their state machine."""

from __future__ import annotations

import json
from typing import Any

from tests.designs.crawling import SECOND, Crawling
from tests.designs.web import Site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.command import SetJob, SteerJobs
from tui_crawler.domain.records.status_words import RunReason


def chain(site: Site, *paths: str, takes_ms: int = 0) -> Site:
    """Pages that each link to the next one."""
    for path, after in zip(paths, (*paths[1:], ""), strict=True):
        site.page(path, *filter(None, [after]), takes_ms=takes_ms)
    return site


def jobs_of(*jobs: dict[str, Any]) -> str:
    """The `jobs` key."""
    return f"jobs: {json.dumps(jobs)}"


def job(crawl: Crawling, name: str) -> dict[str, Any]:
    """A job as `v_job` has it."""
    (row,) = crawl.rows("SELECT * FROM v_job WHERE job = ?", name)
    return row


def test_a_plain_crawl_is_one_job_named_after_the_configuration(crawl: Crawling) -> None:
    chain(crawl.site(), "/", "/a")
    crawl.run("name: my-index")
    (row,) = crawl.rows("SELECT job, status, nice, depth, concurrency, tag, pending, claimed, done FROM v_job")
    assert row == {
        "job": "my-index",
        "status": "FINISHED",
        "nice": 0,
        "depth": None,
        "concurrency": None,
        "tag": "",
        "pending": 0,
        "claimed": 0,
        "done": 2,
    }


def test_jobs_of_the_configuration_are_listed_with_what_it_says(crawl: Crawling) -> None:
    site = chain(crawl.site(), "/", "/a")
    chain(site, "/news", "/news/1", "/news/2")
    news = {
        "name": "news",
        "seeds": [site.url("/news")],
        "nice": -5,
        "max_depth": 1,
        "concurrency": 2,
        "note": "front page",
    }
    crawl.run(jobs_of(news), seeds=[site.url()])
    said = {one["job"]: one for one in crawl.ask("jobs", "--json").json["jobs"]}
    assert set(said) == {"crawl", "news"}
    wanted = {
        "status": "FINISHED",
        "nice": -5,
        "depth": 1,
        "concurrency": 2,
        "note": "front page",
        "pending": 0,
        "done": 2,
    }
    assert {key: said["news"][key] for key in wanted} == wanted
    assert said["crawl"]["depth"] is None
    assert "/news/2" not in site.asked, "beyond the depth of its job"
    assert {row["url"]: row["job"] for row in crawl.rows("SELECT url, job FROM v_page")}[site.url("/news/1")] == "news"


def test_pages_of_the_lower_nice_come_first(crawl: Crawling) -> None:
    site = crawl.site()
    chain(site, "/", "/a", "/b")
    chain(site, "/news", "/news/1", "/news/2")
    crawl.run(jobs_of({"name": "news", "seeds": [site.url("/news")], "nice": -5}), seeds=[site.url()])
    assert site.asked == ["/news", "/", "/news/1", "/news/2", "/a", "/b"] or site.asked[:1] == ["/news"]
    assert site.asked.index("/news/2") < site.asked.index("/b")
    assert crawl.page(site.url("/news/2"))["nice"] == -5, "links inherit it"


def test_concurrency_bounds_the_pages_of_a_job_in_flight_at_all_origins(crawl: Crawling) -> None:
    sites = [crawl.site() for _ in range(3)]
    for site in sites:
        chain(site, "/", "/a", takes_ms=700)
        chain(site, "/news", "/news/1", takes_ms=700)
    seeds = [site.url("/news") for site in sites]
    crawl.run(jobs_of({"name": "news", "seeds": seeds, "concurrency": 1}))
    spans = [(one.at, one.ended) for site in sites for one in site.seen if one.target.startswith("/news")]
    assert len(spans) == 6
    assert max(sum(begin <= at < end for begin, end in spans) for at, _ in spans) == 1
    others = [(one.at, one.ended) for site in sites for one in site.seen if one.target in {"/", "/a"}]
    assert max(sum(begin <= at < end for begin, end in others) for at, _ in others) > 1


def test_a_paused_job_keeps_the_run_alive_and_goes_on_as_before(crawl: Crawling) -> None:
    site = chain(crawl.site(), "/", "/a")
    chain(site, "/news", "/news/1", "/news/2")
    during: list[dict[str, Any]] = []

    def on_event(event: Event) -> None:
        if event.event == "attempt_finished" and event.url == site.url("/news"):
            crawl.steer(SteerJobs("pause", ("news",)))
            crawl.loop.call_later(30, lambda: during.append(job(crawl, "news")))
            crawl.loop.call_later(40, lambda: crawl.steer(SteerJobs("resume", ("news",))))

    seeds = [site.url("/news")]
    ended = crawl.run(
        jobs_of({"name": "news", "seeds": seeds, "concurrency": 3}), seeds=[site.url()], on_event=on_event, poll_ms=500
    )
    assert ended.reason is RunReason.exhausted
    assert [(row["status"], row["concurrency"], row["pending"]) for row in during] == [("ACTIVE", 0, 1)]
    assert site.requests("/news/1")[0].at - site.requests("/news")[0].ended >= 40 * SECOND
    assert job(crawl, "news")["concurrency"] == 3
    assert "/news/2" in site.asked


def test_a_job_is_draining_while_its_last_page_is_in_flight(crawl: Crawling) -> None:
    site = crawl.site()
    seen: list[str] = []
    chain(site, "/", takes_ms=10_000)
    site.scripts["/"].then = lambda: crawl.loop.call_later(9, lambda: seen.append(job(crawl, "crawl")["status"]))
    crawl.run()
    assert seen == ["DRAINING"]
    assert job(crawl, "crawl")["status"] == "FINISHED"


def test_an_aborted_job_keeps_its_pages_and_can_be_taken_up_again(crawl: Crawling) -> None:
    site = chain(crawl.site(), "/", "/a", "/b")
    crawl.run(crawl__max_requests=2)
    assert job(crawl, "crawl")["status"] == "ACTIVE"
    assert crawl.ask("jobs", "abort", "crawl").status == 0
    assert (job(crawl, "crawl")["status"], job(crawl, "crawl")["pending"]) == ("ABORTED", 1)
    crawl.run()
    assert site.asked == ["/"]
    assert crawl.ask("jobs", "unabort", "crawl").status == 0
    assert job(crawl, "crawl")["status"] == "ACTIVE"
    crawl.run()
    assert site.asked == ["/", "/a", "/b"]
    assert job(crawl, "crawl")["status"] == "FINISHED"
    actions = [
        (row["action"], row["target"]) for row in crawl.rows("SELECT action, target FROM v_operator_action ORDER BY at")
    ]
    assert len(actions) == 2


def test_a_job_is_aborted_while_the_run_is_live(crawl: Crawling) -> None:
    site = chain(crawl.site(), "/", "/a")
    chain(site, "/news", "/news/1", "/news/2")
    crawl.run(
        jobs_of({"name": "news", "seeds": [site.url("/news")], "nice": -5}),
        seeds=[site.url()],
        on_event=crawl.steering(site.url("/news"), SteerJobs("abort", ("news",))),
        poll_ms=500,
    )
    assert set(site.asked) == {"/", "/a", "/news"}
    assert job(crawl, "news")["status"] == "ABORTED"


def test_what_an_operator_sets_holds_for_the_pages_that_wait(crawl: Crawling) -> None:
    site = chain(crawl.site(), "/", "/a", "/b")
    chain(site, "/news", "/news/1", "/news/2")
    text = jobs_of({"name": "news", "seeds": [site.url("/news")]})
    crawl.run(text, seeds=[site.url()], crawl__max_requests=3)
    said = crawl.ask(
        "jobs", "set", "news", "--nice", "-3", "--depth", "1", "--concurrency", "4", "--tag", "", "--note", "x"
    )
    assert said.status == 0, said.err
    row = job(crawl, "news")
    assert (row["nice"], row["depth"], row["concurrency"]) == (-3, 1, 4)
    assert crawl.page(site.url("/news/1"))["nice"] == -3
    crawl.run(text, seeds=[site.url()])
    assert job(crawl, "news")["nice"] == -3, "an unedited configuration does not take it back"
    assert "/news/2" not in site.asked
    assert site.asked.index("/news/1") < site.asked.index("/b")


def test_a_deeper_job_takes_up_what_was_beyond_while_the_run_is_live(crawl: Crawling) -> None:
    site = chain(crawl.site(), "/", "/1", "/2", "/3")
    crawl.run("crawl: {max_depth: 1}", on_event=crawl.steering(site.url(), SetJob("crawl", depth=2)), poll_ms=500)
    assert site.asked == ["/", "/1", "/2"]


def test_rules_of_a_job_come_after_the_common_ones(crawl: Crawling) -> None:
    site = chain(crawl.site(), "/", "/x/1")
    chain(site, "/news", "/x/2")
    news = {
        "name": "news",
        "seeds": [site.url("/news")],
        "rules": [{"match": "/x/", "skip": False, "ua": "news-reader"}],
    }
    crawl.run(f"rules: [{{match: /x/, skip: true}}]\n{jobs_of(news)}", seeds=[site.url()])
    assert set(site.asked) == {"/", "/news", "/x/2"}
    assert site.requests("/x/2")[0].header("User-Agent") == "news-reader"
    assert crawl.page(site.url("/x/1"))["status"] == "SKIPPED"


def test_an_unknown_job_is_a_clear_error_and_nothing_changes(crawl: Crawling) -> None:
    chain(crawl.site(), "/")
    crawl.run("name: index")
    said = crawl.ask("jobs", "abort", "indx")
    assert said.status == 2
    assert "index" in said.err, "the nearest"
    assert crawl.rows("SELECT * FROM v_operator_action") == []
    assert job(crawl, "index")["status"] == "FINISHED"


def test_a_worker_takes_the_jobs_of_its_tags(crawl: Crawling) -> None:
    site = chain(crawl.site(), "/", "/a")
    chain(site, "/news", "/news/1")
    text = jobs_of({"name": "news", "seeds": [site.url("/news")], "tag": "press"})
    crawl.run(text, seeds=[site.url()])
    assert site.asked == ["/", "/a"], "a worker without tags leaves it"
    crawl.run(f"{text}\nworker: {{tags: [press], matchonly: true}}", seeds=[site.url()])
    assert site.asked == ["/", "/a", "/news", "/news/1"]
