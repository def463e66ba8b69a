"""Two columns of a result as a chart: bars for categories, a line for times and for many numbers. Pure."""

from collections.abc import Iterable, Sequence
from datetime import tzinfo
from decimal import Decimal
from itertools import pairwise
from math import isfinite

from rich.cells import cell_len

from tui_crawler.console.sql.rows import is_time, value_text
from tui_crawler.domain.record import dataclass
from tui_crawler.text.charts import Dots, Mark, Piece, Series, amount, chart
from tui_crawler.text.format import clock, count, date_time, plural
from tui_crawler.text.safe_text import fit, safe
from tui_crawler.text.sparkline import bar

_MOST_BARS = 24
"""More rows than these with numbers on both axes become a line."""
_DAY_MS = 86_400_000
_LONGEST_LABEL = 40
_EXACT = 1e12
"""Greater numbers are shown by their first digits."""

Row = Sequence[object]


@dataclass(frozen=True, slots=True)
class ResultChart:
    """The column `y` of a result over the column `x`. `problem` is why there is no chart, in words (raw)."""

    x: str
    y: str
    points: tuple[tuple[object, float], ...] = ()
    left_out: int = 0
    problem: str = ""

    @property
    def heading(self) -> str:
        """What is drawn, in words."""
        left_out = f" · {plural(self.left_out, 'row')} without a number" if self.left_out else ""
        return f"{self.y} by {self.x} · {plural(len(self.points), 'row')}{left_out}"

    @property
    def ordered(self) -> list[tuple[float, float]]:
        """The points of a line by their place on the axis; empty where bars are drawn."""
        places = sorted((place, y) for x, y in self.points if (place := number_of(x)) is not None)
        few = len(places) <= _MOST_BARS and not all(is_time(self.x, x) for x, _ in self.points)
        return places if len(places) == len(self.points) and not few and places[0][0] < places[-1][0] else []


def number_of(value: object) -> float | None:
    """Return a value of a result as a finite number; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return number if isfinite(number := float(value)) else None


def axes_of(columns: Sequence[str], rows: Sequence[Row], at: str, before: ResultChart | None) -> tuple[str, str]:
    """Return two columns for the axes x and y: the column `at` and the first one that fits it; with a chart `before`
    that one's x and the next column of numbers."""
    numbers = [
        name
        for place, name in enumerate(columns)
        if any(number_of(row[place]) is not None and not is_time(name, row[place]) for row in rows)
    ]
    if before is not None and before.y in numbers:
        others = [name for name in numbers if name != before.x] or numbers
        return before.x, others[(others.index(before.y) + 1) % len(others)]
    y = at if at in numbers else next(iter(numbers), columns[-1])
    return (at if at != y else next((name for name in columns if name != y), y)), y


def chart_of(columns: Sequence[str], rows: Sequence[Row], x: str, y: str) -> ResultChart:
    """Return two columns of a result as a chart, or why they cannot be one."""
    if unknown := [name for name in (x, y) if name not in columns]:
        return ResultChart(x, y, problem=f"no column {unknown[0]} in the result: {', '.join(columns)}")
    across, up = columns.index(x), columns.index(y)
    points = tuple((row[across], number) for row in rows if (number := number_of(row[up])) is not None)
    if not points:
        return ResultChart(x, y, problem=f"column {y} has no numbers")
    if (least := min(number for _, number in points)) < 0:
        return ResultChart(x, y, problem=f"column {y} has negative numbers ({least:g}); charts start at 0")
    return ResultChart(x, y, points, len(rows) - len(points))


def drawn(one: ResultChart, width: int, height: int, dots: Dots, zone: tzinfo) -> list[list[Piece]]:
    """Return a chart in lines of `width` cells: as many as there are bars, or a line of `height` lines."""
    ordered = one.ordered
    if not ordered:
        return _bars(one, width, zone)
    low, high = ordered[0][0], ordered[-1][0]
    times = is_time(one.x, one.points[0][0])
    at = date_time if high - low > _DAY_MS else clock
    label = (lambda value: at(round(value), zone)) if times else amount
    marks = [Mark(share, label(low + (high - low) * share)) for share in (0.0, 1.0, 0.5)]
    series = Series(one.y, tuple(_steps(ordered, max(2, 2 * width))))
    return chart((series,), width, height, dots=dots, marks=marks)


def _steps(ordered: Sequence[tuple[float, float]], steps: int) -> Iterable[float]:
    """The points in steps of equal width: the greatest of each, straight lines in between."""
    low, high = ordered[0][0], ordered[-1][0]
    greatest: dict[int, float] = {}
    for x, y in ordered:
        at = int((x - low) / (high - low) * (steps - 1))
        greatest[at] = max(y, greatest.get(at, y))
    for (left, before), (right, after) in pairwise(greatest.items()):
        yield from (before + (after - before) * (at - left) / (right - left) for at in range(left, right))
    yield greatest[steps - 1]


def _bars(one: ResultChart, width: int, zone: tzinfo) -> list[list[Piece]]:
    named = [
        (date_time(x, zone) if isinstance(x, int) and is_time(one.x, x) else value_text(x), y) for x, y in one.points
    ]
    labels = [safe(label, _LONGEST_LABEL) for label, _ in named]
    figures = [count(round(y)) if y < _EXACT and y == int(y) else f"{y:.4g}" for _, y in named]
    head = min(max(map(cell_len, labels)), max(1, width // 3))
    tail = max(map(len, figures))
    room, top = max(0, width - head - tail - 2), max(y for _, y in named)
    return [
        [(f"{fit(label, head)} ", ""), (bar(y / top if top else 0, room), "accent"), (f" {figure:>{tail}}", "strong")]
        for label, (_, y), figure in zip(labels, named, figures, strict=True)
    ]
