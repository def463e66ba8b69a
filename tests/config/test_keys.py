"""Single keys: types, bounds, unknown keys and their suggestions, several problems at once."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.config.written import SEEDS, load_text, problem_of, problems_of
from tui_crawler.config.load import load_config
from tui_crawler.config.problem import ConfigErrors, visible
from tui_crawler.config.schema import Config


def test_only_seeds_are_required(tmp_path):
    config = load_text(tmp_path, "seeds: [https://example.org/]\n")
    assert config.seeds == ("https://example.org/",)
    assert config.name == "crawl"
    assert config.database.location == str(tmp_path / "crawl.db")
    assert (config.delay.default_ms, config.delay.max_ms, config.delay.crawl_delay_cap_ms) == (1000, 180_000, 120_000)
    assert (config.crawl.recrawl_interval_ms, config.crawl.tries, config.crawl.patience) == (2_419_200_000, 3, 5)
    assert (config.robots.expiry_ms, config.robots.max_bytes) == (1_800_000, 512_000)
    assert config.network.max_body_bytes == 10_485_760
    assert config.crawl.link_kinds_queued == ("a",)
    assert config.policy_set.url_query_parameters == ()


def test_a_configuration_is_frozen_hashable_and_can_be_sent_to_another_process(tmp_path):
    config = load_text(tmp_path, SEEDS + "keymap: {a: b}\nrules: [{match: x, skip: true}]\n")
    with pytest.raises(FrozenInstanceError):
        config.name = "other"
    assert hash(config) == hash(pickle.loads(pickle.dumps(config)))
    assert pickle.loads(pickle.dumps(config)) == config


def test_every_section_is_slotted():
    def sections(cls: type) -> list[type]:
        found = [type(f.default) for f in fields(cls) if is_dataclass(f.default)]
        return [cls, *(inner for each in found for inner in sections(each))]

    assert len(sections(Config)) > 10
    for cls in sections(Config):
        assert "__slots__" in vars(cls)


@pytest.mark.parametrize(
    ("text", "key", "place", "words"),
    [
        ("crawl: {max_in_fligth: 3}", "crawl.max_in_fligth", (3, 9), "did you mean max_in_flight?"),
        ("crawl: {max-in-flight: 3}", "crawl.max-in-flight", (3, 9), "did you mean max_in_flight?"),
        ("max_requests: 3", "max_requests", (3, 1), "`max_requests` belongs under `crawl`"),
        ("crawl: {seeds: []}", "crawl.seeds", (3, 9), "`seeds` belongs at the top level"),
        ("shelf_life: 3s", "shelf_life", (3, 1), "`shelf_life` belongs under `crawl`"),
        ("crawl: {expiry: 3m}", "crawl.expiry", (3, 9), "`expiry` belongs under `robots`"),
        ("delay: {window: 3}", "delay.window", (3, 9), "`window` belongs under `delay.average`"),
        ("crawl: {read_timeouts: 1s}", "crawl.read_timeouts", (3, 9), "did you mean network.read_timeout?"),
        ("worker: {xyzzy: 1}", "worker.xyzzy", (3, 10), "keys of worker: name, tags, matchonly, slots"),
        (
            "hosts: [{host: a, default_delay: 1s, delay: 1s}]",
            "hosts[0].delay",
            (3, 38),
            "`delay` belongs at the top level",
        ),
        ("crawl: {recrawl_interval: 1s, shelf_life: 2s}", "crawl.shelf_life", (3, 31), "keep one of them"),
    ],
)
def test_a_wrong_key_is_told_the_right_one(tmp_path, text, key, place, words):
    problem = problem_of(tmp_path, SEEDS + text + "\n")
    assert (problem.key, (problem.line, problem.column)) == (key, place)
    assert words in problem.suggestion
    assert str(problem) == (
        f"{tmp_path / 'crawl.yaml'}:{problem.line}:{problem.column}: {key}: {problem.message}; {problem.suggestion}"
    )


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("crawl: {tries: many}", "crawl.tries", "expected a whole number (1 to 1000)"),
        ("crawl: {tries: 0}", "crawl.tries", "expected a whole number"),
        ("crawl: {tries: true}", "crawl.tries", "found the boolean true"),
        ("crawl: {tries: 1.0}", "crawl.tries", "expected a whole number"),
        ("crawl: {tries: '3'}", "crawl.tries", 'found the text "3"'),
        ("crawl: {tries: null}", "crawl.tries", "found nothing"),
        ("crawl: {tries: [3]}", "crawl.tries", "found a list"),
        ("crawl: {fluke_retry: yes}", "crawl.fluke_retry", 'expected true or false, found the text "yes"'),
        ("crawl: {fluke_retry: 1}", "crawl.fluke_retry", "expected true or false"),
        ("crawl: {mode: onlin}", "crawl.mode", "did you mean online?"),
        ("crawl: {mode: true}", "crawl.mode", "expected one of online, offline"),
        ("crawl: {link_kinds_queued: a}", "crawl.link_kinds_queued", "write it as a list: [a]"),
        ("crawl: {link_kinds_queued: [b]}", "crawl.link_kinds_queued[0]", "expected one of a, css"),
        ("delay: {default: 5}", "delay.default", "30m, 1s, 250ms, 4 weeks, 1 month or 1 hour 30 minutes"),
        ("delay: {default: 5}", "delay.default", "as in 5s"),
        ("delay: {default: true}", "delay.default", "expected a duration"),
        ("delay: {default: 1 mont}", "delay.default", "unknown unit mont"),
        ("delay: {default: 2 weeks}", "delay.default", "expected a duration of 0 to 1 week"),
        ("delay: 2s", "delay", "as in delay: {default: 1s}"),
        ("robots: {expiry: 2 days}", "robots.expiry", "expected a duration of 1s to 1 day"),
        ("robots: {expiry: 0}", "robots.expiry", "expected a duration of 1s to 1 day"),
        ("robots: {max_bytes: -1}", "robots.max_bytes", "expected a size such as"),
        ("robots: {max_bytes: 1GiB}", "robots.max_bytes", "expected a size of 1KiB to 16MiB"),
        ("robots: {max_bytes: true}", "robots.max_bytes", "expected a size"),
        ("seen_index: {error_rate: 0}", "seen_index.error_rate", "expected a number"),
        ("seen_index: {error_rate: .nan}", "seen_index.error_rate", "expected a number"),
        ("seen_index: {error_rate: '0.1'}", "seen_index.error_rate", "expected a number"),
        ("network: {allow_private_addresses: maybe}", "network.allow_private_addresses", "auto, true or false"),
        ("network: {proxy: 'http://u:p@proxy/'}", "network.proxy", "has a user name or password"),
        ("network: {proxy: 'http://proxy/path'}", "network.proxy", "did you mean http://proxy?"),
        ("network: {proxy: 'socks5://proxy/'}", "network.proxy", "expected the http or https URL of a proxy"),
        ("name: 12", "name", 'write it in quotes: "12"'),
        ("name: ''", "name", "1 to 200 characters"),
        ('name: "a\\tb"', "name", "control character"),
        ("theme: [a]", "theme", "found a list"),
        ("keymap: {a: [b]}", "keymap.a", "found a list"),
        ("keymap: [a]", "keymap", "expected a mapping of actions to keys"),
        ("sites: [{origin: 'http://h/x', start_path: /}]", "sites[0].origin", "did you mean http://h?"),
        ("sites: [{origin: 'http://h', start_path: x}]", "sites[0].start_path", "a path that begins with /"),
        ("sites: [{origin: 'http://h', start_path: '/a?b'}]", "sites[0].start_path", "without query"),
        ("sites: [{origin: 'http://h'}]", "sites[0].start_path", "is missing"),
        ("hosts: [{host: 'http://h/x', default_delay: 1s}]", "hosts[0].host", "did you mean http://h?"),
        ("hosts: [{host: 'h:80/x', default_delay: 1s}]", "hosts[0].host", "or an origin"),
        ("hosts: [{host: 'u:p@h:80'}]", "hosts[0].host", "or an origin"),
        ("hosts: [{host: 'h:99999'}]", "hosts[0].host", "or an origin"),
        ("user_agent: ' x'", "user_agent", "is empty"),
        ("user_agent: /x", "user_agent", "is empty"),
        ("user_agent: '*/1'", "user_agent", "every crawler"),
        ('user_agent: "a\\nb"', "user_agent", "expected printable ASCII"),
        ("data_rules: [{host: h, name: n, type: link}]", "data_rules[0]", "expected one of css, xpath, regex"),
        ("data_rules: [{host: h, name: n, type: link, css: a, xpath: b}]", "data_rules[0]", "css and xpath"),
        ("data_rules: [{host: h, name: n, type: link, css: 'a['}]", "data_rules[0].css", "not a CSS selector"),
        ("data_rules: [{host: h, name: n, type: link, xpath: '//['}]", "data_rules[0].xpath", "not an XPath"),
        ("data_rules: [{host: h, name: n, type: link, regex: '(?=a)'}]", "data_rules[0].regex", "look-around"),
        ("data_rules: [{host: h, name: n, type: link, css: 5}]", "data_rules[0].css", "expected a CSS selector"),
        ("data_rules: [{host: h, name: n, type: link, xpath: ''}]", "data_rules[0].xpath", "of 1 to 2000 characters"),
        ("data_rules: [{host: h, name: n, type: photo, css: a}]", "data_rules[0].type", "expected one of link"),
        ("jobs: [{name: j, seeds: []}]", "jobs[0].seeds", "at least 1"),
        ("jobs: [{seeds: ['http://h/']}]", "jobs[0].name", "is missing"),
    ],
)
def test_a_wrong_value_is_told_what_is_accepted(tmp_path, text, key, words):
    body = SEEDS.replace("user_agent: test-crawler\n", "") if text.startswith("user_agent") else SEEDS
    problem = problem_of(tmp_path, body + text + "\n")
    assert problem.key == key
    assert problem.line == len(body.splitlines()) + 1
    assert words in f"{problem.message}; {problem.suggestion}"


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        ("mailto:a@b", "expected an http or https URL"),
        ("ftp://example.org/", "expected an http or https URL"),
        ("user@host.example", "expected an http or https URL"),
        ("nonsense", "expected an http or https URL"),
        ("/path", "expected an http or https URL"),
        ("http:/h/", "expected an http or https URL"),
        ("http:///h/", "expected an http or https URL"),
        ("'http:\\h'", "expected an http or https URL"),
        ("http://u:p@h/", "has a user name or password"),
        ("http://h:99999/", "is not a valid URL"),
        ("http://[::1/", "is not a valid URL"),
        ("'http://h /'", "contains a blank"),
        ("'http://h/\u00a0'", "contains a blank"),
        ("'http://h/\u202e'", "\\u202e"),
    ],
)
def test_a_seed_is_an_http_url_with_a_host(tmp_path, seed, words):
    problem = problem_of(tmp_path, f"seeds:\n  - http://127.0.0.1/\n  - {seed}\n")
    assert (problem.key, problem.line, problem.column) == ("seeds[1]", 3, 5)
    assert words in f"{problem.message}; {problem.suggestion}"


@pytest.mark.parametrize(
    "text",
    [
        "seeds: ['https://me:secret@h/']",
        "seeds: 'https://me:secret@h/'",
        "seeds: ['me:secret@h']",
        f"seeds: ['https://me:secret{'x' * 100}@h/']",
        "seeds: ['http://h/']\nnetwork: {proxy: 'http://me:secret@proxy:3128'}",
        "seeds: ['http://h/']\nnetwork: {proxy: 'socks5://me:secret@proxy:3128'}",
    ],
)
def test_no_password_of_a_url_is_told(tmp_path, text):
    problem = problem_of(tmp_path, f"{text}\n")
    assert "secret" not in str(problem) + repr(problem)
    assert "•••@" in str(problem)


def test_a_seed_longer_than_the_longest_url_is_refused(tmp_path):
    text = f"seeds: ['http://127.0.0.1/', 'http://127.0.0.1/{'x' * 100}']\ncrawl: {{max_url_length: 64}}\n"
    problem = problem_of(tmp_path, text)
    assert (problem.key, problem.line) == ("seeds[1]", 1)
    assert "raise crawl.max_url_length" in problem.suggestion


def test_a_seed_that_only_its_escapes_make_too_long_is_refused(tmp_path):
    text = "seeds: ['http://127.0.0.1/😀😀{}']\ncrawl: {{max_url_length: 64}}\n"
    assert len(load_text(tmp_path, text.format("")).seeds) == 1
    assert problem_of(tmp_path, text.format("😀😀")).key == "seeds[0]"


def test_values_are_kept_in_their_units(tmp_path):
    text = SEEDS + (
        "crawl: {shelf_life: 1 day, max_depth: 0, link_kinds_queued: [a, img]}\n"
        "delay: {crawl_delay_cap: null, average: {factor: 2}}\n"
        "network: {total_timeout: 1500ms, max_body_bytes: 1MiB, proxy: 'http://proxy:1',\n"
        "  allow_private_addresses: true}\n"
        "hosts: [{host: EXAMPLE.org, default_delay: 5s}]\n"
        "sites: [{origin: 'HTTP://127.0.0.1:8000', start_path: /docs/}]\n"
        "keymap: {origin.toggle_pause: p}\n"
        "worker: {tags: [a, b], slots: 3}\n"
    )
    config = load_text(tmp_path, text)
    assert config.crawl.recrawl_interval_ms == 86_400_000
    assert config.crawl.max_depth == 0
    assert config.crawl.link_kinds_queued == ("a", "img")
    assert config.delay.crawl_delay_cap_ms is None
    assert config.delay.average.factor == 2.0
    assert (config.network.total_timeout_ms, config.network.max_body_bytes) == (1500, 1_048_576)
    assert (config.network.proxy, config.network.allow_private_addresses) == ("http://proxy:1/", "always")
    assert [(host.host, host.default_delay_ms) for host in config.hosts] == [("example.org", 5000)]
    assert [(site.origin, site.start_path) for site in config.sites] == [("http://127.0.0.1:8000", "/docs/")]
    assert config.keymap == (("origin.toggle_pause", "p"),)
    assert (config.worker.tags, config.worker.slots) == (("a", "b"), 3)


@pytest.mark.parametrize(
    ("given", "kept"), [("true", "robots"), ("false", "off"), ("off", "off"), ("robots", "robots"), ("auto", "auto")]
)
def test_sitemaps_as_older_files_have_it(tmp_path, given, kept):
    assert load_text(tmp_path, f"{SEEDS}crawl: {{sitemaps: {given}}}\n").crawl.sitemaps == kept


def test_empty_sections_and_lists_are_their_defaults(tmp_path):
    text = SEEDS + "delay:\ncrawl: {}\nrules:\nexclusions: []\nwhitelist:\nkeymap:\n"
    config = load_text(tmp_path, text)
    plain = load_text(tmp_path, SEEDS)
    assert config == plain


def test_a_problem_is_also_a_document(tmp_path):
    problem = problem_of(tmp_path, SEEDS + "crawl: {trys: 3}\n")
    assert asdict(problem) == {
        "file": str(tmp_path / "crawl.yaml"),
        "line": 3,
        "column": 9,
        "key": "crawl.trys",
        "message": "unknown key",
        "suggestion": "did you mean tries?",
    }


def test_several_problems_are_told_at_once_in_the_order_of_the_file(tmp_path):
    text = "crawl: {tries: x, sitemaps: 3}\nseeds: [ftp://h/, http://h/, 5]\nnope: 1\n"
    problems = problems_of(tmp_path, text)
    assert [problem.key for problem in problems] == ["crawl.tries", "crawl.sitemaps", "seeds[0]", "seeds[2]", "nope"]


def test_no_more_than_twenty_problems_are_told(tmp_path):
    assert len(problems_of(tmp_path, f"seeds: [{', '.join(['x'] * 100)}]\n")) == 20
    assert len(problems_of(tmp_path, "".join(f"k{n}: 1\n" for n in range(100)))) == 20
    assert len(problems_of(tmp_path, "seeds: [http://h/]\n" * 100)) == 20


def test_a_hostile_file_name_is_made_visible(tmp_path):
    path = tmp_path / "a\x1b[2J\u202e.yaml"
    path.write_text(SEEDS + "crawl: {tries: 4}\n", encoding="utf-8")
    config = load_config(path)
    assert config.file == str(path)
    assert config.name == "a\\x1b[2J\\u202e"
    assert all(place.isprintable() for _, place in config.sources)
    path.write_text("seeds: 1\n", encoding="utf-8")
    with pytest.raises(ConfigErrors) as caught:
        load_config(path)
    assert str(caught.value).isprintable()


def test_what_is_shown_of_a_hostile_value_is_safe_and_short():
    assert visible("\x1b]0;x\x07\u202e\ud800é") == "\\x1b]0;x\\x07\\u202e\\ud800é"
    assert visible("x" * 100) == "x" * 80 + "…"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.one_of(
        st.binary(max_size=200), st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass"))
    )
)
def test_any_bytes_are_a_configuration_or_problems_that_can_be_printed(tmp_path, data):
    path = tmp_path / "any.yaml"
    path.write_bytes(data)
    with pytest.raises(ConfigErrors) as caught:
        load_config(path)  # without a seed no bytes are a configuration; with one they would be written by hand
    assert caught.value.problems
    assert all(str(problem).isprintable() for problem in caught.value.problems)
