"""What an action of the console is, what it needs, and why it cannot be done now. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.domain.desk_view import JobView
    from tui_crawler.domain.view import OriginView

NOTHING_TO_UNDO = "nothing of this console to undo; what others did: undo in Rules, or the opposite"
"""Each console undoes what was asked for in it; rulesets stand in the database with all versions."""

OVERLAY = "focus.jump"
"""The action that opens the jump overlay; in the footer it stands for the numbered views."""

LARGEST = 2
"""The zoom of a pane that has the whole screen."""


class Where(Enum):
    """The screens; the value is the word in the help sheet."""

    overview = "Overview"
    origin = "Origin"
    failures = "Failures"
    url = "URL"
    urls = "URLs"
    why = "Why"
    rules = "Rules"
    rule_draft = "Rule draft"
    logs = "Logs"
    stats = "Stats"
    robots = "robots.txt"
    sql = "SQL"
    welcome = "Welcome"


class Group(Enum):
    """The sections of the help sheet."""

    crawl = "The crawl"
    look = "Looking"
    move = "Moving"
    console = "The console"


class Need(Enum):
    """What an action needs; without it the action is shown with the reason, and does nothing."""

    writer = "writer"
    origin = "origin"
    unfinished = "unfinished"
    unpaused = "unpaused"
    paused = "paused"
    pausable = "pausable"
    live = "live"
    failed = "failed"
    lost_patience = "lost_patience"
    own_delay = "own_delay"
    url = "url"
    undo = "undo"
    redo = "redo"
    older = "older"
    newer = "newer"
    filtered = "filtered"
    job = "job"
    detachable = "detachable"
    queries = "queries"
    rules = "rules"
    entry = "entry"
    draft = "draft"
    smaller = "smaller"
    zoomed = "zoomed"
    startable = "startable"


@dataclass(frozen=True, slots=True)
class Situation:
    """What the screen on top stands on, as far as actions depend on it. `origins` are marked, or the selected one."""

    where: Where
    readonly: bool = False
    watches: str = ""  # why it is, where nobody has asked for it (raw)
    origins: tuple[OriginView, ...] = ()
    urls: tuple[str, ...] = ()
    failing: tuple[str, ...] | None = None  # those of `urls` that failed last time; None: not known
    barred: tuple[str, ...] = ()  # those that were blocked, where `failing` is known
    marked: int = 0  # rows that are marked, of those that actions are about
    marked_here: int = 0  # rows that are marked in the table of the focus
    failed: int = 0
    undo: str = ""
    no_undo: str = NOTHING_TO_UNDO  # said where `undo` is empty
    redo: str = ""
    older: bool = False
    newer: bool = False
    filtered: bool = False
    jobs: tuple[JobView, ...] = ()
    rules: bool = False  # there are some to be drafted
    entry: bool = False
    draft: bool = False
    zoom: int = 0  # steps by which a pane is enlarged
    queries: bool = True  # SQL can be asked here
    no_start: str = "an engine is at work"  # why the crawl cannot be started here; empty: it can
    no_pause: str = ""  # why no origin of the crawl can be paused or resumed
    no_end: str = "no run is at work"  # why there is no run that could be ended; empty: there is
    hindrance: str = ""  # why the run cannot go on without this console


@dataclass(frozen=True, slots=True)
class Action:
    """One action. `keys` as Textual names them, separated by commas; `where` empty: on every screen.

    `label` stands in the footer, if `footer` (the order there, the smallest first) is above 0; `help` is one sentence.
    `command` is the same on the command line, `undo` says what undoing does after it, `word` is what the prompt takes.
    """

    id: str
    keys: str
    label: str
    help: str
    group: Group
    where: frozenset[Where] = frozenset()
    needs: tuple[Need, ...] = ()
    command: str = ""
    undo: str = ""
    word: str = ""
    footer: int = 0

    def at(self, where: Where) -> bool:
        """Whether the action exists on that screen."""
        return not self.where or where in self.where


def why_not(action: Action, situation: Situation) -> str:
    """Why an action cannot be done now, in words; empty when it can."""
    for need in action.needs:
        reason = _lacking(need, situation)
        if reason:
            return reason
    return ""


def _only_watches(why: str) -> str:
    return f"this console only watches ({why})" if why else "this console only watches"


def _lacking(need: Need, now: Situation) -> str:  # noqa: C901, PLR0912, RUF100  one line per need
    origins = now.origins
    match need:
        case Need.writer:
            return _only_watches(now.watches) if now.readonly else ""
        case Need.origin:
            return "" if origins else "no origin is selected"
        case Need.unfinished:
            if not origins or any(view.state != "FINISHED" for view in origins):
                return ""
            return _ended(origins)
        case Need.unpaused:
            held = [view.paused for view in origins if view.state != "FINISHED"]
            return _paused_already(len(held)) if all(held) else ""
        case Need.paused:
            return "" if any(view.paused for view in origins) else _not_paused(len(origins))
        case Need.pausable:
            return now.no_pause
        case Need.live:
            return now.no_end
        case Need.failed:
            return "" if now.failed else "nothing has failed here"
        case Need.lost_patience:
            full = all(view.patience >= view.patience_max for view in origins)
            return "patience is full" if full else ""
        case Need.own_delay:
            raised = any(view.operator_delay_ms for view in origins)
            return "" if raised else "you have not raised it"
        case Need.url:
            return "" if now.urls else "no URL is selected"
        case Need.undo:
            return "" if now.undo else now.no_undo
        case Need.startable:
            return now.no_start
        case Need.redo:
            return "" if now.redo else "nothing to redo"
        case Need.older:
            end = "this is the oldest entry" if now.where is Where.logs else "this is the end of the list"
            return "" if now.older else end
        case Need.newer:
            start = "this is the newest entry" if now.where is Where.logs else "this is the beginning of the list"
            return "" if now.newer else start
        case Need.job:
            return "" if now.jobs else "no job is selected"
        case Need.rules:
            return "" if now.rules else "there is no ruleset yet"
        case Need.entry:
            return "" if now.entry else "no entry of the ruleset is selected"
        case Need.draft:
            return "" if now.draft else "nothing is drafted"
        case Need.filtered:
            return "" if now.filtered else "nothing is filtered"
        case Need.smaller:
            return "" if now.zoom < LARGEST else "the pane has the whole screen"
        case Need.zoomed:
            return "" if now.zoom else "no pane is enlarged"
        case Need.queries:
            return "" if now.queries else "there is no database to be asked"
        case Need.detachable:
            return now.hindrance


def _ended(origins: Sequence[OriginView]) -> str:
    from tui_crawler.domain.endings import ends_words  # noqa: PLC0415  not before the first paint

    words = ends_words((view.finish_reason for view in origins), "origin/marked origins")
    if len(origins) == 1:
        return f"the{words.removeprefix('1')}"
    return words if "," in words else f"all {words}"


def _paused_already(number: int) -> str:
    return "the origin is paused already" if number == 1 else f"{number} marked origins are paused already"


def _not_paused(number: int) -> str:
    return "the origin is not paused" if number == 1 else f"none of the {number} marked origins is paused"
