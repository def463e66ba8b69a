"""What commands answer of a crawl is the same, byte by byte, whether it is kept in a file or on a server: also where
the server orders texts as a language does, and its tables have their rows in no order."""

from __future__ import annotations

import gzip
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import psycopg
import pytest

from tests.designs.crawling import SECOND, Crawling
from tests.designs.web import Answer
from tests.support.postgres_database import made_database
from tui_crawler.domain.history.pulse import PulseOf
from tui_crawler.domain.history.replayed import ReplayGoal
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.records.database_place import PostgresPlace, parse_server_url
from tui_crawler.domain.records.view import LogReach, LogTerms
from tui_crawler.domain.rules.page_filter import PageFilter, read_page_filter
from tui_crawler.engine.clock import WALL_0
from tui_crawler.storage.crawl.replayed import ReplayedReader, ReplayedTables
from tui_crawler.storage.db.views import VIEWS
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.reports.sql import QueryRunner
from tui_crawler.wiring.coverage import coverage_of
from tui_crawler.wiring.replay_console import crawl_in_file

CONFIG = """
name: both
delay: {default: 100ms, floor: 100ms, start_politeness: 0, allow_impolite: true}
crawl: {patience: 9, check_fragments: true, check_embedded: true, recrawl_interval: 1s}
policies: {do_not_crawl: [{path: /admin}], url_query_parameters: [{match: {path: /list}, allow: [page]}]}
exclusions: [{pattern: /private/, reason: asked}, {domain: example.net}]
rules: [{match: /cal/, skip: true}]
data_rules: [{host: 127.0.0.1, name: photos, type: text, css: 'b::text'}]
jobs: [{name: News, seeds: [NEWS], nice: -3, note: größer}]
"""
CHANGE = "rules: [{match: /b, skip: true}]\nexclusions: [{host: é.example.org}, {cidr: 203.0.113.0/24}]\n"
TITLES = ("Zebra", "apple", "Äpfel", "_x", "zebra", "Zebra", "apple", "", "<b>é\u202e", "10 %", "1 %s")
ENGLISH = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' TEMPLATE template0"
FIRST_WITH_LANGUAGES = 15_00_00
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
SHUFFLED = "WITH gone AS (DELETE FROM {0} RETURNING *) INSERT INTO {0} SELECT * FROM gone ORDER BY random()"


def few(reports: Reports) -> object:
    """The paces of a sample."""
    with patch("tui_crawler.storage.reports.pulse.MOST_PACED", 7):
        return sorted(reports.paces(SPAN).items())


def write(crawl: Crawling) -> None:
    """Sites with something of everything, and names that languages order in another way than their bytes."""
    site, other, quiet = crawl.site(), crawl.site(), crawl.site()
    site.robots("User-agent: *\nDisallow: /secret")
    paths = [f"/{name}" for name in ("B", "a", "_z", "é", "b", "A%20a", "~x/1", "~x/2", "Ab/", "ab/")]
    odd = ("/admin", "/list?page=2", "/list?sid=1", "/private/x", "/cal/1", "/secret", "/moved", "/gone", "/a#none")
    embedded = "<img src=/gone.png><img src=/fine.png>"
    site.file("/fine.png", b"png", "image/png")
    far = (other.url("/bad"), other.url("/"), "https://example.net/x")
    site.page("/", *paths, *odd, *far, "/slow", "/broken", body=embedded)
    for path, title in zip((*paths, "/list?page=2"), TITLES, strict=True):
        site.page(path.replace("é", "%C3%A9"), "/", "/gone", body=f"<title>{title}</title><b>{title}</b>")
    site.redirect("/moved", "/onward#part")
    site.redirect("/onward", "/a")
    site.page("/slow", takes_ms=3 * SECOND)
    site.answer("/gone", Answer(410))
    site.answer("/broken", Answer(500))
    other.page("/", "/bad", "/Bad", "/n/1", "/n/2", head='<link rel=canonical href="/n/1">')
    other.answer("/n/1", Answer(end="reset"))
    other.page("/n/2", *(f"/deep/{at}/" for at in range(12)))
    quiet.page("/news", "/old", "/new")


