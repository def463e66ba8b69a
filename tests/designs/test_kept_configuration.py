"""The configuration that a database keeps of its newest run: with what the command line said, and never a default in
its place (docs/reliability.md)."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from tests.designs.crawling import QUICK, Crawling
from tests.designs.web import Site
from tui_crawler.domain.records.failure import BadKeptConfig
from tui_crawler.wiring.console_reports import ConsoleReports
from tui_crawler.wiring.origin_settings import kept_config, settings_by_origin

AGENT = "another-crawler (for https://example.org/why)"


def impolite(crawl: Crawling) -> tuple[Site, str]:
    """A site that is not loopback, and a configuration that a run takes with --allow-impolite only."""
    site = crawl.web.named("http://a.example.org")
    site.page("/", "/a")
    site.page("/a", "/b")
    site.page("/b")
    more = f"crawl: {{max_url_length: 80}}\nnetwork: {{proxy: '{crawl.web.proxy}'}}\nstorage: {{limbo: 3 hours}}"
    return site, str(crawl.configure(f"{QUICK}\n{more}"))


def rewrite(crawl: Crawling, assignment: str, *values: object) -> None:
    """Changes the newest run in the database."""
    with contextlib.closing(sqlite3.connect(crawl.database)) as database, database:
        database.execute(f"UPDATE run SET {assignment}", values)


def cut_short(crawl: Crawling) -> None:
    """The run looks as after a signal: the next start continues it."""
    rewrite(crawl, "finish_reason = 'interrupted', clean = 0")


def test_what_the_command_line_allowed_is_kept(crawl: Crawling) -> None:
    """Without it every command that reads the kept configuration refused it, or took the defaults for it."""
    site, config = impolite(crawl)
    assert crawl.command("run", config).status == 2
    db = ("--db", str(crawl.database))
    with crawl.web.in_thread():
        assert crawl.command("run", config, "--allow-impolite").status == 0
        why = crawl.command("why", site.url(f"/{'x' * 90}"), "--json", *db).json
        assert (why["verdict"], why["exit_code"]) == ("invalid_url", "invalid_url")
        assert any("crawl.max_url_length" in step["source"] for step in why["steps"] if step["verdict"] == "refuse")
        kept = kept_config(crawl.database)
        assert kept.impolite_everywhere
        assert settings_by_origin(kept)(site.origin).delay.floor_ms == 0
        assert kept.source_of("delay.allow_impolite") == "command line"
        for words in (("worker",), ("run",)):
            cut_short(crawl)
            assert crawl.command(*words, *db).status == 0
    assert site.asked[:3] == ["/", "/a", "/b"]
    assert set(site.asked[3:]) == {"/sitemap.xml"}, "looked for by each process"
    assert crawl.command("replay", "--check", *db).status == 0


def test_a_run_that_goes_on_keeps_its_limit_and_its_name_and_the_next_one_only_the_name(crawl: Crawling) -> None:
    _, config = impolite(crawl)
    more = ("--allow-impolite", "--max-requests", "2", "--force-recrawl", "--user-agent", AGENT)
    with crawl.web.in_thread():
        assert crawl.command("run", config, *more).status == 0
    over = kept_config(crawl.database)
    cut_short(crawl)
    going_on = kept_config(crawl.database)
    assert going_on is not None
    assert (over.user_agent, over.crawl.max_requests, over.crawl.force_recrawl) == (AGENT, None, False)
    assert (going_on.user_agent, going_on.crawl.max_requests, going_on.crawl.force_recrawl) == (AGENT, 2, True)
    assert over.impolite_everywhere


def test_an_option_for_one_run_is_no_edit_of_the_configuration(crawl: Crawling) -> None:
    """Else each of them would have all refused pages judged again, and end the rules an operator has applied."""
    site = crawl.site().pages("/a?x=1")
    crawl.run("", seeds=[site.url()], crawl__max_requests=5)
    rules = crawl.folder / "rules.yaml"
    rules.write_text("policies: {url_query_parameters: [{match: {path: {prefix: /}}, allow_any: true}]}\n")
    assert crawl.ask("rules", "apply", str(rules)).status == 0
    crawl.run("", seeds=[site.url()], crawl__max_requests=6)
    assert crawl.ask("rules", "show", "--json").json["policies"]["url_query_parameters"]


def test_a_run_without_a_file_continues_the_crawl_and_its_options_win(crawl: Crawling) -> None:
    site, config = impolite(crawl)
    db = ("--db", str(crawl.database))
    with crawl.web.in_thread():
        assert crawl.command("run", config, "--allow-impolite", "--max-requests", "1").status == 0
        asked = len(site.asked)
        assert crawl.command("run", "--max-requests", "1", "--user-agent", AGENT, *db).status == 0
        assert (len(site.asked), kept_config(crawl.database).user_agent) == (asked + 1, AGENT)
        assert crawl.command("run", *db).status == 0
    assert {"/", "/a", "/b"} <= set(site.asked)
    assert kept_config(crawl.database).user_agent == AGENT
    several = crawl.command("run", "--workers", "2", *db)
    assert (several.status, "CONFIG" in several.err) == (2, True)


READERS = {
    "why": ("why", "{url}"),
    "pages limbo": ("pages", "limbo"),
    "queue build": ("queue", "build"),
    "worker": ("worker",),
    "stored": ("run",),
    "add": ("add", "{url}/new"),
    "replay": ("replay", "--check"),
    "rules show": ("rules", "show"),
    "rules test": ("rules", "test", "{url}"),
    "rules preview": ("rules", "preview", "{rules}"),
}


def without_rulesets_and_settings(crawl: Crawling) -> None:
    """As a database of an earlier version: jobs have no stored ruleset, sessions no settings."""
    with contextlib.closing(sqlite3.connect(crawl.database)) as database, database:
        database.execute("UPDATE job SET ruleset_id = 0")
        database.execute("UPDATE session SET crawl_settings = ''")


@pytest.mark.parametrize("name", READERS)
def test_one_that_cannot_be_read_is_an_error_with_its_reason(crawl: Crawling, name: str) -> None:
    site = crawl.site().front()
    crawl.run()
    cut_short(crawl)
    without_rulesets_and_settings(crawl)
    rewrite(crawl, "config_text = config_text || ?", "\ncrawl: {max_in_fligth: 3}\n")
    rules = crawl.folder / "rules.yaml"
    rules.write_text("rules: [{match: /x/, skip: true}]\n")
    words = [word.format(url=site.url(), rules=rules) for word in READERS[name]]
    said = crawl.command(*words, "--db", str(crawl.database))
    assert said.status == 3, said
    assert said.raw == b""
    assert "crawl.max_in_fligth" in said.err
    assert "tui-crawler run CONFIG" in said.err
    assert site.asked == ["/"]
    with pytest.raises(BadKeptConfig):
        kept_config(crawl.database)


def test_what_a_crawl_got_is_shown_without_it_and_the_statement_says_so(crawl: Crawling) -> None:
    """The commands that need no configuration work; what only the configuration explains is named as unknown."""
    crawl.site().front("/list?page=1", "/gone")
    crawl.run()
    rewrite(crawl, "config_text = config_text || ?", "\ncrawl: {max_in_fligth: 3}\n")
    status = crawl.ask("status", "--json").json
    assert (status["totals"]["done"], status["coverage"]["pages"]["refused"]) == (1, 1)
    assert not status["coverage"]["complete"]
    assert any("crawl.max_in_fligth" in reason for reason in status["coverage"]["reasons"])
    for words in (("status",), ("report", "--format", "md")):
        said = crawl.ask(*words)
        assert (said.status, "crawl.max" in said.out.replace("\\", "")) == (0, True), words
    assert crawl.ask("links", "--broken").status == 0
    with contextlib.closing(ConsoleReports(crawl.database)) as reports:
        assert reports.coverage_statement().pages["refused"] == 1, "the console reads on"


def test_a_database_that_keeps_none_says_so(crawl: Crawling) -> None:
    site = crawl.site().front()
    crawl.run()
    cut_short(crawl)
    without_rulesets_and_settings(crawl)
    rewrite(crawl, "config_text = ''")
    db = ("--db", str(crawl.database))
    steps = crawl.command("why", site.url("/x"), "--json", *db).json["steps"]
    (step,) = (one for one in steps if one["stage"] == "configuration")
    assert step["verdict"] == "unknown"
    assert "configuration" in crawl.command("why", site.url("/x"), *db).out
    assert "no configuration" in crawl.command("rules", "show", *db).out
    limbo = crawl.command("pages", "limbo", *db)
    assert (limbo.status, "no configuration" in limbo.err) == (0, True)
    for words, status in ((("worker",), 3), (("run",), 2), (("queue", "build"), 2)):
        said = crawl.command(*words, *db)
        assert (said.status, "keeps no configuration" in said.err) == (status, True), words


def test_a_command_for_a_resting_database_waits_for_the_next_run(crawl: Crawling) -> None:
    """Carried out by defaults it would go by other filters; it stays in the journal instead, and says so."""
    site = crawl.site().front()
    site.page("/new")
    crawl.run()
    text = crawl.value("SELECT config_text FROM run")
    rewrite(crawl, "config_text = 'seeds: 3'")
    said = crawl.command("add", site.url("/new"), "--db", str(crawl.database))
    assert said.status == 3
    assert "the next run applies it" in said.err
    rewrite(crawl, "config_text = ?", text)
    crawl.run()
    assert site.asked == ["/", "/new"]


def test_the_database_of_an_impolite_configuration_is_found_without_the_option(
    crawl: Crawling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands that request nothing need nobody's leave for short delays."""
    _, config = impolite(crawl)
    with crawl.web.in_thread():
        assert crawl.command("run", config, "--allow-impolite").status == 0
    said = crawl.command("status", "--config", config, "--json")
    assert said.json["totals"]["done"] == 3
    assert crawl.command("queue", "build", config).status == 0
    monkeypatch.chdir(crawl.folder)
    crawl.file.rename(crawl.folder / "tui-crawler.yaml")
    (crawl.folder / "tui-crawler.yaml").write_text(
        (crawl.folder / "tui-crawler.yaml").read_text() + "database: crawl.db\n"
    )
    assert crawl.command("status", "--json").json["totals"]["done"] == 3


@pytest.mark.parametrize("command", ["check", "rehearse"])
def test_a_configuration_is_looked_at_with_the_option(crawl: Crawling, command: str) -> None:
    _, config = impolite(crawl)
    words = (command, config, *(("--from", str(crawl.database)) if command == "rehearse" else ()))
    refused = crawl.command(*words)
    assert (refused.status, "--allow-impolite" in refused.err) == (2, True)
    assert crawl.command(*words, "--allow-impolite").status == 0
    told = crawl.command(*words, "--allow-impolite", "--json").json
    if command == "check":
        assert told["effective"]["delay.floor"] == {"value": "0", "source": f"{config}:3"}
