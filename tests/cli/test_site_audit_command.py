"""`site-audit` on a real site: what is checked, the report, the exit status, and the next audit."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Say, Wiring
from tests.designs.web import Answer, Site, Web
from tui_crawler.cli.archive_command import SETTINGS as ARCHIVE
from tui_crawler.cli.main import main
from tui_crawler.cli.site_audit_command import OF_OWN_SITES, SETTINGS
from tui_crawler.config.load import config_from_seeds, load_config, read_config
from tui_crawler.domain.records.failure import RunHeld

ROOT = Path(__file__).parents[2]


@pytest.fixture
def web() -> Iterator[Web]:
    """Sites in real time; those of a test are made before it serves them."""
    made = Web()
    yield made
    made.close()


def audited(web: Web, *words: str) -> int:
    with web.in_thread():
        return main(["site-audit", *words])


def stem(site: Site) -> str:
    return site.origin.removeprefix("http://").replace(":", "_")


def promised(here: Path, origin: str) -> set[int]:
    """The delays (ms) after the requests to an origin; `audit` proves that they are kept."""
    (file,) = here.glob("*-audit.db")
    with closing(sqlite3.connect(file)) as rows:
        return {row[0] for row in rows.execute("SELECT delay_ms_after FROM v_attempt WHERE origin = ?", (origin,))}


def broken_site(web: Web) -> Site:
    """A site with a fault of each kind that an audit checks; it links to another one."""
    home, far = web.site(), web.site()
    home.page("/", "/gone", "/two#none", far.url("/gone"), "/list?page=1", body="<img src=/gone.png><img src=/a.png>")
    home.page("/two", head=f'<link rel=canonical href="{far.url("/two")}">')
    home.page("/list?page=1")
    home.file("/a.png", b"png", "image/png")
    return home


def report_of(here: Path, site: Site, ending: str = "json") -> Any:
    return json.loads((here / f"{stem(site)}-audit.{ending}").read_text("utf-8"))


def test_every_kind_of_fault_is_found_in_one_command(here: Path, web: Web, capsys: pytest.CaptureFixture[str]) -> None:
    home = broken_site(web)
    assert audited(web, home.url(), "--own", "--format", "json") == 1

    report, err = report_of(here, home), capsys.readouterr().err
    totals = {key: report[key]["total"] for key in ("broken", "broken_embedded", "broken_external", "broken_fragments")}
    assert totals == {"broken": 1, "broken_embedded": 1, "broken_external": 1, "broken_fragments": 1}
    assert [row["url"] for row in report["broken_embedded"]["rows"]] == [home.url("/gone.png")]
    assert "/list?page=1" in home.asked, "queries are allowed"
    assert report["not_canonical"]["total"] == 0, "a canonical on another origin is recorded only"
    assert "faults: 1 broken, 1 broken_embedded, 1 broken_external, 1 broken_fragments" in err
    assert str(here / f"{stem(home)}-audit.json") in err
    assert sorted(path.name for path in here.iterdir()) == [f"{stem(home)}-audit.db", f"{stem(home)}-audit.json"]


def test_short_delays_are_for_the_own_site_only(here: Path, web: Web) -> None:
    home, far = web.site(), web.site()
    home.page("/", "/1", "/2", "/3", far.url("/1"), far.url("/2"))
    for path in ("/1", "/2", "/3"):
        home.page(path)
        far.page(path)
    assert audited(web, home.url(), "--own") == 0
    assert 100 <= min(promised(here, home.origin)) < 1_000
    assert min(promised(here, far.origin)) >= 1_000
    assert (here / f"{stem(home)}-audit.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_staging_site_that_denies_robots_is_audited_as_ones_own(here: Path, web: Web) -> None:
    home = web.site()
    hidden = '<meta name="robots" content="noindex, nofollow">'
    home.robots("User-agent: *\nDisallow: /")
    home.page("/", "/a", head=hidden)
    home.page("/a", "/dead", head=hidden)
    assert audited(web, home.url(), "--format", "json") == 1
    assert home.asked == []
    assert audited(web, home.url(), "--own", "--format", "json") == 1
    report = report_of(here, home)
    assert [row["url"] for row in report["broken"]["rows"]] == [home.url("/dead")]
    assert [row["url"] for row in report["noindex"]["rows"]] == [home.url("/"), home.url("/a")]
    assert "crawl.obey_robots" in report["coverage"]["waived"]


def test_delays_are_the_usual_ones_unless_the_site_is_own(here: Path, web: Web) -> None:
    home = web.site()
    home.page("/", "/1")
    home.page("/1")
    assert audited(web, home.url()) == 0
    assert min(promised(here, home.origin)) >= 1_000


def test_a_second_audit_looks_at_everything_again(here: Path, web: Web) -> None:
    home = broken_site(web)
    words = (home.url(), "--own", "--format", "json", "--db", "kept.db", "--output", "out.json")
    assert audited(web, *words) == 1
    first = json.loads((here / "out.json").read_text("utf-8"))
    home.page("/", "/two", body="<img src=/a.png>")
    home.seen.clear()
    assert audited(web, *words) == 0, "what the site no longer names is no fault of it"
    assert {"/", "/two", "/list?page=1", "/a.png"} <= set(home.asked)
    second = json.loads((here / "out.json").read_text("utf-8"))
    assert (first["broken"]["total"], second["broken"]["total"]) == (1, 0)
    assert (here / "kept.db").is_file()


def test_fail_on_decides_instead(here: Path, web: Web, capsys: pytest.CaptureFixture[str]) -> None:
    home = web.site()
    home.page("/", "/gone")
    assert audited(web, home.url(), "--own", "--fail-on", "fragments", "--json") == 0
    out, err = capsys.readouterr()
    events = [json.loads(line) for line in out.splitlines()]
    assert events[-1]["event"] == "run_finished"
    assert events[-1]["fail_on"] == {"fragments": 0}
    assert "audit.html" in err
    assert audited(web, home.url(), "--own", "--fail-on", "broken", "--quiet") == 1


@pytest.mark.parametrize("refused", [False, True])
def test_a_seed_that_gives_nothing_is_a_fault(
    refused: bool, here: Path, web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    home = web.site()
    home.robots("User-agent: *\nDisallow: /" if refused else "")
    assert audited(web, home.url(), "--own", "--quiet") == 1
    assert "1 seeds" in capsys.readouterr().err


def test_a_site_that_never_ends_is_left_at_a_bound(here: Path, web: Web) -> None:
    home = web.site()
    home.page("/", "/month?n=0")
    for number in range(40):
        home.page(f"/month?n={number}", f"/month?n={number + 1}")
    assert audited(web, home.url(), "--own") == 0
    assert len(home.asked) == len(set(home.asked)) == 27, "one of them /sitemap.xml"


def test_the_number_of_requests_can_be_bounded(here: Path, web: Web) -> None:
    home = broken_site(web)
    audited(web, home.url(), "--own", "--max-requests", "2", "--user-agent", "mine-crawler (for https://example.org/)")
    assert home.asked == ["/"], "robots.txt counts, too"
    assert home.seen[0].header("user-agent") == "mine-crawler (for https://example.org/)"


def test_what_is_wrong_is_said_before_anything_is_requested(say: Say, here: Path) -> None:
    for words in (
        ("nonsense",),
        ("http://127.0.0.1/", "--output", "-"),
        ("http://127.0.0.1/", "--output", "missing/report.html"),
        ("http://127.0.0.1/", "--fail-on", "nothing-known"),
        ("http://127.0.0.1/", "--db", "crawl.db", "--output", "crawl.db"),
        ("http://127.0.0.1/", "--format", "pdf"),
        (),
    ):
        (here / "crawl.db").touch()
        assert say("site-audit", *words).status == 2, words
    assert [path.name for path in here.iterdir()] == ["crawl.db"]


def test_a_database_that_another_run_holds(say: Say, wiring: Wiring, here: Path) -> None:
    def held(_: Any) -> int:
        raise RunHeld("another run holds it")

    wiring.crawl = held
    assert say("site-audit", "http://127.0.0.1/").status == 3
    wiring.crawl = lambda _: 130
    said = say("site-audit", "http://127.0.0.1/")
    assert said.status == 130
    assert "was not written" in said.err
    assert not list(here.iterdir())


def test_help_and_completion_know_the_commands(say: Say) -> None:
    for command in ("site-audit", "archive"):
        said = say("help", command)
        assert (said.status, f"usage: tui-crawler {command}" in said.out) == (0, True)
        assert "--own" in said.out


def test_the_configuration_that_is_kept_can_be_read_again(
    here: Path, web: Web, say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands on the database go by it: `why` of a URL with a query, the delay of an own site."""
    home = web.site()
    home.page("/")
    assert audited(web, home.url(), "--own") == 0
    capsys.readouterr()
    assert say("why", home.url("/x?y=1"), "--json").document["verdict"] != "refused"
    with closing(sqlite3.connect(here / f"{stem(home)}-audit.db")) as database:
        (text,) = database.execute("SELECT config_text FROM run").fetchone()
    assert read_config(text, "again").own_sites == (home.origin,)
    with closing(sqlite3.connect(here / f"{stem(home)}-audit.db")) as database:
        database.execute("UPDATE session SET crawl_settings = ''")
        database.commit()
    assert say("replay", "--check", "--json").document["differences"] == []


@pytest.mark.parametrize(("page", "settings"), [("site-audit.md", SETTINGS), ("archive.md", ARCHIVE)])
def test_the_document_names_the_same_configuration(page: str, settings: dict[str, Any], here: Path) -> None:
    *_, text = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL)
    written = yaml.safe_load(text)
    own = {key: written.pop(key) for key in ("own_sites", "hosts", "delay") if key in written}
    assert own or page == "archive.md"
    (here / "same.yaml").write_text(text, encoding="utf-8")
    settings = {**settings, **OF_OWN_SITES, "own_sites": own["own_sites"]} if own else settings
    documented, made = load_config(here / "same.yaml"), config_from_seeds(written["seeds"], "x.db", overrides=settings)
    for section in ("crawl", "storage"):
        assert getattr(documented, section) == getattr(made, section)
    assert documented.policies.url_query_parameters[0].allow_any


def test_an_answer_that_fails_once_is_asked_again(here: Path, web: Web) -> None:
    home = web.site()
    home.page("/", body="<img src=/shy.png>")
    home.answer("/shy.png", Answer(405), Answer(body=b"png"))
    assert audited(web, home.url(), "--own") == 0
    assert [one.method for one in home.requests("/shy.png")] == ["HEAD", "GET"]
