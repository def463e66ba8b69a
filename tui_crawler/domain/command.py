"""What an operator can ask for while a run is live or the database rests. Written as rows, folded by the engine."""

from __future__ import annotations

import json
from typing import Any, assert_never

from tui_crawler.domain.record import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class PauseOrigins:
    """No further request to these origins after the one in flight. Empty: every origin."""

    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResumeOrigins:
    """Takes the pause off. Empty: every origin."""

    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StopOrigins:
    """FINISHED(operator) for this run; pages are kept. Empty: every origin."""

    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddSeeds:
    """New seeds. `pattern` and `force` are the item pattern and force of design G; `not_before` (epoch ms, 0: at once)
    is the time before which they may not be requested (R). `left_out`: so many more URLs than stand here were added."""

    urls: tuple[str, ...]
    job: str = ""
    pattern: str = ""
    force: bool = False
    not_before: int = 0
    left_out: int = 0

    def shortened(self) -> AddSeeds:
        """What is kept of a long list when it was added: a URL of each origin; the pages have the others."""
        first: dict[str, str] = {}
        for url in self.urls:
            first.setdefault("/".join(url.split("/", 3)[:3]), url)
        return replace(self, urls=tuple(first.values()), left_out=self.left_out + len(self.urls) - len(first))


RETRIED_NEXT = 500
"""So many of the pages of an origin that are put back at once come next of all it has, at most (as many as a fill
takes; see RETRIED_AT_ONCE, too); of more than that the others come when the queue gets to them."""


@dataclass(frozen=True, slots=True)
class RetryPages:
    """Pages get their tries back, leave the ignore list and come next: all that failed, those of these URLs that were
    not crawled, or those of these exit codes. The options narrow each other."""

    urls: tuple[str, ...] = ()
    exit_codes: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopUpPatience:
    """Patience back to the configured number; an origin that had given up goes on. Empty: every origin."""

    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetDelay:
    """The operator's own minimum delay (ms) of an origin; 0 takes it off. It only ever slows down."""

    origin: str
    delay_ms: int


@dataclass(frozen=True, slots=True)
class RefetchRobots:
    """robots.txt of these origins is due at once; the delay holds for it as for any request. Empty: every origin."""

    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exclude:
    """Adds to the exclusion list; `remove` takes the entry off again. `kind`: domain, host, cidr, pattern."""

    kind: str
    value: str
    reason: str = ""
    remove: bool = False


@dataclass(frozen=True, slots=True)
class SetJob:
    """Changes a job (B). None leaves a value as it is; of depth and concurrency -1 means no limit."""

    job: str
    nice: int | None = None
    depth: int | None = None
    concurrency: int | None = None
    tag: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class SteerJobs:
    """`order`: pause (concurrency 0), resume (back to the former concurrency), abort, unabort."""

    order: str
    jobs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ApplyRules:
    """A new ruleset (B). `rules` is the JSON of a whole PolicySet (domain.ruleset), `base_id` the version it was made
    from: another current one is a RulesetConflict. `job` empty: every job, which then share one version each."""

    rules: str
    base_id: int
    job: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class StashPages:
    """READY pages into the stash `name`, out of all crawling (B). URLs, origins and `pattern` (searched in the URL)
    narrow each other; none of them: every READY page of the job. `job` empty: the job of the run."""

    name: str
    urls: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    pattern: str = ""
    job: str = ""


@dataclass(frozen=True, slots=True)
class UnstashPages:
    """Pages of a stash back to READY, oldest first; `limit` 0: all of them."""

    name: str
    limit: int = 0
    job: str = ""


@dataclass(frozen=True, slots=True)
class SetDripfeed:
    """Keeps at most `ready` pages of a stash READY, oldest first (B); 0 ends it."""

    name: str
    ready: int
    job: str = ""


@dataclass(frozen=True, slots=True)
class ReclaimPages:
    """Pages in limbo back to READY, with a reason (B): those claimed for longer than `older_ms`, or the URLs named."""

    reason: str
    urls: tuple[str, ...] = ()
    older_ms: int = 0


@dataclass(frozen=True, slots=True)
class ProbeUrls:
    """A HEAD request for each URL (U: crawl type check); no page is changed by what it answers."""

    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadSegment:
    """Takes the URLs of a segment into the queue, exactly once (M). `path` is absolute."""

    path: str


