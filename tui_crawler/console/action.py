"""What an action of the console is, what it needs, and why it cannot be done now. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, member
from typing import TYPE_CHECKING, Self

from tui_crawler.domain.record import dataclass, field
from tui_crawler.text.safe_text import ELLIPSIS

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import JobView
    from tui_crawler.domain.records.view import OriginView
    from tui_crawler.domain.records.worker import WorkerView

NOTHING_TO_UNDO = "no action of this console to undo; for others: undo in Rules, or the opposite action"
"""Each console undoes what was asked for in it; rulesets stand in the database with all versions."""

LARGEST = 2
"""The zoom of a pane that has the whole screen."""


@dataclass(frozen=True, slots=True)
class View:
    """A numbered view: its key, its name in the footer, what the help sheet says of going there, whether its filters
    and orders are remembered, its name on a narrow line of tabs, and what it was called before."""

    key: str
    label: str
    help: str
    layout: bool = True
    narrow: str = ""
    formerly: str = ""


class Where(Enum):
    """The screens. The value is the word in the help sheet, `about` says what is seen there; a numbered view has
    its key, its word and its action from its row. The way to each screen is in `routes.py`."""

    overview = (
        "Origins",
        "All origins of the crawl, the selected one in short, and every attempt as it ends.",
        View("1", "origins", "All origins, events and totals", layout=False, narrow="Orig", formerly="overview"),
    )
    origin = "Origin", "One origin: its state with what led to it, the pages of its next turns, and its attempts."
    tree = (
        "Site tree",
        "The URLs of an origin by the folders of their paths, with counts; a branch is retried or barred.",
    )
    failures = (
        "Failures",
        "Pages that failed, in groups; the pages of the group under the cursor are listed next to them.",
        View("2", "failures", "Failed pages by exit code", narrow="Fail"),
    )
    url = "URL", "One URL: how it was found, every attempt, and the requests and headers of the chosen attempt."
    urls = (
        "URLs",
        "All known URLs that match the filter, in one list; the page under the cursor in full.",
        View("3", "URLs", "All known URLs, to be filtered"),
    )
    why = "Why", "The whole decision chain of one URL, with the line that decided at each step."
    rules = (
        "Rules",
        "The rules in force, their versions, and what differs between two of them.",
        View("4", "rules", "The rules in force, their versions, a draft", layout=False),
    )
    rule_draft = (
        "Rule draft",
        "A draft of rules and its impact on all known URLs; it takes effect when it is applied.",
    )
    logs = (
        "Logs",
        "Attempts, events and operator actions in order of time; the newest row is followed.",
        View("5", "logs", "What happened, in one list by time"),
    )
    pulse = (
        "Pulse",
        "The run as charts that one cursor reads, its exit codes, and a wall with a line for each origin.",
        View("6", "pulse", "How the crawl goes over time, as charts"),
    )
    jobs = (
        "Jobs",
        "The jobs and what can be done with them, and a ledger: refused links, limbo, stashes, runs, actions.",
        View("7", "jobs", "Jobs, refused links, limbo, stashes, runs, actions", formerly="stats"),
    )
    workers = (
        "Workers",
        "The workers of this crawl: machine, load and state of each.",
        View("8", "workers", "Workers: state, origins, pace, heartbeat", narrow="Work"),
    )
    robots = ("robots.txt", "The robots.txt of one origin, what it means for this crawler, and the limits it sets.")
    diff = ("Runs compared", "Two runs compared: origins, and the pages of the origin under the cursor that differ.")
    page_diff = "Page compared", "One page in two runs: the lines of its body and the links that differ."
    timeline = ("Politeness", "Required and actual gaps between requests over time, with requests, patience and state.")
    sql = "SQL", "Read-only queries in SQL: the views with their columns, the result as a table or a chart."
    welcome = "Welcome", ""

    _value_: str
    about: str
    view: View | None

    def __new__(cls, word: str, about: str, view: View | None = None) -> Self:
        one = object.__new__(cls)
        one._value_, one.about, one.view = word, about, view
        return one

    @property
    def remembered(self) -> bool:
        """Whether filters and orders of the view are there again the next time."""
        return self.view is not None and self.view.layout

    @property
    def goes_there(self) -> str:
        """The id of the action that goes there, where it is a numbered view."""
        return f"view.{self.name}"


VIEWS: Mapping[Where, View] = {where: where.view for where in Where if where.view is not None}
"""The numbered views, in the order of their keys."""

FORMER_IDS: Mapping[str, str] = {
    "failures.pick": "failures.group",
    **{f"view.{one.formerly}": where.goes_there for where, one in VIEWS.items() if one.formerly},
}
"""Actions by the ids that they had before."""


class Topic(Enum):
    """The sections of the help sheet."""

    crawl = "The crawl"
    look = "Looking"
    move = "Moving"
    console = "The console"


class Takes(Enum):
    """What is known to stand after the word of an action; the value names it. Other texts are taken as they are."""

    text = "a text"
    origin = "an origin"
    url = "a URL"
    exit_code = "an exit code"
    time = "a time"
    order = "a column"
    copy = "a form of copy"
    format = "a format"
    ledger = "a list"
    scope = "what a pulse is of"
    worker = "a worker"
    move = "an origin and a worker"
    layout = "a layout"
    nothing = "nothing"


@dataclass(frozen=True, slots=True)
class Frame:
    """How the panes of the screen stand, each looked up when it is asked for."""

    marked: Callable[[], int] = int  # rows that are marked, of those that actions are about
    marked_here: Callable[[], int] = int  # rows that are marked in the table of the focus
    filtered: Callable[[], bool] = bool  # whether rows are left out
    zoom: Callable[[], int] = int  # steps by which a pane is enlarged
    more: Callable[[], str] = lambda: ELLIPSIS  # what follows the name of a menu on this terminal


@dataclass(frozen=True, slots=True)
class Situation:
    """What the screen on top stands on, as far as actions depend on it. `origins` are marked, or the selected one, and
    so are `workers`, those that have not ended."""

    where: Where
    origins: tuple[OriginView, ...] = ()
    urls: tuple[str, ...] = ()
    failing: tuple[str, ...] | None = None  # those of `urls` that failed last time; None: not known
    barred: tuple[str, ...] = ()  # those that were blocked or dropped, where `failing` is known
    refused: tuple[str, ...] = ()  # those that a policy refused, where that is known
    failed: int = 0
    jobs: tuple[JobView, ...] = ()
    workers: tuple[WorkerView, ...] = ()
    older: bool = False
    newer: bool = False
    rules: bool = False  # there are some to be drafted
    entry: bool = False
    draft: bool = False
    failures: tuple[tuple[str, str], ...] = ()
    """What failures are limited to when one goes there: the key of a group; empty: to nothing."""
    frame: Frame = Frame()
    hindrances: Mapping[Need, Callable[[], str]] = field(default_factory=dict)
    """Of needs that the console alone knows: what is in the way, in words (raw), empty where nothing is."""


def unfinished(origins: Iterable[OriginView]) -> list[OriginView]:
    """Those of the origins that have not ended their run."""
    return [view for view in origins if not view.ended]


def _ended(now: Situation) -> str:
    from tui_crawler.domain.records.status_words import ends_words  # noqa: PLC0415  not before the first paint

    words = ends_words((view.finish_reason for view in now.origins), "origin/marked origins", "the origin")
    return words if "," in words or len(now.origins) == 1 else f"all {words}"


def _paused_already(now: Situation) -> str:
    going = unfinished(now.origins)
    if not all(view.paused for view in going):
        return ""
    return "the origin is already paused" if len(going) == 1 else f"{len(going)} marked origins are already paused"


def _not_paused(now: Situation) -> str:
    if any(view.paused for view in now.origins):
        return ""
    number = len(now.origins)
    return "the origin is not paused" if number == 1 else f"none of the {number} marked origins is paused"


def _no_worker(now: Situation) -> str:
    if not now.workers:
        return "no running worker is selected"
    if not any(one.shared for one in now.workers):
        return "it is the only worker; pause its origins instead"
    return "" if any(one.takes_orders for one in now.workers) else "it is already leaving"


def _newest(now: Situation) -> str:
    end = "newest entry" if now.where is Where.logs else "beginning of the list"
    return "" if now.newer else f"this is the {end}"


class Need(Enum):
    """What an action needs; without it the action is shown with the reason, and does nothing.

    The value says what is missing in a situation, in words (empty: nothing). Where it is a name, the console knows.
    """

    writer = "writer"
    origin = member(lambda now: "" if now.origins else "no origin is selected")
    unfinished = member(lambda now: _ended(now) if now.origins and all(one.ended for one in now.origins) else "")
    unpaused = member(_paused_already)
    paused = member(_not_paused)
    pausable = "pausable"
    live = "live"
    failed = member(lambda now: "" if now.failed else "no failed pages here")
    lost_patience = member(
        lambda now: "" if any(one.patience < one.patience_max for one in now.origins) else "patience is full"
    )
    own_delay = member(
        lambda now: "" if any(one.operator_delay_ms > 0 for one in now.origins) else "you have not raised it"
    )
    url = member(lambda now: "" if now.urls else "no URL is selected")
    undo = "undo"
    redo = "redo"
    older = member(lambda now: "" if now.older else "this is the end of the list")
    newer = member(_newest)
    filtered = member(lambda now: "" if now.frame.filtered() else "no filter is set")
    job = member(lambda now: "" if now.jobs else "no job is selected")
    worker = member(_no_worker)
    movable = "movable"
    detachable = "detachable"
    queries = "queries"
    rules = member(lambda now: "" if now.rules else "there is no ruleset yet")
    entry = member(lambda now: "" if now.entry else "no entry of the ruleset is selected")
    draft = member(lambda now: "" if now.draft else "there is no draft")
    smaller = member(lambda now: "" if now.frame.zoom() < LARGEST else "the pane has the whole screen")
    zoomed = member(lambda now: "" if now.frame.zoom() else "no pane is enlarged")
    replay = "replay"
    replays = "replays"
    diagnosis = "diagnosis"
    startable = "startable"

    def lacking(self, now: Situation) -> str:
        """Return what is missing in a situation, in words; empty: nothing."""
        if (console := now.hindrances.get(self)) is not None:
            return console()
        return str(self.value(now)) if callable(self.value) else ""


@dataclass(frozen=True, slots=True)
class Action:
    """One action. `keys` as Textual names them, separated by commas; `where` empty: on every screen.

    `label` stands in the footer, if `footer` (the order there, the smallest first) is above 0; `help` is one sentence.
    `cli` is the same on the command line, `undo` says what undoing does after it, `word` is what the prompt takes,
    `short` stands for it where it is the beginning of other words, too.
    """

    group: Topic
    id: str
    keys: str
    label: str
    help: str
    where: frozenset[Where] = frozenset()
    needs: tuple[Need, ...] = ()
    cli: str = ""
    undo: str = ""
    word: str = ""
    footer: int = 0
    takes: Takes = Takes.text
    short: str = ""

    @property
    def command(self) -> str:
        """The command line that does the same; empty: there is none."""
        return f"tui-crawler {self.cli}" if self.cli else ""

    def at(self, where: Where) -> bool:
        """Whether the action exists on that screen."""
        return not self.where or where in self.where


def why_not(action: Action, now: Situation) -> str:
    """Why an action cannot be done now, in words; empty when it can."""
    for need in action.needs:
        if reason := need.lacking(now):
            return reason
    return ""