def steer(crawl: Crawling) -> None:
    """What operators do between and after runs."""
    site, other, quiet = crawl.web.sites
    change = crawl.folder / "change.yaml"
    change.write_text(CHANGE)
    for words in (
        ("rules", "apply", str(change)),
        ("exclude", "host", "B.example.org", "--reason", "größer"),
        ("exclude", "domain", "_a.example.org"),
        ("add", f"{site}/Zed", f"{site}/zed", f"{site}/_ed", f"{other}/é😀"),
        ("pages", "stash", "Later", f"{site}/Zed"),
        ("pages", "stash", "earlier", f"{site}/zed"),
        ("pause", other),
        ("delay", quiet, "7s"),
        ("jobs", "set", "News", "--tag", "Äh"),
    ):
        said = crawl.ask(*words)
        assert said.status == 0, (words, said)


@pytest.fixture(scope="module")
def crawl(shared_crawl: Crawling) -> Crawling:
    """A crawl of two runs in a file: pages new, gone and changed, failures, orders of operators, pages in limbo."""
    write(shared_crawl)
    site, other, quiet = shared_crawl.web.sites.values()
    seeds, config = [site.url(), other.url()], CONFIG.replace("NEWS", quiet.url("/news"))
    shared_crawl.run(config, seeds=seeds)
    shared_crawl.later(5 * SECOND)
    site.page("/B", "/", "/newer", body="<title>changed</title>")
    site.answer("/b", Answer(404))
    site.robots("User-agent: *\nDisallow: /secret\nDisallow: /cal")
    shared_crawl.run(config, seeds=seeds)
    with patch("getpass.getuser", lambda: "mara"):  # who looks on at a server has a machine in the name, too
        steer(shared_crawl)
    with closing(sqlite3.connect(shared_crawl.database)) as database, database:
        claimed = "UPDATE page SET status = 2, claimed_at = 7 WHERE id IN (SELECT MAX(id) FROM page GROUP BY origin_id)"
        database.execute(claimed)
    return shared_crawl


@pytest.fixture(scope="module")
def server(crawl: Crawling, postgres_url: str) -> Iterator[PostgresPlace]:
    """The same on a server."""
    with psycopg.connect(postgres_url) as connection:
        languages = connection.execute("SELECT COUNT(*) > 1 FROM pg_collation WHERE collprovider = 'i'").fetchone()
        as_english = languages == (True,) and connection.info.server_version >= FIRST_WITH_LANGUAGES
    with made_database(postgres_url, ENGLISH if as_english else "") as place:
        assert crawl.ask("db", "copy", str(crawl.database), place.url).status == 0
        with psycopg.connect(place.url, autocommit=True) as shuffled:
            for (table,) in shuffled.execute(TABLES).fetchall():
                shuffled.execute(SHUFFLED.format(table))
            shuffled.execute("ANALYZE")
        yield parse_server_url(place.url)[0]


def answers(crawl: Crawling, place: Path | PostgresPlace, words: list[str]) -> tuple[int, bytes, str]:
    """Status, answer and messages of a command about a database, which is not named in them, nor how long they took,
    nor how large a packed answer was: records have random numbers, which pack better or worse."""
    before, crawl.database = crawl.database, place
    try:
        said = crawl.ask(*words)
    finally:
        crawl.database = before
    packed = said.raw.startswith(b"\x1f\x8b")
    raw = gzip.decompress(said.raw) if packed else said.raw
    raw = re.sub(rb"urn:uuid:[0-9a-f-]+|WARC-Date: .*|Made \S+ \S+ by", b"", raw.replace(str(place).encode(), b"DB"))
    changing = r"\d+\.\d s|[\d.]+ K?B\b" if packed else r"\d+\.\d s"
    return said.status, raw, re.sub(changing, "", said.err.replace(str(place), "DB"))


