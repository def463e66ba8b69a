"""Documentation, JSON Schema, sample and effective configuration agree with the table of keys."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from tests.config.written import SEEDS, load_text
from tui_crawler.cli.main import parse
from tui_crawler.config.document import configuration_markdown, effective, json_schema
from tui_crawler.config.kinds import Nullable
from tui_crawler.config.load import load_config
from tui_crawler.config.schema import ROOT, Config
from tui_crawler.config.table import Table, walk_keys
from tui_crawler.domain.records.content_kind import PAGE_KINDS

PROJECT = Path(__file__).parents[2]
SAMPLE = PROJECT / "sample_config.yaml"
SWITCHED_OFF = re.compile(r"^#(?=[a-z]|  )", re.MULTILINE)
OWN_SITES = re.compile(r"^#> (.*)$", re.MULTILINE)


def test_the_documentation_is_up_to_date():
    text = (PROJECT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert text == configuration_markdown(), "python -m tui_crawler.config.document > docs/configuration.md"


def test_the_documentation_can_be_made_from_the_command_line():
    command = [sys.executable, "-m", "tui_crawler.config.document"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, check=True)
    assert done.stdout == configuration_markdown()


def test_every_key_has_a_sentence_and_stands_in_the_documentation():
    text = configuration_markdown()
    for at, key in walk_keys(ROOT):
        assert key.doc.endswith("."), (at, key.name)
        assert f"| `{key.name}`" in text
        if key.alias:
            assert f"(or `{key.alias}`)" in text


def test_every_default_is_a_value_its_own_key_accepts(tmp_path):
    shown = {setting.key: setting.value for setting in effective(load_text(tmp_path, SEEDS))}
    sections: dict[str, Any] = {}
    for name, value in shown.items():
        target = sections
        *parents, last = name.split(".")
        for parent in parents:
            target = target.setdefault(parent, {})
        target[last] = value
    assert effective(load_text(tmp_path, json.dumps(sections)))[0].value == shown["seeds"]
    again = {setting.key: setting.value for setting in effective(load_text(tmp_path, json.dumps(sections)))}
    assert again == shown


def test_the_effective_configuration_has_every_key_and_its_source(tmp_path):
    config = load_text(tmp_path, SEEDS + "delay:\n  average: {window: 9}\n")
    settings = {setting.key: setting for setting in effective(config)}
    leaves = {
        f"{at}.{key.name}" if at else key.name
        for at, key in walk_keys(ROOT)
        if not isinstance(key.kind, Table) and at.split(".")[0] not in {"hosts", "sites", "jobs", "rules", "data_rules"}
    }
    assert set(settings) - {"whitelist"} == {
        name for name in leaves if not name.startswith(("exclusions.", "whitelist.", "policies.url_query_parameters."))
    }
    assert settings["delay.average.window"].value == 9
    assert settings["delay.average.window"].source == f"{tmp_path / 'crawl.yaml'}:4"
    assert (settings["crawl.recrawl_interval"].value, settings["crawl.recrawl_interval"].source) == (
        "4 weeks",
        "default",
    )
    assert settings["network.max_body_bytes"].value == "10MiB"
    json.dumps([setting.value for setting in settings.values()])


def test_lists_of_settings_are_shown_as_they_are_written(tmp_path):
    text = SEEDS + (
        "sites: [{origin: 'http://127.0.0.1:8000', start_path: /docs/}]\n"
        "network: {proxy: 'http://proxy:3128/', allow_private_addresses: false}\n"
        "data_rules: [{host: a, name: n, type: text, xpath: '//h1'}, {host: a, name: m, type: link, css: a}]\n"
        "jobs: [{name: j, seeds: ['http://127.0.0.1/'], rules: [{match: x, ua: y}]}]\n"
        "keymap: {a: b}\n"
    )
    values = {setting.key: setting.value for setting in effective(load_text(tmp_path, text))}
    assert values["sites"] == [{"origin": "http://127.0.0.1:8000", "start_path": "/docs/"}]
    assert (values["network.proxy"], values["network.allow_private_addresses"]) == ("http://proxy:3128/", False)
    assert [(rule["xpath"], rule["css"]) for rule in values["data_rules"]] == [("//h1", None), (None, "a")]
    assert values["jobs"][0]["rules"] == [{"match": "x", "ua": "y"}]
    assert values["keymap"] == {"a": "b"}


def test_the_json_schema_knows_every_key():
    schema = json.loads(json.dumps(json_schema()))
    assert schema["required"] == ["seeds"]
    assert schema["additionalProperties"] is False

    def properties(node: Any) -> dict[str, Any]:
        while "properties" not in node:
            node = node["items"] if "items" in node else node["anyOf"][0]
        found: dict[str, Any] = node["properties"]
        return found

    for at, key in walk_keys(ROOT):
        node = schema
        for part in at.split(".") if at else []:
            node = properties(node)[part]
        described = properties(node)[key.name]
        assert described["description"] == key.doc
        assert ("default" in described) is not key.required
        if key.alias:
            assert key.alias in properties(node)
    assert properties(schema["properties"]["delay"])["model"]["enum"] == ["politeness", "running_average", "fixed"]
    assert "matcher" in schema["$defs"]


def test_fields_of_the_frozen_values_have_the_type_their_key_reads():
    for section in (Config, *(type(key.default) for key in ROOT.keys if isinstance(key.kind, Table) and key.default)):
        hints = get_type_hints(section)
        keys = ROOT.keys if section is Config else next(k.kind.keys for k in ROOT.keys if type(k.default) is section)
        for key in keys:
            nullable = isinstance(key.kind, Nullable)
            assert (type(None) in get_args(hints[key.attribute])) is nullable or key.name == "whitelist", key.name


def test_link_kinds_are_those_of_the_domain():
    schema = json_schema()["properties"]["crawl"]["properties"]["link_kinds_queued"]
    assert (
        schema["items"]["enum"]
        == [kind.value for kind in PAGE_KINDS]
        == ["a", "css", "img", "video", "audio", "object", "script"]
    )


@pytest.fixture
def sample(tmp_path) -> Path:
    path = tmp_path / "sample_config.yaml"
    path.write_text(SAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def test_the_sample_is_valid_without_a_warning_and_crawls_the_demo_web(sample):
    config = load_config(sample)
    assert config.warnings == ()
    assert config.seeds == tuple(f"http://127.0.0.1:{port}/" for port in range(18081, 18091))
    assert config.database.location == str(sample.parent / "sample.db")
    assert (config.delay.floor_ms, config.delay.allow_impolite) == (1000, False)
    assert config.policies.do_not_crawl
    assert config.policies.url_query_parameters
    assert config.exclusions[0].reason


def test_the_sample_shows_every_key(sample):
    text = SWITCHED_OFF.sub("", sample.read_text(encoding="utf-8"))
    for at, key in walk_keys(ROOT):
        if at not in {"exclusions", "rules", "jobs.rules", "data_rules", "policies.url_query_parameters"}:
            assert re.search(rf"^ *(- |\{{)?{key.name}:", text, re.MULTILINE), f"{at}.{key.name}"


def test_what_the_sample_has_switched_off_is_valid_too(sample, monkeypatch):
    for name in ("INTERN_TOKEN", "INTERN_SESSION", "INTERN_PASSWORD"):
        monkeypatch.setenv(name, "x")
    text = sample.read_text(encoding="utf-8")
    sample.write_text(SWITCHED_OFF.sub("", text), encoding="utf-8")
    config = load_config(sample)
    assert config.warnings == ()
    assert config.sites
    assert config.whitelist
    assert config.rules
    assert len(config.data_rules) == 2
    assert config.jobs[0].rules


def test_what_the_sample_says_for_own_sites_is_valid_too(sample):
    lines = OWN_SITES.findall(sample.read_text(encoding="utf-8"))
    sample.write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = load_config(sample)
    assert config.seeds == ("https://example.org/", "https://example.com/")
    assert config.warnings == ()


def test_the_sample_says_first_how_the_web_is_started_that_it_crawls():
    head = SAMPLE.read_text(encoding="utf-8").partition("\nname:")[0]
    (command,) = re.findall(r"`tui-crawler (demo [^`]*)`", head)
    arguments = parse(command.split())
    assert (arguments.serve_only, arguments.port) == (True, 18081), "where its seeds begin"
