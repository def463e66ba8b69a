"""`serve` needs a token where others come, takes it from where it is not seen, and says what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Say
from tests.cli.crawls import store_crawl
from tui_crawler.cli.serve_command import MAX_CLIENTS, TOKEN_VARIABLE
from tui_crawler.console import browser
from tui_crawler.console.browser import ServeAccess

SECRET = "a-long-secret"


class Serving:
    """Keeps what would be served."""

    def __init__(self) -> None:
        self.words: Sequence[str] = ()
        self.access = ServeAccess("", None, 0)

    def serve(
        self, words: Sequence[str], host: str, port: int, access: ServeAccess, tell: Callable[[str], object]
    ) -> None:
        self.words, self.access = words, access
        tell(f"http://{host}:{port}/")


@pytest.fixture
def serving(here: Path, monkeypatch: pytest.MonkeyPatch) -> Serving:
    store_crawl(here / "crawl.db")
    kept = Serving()
    monkeypatch.setattr(browser, "serve_console", kept.serve)
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    return kept


def test_what_is_not_safe_is_refused(say: Say, serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    for words, why in (
        (("--token", "short"), "8 to 200 letters"),
        (("--token", ""), "8 to 200 letters"),
        (("--token", "with spaces in it"), "8 to 200 letters"),
        (("--token", "file:missing"), "missing cannot be read: no such file"),
        (("--token", "${NOT_SET_HERE}"), "NOT_SET_HERE is not set"),
        (("--port", "0"), "above 0"),
        (("--max-clients", "0"), "above 0"),
        (("--public-url", "ftp://example.org/"), "is not http or https"),
        (("--public-url", "https://example.org/?a=b"), "has a query or a fragment"),
        (("--public-url", "https://example.org/#a"), "has a query or a fragment"),
        (("--public-url", "https://me:pw@example.org/"), "user name or password"),
    ):
        say("serve", *words).refused(why)
    monkeypatch.setenv(TOKEN_VARIABLE, "short")
    assert TOKEN_VARIABLE in say("serve").err
    monkeypatch.setattr("tui_crawler.cli.serve_command.find_spec", lambda _: None)
    say("serve").refused("pip install 'tui-crawler[web]'")


@pytest.mark.parametrize(
    "words",
    [
        ("--allow-control",),
        ("--host", "0.0.0.0"),
        ("--host", "192.0.2.1"),
        ("--public-url", "https://example.org/crawl/"),
    ],
)
def test_a_token_is_generated_where_one_is_needed(say: Say, serving: Serving, words: tuple[str, ...]) -> None:
    said = say("serve", *words)
    first = serving.access.token
    assert said.status == 0
    assert len(first) >= 32
    assert said.out.endswith(f"/?token={first}\n")
    say("serve", *words)
    assert serving.access.token != first


def test_watching_on_this_machine_needs_none(say: Say, serving: Serving) -> None:
    said = say("serve")
    assert (said.out, said.err) == ("the console is at http://localhost:8731/\n", "")
    assert serving.access == ServeAccess("", None, MAX_CLIENTS)
    assert "--readonly" in serving.words


@pytest.mark.parametrize("source", ["file:serve.token", "${SERVED}", None])
def test_a_token_that_is_kept_elsewhere_is_not_printed(
    say: Say, here: Path, serving: Serving, monkeypatch: pytest.MonkeyPatch, source: str | None
) -> None:
    (here / "serve.token").write_text(f"{SECRET}\n")
    monkeypatch.setenv("SERVED" if source else TOKEN_VARIABLE, SECRET)
    said = say("serve", "--allow-control", *(("--token", source) if source else ()))
    assert serving.access.token == SECRET
    assert SECRET not in said.out + said.err + " ".join(serving.words)
    assert (source or TOKEN_VARIABLE) in said.err


def test_a_token_on_the_command_line_is_warned_of(say: Say, serving: Serving) -> None:
    said = say("serve", "--token", SECRET)
    assert said.out.endswith(f"?token={SECRET}\n")
    assert "warning" in said.err
    assert "list of processes" in said.err
