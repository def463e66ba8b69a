"""By what exit codes are counted: per origin and for all of them, per run, and per minute for the last few."""

from __future__ import annotations

ALL_ORIGINS = 0
"""The id under which the counts of all origins stand together."""

MINUTE_MS = 60_000
RECENT_MINUTES = 5
"""The present minute and those before it that count as recent."""
