"""The section `keymap` of a configuration, judged by the console whose keys it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.config.problem import ConfigProblem, Mark, problem_at

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config


def keymap_problems(config: Config) -> tuple[ConfigProblem, ...]:
    """What is wrong with the keys a configuration gives to actions: unknown ids and keys, keys given twice. They stop
    nothing: the console begins with the keys that hold, and tells the same."""
    if not config.keymap:
        return ()
    from tui_crawler.console.key_presets import read_keymap  # noqa: PLC0415  only where keys are changed

    problems = []
    for name, words in read_keymap(dict(config.keymap)).problems:
        place, _, line = config.source_of(f"keymap.{name}").rpartition(":")
        mark = Mark(place, int(line), 1) if line.isdigit() else Mark(config.file)
        problems.append(problem_at(mark, f"keymap.{name}", words))
    return tuple(problems)
