"""What can be wrong in a configuration, and how it is said: file, line, column, key, message, suggestion."""

from collections.abc import Iterable
from dataclasses import dataclass

from tui_crawler.domain.records.failure import UsageProblem

MAX_PROBLEMS = 20  # so many are collected before the reading stops
_CLIP_VALUE = 80  # characters shown of a value
_CLIP_MESSAGE = 500  # characters shown of a whole message
LONGEST_PATH = 500  # characters shown of a file name
COMMAND_LINE = "command line"
BUILT_INTO = "built into "
"""So begins what stands in the place of a file where a part of the program holds the text."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A place in a source. `line` and `column` count from 1; line 0 means the source as a whole."""

    file: str
    line: int = 0
    column: int = 0

    @property
    def place(self) -> str:
        """`file:line`, or only the file where no line is known: the `source` of rules and settings."""
        if not self.line:
            return self.file
        return f"{self.file}, line {self.line}" if self.file.startswith(BUILT_INTO) else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One thing that is wrong (or, in `Config.warnings`, doubtful), fit to print. `line` and `column` count from 1, 0
    when it is not about a line; `key` is dotted (`crawl.max_in_flight`, `seeds[3]`), empty for the file itself."""

    file: str
    line: int
    column: int
    key: str
    message: str
    suggestion: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        key = f"{self.key}: " if self.key else ""
        return f"{place}: {key}{self.message}" + (f"; {self.suggestion}" if self.suggestion else "")


class ConfigErrors(UsageProblem):
    """A configuration that cannot be used. `problems` holds at most 20, in the order of the file."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.line, p.column)))
        super().__init__(*map(str, self.problems))


class BadValue(Exception):
    """A value (or the whole source) is refused; the table or list around it reports the problem. `at` is the dotted key
    where it differs from the key the table was reading."""

    def __init__(self, mark: SourcePlace, message: str, suggestion: str = "", at: str = "") -> None:
        super().__init__(message)
        self.mark, self.message, self.suggestion, self.at = mark, message, suggestion, at

    def problem(self, key: str = "") -> ConfigProblem:
        """Return the problem of `key`, or of the key inside it that was refused."""
        return problem_at(self.mark, self.at or key, self.message, self.suggestion)


class Incomplete(Exception):
    """A value could not be built; its problems are reported already."""


class TooManyProblems(Exception):
    """`MAX_PROBLEMS` are reported; reading on would only tire the reader."""


def visible(text: str, longest: int = _CLIP_VALUE) -> str:
    """`text` with control characters, bidirectional marks and lone surrogates escaped, cut to `longest` characters."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[:longest])
    return shown + "…" if len(text) > longest else shown


def visible_key(text: str) -> str:
    """Like `visible`, and everything that is not ASCII escaped: a look-alike letter in a key must be seen."""
    return visible(text, 60).encode("ascii", "backslashreplace").decode("ascii")


def problem_at(mark: SourcePlace, key: str, message: str, suggestion: str = "") -> ConfigProblem:
    """Return a problem at `mark`, its texts made safe to print and cut to a readable length."""
    told, hint = visible(message, _CLIP_MESSAGE), visible(suggestion, _CLIP_MESSAGE)
    return ConfigProblem(visible(mark.file, LONGEST_PATH), mark.line, mark.column, visible(key), told, hint)
