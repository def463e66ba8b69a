"""`pulse`: a crawl over time, on a real database of a run in which nothing was crawled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Say
from tests.cli.crawls import store_crawl
from tests.storage.making import A


@pytest.fixture(autouse=True)
def crawl(here: Path) -> None:
    store_crawl(here / "crawl.db", f"{A}/")


@pytest.mark.parametrize(
    ("words", "of", "name"),
    [
        ((), "crawl", ""),
        (("--origin", "a.example"), "origin", A),
        (("--job", "main"), "job", "main"),
    ],
)
def test_as_json(words: tuple[str, ...], of: str, name: str, say: Say) -> None:
    document = say("pulse", "--span", "15m", *words, "--json").document
    assert (document["of"], document["name"]) == (of, name)
    length = document["until"] - document["since"]
    assert length == len(document["rows"]) * document["step_ms"]
    assert 0 <= length - 15 * 60_000 <= document["step_ms"]
    ats = [row["at"] for row in document["rows"]]
    assert ats == list(range(document["since"], document["until"], document["step_ms"]))
    assert sum(row["attempts"] for row in document["rows"]) == 0
    assert set(document["rows"][0]["latency_ms"]["first_byte"]) == {"p50", "p95"}


def test_for_people(say: Say) -> None:
    said = say("pulse", "--span", "30d").ok
    assert said.out.startswith("whole crawl")
    for chart in ("Pages/s", "Latency", "Failed per 6h", "Origins"):
        assert chart in said.out


def test_what_waits_is_what_is_counted_now(say: Say) -> None:
    pending = sum(origin["pending"] for origin in say("status", "--json").document["origins"])
    assert pending
    assert f"pending {pending}" in say("pulse", "--span", "15m").out


def test_what_is_not_there_is_refused(say: Say) -> None:
    for words, why in (
        (("--origin", "https://nobody.example"), "no origin"),
        (("--job", "nothing"), "no job"),
        (("--span", "1s"), "from 1m to 30d"),
        (("--span", "\x1b]52;c;x\x07"), "a duration"),
    ):
        say("pulse", *words).refused(why)
