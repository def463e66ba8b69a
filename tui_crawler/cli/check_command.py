"""`check`: is a configuration valid, what does it mean, and where does each value come from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.configuration import read_config, tell_warnings
from tui_crawler.cli.exit_status import ExitStatus
from tui_crawler.cli.options import CommandSet, add_json, add_quiet
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem

if TYPE_CHECKING:
    from tui_crawler.config.problem import ConfigProblem
    from tui_crawler.config.schema import Config


def declare(commands: CommandSet) -> None:
    """Declares the command."""
    parser = commands.add(
        "check",
        "validate a configuration and show what it means",
        execute,
        "Validates CONFIG and prints the effective configuration: every value, and the line it comes from. Starts "
        "nothing and makes no file.",
    )
    parser.add_argument("file", metavar="CONFIG", nargs="?", help="the configuration (YAML)")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of configurations")
    add_json(parser)
    add_quiet(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    """Carries out `check`."""
    if arguments.schema:
        from tui_crawler.config.document import json_schema

        printer.document(json_schema())
        return ExitStatus.ok
    if arguments.file is None:
        raise UsageProblem("name the configuration to check", hint="tui-crawler check CONFIG")
    if arguments.json:
        return _check_as_json(arguments.file, printer)

    from tui_crawler.config.effective import effective

    config = read_config(arguments.file)
    tell_warnings(config, printer)
    for problem in _keymap_problems(config):
        printer.note(f"warning: {problem}")
    printer.lines(
        f"{setting.key}: {json.dumps(setting.value, ensure_ascii=False)}  ({setting.source})"
        for setting in effective(config)
    )
    printer.note(f"{arguments.file} is valid")
    return ExitStatus.ok


def _check_as_json(file: str, printer: Printer) -> int:
    from tui_crawler.config.effective import effective
    from tui_crawler.config.load import load_config
    from tui_crawler.config.problem import ConfigErrors

    try:
        config = load_config(Path(file))
    except ConfigErrors as errors:
        printer.document({"ok": False, "errors": _documents(errors.problems), "warnings": [], "effective": None})
        return ExitStatus.usage
    settings = {setting.key: {"value": setting.value, "source": setting.source} for setting in effective(config)}
    warnings = _documents((*config.warnings, *_keymap_problems(config)))
    printer.document({"ok": True, "errors": [], "warnings": warnings, "effective": settings})
    return ExitStatus.ok


def _keymap_problems(config: Config) -> tuple[ConfigProblem, ...]:
    from tui_crawler.wiring.keymap import keymap_problems

    return keymap_problems(config)


def _documents(problems: tuple[ConfigProblem, ...]) -> list[dict[str, str | int]]:
    return [problem.as_document() for problem in problems]
