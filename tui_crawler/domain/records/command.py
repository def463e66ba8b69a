"""What an operator can ask for while a run is live or the database rests. Written as rows, folded by the engine.

A `Verb` says what each kind of command is called: in the operator journal and on the command line. An `Order` is a
command that is one word about names; the console makes its intents and questions of it, the command line its parsers.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, Self, TypeVar

from tui_crawler.domain.record import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class _OfOrigins:
    """A command about these origins. Empty: every origin."""

    origins: tuple[str, ...] = ()


class PauseOrigins(_OfOrigins):
    """No further request to these origins after the one in flight."""


class ResumeOrigins(_OfOrigins):
    """Takes the pause off."""


class StopOrigins(_OfOrigins):
    """FINISHED(operator) for this run; pages are kept."""


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

    def shortened(self) -> Self:
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


class TopUpPatience(_OfOrigins):
    """Patience back to the configured number; an origin that had given up continues."""


@dataclass(frozen=True, slots=True)
class SetDelay:
    """The operator's own minimum delay (ms) of an origin; 0 takes it off. It only ever slows down."""

    origin: str
    delay_ms: int


class RefetchRobots(_OfOrigins):
    """robots.txt of these origins is due at once; the delay holds for it as for any request."""


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
QueueCommand = SetJob | SteerJobs | ApplyRules | StashPages | UnstashPages | SetDripfeed | ReclaimPages | LoadSegment

Command = (
    PauseOrigins | ResumeOrigins | StopOrigins | AddSeeds | RetryPages | TopUpPatience | SetDelay | RefetchRobots
    | Exclude | ProbeUrls | QueueCommand | WorkerCommand
)  # fmt: skip

Names = tuple[str, ...]
MOST_NAMES = 3
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Order:
    """A command that is one word about names. `words` are those of the command line before the names.

    `make` makes the command of names, `inverse` the one that takes it back. `says` is what is done to the `{}`, `done`
    what was; `final` says that it cannot be undone. The rest is for `--help`.
    """

    words: Names
    make: Callable[[Names], Command]
    done: str
    summary: str
    description: str = ""
    examples: Names = ()
    says: str = ""
    inverse: Callable[[Names], Command] | None = None
    final: str = ""

    @property
    def word(self) -> str:
        """The word by itself."""
        return self.words[-1]

    def about(self, names: str) -> str:
        """What it does to what is named, in words."""
        return (self.says or f"{self.word} {{}}").format(names)


PAUSE = Order(
    ("pause",),
    PauseOrigins,
    "paused",
    "make no further request to these origins",
    "Sends no further request to these origins after the one in flight. The pause is kept in the database until "
    "resume.",
    ("pause example.org", "pause --all"),
    inverse=ResumeOrigins,
)
RESUME = Order(
    ("resume",),
    ResumeOrigins,
    "resumed",
    "take the pause off these origins",
    examples=("resume example.org", "resume --all"),
    inverse=PauseOrigins,
)
STOP = Order(
    ("stop",),
    StopOrigins,
    "stopped",
    "finish these origins for this run",
    "Finishes these origins for this run; their pages are kept and the next run starts them again.",
    ("stop https://example.org", "stop --all"),
    final="This cannot be undone in this run.",
)
TOP_UP = Order(
    ("top-up",),
    TopUpPatience,
    "patience is full again:",
    "put the patience of these origins back to full",
    "Puts the patience of these origins back to full; one that stopped after errors resumes.",
    ("top-up example.org",),
    "top up patience of {}",
)
REFETCH = Order(
    ("refetch",),
    RefetchRobots,
    "robots.txt is due at once:",
    "fetch robots.txt of these origins again at once",
    "Makes robots.txt of these origins due at once. The delay is kept, and the rules in force hold until then.",
    ("refetch example.org",),
    "fetch robots.txt of {} again",
)
OF_ORIGINS = (PAUSE, RESUME, STOP, TOP_UP, REFETCH)


def _of_jobs(word: str, inverse: str, done: str, summary: str) -> Order:
    make, back, example = partial(SteerJobs, word), partial(SteerJobs, inverse), f"jobs {word} news"
    return Order(("jobs", word), make, done, summary, examples=(example,), inverse=back)


PAUSE_JOBS = _of_jobs("pause", "resume", "paused", "make no further request for these jobs")
RESUME_JOBS = _of_jobs("resume", "pause", "resumed", "resume paused jobs with their previous concurrency")
OF_JOBS = (
    PAUSE_JOBS,
    RESUME_JOBS,
    _of_jobs("abort", "unabort", "aborted", "end these jobs; their pages are kept"),
    _of_jobs("unabort", "abort", "continued", "take aborted jobs up again"),
)


def _of_workers(word: str, summary: str, inverse: str = "") -> Order:
    make, back = partial(SteerWorkers, word), partial(SteerWorkers, inverse) if inverse else None
    final, example = "" if inverse else "This cannot be undone.", f"workers {word} north"
    return Order(("workers", word), make, "", summary, examples=(example,), inverse=back, final=final)


PAUSE_WORKERS = _of_workers("pause", "send no more requests and keep their origins", "resume")
RESUME_WORKERS = _of_workers("resume", "resume them", "pause")
DRAIN_WORKERS = _of_workers("drain", "finish what is in flight, give their origins back and exit")
STOP_WORKERS = _of_workers("stop", "exit, as by SIGTERM")
OF_WORKERS = (PAUSE_WORKERS, RESUME_WORKERS, DRAIN_WORKERS, STOP_WORKERS)


