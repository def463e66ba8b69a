"""Completing what is typed: the words that fit, what they share, and going through them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile


@dataclass(frozen=True, slots=True)
class Completion:
    """The words that may stand from `start` up to the cursor, the likeliest first; `about` is said of them."""

    start: int
    words: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is put in: one of the words by its `place`, or what all of them share (None)."""

    offered: Completion
    place: int | None

    @property
    def word(self) -> str:
        """The text that is put in from `offered.start` on."""
        words = self.offered.words
        return shared_beginning(words) if self.place is None else words[self.place]

    def turned(self, step: int) -> Choice:
        """The word after (1) or before (-1) this one, round the end."""
        return replace(self, place=((self.place or 0) + step) % len(self.offered.words))


def choose(offered: Completion, fragment: str, step: int = 1) -> Choice | None:
    """What tab (1) or shift+tab (-1) makes of `fragment`: what all words share, if that is more, else a word of them.

    None when nothing fits, or nothing but what is there.
    """
    words = offered.words
    if not words or words == (fragment,):
        return None
    shared = shared_beginning(words)
    if len(words) > 1 and len(shared) > len(fragment) and shared.casefold().startswith(fragment.casefold()):
        return Choice(offered, None)
    if fragment in words:
        return Choice(offered, words.index(fragment)).turned(step)
    return Choice(offered, 0 if step > 0 else len(words) - 1)


def shared_beginning(words: tuple[str, ...]) -> str:
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*words, strict=False))
    return "".join(letters[0] for letters in same)
