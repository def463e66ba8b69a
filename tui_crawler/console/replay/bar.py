"""The bar of a replay: that this is then, when, how far, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.action import Where
from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.header import Chip, chip, fit_chips
from tui_crawler.console.panes.line import Line
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import clock, count, date_time

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.replay.player import PlayerState, ReplayPlayer

_TRACK, _SHORT_TRACK = 40, 12
_OF_NOW = {
    Where.jobs: "stashes, job settings: current",
    Where.robots: "text of robots.txt: current",
    Where.diff: "compared: current data",
    Where.page_diff: "compared: current data",
    Where.url: "body: the last one stored",
    Where.sql: "SQL: current database",
}
"""What of a screen no log keeps, in words."""


def replay_line(state: PlayerState, zone: tzinfo, where: Where, width: int) -> Line:
    """The bar of a screen in `width` cells."""
    first, last, moment = state.span.first, state.span.last, state.moment
    here, every = moment.attempt_id - first.attempt_id, last.attempt_id - first.attempt_id
    at = Styled(date_time(moment.at, zone), "strong bold", short=clock(moment.at, zone))
    number = f"attempt {count(here):>{len(count(every))}} of {count(every)}"
    mark = Styled("▶ playing", "active", short="▶") if state.playing else Styled("‖ held", "paused", short="‖")
    if state.under_way:
        mark = Styled("… loading", "accent", short="…")
    track = _TRACK if width > 110 else _SHORT_TRACK
    whole = max(1, last.at - first.at)
    place = round((track - 1) * min(1, max(0, (moment.at - first.at) / whole)))
    left = [
        Chip((Styled("REPLAY of the past", "warning bold", short="REPLAY"),), 0),
        Chip((at,), 1),
        Chip((Styled(number, "", short=f"{count(here)}/{count(every)}"),), 4),
        *([chip(_OF_NOW[where], "warning", 5)] if where in _OF_NOW else []),
    ]
    bar = Chip((Styled("━" * place + "●" + "─" * (track - 1 - place), "muted"),), 6)
    return fit_chips(left, [bar, Chip((mark,), 2), chip(f"{state.speed:g}x".rjust(5), "strong", 3)], width)


class ReplayBar(Bar, can_focus=False):
    """The line under the header of a console that shows a crawl as of then."""

    MAKE = staticmethod(replay_line)

    def __init__(self, player: ReplayPlayer, zone: tzinfo, where: Where) -> None:
        super().__init__(id="replay")
        self._player, self._zone, self._where = player, zone, where

    def catch_up(self) -> None:
        self.keep(self._player.state, self._zone, self._where)
