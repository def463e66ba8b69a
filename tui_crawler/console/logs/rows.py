"""The log of a crawl as one list: attempts, activity and what operators asked for, by time. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.logs.attempts import exit_cell, exit_in_full, meaning, note, severity_of, status_cell
from tui_crawler.console.panes.line import Line, Paragraph, fact
from tui_crawler.console.urls.cells import host_cell, host_of, origin_of, path_of
from tui_crawler.domain.crawl.cut import cut_words
from tui_crawler.domain.records.exit_code import DISPOSITIONS, FAILURES, AttemptKind, Severity
from tui_crawler.domain.records.operator_view import ActionView, ActivityView
from tui_crawler.domain.records.status_words import FinishReason, what_happened
from tui_crawler.domain.records.view import AttemptView, LogTerms
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ago, clock, count, date_time, plural, seconds, size
from tui_crawler.text.relations.actions import action_mark
from tui_crawler.text.same_as import command_line_of
from tui_crawler.text.sparkline import sparkline

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.logs.window import LogList


def log_title(log: LogList, looking: str, kept: str, problems: int, needle: str, hits: int, *, frozen: bool) -> str:
    """The title (raw text). A number of entries that are not all there are is told as such. `looking` says what is
    looked for in the database, empty while nothing is; `kept` is the filter as it was typed. `problems` and `hits` of
    `needle` are among the rows shown."""
    keyset, rows, all_of_it = log.keyset, log.table.row_count, log.keyset.whole
    follows, loaded = log.following and not frozen, "" if all_of_it else " loaded"
    parts = ["Log", *filter(None, [looking]), "● following" if follows else "○ not following"]
    if keyset.news and not follows:
        parts.append(f"{count(keyset.news)} new")
    if kept:
        of = len(log.table.held_rows())
        parts.append(f"/ {kept}: {count(rows)} of {count(of) if all_of_it else _loaded(of)}")
    else:
        parts.append(log.table.told(f"only {_loaded(rows)}" if log.in_part else count(rows) + loaded))
    if keyset.problems_only:
        parts.append(LEVEL_WORDS[keyset.level])
    elif problems:
        parts.append(plural(problems, "problem") + ("" if all_of_it and not log.in_part else " among them"))
    if keyset.scope.origin:
        parts.append(host_of(keyset.scope.origin))
    if needle:
        parts.append(f"search {needle}: {plural(hits, 'hit')}{' among them' if kept else loaded}")
    return " · ".join(parts)


def _loaded(number: int) -> str:
    return f"the {count(number)} rows loaded"


_BARS, _FEWEST_BARS = 80, 8  # cells
_ROLES = {Severity.info: "accent", Severity.warning: "warning", Severity.error: "error"}


def histogram(lines: Sequence[LogLine], width: int, zone: tzinfo) -> Line:
    """How many entries there were from the first to the last, in at most `width` cells, problems in their colour."""
    if not lines:
        return ""
    first, last = min(line.at for line in lines), max(line.at for line in lines)
    ends = Styled(f"{clock(first, zone)} ", "muted"), Styled(f" {clock(last, zone)}", "muted")
    levels = Counter(line.level for line in lines)
    marks = (Severity.error, "✗"), (Severity.warning, "⚠")
    told = [Styled(f"  {mark} {plural(levels[one], one.name)}", _ROLES[one]) for one, mark in marks if levels[one]]
    room = min(_BARS, width - sum(cell_len(piece.text) for piece in (*ends, *told)))
    if room < _FEWEST_BARS:
        return (*ends, *told)
    span = max(last - first + 1, room)
    numbers, worst = [0] * room, [Severity.info] * room
    for line in lines:
        at = (line.at - first) * room // span
        numbers[at] += 1
        worst[at] = max(worst[at], line.level)
    cells = zip(sparkline([number or None for number in numbers], room), worst, strict=True)
    bars = [Styled(char, _ROLES[level]) for char, level in cells]
    return (ends[0], *bars, ends[1], *told)


_MARKS: Mapping[str, tuple[str, str]] = {
    "run_started": ("▶", "active"),
    "run_continued": ("▶", "active"),
    "run_finished": ("■", "strong"),
    "session_taken_over": ("⚠", "warning"),
    "schema_upgraded": ("↻", "accent"),
    "origin_joined": ("○", "muted"),
    "origin_finished": ("✓", "ok"),
    "job_added": ("◆", "accent"),
    "job_changed": ("✎", "accent"),
    "job_paused": ("‖", "paused"),
    "job_resumed": ("▶", "active"),
    "job_aborted": ("✗", "warning"),
    "job_unaborted": ("↻", "active"),
    "job_finished": ("✓", "ok"),
    "pages_stashed": ("∅", "muted"),
    "pages_unstashed": ("▶", "active"),
    "dripfeed_changed": ("✎", "accent"),
    "stash_emptied": ("✓", "ok"),
    "pages_reclaimed": ("↻", "warning"),
    "segment_saved": ("◆", "accent"),
    "segment_loaded": ("◆", "accent"),
    "ruleset_applied": ("✎", "accent"),
}
_PROBLEM_EVENTS: Mapping[tuple[str, str], Severity] = {
    ("origin_finished", FinishReason.patience.value): Severity.error,
    ("origin_finished", FinishReason.database_error.value): Severity.error,
    ("session_taken_over", ""): Severity.warning,
    ("pages_reclaimed", ""): Severity.warning,
    ("job_aborted", ""): Severity.warning,
}
"""Activity that is a problem: by its name and, where one is given, its message."""
_HIT = "accent bold underline"
_BOOKMARK = Styled("◆ ", "accent bold")


LEVEL_WORDS: Mapping[Severity, str] = {
    Severity.info: "everything",
    Severity.warning: "warnings and errors",
    Severity.error: "errors only",
}

Source = AttemptView | ActivityView | ActionView
Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class LogLine:
    """One entry. `at` is epoch ms, `text` everything of it that is searched, in lower case."""

    key: Key
    at: int
    origin: str
    level: Severity
    text: str
    source: Source

    @property
    def problem(self) -> bool:
        """Whether it is a warning or an error."""
        return self.level > Severity.info

    @property
    def order(self) -> tuple[int, str, int]:
        """Its place: by time; at the same moment what was asked stands before what followed."""
        return (self.at, *self.key)


def terms_of(levels: Collection[Severity], origin: str, text: str = "") -> LogTerms:
    """How the database is asked for the attempts and the activity of these levels, at one origin or (empty) at all."""
    if Severity.info in levels:
        return LogTerms(origin, text=text)
    exits = frozenset(code.name for code in FAILURES if DISPOSITIONS[code].severity in levels)
    events = tuple(named for named, severity in _PROBLEM_EVENTS.items() if severity in levels)
    return LogTerms(origin, problems=True, exits=frozenset() if len(levels) > 1 else exits, events=events, text=text)


def attempt_line(attempt: AttemptView) -> LogLine:
    """An attempt; its moment is its end."""
    words = (attempt.exit_code, attempt.url, attempt.kind, attempt.message, attempt.decided_by, attempt.title)
    text, key = _searched(*words, *attempt.cut, str(attempt.http_status or "")), ("attempt", attempt.attempt_id)
    return LogLine(key, attempt.ended_at, attempt.origin, severity_of(attempt), text, attempt)


def activity_line(activity: ActivityView) -> LogLine:
    """What happened besides the attempts. Giving up, a lost worker and aborted jobs are problems."""
    event, origin, message = activity.event, activity.origin, activity.message
    level = max(_PROBLEM_EVENTS.get((event, said), Severity.info) for said in ("", message))
    text = _searched(event, event.replace("_", " "), origin, message, what_happened(activity))
    return LogLine(("activity", activity.activity_id), activity.at, origin, level, text, activity)


def action_line(action: ActionView) -> LogLine:
    """What an operator asked for; refused, it is a problem."""
    words = (action.action, action.target, action.who, action.before, action.after, action.error)
    origin = origin_of(action.target) if "://" in action.target and " " not in action.target else ""
    level = Severity.error if action.error else Severity.info
    return LogLine(("action", action.action_id), action.at, origin, level, _searched(*words), action)


def concerns(action: ActionView, origin: str) -> bool:
    """Whether an action is about an origin: it names it, or all. An empty origin: every action."""
    if not origin or action.target == "all":
        return True
    named = re.compile(rf"{re.escape(origin)}(?![\w.:-])")
    return any(named.search(text) for text in (action.target, action.before, action.after))


def url_of(line: LogLine) -> str:
    """The URL an entry is about; empty when it is about none, or about an origin or its robots.txt."""
    match line.source:
        case AttemptView(url=url, kind=kind):
            return url if kind != AttemptKind.robots else ""
        case ActionView(target=target):
            return target if line.origin and target != line.origin else ""
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry as the list shows it. Where `needle` occurs is underlined. `marked`: it has a bookmark. `relative`: how
    long ago it was, instead of when."""

    line: LogLine
    needle: str = ""
    relative: bool = False
    marked: bool = False

    def shown(self, *pieces: Styled) -> tuple[Styled, ...]:
        """Return pieces of it, underlined where it has what is searched for."""
        return underlined(pieces, self.needle) if self.needle in self.line.text else pieces


