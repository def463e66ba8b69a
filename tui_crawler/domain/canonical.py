"""Canonical claims: what becomes of a page that names another URL as canonical, by where that URL leads (CRAWL.md
section 9). Pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from tui_crawler.domain.exit_code import CRAWLED, ExitCode

_LED_ON = frozenset({ExitCode.permanent_redirect, ExitCode.redirect})
_CONTENT = (CRAWLED - _LED_ON) | {ExitCode.noindex}
_EMPTY = frozenset({204, 205, 300})


class ClaimState(IntEnum):
    """Whether a claim is `open`, `settled` (the canonical has content: the page is dropped), or leads `nowhere`; a page
    whose kept answer has been read after that has an `ignored` canonical."""

    open = 0
    nowhere = 1
    ignored = 2
    settled = 3


class Hop(NamedTuple):
    """A page that a canonical leads to. `waits`: it is still to be crawled; `to` is the URL (id) that it redirects to
    or names as canonical, `claim` the state of its own claim."""

    page_id: int
    code: ExitCode | None
    http_status: int | None
    waits: bool
    to: int | None
    claim: ClaimState | None


def decide(page_id: int, named: int, look: Callable[[int | None], Hop | None]) -> tuple[ClaimState, int]:
    """Return what becomes of the claim of a page that names a URL (id), and at which URL that was decided. `look` finds
    the page of a URL. A canonical on the way that leads nowhere is ignored itself: its page has the content."""
    url, seen, claimed = named, {page_id}, False
    while (hop := look(url)) is not None:
        if hop.page_id in seen:
            return ClaimState.nowhere, url
        seen.add(hop.page_id)
        if hop.claim is ClaimState.nowhere:
            return ClaimState.settled, url
        if hop.waits:
            return ClaimState.open, url
        names = hop.code is ExitCode.not_canonical
        if (hop.code in _CONTENT and hop.http_status not in _EMPTY) or (names and hop.claim is None):
            return ClaimState.settled, url
        if not (names or hop.code in _LED_ON) or hop.to is None:
            break
        url, claimed = hop.to, claimed or names
    return (ClaimState.settled if claimed else ClaimState.nowhere), url
