"""The last line of a screen: where one is, and the keys that fit. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.action import Need
from tui_crawler.console.format import count
from tui_crawler.console.safe_text import clip, safe
from tui_crawler.console.table_cells import Styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.action import Action, Situation
    from tui_crawler.console.present.line import Line

_COPIES = frozenset({"copy.pick"})
"""Actions on the marked rows of the table that has the focus."""
_KEPT = ("help.keys", "app.quit")
"""Actions that are always named."""


_STEP = " › "


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
    least = min(width // 3, cell_len(safe(_STEP.join(crumbs))) + 2)
    kept = {at for at, (action_id, _, _) in enumerate(keys) if action_id in _KEPT}
    for at in range(len(keys)):
        if _needed([keys[one] for one in {*kept, at}]) <= width - least:
            kept.add(at)
    shown = [keys[at] for at in sorted(kept)]
    room = max(0, width - _needed(shown) - 1)
    where = clip(safe(_STEP.join(crumbs)), room)
    parts: list[Styled] = [Styled(where, "strong"), Styled(" " * (room + 1 - cell_len(where)))]
    zones = _places(crumbs, room)
    x = room + 1
    for action_id, key, label in shown:
        end = x + cell_len(key) + 1 + cell_len(label)
        zones.append(Zone(x, end, action_id))
        parts += [Styled(key, "accent bold"), Styled(f" {label}", "muted"), Styled("  ")]
        x = end + 2
    return tuple(parts[:-1]) if shown else tuple(parts), tuple(zones)


def _places(crumbs: Sequence[str], room: int) -> list[Zone]:
    """Where the crumbs before the last stand, as far as they are seen."""
    zones, x = [], 0
    for depth, crumb in enumerate(crumbs[:-1], 1):
        end = x + cell_len(safe(crumb))
        if x < room:
            zones.append(Zone(x, min(end, room), "", depth))
        x = end + len(_STEP)
    return zones


def label_of(action: Action, now: Situation) -> str:
    """What the footer says of an action: what it does to what is selected, and to how many of the marked rows."""
    label, number = action.label, 0
    if action.id == "origin.toggle_pause":
        unfinished = [view for view in now.origins if view.state != "FINISHED"]
        running = [view for view in unfinished if not view.paused]
        label = label if running else "resume"
        number = len(running or unfinished)
    elif action.id in _COPIES:
        return f"{label} {count(now.marked_here)}" if now.marked_here else label
    elif Need.origin in action.needs:
        number = len(now.origins)
        if Need.unfinished in action.needs:
            number = sum(view.state != "FINISHED" for view in now.origins)
        elif Need.lost_patience in action.needs:
            number = sum(view.patience < view.patience_max for view in now.origins)
    elif Need.url in action.needs:
        number = len(now.urls)
    elif Need.job in action.needs:
        number = len(now.jobs)
    return f"{label} {count(number)}" if now.marked and number else label


def _needed(keys: Sequence[tuple[str, str, str]]) -> int:
    return sum(cell_len(key) + 1 + cell_len(label) + 2 for _, key, label in keys) - 2 if keys else 0
