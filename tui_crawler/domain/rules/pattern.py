"""Regular expressions from users, all in linear time (RE2): one pattern, or many as one compiled set (M).

RE2 has no back-references and no look-around; a pattern that needs them is a `BadPattern`.
"""

import re
from collections.abc import Sequence

import re2

_PATTERN_MEMORY = 2 << 20  # bytes for the program and automaton of one pattern; beyond it RE2 refuses it
_ANCHORED = re.compile(r"(\(\?[a-z]+\))?(\^|\\A)")
_LONGEST_BEGINNING = 300  # bytes
SET_MEMORY = 64 << 20  # upper bound in bytes for a set; memory is only taken as it is needed


class BadPattern(Exception):
    """A pattern that cannot be compiled. `pattern` is its text, `message` says what is wrong with it."""

    def __init__(self, pattern: str, message: str) -> None:
        super().__init__(f"{pattern!r}: {message}")
        self.pattern = pattern
        self.message = message


class Pattern:
    """One compiled pattern. Raises BadPattern when it is made, never when it is used."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._compiled = re2.compile(text.encode("utf-8"), _options(_PATTERN_MEMORY))
        except UnicodeEncodeError:
            raise BadPattern(text, "contains a lone surrogate") from None
        except re2.error as error:
            detail = error.args[0] if error.args else "cannot be compiled"
            said = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
            raise BadPattern(text, said) from None

    @property
    def beginnings(self) -> tuple[str, str] | None:
        """The least and the greatest text that a match may begin with; None where it may begin anywhere."""
        if not _ANCHORED.match(self.text):
            return None
        low, high = self._compiled.possiblematchrange(_LONGEST_BEGINNING)
        return low.decode("utf-8", "ignore"), high.decode("utf-8", "ignore") or "\U0010ffff"

    def search(self, text: str) -> bool:
        """Return whether the pattern is found anywhere in `text`."""
        return self.search_bytes(_encode(text))

    def search_bytes(self, data: bytes) -> bool:
        """The same for text that is already UTF-8."""
        return self._compiled.search(data) is not None


class PatternSet:
    """Many patterns searched at once: one pass over the text tells which of them are found in it.

    `patterns` keep their order; an empty set never matches. Raises BadPattern for the first bad one.
    `memory` (bytes) bounds the compiled set; where that is too little, for compiling or for one text, the
    patterns are tried one by one, which is slower and gives the same answer.
    """

    __slots__ = ("_set", "_singles", "patterns")

    def __init__(self, patterns: Sequence[str], memory: int = SET_MEMORY) -> None:
        self.patterns = tuple(patterns)
        self._singles = tuple(Pattern(text) for text in self.patterns)
        self._set = _compile(self.patterns, memory) if self.patterns else None

    def __len__(self) -> int:
        return len(self.patterns)

    def first(self, text: str) -> int | None:
        """The lowest index of a pattern found in `text`, or None."""
        found = self._found(text)
        return min(found) if found else None

    def all(self, text: str) -> list[int]:
        """The indexes of all patterns found in `text`, ascending."""
        return sorted(self._found(text))

    def _found(self, text: str) -> list[int]:
        if not self._singles:
            return []
        data = _encode(text)
        if self._set is not None:
            hits: list[int] = self._set.Match(data) or []
            # The last member of the set is empty and so is found in every text: without it the search has
            # run out of memory, which RE2 reports just as it reports "no match".
            if hits:
                hits.remove(len(self._singles))
                return hits
        return [index for index, single in enumerate(self._singles) if single.search_bytes(data)]


def escape(text: str) -> str:
    """A pattern that matches exactly `text`."""
    try:
        escaped: str = re2.escape(text)
    except UnicodeEncodeError:
        raise BadPattern(text, "contains a lone surrogate") from None
    return escaped


def glob(text: str) -> str:
    """A pattern for a whole text from a glob: `*` is any run of characters (also "/"), `?` any one of them,
    `[abc]` and `[!abc]` one of a list. Everything else stands for itself."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        end = text.find("]", position + 1) if character == "[" else -1
        if character == "*":
            parts.append("(?s:.*)")
        elif character == "?":
            parts.append("(?s:.)")
        elif end > 0:
            listed = text[position:end]
            position = end + 1
            negated = listed.startswith("!")
            members = listed[negated:].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
            parts.append(f"[{'^' if negated else ''}{members}]")
        else:
            parts.append(escape(character))
    return rf"\A{''.join(parts)}\z"


def _compile(patterns: tuple[str, ...], memory: int) -> re2.Set | None:
    joined = re2.Set.SearchSet(_options(memory))
    for text in patterns:
        joined.Add(text)
    joined.Add("")
    try:
        joined.Compile()
    except re2.error:
        return None
    return joined


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False  # RE2 would write to standard error, over the console
    return options


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
