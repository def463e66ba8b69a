"""The views keep the columns they promise (the table in views.md is that of the interface), and say what is so."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, WEEK, A, B, crawled, document, failed, fill_of, link, outcome, plan, record, seed
from tests.storage.raw import rows
from tui_crawler.domain.records.attempt import RedirectRecord, RedirectSource, RefusedCount
from tui_crawler.domain.records.command import Exclude, PauseOrigins, from_json
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.db.views import VIEWS
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers.journal import Journal

TABLE = Path(__file__).with_name("views.md").read_text(encoding="utf-8")
PUBLISHED = {  # the four tables of design G, by their published column names, with a `site` column
    "crawler_sites": {"site", "id", "domain", "start_path"},
    "crawler_queue": {"site", "id", "url", "pattern", "force"},
    "crawler_urls": {
        "site",
        "url",
        "accessed",
        "content-type",
        "content-length",
        "status",
        "etag",
        "response",
        "validation_type",
        "valid",
    },
    "crawler_links": {"site", "from", "to", "type"},
}
ADDED = {  # not in the interface's table, but kept like it
    "v_activity": {"at", "event", "origin", "run_id", "message"},
    "v_data": {"url", "name", "type", "place", "value"},
    "v_document": {
        "url",
        "kind",
        "content_type",
        "charset",
        "title",
        "size",
        "sha256",
        "etag",
        "last_modified",
        "cache_control",
        "expires",
        "age",
        "content_location",
        "canonical",
        "noindex",
        "nofollow",
        "incomplete",
        "stored_at",
        "validation_type",
        "valid",
        "validation_errors",
        "lastmod",
    },
    "v_result": {"attempt_id", "type", "value"},
}


def promised() -> dict[str, list[str]]:
    found = {}
    for line in TABLE.splitlines():
        name, columns = (cell.strip() for cell in line.strip("|").split("|"))
        if name.startswith("`v_"):
            found[name.strip("`")] = [c.strip() for c in re.sub(r"\([^)]*\)", "", columns).split(",")]
    return found


async def test_every_view_has_exactly_its_columns(database_bench: DatabaseBench):
    database_bench.open()
    reports = Reports(database_bench.place)
    names = promised()
    assert len(names) == 10
    assert set(VIEWS) == set(names) | set(PUBLISHED) | set(ADDED)
    for name, columns in names.items():
        found = list(reports.columns(name))
        assert found == columns, name
    for name, published in (PUBLISHED | ADDED).items():
        assert {*reports.columns(name)} == published
        assert name in ADDED or f"`{name}`" in TABLE
    reports.close()


async def test_what_the_views_say_of_a_small_crawl(database_bench: DatabaseBench):
    store = database_bench.open()
    await store.begin_run(plan(f"{A}/", f"{A}/gone", f"{B}/"))
    home, gone = (await store.candidates(A, T0, 10, True)).pages
    await store.fill(fill_of((home, gone)))
    moved = RedirectRecord(f"{A}/to", "part", True, RedirectSource.canonical)
    made = crawled(home, T0, f"{A}/1", redirect=moved, refused=(RefusedCount("scope", 2, "https://z.example/"),))
    await store.settle(replace(made, links=(link(f"{A}/1", text="one", nofollow=True),)))
    await store.settle(failed(gone, T0 + 1, ExitCode.file_gone, 410))
    database_bench.ask(PauseOrigins((A,)))
    path = database_bench.place
    page = rows(path, f"SELECT * FROM v_page WHERE url = '{A}/'")[0]
    assert (page["status"], page["last_exit_code"], page["last_http_status"]) == ("READY", "file_ingested", 200)
    assert (page["etag"], page["content_type"], page["size"], page["title"]) == ('"e1"', "text/html", 8, "a title")
    assert (page["due_at"], page["valid"], page["job"]) == (T0 + 4 * WEEK, None, "main")
    unseen = rows(path, f"SELECT * FROM v_page WHERE url = '{A}/1'")[0]
    assert (unseen["last_exit_code"], unseen["last_crawled_at"], unseen["etag"]) == ("", None, "")
    assert unseen["due_at"] <= database_bench.now
    attempt = rows(path, "SELECT * FROM v_attempt WHERE exit_code = 'file_gone'")[0]
    assert (attempt["exit_code_id"], attempt["kind"], attempt["requests"], attempt["run_id"]) == (41, "page", 1, 1)
    assert rows(path, "SELECT * FROM v_request")[1]["http_status"] == 410
    assert tuple(rows(path, "SELECT * FROM v_link")[0]) == (f"{A}/", f"{A}/1", "a", 1, "one", T0, 0)
    assert tuple(rows(path, "SELECT * FROM v_redirect")[0]) == (f"{A}/", f"{A}/to", "part", 1, "canonical", T0)
    assert tuple(rows(path, "SELECT * FROM v_refused")[0]) == (A, "scope", 2, "https://z.example/")
    origin = rows(path, f"SELECT * FROM v_origin WHERE origin = '{A}'")[0]
    assert (origin["pending"], origin["done"], origin["failed"], origin["requests"]) == (1, 1, 1, 2)
    assert (origin["robots_status"], origin["robots_fetched_at"]) == ("none", None)
    job = rows(path, "SELECT * FROM v_job")[0]
    assert (job["job"], job["status"], job["pending"], job["claimed"], job["done"]) == ("main", "ACTIVE", 2, 0, 1)
    assert rows(path, "SELECT * FROM v_operator_action")[0]["action"] == "pause"
    run = rows(path, "SELECT * FROM v_run")[0]
    assert (run["requests"], run["finished_at"], run["finish_reason"]) == (2, None, "")
    await store.end_run("exhausted", True)
    assert rows(path, "SELECT finished_at FROM v_run")[0][0] == T0


async def test_the_tables_of_design_g(database_bench: DatabaseBench):
    store = database_bench.open()
    await store.begin_run(replace(plan(), seeds=(seed(f"{A}/", item_pattern="/x", force=True),)))
    path = database_bench.place
    queue = rows(path, "SELECT * FROM crawler_queue")[0]
    assert (queue["site"], queue["url"], queue["pattern"], queue["force"]) == (A, f"{A}/", "/x", 1)
    assert rows(path, "SELECT * FROM crawler_urls") == []
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    await store.fill(fill_of((home,)))
    await store.settle(crawled(home, T0, f"{A}/1"))
    stored = rows(path, "SELECT * FROM crawler_urls")[0]
    assert (stored["accessed"], stored["content-type"], stored["content-length"]) == (T0, "text/html", 8)
    assert (stored["status"], stored["valid"]) == ("200", None)
    assert stored["response"]
    found = rows(path, "SELECT * FROM crawler_links")[0]
    assert (found["from"], found["to"], found["type"]) == (f"{A}/", f"{A}/1", "a")
    assert tuple(rows(path, "SELECT site, domain, start_path FROM crawler_sites")[0]) == (A, "a.example", "/")


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "READY"),
        ({"next_request_at": 2**52}, "WAITING"),
        ({"asleep_until": 2**52}, "WAITING"),
        ({"in_flight_url": f"{A}/"}, "BUSY"),
        ({"finish_reason": "patience", "next_request_at": 2**52}, "FINISHED"),
    ],
)
async def test_the_state_of_an_origin(database_bench: DatabaseBench, changes, state):
    store = database_bench.open()
    await store.begin_run(plan(f"{A}/", f"{B}/"))
    await store.save_origins([replace(record(next_request_at=0), **changes)])
    assert rows(database_bench.place, f"SELECT state FROM v_origin WHERE origin = '{A}'")[0][0] == state
    await store.end_run("exhausted", True)
    await database_bench.open().begin_run(plan(f"{B}/"))
    assert rows(database_bench.place, f"SELECT state FROM v_origin WHERE origin = '{A}'")[0][0] == "IDLE"


async def test_when_pages_are_due(database_bench: DatabaseBench):
    store = database_bench.open()
    seeds = *plan(f"{A}/", f"{A}/again", f"{A}/fresh", f"{A}/skipped").seeds, seed(f"{A}/later", not_before=T0 + 900)
    await store.begin_run(replace(plan(), seeds=seeds))
    pages = {page.url: page for page in (await store.candidates(A, T0, 10, True)).pages}
    await store.settle(failed(pages[f"{A}/again"], T0 + 5, ExitCode.did_not_understand_answer, 200))
    fresh = pages[f"{A}/fresh"]
    kept = outcome(fresh, ExitCode.file_ingested, T0, fresh_until=T0 + 9 * WEEK)
    await store.settle(replace(crawled(fresh, T0), page=kept))
    await store.settle(failed(pages[f"{A}/skipped"], T0, ExitCode.skipped_by_rule))
    due = {row["url"]: row["due_at"] for row in rows(database_bench.place, "SELECT url, due_at FROM v_page")}
    assert due == {
        f"{A}/": T0,
        f"{A}/again": T0 + 5,
        f"{A}/fresh": T0 + 9 * WEEK,
        f"{A}/later": T0 + 900,
        f"{A}/skipped": None,
    }
    await store.end_run("exhausted", True)
    await database_bench.open().begin_run(plan(respect_http_freshness=False, recrawl_interval_ms=WEEK))
    (row,) = rows(database_bench.place, f"SELECT due_at FROM v_page WHERE url = '{A}/fresh'")
    assert row["due_at"] == T0 + WEEK


@pytest.mark.parametrize(("left", "status"), [(0, "FINISHED"), (1, "DRAINING"), (2, "ACTIVE")])
async def test_the_state_of_a_job(database_bench: DatabaseBench, left, status):
    store = database_bench.open()
    await store.begin_run(plan(*(f"{A}/{n}" for n in range(3))))
    pages = (await store.candidates(A, T0, 10, True)).pages
    for page in pages[left:]:
        await store.settle(crawled(page, T0))
    if left:
        store.mark_in_flight(pages[0].page_id, A, pages[0].url)
        await store.heartbeat()
    assert rows(database_bench.place, "SELECT status FROM v_job")[0][0] == status


async def test_a_document_without_a_body_shows_its_size(database_bench: DatabaseBench):
    store = database_bench.open()
    await store.begin_run(plan())
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    made = document(home, body=None, size=12_345, content_type="image/png", kind="other")
    await store.settle(crawled(home, T0, document=made))
    stored = rows(database_bench.place, 'SELECT "content-length", response FROM crawler_urls')[0]
    assert tuple(stored) == (12_345, None)


def test_the_journal_has_what_was_asked_whole_and_what_became_of_it(tmp_path: Path):
    path = tmp_path / "crawl.db"
    journal = Journal(path, now=lambda: T0)
    sent = [Exclude("host", "b.example", reason="they asked"), Exclude("host", "b.example"), PauseOrigins((A,))]
    for command in sent:
        journal.send(command, "ann")
    database = sqlite3.connect(path)
    database.execute("UPDATE operator_action SET applied_at = 7 WHERE id < 3")
    database.execute("UPDATE operator_action SET error = 'it stands there already' WHERE id = 2")
    database.commit()
    database.close()
    first, second, waiting = rows(path, "SELECT * FROM v_operator_action ORDER BY at, applied_at IS NULL, error")
    assert json.loads(first["command"])["reason"] == "they asked"
    assert [from_json(row["action"], row["command"]) for row in (first, second, waiting)] == sent
    assert [(row["error"], row["applied_at"]) for row in (first, second, waiting)] == [
        ("", 7), ("it stands there already", 7), ("", None),
    ]  # fmt: skip
    journal.close()


def test_a_database_of_the_same_schema_gets_the_columns_when_it_is_opened_to_be_written(tmp_path: Path):
    path = tmp_path / "crawl.db"
    Journal(path).close()
    database = sqlite3.connect(path)
    database.executescript(
        'DROP VIEW v_operator_action; CREATE VIEW v_operator_action AS SELECT at, who, action, target, "before", '
        '"after", undone FROM operator_action;'
    )
    database.close()
    reports = Reports(path)
    assert "command" not in reports.columns("v_operator_action")
    assert reports.actions() == ()
    reports.close()
    Journal(path).close()
    reports = Reports(path)
    assert reports.columns("v_operator_action")[-3:] == ("command", "error", "applied_at")
    reports.close()


async def test_when_a_url_was_first_seen_who_links_to_it_and_with_what_status_it_last_gave_content(
    database_bench: DatabaseBench,
):
    def of(name: str) -> tuple[object, ...]:
        chosen = "first_seen, inlinks, last_http_status, ok_status"
        return tuple(rows(database_bench.place, f"SELECT {chosen} FROM v_page WHERE url = '{A}/{name}'")[0])

    store = database_bench.open()
    await store.begin_run(plan(f"{A}/", f"{A}/two"))
    pages = (await store.candidates(A, T0, 10, True)).pages
    await store.fill(fill_of(pages))
    home, two = pages
    await store.settle(crawled(home, T0, f"{A}/two", f"{A}/new"))
    await store.settle(crawled(two, T0 + 1, f"{A}/new", f"{A}/two"))
    seen, links, *_ = of("two")
    assert (bool(seen), links, of("")[1]) == (True, 2, 0)
    assert of("new")[1:] == (2, None, None)
    assert of("")[2:] == (200, 200)
    later = (ExitCode.file_did_not_change, 304, 200), (ExitCode.server_internal_error, 503, 200)
    gone = (ExitCode.file_not_found, 404, None), (ExitCode.noindex, 200, None), (ExitCode.redirect, 301, None)
    for number, (code, status, ok_status) in enumerate((*later, *gone)):
        await store.settle(failed(home, T0 + 10 + number, code, status))
        assert of("")[2:] == (status, ok_status), code
