"""What the command line and wiring tell each other; light to import."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options that are no configuration (those have overridden it already).

    `config_text` is the YAML of a configuration that has no file; with a file, that is read.
    """

    new_run: bool = False
    config_text: str = ""
