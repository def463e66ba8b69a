"""What the title of the log says: where one stands in it, how much of it is held and what is shown of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tui_crawler.console.format import count, plural
from tui_crawler.console.present.log_lines import LEVEL_WORDS
from tui_crawler.console.present.urls import host_of
from tui_crawler.domain.exit_code import Severity


@dataclass(frozen=True, slots=True)
class LogStanding:
    """How the log stands. `looking` says what is looked for in the database, empty while nothing is; `news` came in
    behind what is read. `rows` are shown of those `held`: those that `kept` (the filter as it was typed) keeps;
    `in_part`: they are filtered or in an order of their own; `whole`: the rows held are all there are. `problems` and
    `hits` of `needle` are among the rows shown."""

    follows: bool
    looking: str
    news: int
    rows: int
    held: int
    kept: str
    in_part: bool
    whole: bool
    level: Severity
    problems: int
    origin: str
    needle: str
    hits: int


def log_title(log: LogStanding) -> str:
    """The title (raw text). A number of entries that are not all there are is told as such."""
    held = "" if log.whole else " held"
    parts = ["Log", *filter(None, [log.looking]), "● following" if log.follows else "○ not following"]
    if log.news and not log.follows:
        parts.append(f"{count(log.news)} new")
    if log.kept:
        parts.append(f"& {log.kept}: {count(log.rows)} of {count(log.held) if log.whole else _held(log.held)}")
    else:
        parts.append(f"only {_held(log.rows)}" if log.in_part else count(log.rows) + held)
    if log.level is not Severity.info:
        parts.append(LEVEL_WORDS[log.level])
    elif log.problems:
        among = "" if log.whole and not log.in_part else " among them"
        parts.append(plural(log.problems, "problem") + among)
    if log.origin:
        parts.append(host_of(log.origin))
    if log.needle:
        parts.append(f"/{log.needle}/ {plural(log.hits, 'hit')}{' among them' if log.kept else held}")
    return " · ".join(parts)


def _held(number: int) -> str:
    return f"the {count(number)} rows held"
