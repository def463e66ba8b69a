"""Whether a page passes a filter, said once more in plain Python: what queries and stand-ins are held against."""

from __future__ import annotations

from typing import assert_never

from tui_crawler.domain.records.page_view import PageView
from tui_crawler.domain.rules.page_filter import (
    ExitTerm,
    Measure,
    NumberTerm,
    PageFilter,
    StateTerm,
    Term,
    TextOf,
    TextTerm,
    state_of,
)
from tui_crawler.domain.rules.pattern import Pattern


def passes(narrowing: PageFilter, page: PageView, origins: frozenset[str]) -> bool:
    """`origins` are all there are: a name that is one of them means no other."""
    return all(_holds(term, page, origins) is not term.inverted for term in narrowing.terms)


def _holds(term: Term, page: PageView, origins: frozenset[str]) -> bool:
    match term:
        case TextTerm(of=of, texts=texts):
            fits = {
                TextOf.in_title: lambda text: text.lower() in page.title.lower(),
                TextOf.in_url: lambda text: text.lower() in page.url.lower(),
                TextOf.as_pattern: lambda text: Pattern(text).search(page.url),
                TextOf.of_origin: lambda text: _means(text.rstrip("/"), page.origin, origins),
            }
            return any(map(fits[of], texts))
        case ExitTerm(codes=codes, never=never):
            return page.last_exit_code in {code.name for code in codes} or (never and not page.last_exit_code)
        case StateTerm(states=states):
            return state_of(page) in states
        case NumberTerm(measure=measure, spans=spans, none=none):
            number = page.depth if measure is Measure.depth else page.last_http_status
            return none if number is None else any(first <= number <= last for first, last in spans)
        case _:
            assert_never(term)


def _means(name: str, origin: str, origins: frozenset[str]) -> bool:
    exact = {name, f"https://{name}", f"http://{name}"} & origins
    return origin in exact if exact else name in origin.lower()