def _time(at: int, one: LogEntry, present: Present) -> Cell:
    when = ago(present.now - at) if one.relative else clock(at, present.zone, millis=True)
    hit = bool(one.needle) and one.needle in one.line.text
    return Styled(when, _HIT if hit else "muted", when if one.relative else clock(at, present.zone))


LOG: Relation[LogEntry] = Relation(
    key=lambda one: one.line.key,
    source=lambda one: one.line.source,
    columns=(
        Column("time", "TIME", _time, 12, 0, min_width=8, value=lambda one: one.line.at),
        Column("what", "EVENT", shown.by_record(lambda one: one.shown(_what(one.line))), 20, 0, min_width=14,
               value=lambda one: _what(one.line).text),
        Column("origin", "ORIGIN", lambda origin, one, _: one.shown(host_cell(origin, "muted")), 22, 2, min_width=14,
               kind="place", value=lambda one: one.line.origin),
        Column("text", "DETAILS", lambda _, one, __: (*[_BOOKMARK] * one.marked, *one.shown(*_happened(one.line))),
               None, 0, min_width=18, kind="place", value=lambda one: one.line.text),
    ),
)  # fmt: skip


def underlined(pieces: Sequence[Styled], needle: str) -> tuple[Styled, ...]:
    """The pieces with `needle` (lower case) underlined wherever it occurs in one of them."""
    made: list[Styled] = []
    for piece in pieces:
        lower = piece.text.lower()
        if not needle or needle not in lower or len(lower) != len(piece.text):
            made.append(piece)
            continue
        parts, at = list[Styled](), 0
        while (found := lower.find(needle, at)) >= 0:
            parts.append(Styled(piece.text[at:found], piece.role))
            at = found + len(needle)
            parts.append(Styled(piece.text[found:at], _HIT))
        made += [*parts, Styled(piece.text[at:], piece.role)]
    return tuple(piece for piece in made if piece.text)


