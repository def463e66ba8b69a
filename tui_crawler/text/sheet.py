"""Cells of tables that other programs read: what a column holds, and a text that no spreadsheet runs. Pure."""

import re
from enum import Enum


class CellKind(Enum):
    """What a column holds; None may stand in each of them. A flag is 0 or 1, a time is epoch ms."""

    text = "text"
    integer = "integer"
    flag = "flag"
    time = "time"


_FLAGS = frozenset({"nofollow", "permanent", "valid", "external", "noindex", "frame"})
_TIMES = frozenset({"not_before", "asleep_until", "in_flight_since"})
"""Times whose names do not end as those of all others."""
_INTEGERS = frozenset(
    {
        *("attempts", "attempts_remaining", "nice", "depth", "last_http_status", "size", "attempt_id", "run_id"),
        *("exit_code_id", "http_status", "response_ms", "bytes", "requests", "patience_after", "politeness_after"),
        *("delay_ms_after", "ruleset_id", "place", "first_seen", "inlinks", "ok_status", "lastmod"),
    }
)
_BLANK = "\x00-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff"
_FORMULA = re.compile(rf"[\t\r]|[{_BLANK}\s]*[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]")
_SPELLED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def kind_of(column: str) -> CellKind:
    """Return what a column of this name holds: text, unless it is known to be something else."""
    if column in _FLAGS:
        return CellKind.flag
    if column in _TIMES or column.endswith("_at"):
        return CellKind.time
    return CellKind.integer if column in _INTEGERS else CellKind.text


def sheet_text(text: str) -> str:
    """Return `text` as a cell that no spreadsheet runs and no terminal obeys: with an apostrophe before what looks like
    a formula, and controls, line ends and bidi marks spelled out. All else stays as it is stored."""
    guarded = f"'{text}" if _FORMULA.match(text) else text
    return _SPELLED.sub(_spell, guarded) if _SPELLED.search(guarded) else guarded


def _spell(found: re.Match[str]) -> str:
    char = found[0]
    return "\ufffd" if "\ud800" <= char <= "\udfff" else char.encode("unicode_escape").decode("ascii")
