"""A query room that a test answers for."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from tests.console.sample_crawl import API, NOW
from tests.support.patience import PATIENT_S
from tui_crawler.domain.records.operator_view import QueryAnswer

SCHEMA = (
    ("v_page", ("url", "origin", "status", "depth", "last_exit_code")),
    ("v_origin", ("origin", "state", "todo", "done", "failed")),
    ("v_attempt", ("attempt_id", "url", "exit_code", "ended_at")),
)


def sample_answer(rows: int = 40) -> QueryAnswer:
    """Pages with a URL, a number, a time, bytes and nothing."""
    values = tuple(
        (f"{API}/p/{n}", n * 7 % 5, NOW + n, b"\x00\x1b" * n if n % 3 else None, f"text {n % 4}") for n in range(rows)
    )
    return QueryAnswer(("url", "depth", "ended_at", "body", "note"), values, False, 0, 12)


@dataclass
class FakeQueries:
    """Gives `answer`, when `gate` is open; notes what was asked and whether it was cancelled."""

    answer: QueryAnswer = field(default_factory=sample_answer)
    failure: Exception | None = None
    asked: list[str] = field(default_factory=list)
    cancels: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    holds: bool = False

    def schema(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return SCHEMA

    def ask(self, text: str) -> QueryAnswer:
        self.asked.append(text)
        if self.holds and not self.gate.wait(PATIENT_S):
            raise TimeoutError
        if self.failure is not None:
            raise self.failure
        return QueryAnswer(problem="cancelled") if self.cancels else self.answer

    def cancel(self) -> None:
        self.cancels += 1
        self.gate.set()
