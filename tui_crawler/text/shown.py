"""How values are shown: each function returns what makes a cell of a value, its record and the present moment."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.format import ABSENT, ago, clock, compact, count, date_time, size
from tui_crawler.text.glyphs import StateGlyph

R = TypeVar("R")
V = TypeVar("V")

Show = Callable[[V, R, Present], Cell]
"""Returns the cell of a value, given its record."""


def words(
    of: Callable[[V], str], role: str = "", zero: str | None = None, short: Callable[[V], str] | None = None
) -> Show[V, object]:
    """Show a value as the text that `of` makes; a false value has the role `zero`, if there is one."""

    def show(value: V, _record: object, _present: Present) -> Cell:
        shown = role if value or zero is None else zero
        return Styled(of(value), shown, short(value) if short is not None else "")

    return show


def plain(role: str = "", none: str = "", zero: str | None = None) -> Show[object, object]:
    """Show a text unchanged; `none` stands for an empty one."""
    return words(lambda value: none if value is None or value == "" else str(value), role, zero)


def by_value(of: Callable[[V], Cell]) -> Show[V, object]:
    """Show a value as the cell that `of` makes."""
    return lambda value, _, __: of(value)


def itself(cell: Cell, _record: object, _present: Present) -> Cell:
    """Show a value that is a cell already."""
    return cell


def by_record(of: Callable[[R], Cell]) -> Show[object, R]:
    """Show a record as the cell that `of` makes."""
    return lambda _, record, __: of(record)


def number(role: str = "", zero: str | None = None) -> Show[int | None, object]:
    """Show a whole number, in four characters where there is no room."""
    return words(count, role, zero, compact)


def data_size(role: str = "") -> Show[float | None, object]:
    """Show a number of bytes."""
    return words(size, role)


def state() -> Show[StateGlyph, object]:
    """Show a state as its glyph and word."""
    return lambda mark, _, __: Styled(mark.label, mark.role)


def negated(name: str) -> Callable[[Any], int | None]:
    """Return how to read a time (epoch ms, 0: none) as a number that grows with its age."""
    of = attrgetter(name)
    return lambda record: -of(record) or None


def since(role: str = "muted") -> Show[int | None, object]:
    """Show a `negated` time as how long ago it was."""
    return lambda value, _, present: Styled(ABSENT if value is None else ago(present.now + value), role)


def time_of_day(*, millis: bool = False) -> Show[int | None, object]:
    """Show a time (epoch ms) without its date."""
    return lambda value, _, present: Styled(clock(value, present.zone, millis=millis), "muted")


def date_and_time(role: str = "muted", *, shortens: bool = True) -> Show[int | None, object]:
    """Show a time (epoch ms), perhaps without its date where there is no room."""
    return lambda value, _, present: Styled(
        date_time(value, present.zone), role, clock(value, present.zone) if shortens else ""
    )
