"""How runs and origin crawlers end, in words: one table for the console, for every command and for the log."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.domain.desk_view import ActivityView
    from tui_crawler.domain.view import RunView

RUNNING = "running"
BROKEN_OFF = "broken off"
"""A run whose engine is gone without having said why."""

_RUNS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "exhausted": ("finished", "nothing more to do"),
        "max_requests": ("limit reached", "it may make no more requests"),
        "operator": ("stopped", "the operator has stopped every origin"),
        "few_origins": ("few origins", "fewer are left than queue.min_origins asks for"),
        "interrupted": ("interrupted", "the next start goes on"),
        "error": ("failed", "an error ended it"),
    }
)
_ORIGINS: Mapping[str, str] = MappingProxyType(
    {
        "exhausted": "nothing left in this run",
        "patience": "out of patience",
        "database_error": "the database failed",
        "excluded": "on the exclusion list",
        "rate_limited": "told to wait longer than allowed",
        "max_requests": "the run reached its request limit",
        "operator": "stopped by the operator",
    }
)


def run_end(reason: str) -> tuple[str, str]:
    """How a run ended, as one word and why, which may be empty. `reason` as in `v_run.finish_reason`."""
    return _RUNS.get(reason) or (reason.replace("_", " ") or "ended", "")


def run_end_words(reason: str) -> str:
    """The same as one piece of a sentence."""
    return ", ".join(filter(None, run_end(reason)))


def run_word(run: RunView) -> str:
    """How a run stands, as one word: running, broken off, or how it ended."""
    if run.live:
        return RUNNING
    return run_end(run.finish_reason)[0] if run.finished_at else BROKEN_OFF


def what_happened(activity: ActivityView) -> str:
    """What an entry of the activity log says beside its name."""
    match activity.event:
        case "run_finished":
            return run_end_words(activity.message)
        case "origin_finished":
            return finish_words(activity.message)
        case _:
            return activity.message


def finish_words(finish_reason: str) -> str:
    """Why an origin crawler ended its run, in words. `finish_reason` as in `v_origin`."""
    return _ORIGINS.get(finish_reason, finish_reason.replace("_", " ") or "finished")
