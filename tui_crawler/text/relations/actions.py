"""What operators asked for, as it is shown."""

from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.glyphs import StateGlyph


def action_mark(action: ActionView) -> StateGlyph:
    """Return what became of an action."""
    if action.error:
        return StateGlyph("✗", "refused", "error")
    if not action.applied:
        return StateGlyph("◷", "waits", "waiting")
    return StateGlyph("↻", "undone", "muted") if action.undone else StateGlyph("✎", "done", "accent")


def _same(action: ActionView) -> str:
    from tui_crawler.text.same_as import command_line_of  # noqa: PLC0415  not before the first paint

    return command_line_of(action)


def _command(line: str, action: ActionView, _present: Present) -> Cell:
    error = Styled(action.error + "  " if action.error else "", "error")
    return error, Styled(line or action.target, "" if line else "muted")


ACTIONS: Relation[ActionView] = Relation(
    key=lambda action: action.action_id,
    nothing="no operator actions yet",
    columns=(
        Column("at", "WHEN", shown.time_of_day(), 8, 1),
        Column("who", "WHO", shown.plain("muted"), 10, 3, min_width=6),
        Column("state", "STATE", shown.state(), 9, 0, value=action_mark),
        Column("action", "ACTION", shown.words(lambda name: name.replace("_", " "), "strong"), 10, 0, min_width=6),
        Column("target", "OF", shown.plain(), None, 4, min_width=24, kind="place"),
        Column("same", "COMMAND LINE", _command, None, 0, min_width=16, value=_same),
    ),
)
