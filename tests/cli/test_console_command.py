"""The console's door: configuration, database or seeds, and a terminal."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import CONFIG, TAKEN, Say, Terminal, Wiring
from tests.cli.crawls import store_crawl
from tui_crawler.cli import console_command
from tui_crawler.cli.main import main
from tui_crawler.config.load import read_config
from tui_crawler.console.welcome.first_step import Cancelled, FromConfiguration, FromDatabase, FromDemo, FromSeeds


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal on stdin and stdout, as the command sees them (pytest puts its own streams into `sys`)."""
    monkeypatch.setattr(console_command, "sys", SimpleNamespace(stdin=Terminal(), stdout=Terminal()))


@pytest.mark.usefixtures("terminal")
class TestOnATerminal:
    def test_a_configuration_is_opened_on_its_database(self, here: Path, wiring: Wiring):
        (here / "my.yaml").write_text(CONFIG)
        assert main(["my.yaml"]) == 0
        ((config, database, readonly),) = wiring.consoles
        assert config.seeds == ("https://example.org/",)
        assert database == here / "my.db"
        assert not readonly

    def test_readonly_and_another_database(self, here: Path, wiring: Wiring):
        (here / "my.yaml").write_text(CONFIG)
        assert main(["--readonly", "my.yaml", "--db", "other.db"]) == 2  # there is nothing to watch
        (here / "other.db").touch()
        assert main(["--readonly", "my.yaml", "--db", "other.db"]) == 0
        ((_, database, readonly),) = wiring.consoles
        assert database == here / "other.db"
        assert readonly

    def test_the_guard_of_the_configuration_holds(self, here: Path, wiring: Wiring, capsys: pytest.CaptureFixture[str]):
        (here / "my.yaml").write_text(CONFIG + "database: mine.db\n")
        assert main(["my.yaml", "--db", "other.db"]) == 2
        assert not wiring.consoles
        assert main(["my.yaml", "--db", "other.db", "--ignore-database-name"]) == 0

    def test_the_configuration_here_is_found(self, here: Path, wiring: Wiring):
        (here / "tui-crawler.yaml").write_text(CONFIG)
        assert main([]) == 0
        ((config, database, _),) = wiring.consoles
        assert config is not None
        assert database == here / "tui-crawler.db"

    def test_short_delays_are_allowed_as_for_a_run(self, here: Path, wiring: Wiring):
        (here / "my.yaml").write_text(CONFIG + "delay: {floor: 100ms, default: 100ms, allow_impolite: true}\n")
        assert main(["my.yaml"]) == 2
        assert main(["my.yaml", "--allow-impolite"]) == main(["--allow-impolite", "my.yaml", "--workers", "2"]) == 0
        assert main(["crawl", "https://example.org/", "--allow-impolite"]) == 0
        assert [config.impolite_everywhere for config, _, _ in wiring.consoles] == [True] * 3
        assert all(launch.allow_impolite for launch in wiring.console_launches)

    def test_workers_share_the_crawl_of_a_configuration(self, here: Path, wiring: Wiring):
        (here / "my.yaml").write_text(CONFIG)
        assert main(["--workers", "3", "my.yaml"]) == main(["my.yaml", "--workers=auto"]) == 0
        three, auto = wiring.console_launches
        assert (three.file, three.workers, three.join) == ("my.yaml", 3, None)
        assert auto.workers >= 1

    def test_what_workers_cannot_share_is_refused(self, here: Path, wiring: Wiring):
        (here / "my.yaml").write_text(CONFIG)
        (here / "few.yaml").write_text(CONFIG + "crawl: {max_in_flight: 2}\nqueue: {min_origins: 3}\n")
        (here / "my.db").touch()
        for words in (["few.yaml"], ["--db", "my.db"], ["my.yaml", "--readonly"]):
            assert main([*words, "--workers", "2"]) == 2
        assert main(["my.yaml", "--workers", "65"]) == main(["my.yaml", "--workers", "0"]) == 2
        assert not wiring.consoles

    def test_config_as_an_option(self, here: Path, wiring: Wiring):
        (here / "my.yaml").write_text(CONFIG)
        assert main(["--config", "my.yaml"]) == 0
        assert wiring.consoles[0][1] == here / "my.db"

    def test_a_database_alone_is_opened_without_a_configuration(self, database: Path, wiring: Wiring):
        (database.parent / "tui-crawler.yaml").write_text(CONFIG)
        assert main(["--db", "crawl.db"]) == 0
        assert wiring.consoles == [(None, database, False)]

    def test_the_only_database_here(self, database: Path, wiring: Wiring):
        assert main([]) == 0
        assert wiring.consoles == [(None, database, False)]

    def test_nothing_to_open_is_a_welcome(self, here: Path, wiring: Wiring):
        wiring.first_step = Cancelled(143)
        assert main([]) == 143
        assert wiring.welcomed == [here]
        assert not list(here.iterdir())

    def test_two_databases_are_a_welcome_too(self, here: Path, wiring: Wiring):
        (here / "a.db").touch()
        (here / "b.db").touch()
        wiring.first_step = FromDatabase("b.db")
        assert main([]) == 0
        assert wiring.consoles == [(None, here / "b.db", False)]

    def test_what_was_chosen_is_opened(self, here: Path, wiring: Wiring, capsys: pytest.CaptureFixture[str]):
        (here / "other.yaml").write_text(CONFIG)
        wiring.first_step = FromConfiguration("other.yaml")
        assert main([]) == 0
        wiring.first_step = FromSeeds(("https://example.org/",))
        assert main([]) == 0
        wiring.first_step = FromDemo()
        assert main([]) == 0
        configured, seeds, demo = wiring.consoles
        assert configured[1:] == (here / "other.db", False)
        assert (seeds[0].seeds, seeds[1]) == (("https://example.org/",), here / "example.org.db")
        assert demo == ("demo", None, None)
        assert "requests are sent as tui-crawler-unconfigured-ua" in capsys.readouterr().err

    @pytest.mark.parametrize("words", [["--readonly"], ["--db", "new.db"]])
    def test_a_named_database_and_a_console_that_only_watches_need_one(
        self, words: list[str], wiring: Wiring, capsys: pytest.CaptureFixture[str]
    ):
        assert main(words) == 2
        assert "no database" in capsys.readouterr().err
        assert not wiring.welcomed

    def test_seeds_without_a_configuration(self, here: Path, wiring: Wiring):
        assert main(["crawl", "https://example.org/a", "http://[::1]:8000/"]) == 0
        ((config, database, _),) = wiring.consoles
        assert config.seeds == ("https://example.org/a", "http://[::1]:8000/")
        assert database == here / "example.org.db"
        assert not list(here.iterdir())

    def test_the_name_after_a_host_is_a_plain_file_name(self, here: Path, wiring: Wiring):
        assert main(["crawl", "http://[::1]:8000/"]) == 0
        assert wiring.consoles[0][1].parent == here
        assert ":" not in wiring.consoles[0][1].name

    def test_another_port_has_a_file_of_its_own(self, here: Path, wiring: Wiring):
        for url in ("https://example.org/", "http://example.org:80/", "https://example.org:8443/a"):
            assert main(["crawl", url]) == 0
        names = [database.name for _, database, _ in wiring.consoles]
        assert names == ["example.org.db", "example.org.db", "example.org_8443.db"]

    def test_a_file_of_an_older_version_is_used_for_the_port_that_it_has_crawled(self, here: Path, wiring: Wiring):
        old = store_crawl(here / "example.org.db", "http://example.org:8080/")
        assert main(["crawl", "http://example.org:8080/b"]) == 0
        assert main(["crawl", "http://example.org:9090/"]) == 0
        assert main(["crawl", "http://example.org/"]) == 0
        with closing(sqlite3.connect(old)) as database, database:
            database.execute("UPDATE origin SET joined = 'external'")
        assert main(["crawl", "http://example.org:8080/b"]) == 0
        old.write_bytes(b"not a database")
        assert main(["crawl", "http://example.org:8080/b"]) == 0
        names = [database.name for _, database, _ in wiring.consoles]
        own, other = "example.org_8080.db", "example.org_9090.db"
        assert names == ["example.org.db", other, "example.org.db", own, own]

    def test_a_file_of_the_new_name_comes_first(self, here: Path, wiring: Wiring):
        store_crawl(here / "example.org.db", "http://example.org:8080/")
        (here / "example.org_8080.db").touch()
        assert main(["crawl", "http://example.org:8080/"]) == 0
        assert wiring.consoles[0][1].name == "example.org_8080.db"

    def test_own_sites_have_short_delays(self, here: Path, wiring: Wiring):
        assert main(["crawl", "https://example.org/a", "https://example.org/b", "http://a.example:81/", "--own"]) == 0
        ((config, _, _),) = wiring.consoles
        own = ("https://example.org", "http://a.example:81")
        assert (config.own_sites, config.delay.floor_ms, config.delay.default_ms) == (own, 100, 1_000)
        assert [(host.host, host.default_delay_ms) for host in config.hosts] == [(origin, 100) for origin in own]

    def test_settings_of_seeds_become_settings_of_the_run(self, here: Path, wiring: Wiring):
        words = ["--user-agent", "me", "--delay", "2s", "--depth", "3", "--max-pages", "500", "--allow-queries"]
        assert main(["crawl", "https://example.org/", *words]) == 0
        config, _, _ = wiring.consoles[0]
        for one in (config, read_config(config.text, "kept")):
            assert (one.user_agent, one.delay.default_ms, one.delay.floor_ms) == ("me", 2_000, 1_000)
            assert (one.crawl.max_depth, one.crawl.max_pages_per_origin) == (3, 500)
            assert [policy.allow_any for policy in one.policies.url_query_parameters] == [True]

    @pytest.mark.parametrize(
        ("option", "value"), [("--delay", "9d"), ("--depth", "x"), ("--max-pages", "0"), ("--user-agent", "\xfc")]
    )
    def test_a_value_out_of_bounds_is_refused_by_the_name_of_its_option(
        self, option: str, value: str, wiring: Wiring, capsys: pytest.CaptureFixture[str]
    ):
        assert main(["crawl", "https://example.org/", option, value]) == 2
        assert capsys.readouterr().err.startswith(f"tui-crawler: {option} {value}: expected ")
        assert not wiring.consoles

    def test_a_delay_below_the_floor_is_for_own_sites_or_is_allowed(
        self, wiring: Wiring, capsys: pytest.CaptureFixture[str]
    ):
        line = ["crawl", "https://example.org/", "--delay", "500ms"]
        assert main(line) == 2
        (told,) = capsys.readouterr().err.splitlines()
        assert "--delay 500ms" in told
        assert "delay.floor makes it 1s" in told
        assert "--allow-impolite" in told
        assert main([*line, "--allow-impolite"]) == main([*line, "--own"]) == 0
        (allowed, _, _), (own, _, _) = wiring.consoles
        assert (allowed.delay.default_ms, allowed.delay.floor_ms) == (500, 500)
        assert ([host.default_delay_ms for host in own.hosts], own.delay.default_ms) == ([500], 1_000)

    def test_a_later_crawl_keeps_the_settings_and_names_those_that_differ(
        self, here: Path, wiring: Wiring, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        store_crawl(here / "example.org.db", "https://example.org/")
        first = ["crawl", "https://example.org/", "--delay", "2s", "--depth", "3", "--allow-queries"]
        assert main(first) == 0
        monkeypatch.setattr(wiring.reports, "config_text", lambda: wiring.consoles[0][0].text)
        capsys.readouterr()
        assert main(["crawl", "https://example.org/", "--delay", "5s", "--no-allow-queries", "--max-pages", "9"]) == 0
        config, _, _ = wiring.consoles[1]
        assert (config.delay.default_ms, config.crawl.max_depth, config.crawl.max_pages_per_origin) == (5_000, 3, 9)
        assert config.policies.url_query_parameters == ()
        told = capsys.readouterr().err
        assert "--delay 5s: the last crawl had --delay 2s\n" in told
        assert "--no-allow-queries: the last crawl had --allow-queries\n" in told
        assert "continues with --depth 3, as in the last crawl\n" in told

    def test_the_short_delay_of_own_sites_is_not_kept_for_others(
        self, here: Path, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
    ):
        store_crawl(here / "example.org.db", "https://example.org/")
        assert main(["crawl", "https://example.org/", "--own", "--delay", "200ms"]) == 0
        monkeypatch.setattr(wiring.reports, "config_text", lambda: wiring.consoles[0][0].text)
        assert main(["crawl", "https://example.org/"]) == main(["crawl", "https://example.org/", "--own"]) == 0
        (_, _, _), (others, _, _), (own, _, _) = wiring.consoles
        assert (others.hosts, others.delay.default_ms, others.delay.floor_ms) == ((), 1_000, 1_000)
        assert [host.default_delay_ms for host in own.hosts] == [200]

    def test_a_seed_that_is_none(self, wiring: Wiring, capsys: pytest.CaptureFixture[str]):
        assert main(["crawl", "nonsense\x1b[31m"]) == 2
        err = capsys.readouterr().err
        assert "nonsense" in err
        assert "\x1b" not in err
        assert not wiring.consoles

    def test_the_demo(self, here: Path, wiring: Wiring):
        assert main(["demo"]) == 0
        assert main(["demo", "--db", "x.db", "--port", "18081"]) == 0
        assert wiring.consoles == [("demo", None, None), ("demo", here / "x.db", 18_081)]

    def test_a_terminal_that_cannot_draw(self, wiring: Wiring, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("TERM", "dumb")
        assert main(["crawl", "https://example.org/"]) == 2
        assert not wiring.consoles


@pytest.mark.parametrize("words", [(), ("my.yaml",), ("crawl", "https://example.org/"), ("demo",)])
def test_without_a_terminal_the_way_without_one_is_named(words: tuple[str, ...], say: Say, wiring: Wiring):
    said = say(*words)
    assert said.status == 2
    assert "needs a terminal" in said.err
    assert ("run" in said.err) or ("--headless" in said.err)
    assert not wiring.consoles


def test_the_headless_demo_is_watched_like_a_run(here: Path, say: Say, wiring: Wiring):
    assert "run ended (reason unknown)" in say("demo", "--headless").ok.out
    assert say("demo", "--headless", "--json", "--db", "x.db").out == ""
    assert wiring.consoles == [("headless", None, None), ("headless", here / "x.db", None)]


def test_the_demo_web_alone_prints_its_seeds(say: Say, wiring: Wiring):
    said = say("demo", "--serve-only")
    assert said.out == "http://127.0.0.1:18081/\nhttp://127.0.0.1:18082/\n"
    assert "ctrl+c" in said.err
    assert say("demo", "--serve-only", "--json").document == {
        "seeds": ["http://127.0.0.1:18081/", "http://127.0.0.1:18082/"]
    }


def test_json_of_the_demo_console_is_refused(say: Say, wiring: Wiring):
    assert say("demo", "--json").status == 2


def test_the_access_log_of_the_demo_web(say: Say, wiring: Wiring):
    assert say("demo", "--serve-only", "--access-log", "log.jsonl").status == 0
    assert wiring.access_log == Path("log.jsonl")
    assert say("demo", "--headless", "--access-log", "log.jsonl").status == 2


def test_a_demo_web_that_cannot_start_is_one_line(say: Say, wiring: Wiring):
    said = say("demo", "--serve-only", "--port", str(TAKEN))
    assert (said.status, said.out, said.err) == (3, "", "tui-crawler: port taken\n")