@dataclass(frozen=True, slots=True)
class SteerWorkers:
    """`order`: pause (they ask nothing and keep their origins), resume, drain (they finish what is in flight, give
    their origins back and end), stop. By their names."""

    order: str
    workers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TagWorker:
    """A worker takes the jobs of these tags from now on, and those without a tag unless it is `matchonly`."""

    worker: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MoveOrigins:
    """These origins, each with its site, go to a worker and stay there until it ends."""

    origins: tuple[str, ...]
    worker: str


WorkerCommand = SteerWorkers | TagWorker | MoveOrigins

Command = (
    PauseOrigins | ResumeOrigins | StopOrigins | AddSeeds | RetryPages | TopUpPatience | SetDelay | RefetchRobots
    | Exclude | SetJob | SteerJobs | ApplyRules | StashPages | UnstashPages | SetDripfeed | ReclaimPages | ProbeUrls
    | LoadSegment | WorkerCommand
)  # fmt: skip

_NAMES: dict[str, type[Any]] = {
    "pause": PauseOrigins,
    "resume": ResumeOrigins,
    "stop": StopOrigins,
    "add": AddSeeds,
    "retry": RetryPages,
    "top_up": TopUpPatience,
    "delay": SetDelay,
    "refetch_robots": RefetchRobots,
    "exclude": Exclude,
    "job": SetJob,
    "steer_jobs": SteerJobs,
    "rules": ApplyRules,
    "stash": StashPages,
    "unstash": UnstashPages,
    "dripfeed": SetDripfeed,
    "reclaim": ReclaimPages,
    "probe": ProbeUrls,
    "load": LoadSegment,
    "steer_workers": SteerWorkers,
    "tag_worker": TagWorker,
    "move": MoveOrigins,
}
_KINDS: dict[type[Any], str] = {kind: name for name, kind in _NAMES.items()}


@dataclass(frozen=True, slots=True)
class PendingAction:
    """A row of the operator journal that waits to be carried out. `at` is epoch ms."""

    action_id: int
    at: int
    who: str
    command: Command


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What became of an action: JSON texts of before and after; `error` is empty when it was carried out."""

    action_id: int
    before: str
    after: str
    error: str = ""


class BadCommand(ValueError):
    """A stored command that cannot be read: another version wrote it, or the row is damaged."""


def action_of(command: Command) -> tuple[str, str]:
    """The name under which the operator journal keeps a command ("pause", "add", …), and what it is about, in one line;
    "all" where it names nothing."""
    match command:
        case AddSeeds(urls=names) | ProbeUrls(urls=names):
            pass
        case SteerJobs(order=order, jobs=jobs) | SteerWorkers(order=order, workers=jobs):
            names = (f"{order} {', '.join(jobs[:3])}" + (f" and {len(jobs) - 3} more" if len(jobs) > 3 else ""),)
        case RetryPages(urls=urls, exit_codes=exits, origins=origins):
            names = urls + exits + origins
        case SetDelay(origin=name) | SetJob(job=name) | LoadSegment(path=name) | ApplyRules(job=name):
            names = (name,) if name else ()
        case TagWorker(worker=name) | StashPages(name=name) | UnstashPages(name=name) | SetDripfeed(name=name):
            names = (name,)
        case ReclaimPages(reason=reason, urls=urls):
            names = urls or (reason,)
        case Exclude(kind=kind, value=value, remove=remove):
            names = (f"remove {kind} {value}" if remove else f"{kind} {value}",)
        case PauseOrigins(origins=names) | ResumeOrigins(origins=names) | MoveOrigins(origins=names):
            pass
        case StopOrigins(origins=names) | TopUpPatience(origins=names) | RefetchRobots(origins=names):
            pass
        case _:
            assert_never(command)
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return _KINDS[type(command)], shown or "all"


def to_json(command: Command) -> str:
    """A command as the text stored in the operator journal."""
    return json.dumps({one.name: getattr(command, one.name) for one in fields(command)}, ensure_ascii=True)


def from_json(name: str, text: str) -> Command:
    """The command stored under `name`. Raises BadCommand."""
    kind = _NAMES.get(name)
    try:
        raw = json.loads(text)
        if kind is None or not isinstance(raw, dict):
            raise BadCommand(f"unknown action {name!r}")
        known = {f.name for f in fields(kind)}
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items() if k in known}
        made: Command = kind(**values)
    except (TypeError, ValueError) as error:
        raise BadCommand(f"action {name!r} cannot be read: {error}") from error
    return made
