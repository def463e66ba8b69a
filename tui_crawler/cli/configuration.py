"""A configuration file as the commands read it: what is wrong with it is told line by line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config

DEFAULT_CONFIG = "tui-crawler.yaml"
"""The configuration that is looked for in the current folder."""


def read_config(
    file: str | Path,
    overrides: Mapping[str, object] | None = None,
    *,
    allow_impolite: bool = False,
    elsewhere: bool = False,
    resolves: bool = True,
) -> Config:
    """The configuration in `file`, with values of the command line by dotted key.

    `allow_impolite` says that the command line allows delays below 1 s, for every origin; `elsewhere` that another
    database is opened, so that the place of the configured one need not exist; without `resolves` secrets and
    certificates need not be there: nothing is requested. Raises UsageProblem with a line for
    each thing that is wrong.
    """
    from tui_crawler.config.load import load_config
    from tui_crawler.config.problem import ConfigErrors

    try:
        return load_config(Path(file), overrides, allow_impolite, looks_at_files=not elsewhere, resolves=resolves)
    except ConfigErrors as errors:
        raise UsageProblem(*(str(problem) for problem in errors.problems)) from errors


def tell_warnings(config: Config, printer: Printer) -> None:
    """Before a start: prints what is doubtful in a configuration to stderr."""
    for warning in config.warnings:
        printer.note(f"warning: {warning}")
