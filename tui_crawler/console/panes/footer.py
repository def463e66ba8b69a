"""The last line of a screen: where one is, and the keys that fit. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.action import Need, Where, unfinished
from tui_crawler.console.keys import MENUS
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.worker import WorkerState
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import count
from tui_crawler.text.safe_text import ELLIPSIS, clip, clip_left, safe

if TYPE_CHECKING:
    from tui_crawler.console.action import Action, Situation
    from tui_crawler.console.panes.line import Line

_KEPT = {"menu.selected": 0, "menu.go": 72, "help.keys": 0, "app.quit": 0}
"""Actions that come first in a line of at least the given number of cells."""
_SELECTED = {
    Where.overview: "origin", Where.origin: "origin", Where.tree: "branch", Where.workers: "worker", Where.jobs: "job",
    Where.rules: "rule", Where.rule_draft: "draft", Where.robots: "robots.txt", Where.pulse: "chart",
    Where.sql: "result",
}  # fmt: skip
"""What the menu of what is selected is about; on other screens a URL."""

_STEP = " › "
_WIDE = 81
"""Cells of a line below which keys are more than the places above this one."""
_GAP = 3
"""Cells between the place and the keys at least, so that they are not read as one phrase."""


@dataclass(frozen=True, slots=True)
class Zone:
    """Cells `start` to before `end` of the line belong to an action, or, where that is empty, to the place that one
    comes to by the first `depth` crumbs."""

    start: int
    end: int
    action_id: str
    depth: int = 0


def footer_line(
    crumbs: Sequence[str], keys: Sequence[tuple[str, str, str]], width: int
) -> tuple[Line, tuple[Zone, ...]]:
    """The line in `width` cells, and where each key (action id, key, label) and each place above this one stand in it.
    Keys stand at the right, the first matters most. One that has no room is left out, those after it are not."""
    place = crumbs if width >= _WIDE or len(crumbs) < 2 else (ELLIPSIS, crumbs[-1])
    least = min(width // 3, cell_len(safe(_STEP.join(place))) + _GAP)
    kept = {at for at, (action_id, _, _) in enumerate(keys) if width >= _KEPT.get(action_id, width + 1)}
    for at in range(len(keys)):
        if _needed([keys[one] for one in {*kept, at}]) <= width - least:
            kept.add(at)
    shown = [keys[at] for at in sorted(kept)]
    x = max(0, width - _needed(shown))
    where, zones = _place(crumbs, max(0, x - _GAP))
    parts: list[Styled] = [Styled(where, "strong"), Styled(" " * (x - cell_len(where)))]
    for action_id, key, label in shown:
        end = x + cell_len(key) + 1 + cell_len(label)
        zones.append(Zone(x, end, action_id))
        parts += [Styled(key, "accent bold"), Styled(f" {label}", "muted"), Styled("  ")]
        x = end + 2
    return tuple(parts[:-1] if shown else parts), tuple(zones)


def _place(crumbs: Sequence[str], room: int) -> tuple[str, list[Zone]]:
    """Where one is, in `room` cells, and where the crumbs before the last stand in it. It is cut at the left: the last
    crumb says most."""
    names = [safe(crumb) for crumb in crumbs]
    for first in range(len(names)):
        before = ELLIPSIS + _STEP if first else ""
        where = before + _STEP.join(names[first:])
        if cell_len(where) > room:
            continue
        zones, x = [], cell_len(before)
        for depth in range(first, len(names) - 1):
            end = x + cell_len(names[depth])
            zones.append(Zone(x, end, "", depth + 1))
            x = end + len(_STEP)
        return where, zones
    if len(names) == 1:
        return clip(names[0], room), []
    return clip_left(names[-1], room) if names else "", []


def label_of(action: Action, now: Situation) -> str:
    """What the footer says of an action: what it does to what is selected, and to how many of the marked rows."""
    label, number = action.label, 0
    if action.id in MENUS.values():
        number = now.frame.marked_here() if action.id == MENUS["y"] else 0
        label = _SELECTED.get(now.where, "URL") if action.id == MENUS["o"] else label
        return f"{label} {count(number)}{ELLIPSIS}" if number else f"{label}{ELLIPSIS}"
    if action.id == "origin.toggle_pause":
        going = unfinished(now.origins)
        running = [view for view in going if not view.paused]
        label = label if running else "resume"
        number = len(running or going)
    elif Need.origin in action.needs:
        number = len(now.origins)
        if Need.unfinished in action.needs:
            number = len(unfinished(now.origins))
        elif Need.lost_patience in action.needs:
            number = sum(view.patience < view.patience_max for view in now.origins)
    elif Need.url in action.needs:
        number = len(now.urls)
        if action.id == "url.retry" and number > 1 and now.failing is not None:
            number = len(now.failing or now.barred)
        label = "rule from" if action.id == "rule.from_selection" and number and now.frame.marked() else label
    elif Need.worker in action.needs or Need.job in action.needs:
        label, number = _steered(action, now)
    return f"{label} {count(number)}" if number and now.frame.marked() else label


def _steered(action: Action, now: Situation) -> tuple[str, int]:
    going = [one for one in now.workers if one.takes_orders]
    running = [one for one in going if one.state is not WorkerState.paused]
    if action.id == "worker.toggle_pause":
        return (action.label, len(running)) if running else ("resume", len(going))
    return action.label, len(going) + len(now.jobs)


def _needed(keys: Sequence[tuple[str, str, str]]) -> int:
    return sum(cell_len(key) + 1 + cell_len(label) + 2 for _, key, label in keys) - 2 if keys else 0
