"""Why a URL was (not) crawled: the verdict, every stage with the line that decided, the way to the URL. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui_crawler.console.logs.attempts import exit_in_full, status_cell
from tui_crawler.console.panes.line import LABEL, HangingText, Line, Paragraph, fact, heading
from tui_crawler.console.url.rows import steps_lines
from tui_crawler.console.urls.cells import origin_of
from tui_crawler.domain.crawl.cut import cut_words
from tui_crawler.domain.history.explanation import Answer
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import clock, coarse, count, date_time, plural
from tui_crawler.text.glyphs import StateGlyph

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.domain.history.explanation import Explanation
    from tui_crawler.domain.rules.verdict import Step

_STAGE = 16
"""How wide glyph and name of a stage are, in cells."""

_MARKS = {
    "pass": StateGlyph("✓", "pass", "ok"),
    "refuse": StateGlyph("✗", "refuse", "error"),
    "unknown": StateGlyph("?", "open", "muted"),
}
_WAITS = StateGlyph("◷", "waits", "waiting")
_ANSWERS: Mapping[str, StateGlyph] = {
    "retry_pending": _WAITS,
    "not_due": _WAITS,
    "waiting": _WAITS,
    "in_flight": StateGlyph("▶", "in flight", "active"),
    "held": StateGlyph("‖", "held", "paused"),
}
"""The marks of answers that are no refusal: nothing is wrong with a page that waits."""
_DAY_MS = 86_400_000


def verdict_lines(explanation: Explanation, now: int, zone: tzinfo) -> list[Line]:
    """The answer in a word at `now` (epoch ms), in a sentence, and what could be done about it."""
    mark = _ANSWERS.get(explanation.answer) or _mark(explanation.steps[-1] if explanation.steps else None)
    word = Styled(f"{mark.glyph} {_answer_words(explanation, now, zone)}", f"{mark.role} bold")
    lines: list[Line] = [word]
    if explanation.exit_code:
        after = Styled("  after " if explanation.answer is Answer.retry_pending else "  ", "muted")
        lines = [(word, after, exit_in_full(explanation.exit_code))]
    lines.append(Paragraph(explanation.sentence, "strong", most=5))
    if explanation.advice:
        lines.append(HangingText(Styled("→", "accent"), 2, explanation.advice, "accent", most=4))
    if explanation.cut:
        lines.append(Paragraph(f"not read completely, cut: {cut_words(explanation.cut)}", "warning", most=4))
    return lines


def _answer_words(explanation: Explanation, now: int, zone: tzinfo) -> str:
    """The answer in capital letters; of a page that is tried again later, when that is."""
    at = explanation.due_at or 0
    if explanation.answer is not Answer.retry_pending or at <= now:
        return explanation.answer.value.replace("_", " ").upper()
    when = clock(at, zone) if at - now < _DAY_MS else date_time(at, zone)
    return f"RETRY AT {when} (in {coarse(at - now)})"


def trace_lines(explanation: Explanation, now: int, zone: tzinfo, *, short: bool = False) -> list[Line]:
    """The verdict, the stages that decide, then all in their order: in full, but those above; `short`: a line each."""
    lines = verdict_lines(explanation, now, zone)
    steps = []
    for step in explanation.steps:
        if step.stage != "verdict":
            # What has a time at which it is due is not refused, it waits.
            waits = step.stage == "due" and step.verdict == "refuse" and explanation.due_at
            steps.append((step, _WAITS if waits else _mark(step)))
    deciding = [line for step, mark in steps if step.verdict == "refuse" for line in _step_lines(step, mark)]
    lines += ["", *deciding, *([""] if deciding else [])]
    if steps:
        lines.append(Styled(f"all {plural(len(steps), 'stage')}:", "muted"))
    for step, mark in steps:
        lines += _step_lines(step, mark, short=short or step.verdict == "refuse")
    return lines


def _step_lines(step: Step, mark: StateGlyph, *, short: bool = False) -> list[Line]:
    refuses = step.verdict == "refuse"
    role = mark.role if refuses else "" if step.verdict == "pass" else "muted"
    head = Styled(f"{mark.glyph} ", mark.role), Styled(str(step.stage), "strong" if refuses else "muted")
    source = step.source if step.source not in step.reason else ""  # the reason may say so already
    if short:
        return [HangingText(head, _STAGE, step.reason, role, most=1, tail=source)]
    if refuses and source:
        reason = HangingText(head, _STAGE, step.reason, mark.role, most=6)
        return [reason, HangingText("", _STAGE, f"decided by {source}", "accent", most=3)]
    return [HangingText(head, _STAGE, f"{step.reason} ({source})" if source else step.reason, role, most=3)]


def _mark(step: Step | None) -> StateGlyph:
    return _MARKS["unknown"] if step is None else _MARKS.get(step.verdict, _MARKS["unknown"])


def standing_lines(explanation: Explanation, zone: tzinfo, keys: KeyNames) -> list[Line]:
    """What was asked, where it stands, how it was found, what was tried."""
    lines: list[Line] = [Paragraph(explanation.url, "strong", most=3)]
    if explanation.normalized and explanation.normalized != explanation.url:
        lines.append(HangingText(Styled("becomes", "muted"), LABEL, explanation.normalized, most=3))
    known = Styled("✓ a known page", "ok") if explanation.known else Styled("∅ no page of this crawl", "muted")
    lines.append(fact("known", known, Styled(f"  {keys('nav.open')} opens it" if explanation.known else "", "faint")))
    about = {
        "job": explanation.job,
        "ruleset": explanation.ruleset_id and str(explanation.ruleset_id),
        "due": explanation.due_at and date_time(explanation.due_at, zone),
        "place": explanation.queue_position and f"{count(explanation.queue_position)} on the todo list",
    }
    lines += [fact(label, said) for label, said in about.items() if said]
    lines += ["", heading("How it was found")]
    if explanation.provenance:
        lines += steps_lines(explanation.provenance, origin_of(explanation.normalized), zone)
    else:
        lines.append(Styled("no crawled page links to it", "muted"))
    if explanation.attempts:
        lines += ["", heading("Attempts")]
        for one in explanation.attempts:
            when, end = Styled(f"{date_time(one.ended_at, zone)}  ", "muted"), exit_in_full(one.exit_code)
            message = Styled(f"  {one.message}" if one.message else "", "muted")
            lines.append((when, end, "  ", status_cell(one.http_status), message))
    return lines
