"""What rules refused, as the log has it: for those who ask which entry of the rules ever decided anything.

Strings are raw as stored (hostile). Times are epoch ms.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """Attempts that rules refused with the same words: the newest of them, how many, and by which versions."""

    exit_code: str
    decided_by: str
    message: str
    count: int
    last_at: int
    sample_url: str
    first_ruleset: int
    last_ruleset: int


@dataclass(frozen=True, slots=True)
class RefusalCounts:
    """What rules refused among the newest `looked_at` attempts of the log, which has `known` of them."""

    rows: tuple[RefusalCount, ...]
    looked_at: int
    known: int
