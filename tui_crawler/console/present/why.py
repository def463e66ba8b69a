"""Why a URL was (not) crawled: the verdict, every stage with the line that decided, the way to the URL. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import count, date_time
from tui_crawler.console.glyphs import Mark
from tui_crawler.console.present.exits import exit_cell, status_cell
from tui_crawler.console.present.line import LABEL, Hanging, Line, Prose, fact, heading
from tui_crawler.console.table_cells import Cell, Styled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from tui_crawler.domain.explanation import Explanation
    from tui_crawler.domain.standing import Hop
    from tui_crawler.domain.verdict import Step

_STAGE = 16
"""How wide glyph and name of a stage are, in cells."""

_MARKS = {
    "pass": Mark("✓", "pass", "ok"),
    "refuse": Mark("✗", "refuse", "error"),
    "unknown": Mark("?", "open", "muted"),
}
_PATH = 12


def verdict_lines(explanation: Explanation) -> list[Line]:
    """The answer in a word, in a sentence, and what could be done about it."""
    mark = _mark(explanation.steps[-1] if explanation.steps else None)
    word = explanation.answer.value.replace("_", " ")
    lines: list[Line] = [
        (Styled(f"{mark.glyph} {word.upper()}", f"{mark.role} bold"), "  ", exit_cell(explanation.exit_code))
        if explanation.exit_code
        else Styled(f"{mark.glyph} {word.upper()}", f"{mark.role} bold"),
        Prose(explanation.sentence, "strong", most=5),
    ]
    if explanation.advice:
        lines.append(Hanging(Styled("→", "accent"), 2, explanation.advice, "accent", most=4))
    return lines


def trace_lines(explanation: Explanation) -> list[Line]:
    """The verdict, and every stage in its order, in full."""
    lines = [*verdict_lines(explanation), ""]
    for step in explanation.steps:
        if step.stage != "verdict":
            lines += _step_lines(step)
    return lines


def short_trace_lines(explanation: Explanation) -> list[Line]:
    """The verdict, the stages that refuse, then the others in their order, a line each."""
    steps = [step for step in explanation.steps if step.stage != "verdict"]
    refusing = [line for step in steps if step.verdict == "refuse" for line in _step_lines(step)]
    others = [_short_step(step) for step in steps if step.verdict != "refuse"]
    return [*verdict_lines(explanation), "", *refusing, *([""] if refusing else []), *others]


def _short_step(step: Step) -> Line:
    role = "" if step.verdict == "pass" else "muted"
    return Hanging(_head(step), _STAGE, step.reason, role, most=1, tail=_source(step))


def _head(step: Step) -> Cell:
    mark = _mark(step)
    decides = step.verdict == "refuse"
    return Styled(f"{mark.glyph} ", mark.role), Styled(str(step.stage), "strong" if decides else "muted")


def _source(step: Step) -> str:
    """What decided, unless the reason says so already."""
    return step.source if step.source not in step.reason else ""


def _step_lines(step: Step) -> list[Line]:
    decides, head, source = step.verdict == "refuse", _head(step), _source(step)
    if decides and source:
        reason = Hanging(head, _STAGE, step.reason, "error", most=6)
        return [reason, Hanging("", _STAGE, f"decided by {source}", "accent", most=3)]
    text = f"{step.reason} ({source})" if source else step.reason
    return [Hanging(head, _STAGE, text, "error" if decides else "" if step.verdict == "pass" else "muted", most=3)]


def _mark(step: Step | None) -> Mark:
    return _MARKS["unknown"] if step is None else _MARKS.get(step.verdict, _MARKS["unknown"])


def standing_lines(explanation: Explanation, zone: tzinfo) -> list[Line]:
    """What was asked, where it stands, how it was found, what was tried."""
    lines: list[Line] = [Prose(explanation.url, "strong", most=3)]
    if explanation.normalized and explanation.normalized != explanation.url:
        lines.append(Hanging(Styled("becomes", "muted"), LABEL, explanation.normalized, most=3))
    known = Styled("✓ a known page", "ok") if explanation.known else Styled("∅ no page of this crawl", "muted")
    lines.append(fact("known", known, Styled("  enter opens it" if explanation.known else "", "faint")))
    if explanation.job:
        lines.append(fact("job", explanation.job))
    if explanation.ruleset_id:
        lines.append(fact("ruleset", str(explanation.ruleset_id)))
    if explanation.due_at:
        lines.append(fact("due", date_time(explanation.due_at, zone)))
    if explanation.queue_position:
        lines.append(fact("place", f"{count(explanation.queue_position)} on the todo list"))
    lines += ["", heading("How it was found"), *path_lines(explanation.provenance)]
    if explanation.attempts:
        lines += ["", heading("Attempts")]
        lines += [
            (
                Styled(f"{date_time(one.ended_at, zone)}  ", "muted"),
                exit_cell(one.exit_code),
                "  ",
                status_cell(one.http_status),
                Styled(f"  {one.message}" if one.message else "", "muted"),
            )
            for one in explanation.attempts
        ]
    return lines


def path_lines(path: Sequence[Hop]) -> list[Line]:
    """The way from a seed, step by step; of a long one its end."""
    if not path:
        return [Styled("nothing that was crawled names it", "muted")]
    lines: list[Line] = [(Styled("◆ ", "accent"), path[0].from_url, Styled("  seed", "muted"))]
    shown = path[-_PATH:]
    if len(shown) < len(path):
        lines.append(Styled(f"… {len(path) - len(shown)} steps", "faint"))
    for depth, hop in enumerate(shown, 1):
        indent = "  " * min(depth - 1, 6)
        lines.append((Styled(f"{indent}↳ ", "muted"), hop.to_url, Styled(f"  {hop.kind}, depth {hop.depth}", "muted")))
    return lines
