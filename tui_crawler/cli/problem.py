"""Exit statuses of the program (docs/behaviour.md), and what cannot be done as asked: 2 for a mistake, 3 for what
stands in the way."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the process tells its parent."""

    ok = 0  # finished, or stopped by the operator
    gave_up = 1  # some origin ended by patience or database_error; an audit found a broken promise
    usage = 2  # usage or configuration; also: no terminal for the console
    cannot_run = 3  # another run holds the database, or it cannot be used
    hangup = 129  # SIGHUP
    interrupted = 130  # SIGINT
    terminated = 143  # SIGTERM


class UsageProblem(Exception):
    """A wrong word, option, file or configuration. `lines` are shown one by one; `hint` says what to do instead."""

    def __init__(self, *lines: str, hint: str = "") -> None:
        super().__init__(*lines)
        self.lines = lines
        self.hint = hint


class CannotRun(Exception):
    """What was asked for is right and cannot be done here and now: one line, exit status 3."""
