"""What the commands show of a crawl: links, failures, exclusions, exports, the database, completion."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from typing import Any

import pyarrow.parquet as parquet
import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.designs.crawling import Crawling
from tests.designs.web import HTML, Answer, Site
from tui_crawler.domain.crawl.event import Event

EVIL = "=HYPERLINK(1)"


@pytest.fixture(scope="module")
def crawled(shared_crawl: Crawling) -> tuple[Crawling, Site]:
    """A crawl with a bit of everything."""
    crawl = shared_crawl
    site = crawl.site().front("/a", "/gone", "/moved", body='<img src="/i.png" alt=x>')
    site.file("/a", f"<!DOCTYPE html><title>{EVIL}</title><a href='/'>home</a>", HTML)
    site.answer("/gone", Answer(410))
    site.redirect("/moved", "/a#x", 302)
    crawl.run("data_rules: [{host: 127.0.0.1, name: title, type: text, css: 'title::text'}]")
    return crawl, site


VIEW_OF = {"pages": "v_page", "attempts": "v_attempt", "links": "v_link", "redirects": "v_redirect"}


@pytest.mark.parametrize("what", VIEW_OF)
def test_an_export_as_json_lines_is_the_view(crawled: tuple[Crawling, Site], what: str) -> None:
    crawl, _ = crawled
    said = crawl.ask("export", what, "--format", "jsonl")
    rows = [json.loads(line) for line in said.out.splitlines()]
    wanted = crawl.rows(f"SELECT * FROM {VIEW_OF[what]}")
    assert sorted(rows, key=repr) == sorted(wanted, key=repr)


def test_failures_and_data_are_exported(crawled: tuple[Crawling, Site]) -> None:
    crawl, site = crawled
    (failure,) = [json.loads(line) for line in crawl.ask("export", "failures", "--format", "jsonl").out.splitlines()]
    assert (failure["url"], failure["last_exit_code"]) == (site.url("/gone"), "file_gone")
    data = [json.loads(line) for line in crawl.ask("export", "data", "--format", "jsonl").out.splitlines()]
    assert {(row["url"], row["name"], row["value"]) for row in data} == {
        (site.url(), "title", "/"),
        (site.url("/a"), "title", EVIL),
    }


def test_csv_is_safe_for_spreadsheets(crawled: tuple[Crawling, Site]) -> None:
    crawl, site = crawled
    rows = {row["url"]: row for row in csv.DictReader(io.StringIO(crawl.ask("export", "pages", "--format", "csv").out))}
    assert rows[site.url("/a")]["title"] == f"'{EVIL}"
    assert len(rows) == crawl.value("SELECT count(*) FROM v_page")


def test_parquet_opens_with_a_reader(crawled: tuple[Crawling, Site]) -> None:
    crawl, _ = crawled
    table = parquet.read_table(io.BytesIO(crawl.ask("export", "attempts", "--format", "parquet").raw))
    assert table.num_rows == crawl.value("SELECT count(*) FROM v_attempt")
    with crawl.reports() as reports:
        assert tuple(table.column_names) == reports.columns("v_attempt")


def test_a_warc_holds_request_and_response_of_every_stored_body_and_error(crawled: tuple[Crawling, Site]) -> None:
    crawl, site = crawled
    path = crawl.folder / "bodies.warc.gz"
    assert crawl.ask("export", "bodies", "--format", "warc", "--output", str(path)).status == 0
    found: dict[tuple[str, str], bytes] = {}
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            key = (record.rec_type, record.rec_headers.get_header("WARC-Target-URI") or "")
            found[key] = record.content_stream().read()
    for url in (site.url(), site.url("/a")):
        assert ("request", url) in found
        with crawl.reports() as reports:
            assert found["response", url] == reports.body(url)
    assert found["response", site.url("/gone")] == b""


def test_a_crawl_writes_web_archives_as_it_goes(crawl: Crawling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "very-secret")
    site = crawl.site()
    site.page("/", "/gone", "/moved", body="<img src=/i.png>", headers=(("ETag", '"1"'), ("Set-Cookie", "a=1")))
    site.answer("/gone", Answer(410, b"it was here", (("Content-Type", "text/html"),)))
    site.answer("/moved", Answer(301, b"over there", (("Location", "/there"),)))
    site.page("/there")
    site.file("/i.png", "picture", "image/png")
    text = f"""crawl: {{link_kinds_queued: [a, img]}}
