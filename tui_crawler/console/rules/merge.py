"""A text that two operators changed at once, merged line by line as git does. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from tui_crawler.text.rules_text import bare_line


@dataclass(frozen=True, slots=True)
class Merge:
    """The merged lines. Where both sides changed the same ones both are there, between markers; `conflicts` of them."""

    lines: tuple[str, ...]
    conflicts: int


def merge(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str], name: str) -> Merge:
    """Return the text of both sides, each made of `base`; `name` is what the markers call theirs.

    Where an entry was written (the comment behind it) does not count.
    """
    in_mine, in_theirs = _places(base, mine), _places(base, theirs)
    lines: list[str] = []
    conflicts = at = at_mine = at_theirs = 0
    for place in [*(place for place in range(len(base)) if place in in_mine and place in in_theirs), len(base)]:
        to_mine, to_theirs = in_mine.get(place, len(mine)), in_theirs.get(place, len(theirs))
        own, other = mine[at_mine:to_mine], theirs[at_theirs:to_theirs]
        if place == at:  # both put something in: what they put in alike is no conflict
            pairs = zip(map(bare_line, own), map(bare_line, other), strict=False)
            alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            lines += other[:alike]
            own, other = own[alike:], other[alike:]
        before, bare_own, bare_other = ([*map(bare_line, some)] for some in (base[at:place], own, other))
        if bare_own in (before, bare_other):
            lines += other
        elif bare_other == before:
            lines += own
        else:
            conflicts += 1
            lines += ["<<<<<<< mine", *own, "=======", *other, f">>>>>>> {name}"]
        lines += theirs[to_theirs : to_theirs + 1] if place < len(base) else ()
        at, at_mine, at_theirs = place + 1, to_mine + 1, to_theirs + 1
    return Merge(tuple(lines), conflicts)


def _places(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Where lines of the base are in another text, as far as both have them in the same order."""
    from difflib import SequenceMatcher  # noqa: PLC0415  most drafts meet no other version

    matcher = SequenceMatcher(None, [*map(bare_line, base)], [*map(bare_line, other)], autojunk=False)
    blocks = matcher.get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}
