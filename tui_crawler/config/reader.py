"""What is collected while a tree is read: problems, warnings, and where each value was given."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tui_crawler.config.problem import MAX_PROBLEMS, BadValue, ConfigProblem, SourcePlace, TooManyProblems, problem_at
from tui_crawler.config.tree import Node, Scalar

_ITEM = re.compile(r"(?P<at>.*)\[(?P<index>[0-9]+)\]")


@dataclass(slots=True)
class ConfigReader:
    """Collects, for one configuration.

    `places` maps the name of each known key to the sections it may stand in; `overrides` dotted keys to values of the
    command line, which win over the file. `folder` is where a relative database path begins; `start` is the place of
    what has no place of its own. `looks_at_files` is False where the database may be open in this process (closing it
    would cost its locks); `resolves` where nothing is requested, so that secrets and certificates need not be there.
    """

    places: Mapping[str, tuple[str, ...]]
    overrides: Mapping[str, Node]
    folder: Path
    start: SourcePlace
    looks_at_files: bool = True
    resolves: bool = True
    problems: list[ConfigProblem] = field(default_factory=list)
    warnings: list[ConfigProblem] = field(default_factory=list)
    marks: dict[str, SourcePlace] = field(default_factory=dict)
    item_marks: dict[str, tuple[SourcePlace, ...]] = field(default_factory=dict)
    _kept_out: dict[tuple[int, int], str] = field(default_factory=dict)

    def report(self, key: str, message: str, suggestion: str = "", mark: SourcePlace | None = None) -> None:
        """Keep a problem, at `mark` or the place of its key. Raises TooManyProblems with the last one that is kept."""
        self.problems.append(problem_at(mark or self.mark_of(key), key, message, suggestion))
        if len(self.problems) >= MAX_PROBLEMS:
            raise TooManyProblems

    def refuse(self, refused: BadValue, key: str) -> None:
        """Keep a refused value as a problem of `key`, or of the key inside it that was refused."""
        self.report(refused.at or key, refused.message, refused.suggestion, refused.mark)

    def warn(self, key: str, message: str, suggestion: str = "", mark: SourcePlace | None = None) -> None:
        """Keep a warning, at `mark` or the place of its key; the configuration stays usable."""
        self.warnings.append(problem_at(mark or self.mark_of(key), key, message, suggestion))

    def keep_out(self, node: Node, instead: str) -> None:
        """Keep a value out of the text that is stored; `instead` takes its place."""
        if isinstance(node, Scalar) and node.span[1]:
            self._kept_out[node.span] = instead

    def stored_text(self, text: str) -> str:
        """Return the text that was read, as it may be stored."""
        for (start, end), instead in sorted(self._kept_out.items(), reverse=True):
            given = text[start:end]
            anchor = re.match(r"(?:!\S*\s+)?(&\S+\s+)?", given)
            line_end = "\n" if given.endswith("\n") else ""  # of a block scalar
            quoted = json.dumps(instead, ensure_ascii=False)
            text = f"{text[:start]}{(anchor and anchor[1]) or ''}{quoted}{line_end}{text[end:]}"
        return text

    def note(self, key: str, mark: SourcePlace, items: Iterable[SourcePlace] | None = None) -> None:
        """Remember where a key was given, and where each item of a list."""
        self.marks[key] = mark
        if items is not None:
            self.item_marks[key] = tuple(items)

    def mark_of(self, *keys: str) -> SourcePlace:
        """Return where the first of these keys was given; `start` for a default. A key inside a list is given where
        the item of the list is."""
        for key in keys:
            if found := _ITEM.match(key):
                marks, index = self.item_marks.get(found["at"], ()), int(found["index"])
                return marks[index] if index < len(marks) else self.mark_of(found["at"])
            if key in self.marks:
                return self.marks[key]
        return self.start
