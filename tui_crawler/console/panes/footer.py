"""The last line of a screen: where one is, and the keys that fit. Pure."""

from collections.abc import Sequence

from rich.cells import cell_len

from tui_crawler.console.action import Action, Need, Situation, Where, unfinished
from tui_crawler.console.keys import MENUS
from tui_crawler.console.panes.line import Door, Line, as_door, width_of
from tui_crawler.domain.records.worker import WorkerState
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import count
from tui_crawler.text.safe_text import ELLIPSIS, clip, clip_left, safe

_KEPT = {"menu.selected": 0, "menu.go": 72, "help.keys": 0, "app.quit": 0, "app.detach": 100}
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


def footer_line(crumbs: Sequence[str], keys: Sequence[tuple[str, str, str]], width: int) -> Line:
    """Return the line in `width` cells: each key (action id, key, label) and each place above this one is a door.
    Keys are at the right, the first matters most. One that has no room is left out, those after it are not."""
    place = crumbs if width >= _WIDE or len(crumbs) < 2 else (ELLIPSIS, crumbs[-1])
    least = min(width // 3, cell_len(safe(_STEP.join(place))) + _GAP)
    kept = {at for at, (action_id, _, _) in enumerate(keys) if width >= _KEPT.get(action_id, width + 1)}
    for at in range(len(keys)):
        if _needed([keys[one] for one in {*kept, at}]) <= width - least:
            kept.add(at)
    shown = [keys[at] for at in sorted(kept)]
    x = max(0, width - _needed(shown))
    where = _place(crumbs, max(0, x - _GAP))
    parts: list[Styled] = [*where, Styled(" " * (x - width_of(where)))]
    for action_id, key, label in shown:
        parts += [*as_door((Styled(key, "accent bold"), Styled(f" {label}", "muted")), action_id), Styled("  ")]
    return tuple(parts[:-1] if shown else parts)


def _place(crumbs: Sequence[str], room: int) -> tuple[Styled, ...]:
    """Where one is, in `room` cells; the crumbs before the last are doors. It is cut at the left: the last crumb says
    most."""
    names = [safe(crumb) for crumb in crumbs]
    for first in range(len(names)):
        above = [Door(name, "strong", goal=depth) for depth, name in enumerate(names[first:-1], first + 1)]
        shown = (*([Styled(ELLIPSIS, "strong")] if first else []), *above, Styled(names[-1], "strong"))
        steps = [Styled(_STEP, "strong")] * len(shown)
        joined = tuple(part for pair in zip(shown, steps, strict=True) for part in pair)[:-1]
        if width_of(joined) <= room:
            return joined
    cut = clip if len(names) == 1 else clip_left
    return (Styled(cut(names[-1], room) if names else "", "strong"),)


def label_of(action: Action, now: Situation) -> str:
    """What the footer says of an action: what it does to what is selected, and to how many of the marked rows."""
    label, number = action.label, 0
    if action.id in MENUS.values():
        number = now.frame.marked_here() if action.id == MENUS["y"] else 0
        label = _SELECTED.get(now.where, "URL") if action.id == MENUS["o"] else label
        return f"{label} {count(number)}{now.frame.more()}" if number else f"{label}{now.frame.more()}"
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
