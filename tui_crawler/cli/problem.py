"""Exit statuses of the program (docs/behaviour.md), and what ends it with 2 or 3."""

from enum import IntEnum

from tui_crawler.domain.records.failure import CannotRun, UsageProblem

__all__ = ["CannotRun", "ExitStatus", "UsageProblem"]


class ExitStatus(IntEnum):
    """What the process tells its parent."""

    ok = 0  # finished, or stopped by the operator
    gave_up = 1  # some origin ended by patience or database_error; an audit found a broken promise
    usage = 2  # usage or configuration; also: no terminal for the console
    cannot_run = 3  # another run holds the database, or it cannot be used
    hangup = 129  # SIGHUP
    interrupted = 130  # SIGINT
    terminated = 143  # SIGTERM
