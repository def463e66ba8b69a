"""The configuration of a run as its database keeps it. Pure, and loaded before all else."""

import json

COMMAND_LINE_MARK = "\n--- # from the command line\n"
"""Separates a kept configuration, which is one YAML document, from what the command line gave: JSON, by dotted key."""


def written_config(config_text: str) -> str:
    """Return a kept configuration without the values of the command line."""
    return config_text.partition(COMMAND_LINE_MARK)[0]


def given_settings(config_text: str) -> dict[str, object]:
    """Return the values of the command line in a kept configuration, by dotted key."""
    return dict(json.loads(config_text.partition(COMMAND_LINE_MARK)[2] or "{}"))
