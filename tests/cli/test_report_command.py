"""`report`: what a crawl says of its sites, in every form, on a real database whose texts mean harm."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html
from markdown_it import MarkdownIt

from tests.cli.conftest import Say, Terminal, environment
from tests.storage.making import T0, WEEK, A, attempt, crawled, document, failed, fill_of, link, outcome, plan, record
from tui_crawler.cli.main import main
from tui_crawler.domain.history.coverage import Coverage
from tui_crawler.domain.history.site_audit import LISTED, SECTIONS, FindingSeverity, coverage_sections
from tui_crawler.domain.records.attempt import (
    DocumentRecord,
    RedirectRecord,
    RedirectSource,
    Settle,
    Validation,
    ValidationError,
)
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.store import SqliteStore, StoreSettings

HOME = f"{A}/"
EVIL = (
    "</title></style></script><img src=x onerror=alert(1)>]](javascript:a)|`*_ \u202e\x1b[2J\x00\ufffe\ud800 \"'&amp;"
)
EVIL_PATH = "/q?<script>\"'onload=x`|](javascript:a)*_&amp;"
PATHS = ("gone", "slow", "one", "two", "twin", "untitled", "elsewhere", "hidden", "a", "b", "east", "west", "cut")
LATER = T0 + 5 * WEEK
FORMS = ("html", "md", "junit", "json")


async def store_site(path: Path) -> None:
    """A run that finds one of everything, then one that asks for two pages again."""
    store = SqliteStore(path, StoreSettings(now=lambda: T0))
    await store.begin_run(plan(HOME, f"{A}/dead", f"{A}{EVIL_PATH}", config_name=EVIL))
    first = {page.url.removeprefix(A): page for page in await _fill(store, T0)}
    links = tuple(link(f"{A}/{name}", text=EVIL) for name in PATHS)
    made = crawled(first["/"], T0 + 20, *(f"{A}/{name}" for name in PATHS))
    await store.settle(replace(made, links=links, document=_document(first["/"], EVIL)))
    await store.settle(failed(first["/dead"], T0 + 1_100, ExitCode.connection_failed))
    evil = failed(first.pop(next(path for path in first if path.startswith("/q"))), T0 + 2_200, ExitCode.file_gone, 410)
    await store.settle(replace(evil, attempt=replace(evil.attempt, message=EVIL)))
    pages = {page.url.rpartition("/")[2]: page for page in await _fill(store, T0 + 3_000)}
    for number, settle in enumerate(_settles(pages)):
        at = T0 + 4_000 + 1_100 * number
        sent = replace(settle.attempt.requests[0], sent_at=at - 20, ended_at=at)
        log = replace(settle.attempt, started_at=at - 20, ended_at=at, requests=(sent,))
        await store.settle(replace(settle, attempt=log))
    await store.end_run("exhausted", True)
    await store.begin_run(plan(HOME, config_name=EVIL, new_run=True, force_recrawl=True))
    again = {page.url: page for page in await _fill(store, LATER)}
    await store.settle(failed(again[HOME], LATER, ExitCode.server_internal_error, 500))
    await store.settle(crawled(again[f"{A}/two"], LATER + 100))  # 1 s was promised
    await store.end_run("exhausted", True)
    await asyncio.to_thread(store.close)


async def _fill(store: SqliteStore, now: int) -> tuple[TodoPage, ...]:
    pages = (await store.candidates(A, now, 50, False)).pages
    await store.fill(fill_of(pages))
    return pages


def _document(page: TodoPage, title: str) -> DocumentRecord:
    return document(page, b"<p>" + title.encode("utf-8", "replace"), title=title)


def _invalid(page: TodoPage) -> DocumentRecord:
    faults = (ValidationError(1, 2, EVIL), ValidationError(3, 4, EVIL))
    return replace(_document(page, EVIL), validation=Validation("html", faults))


def _settles(pages: dict[str, TodoPage]) -> list[Settle]:
    def ended(name: str, code: ExitCode, status: int, target: str = "", **more: Any) -> Settle:
        page = pages[name]
        source = RedirectSource.canonical if code is ExitCode.not_canonical else RedirectSource.location
        redirect = RedirectRecord(f"{A}{target}", "", True, source) if target else None
        log = attempt(page, code, T0, status, **more)
        return Settle(log, record(A), outcome(page, code, T0, status), redirect=redirect)

    read = replace(_document(pages["cut"], "c"), incomplete=("links", "input"))
    slow, cut = crawled(pages["slow"], T0), crawled(pages["cut"], T0)
    return [
        failed(pages["gone"], T0, ExitCode.file_not_found, 404),
        replace(slow, attempt=replace(slow.attempt, response_ms=2_500), document=_document(pages["slow"], "s")),
        *(replace(crawled(pages[name], T0), document=_invalid(pages[name])) for name in ("one", "twin")),
        replace(crawled(pages["two"], T0), document=_document(pages["two"], "alone")),
        replace(crawled(pages["untitled"], T0), document=_document(pages["untitled"], "")),
        ended("elsewhere", ExitCode.not_canonical, 200, EVIL_PATH),
        ended("hidden", ExitCode.noindex, 200),
        ended("a", ExitCode.redirect, 302, "/b"),
        ended("b", ExitCode.permanent_redirect, 301, "/one"),
        ended("east", ExitCode.redirect, 302, "/west"),
        ended("west", ExitCode.redirect, 302, "/east"),
        replace(cut, attempt=replace(cut.attempt, cut=("links", "input")), document=read),
    ]


@pytest.fixture(scope="session")
def crawled_once(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("crawled") / "crawl.db"
    asyncio.run(store_site(path))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "INSERT INTO fragment (to_url_id, fragment, from_page_id, text, missing) SELECT u.id, ?, p.id, 'to it', 1"
            " FROM url u, page p JOIN url v ON v.id = p.url_id WHERE u.href = ? AND v.href = ?",
            (EVIL_PATH, f"{A}/one", HOME),
        )
    return path.read_bytes()


@pytest.fixture(autouse=True)
def crawl(here: Path, crawled_once: bytes) -> Path:
    path = here / "crawl.db"
    path.write_bytes(crawled_once)
    return path


def totals(audit: dict[str, Any]) -> dict[str, int]:
    return {key: audit[key]["total"] for key, section in SECTIONS.items() if section.severity}


ALL = {
    "broken": 1,
    "broken_embedded": 0,
    "broken_external": 0,
    "walls": 0,
    "broken_fragments": 1,
    "failed_unnamed": 3,
    "redirect_loops": 1,
    "cut": 1,
    "slow": 1,
    "redirect_chains": 1,
    "duplicate_titles": 1,
    "missing_titles": 1,
    "invalid": 1,
    "not_canonical": 1,
    "canonical_nowhere": 0,
    "noindex": 1,
    "violations": 1,
}
UNKNOWN = ("broken_embedded", "broken_external", "broken_fragments")
OF_RUN = {  # documents and redirects are those of now
    1: {**ALL, "failed_unnamed": 2, "violations": 0},
    2: {**ALL, "broken": 0, "failed_unnamed": 1, "cut": 0, "slow": 0, "not_canonical": 0, "noindex": 0},
}


class TestWhatIsFound:
    def test_one_of_everything(self, say: Say):
        audit = say("report", "--json").document
        assert totals(audit) == ALL
        assert audit["summary"]["failed"] == 4
        assert audit["broken"]["rows"] == [
            {
                "url": f"{A}/gone",
                "exit_code": "file_not_found",
                "http_status": 404,
                "links": 1,
                "referrers": [
                    {
                        "url": HOME,
                        "kind": "a",
                        "text": EVIL.replace("\x00", "\ufffd").replace("\ud800", "\ufffd"),
                        "chain": [],
                    }
                ],
            }
        ]
        assert audit["broken_fragments"]["rows"] == [
            {
                "url": f"{A}/one",
                "fragment": EVIL_PATH,
                "links": 1,
                "referrers": [{"url": HOME, "kind": "a", "text": "to it", "chain": []}],
            }
        ]
        assert [row["url"] for row in audit["failed_unnamed"]["rows"]][:2] == [HOME, f"{A}/dead"]
        assert audit["cut"]["rows"] == [{"url": f"{A}/cut", "cut": ["links", "input"], "bytes": 100}]
        assert r"raise reading\.max\_links" in say("report", "--format", "md").out
        assert [row["url"] for row in audit["slow"]["rows"]] == [f"{A}/slow"]
        assert audit["redirect_chains"]["rows"] == [{"urls": [f"{A}/a", f"{A}/b", f"{A}/one"]}]
        (loop,) = audit["redirect_loops"]["rows"]
        assert loop["urls"] == [f"{A}/east", f"{A}/west", f"{A}/east"]
        assert audit["duplicate_titles"]["rows"][0]["urls"] == [f"{A}/one", f"{A}/twin"]
        assert audit["missing_titles"]["rows"] == [{"url": f"{A}/untitled"}]
        (invalid,) = audit["invalid"]["rows"]
        assert (invalid["type"], invalid["pages"], invalid["urls"]) == ("html", 2, [f"{A}/one", f"{A}/twin"])
        (judged,) = audit["validation"]["rows"]
        assert (judged["type"], judged["judged"], judged["invalid"]) == ("html", 2, 2)
        assert judged["documents"] > 2
        assert audit["not_canonical"]["rows"] == [{"url": f"{A}/elsewhere", "canonical": f"{A}{EVIL_PATH}"}]
        assert audit["noindex"]["rows"] == [{"url": f"{A}/hidden"}]
        (broken,) = audit["violations"]["rows"]
        assert (broken["url"], broken["fault"], broken["gap_ms"]) == (f"{A}/two", "gap", 80)
        (proof,) = audit["politeness"]["rows"]
        assert (proof["requests"], proof["min_gap_ms"], proof["promised_ms"]) == (18, 80, 1_000)
        assert (proof["over_time"][0], sum(proof["over_time"])) == (16, 18)
        assert sum(row["attempts"] for row in audit["exit_codes"]["rows"]) == 18
        assert [row["run_id"] for row in audit["runs"]["rows"]] == [2, 1]

    @pytest.mark.parametrize("run", [1, 2])
    def test_what_one_run_attempted(self, run: int, say: Say):
        audit = say("report", "--json", "--run", str(run)).document
        assert totals(audit) == OF_RUN[run]
        assert f"What run {run} attempted" in audit["scope"]
        assert audit["summary"]["requests"] == sum(row["attempts"] for row in audit["exit_codes"]["rows"])
        assert [row["run_id"] for row in audit["runs"]["rows"]] == [run]

    def test_a_section_lists_some_rows_and_counts_all(self, crawl: Path, say: Say):
        with closing(sqlite3.connect(crawl)) as database, database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(page)")]
            copied = ", ".join({"id": "p.id + n.n", "job_id": "n.n + 10"}.get(name, name) for name in columns)
            numbers = f"WITH RECURSIVE n(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM n WHERE n < {99 + 2 * LISTED})"
            database.execute(
                f"{numbers} INSERT INTO page SELECT {copied} FROM page p, n WHERE p.url_id ="
                " (SELECT id FROM url WHERE href = ?)",
                (f"{A}/gone",),
            )
        audit = say("report", "--json").document
        assert (audit["broken"]["total"], len(audit["broken"]["rows"])) == (2 * LISTED + 1, LISTED)
        said = say("report", "--format", "md").out
        assert f"## Broken links: {2 * LISTED + 1}\n" in said
        assert f"… and {LISTED + 1} more." in said
        (suite,) = etree.fromstring(say("report", "--format", "junit").out.encode()).xpath("//*[@name='Broken links']")
        assert int(suite.get("tests")) == int(suite.get("failures")) == len(suite) == LISTED + 1


class TestHostileText:
    """What sites say is text, whatever it looks like."""

    def test_html_holds_nothing_that_acts(self, say: Say):
        said = say("report").out
        page = html.document_fromstring(said)
        names = {element.tag for element in page.iter() if isinstance(element.tag, str)}
        assert not names & {"script", "img", "iframe", "object", "form", "link", "base"}
        assert [element for element in page.iter() for name in element.attrib if name.startswith("on")] == []
        assert page.xpath("//@style") == []
        for link_ in page.xpath("//a"):
            assert re.match("https?://a\\.example|#", link_.get("href"))
            assert link_.get("href").startswith("#") or link_.get("rel") == "noreferrer noopener nofollow"
        (head,) = page.xpath("//meta[@http-equiv]/@content")
        assert head.startswith("default-src 'none'; style-src 'sha256-")
        assert "<img src=x onerror=alert(1)>" in page.text_content()
        assert not set("\u202e\x1b\x00\ufffe") & set(said)
        assert r"\u202e\x1b[2J" in said

    def test_markdown_makes_no_markup_of_it(self, say: Say):
        said = say("report", "--format", "md").out
        tokens = [token for block in MarkdownIt("gfm-like").parse(said) for token in (block, *(block.children or ()))]
        assert {token.content for token in tokens if "html" in token.type} <= {"<br>"}
        for target in (token.attrs["href"] for token in tokens if token.type == "link_open"):
            assert str(target).startswith(A)
        assert {token.type for token in tokens} <= {
            *(f"{name}_{end}" for name in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")),
            *(f"{name}_{end}" for name in ("heading", "paragraph", "link") for end in ("open", "close")),
            *("inline", "text", "text_special", "html_inline", "softbreak"),
        }
        for table in (block for block in said.split("\n\n") if block.startswith("|")):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1

    def test_junit_is_xml_and_counts_itself(self, say: Say):
        suites = etree.fromstring(say("report", "--format", "junit").out.encode())
        checks = [section for section in SECTIONS.values() if section.severity]
        coverage = [section.title for section in coverage_sections(Coverage())]
        assert [suite.get("name") for suite in suites] == coverage + [section.title for section in checks]
        for suite, section in zip(suites[len(coverage) :], checks, strict=True):
            notice = section.severity is FindingSeverity.notice
            counts = [int(suite.get(name)) for name in ("tests", "failures", "skipped")]
            found = ALL[section.key]
            skipped = section.key in UNKNOWN  # this database keeps no configuration
            assert counts == [found + skipped or 1, 0 if notice else found, found if notice else int(skipped)]
            assert len(suite.findall("testcase")) == counts[0]
            assert len(suite.findall("testcase/failure")) == counts[1]
        for name in ("tests", "failures", "errors", "skipped"):
            assert int(suites.get(name)) == sum(int(suite.get(name)) for suite in suites)
        (failure,) = suites.xpath("//*[@classname='site_audit.broken']/failure")
        assert HOME in failure.text
        quiet = etree.fromstring(say("report", "--format", "junit", "--run", "1").out.encode())
        (none,) = quiet.xpath("//*[@classname='site_audit.violations']")
        assert (none.get("name"), len(none)) == ("none", 0)

    def test_json_is_ascii(self, say: Say):
        assert say("report", "--format", "json").out.isascii()


class TestTheFile:
    @pytest.mark.parametrize("form", FORMS)
    def test_stands_whole_under_its_name(self, form: str, say: Say, here: Path):
        said = say("report", "--format", form, "--output", "audit")
        assert (said.status, said.out) == (0, "")
        assert (here / "audit").read_text("utf-8") != ""
        assert said.err.endswith(f" -> {here / 'audit'}\n")
        assert say("report", "--output", "audit").status == 2
        assert say("report", "--output", "audit", "--force", "--quiet").err == ""
        assert sorted(path.name for path in here.iterdir()) == ["audit", "crawl.db"]

    def test_on_a_terminal_a_file_is_written_and_named(
        self, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        for form, ending, start in (("html", "html", "<!doctype"), ("md", "md", "# Site"), ("junit", "xml", "<?xml")):
            for _ in range(2):  # the second one takes the place of the first
                monkeypatch.setattr(sys, "stdout", terminal := Terminal())
                assert main(("report", "--format", form)) == 0
                assert terminal.getvalue() == ""
                assert f"crawl-report.{ending}" in capsys.readouterr().err
            assert (here / f"crawl-report.{ending}").read_text(encoding="utf-8").startswith(start)
        for words in (("--json",), ("--format", "md", "--output", "-")):
            monkeypatch.setattr(sys, "stdout", terminal := Terminal())
            assert main(("report", *words)) == 0
            assert terminal.getvalue()
        assert len(list(here.glob("*report*"))) == 3

    def test_what_is_refused(self, say: Say):
        assert say("report", "--json", "--format", "md").status == 2
        assert say("report", "--run", "7").err.startswith("tui-crawler: there is no run 7")
        assert say("report", "--run", "7").err.endswith("\n  runs: 1, 2\n")
        assert say("report", "--run", "7").status == 2
        assert say("report", "--output", "crawl.db", "--force").status == 2
        assert say("report", "--db", "none.db").status == 2

    def test_a_reader_may_go_away(self, crawl: Path):
        reader, writer = os.pipe()
        os.close(reader)
        words = [sys.executable, "-m", "tui_crawler", "report", "--db", str(crawl)]
        done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (0, b"")

    def test_of_a_database_without_a_run(self, say: Say, here: Path):
        with closing(SqliteStore(here / "empty.db")):
            pass
        for form in FORMS:
            assert say("report", "--db", "empty.db", "--format", form).status == 0