@dataclass(frozen=True, slots=True)
class Verb(Generic[C]):
    """A kind of command, by its `name` in the journal. `about` is what it concerns there (None: its first field).

    `line` is the command line that does the same, with fields in braces: an option without a value is left out, of
    `{names…}` there are a few, `{names|--all}` says what no names are. A function makes the words where that is not
    enough; without any there is no such line.
    """

    kind: type[C]
    name: str
    line: str | Callable[[C], Names]
    about: Callable[[C], Names | str] | None = None

    def words(self, command: C) -> Names:
        """The words of the command line that does the same; empty: there is none."""
        if callable(self.line):
            return self.line(command)
        words: list[str] = []
        for option, name, some, instead, word in _PART.findall(self.line):
            value = getattr(command, name) if name else word
            values = value if isinstance(value, tuple) else (str(value),)
            if value is True:
                words.append(option)
            elif not option:
                words += (shortened(values) if some else values) or filter(None, (instead,))
            elif value:
                words += (word for one in (shortened(values) if some else values) for word in (option, one))
        return tuple(words)


_PART = re.compile(r"(?:(--[a-z-]+) )?{(\w+)(…?)(?:\|(\S+))?}|(\S+)")


def shortened(names: Sequence[str], more: int = 0) -> Names:
    """The first names, and how many more there are; `more` are left out already."""
    more += max(0, len(names) - MOST_NAMES)
    return (*names[:MOST_NAMES], *([f"… ({more} more)"] if more else []))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _job_line(command: SetJob) -> Names:
    limits = (("--depth", command.depth), ("--concurrency", command.concurrency))
    given = [
        ("--nice", command.nice),
        *((name, "none" if value is not None and value < 0 else value) for name, value in limits),
    ]
    words = tuple(str(word) for name, value in given if value is not None for word in (name, value))
    return ("jobs", "set", command.job, *words) if words and command.tag is command.note is None else ()


_VERBS: tuple[Verb[Any], ...] = (
    Verb(PauseOrigins, "pause", "pause {origins…|--all}"),
    Verb(ResumeOrigins, "resume", "resume {origins…|--all}"),
    Verb(StopOrigins, "stop", "stop {origins…|--all}"),
    Verb(
        AddSeeds,
        "add",
        lambda one: (
            ("add", *shortened(one.urls, one.left_out)) if one == AddSeeds(one.urls, left_out=one.left_out) else ()
        ),
    ),
    Verb(
        RetryPages,
        "retry",
        "retry {urls…} --exit-code {exit_codes} --origin {origins…}",
        lambda one: one.urls + one.exit_codes + one.origins,
    ),
    Verb(TopUpPatience, "top_up", "top-up {origins…|--all}"),
    Verb(
        SetDelay,
        "delay",
        lambda one: (
            *("delay", one.origin),
            f"{one.delay_ms}ms" if one.delay_ms % 1_000 else f"{one.delay_ms // 1_000}s",
        ),
    ),
    Verb(RefetchRobots, "refetch_robots", "refetch {origins…|--all}"),
    Verb(
        Exclude,
        "exclude",
        "exclude {kind} {value} --reason {reason} --remove {remove}",
        lambda one: f"{'remove ' if one.remove else ''}{one.kind} {one.value}",
    ),
    Verb(SetJob, "job", _job_line),
    Verb(SteerJobs, "steer_jobs", "jobs {order} {jobs…}", lambda one: f"{one.order} {_listed(one.jobs)}"),
    Verb(ApplyRules, "rules", "rules apply FILE --job {job} --note {note}", lambda one: one.job),
    Verb(StashPages, "stash", "pages stash {name} {urls…} --origin {origins…} --pattern {pattern} --job {job}"),
    Verb(UnstashPages, "unstash", "pages unstash {name} --limit {limit} --job {job}"),
    Verb(SetDripfeed, "dripfeed", "pages dripfeed {name} {ready} --job {job}"),
    Verb(
        ReclaimPages,
        "reclaim",
        lambda one: (
            *("pages", "reclaim", *shortened(one.urls)),
            *(("--older", f"{one.older_ms}ms") if one.older_ms and not one.urls else ()),
            *("--reason", one.reason),
        ),
        lambda one: one.urls or one.reason,
    ),
    Verb(ProbeUrls, "probe", "pages probe {urls…}"),
    Verb(LoadSegment, "load", "queue load {path}"),
    Verb(
        SteerWorkers, "steer_workers", "workers {order} {workers…}", lambda one: f"{one.order} {_listed(one.workers)}"
    ),
    Verb(TagWorker, "tag_worker", "workers tags {worker} {tags}"),
    Verb(MoveOrigins, "move", "workers move {origins} {worker}"),  # it takes one origin at a time
)
VERBS = {verb.kind: verb for verb in _VERBS}
_BY_NAME = {verb.name: verb for verb in _VERBS}


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
    verb = VERBS[type(command)]
    about = verb.about(command) if verb.about is not None else getattr(command, fields(command)[0].name)
    return verb.name, (about if isinstance(about, str) else _listed(about)) or "all"


def to_json(command: Command) -> str:
    """A command as the text stored in the operator journal."""
    return json.dumps({one.name: getattr(command, one.name) for one in fields(command)}, ensure_ascii=True)


def from_json(name: str, text: str) -> Command:
    """The command stored under `name`. Raises BadCommand."""
    verb = _BY_NAME.get(name)
    try:
        raw = json.loads(text)
        if verb is None or not isinstance(raw, dict):
            raise BadCommand(f"unknown action {name!r}")
        known = {f.name for f in fields(verb.kind)}
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items() if k in known}
        made: Command = verb.kind(**values)
    except (TypeError, ValueError) as error:
        raise BadCommand(f"action {name!r} cannot be read: {error}") from error
    return made
