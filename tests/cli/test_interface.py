"""The command line as it is promised: every command, its words and options. To be added to, never taken from."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import environment
from tests.cli.crawls import store_crawl
from tui_crawler.cli.main import completed_by, parse

PROMISED = (
    "",
    "my.yaml",
    "my.yaml --readonly",
    "demo",
    "demo --headless",
    "demo --serve-only",
    "crawl https://example.org/ https://example.com/",
    "crawl https://example.org/ --own --db x.db",
    "crawl https://example.org/ --user-agent ua --delay 2s --depth 3 --max-pages 500 --allow-queries",
    "site-audit https://example.org/ https://example.com/ --own --max-requests 5 --user-agent ua --json --db x.db",
    *(f"site-audit https://example.org/ --output file --format {form}" for form in ("html", "md", "junit", "json")),
    "site-audit https://example.org/ --fail-on broken,external,fragments,slow=2s",
    "archive https://example.org/ --own --output file.warc.gz --force --max-requests 5 --json",
    "run my.yaml",
    "run my.yaml --max-requests 5 --force-recrawl --new-run --user-agent ua --allow-impolite --workers 2",
    "run my.yaml --new-run --recheck --own",
    "run my.yaml --service",
    "log --follow --attempts --json",
    "follow --plain --wait --every 1m",
    "follow --json",
    "my.yaml --allow-impolite",
    "crawl https://example.org/ --allow-impolite",
    "check my.yaml --allow-impolite",
    "rehearse my.yaml --allow-impolite",
    "worker --allow-impolite",
    "run my.yaml --metrics 127.0.0.1:9100 --on-event cat",
    "my.yaml --metrics 9100 --on-event cat",
    "check my.yaml",
    "check --schema",
    "status",
    "why https://example.org/",
    "failures",
    "failures --by exit_code,origin,pattern",
    "failures --list --exit-code file_gone --origin https://example.org",
    "retry https://example.org/a https://example.org/b",
    "retry --exit-code connection_failed --origin https://example.org",
    "pause https://example.org https://example.com",
    "pause --all",
    "resume https://example.org",
    "resume --all",
    "stop https://example.org",
    "stop --all",
    "top-up https://example.org",
    "top-up --all",
    "refetch https://example.org",
    "refetch --all",
    "delay https://example.org 5s",
    "add https://example.org/ https://example.com/ --job news --pattern /a/ --force",
    "add -",
    "add seeds.txt",
    "links https://example.org/",
    "tree https://example.org /a/ --depth 2",
    "serve --host 127.0.0.1 --port 8000 --allow-control --token a-long-secret",
    "serve --public-url https://example.org/crawl/ --max-clients 3 --token file:serve.token",
    "rules show",
    "rules test https://example.org/",
    "rules preview rules.yaml",
    "rules apply rules.yaml",
    "rules history",
    "audit",
    "audit --verbose",
    "diff",
    "diff 6",
    "diff 6 7 --json --origin https://example.org --limit 5",
    "diff --url https://example.org/a",
    *(f"report --format {form} --output file --run 1" for form in ("html", "md", "junit", "json")),
    *(
        f"export {what} --format {form} --output file"
        for what in ("pages", "attempts", "links", "redirects", "failures", "data")
        for form in ("jsonl", "csv", "parquet")
    ),
    "export bodies --format warc",
    "export bodies --format jsonl",
    "export documents --format csv --bom",
    "exclude domain example.net --reason asked",
    "exclude host a.example.org",
    "exclude cidr 203.0.113.0/24",
    "exclude pattern /private/",
    "exclude --remove domain example.net",
    "exclude --list",
    "jobs",
    "jobs set news --nice -5 --depth 3 --concurrency 2 --tag night",
    "jobs pause news",
    "jobs resume news more",
    "jobs abort news",
    "jobs unabort news",
    "pages stash later https://example.org/",
    "pages unstash later",
    "pages dripfeed later 5",
    "pages reclaim --reason why https://example.org/",
    "pages probe https://example.org/",
    "queue build",
    "queue build --output segments",
    "queue load one.segment",
    "db check",
    "db upgrade",
    "db path",
    "db copy crawl.db postgresql://localhost/crawl",
)
WITHOUT_JSON = {("crawl",), ("export",), ("completion",), ("help",), ("serve",)}
"""The console (in a browser, too), what has formats of its own, and a script for a shell."""


@pytest.mark.parametrize("line", PROMISED)
def test_a_promised_line_is_a_command(line: str):
    arguments = parse(["--db", "x.db", *line.split(), "--quiet"])
    assert callable(arguments.execute)
    assert (arguments.db, arguments.quiet) == ("x.db", True)


def commands(parser: argparse.ArgumentParser, *words: str) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every parser that carries something out."""
    if parser.get_default("execute") is not None:
        yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, below in action.choices.items():
                yield from commands(below, *words, word)


