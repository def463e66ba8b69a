"""Rows of words in aligned columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]) -> Iterator[str]:
    """The lines of a table of safe texts; the columns whose index is in `right` are numbers and end flush."""
    from rich.cells import cell_len

    from tui_crawler.console.safe_text import fit

    widths = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        cells = (
            fit(cell, width, "right" if index in right else "left")
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
