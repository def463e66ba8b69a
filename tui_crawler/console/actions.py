"""Every action of the console, as one table: footer, help sheet, palette, prompt, key map and docs are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from tui_crawler.domain.view import OriginView


class Where(Enum):
    """The screens; the value is the word in the help sheet."""

    overview = "Overview"
    origin = "Origin"
    failures = "Failures"
    url = "URL"


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
    failed = "failed"
    lost_patience = "lost_patience"
    own_delay = "own_delay"
    url = "url"
    undo = "undo"
    redo = "redo"
    older = "older"
    newer = "newer"
    filtered = "filtered"


@dataclass(frozen=True, slots=True)
class Situation:
    """What the screen on top stands on, as far as actions depend on it. `origins` are marked, or the selected one."""

    where: Where
    readonly: bool = False
    origins: tuple[OriginView, ...] = ()
    urls: tuple[str, ...] = ()
    failed: int = 0
    undo: str = ""
    redo: str = ""
    older: bool = False
    newer: bool = False
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """One action. `keys` as Textual names them, separated by commas; `where` empty: on every screen.

    `label` stands in the footer, if `footer` (the order there, the smallest first) is above 0; `help` is one sentence.
    `command` is the same on the command line, `undo` says what `z` does after it, `word` is what the prompt takes.
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


def _on(*screens: Where) -> frozenset[Where]:
    return frozenset(screens)


_ORIGINS = _on(Where.overview, Where.origin)
_LISTS = _on(Where.origin, Where.failures)
_URLS = _on(Where.origin, Where.failures, Where.url)
_WRITE_ORIGIN = (Need.writer, Need.origin)

ACTIONS: tuple[Action, ...] = (
    Action(
        "nav.open", "enter", "open", "Open what the cursor is on", Group.look, footer=10,
    ),
    Action(
        "origin.toggle_pause", "p", "pause", "Pause or resume the marked origins, or the selected one",
        Group.crawl, _ORIGINS, (*_WRITE_ORIGIN, Need.unfinished), "tui-crawler pause|resume ORIGIN",
        "takes the pause off, or puts it back", "pause", 20,
    ),
    Action(
        "all.toggle_pause", "P", "pause all", "Pause or resume every origin", Group.crawl, _ORIGINS, (Need.writer,),
        "tui-crawler pause|resume --all", "takes the pause off, or puts it back", "pauseall", 65,
    ),
    Action(
        "origin.add", "a", "add", "Add seeds: one URL per line, as many as you paste", Group.crawl,
        needs=(Need.writer,), command="tui-crawler add URL…", word="add", footer=30,
    ),
    Action(
        "url.retry", "r", "retry", "Give the marked URLs, or the selected one, their tries back", Group.crawl,
        _URLS, (Need.writer, Need.url), "tui-crawler retry URL…", word="retry", footer=40,
    ),
    Action(
        "origin.retry_failed", "R", "retry failed", "Retry all failed pages of the origin (asks)", Group.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.failed), "tui-crawler retry --origin ORIGIN", word="retryfailed",
        footer=41,
    ),
    Action(
        "group.retry", "R", "retry group", "Retry all failed pages of the group (asks)", Group.crawl,
        _on(Where.failures), (Need.writer, Need.failed), "tui-crawler retry --exit-code NAME --origin ORIGIN",
        word="retrygroup", footer=41,
    ),
    Action(
        "origin.top_up", "T", "top up", "Put patience back to full; an origin that gave up goes on", Group.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.lost_patience), word="topup", footer=45,
    ),
    Action(
        "delay.up", "d", "slower", "Raise the delay of the origin by a step", Group.crawl, _ORIGINS,
        (*_WRITE_ORIGIN, Need.unfinished), undo="puts the delay back", word="slower", footer=70,
    ),
    Action(
        "delay.down", "D", "faster", "Take back what was raised; never below robots.txt or configuration",
        Group.crawl, _ORIGINS, (*_WRITE_ORIGIN, Need.unfinished, Need.own_delay), undo="puts the delay back",
        word="faster", footer=71,
    ),
    Action(
        "origin.stop", "x", "stop", "Finish the origin for this run; its pages stay queued (asks)", Group.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.unfinished), "tui-crawler stop ORIGIN", word="stop", footer=75,
    ),
    Action(
        "journal.undo", "z", "undo", "Undo the last action that can be undone", Group.crawl,
        needs=(Need.writer, Need.undo), word="undo",
    ),
    Action(
        "journal.redo", "Z", "redo", "Do again what was undone", Group.crawl, needs=(Need.writer, Need.redo),
        word="redo",
    ),
    Action(
        "filter.open", "/", "filter", "Keep the rows that contain a text, as you type", Group.look,
        _on(Where.overview), word="filter", footer=50,
    ),
    Action(
        "filter.clear", "ctrl+l", "clear filter", "Show all rows again", Group.look, _on(Where.overview),
        (Need.filtered,), word="clear",
    ),
    Action(
        "sort.pick", "s", "sort", "Choose the column to order by", Group.look, _on(Where.overview), word="sort",
        footer=51,
    ),
    Action(
        "sort.reverse", "S", "reverse", "Turn the order round", Group.look, _on(Where.overview), word="reverse",
    ),
    Action(
        "view.problems", "!", "problems", "Show problems only, or everything again", Group.look, _ORIGINS,
        word="problems", footer=52,
    ),
    Action(
        "view.freeze", "f", "freeze", "Hold the picture still while the crawl goes on", Group.look,
        word="freeze", footer=53,
    ),
    Action(
        "failures.group", "c", "group by", "Change what failures are grouped by", Group.look,
        _on(Where.failures), word="groupby", footer=50,
    ),
    Action(
        "log.next_error", "e", "next error", "Go to the next (older) problem in the events or attempts",
        Group.look, _ORIGINS, word="error", footer=60,
    ),
    Action(
        "log.previous_error", "E", "newer error", "Go to the newer problem in the events or attempts", Group.look,
        _ORIGINS,
    ),
    Action(
        "list.older", ">", "more", "The next window of a long list", Group.look, _LISTS, (Need.older,),
        word="more", footer=61,
    ),
    Action("list.newer", "<", "back", "The window before", Group.look, _LISTS, (Need.newer,), footer=62),
    Action("view.overview", "1", "overview", "All origins, events and totals", Group.look, word="overview"),
    Action("view.failures", "2", "failures", "Failed pages by exit code", Group.look, word="failures", footer=55),
    Action("nav.back", "escape", "back", "Go back; closes a filter first", Group.look, footer=80),
    Action("focus.next", "tab", "next pane", "Go to the next pane", Group.move),
    Action("focus.previous", "shift+tab", "previous pane", "Go to the pane before", Group.move),
    Action(
        "cmd.prompt", ":", "command", "Type an action by its word", Group.console, footer=90,
    ),
    Action(
        "cmd.palette", "ctrl+p", "palette", "Search all actions and origins", Group.console,
    ),
    Action("theme.next", "t", "theme", "The next colour theme", Group.console, word="theme"),
    Action(
        "app.screenshot", "ctrl+s", "screenshot", "Write this screen as SVG into screenshots/", Group.console,
        word="screenshot",
    ),
    Action("help.keys", "?,f1", "help", "All keys, what they do, and why not", Group.console, word="help", footer=91),
    Action(
        "app.quit", "q,ctrl+q", "quit", "Finish what is in flight (at most 5 s) and quit; again: at once",
        Group.console, word="quit", footer=92,
    ),
    Action("app.ask_quit", "ctrl+c", "quit", "Ask whether to quit", Group.console),
)  # fmt: skip

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def why_not(action: Action, situation: Situation) -> str:
    """Why an action cannot be done now, in words; empty when it can."""
    for need in action.needs:
        reason = _lacking(need, situation)
        if reason:
            return reason
    return ""


