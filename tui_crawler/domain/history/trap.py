"""Whether an origin looks like a trap: pages without end that say nothing new. Pure.

What speaks for it are links that the trap guard refused (docs/behaviour.md), and one pattern of paths that most of the
last pages share, each of which brings further pages while their titles repeat (docs/reliability.md). It is a suspicion:
nothing is refused because of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.domain.records.exit_code import AttemptKind

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import RefusedView
    from tui_crawler.domain.records.view import AttemptView

LEAST_PAGES = 30
"""So many pages of one pattern have to be seen before it is suspected."""

LEAST_REFUSED = 20
"""So many links the trap guard has to refuse; a few come from relative links that are written wrongly. Refusals of both
kinds are a sign by themselves."""

_SHARE, _GROWTH, _DISTINCT = 0.5, 0.9, 0.2
_NUMBER = re.compile(r"\d+")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}(?![0-9A-Za-z])")
_GUARDS = (("trap_repeat", "with a path segment more than 3 times"), ("trap_depth", "with more than 20 path segments"))


@dataclass(frozen=True, slots=True)
class TrapSuspicion:
    """The reason why an origin is suspected, in words (raw text); `sample_url` is one of the URLs that speak for it."""

    evidence: tuple[str, ...]
    sample_url: str


def guard_suspicions(refused: Iterable[RefusedView]) -> dict[str, TrapSuspicion]:
    """By origin: what the trap guard refused of the links on its pages. `refused` may be of many origins."""
    words = dict(_GUARDS)
    found: dict[str, list[RefusedView]] = {}
    for row in refused:
        if row.reason in words and row.count > 0:
            found.setdefault(row.origin, []).append(row)
    return {
        origin: TrapSuspicion(
            tuple(f"{row.count} {'link' if row.count == 1 else 'links'} {words[row.reason]}" for row in rows),
            rows[0].sample_url,
        )
        for origin, rows in found.items()
        if len(rows) > 1 or rows[0].count >= LEAST_REFUSED
    }


def suspect(origin: str, refused: Iterable[RefusedView], attempts: Sequence[AttemptView]) -> TrapSuspicion | None:
    """Return whether `origin` looks like a trap, by its refused links and its last attempts; None when it does not."""
    by_guard = guard_suspicions(row for row in refused if row.origin == origin).get(origin)
    by_shape = endless_shape(origin, attempts)
    parts = [part for part in (by_guard, by_shape) if part is not None]
    if not parts:
        return None
    return TrapSuspicion(tuple(words for part in parts for words in part.evidence), parts[-1].sample_url)


def shape_of(target: str) -> str:
    """Path and query of a URL with what counts up left open: `/calendar/{n}/{n}`."""
    return _NUMBER.sub("{n}", _HEX.sub("{n}", target))


def endless_shape(origin: str, attempts: Sequence[AttemptView]) -> TrapSuspicion | None:
    """Return whether most of these attempts are for pages of `origin` of one shape with new links and no news."""
    pages = [one for one in attempts if one.kind == AttemptKind.page and one.origin == origin and one.requests > 0]
    shapes = Counter(shape_of(_target(one)) for one in pages)
    shape, number = max(shapes.items(), key=lambda item: item[1], default=("", 0))
    if number < LEAST_PAGES or number < _SHARE * len(pages) or "{n}" not in shape:
        return None
    alike = [one for one in pages if shape_of(_target(one)) == shape]
    brought = sum(one.new_pages for one in alike)
    titles = len({_NUMBER.sub("", one.title) for one in alike})
    if brought < _GROWTH * number or titles > _DISTINCT * number:
        return None
    said = "one title" if titles == 1 else f"{titles} distinct titles"
    words = f"{shape}: {number} of the last {len(pages)} pages, {brought / number:.1f} new ones from each, {said}"
    return TrapSuspicion((words,), alike[0].url)


def _target(attempt: AttemptView) -> str:
    return attempt.url.removeprefix(attempt.origin) or "/"
