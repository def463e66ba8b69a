"""No query of the hot paths or of a refresh grows with the number of pages: each is served by an index."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import peewee
import pytest

from tests.cli.test_report_command import store_site
from tests.storage.making import T0, A, B, added, crawled, fill_of, plan, record, seed
from tui_crawler.storage.crawl import (
    activity,
    candidates,
    canonicals,
    counters,
    documents,
    former,
    intake,
    operator_actions,
    origins,
    rejudging,
    retrying,
    settle,
    settle_group,
    stashes,
    urls,
)
from tui_crawler.storage.db.database import open_readonly
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.reader import IdSpan, Reader
from tui_crawler.storage.db.statements import compile_query
from tui_crawler.storage.db.views import VIEWS
from tui_crawler.storage.drivers.driver import connection_of
from tui_crawler.storage.models import Page
from tui_crawler.storage.queue import scan
from tui_crawler.storage.reports import attempts as attempt_reports
from tui_crawler.storage.reports import diagnosis as diagnosis_reports
from tui_crawler.storage.reports import failures as failure_reports
from tui_crawler.storage.reports import jobs as job_reports
from tui_crawler.storage.reports import links as link_reports
from tui_crawler.storage.reports import log_windows, run_diffs
from tui_crawler.storage.reports import overview as overview_reports
from tui_crawler.storage.reports import pages as page_reports
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.reports.site_audit import SiteAuditReports
from tui_crawler.storage.store import SqliteStore, StoreSettings


def of(module: Any, *names: str) -> tuple[Any, ...]:
    """What builds statements, by name."""
    return tuple(getattr(module, name) for text in names for name in text.split())


SINGLE = (
    *of(
        documents,
        "_anchors _drop_anchors _named_fragments _mark_fragment _delete_fragments",
        "_waiting _store_validation _store_message _delete_link",
    ),
    *of(activity, "_newest_finish _newest_attempt"),
    *of(
        candidates,
        "_pending _pending_seeds _pending_others _done _done_seeds _done_others _next_due _waiting _waiting_due",
    ),
    *of(stashes, "_dripfeed _dripped _next_out _move"),
    *of(
        former,
        "_document_with _state_with _delete_body _past_pages _past_links",
        "_delete_page _delete_link _purge_robots _redirects _copy_robots",
    ),
    *of(settle, "_page_state update_page put_on_lists _claim_page"),
    *of(origins, "clear_todo _find _write_with_attempt _waiting"),
    *of(retrying, "_failed_origins _todo_list"),
    *of(counters, "_add_to_run _forget_minutes"),
    *of(scan, "_unscanned _bare _mark_document _mark_page"),
    *of(canonicals, "_answer _due _first_due _page_of _decided"),
    *of(rejudging, "_refused _by_robots _too_long"),
)
OF_SIZE = (
    *of(documents, "_former _links_of _delete_redirects _anchors_among"),
    *of(former, "_copy_pages _copy_relinked _copy_named"),
    *of(settle, "_of_rivals"),
    *of(urls, "_find"),
    *of(settle_group, "_page_states _origins"),
    *of(intake, "_find _put_back"),
    *of(candidates, "_with_pending _with_due"),
    *of(operator_actions, "_on_lists _added"),
    *of(canonicals, "_wake _drop _ignore _ask_again"),
    *of(rejudging, "_rest_refused _rest_skipped"),
    *of(retrying, "_with_urls _failed_of _all_of _failed_with _scanned _state _ranks _todo"),
    *of(stashes, "_pending"),
    *intake._SHORTER,
)
SMALL = {"j", "jobs", "job", "o", "origin", "s", "session", "run", "exit_count", "operator_action", "x"}
ONWARD, BACK = IdSpan(after_id=1, oldest_first=True), IdSpan(before_id=9)
LOG_CONDITIONS = ((), (overview_reports.OF_ORIGIN,), ("a.problem = 1",), (overview_reports.OF_ORIGIN, "a.problem = 1"))
REPORTS = (
    job_reports._TODO,
    f"{overview_reports.ORIGINS} WHERE o.change > ?",
    overview_reports.EXITS_OF_RUN,
    job_reports._RECENT_EXITS,
    f"{overview_reports.ATTEMPTS} ORDER BY a.id DESC LIMIT ?",
    f"{overview_reports.ATTEMPTS} WHERE {overview_reports.OF_ORIGIN} AND a.id < ? ORDER BY a.id DESC LIMIT ?",
    f"{overview_reports.ATTEMPTS} WHERE a.problem = 1 AND a.id < ? ORDER BY a.id DESC LIMIT ?",
    f"{overview_reports.ATTEMPTS} WHERE a.url_id = ? ORDER BY a.id DESC LIMIT ?",
    *(f"{overview_reports.ATTEMPTS}{ONWARD.ending('a.id', *conditions)}" for conditions in LOG_CONDITIONS),
    *(f"{overview_reports.ATTEMPTS}{BACK.ending('a.id', *conditions)}" for conditions in LOG_CONDITIONS),
    *(f"{log_windows.ACTIVITY}{span.ending('y.id', log_windows.ACTIVITY_OF_ORIGIN)}" for span in (ONWARD, BACK)),
    *(f"{log_windows.ACTIVITY}{span.ending('y.id')}" for span in (ONWARD, BACK)),
    attempt_reports._REQUESTS,
    f"{page_reports.PAGES} WHERE p.id > ? ORDER BY p.id LIMIT ?",
    f"{page_reports.PAGES} WHERE {page_reports.OF_ORIGIN} AND p.id > ? ORDER BY p.id LIMIT ?",
    f"{page_reports.PAGES} WHERE p.failed = 1 AND p.last_exit_code = ? AND p.id > ? ORDER BY p.id LIMIT ?",
    failure_reports._counted(("exit_code",), (), failure_reports._way(())[0]),
    failure_reports._counted(("pattern", "message"), ("sought",), failure_reports._way(())[0]),
    failure_reports._counted(("exit_code",), (), failure_reports._way((("origin", A),))[0]),
    failure_reports._counted(("exit_code",), (), failure_reports._way((("origin", A), ("origin", B)))[0]),
    failure_reports._counted(("pattern",), (), failure_reports._way((("exit_code", "file_gone"),))[0]),
    link_reports.INLINKS,
    link_reports.OUTLINKS,
    link_reports.INWARD,
    link_reports.OUTWARD,
    link_reports.BROKEN,
    link_reports.REFERRING,
    link_reports.REDIRECTING,
    link_reports.LISTING,
    link_reports.COUNT_BROKEN,
    link_reports.FRAGMENTS,
    link_reports.NAMING,
    f"SELECT {failure_reports._COLUMNS} WHERE p.failed = 1 AND {page_reports.OF_ORIGIN} AND p.id > ? "
    "ORDER BY p.id LIMIT ?",
    f"SELECT {failure_reports._COLUMNS} WHERE p.failed = 1 AND p.id > ? ORDER BY p.id LIMIT ?",
    f"SELECT {failure_reports._COLUMNS} WHERE p.failed = 1 AND p.id < ? ORDER BY p.id DESC LIMIT ?",
    *(
        text.format(key=key, runs="2, 3")
        for text in (run_diffs.LINKS_NEW, run_diffs.LINKS_GONE)
        for key in ("from_page_id", "to_url_id")
    ),
    page_reports._PLACE,
    VIEWS["v_job"],
    job_reports._JOBS,
    job_reports._LIMBO,
    job_reports._STASHES,
    diagnosis_reports._LAST_PROBLEMS,
    diagnosis_reports._REFUSED_URLS,
    f"{log_windows.ACTIVITY} WHERE y.id > ? ORDER BY y.id DESC LIMIT ?",
    f"{log_windows.ACTIVITY} WHERE y.id > ? AND {log_windows.ACTIVITY_OF_ORIGIN} ORDER BY y.id DESC LIMIT ?",
)


@pytest.fixture
def database(database_path: Path) -> Iterator[peewee.SqliteDatabase]:
    opened = open_readonly(database_path)
    yield opened
    opened.close()


def ones(text: str, count: int | None = None) -> dict[str, int] | list[int]:
    """A value for every slot of a text."""
    names = re.findall(r":([a-z_]+)", text)
    return dict.fromkeys(names, 1) if names else [1] * (text.count("?") if count is None else count)


def plan_of(database: peewee.SqliteDatabase, text: str, count: int | None = None) -> list[str]:
    """The steps of SQLite's plan for a text."""
    return [row[3] for row in connection_of(database).execute(f"EXPLAIN QUERY PLAN {text}", ones(text, count))]


