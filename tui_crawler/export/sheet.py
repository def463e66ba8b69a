"""The columns of an export and what they hold. Times are epoch ms and count as whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

Row = tuple[Any, ...]


class Kind(Enum):
    """What a column holds; None may stand in each of them. A flag is 0 or 1."""

    text = "text"
    integer = "integer"
    flag = "flag"


@dataclass(frozen=True, slots=True)
class Column:
    """A column by the name it has in its view."""

    name: str
    kind: Kind


_FLAGS = frozenset({"nofollow", "permanent", "valid", "external"})
_INTEGERS = frozenset(
    {
        *("attempts", "attempts_remaining", "nice", "depth", "not_before", "last_http_status", "last_crawled_at"),
        *("due_at", "size", "attempt_id", "run_id", "exit_code_id", "http_status", "started_at", "ended_at"),
        *("response_ms", "bytes", "requests", "patience_after", "politeness_after", "delay_ms_after", "ruleset_id"),
        *("first_seen_at", "seen_at", "place", "crawled_at"),
    }
)


def columns_of(names: Iterable[str]) -> tuple[Column, ...]:
    """The columns of these names; one that is not known to be a number or a flag is text."""
    return tuple(Column(name, _kind_of(name)) for name in names)


def _kind_of(name: str) -> Kind:
    if name in _FLAGS:
        return Kind.flag
    return Kind.integer if name in _INTEGERS else Kind.text


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which no encoding of Unicode has; a pair becomes what it means."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
