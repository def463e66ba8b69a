"""docs/views.md, made from the views of a new database."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.views import VIEWS

MEANING = {
    "v_origin": "an origin crawler: state, patience, delay, robots.txt, counters",
    "v_page": "a page of a job: queue row and last result. Of a body that was left on the wire `sha256` is empty and "
    "`size` what its head said (0: nothing). `incomplete` names what was not read of it, with commas "
    "(links, input, deadline, …; the section `reading` of docs/configuration.md has the bounds). `valid` is NULL until "
    "a validator has looked, which comes after the page was stored; data blocks come then, too. `first_seen` "
    "is when the URL was first known, `inlinks` how many links name it. `ok_status` is the status with which the page "
    "last gave content: a 304 or a failure that may pass does not change it, and it is NULL for a page that is gone, "
    "refused, a redirect, noindex or not canonical",
    "v_attempt": "the crawl log: one row an attempt (page, robots, sitemap, check). `cut` is as `v_page.incomplete`; "
    "`response_ms` is the time of the server: connecting, and from the request until the last of the answer came in",
    "v_request": "an HTTP exchange inside an attempt. `dns_ms`, `connect_ms` (TCP alone), `tls_ms` are what the steps "
    "to its connection took, also one that failed; NULL for a step that was not taken. `connection_reused` is 1 for a "
    "kept connection, which took none; NULL where it was not noted (cancelled, or made by a program before schema 4). "
    "`head_at` less `sent_at` holds all of them: HAR's `send` and `wait` are that less the three, HAR's "
    "`connect` is `connect_ms` and `tls_ms` together. Behind a proxy they and `remote_address` are the proxy's",
    "v_link": "a link of a page; a kept one keeps when it was first seen",
    "v_redirect": "where a page sends its reader (location, meta_refresh, refresh_header, canonical)",
    "v_document": "what a page last gave: headers, directives, validation (errors: [line, column, message])",
    "v_data": "a value that a data rule found",
    "v_result": "a typed result of an attempt",
    "v_refused": "links that a filter refused, by reason, under the origin of the page that held them",
    "v_run": "a run; `requests` counts as `max_requests` does: turns that made a request, robots.txt among them, a "
    "fluke retry or a redirect hop of robots.txt not (`v_request` has every exchange)",
    "v_job": "a job",
    "v_operator_action": "the operator journal. `command` is what was asked, whole, as JSON: an exclusion with its "
    "reason. `error` is why it was not carried out, `applied_at` NULL while it waits. `tui-crawler log --json` has the "
    "command line that does the same",
    "v_activity": "what has happened: runs, origins, sessions, rulesets, segments",
    "crawler_sites": "design G: sites",
    "crawler_queue": "design G: the queue",
    "crawler_urls": "design G: URLs; `response` is the zstd-compressed body",
    "crawler_links": "design G: links",
}
HEAD = """# Views

Made from a new database; a test keeps this page equal to it. Tables may change by migration, these columns stay. The
database is one SQLite file in WAL mode, readable with any SQLite tool while a crawl runs. Times are epoch milliseconds,
UTC; booleans are 0 and 1; enumerations are names; what is unknown is NULL or an empty text.

| view | what a row is | columns |
|---|---|---|
"""


def views_markdown() -> str:
    """The page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "views.db"
        open_writable(path, OpenSettings()).close()
        with closing(sqlite3.connect(path)) as database:
            columns = {name: [row[1] for row in database.execute(f"PRAGMA table_info({name})")] for name in VIEWS}
    lines = [f"| `{name}` | {MEANING[name]} | {', '.join(columns[name])} |" for name in VIEWS]
    return HEAD + "\n".join(lines) + "\n"
