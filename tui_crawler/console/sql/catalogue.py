"""The catalogue of a database: its views with their columns, and the query that is proposed about one of them. Pure."""

import re
from collections.abc import Sequence
from operator import attrgetter

from tui_crawler.domain.record import dataclass
from tui_crawler.text import shown
from tui_crawler.text.columns import Column, Relation

_PLAIN_NAME = re.compile("[a-z_][a-z_0-9]*")
_LIMIT = 100
_PROPOSAL = re.compile(rf"SELECT ([^;]+) FROM (\S+) LIMIT {_LIMIT}")  # noqa: S608  a pattern


@dataclass(frozen=True, slots=True)
class CatalogueView:
    """A view and the names of its columns."""

    name: str
    columns: Sequence[str]


VIEWS: Relation[CatalogueView] = Relation(
    key=attrgetter("name"),
    nothing="the views cannot be read",
    columns=(
        Column("name", "VIEW", shown.plain(), 18, 0, min_width=12),
        Column("columns", "COLUMNS", shown.plain("muted"), None, 1, value=lambda view: ", ".join(view.columns)),
    ),
)
VIEW_COLUMNS: Relation[str] = Relation(key=str, columns=(Column("name", "COLUMN", value=str),))


def quoted(name: str) -> str:
    """Return the name of a view or column as SQL has it."""
    return name if _PLAIN_NAME.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def proposed(text: str, view: str, column: str = "") -> str | None:
    """Return a query about a view with all of its columns. Where `text` is a proposal about this view, a `column` is
    added to those in it; one that is in it brings all back. None: `text` is a query that a person has typed."""
    before = _PROPOSAL.fullmatch(text)
    if text and before is None:
        return None
    name, chosen = quoted(view), quoted(column)
    names = before[1].split(", ") if before is not None and before[2] == name else []
    columns = ["*"]
    if column and chosen not in names:
        columns = [*(one for one in names if one != "*"), chosen]
    return f"SELECT {', '.join(columns)} FROM {name} LIMIT {_LIMIT}"  # noqa: S608  text to be edited
