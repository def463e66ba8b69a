"""The coverage statement as lines of text: one where all is well, and few in any case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tui_crawler.text.format import count, plural
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.domain.history.coverage import Coverage

_SHOWN = 5  # entries of each list that are named; the others are counted


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """Whether the crawl is complete and why not, its pages, the seeds without a document, and what was refused by
    what, and which URLs have one content. Fit to print."""
    counts = (f"{count(number)} {name.replace('_', ' ')}" for name, number in coverage.pages.items() if number)
    pages = f"pages: {', '.join(counts) or '0 crawled'}"
    if coverage.complete:
        yield f"coverage: complete; {plural(coverage.seeds_total, 'seed')}; {pages}"
    else:
        yield f"coverage: not complete; {pages}"
        yield from _first([f"- {safe(reason, 500)}" for reason in coverage.reasons], len(coverage.reasons))
    if coverage.waived:
        yield f"  rules switched off: {safe(coverage.waived, 1_000)}"
    lost = coverage.lost
    yield from _first([f"seed {safe(one.url)}: {safe(one.message, 1_000)}" for one in lost], coverage.seeds_lost)
    refused = [one for one in coverage.refused if one.inside]
    groups = (
        f"refused at {safe(one.origin)}: {count(one.count)} × {one.reason}"
        f"{one.decided_by and ' by '}{safe(one.decided_by)}, for example {safe(one.sample_url)}"
        for one in refused
    )
    yield from _first(list(groups), len(refused))
    alike = (
        f"{'one content' if one.bytes else 'an empty body'} at {count(one.count)} URLs, for example {safe(one.urls[0])}"
        for one in coverage.same
    )
    yield from _first(list(alike), coverage.same_total)


def _first(lines: Sequence[str], total: int) -> Iterator[str]:
    yield from (f"  {line}" for line in lines[:_SHOWN])
    if total > _SHOWN:
        yield f"  … and {total - _SHOWN} more"
