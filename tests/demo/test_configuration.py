"""The demo's configuration text: readable, complete, and of documented keys only."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tui_crawler.demo.process import USER_AGENT, DemoProcess, demo_config
from tui_crawler.wiring.demo import config_for

_SEEDS = ["http://127.0.0.1:18081/", "http://[::1]:18082/"]
_DOCUMENTED = {
    "name": None,
    "description": None,
    "user_agent": None,
    "database": None,
    "seeds": None,
    "crawl": {
        "mode max_requests max_in_flight politeness_key tries patience recrawl_interval force_recrawl",
        "respect_http_freshness patience_reset_on_success max_depth max_pages_per_origin max_url_length",
        "max_redirect_hops fluke_retry sitemaps link_kinds_queued",
    },
    "delay": {
        "model default floor crawl_delay_cap max retry_after_max start_politeness max_politeness average",
        "allow_impolite",
    },
    "network": {"connect_timeout read_timeout total_timeout max_body_bytes proxy allow_private_addresses"},
    "policies": {"do_not_crawl url_query_parameters"},
    "exclusions": None,
    "rules": None,
    "data_rules": None,
}


def _load(headless: bool, database: str = "demo.db", seeds: list[str] | None = None) -> Any:
    return YAML(typ="safe").load(demo_config(_SEEDS if seeds is None else seeds, database, headless=headless))


@pytest.mark.parametrize("headless", [False, True])
def test_only_documented_keys(headless: bool) -> None:
    config = _load(headless)
    assert set(config) <= set(_DOCUMENTED)
    for key, names in _DOCUMENTED.items():
        if names is not None:
            assert set(config[key]) <= set(" ".join(names).split()), key


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.lists(st.text(max_size=20), max_size=3))
def test_any_path_and_seed_survives_quoting(database: str, seeds: list[str]) -> None:
    config = _load(False, database, [seed.encode(errors="replace").decode() for seed in seeds])
    assert config["database"] == database
    assert (config["seeds"] or []) == [seed.encode(errors="replace").decode() for seed in seeds]


def test_the_console_crawls_politely() -> None:
    config = _load(headless=False)
    assert config["user_agent"] == USER_AGENT == "tui-crawler-demo-crawler (for http://127.0.0.1/)"
    assert config["seeds"] == _SEEDS
    assert (config["delay"]["default"], config["delay"]["floor"]) == ("1s", "1s")
    assert "allow_impolite" not in config["delay"]


def test_headless_says_that_it_is_impolite() -> None:
    delay = _load(headless=True)["delay"]
    assert (delay["default"], delay["floor"], delay["allow_impolite"]) == ("20ms", "20ms", True)


def test_what_is_refused_is_written_with_its_reason() -> None:
    config = _load(headless=False)
    (query,) = config["policies"]["url_query_parameters"]
    assert query == {"match": {"path": {"prefix": "/list"}}, "allow": ["page"], "values": {"page": r"^\d+$"}}
    assert config["policies"]["do_not_crawl"] == [{"path": {"prefix": "/admin/"}}]
    assert config["exclusions"][0]["reason"]


def test_no_file_is_named_as_the_place_of_its_rules() -> None:
    web = cast("DemoProcess", SimpleNamespace(seeds=_SEEDS))
    config = config_for(web, Path("/tmp/kept/demo.db"), headless=True)
    lines = config.text.splitlines()
    policies = config.policy_set
    entries = (*policies.do_not_crawl, *policies.url_query_parameters, *policies.exclusions, *policies.rules)
    places = [entry.source for entry in entries]
    assert len(places) == 4
    for place in places:
        told, _, number = place.rpartition(" ")
        assert told == "built into the demo, line"
        assert lines[int(number) - 1].strip()
    assert config.file == ""