def carried_out(execute: Any) -> tuple[Any, ...]:
    """What tells the functions of two commands apart, also where they are made anew with each parser."""
    return getattr(execute, "func", execute).__code__, getattr(execute, "args", ())


COMMANDS = dict(commands(completed_by([])))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help_and_the_common_options(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    options = {option for action in COMMANDS[words]._actions for option in action.option_strings}
    assert "--help" in options
    assert "--quiet" in options
    assert ("--json" in options) == (words not in WITHOUT_JSON)
    with pytest.raises(SystemExit) as end:
        parse([*words, "--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: tui-crawler {' '.join(words)}")
    examples = said.partition("\nexamples:\n  ")[2].splitlines()
    assert 1 <= len(examples) <= 2
    for line in examples:
        typed = re.search(r"tui-crawler ((?:[^|>)']|'[^']*')*)", line)
        assert carried_out(parse(shlex.split(typed[1])).execute) == carried_out(COMMANDS[words].get_default("execute"))
    assert all(action.help for action in COMMANDS[words]._actions if action.option_strings)


@pytest.mark.parametrize("words", [(), ("run", "my.yaml"), ("pause", "https://example.org"), ("jobs", "pause", "news")])
def test_common_options_stand_before_and_after_a_command(words: tuple[str, ...]):
    for option, value in (("--db", "x.db"), ("--config", "my.yaml")):
        assert getattr(parse([option, value, *words]), option[2:]) == value
        assert getattr(parse([f"{option}={value}", *words]), option[2:]) == value
        assert getattr(parse([option, "y", *words, option, value]), option[2:]) == value, "the last one wins"
        assert getattr(parse(words), option[2:]) is None


def test_no_help_imports_anything_heavy():
    script = (
        "import sys\n"
        "from tui_crawler.cli.main import main\n"
        f"for words in {[*COMMANDS]!r}:\n"
        "    assert main([*words, '--help']) == 0, words\n"
        "assert main(['--version']) == 0\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True)
    heavy = "textual rich httpx peewee asyncio lxml ruamel ada_url re2 sqlite3 argcomplete"
    assert not {*heavy.split()} & set(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        (("rules", "show"), {"config.schema", "domain.admission", "domain.contract", "storage.reports.jobs"}),
        (("why", "https://a.example/one"), {"domain.contract"}),
    ],
    ids=["rules show", "why"],
)
def test_a_question_loads_no_more_than_it_needs(here: Path, words: tuple[str, ...], unneeded: set[str]):
    store_crawl(here / "crawl.db")
    script = (
        "import sys\n"
        "from tui_crawler.cli.main import main\n"
        f"assert main({[*words]!r}) == 0\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True)
    loaded = {name.removeprefix("tui_crawler.") for name in done.stderr.split()}
    never = {"protego", "asyncio", "textual", "httpx", "lxml", "psycopg", "storage.transaction"}
    assert not (never | unneeded) & loaded