def log_lines(line: LogLine | None, zone: tzinfo) -> list[Line]:
    """The entry under the cursor, whole."""
    if line is None:
        return []
    when = Styled(f"{date_time(line.at, zone)}  ", "muted")
    match line.source:
        case AttemptView() as attempt:
            title = Styled(f"  {attempt.title}" if attempt.title else "", "muted")
            words = attempt.message or attempt.decided_by or meaning(attempt.exit_code)
            return [
                (Styled(attempt.url, "strong"), title),
                (exit_in_full(attempt.exit_code), Styled(f"  {words}")),
                (when, Styled(" · ".join(_circumstances(attempt)), "muted")),
            ]
        case ActivityView() as activity:
            run = f" · run {activity.run_id}" if activity.run_id else ""
            return [
                (_what(line), Styled(f"  {activity.origin}" if activity.origin else "", "strong")),
                Paragraph(what_happened(activity), most=2),
                (when, Styled(f"activity {activity.activity_id}{run}", "muted")),
            ]
        case ActionView() as action:
            change = (Styled(action.before, "muted"), Styled(" → "), Styled(action.after))
            outcome = action_mark(action).word if action.applied else "not applied yet"
            same = [Styled(f"  same as: {typed}", "muted")] if (typed := command_line_of(action)) else []
            return [
                (_what(line), Styled(f"  {action.target}", "strong"), *same),
                Styled(action.error, "error") if action.error else fact("changed", *change),
                (when, Styled(f"by {action.who} · {outcome}", "muted")),
            ]


def _circumstances(attempt: AttemptView) -> list[str]:
    known = (
        f"attempt {attempt.attempt_id}",
        f"run {attempt.run_id}",
        f"ruleset {attempt.ruleset_id}" if attempt.ruleset_id else "",
        seconds(attempt.response_ms) if attempt.response_ms is not None else "",
        size(attempt.bytes) if attempt.bytes else "",
        f"cut: {cut_words(attempt.cut)}" if attempt.cut else "",
        f"worker {attempt.worker}" if attempt.worker else "",
    )
    return [one for one in known if one]


def _searched(*words: str) -> str:
    return "\n".join(word for word in words if word).lower()


def _what(line: LogLine) -> Styled:
    match line.source:
        case AttemptView(exit_code=code):
            return exit_cell(code)
        case ActivityView() as activity:
            glyph, role = _MARKS.get(activity.event, ("·", "muted"))
            if line.level is Severity.error:
                glyph, role = "✗", "error"
            return Styled(f"{glyph} {activity.event.replace('_', ' ')}", role)
        case ActionView() as action:
            mark = action_mark(action)
            return Styled(f"{mark.glyph} {action.action.replace('_', ' ')}", mark.role)


def _happened(line: LogLine) -> tuple[Styled, ...]:
    match line.source:
        case AttemptView() as attempt:
            parts = [Styled(path_of(attempt.url, attempt.origin)), Styled("  ")]
            if attempt.http_status is not None:
                parts += [status_cell(attempt.http_status), Styled(" ")]
            if attempt.response_ms is not None:
                parts.append(Styled(f"{seconds(attempt.response_ms)}  ", "muted"))
            return (*parts, *note(attempt))
        case ActivityView(message=message) as activity:
            return (Styled(what_happened(activity) if message != line.origin else ""),)
        case ActionView() as action:
            end = Styled(action.error, "error") if action.error else Styled(action_mark(action).word, "muted")
            about = path_of(action.target, line.origin) + "  " if action.target != line.origin else ""
            return (Styled(about), Styled(f"by {action.who}  ", "muted"), end)


def empty_words(*, problems: bool, origin: str) -> str:
    """What is shown when the list is empty."""
    what = "no problems" if problems else "no entries"
    return f"{what} in the log of {host_of(origin)}" if origin else f"{what} yet"