def _lacking(need: Need, now: Situation) -> str:  # noqa: C901, RUF100  one line per need
    origins = now.origins
    match need:
        case Need.writer:
            return "this console only watches" if now.readonly else ""
        case Need.origin:
            return "" if origins else "no origin is selected"
        case Need.unfinished:
            finished = origins and all(view.state == "FINISHED" for view in origins)
            return "the origin has finished" if finished else ""
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
            return "" if now.undo else "nothing to undo"
        case Need.redo:
            return "" if now.redo else "nothing to redo"
        case Need.older:
            return "" if now.older else "this is the end of the list"
        case Need.newer:
            return "" if now.newer else "this is the beginning of the list"
        case Need.filtered:
            return "" if now.filtered else "nothing is filtered"


def actions_at(where: Where) -> tuple[Action, ...]:
    """The actions of one screen, in the order of the table."""
    return tuple(action for action in ACTIONS if action.at(where))


def footer_at(where: Where) -> tuple[Action, ...]:
    """The actions the footer of one screen names, in its order."""
    return tuple(sorted((a for a in actions_at(where) if a.footer), key=lambda action: action.footer))


def find_action(word: str, where: Where) -> Action | None:
    """The action of one screen that the prompt means by a word: its word or id, or the only one that begins so."""
    wanted = word.casefold()
    named = [action for action in actions_at(where) if action.word]
    for action in named:
        if wanted in {action.word, action.id}:
            return action
    near = [action for action in named if action.word.startswith(wanted)]
    return near[0] if wanted and len(near) == 1 else None


def unknown_ids(keymap: Iterable[str], known: Iterable[str] = ()) -> tuple[str, ...]:
    """The ids of a key map that name no action; `known` are further ids (those of the table widget)."""
    names = {*BY_ID, *known}
    return tuple(name for name in keymap if name not in names)
