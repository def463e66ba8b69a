"""What cannot be done as asked, told in plain words: exit status 2 for a mistake, 3 for what stands in the way."""

from __future__ import annotations

from collections.abc import Iterable


class UsageProblem(Exception):
    """A wrong word, option, file or configuration. `lines` are shown one by one; `hint` says what to do instead."""

    def __init__(self, *lines: str, hint: str = "") -> None:
        super().__init__(*lines)
        self.lines = lines
        self.hint = hint


class CannotRun(Exception):
    """What was asked for is right and cannot be done here and now: one line, exit status 3."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or an empty string."""
    import difflib

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: `; did you mean status?`, or nothing when no known word is near."""
    name = nearest(word, known)
    return f"; did you mean {name}?" if name else ""
