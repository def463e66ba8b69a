"""Where one is and was: places in the order they were gone to. Pure."""

from __future__ import annotations

from tui_crawler.console.action import Where
from tui_crawler.domain.record import dataclass, replace

MOST = 100


@dataclass(frozen=True, slots=True)
class ScreenPlace:
    """A screen that can be made again: what it is made of, and the crumbs of where it was gone to from, if it names
    them."""

    where: Where
    values: tuple[object, ...] = ()
    came_from: tuple[str, ...] = (Where.overview.value,)

    @property
    def remembered(self) -> bool:
        """Whether filters and orders are there again the next time: not those of a list that is limited."""
        return self.where.remembered and not self.values


@dataclass(frozen=True, slots=True)
class ScreenHistory:
    """Places in the order they were gone to; `here` is the index of the present one (-1: none yet)."""

    places: tuple[ScreenPlace, ...] = ()
    here: int = -1
    last: ScreenPlace | None = None

    @property
    def place(self) -> ScreenPlace | None:
        """The present place."""
        return self.places[self.here] if self.here >= 0 else None

    def went(self, place: ScreenPlace) -> ScreenHistory:
        """Return the history after another place; what was ahead is dropped. Nothing changes at the same place."""
        if place == self.place:
            return self
        places = (*self.places[: self.here + 1], place)[-MOST:]
        return ScreenHistory(places, len(places) - 1, self.place)

    def moved(self, steps: int) -> ScreenHistory | None:
        """Return the history with the place `steps` later (earlier if negative) as the present one; None beyond its
        ends."""
        here = self.here + steps
        return replace(self, here=here, last=self.place) if 0 <= here < len(self.places) else None
