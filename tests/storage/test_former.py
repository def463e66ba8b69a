"""What a run changes is kept as it was, so that two runs can be compared: new, gone, changed, and nothing else."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import replace

import pytest

from tests.storage.making import A, crawled, document, failed, new_page, plan, record, robots
from tests.storage.workbench import Workbench
from tui_crawler.domain.history.run_diff import OriginDiff, PageChange, RunSpan, changed_lines, text_of
from tui_crawler.domain.records.attempt import AttemptRecord, RedirectRecord, RedirectSource, Settle
from tui_crawler.domain.records.exit_code import AttemptKind, ExitCode
from tui_crawler.domain.records.failure import NotComparable
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl import former
from tui_crawler.storage.crawl.settle import SettleJob
from tui_crawler.storage.crawl.settle_group import settle_together
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.reports.reports import Reports

HOUR = 3_600_000


class Site:
    """A site whose pages a test crawls by hand, run by run."""

    def __init__(self, workbench: Workbench, grouped: bool) -> None:
        self.workbench, self.grouped = workbench, grouped
        self.claim: Claim

    def run(self, **more: object) -> None:
        """The next run, an hour later; every page is due again."""
        self.workbench.now += HOUR
        self.claim, _ = self.workbench.begin(plan(f"{A}/", force_recrawl=True, new_run=True, **more))

    def page(self, path: str, depth: int = 1) -> TodoPage:
        rows = self.workbench.rows(
            "SELECT p.id FROM page p JOIN url u ON u.id = p.url_id WHERE u.href = ?", f"{A}{path}"
        )
        return TodoPage(rows[0][0], self.claim.job_id, f"{A}{path}", depth)

    def settle(self, settled: Settle) -> None:
        if not self.grouped:
            self.workbench.settle(self.claim, settled)
            return
        job = SettleJob(self.claim, settled)
        job.prepare(self.workbench.transaction())
        self.workbench.work(lambda work: settle_together(work, [job]))

    def crawl(self, path: str, body: str, *links: str, **more: object) -> None:
        page, self.workbench.now = self.page(path), self.workbench.now + 1_000
        title = body.split(" ", maxsplit=1)[0]
        found = crawled(page, self.workbench.now, *(f"{A}{one}" for one in links))
        self.settle(replace(found, **{"document": document(page, body.encode(), title=title), **more}))

    def fail(self, path: str, code: ExitCode, status: int | None = None) -> None:
        self.workbench.now += 1_000
        self.settle(failed(self.page(path), self.workbench.now, code, status))


@pytest.fixture(params=[False, True], ids=["one by one", "in groups"])
def site(request: pytest.FixtureRequest, workbench: Workbench) -> Site:
    """A first run of four pages: the home links to /a, /b and /c."""
    made = Site(workbench, request.param)
    made.run()
    made.crawl("/", "home", "/a", "/b", "/c")
    for name in "abc":
        made.crawl(f"/{name}", f"page {name}", "/")
    assert workbench.rows("SELECT COUNT(*) FROM former_page") == [(0,)]
    return made


def found(reports: Reports, *runs: int) -> dict[str, tuple[str, ...]]:
    """What became of the pages that differ, by path."""
    span = reports.runs_compared(runs)
    return {one.url.removeprefix(A): told(one) for one in reports.page_changes(span)}


def told(change: PageChange) -> tuple[str, ...]:
    assert change.difference.kind is not None
    return (change.difference.kind.word, *(field.word for field in change.difference.fields))


def test_a_run_that_finds_everything_as_it_was_keeps_nothing(site: Site, reports: Reports) -> None:
    site.run()
    site.crawl("/", "home", "/a", "/b", "/c")
    site.fail("/a", ExitCode.file_did_not_change, 304)
    site.crawl("/b", "page b", "/")
    assert site.workbench.rows("SELECT COUNT(*) FROM former_page") == [(0,)]
    assert found(reports) == {}
    (origin,) = reports.origin_diffs(RunSpan(1, 2))
    assert reports.compared_origins() == (OriginDiff(origin.origin, origin.origin_id),)
    assert (origin.new, origin.gone, origin.changed, origin.same) == (0, 0, 0, 4)


def test_new_gone_and_changed_are_named_and_nothing_else(site: Site, reports: Reports) -> None:
    site.run()
    site.crawl("/", "home", "/a", "/b", "/c", "/d")
    site.crawl("/a", "page a again", "/")
    site.fail("/b", ExitCode.file_not_found, 404)
    site.crawl("/c", "page c", "/")
    site.crawl("/d", "page d")
    assert found(reports) == {
        "/": ("changed", "links"),
        "/a": ("changed", "hash"),
        "/b": ("gone", "status"),
        "/d": ("new",),
    }
    (origin,) = reports.origin_diffs(RunSpan(1, 2))
    assert (origin.new, origin.gone, origin.changed, origin.same) == (1, 1, 2, 1)
    assert (origin.failures_new, origin.failures_mended) == (1, 0)
    assert [one.url for one in reports.failure_changes(RunSpan(1, 2))] == [f"{A}/b"]


def test_every_field_by_itself(site: Site, reports: Reports) -> None:
    site.run()
    page = site.page("/a")
    site.crawl("/a", "page a", "/", document=document(page, b"page a", title="another"))
    page = site.page("/b")
    site.crawl("/b", "page b", "/", document=document(page, b"page b", title="page", canonical=f"{A}/b?c"))
    site.fail("/c", ExitCode.server_internal_error, 500)
    assert found(reports) == {"/a": ("changed", "title"), "/b": ("changed", "canonical"), "/c": ("changed", "status")}


def test_a_redirect_and_its_target(site: Site, reports: Reports) -> None:
    def redirect(path: str, target: str) -> None:
        page, site.workbench.now = site.page(path), site.workbench.now + 1_000
        made = crawled(page, site.workbench.now, code=ExitCode.permanent_redirect, document=None, drop_document=True)
        sent = RedirectRecord(f"{A}{target}", "", True, RedirectSource.location)
        site.settle(replace(made, redirect=sent, new_pages=(new_page(f"{A}{target}"),)))

    site.run()
    redirect("/a", "/x")
    assert found(reports)["/a"] == ("changed", "status", "redirect", "links")
    site.run()
    redirect("/a", "/x")
    assert found(reports, 2, 3) == {}
    site.run()
    redirect("/a", "/y")
    assert found(reports, 3, 4) == {"/a": ("changed", "redirect")}
    detail = reports.page_diff(RunSpan(3, 4), f"{A}/a", 10)
    assert tuple(detail.redirects) == (f"{A}/x", f"{A}/y")


def test_what_no_page_names_any_more_and_was_not_asked_for_is_gone(site: Site, reports: Reports) -> None:
    site.run()
    site.crawl("/", "home", "/a", "/b")
    assert found(reports) == {"/": ("changed", "links"), "/c": ("gone",)}
    (change,) = (one for one in reports.page_changes(RunSpan(1, 2)) if one.url == f"{A}/c")
    assert change.unreached
    site.crawl("/c", "page c", "/")
    assert found(reports) == {"/": ("changed", "links")}, "it was asked for and is there"


def test_a_failure_in_between_does_not_count_and_one_at_the_end_does(site: Site, reports: Reports) -> None:
    site.run()
    site.fail("/a", ExitCode.request_timeout)
    site.crawl("/a", "page a", "/")
    site.fail("/b", ExitCode.connection_failed)
    assert found(reports) == {"/b": ("changed", "status")}
    site.run()
    site.crawl("/b", "page b", "/")
    (mended,) = reports.failure_changes(RunSpan(2, 3))
    assert (mended.url, mended.difference.failing.word) == (f"{A}/b", "mended")  # type: ignore[union-attr]


def test_a_page_down_to_its_lines_and_links(site: Site, reports: Reports) -> None:
    site.run()
    site.crawl("/a", "page a\nwith a second line", "/", "/c")
    site.crawl("/b", "page b")
    detail = reports.page_diff(RunSpan(1, 2), f"{A}/a", 10)
    before, after = (text_of(body or b"", detail.charset) for body in detail.bodies)
    assert changed_lines(before, after) == ["@@ -1 +1,2 @@", " page a", "+with a second line"]
    assert [one.to_url for one in detail.outlinks.new] == [f"{A}/c"]
    assert detail.outlinks.gone == ()
    home, third = (reports.page_diff(RunSpan(1, 2), f"{A}/{name}", 10) for name in ("", "c"))
    assert third is not None
    assert home.change is None
    assert [one.from_url for one in home.inlinks.gone] == [f"{A}/b"]
    assert [one.from_url for one in third.inlinks.new] == [f"{A}/a"]
    assert reports.page_diff(RunSpan(1, 2), f"{A}/never", 10) is None


def test_three_runs_by_twos(site: Site, reports: Reports) -> None:
    site.run(keep_runs=3)
    site.crawl("/a", "second a", "/")
    site.crawl("/b", "second b", "/")
    site.run(keep_runs=3)
    site.crawl("/b", "page b", "/")
    site.crawl("/c", "third c", "/")
    site.fail("/a", ExitCode.file_gone, 410)
    assert found(reports, 1, 2) == {"/a": ("changed", "hash", "title"), "/b": ("changed", "hash", "title")}
    assert found(reports, 2) == {
        "/a": ("gone", "status"),
        "/b": ("changed", "hash", "title"),
        "/c": ("changed", "hash", "title"),
    }
    assert found(reports, 3, 1) == {"/a": ("gone", "status"), "/c": ("changed", "hash", "title")}
    for span, counts in {(1, 2): (0, 2, 2), (2, 3): (1, 2, 1), (1, 3): (1, 1, 2)}.items():
        (origin,) = reports.origin_diffs(RunSpan(*span))
        assert (origin.gone, origin.changed, origin.same) == counts, span


def test_what_can_be_compared(site: Site, reports: Reports) -> None:
    with pytest.raises(NotComparable, match="only one run"):
        reports.runs_compared()
    site.run()
    assert reports.runs_compared() == reports.runs_compared([2, 1]) == reports.runs_compared([1]) == RunSpan(1, 2)
    site.run()
    assert reports.runs_compared() == RunSpan(2, 3)
    with pytest.raises(NotComparable, match=r"run 2 has changed is not kept .*: runs 2, 3 can be compared"):
        reports.runs_compared([1, 3])
    with pytest.raises(NotComparable, match="no run 9: runs 2, 3 can be compared"):
        reports.runs_compared([9])
    with pytest.raises(NotComparable, match="compared with another: runs 2, 3 can be compared"):
        reports.runs_compared([3])
    site.run(keep_runs=1)
    site.crawl("/a", "fourth a")
    with pytest.raises(NotComparable, match=r"run 4 has changed is not kept .*: no two runs can be compared"):
        reports.runs_compared()
    assert site.workbench.rows("SELECT COUNT(*) FROM former_page WHERE run_id = 4") == [(0,)]


def test_robots_txt_by_its_lines(site: Site, reports: Reports) -> None:
    def fetch(body: bytes) -> None:
        site.workbench.now += 1_000
        at = site.workbench.now
        attempt = AttemptRecord(A, f"{A}/robots.txt", AttemptKind.robots, ExitCode.file_ingested, at, at)
        origin = dataclasses.replace(record(), robots=robots(body))
        site.settle(Settle(attempt, origin, save_robots=True))

    fetch(b"User-agent: *\nDisallow: /no\n")
    site.run()
    fetch(b"User-agent: *\nDisallow: /no\n")
    assert list(reports.robots_diffs(RunSpan(1, 2))) == []
    fetch(b"User-agent: *\nDisallow: /yes\n")
    (changed,) = reports.robots_diffs(RunSpan(1, 2))
    assert changed.origin == A
    assert changed.diff == ["@@ -1,2 +1,2 @@", " User-agent: *", "-Disallow: /no", "+Disallow: /yes"]


def bodies(workbench: Workbench) -> set[str]:
    return {row[0] for row in workbench.rows("SELECT sha256 FROM body")}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_body_stays_as_long_as_a_run_that_changed_it_is_kept(site: Site) -> None:
    site.run()
    site.crawl("/a", "second a", "/")
    site.crawl("/b", "passing b", "/")
    site.crawl("/b", "second b", "/")
    assert {digest("page a"), digest("second a"), digest("page b"), digest("second b")} <= bodies(site.workbench)
    assert digest("passing b") not in bodies(site.workbench), "no run ended with it"
    site.run()
    site.crawl("/a", "third a", "/")
    purged(site.workbench)
    assert {digest("second a"), digest("third a")} <= bodies(site.workbench)
    assert not {digest("page a"), digest("page b")} & bodies(site.workbench)


def purged(workbench: Workbench) -> int:
    pieces = 0
    while workbench.work(former.purge):
        pieces += 1
    return pieces


def test_what_is_too_old_goes_in_pieces_and_a_killed_purge_is_ended_by_the_next(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.run()
    for name in ("", "a", "b", "c"):
        site.crawl(f"/{name}", f"second {name}", "/x")
    site.run()
    rows = site.workbench.rows("SELECT COUNT(*) FROM former_page WHERE run_id = 2")
    assert rows == [(4,)]
    monkeypatch.setattr(former, "PIECE", 2)
    site.workbench._texts._kept.clear()
    site.workbench.work(former.purge)  # and here it is killed
    assert site.workbench.rows("SELECT COUNT(*) FROM former_page WHERE run_id = 2") == [(2,)]
    site.run()
    assert purged(site.workbench) >= 2
    assert site.workbench.rows("SELECT COUNT(*) FROM former_page") == [(0,)]
    assert site.workbench.rows("SELECT COUNT(*) FROM former_link") == [(0,)]


def test_a_run_that_is_continued_keeps_what_it_kept(site: Site, reports: Reports) -> None:
    site.run()
    site.crawl("/a", "second a", "/")
    site.claim, start = site.workbench.begin(plan(f"{A}/", force_recrawl=True))
    assert (start.continued, site.claim.keeps_former) == (True, True)
    site.crawl("/a", "third a", "/")
    site.crawl("/b", "third b", "/")
    assert found(reports) == {"/a": ("changed", "hash", "title"), "/b": ("changed", "hash", "title")}
    detail = reports.page_diff(RunSpan(1, 2), f"{A}/a", 1)
    assert list(detail.bodies) == [b"page a", b"third a"]


def test_many_pages_come_in_windows_by_their_key(
    workbench: Workbench, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(workbench, grouped=True)
    site.run()
    names = [f"/{number}" for number in range(12)]
    site.crawl("/", "home", *names)
    site.run(keep_runs=3)
    for name in names:
        site.crawl(name, f"first {name}")
    site.run(keep_runs=3)
    for name in names[::2]:
        site.crawl(name, f"second {name}")
    monkeypatch.setattr("tui_crawler.storage.reports.run_diffs._WINDOW", 5)
    span = RunSpan(1, 3)
    everything = list(reports.page_changes(span))
    assert [one.url for one in everything] == [f"{A}{name}" for name in names]
    place, seen = (0, 0), []
    while window := list(reports.page_changes(span, after=place, limit=5)):
        seen += window
        place = window[-1].place
    assert seen == everything
    assert list(reports.page_changes(span, origin_id=everything[0].place[0] + 1)) == []
    assert {told(one) for one in reports.page_changes(RunSpan(2, 3))} == {("changed", "hash", "title")}
