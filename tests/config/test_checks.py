"""What must hold between keys: floors and loopback, names, warnings; and the values of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.config.written import SEEDS, load_text, problem_of, problems_of
from tui_crawler.config.load import config_from_seeds, read_config
from tui_crawler.config.problem import ConfigErrors
from tui_crawler.domain.url import is_loopback, scheme_words

FAST = "delay: {floor: 0, default: 10ms, allow_impolite: true}\n"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("[::1]", True),
        ("localhost", True),
        ("a.localhost", True),
        ("localhost.", True),
        ("localhost.example.org", False),
        ("example.org", False),
        ("10.0.0.1", False),
        ("[::2]", False),
        ("notlocalhost", False),
    ],
)
def test_loopback(host, loopback):
    assert is_loopback(host) is loopback


@pytest.mark.parametrize("key", ["floor: 999ms", "floor: 0", "average: {floor: 1ms}"])
def test_a_floor_below_a_second_needs_allow_impolite(tmp_path, key):
    problem = problem_of(tmp_path, SEEDS + f"delay: {{{key}}}\n")
    assert problem.line == 3
    assert problem.key == ("delay.average.floor" if "average" in key else "delay.floor")
    assert "delay.allow_impolite: true" in problem.message


def test_impolite_is_accepted_on_loopback_origins(tmp_path):
    config = load_text(tmp_path, "seeds: ['http://127.0.0.1:1/', 'http://[::1]/', 'http://x.localhost/']\n" + FAST)
    assert (config.delay.floor_ms, config.delay.default_ms) == (0, 10)
    assert config.impolite_everywhere is False


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("seeds:\n  - http://127.0.0.1/\n  - http://example.org/\n", "seeds[1]", 3),
        ("seeds: [http://10.0.0.1/]\n", "seeds[0]", 1),
        (SEEDS + "jobs:\n  - {name: j, seeds: [http://example.org/]}\n", "jobs[0].seeds[0]", 4),
        (SEEDS + "whitelist: {domains: [localhost, '*.example.org']}\n", "whitelist.domains[1]", 3),
    ],
)
def test_impolite_is_refused_elsewhere_unless_the_command_line_says_so_too(tmp_path, text, key, line):
    problem = problem_of(tmp_path, text + FAST)
    assert (problem.key, problem.line) == (key, line)
    assert "is not loopback" in problem.message
    assert "--allow-impolite" in problem.suggestion
    config = load_text(tmp_path, text + FAST, allow_impolite_cli=True)
    assert (config.delay.floor_ms, config.impolite_everywhere) == (0, True)


@pytest.mark.parametrize("key", ["obey_robots", "obey_nofollow"])
def test_rules_are_switched_off_for_own_sites_only(tmp_path, key):
    text = f"seeds: [http://example.org/x]\ncrawl: {{{key}: false}}\n"
    problem = problem_of(tmp_path, text)
    assert (problem.key, problem.line) == (f"crawl.{key}", 2)
    assert "own_sites" in problem.message
    assert getattr(load_text(tmp_path, text + "own_sites: [http://example.org]\n").crawl, key) is False
    config = load_text(tmp_path, text, overrides={"own_sites": True})
    assert config.own_sites == ("http://example.org",), "what --own says"
    assert read_config(config.text, "kept").own_sites == config.own_sites


def test_delays_below_a_second_are_accepted_for_own_sites(tmp_path):
    own = "seeds: [http://example.org/x]\nown_sites: ['HTTP://Example.org:80/']\n"
    config = load_text(tmp_path, own + "delay: {floor: 100ms}\n")
    assert (config.own_sites, config.delay.floor_ms) == (("http://example.org",), 100)
    assert load_text(tmp_path, own + FAST).delay.allow_impolite
    other = "jobs: [{name: j, seeds: [http://example.net/]}]\n"
    assert problem_of(tmp_path, own + other + FAST).key == "jobs[0].seeds[0]", "own sites allow it for themselves only"
    assert load_text(tmp_path, own + other + "delay: {floor: 100ms}\n").delay.floor_ms == 100
    assert problem_of(tmp_path, "seeds: [http://example.org/]\nown_sites: [example.org]\n").key == "own_sites[0]"
    warnings = load_text(tmp_path, "seeds: [http://example.org/]\nown_sites: ['http://example.com']\n").warnings
    assert "own_sites[0]" in [one.key for one in warnings]


def test_a_long_seed_is_not_overlooked(tmp_path):
    text = f"seeds: ['http://example.org/{'x' * 3000}']\ncrawl: {{max_url_length: 65536}}\n"
    assert problem_of(tmp_path, text + FAST).key == "seeds[0]"


def test_the_command_line_alone_allows_impolite(tmp_path):
    text = "seeds: [http://example.org/]\ndelay: {floor: 100ms}\n"
    config = load_text(tmp_path, text, allow_impolite_cli=True)
    assert config.delay.allow_impolite
    assert config.source_of("delay.allow_impolite") == "command line"


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("delay: {floor: 5m}", "delay.max", "shorter than delay.floor"),
        ("delay: {max: 500ms}", "delay.max", "shorter than delay.floor"),
        ("delay: {start_politeness: 12}", "delay.start_politeness", "more than delay.max_politeness"),
        ("hosts: [{host: a, default_delay: 1s}, {host: A, default_delay: 2s}]", "hosts[1].host", "given twice"),
        ("name: x\njobs: [{name: x, seeds: [http://127.0.0.1/]}]", "jobs[0].name", "crawl's own job"),
        (
            "jobs: [{name: x, seeds: [http://127.0.0.1/]}, {name: x, seeds: [http://127.0.0.1/]}]",
            "jobs[1].name",
            "given twice",
        ),
        (
            "sites: [{origin: 'http://a', start_path: /}, {origin: 'HTTP://a:80/', start_path: /}]",
            "sites[1].origin",
            "given twice",
        ),
    ],
)
def test_contradictions(tmp_path, text, key, words):
    problem = problem_of(tmp_path, SEEDS + text + "\n")
    assert problem.key == key
    assert problem.line == 2 + len(text.splitlines())
    assert words in problem.message


def test_what_is_doubtful_is_a_warning(tmp_path):
    text = (
        "seeds: [http://127.0.0.1/]\nrobots: {max_bytes: 1KiB}\nsites: [{origin: http://example.org, start_path: /a}]\n"
    )
    warnings = load_text(tmp_path, text).warnings
    assert [(warning.key, warning.line) for warning in warnings] == [
        ("user_agent", 1),
        ("robots.max_bytes", 2),
        ("sites[0].origin", 3),
    ]
    assert "tui-crawler-unconfigured-ua" in warnings[0].message
    assert load_text(tmp_path, SEEDS).warnings == ()


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("delay: {default: 100ms}", [("delay.default", "100ms", "1s")]),
        (
            "delay: {default: 0, allow_impolite: true}",
            [("delay.default", "0", "1s"), ("delay.allow_impolite", "", "1s")],
        ),
        ("delay: {default: 3s, floor: 5s}", [("delay.default", "3s", "5s")]),
        ("hosts: [{host: 127.0.0.1, default_delay: 200ms}]", [("hosts[0].default_delay", "200ms", "1s")]),
        ("delay: {crawl_delay_cap: 500ms}", [("delay.crawl_delay_cap", "500ms", "1s")]),
        ("delay: {model: running_average, default: 5s}", [("delay.default", "5s", "15s")]),
        (
            "delay: {model: running_average, floor: 20s, average: {floor: 15s}}",
            [("delay.average.floor", "15s", "20s")],
        ),
        ("delay: {floor: 5s}", []),
        ("delay: {model: fixed, default: 1s, floor: 1s}", []),
        ("delay: {default: 10ms, floor: 10ms, allow_impolite: true}", []),
        ("delay: {default: 20s, model: running_average}\nhosts: [{host: a.test, default_delay: 1 minute}]", []),
    ],
)
def test_a_delay_below_the_floor_is_a_warning_with_what_it_comes_to(tmp_path, text, warned):
    warnings = load_text(tmp_path, f"{SEEDS}{text}\n").warnings
    assert [warning.key for warning in warnings] == [key for key, _, _ in warned]
    for warning, (key, given, effective) in zip(warnings, warned, strict=True):
        assert warning.line == 3, key
        assert given in warning.message
        assert effective in warning.message
        assert "delay." in warning.suggestion or "floor" in warning.suggestion


def test_leave_for_short_delays_that_there_are_not_is_a_warning(tmp_path):
    (warning,) = load_text(tmp_path, SEEDS, allow_impolite_cli=True).warnings
    assert (warning.file, warning.key) == ("command line", "delay.allow_impolite")


def test_what_a_warning_about_a_delay_advises_helps(tmp_path):
    (warning,) = load_text(tmp_path, f"{SEEDS}delay: {{default: 100ms}}\n").warnings
    settings = re.search(r"set delay\.(floor: \w+) and delay\.(allow_impolite: true)", warning.suggestion)
    config = load_text(tmp_path, f"{SEEDS}delay: {{default: 100ms, {settings[1]}, {settings[2]}}}\n")
    assert (config.warnings, config.delay.floor_ms) == ((), 100)


def test_the_command_line_wins_over_the_file(tmp_path):
    text = SEEDS + "crawl: {max_requests: 5, shelf_life: 1 day}\n"
    overrides = {
        "crawl.max_requests": 7,
        "crawl.recrawl_interval": "2 days",
        "delay.average.window": 9,
        "user_agent": "other",
        "crawl.force_recrawl": True,
        "worker.tags": ["a"],
        "network.max_body_bytes": "1MiB",
    }
    config = load_text(tmp_path, text, overrides=overrides)
    assert (config.crawl.max_requests, config.crawl.recrawl_interval_ms) == (7, 172_800_000)
    assert (config.delay.average.window, config.user_agent, config.worker.tags) == (9, "other", ("a",))
    assert (config.crawl.force_recrawl, config.network.max_body_bytes) == (True, 1_048_576)
    assert config.source_of("crawl.max_requests") == "command line"
    assert config.source_of("crawl.tries") == "default"
    assert config.source_of("seeds") == f"{tmp_path / 'crawl.yaml'}:1"
    assert load_text(tmp_path, text, overrides={"crawl.shelf_life": "3 days"}).crawl.recrawl_interval_ms == 259_200_000


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"crawl.tries": 0}, "command line: crawl.tries: expected a whole number"),
        ({"crawl.tries": True}, "found the boolean true"),
        ({"user_agent": "a\r\nb"}, "a\\r\\nb"),
        ({"user_agent": "a\ud800"}, "not text"),
        ({"crawl.trys": 1}, "command line: crawl.trys: unknown key"),
        ({"database": "x.db"}, "cannot be overridden"),
        ({"delay.floor": "1ms"}, "command line: delay.floor: a floor of 1ms"),
    ],
)
def test_a_wrong_value_of_the_command_line_is_told_as_such(tmp_path, overrides, words):
    problem = problem_of(tmp_path, SEEDS, overrides=overrides)
    assert words in str(problem)
    assert (problem.line, problem.column) == (0, 0)


def test_seeds_of_the_command_line(tmp_path):
    config = config_from_seeds(
        ["http://example.org/"], tmp_path / "x.db", overrides={"crawl.max_requests": 3}, name="here"
    )
    assert (config.seeds, config.name, config.file) == (("http://example.org/",), "here", "")
    assert config.crawl.max_requests == 3
    assert [warning.key for warning in config.warnings] == ["user_agent"]
    with pytest.raises(ConfigErrors, match=r"^command line: seeds\[0\]: expected an http or https URL"):
        config_from_seeds(["mailto:me@example.org"], tmp_path / "x.db")
    with pytest.raises(ConfigErrors, match="seeds: expected at least 1"):
        config_from_seeds([], tmp_path / "x.db")
    with pytest.raises(ConfigErrors, match="is not loopback"):
        config_from_seeds(["http://example.org/"], tmp_path / "x.db", overrides={"delay.allow_impolite": True})


def test_seeds_without_a_scheme_get_one_and_it_is_said_once(tmp_path):
    typed = [" example.org ", "a.test/x", "localhost:8000", "10.0.0.1", "http://b.test/ "]
    config = config_from_seeds(typed, tmp_path / "x.db", name="here")
    said = [warning.message for warning in config.warnings if warning.key.startswith("seeds")]
    assert config.seeds == (
        "https://example.org",
        "https://a.test/x",
        "http://localhost:8000",
        "http://10.0.0.1",
        "http://b.test/",
    )
    assert said == [scheme_words({"https"}), scheme_words({"http"})]
    assert read_config(config.text, "here").seeds == config.seeds, "as the database keeps them"


def test_problems_between_keys_are_limited_too(tmp_path):
    seeds = ", ".join(f"'http://127.0.0.1/{'x' * 70}{number}'" for number in range(50))
    assert len(problems_of(tmp_path, f"seeds: [{seeds}]\ncrawl: {{max_url_length: 64}}\n")) == 20


def test_a_matcher_of_fragments_can_match_no_page(tmp_path: Path) -> None:
    text = SEEDS + "policies: {do_not_crawl: [{fragment: {prefix: top}}]}\n"
    (warning,) = load_text(tmp_path, text).warnings
    assert warning.key == "policies.do_not_crawl[0].fragment"
    assert "no fragment" in warning.message
