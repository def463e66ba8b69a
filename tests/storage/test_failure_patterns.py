"""Failed pages grouped by the pattern of their path: what differs from page to page is one placeholder."""

from __future__ import annotations

import pytest

from tests.storage.bench import SqliteBench
from tests.storage.making import T0, A, failed, plan
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.storage.reports import Reports


@pytest.mark.parametrize(
    ("paths", "pattern"),
    [
        (("/list/1/page-2?x=9", "/list/30/page-4"), "/list/{n}/page-{n}"),
        (("/sale%20now/1", "/sale%20now/2"), "/sale%20now/{n}"),
        (("/u/3f2504e0-4f89-11d3-9a0c-0305e82c3301.png", "/u/6FA459EA-EE8A-3CA4-894E-DB77E160355E.png"), "/u/{id}.png"),
        (("/by/d41d8cd98f00b204e9800998ecf8427e", "/by/0cc175b9c0f1b6a831c399e269772661"), "/by/{id}"),
        (("/2024-01-05/cafe", "/2025-11-30/cafe"), "/{n}-{n}-{n}/cafe"),
        (("/thread/old-photographs", "/thread/which-grease-for-2-bearings"), "/thread/{slug}"),
        (("/blog/7/first_snow.html", "/blog/12/a-late_frost.html"), "/blog/{n}/{slug}.html"),
    ],
)
async def test_what_differs_is_one_placeholder(paths: tuple[str, ...], pattern: str, sqlite_bench: SqliteBench) -> None:
    store = sqlite_bench.open()
    await store.begin_run(plan(*(A + path for path in paths)))
    for page in (await store.candidates(A, T0, 10, True)).pages:
        await store.settle(failed(page, T0, ExitCode.file_not_found, 404))
    reports = Reports(sqlite_bench.path)
    (group,) = reports.failure_groups(("pattern",), None)
    reports.close()
    assert (group.key, group.count) == ((("pattern", pattern),), len(paths))
