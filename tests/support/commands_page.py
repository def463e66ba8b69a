"""docs/commands.md: every command with its options and examples, made from the parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from tui_crawler.cli.main import completed_by

COMMON = ("--db", "--config", "--quiet")
"""Options that nearly every command has; they are described once."""


def commands_markdown() -> str:
    """Return docs/commands.md."""
    root = completed_by(())
    shared = [one for one in root._actions if one.option_strings]
    lines = [
        "# Commands",
        "",
        "Made from the parsers; a test keeps this page equal to them. `tui-crawler help COMMAND` prints the same.",
        "",
        "Without a command `tui-crawler` opens the console:",
        "",
        "```",
        root.format_usage().removeprefix("usage: ").replace("\n       ", "\n").rstrip(),
        "```",
        "",
        *_table(shared),
        "",
        f"{', '.join(f'`{name}`' for name in COMMON)} are options of nearly every command below, and are not repeated.",
    ]
    for name, (parser, summary) in _commands(root).items():
        lines += ["", *_section(name, parser, summary, "##")]
    return "\n".join(lines) + "\n"


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[argparse.ArgumentParser, str]]:
    """The commands of a parser, by their full words, with the line that says what they do."""
    (action,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    summaries = {one.dest: one.help or "" for one in action._choices_actions}
    return {parser.prog: (parser, summaries[name]) for name, parser in action.choices.items() if name in summaries}


def _section(name: str, parser: argparse.ArgumentParser, summary: str, mark: str) -> Iterator[str]:
    yield from (f"{mark} {name}", "", f"{summary[0].upper()}{summary[1:]}.", "")
    if parser.description and parser.description.rstrip(".").lower() != summary.lower():
        yield from (_safe(parser.description), "")
    yield from ("```", re.sub(r"\n\s+", " ", parser.format_usage()).removeprefix("usage: ").strip(), "```")
    own = [one for one in parser._actions if not set(one.option_strings) & {*COMMON, "-h"}]
    if table := _table([one for one in own if not isinstance(one, argparse._SubParsersAction)]):
        yield from ("", *table)
    if parser.epilog:
        examples = [line.strip() for line in parser.epilog.splitlines()[1:]]
        yield from ("", "```console", *(f"$ {line}" for line in examples), "```")
    if any(isinstance(one, argparse._SubParsersAction) for one in parser._actions):
        for below, (command, about) in _commands(parser).items():
            yield from ("", *_section(below, command, about, f"{mark}#"))


def _table(actions: list[argparse.Action]) -> list[str]:
    shown = [one for one in actions if one.help and one.help is not argparse.SUPPRESS]
    rows = [
        f"| {_name(one)} | {_safe(one.help % vars(one) if '%(' in (one.help or '') else one.help or '')} |"
        for one in shown
    ]
    return ["| option | what it does |", "|---|---|", *rows] if rows else []


def _name(action: argparse.Action) -> str:
    value = (
        "" if action.nargs == 0 else str(action.metavar or (action.dest.upper() if action.choices is None else "{…}"))
    )
    names = action.option_strings or [value]
    return ", ".join(f"`{name}{f' {value}' if action.option_strings and value else ''}`" for name in names)


def _safe(text: str) -> str:
    """A help text as Markdown: nothing in it is markup."""
    return text.replace("%%", "%").replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*").replace("_", r"\_")
