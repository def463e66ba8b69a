"""`rehearse`: a configuration in virtual time against stored pages; nothing is requested."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.cli.conftest import Say
from tui_crawler.demo.process import DemoProcess, demo_config
from tui_crawler.wiring.crawl import NullListener
from tui_crawler.wiring.headless import run_headless
from tui_crawler.wiring.launch import Launch

SITES = ("almanac", "observatory", "reserve")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A configuration, and the database of a crawl by it whose web is gone."""
    from tui_crawler.config.load import load_config  # noqa: PLC0415  as the command line does

    folder = tmp_path_factory.mktemp("rehearsed")
    database, config = folder / "demo.db", folder / "demo.yaml"
    with DemoProcess.start(pace=0.05) as web:
        seeds = [site.seed for site in web.sites if site.name in SITES]
        config.write_text(demo_config(seeds, str(database), headless=True), encoding="utf-8")
        assert run_headless(load_config(config), database, Launch(), NullListener()) in {0, 1}
    yield config, database


def numbers(database: Path) -> dict[str, tuple[int, int]]:
    """By origin, pages that were fetched, and pages that were refused."""
    text = """SELECT o.origin, SUM(a.requests > 0), SUM(a.requests = 0 AND a.exit_code BETWEEN 200 AND 203)
    FROM attempt a JOIN origin o ON o.id = a.origin_id WHERE a.kind <> 'robots' GROUP BY o.id"""
    with closing(sqlite3.connect(database)) as opened:
        return {origin: (fetched, refused) for origin, fetched, refused in opened.execute(text)}


def edited(config: Path, folder: Path, before: str, after: str) -> Path:
    """A copy of the configuration with another text in it."""
    path, text = folder / "edited.yaml", config.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    return path


def test_the_same_configuration_fetches_what_was_fetched(crawled: tuple[Path, Path], say: Say):
    config, database = crawled
    document = say("rehearse", str(config), "--from", str(database), "--json").document
    assert list(document) == ["fetched", "refused", "not_stored", "virtual_s", "by_origin"]
    assert document["not_stored"] == 0
    assert {one["origin"]: (one["fetched"], one["refused"]) for one in document["by_origin"]} == numbers(database)
    assert document["fetched"] == sum(one["fetched"] for one in document["by_origin"]) > 100
    assert {one["finish_reason"] for one in document["by_origin"]} == {"exhausted"}


def test_a_longer_delay_takes_longer_and_nobody_waits_for_it(crawled: tuple[Path, Path], tmp_path: Path, say: Say):
    config, database = crawled
    slow = edited(config, tmp_path, "default: 20ms", "default: 60s")
    document = say("rehearse", str(slow), "--from", str(database), "--json").document
    most = max(one["fetched"] for one in document["by_origin"])
    assert document["virtual_s"] >= most * 60
    assert document["fetched"] == sum(fetched for fetched, _ in numbers(database).values())


def test_rules_and_depth_are_those_of_the_changed_configuration(crawled: tuple[Path, Path], tmp_path: Path, say: Say):
    config, database = crawled
    shallow = edited(config, tmp_path, "  patience: 5", "  patience: 5\n  max_depth: 0")
    document = say("rehearse", str(shallow), "--from", str(database), "--json").document
    assert all(1 <= one["fetched"] <= 2 for one in document["by_origin"])  # seeds, and the sitemap of one
    strict = edited(config, tmp_path, "- path: {prefix: /admin/}", "- path: {prefix: /}")
    assert say("rehearse", str(strict), "--from", str(database), "--json").document["fetched"] == 0


def test_pages_that_are_not_stored_are_counted(crawled: tuple[Path, Path], tmp_path: Path, say: Say):
    config, database = crawled
    seed = config.read_text(encoding="utf-8").split('"http://')[1].split('"')[0]
    more = edited(config, tmp_path, "seeds:", f'seeds:\n  - "http://{seed}not-there"\n  - "http://127.0.0.1:9/"')
    document = say("rehearse", str(more), "--from", str(database), "--json").document
    assert document["not_stored"] == 2
    assert document["by_origin"][-1]["origin"] == "http://127.0.0.1:9"
    assert "(2 not stored)" in say("rehearse", str(more), "--from", str(database)).out


def test_no_socket_is_opened_and_the_database_stays_as_it_is(
    crawled: tuple[Path, Path], say: Say, monkeypatch: pytest.MonkeyPatch
):
    config, database = crawled

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a rehearsal asks nobody")

    for name in ("connect", "connect_ex", "sendto", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse, raising=True)
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", refuse)
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    assert say("rehearse", str(config), "--from", str(database), "--json").document["fetched"] > 100
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before
    assert sorted(one.name for one in database.parent.iterdir() if one.suffix != ".yaml") == ["demo.db"]


def test_a_database_that_is_not_there(crawled: tuple[Path, Path], tmp_path: Path, say: Say):
    say("rehearse", str(crawled[0]), "--from", str(tmp_path / "none.db")).refused("there is no database")
