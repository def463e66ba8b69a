"""`check`: is a configuration valid, what does it mean, and where does each value come from."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import named_database
from tui_crawler.cli.options import CommandSet, add_impolite
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.text.format import count, duration

if TYPE_CHECKING:
    from tui_crawler.config.problem import ConfigProblem
    from tui_crawler.config.schema import Config

PAGES = 5_000
"""So many pages an estimate is for, where the configuration has no limit of its own."""


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "check",
        "validate a configuration and show what it means",
        execute,
        "Validates CONFIG and prints the effective configuration: every value, and the line it comes from. Starts "
        "nothing and makes no file.",
        examples=("check my-index.yaml", "check --schema > schema.json"),
        database=False,
    )
    parser.add_argument("file", metavar="CONFIG", nargs="?", help="the configuration (YAML)")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of configurations")
    add_impolite(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    if arguments.schema:
        from tui_crawler.config.document import json_schema

        printer.document(json_schema())
        return ExitStatus.ok
    if arguments.file is None:
        raise UsageProblem("name the configuration to check", hint="tui-crawler check CONFIG")

    from tui_crawler.config.document import effective
    from tui_crawler.config.load import load_config
    from tui_crawler.config.problem import ConfigErrors
    from tui_crawler.config.units import show_duration

    at_files = named_database(arguments) is None
    try:
        config = load_config(Path(arguments.file), None, arguments.allow_impolite, looks_at_files=at_files)
    except ConfigErrors as errors:
        if not arguments.json:
            raise
        wrong = [asdict(problem) for problem in errors.problems]
        printer.document({"ok": False, "errors": wrong, "warnings": [], "effective": None})
        return ExitStatus.usage
    settings, estimate = effective(config), _estimate(config)
    warnings = (*config.warnings, *_keymap_problems(config))
    if arguments.json:
        values = {setting.key: {"value": setting.value, "source": setting.source} for setting in settings}
        doubts = [asdict(warning) for warning in warnings]
        printer.document({"ok": True, "errors": [], "warnings": doubts, "effective": values, "estimate": estimate})
        return ExitStatus.ok
    for warning in warnings:
        printer.note(f"warning: {warning}")
    printer.lines(f"{one.key}: {json.dumps(one.value, ensure_ascii=False)}  ({one.source})" for one in settings)
    times = ", ".join(f"{duration(one['least_s'] * 1_000)} at {show_duration(one['delay_ms'])}" for one in estimate)
    pages = count(estimate[0]["pages_per_origin"])
    printer.note(f"estimate: {pages} pages of an origin take at least {times}; origins are crawled side by side")
    printer.note(f"{arguments.file} is valid")
    return ExitStatus.ok


def _estimate(config: Config) -> list[dict[str, int]]:
    """How long an origin takes at least, for each delay of the configuration: that of most origins first."""
    delay = config.delay
    floor = delay.average.floor_ms if delay.model == "running_average" else delay.floor_ms
    given = (delay.default_ms, *(host.default_delay_ms for host in config.hosts if host.default_delay_ms is not None))
    pages, delays = config.crawl.max_pages_per_origin or PAGES, dict.fromkeys(max(floor, ms) for ms in given)
    return [{"pages_per_origin": pages, "delay_ms": ms, "least_s": pages * ms // 1_000} for ms in delays]


def _keymap_problems(config: Config) -> tuple[ConfigProblem, ...]:
    """Return the unknown ids and keys of a keymap, and keys given twice. The console starts all the same, with the keys
    that are valid, and reports them, too."""
    if not config.keymap:
        return ()
    from tui_crawler.config.problem import SourcePlace, problem_at
    from tui_crawler.console.keymap import read_keymap

    problems = []
    for name, words in read_keymap(dict(config.keymap)).problems:
        place, _, line = config.source_of(f"keymap.{name}").rpartition(":")
        mark = SourcePlace(place, int(line), 1) if line.isdigit() else SourcePlace(config.file)
        problems.append(problem_at(mark, f"keymap.{name}", words))
    return tuple(problems)
