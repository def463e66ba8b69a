"""The catalogue of a database: its views with their columns, and the query that is proposed about one of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter

from tui_crawler.domain.record import dataclass
from tui_crawler.text import shown
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import plural

_PLAIN_NAME = re.compile("[a-z_][a-z_0-9]*")
_LIMIT = 100
_PROPOSAL = re.compile(rf"SELECT [^;]+ FROM \S+ LIMIT {_LIMIT}")  # noqa: S608  a pattern


@dataclass(frozen=True, slots=True)
class CatalogueView:
    """A view and the names of its columns."""

    name: str
    columns: Sequence[str]

    @property
    def heading(self) -> str:
        """What the table of its columns is called."""
        return f"{self.name} · {plural(len(self.columns), 'column')}"


VIEWS: Relation[CatalogueView] = Relation(
    key=attrgetter("name"),
    nothing="the views cannot be read",
    columns=(
        Column("name", "VIEW", shown.plain(), 18, 0, min_width=12),
        Column("columns", "COLUMNS", shown.plain("muted"), None, 1, value=lambda view: ", ".join(view.columns)),
    ),
)
VIEW_COLUMNS: Relation[str] = Relation(
    key=str,
    columns=(Column("name", "COLUMN", value=str),),
)


def quoted(name: str) -> str:
    """Return the name of a view or column as SQL has it."""
    return name if _PLAIN_NAME.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def is_proposal(text: str) -> bool:
    """Return whether a query is one that was proposed, perhaps in an earlier screen, and not changed since."""
    return _PROPOSAL.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A query about a view: some of its columns, or all."""

    view: str
    columns: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The query as SQL."""
        return f"SELECT {', '.join(map(quoted, self.columns)) or '*'} FROM {quoted(self.view)} LIMIT {_LIMIT}"  # noqa: S608  text to be edited

    def of(self, view: str, column: str) -> Proposal:
        """Return the proposal after a view, or a `column` of it, was chosen."""
        before = self.columns if view == self.view else ()
        return Proposal(view, (*before, column) if column and column not in before else ())
