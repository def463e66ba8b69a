"""What was done, as the command line would do it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from tui_crawler.domain.command import (
    AddSeeds,
    Command,
    PauseOrigins,
    ResumeOrigins,
    RetryPages,
    SetJob,
    SteerJobs,
    StopOrigins,
)

MOST_NAMES = 3
PROGRAM = "tui-crawler"


def same_as(commands: Iterable[Command]) -> str:
    """The commands that do the same, joined by `;` (raw text); empty when the command line has none for one of them.

    Of long lists the first names are given and how many more there are.
    """
    lines = [_line(command) for command in commands]
    return "; ".join(lines) if all(lines) else ""


def _line(command: Command) -> str:
    match command:
        case PauseOrigins(origins=names):
            return _words("pause", *_named(names))
        case ResumeOrigins(origins=names):
            return _words("resume", *_named(names))
        case StopOrigins(origins=names):
            return _words("stop", *_named(names))
        case AddSeeds(urls=urls, job="", pattern="", force=False, not_before=0):
            return _words("add", *_some(urls))
        case RetryPages(urls=urls, exit_codes=codes, origins=origins):
            chosen = [word for code in codes for word in ("--exit-code", code)]
            chosen += [word for origin in _some(origins) for word in ("--origin", origin)]
            return _words("retry", *_some(urls), *chosen)
        case SteerJobs(order=order, jobs=jobs):
            return _words("jobs", order, *_some(jobs))
        case SetJob(job=job):
            return _job_line(job, command)
        case _:
            return ""


def _job_line(job: str, command: SetJob) -> str:
    given = (("nice", command.nice), ("depth", command.depth), ("concurrency", command.concurrency))
    words = [
        word
        for name, value in given
        if value is not None
        for word in (f"--{name}", "none" if value < 0 and name != "nice" else str(value))
    ]
    return _words("jobs", "set", job, *words) if words and command.tag is None and command.note is None else ""


def _named(names: Sequence[str]) -> Sequence[str]:
    return _some(names) if names else ("--all",)


def _some(names: Sequence[str]) -> list[str]:
    return [*names[:MOST_NAMES], *([f"… ({len(names) - MOST_NAMES} more)"] if len(names) > MOST_NAMES else [])]


def _words(*words: str) -> str:
    return " ".join((PROGRAM, *(word if word.startswith("… (") else shlex.quote(word) for word in words)))
