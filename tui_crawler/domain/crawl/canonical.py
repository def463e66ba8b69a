"""Canonical claims: what becomes of a page by where the URL that it names as canonical leads (docs/behaviour.md)."""

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from tui_crawler.domain.records.exit_code import CRAWLED, ExitCode

_LED_ON = frozenset({ExitCode.permanent_redirect, ExitCode.redirect})
_CONTENT = (CRAWLED - _LED_ON) | {ExitCode.noindex, ExitCode.not_canonical}  # dropped for a canonical with content
_EMPTY = frozenset({204, 205, 300})


class ClaimState(IntEnum):
    """The state of a claim: `open`; `nowhere` while the page's kept answer is still to be read, `ignored` after that;
    `settled`: the canonical has content, the page is dropped."""

    open = 0
    nowhere = 1
    ignored = 2
    settled = 3


class CanonicalHop(NamedTuple):
    """A page that a canonical leads to. `waits`: it is still to be crawled; `to` is the URL (id) that it redirects to
    or claims as canonical, `claim` the state of its own claim."""

    page_id: int
    code: ExitCode | None
    http_status: int | None
    waits: bool
    to: int | None
    claim: ClaimState | None


def decide(page_id: int, named: int, look: Callable[[int], CanonicalHop | None]) -> tuple[ClaimState, int]:
    """Return what becomes of the claim of a page that names a URL (id), and which page decided it (-1: none). `look`
    finds the page of a URL. A canonical on the way that leads nowhere is ignored itself: its page has the content."""
    at, seen, passed, to = -1, set[int](), False, named
    while (hop := look(to)) is not None:
        at = hop.page_id
        if at == page_id:
            return ClaimState.nowhere, at
        if at in seen:
            break
        seen.add(at)
        if hop.waits and hop.claim is not ClaimState.nowhere:
            return ClaimState.open, at
        if hop.claim is None and hop.code in _CONTENT and hop.http_status not in _EMPTY:
            return ClaimState.settled, at
        if hop.to is None or (hop.claim is None and hop.code not in _LED_ON):
            break
        passed, to, at = passed or hop.claim is not None, hop.to, -1
    return (ClaimState.settled if passed else ClaimState.nowhere), at
