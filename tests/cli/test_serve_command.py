"""`serve` asks for a token where it has to, and says what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Said
from tests.cli.crawls import store_crawl

Say = Callable[..., Said]


def test_what_is_not_safe_is_refused(say: Say, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_crawl(here / "crawl.db")
    for words, why in (
        (("--allow-control",), "with --allow-control pages have to bring a token"),
        (("--host", "0.0.0.0"), "at 0.0.0.0 pages have to bring a token"),
        (("--host", "192.0.2.1"), "at 192.0.2.1 pages have to bring a token"),
        (("--token", "short"), "--token: 8 to 200"),
        (("--token", "with spaces in it"), "--token: 8 to 200"),
        (("--port", "0"), "above 0"),
    ):
        said = say("serve", *words)
        assert (said.status, said.out) == (2, "")
        assert why in said.err
    monkeypatch.setattr("tui_crawler.cli.serve_command.find_spec", lambda _: None)
    said = say("serve")
    assert said.status == 2
    assert "pip install 'tui-crawler[web]'" in said.err
