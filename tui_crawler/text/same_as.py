"""What was done, as the command line would do it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tui_crawler.domain.records.command import (
    VERBS,
    ApplyRules,
    BadCommand,
    Command,
    MoveOrigins,
    Names,
    from_json,
    shortened,
)

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import ActionView

PROGRAM = "tui-crawler"


def same_as(commands: Iterable[Command], *, takes_back: bool = False) -> str:
    """Return the commands that do the same, joined by `;` (raw text); empty when the command line has none for one of
    them. Of long lists the first names are given and how many more there are. `takes_back`: rules that are applied are
    those before the version in force."""
    lines = [[PROGRAM, *line] for command in commands for line in _lines(command, takes_back)]
    shown = (" ".join(word if word.startswith("… (") else shlex.quote(word) for word in line) for line in lines)
    return "; ".join(shown) if all(len(line) > 1 for line in lines) else ""


def command_line_of(action: ActionView) -> str:
    """The command line that does the same as an entry of the operator journal (raw text); empty when there is none."""
    try:
        return same_as((from_json(action.action, action.command),)) if action.command else ""
    except BadCommand:
        return ""


def _lines(command: Command, takes_back: bool) -> Iterator[Names]:
    match command:
        case ApplyRules(job=job) if takes_back:
            yield ("rules", "undo", *(("--job", job) if job else ()))
        case MoveOrigins(origins=origins, worker=worker):
            yield from (VERBS[MoveOrigins].words(MoveOrigins((one,), worker)) for one in shortened(origins))
        case _:
            yield VERBS[type(command)].words(command)
