"""The palette: actions that can be done now, screens, and origins to go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.actions import Situation, actions_at, why_not
from tui_crawler.console.crawl_table import Column
from tui_crawler.console.keys import keys_of
from tui_crawler.console.present.standing import standing
from tui_crawler.console.screens.search import Entry, SearchDialog
from tui_crawler.console.table_cells import Styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tui_crawler.domain.view import OriginView

ORIGIN = "origin "
"""What the key of an entry begins with that is an origin."""

_COLUMNS = (
    Column("what", "", 40, 0, min_width=18),
    Column("hint", "", None, 1, min_width=20),
    Column("key", "", 10, 0, "right", min_width=6),
)
_HIDDEN = frozenset({"cmd.palette", "nav.open", "nav.back", "focus.next", "focus.previous", "app.ask_quit"})


class PaletteScreen(SearchDialog):
    """Gives an action id, or `ORIGIN` and an origin."""

    def __init__(self, situation: Situation, own_keys: Mapping[str, str], origins: Iterable[OriginView]) -> None:
        """Takes what can be done, and where one can go."""
        entries = [*_actions(situation, own_keys), *map(_origin, origins)]
        super().__init__("Palette", "an action or an origin", _COLUMNS, entries)


def _actions(situation: Situation, own_keys: Mapping[str, str]) -> list[Entry]:
    entries = []
    for action in actions_at(situation.where):
        if action.id in _HIDDEN or why_not(action, situation):
            continue
        keys = keys_of(action.id, action.keys, own_keys)
        cells = (
            Styled(action.label, "strong"),
            Styled(action.help, "muted"),
            Styled(keys[0] if keys else "", "accent"),
        )
        entries.append(Entry(action.id, cells, f"{action.label} {action.help} {action.id}"))
    return entries


def _origin(view: OriginView) -> Entry:
    mark = standing(view)
    cells = (Styled(view.origin), Styled(mark.label, mark.role), Styled("open", "faint"))
    return Entry(ORIGIN + view.origin, cells, f"open {view.origin} {mark.word}")
