"""The configuration of a run as its database keeps it. Pure, and loaded before all else."""

from __future__ import annotations

COMMAND_LINE_MARK = "\n--- # from the command line\n"
"""Separates a kept configuration, which is one YAML document, from what the command line gave: JSON, by dotted key."""


def written_config(config_text: str) -> str:
    """Return a kept configuration without the values of the command line."""
    return config_text.partition(COMMAND_LINE_MARK)[0]