PLAIN = """
status | workers | jobs | db check | audit | audit --verbose | log | log --limit 3 | log --limit 5000 | exclude --list
failures | failures --list | failures --list --referrers | failures --by exit_code | failures --by message,http_status
failures --by pattern | failures --by pattern,origin | failures --by origin,http_status,exit_code
failures --list --origin {site} | failures --list --exit-code file_not_found
links --broken | links --broken --external | links --broken --limit 1
rules show | rules show --job News | rules history | rules diff 1 | rules diff 1 2 | rules preview {change}
pages limbo | pages stashes | diff | diff 1 | diff 1 2 --origin {site} | diff --limit 2
replay --speed max | replay --run 1 --speed max | replay --check | replay --check --run 1 | rehearse {config}
report | report --run 1 | report --run 2
pulse --span 1h | pulse --span 30d | pulse --job News | pulse --origin {site} | pulse --origin {other} --span 1d
tree {site} | tree {site} --depth 4 | tree {site} /x/ | tree {other} --limit 3 | tree {other} /deep/
log --origin {site}
"""
OF_URLS = "why | why --verbose | links | links --limit 2 | rules test | diff --url"
URLS = "{site}/ {site}/B {site}/%C3%A9 {site}/gone {site}/moved {site}/cal/1 {site}/secret {other}/bad {x}/never"
EXPORTS = ("pages", "attempts", "links", "redirects", "failures", "data")


def commands() -> Iterator[str]:
    """Every command that only reads."""
    plain = [
        *PLAIN.replace("\n", "|").split("|"),
        *(f"{one} {url}" for one in OF_URLS.split("|") for url in URLS.split()),
    ]
    for one in filter(None, map(str.strip, plain)):
        yield from (one, f"{one} --json")
    yield from (f"report --format {name}" for name in ("md", "junit", "json"))
    for what in EXPORTS:
        yield from (f"export {what} --format {name}" for name in ("jsonl", "csv", "parquet"))
        yield f"export {what} --format csv --origin {{site}} --since 2027-01-15T08:00:05"
    yield from ("export bodies --format warc", "export bodies --format warc --origin {other}")


@pytest.mark.parametrize("command", list(commands()))
def test_a_command_answers_the_same(crawl: Crawling, server: PostgresPlace, command: str) -> None:
    site, other, _ = crawl.web.sites
    names = {"site": site, "other": other, "x": "https://x.example", "change": crawl.folder / "change.yaml"}
    words = command.format(**names, config=crawl.file).split()
    in_file, at_server = (
        answers(crawl, place, [*words, "--from", str(place)] if words[0] == "rehearse" else words)
        for place in (crawl.database, server)
    )
    assert at_server == in_file
    assert in_file[0] < 3, in_file


@pytest.mark.parametrize("view", list(VIEWS))
def test_a_question_in_sql_answers_the_same(crawl: Crawling, server: PostgresPlace, view: str) -> None:
    in_file, at_server = (QueryRunner(place).ask(f"SELECT * FROM {view}") for place in (crawl.database, server))
    assert at_server.columns == in_file.columns
    assert sorted(map(repr, at_server.rows)) == sorted(map(repr, in_file.rows))
    assert in_file.rows