storage: {{warc: warcs}}
hosts: [{{host: "{site.origin}", headers: {{X-Key: "${{KEY}}"}}}}]
"""
    crawl.run(text)
    site.answer("/", Answer(304, headers=(("ETag", '"1"'),)))
    crawl.run(text, crawl__recheck=True, later=60_000)
    found: list[tuple[str, str, bytes]] = []
    for path in sorted((crawl.folder / "warcs").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                url, head = record.rec_headers.get_header("WARC-Target-URI") or "", record.http_headers
                found.append((record.rec_type, url.removeprefix(site.origin), record.content_stream().read()))
                if record.rec_type == "request":
                    assert head.get_header("X-Key") == "***"
    answers = {(kind, url): body for kind, url, body in found}
    assert answers["response", "/gone"] == b"it was here"
    assert answers["response", "/moved"] == b"over there"
    assert answers["response", "/i.png"] == b"picture"
    assert ("response", "/robots.txt") in answers
    assert f"outlink: {site.url('/i.png')} img\r\n".encode() in next(
        one[2] for one in found if one[:2] == ("metadata", "/")
    )
    assert answers["revisit", "/"] == b""
    assert len([one for one in found if one[0] == "request"]) == len(site.seen)
    assert len(list((crawl.folder / "warcs").glob("*.cdxj"))) == 2


def test_an_export_into_a_missing_folder_is_a_clear_error(crawled: tuple[Crawling, Site]) -> None:
    crawl, _ = crawled
    said = crawl.ask("export", "pages", "--format", "csv", "--output", str(crawl.folder / "no" / "such.csv"))
    assert said.status == 2
    assert "no" in said.err
    assert not (crawl.folder / "no").exists()


def test_links_each_way_with_kind_and_text(crawled: tuple[Crawling, Site]) -> None:
    crawl, site = crawled
    told = crawl.ask("links", site.url("/a"), "--json").json
    assert [(one["from_url"], one["kind"], one["text"]) for one in told["inlinks"]] == [(site.url(), "a", "/a")]
    assert [(one["to_url"], one["kind"], one["text"]) for one in told["outlinks"]] == [(site.url(), "a", "home")]
    picture = crawl.ask("links", site.url("/i.png"), "--json").json
    assert [one["kind"] for one in picture["inlinks"]] == ["img"], "no page, and still known"


def test_the_exclusion_list_is_kept_by_a_command(crawled: tuple[Crawling, Site]) -> None:
    crawl, _ = crawled
    assert crawl.ask("exclude", "domain", "example.net", "--reason", "owner asked").status == 0
    (entry,) = crawl.ask("exclude", "--list", "--json").json["exclusions"]
    assert (entry["kind"], entry["value"], entry["reason"]) == ("domain", "example.net", "owner asked")
    assert crawl.ask("exclude", "domain", "example.net", "--remove").status == 0
    assert crawl.ask("exclude", "--list", "--json").json["exclusions"] == []


def test_the_database_is_checked_and_named(crawled: tuple[Crawling, Site]) -> None:
    crawl, _ = crawled
    assert crawl.ask("db", "check").status == 0
    assert crawl.ask("db", "path").out.strip() == str(crawl.database)


def test_a_command_that_reads_needs_a_database_that_exists(crawl: Crawling) -> None:
    for words in (("status",), ("why", "http://a.example/"), ("export", "pages", "--format", "csv"), ("jobs",)):
        said = crawl.command(*words, "--db", str(crawl.folder / "none.db"))
        assert said.status == 2
        assert "none.db" in said.err


def test_the_views_answer_in_any_tool_while_a_run_is_live(crawl: Crawling) -> None:
    site = crawl.site().pages("/a")
    seen: list[dict[str, Any]] = []

    def on_event(event: Event) -> None:
        if event.event == "attempt_finished" and event.url == site.url():
            with sqlite3.connect(f"file:{crawl.database}?mode=ro", uri=True) as other:
                views = [row[0] for row in other.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
                seen.append({view: other.execute(f"SELECT count(*) FROM {view}").fetchone()[0] for view in views})
            other.close()
            said.append(
                crawl.command_meanwhile("export", "pages", "--format", "jsonl", "--db", str(crawl.database)).out
            )

    said: list[str] = []
    crawl.run(on_event=on_event)
    assert seen[0]["v_page"] == 2
    assert len(seen[0]) >= 14
    assert len(said[0].splitlines()) == 2


def test_effective_configuration_and_its_places(crawl: Crawling) -> None:
    crawl.site()
    config = crawl.configure("crawl: {tries: 7}")
    told = crawl.command("check", str(config), "--json").json
    assert told["ok"] is True
    assert told["effective"]["crawl.tries"] == {"value": 7, "source": f"{config}:3"}
    assert told["effective"]["crawl.patience"] == {"value": 5, "source": "default"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_completes(crawl: Crawling, shell: str) -> None:
    said = crawl.command("completion", shell)
    assert said.status == 0
    assert "tui-crawler" in said.out
