"""What becomes of a canonical claim, by the pages on the way from it."""

from __future__ import annotations

import pytest

from tui_crawler.domain.crawl.canonical import CanonicalHop, ClaimState, decide
from tui_crawler.domain.records.exit_code import ExitCode

X, S = ExitCode, ClaimState
PAGE = 1  # the page that claims; it names the URL 2, which is that of page 2


def hop(
    page: int, code: ExitCode | None, to: int | None = None, claim: ClaimState | None = None, *, waits: bool = False
) -> CanonicalHop:
    status = None if code is None else {X.file_not_found: 404, X.permanent_redirect: 301}.get(code, 200)
    return CanonicalHop(page, code, status, waits, to, claim)


BACK = hop(PAGE, X.not_canonical, 2, S.open)
CASES: dict[str, tuple[list[CanonicalHop], tuple[ClaimState, int]]] = {
    "content": ([hop(2, X.file_ingested)], (S.settled, 2)),
    "not-modified": ([hop(2, X.file_did_not_change)], (S.settled, 2)),
    "content-with-an-ignored-canonical": ([hop(2, X.file_ingested, 3, S.ignored)], (S.settled, -1)),
    "content-that-names-the-page": ([hop(2, X.file_ingested, PAGE, S.ignored), BACK], (S.nowhere, PAGE)),
    "no-page": ([], (S.nowhere, -1)),
    "pending": ([hop(2, None, waits=True)], (S.open, 2)),
    "failed": ([hop(2, X.file_not_found)], (S.nowhere, 2)),
    "redirect-to-content": ([hop(2, X.permanent_redirect, 3), hop(3, X.file_ingested)], (S.settled, 3)),
    "redirect-to-what-waits": ([hop(2, X.permanent_redirect, 3), hop(3, None, waits=True)], (S.open, 3)),
    "redirect-out": ([hop(2, X.permanent_redirect, 3)], (S.nowhere, -1)),
    "redirect-without-target": ([hop(2, X.permanent_redirect)], (S.nowhere, 2)),
    "redirect-back": ([hop(2, X.permanent_redirect, PAGE), BACK], (S.nowhere, PAGE)),
    "circle": ([hop(2, X.permanent_redirect, 3), hop(3, X.permanent_redirect, 2)], (S.nowhere, 2)),
    "each-other": ([hop(2, X.not_canonical, PAGE, S.open), BACK], (S.nowhere, PAGE)),
    "each-other-decided": ([hop(2, X.not_canonical, PAGE, S.nowhere, waits=True), BACK], (S.nowhere, PAGE)),
    "dropped": ([hop(2, X.not_canonical, 3)], (S.settled, 2)),
    "chain-that-waits": ([hop(2, X.not_canonical, 3, S.open), hop(3, None, waits=True)], (S.open, 3)),
    "chain-to-nothing": ([hop(2, X.not_canonical, 3, S.open), hop(3, X.file_gone)], (S.settled, 3)),
    "into-a-loop": (
        [hop(2, X.not_canonical, 3, S.open), hop(3, X.not_canonical, 2, S.open)],
        (S.settled, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_decided_by_where_it_leads(name: str) -> None:
    hops, wanted = CASES[name]
    assert decide(PAGE, 2, {one.page_id: one for one in hops}.get) == wanted


@pytest.mark.parametrize("status", [204, 205, 300])
def test_an_answer_without_a_body_is_no_content(status: int) -> None:
    empty = CanonicalHop(2, X.file_of_unknown_type, status, False, None, None)
    assert decide(PAGE, 2, {2: empty}.get) == (S.nowhere, 2)
