"""The names of events (docs/interface.md)."""

from __future__ import annotations

EVENT_NAMES = (
    "run_started",
    "origin_started",
    "robots_fetched",
    "todo_filled",
    "attempt_finished",
    "origin_waiting",
    "origin_paused",
    "origin_resumed",
    "origin_left",
    "origin_finished",
    "database_failed",
    "database_restored",
    "worker_ended",
    "output_left_out",
    "coverage",
    "run_finished",
)