def full_scans(database: peewee.SqliteDatabase, text: str, count: int | None = None) -> list[str]:
    """Steps of the plan that read a large table from end to end, or sort what they found of it."""
    plan = plan_of(database, text, count)
    return [step for step in plan if step.startswith("SCAN ") and step.split()[1] not in SMALL and "USING" not in step]


@pytest.mark.parametrize(
    ("build", "size"),
    [*((build, ()) for build in SINGLE), *((build, (4,)) for build in OF_SIZE)],
    ids=lambda value: f"{value.__module__.rpartition('.')[2]}{value.__name__}" if callable(value) else str(*value),
)
def test_statements_of_the_writer(database, build, size):
    statement = compile_query(database, build(*size))
    assert full_scans(database, statement.text, len(statement.names)) == []


@pytest.mark.parametrize("text", REPORTS, ids=lambda text: " ".join(text.split())[-40:])
def test_queries_of_the_reports(database, text):
    by_key = {"SCAN a", "SCAN p", "SCAN g"} if "ORDER BY" in text else set()  # or grouped
    assert by_key.issuperset(full_scans(database, text))


@pytest.mark.parametrize(
    ("build", "index"),
    [
        (candidates._pending, "page_pending (origin_id=? AND job_id=?)"),
        (candidates._pending_seeds, "page_seed (origin_id=? AND job_id=?)"),
        (candidates._done, "COVERING INDEX page_done (origin_id=? AND job_id=? AND last_crawled_at<?)"),
        (candidates._next_due, "page_pending (origin_id=? AND job_id=? AND <expr>>?)"),
        (candidates._waiting, "page_pending (origin_id=? AND job_id=? AND <expr>>?)"),
        (candidates._waiting_due, "COVERING INDEX page_done (origin_id=? AND job_id=? AND last_crawled_at<?)"),
        (candidates._with_pending, "page_pending (origin_id=? AND job_id=? AND <expr>>?)"),
        (candidates._with_due, "COVERING INDEX page_done (origin_id=? AND job_id=? AND last_crawled_at<?)"),
        (origins.clear_todo, "page_todo (origin_id=? AND todo_order>?)"),
        (stashes._dripped, "page_dripped (job_id=? AND stash=?)"),
        (stashes._next_out, "page_stash (job_id=? AND stash=?)"),
        (intake._find, "page_url_id_job_id (url_id=?)"),
        (scan._unscanned, "document_unscanned (page_id>?)"),
        (scan._bare, "page_unscanned (id>?)"),
        (canonicals._due, "canonical_claim_awaits_page_id (awaits=? AND page_id>?)"),
        (canonicals._first_due, "canonical_claim_awaits_page_id (awaits=?)"),
        (canonicals._wake, "canonical_claim_awaits_page_id (awaits=?)"),
        (rejudging._refused, "t1 USING INTEGER PRIMARY KEY (rowid>?)"),
        (rejudging._too_long, "page_failed_code (last_exit_code=? AND rowid>?)"),
        (retrying._failed_origins, "page_failed_origin"),
        (retrying._failed_of, "page_failed_origin (origin_id=? AND rowid>?)"),
        (retrying._all_of, "COVERING INDEX page_origin (origin_id=? AND rowid>?)"),
        (retrying._failed_with, "page_failed_code (last_exit_code=? AND rowid>?)"),
        (retrying._scanned, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (retrying._with_urls, "page_url_id_job_id (url_id=?"),
    ],
)
def test_which_index_serves_a_fill_or_a_build(database, build, index):
    statement = compile_query(database, build(4) if build in OF_SIZE else build())
    plan = plan_of(database, statement.text, len(statement.names))
    assert any(index in step for step in plan), plan


def test_broken_links_are_found_by_the_index_of_what_failed(database):
    plan = plan_of(database, link_reports.BROKEN)
    assert any("p USING INDEX page_failed (id>?)" in step for step in plan), plan
    plan = plan_of(database, link_reports.REFERRING)
    assert plan[0] == "SEARCH l USING INDEX link_to_url_id (to_url_id=?)"
    plan = plan_of(database, link_reports.FRAGMENTS)
    assert plan[0] == "SEARCH g USING INDEX fragment_missing ((to_url_id,fragment)>(?,?))", plan
    assert not any("TEMP B-TREE" in step for step in plan), plan


def test_pages_that_two_runs_changed_are_read_in_the_order_of_their_key(database):
    """Of several runs, too: their rows are merged, none is sorted, and of each table one row is looked up."""
    former_rows = " UNION ALL ".join(run_diffs.FORMER.format(run=run) for run in (2, 3))
    text = run_diffs.CHANGES.format(former=former_rows)
    plan = plan_of(database, text)
    key = "SEARCH former_page USING PRIMARY KEY (run_id=? AND (origin_id,page_id)>(?,?) AND origin_id<?)"
    assert plan.count(key) == 2, plan
    assert [step for step in plan if step.startswith("SCAN")] == ["SCAN f"]
    assert not any("TEMP B-TREE" in step for step in plan), plan


class Told(Reader):
    """A reader that remembers what it is asked."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.texts: list[str] = []

    def _answer(self, text: str, values: Sequence[Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        self.texts.append(text)
        return super()._answer(text, values)

    def stream(self, text: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        self.texts.append(text)
        return super().stream(text, values)


@pytest.mark.parametrize("run", [None, 1])
async def test_a_site_audit_reads_no_table_once_per_row_of_another(database, database_path, run):
    """It may read tables from end to end, one after the other."""
    await store_site(database_path)
    with closing(Told(database_path)) as reader:
        assert SiteAuditReports(reader).site_audit(run) is not None
        texts = reader.texts
    assert len(texts) < 50
    for text in texts:
        steps = connection_of(database).execute(f"EXPLAIN QUERY PLAN {text}", ones(text)).fetchall()
        correlated = {step[0] for step in steps if "CORRELATED" in step[3]}
        scans = [step for step in steps if step[3].startswith("SCAN ") and step[3].split()[1] not in SMALL]
        parents = [step[1] for step in scans]
        assert not correlated & set(parents), steps
        assert len(parents) == len(set(parents)), steps


def test_a_scan_would_be_seen(database):
    text, values = Page.select().where(Page.depth == 5).bind(database).sql()
    assert full_scans(database, text, len(values)) == ["SCAN t1"]


LOOKUPS = {
    "SELECT * FROM v_link WHERE to_url = ?": "l USING INDEX link_to_url_id (to_url_id=?)",
    "SELECT * FROM v_link WHERE from_url = ?": "l USING PRIMARY KEY (from_page_id=?)",
    "SELECT * FROM v_page WHERE url = ?": "p USING INDEX page_url_id_job_id (url_id=?",
    "SELECT inlinks FROM v_page WHERE url = ?": "l USING COVERING INDEX link_to_url_id (to_url_id=?)",
    "SELECT ok_status FROM v_page WHERE url = ?": "c USING INDEX attempt_url (url_id=?)",
    "SELECT * FROM v_attempt WHERE url = ?": "a USING INDEX attempt_url (url_id=?)",
    "SELECT * FROM v_redirect WHERE to_url = ?": "r USING INDEX redirect_to_url_id (to_url_id=?)",
    "SELECT * FROM v_redirect WHERE from_url = ?": "r USING INDEX sqlite_autoindex_redirect_1 (page_id=?)",
    "SELECT * FROM v_document WHERE url = ?": "d USING INTEGER PRIMARY KEY (rowid=?)",
    "SELECT * FROM v_data WHERE url = ?": "b USING INDEX data_block_page_id_name_place (page_id=?)",
    "SELECT from_url, last_http_status FROM v_page JOIN v_link ON to_url = url WHERE url = ?": "(to_url_id=?)",
    "SELECT from_url, text FROM v_page JOIN v_link ON to_url = url WHERE last_http_status = ?": "(to_url_id=?)",
}
"""What a person asks of the views by a URL, and the step that answers it."""
GROWN = """
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
INSERT INTO url (id, hash, href) SELECT i, i * 7919, 'https://a.example/' || i FROM n;
INSERT INTO job (id, name) VALUES (1, 'main');
INSERT INTO origin (id, origin) VALUES (1, 'https://a.example');
INSERT INTO page (id, job_id, origin_id, url_id) SELECT id, 1, 1, id FROM url;
INSERT INTO document (page_id) SELECT id FROM page;
INSERT INTO link (from_page_id, kind, to_url_id) SELECT p.id, 'a', 1 + (p.id * 31 + u.id * 17) % 2000
    FROM page p JOIN url u ON u.id <= 8 WHERE true ON CONFLICT DO NOTHING;
INSERT INTO redirect (page_id, source, to_url_id) SELECT id, 'location', id + 1
    FROM page WHERE id % 10 = 0 AND id < 2000;
INSERT INTO data_block (page_id, name, type, value) SELECT id, 'price', 'text', '1' FROM page WHERE id % 3 = 0;
INSERT INTO run (id, job_id) VALUES (1, 1);
INSERT INTO session (id) VALUES (1);
INSERT INTO attempt (run_id, session_id, origin_id, url_id, page_id, kind, exit_code)
    SELECT 1, 1, 1, url_id, id, 'page', 0 FROM page;
ANALYZE;
"""


@pytest.mark.parametrize("with_statistics", [False, True], ids=["without statistics", "with ANALYZE"])
def test_a_url_is_looked_up_in_the_views_without_reading_a_table_through(database_path, with_statistics):
    made = sqlite3.connect(database_path)
    if with_statistics:
        made.executescript(GROWN)
        made.close()
        made = sqlite3.connect(database_path)  # statistics are read when a database is opened
    for text, step in LOOKUPS.items():
        plan = [row[3] for row in made.execute(f"EXPLAIN QUERY PLAN {text}", ("x",))]
        assert any(step in one for one in plan), (text, plan)
        small = SMALL | {"p"} if "last_http_status = ?" in text else SMALL  # which pages those are, no index tells
        assert [one for one in plan if one.startswith("SCAN ") and one.split()[1] not in small] == [], text
    made.close()


LARGE = {
    "page",
    "url",
    "link",
    "attempt",
    "attempt_result",
    "request",
    "document",
    "redirect",
    "body",
    "operator_action",
}
BOUNDED = {"page_todo", "page_claimed", "operator_action_waiting", "document_waiting"}
"""Indices of what is under way, not of what is known."""


def asked(statements: Sequence[str], database_path: Path) -> dict[str, list[str]]:
    """The steps that read through a large table, or a whole index of it, of each statement."""
    found: dict[str, list[str]] = {}
    with closing(sqlite3.connect(database_path)) as database:
        for text in dict.fromkeys(statements):
            if text.split(maxsplit=1)[0] not in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}:
                continue
            tables = {
                name: alias or name for name, alias in re.findall(r'"?(\w+)"? (?:AS )?"?([tuplars]\d?)"?\b', text)
            }
            large = LARGE | {alias for name, alias in tables.items() if name in LARGE}
            plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {text}")]
            steps = [step for step in plan if step.startswith("SCAN ") and step.split()[1] in large]
            steps = [step for step in steps if not BOUNDED & set(step.split())]
            by_key = "LIMIT" in text and not any("TEMP B-TREE" in step for step in plan)  # as many as are asked for
            if steps and not by_key:
                found[text] = steps
    return found


async def test_nothing_that_is_asked_while_a_run_goes_on_grows_with_what_is_known(database_path):
    """All statements, as SQLite is given them: of a fill, a claim, an attempt, added seeds; of status and overview."""
    told: list[str] = []

    class Traced(sqlite3.Connection):
        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            self.set_trace_callback(told.append)

    opening = OpenSettings(connection=Traced)
    store = SqliteStore(database_path, StoreSettings(opening=opening))
    await store.begin_run(plan())
    told.clear()
    (home,) = (await store.candidates(A, T0, 500, True)).pages
    await store.fill(fill_of((home,)))
    store.mark_in_flight(home.page_id, A, home.url)
    await store.settle(crawled(home, T0, f"{A}/1", f"{A}/2"))
    await store.candidates(A, T0, 500, False)
    pages = await added(store, seed(f"{A}/added"), seed(f"{A}/1"), seed(home.url, force=True))
    await store.put_first([(record(), [page.page_id for page in pages])])
    assert any('INTO "link"' in text for text in told)
    assert asked(told, database_path) == {}
    told.clear()
    with closing(Reports(database_path, opening)) as reports:
        told.clear()
        assert reports.run() is not None
        assert reports.totals().done == 0
        assert len(reports.origins_changed()) == 1
        assert len(reports.attempts()) == 1
    store.close()
    assert len(told) > 4
    assert asked(told, database_path) == {}


def test_a_table_that_is_read_through_would_be_seen(database_path, database):
    assert asked(["SELECT t1.id FROM page AS t1 WHERE t1.depth = 5", "SELECT COUNT(*) FROM url"], database_path)