Reading = Callable[[Reports, str, str], object]
FILTERS = (
    "",
    "title:ÄPFEL",
    "title:zebra -state:failed",
    "/a$/",
    "10%",
    "_",
    "É",
    "exit:file_gone",
    "status:200-299 depth:1",
)
OLDEST_FIRST, SPAN = LogReach(oldest_first=True), TimeSpan(WALL_0, WALL_0 + 30 * SECOND, 40)
READINGS: dict[str, Reading] = {
    "branches": lambda reports, site, _: [
        (reports.branch_list(at, 5, 5), reports.branch_piece(at), reports.branch_failures(site, at, 5))
        for at in (f"{site}/", f"{site}/x/", f"{site}/%7Ex/", f"{site}/nothing/")
    ],
    "traps": lambda reports, site, other: reports.branch_traps([f"{site}/", f"{other}/deep/", f"{site}/nothing/"]),
    "pulse": lambda reports, *_: (reports.pulse(PulseOf(), SPAN), sorted(reports.paces(SPAN).items()), few(reports)),
    "timeline": lambda reports, site, other: (reports.timeline(site, SPAN), reports.timelines([site, other], SPAN)),
    "no timelines": lambda reports, *_: reports.timelines([], SPAN),
    "log": lambda reports, site, _: [
        (
            reports.attempt_stretch(terms, LogReach(limit=9)),
            reports.activity_stretch(terms, LogReach(oldest_first=True)),
        )
        for terms in (LogTerms(), LogTerms(site, problems=True), LogTerms(text="gone"), LogTerms(events=(("x", "y"),)))
    ],
    "pages": lambda reports, site, _: [reports.page_detail(f"{site}{path}") for path in ("/", "/gone", "/none")],
    "what was received": lambda reports, site, other: (
        [reports.body(f"{site}{path}") for path in ("/", "/gone")]
        + [reports.robots_text(one) for one in (site, other)],
        [(reports.requests(attempt), reports.results(attempt)) for attempt in range(1, 9)],
        [reports.rulesets(), reports.current_rulesets(), reports.ruleset(2), reports.run_span(1), reports.workers()],
    ),
    "ends of links": lambda reports, site, _: [
        (reports.link_ends(f"{site}/{path}", inward, (0, ""), 3), reports.link_counts(f"{site}/{path}"))
        for path in ("", "gone")
        for inward in (True, False)
    ],
    "origins": lambda reports, site, other: [
        (reports.todo(one), reports.exit_counts(one, WALL_0), reports.refused(one), reports.history(one))
        for one in (site, other)
    ],
    "of all origins": lambda reports, *_: (reports.refused(), reports.exclusions(), reports.refusal_counts(3)),
    "failures": lambda reports, site, _: [
        (reports.failure_count(by), reports.failure_window(key))
        for by, key in (
            (("exit_code",), (("exit_code", "file_gone"),)),
            (("pattern", "origin"), (("pattern", "/b"), ("origin", site))),
        )
    ],
    "coverage": lambda reports, *_: (coverage_of(reports).as_document(), reports.documents_unread()),
    "all the rest": lambda reports, *_: (
        [reports.sessions(5), reports.stashes(), reports.limbo(0), reports.validations(1_000), reports.runs(5)],
        [reports.urls_known(), reports.actions(), reports.activity(), reports.totals(), reports.origins_added()],
    ),
} | {
    f"pages that pass {text!r}": lambda reports, _, __, text=text: [
        reports.page_window(narrowing := found(text), limit=6),
        reports.page_window(narrowing, limit=6, newest_first=True),
        reports.page_tally(narrowing, 0),
        *(reports.page_counts(narrowing, field) for field in ("state", "exit", "status", "depth", "origin")),
    ]
    for text in FILTERS
}  # type: ignore[misc]  # an argument that is given its value


def found(text: str) -> PageFilter:
    narrowing = read_page_filter(text)
    assert isinstance(narrowing, PageFilter)
    return narrowing


@pytest.mark.parametrize("reading", list(READINGS))
def test_a_console_reads_the_same(crawl: Crawling, server: PostgresPlace, reading: str) -> None:
    read, (site, other, _) = READINGS[reading], crawl.web.sites
    both: list[object] = []
    for place in (crawl.database, server):
        with closing(Reports(place, now=lambda: crawl.now)) as reports:
            both.append(read(reports, site, other))
    assert repr(both[1]) == repr(both[0])


STEPS = (ReplayGoal(at=0), *[ReplayGoal(attempts=9)] * 5, ReplayGoal(failures=-1), ReplayGoal(at=2**62))


def test_it_is_seen_again_as_of_the_same_moments(crawl: Crawling, server: PostgresPlace) -> None:
    both: list[object] = []
    for place in (crawl.database, server):
        with crawl_in_file(place, lambda rows: None) as file, closing(ReplayedReader(file)) as reader:
            tables = ReplayedTables(reader)
            for goal in STEPS:
                seen = [tables.go(goal), *(reader.all(f"SELECT * FROM {view}") for view in ("v_page", "v_origin"))]
                both.append(seen)
    assert file != server
    assert not file.exists()
    assert crawl.database.exists()
    half = len(both) // 2
    assert repr(both[half:]) == repr(both[:half])
