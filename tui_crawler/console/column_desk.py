"""What is done with a column of any table: rows ordered by it (`s`, `S`, a click on its header), or counted (`F`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.present.needle import needle_for
from tui_crawler.console.present.pivot import pivot_of

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.crawl_table import CrawlTable
    from tui_crawler.console.screens.base import ConsoleScreen

_AS_IT_COMES = "@given"


class ColumnDesk:
    """Orders and counts the table that has the focus, unless its screen does that itself."""

    def __init__(self, app: CrawlerApp) -> None:
        """Takes the app."""
        self._app = app

    def do(self, action_id: str, argument: str, screen: ConsoleScreen) -> bool:
        """Does an action; False when it is none of these. `argument` is what was typed after its word."""
        if action_id not in {"sort.pick", "sort.reverse", "table.pivot"}:
            return False
        table = screen.table_filter.table
        if table is None or not table.columns:
            self._app.tell("no", "there is no table here", "muted")
        elif action_id == "sort.pick":
            self._pick(table, argument)
        elif action_id == "sort.reverse":
            self._reverse(table)
        else:
            self._count(table, screen)
        return True

    def _pick(self, table: CrawlTable, argument: str) -> None:
        from tui_crawler.console.screens.choose import ChooseScreen  # noqa: PLC0415  not before the first paint

        options = [(_AS_IT_COMES, "as it comes")]
        options += [(column.id, column.title or column.id.upper()) for column in table.columns]

        def chosen(column_id: object) -> None:
            if isinstance(column_id, str):
                table.order_by(None if column_id == _AS_IT_COMES else column_id)

        if argument in dict(options):
            chosen(argument)
        else:
            here = table.order[0] if table.order is not None else _AS_IT_COMES
            self._app.push_screen(ChooseScreen("Order by", options, here), chosen)

    def _reverse(self, table: CrawlTable) -> None:
        """Turns the order round; of rows that stand as they come, orders them by the current column."""
        column_id = table.order[0] if table.order is not None else table.current_column
        if column_id is not None:
            table.toggle_order(column_id)

    def _count(self, table: CrawlTable, screen: ConsoleScreen) -> None:
        from tui_crawler.console.screens.pivot import PivotScreen  # noqa: PLC0415  not before the first paint

        column_id = table.current_column
        column = next((column for column in table.columns if column.id == column_id), None)
        if column is None:
            return
        screen.bring_up_to_date(table)
        texts = [table.fields_of(row).get(column.id, "") for row in table.shown_rows()]
        pivot = pivot_of(texts, " held")

        def chosen(value: object) -> None:
            if isinstance(value, str):
                word = needle_for(column.id, value, start=bool(pivot.span and value))
                screen.table_filter.narrow(table, f"{table.needle} {word}".strip())

        self._app.push_screen(PivotScreen(column.title or column.id.upper(), pivot), chosen)
