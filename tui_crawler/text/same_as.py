"""What was done, as the command line would do it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tui_crawler.domain.command import (
    AddSeeds,
    ApplyRules,
    BadCommand,
    Command,
    Exclude,
    LoadSegment,
    MoveOrigins,
    PauseOrigins,
    ProbeUrls,
    ReclaimPages,
    RefetchRobots,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    SetDripfeed,
    SetJob,
    StashPages,
    SteerJobs,
    SteerWorkers,
    StopOrigins,
    TagWorker,
    TopUpPatience,
    UnstashPages,
    from_json,
)

if TYPE_CHECKING:
    from tui_crawler.domain.operator_view import ActionView

MOST_NAMES = 3
PROGRAM = "tui-crawler"
_ORIGIN_WORDS: Mapping[type[object], str] = {
    PauseOrigins: "pause",
    ResumeOrigins: "resume",
    StopOrigins: "stop",
    TopUpPatience: "top-up",
    RefetchRobots: "refetch",
}


def same_as(commands: Iterable[Command], *, takes_back: bool = False) -> str:
    """The commands that do the same, joined by `;` (raw text); empty when the command line has none for one of them.

    Of long lists the first names are given and how many more there are. `takes_back`: rules that are applied are those
    before the version in force.
    """
    lines = [_line(command, takes_back) for command in commands]
    return "; ".join(lines) if all(lines) else ""


def command_line_of(action: ActionView) -> str:
    """The command line that does the same as an entry of the operator journal (raw text); empty when there is none."""
    try:
        return same_as((from_json(action.action, action.command),)) if action.command else ""
    except BadCommand:
        return ""


def _line(command: Command, takes_back: bool = False) -> str:
    match command:
        case PauseOrigins() | ResumeOrigins() | StopOrigins() | TopUpPatience() | RefetchRobots():
            return _words(_ORIGIN_WORDS[type(command)], *(_some(command.origins) or ("--all",)))
        case SetDelay(origin=origin, delay_ms=ms):
            return _words("delay", origin, f"{ms}ms" if ms % 1_000 else f"{ms // 1_000}s")
        case AddSeeds(urls=urls, job="", pattern="", force=False, not_before=0, left_out=more):
            return _words("add", *_some(urls, more))
        case RetryPages(urls=urls, exit_codes=codes, origins=origins):
            chosen = [word for code in codes for word in ("--exit-code", code)]
            chosen += [word for origin in _some(origins) for word in ("--origin", origin)]
            return _words("retry", *_some(urls), *chosen)
        case SteerJobs(order=order, jobs=jobs):
            return _words("jobs", order, *_some(jobs))
        case SetJob(job=job):
            return _job_line(job, command)
        case Exclude(kind=kind, value=value, reason=reason, remove=remove):
            return _words("exclude", kind, value, *_option("--reason", reason), *(("--remove",) if remove else ()))
        case ApplyRules(job=job) if takes_back:
            return _words("rules", "undo", *_option("--job", job))
        case ApplyRules(job=job, note=note):
            return _words("rules", "apply", "FILE", *_option("--job", job), *_option("--note", note))
        case _:
            return _pages_line(command)


def _pages_line(command: Command) -> str:
    match command:
        case StashPages(name=name, urls=urls, origins=origins, pattern=pattern, job=job):
            chosen = [word for origin in _some(origins) for word in ("--origin", origin)]
            more = (*chosen, *_option("--pattern", pattern), *_option("--job", job))
            return _words("pages", "stash", name, *_some(urls), *more)
        case UnstashPages(name=name, limit=limit, job=job):
            most = ("--limit", str(limit)) if limit else ()
            return _words("pages", "unstash", name, *most, *_option("--job", job))
        case SetDripfeed(name=name, ready=ready, job=job):
            return _words("pages", "dripfeed", name, str(ready), *_option("--job", job))
        case ReclaimPages(reason=reason, urls=urls, older_ms=older):
            age = ("--older", f"{older}ms") if older and not urls else ()
            return _words("pages", "reclaim", *_some(urls), *age, "--reason", reason)
        case ProbeUrls(urls=urls):
            return _words("pages", "probe", *_some(urls))
        case LoadSegment(path=path):
            return _words("queue", "load", path)
        case _:
            return _workers_line(command)


def _workers_line(command: Command) -> str:
    match command:
        case SteerWorkers(order=order, workers=workers):
            return _words("workers", order, *_some(workers))
        case TagWorker(worker=worker, tags=tags):
            return _words("workers", "tags", worker, *tags)
        case MoveOrigins(origins=origins, worker=worker):
            return "; ".join(_words("workers", "move", origin, worker) for origin in _some(origins))
        case _:
            return ""


def _option(name: str, value: str) -> tuple[str, ...]:
    return (name, value) if value else ()


def _job_line(job: str, command: SetJob) -> str:
    given = (("nice", command.nice), ("depth", command.depth), ("concurrency", command.concurrency))
    words = [
        word
        for name, value in given
        if value is not None
        for word in (f"--{name}", "none" if value < 0 and name != "nice" else str(value))
    ]
    return _words("jobs", "set", job, *words) if words and command.tag is None and command.note is None else ""


def _some(names: Sequence[str], more: int = 0) -> list[str]:
    more += max(0, len(names) - MOST_NAMES)
    return [*names[:MOST_NAMES], *([f"… ({more} more)"] if more else [])]


def _words(*words: str) -> str:
    return " ".join((PROGRAM, *(word if word.startswith("… (") else shlex.quote(word) for word in words)))
