"""What the command line and wiring tell each other; light to import."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options that are no configuration (those have overridden it already).

    `config_text` is the YAML of a configuration that has no file; with a file, that is read. Of several `workers`
    each is a process of its own: `worker_words` start one more, which `joins` the run; it is given its number.
    """

    new_run: bool = False
    config_text: str = ""
    workers: int = 1
    joins: bool = False
    worker_number: int = 1
    worker_words: tuple[str, ...] = ()
