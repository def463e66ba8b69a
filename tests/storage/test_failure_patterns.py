"""Failed pages grouped by the pattern of their path: what differs from page to page is one placeholder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, B, failed, plan
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.reports.failures import _Failed, _gather_titles, _Group, _pattern, is_of_pattern, path_pattern
from tui_crawler.storage.reports.reports import Reports

TEN = ("north", "south", "east", "west", "attic", "cellar", "hall", "library", "chapel", "kitchen")
NAMES = (*TEN, "two-words", "page-2", "x")
PATHS = (
    *(folder + name + end for folder in ("/", "/a/", "/a/7/") for name in NAMES for end in ("", "/", ".html", "?q=1")),
    *("", "/", "/a", "//", "/a//", "/.x", "/a.b/c"),
)


async def fail(bench: DatabaseBench, *paths: str) -> None:
    store = bench.open()
    await store.begin_run(plan(*(A + path for path in paths)))
    for page in (await store.candidates(A, T0, 20, True)).pages:
        await store.settle(failed(page, T0, ExitCode.file_not_found, 404))


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
        (("/2025/first-snow/", "/2024/late-frost/"), "/{n}/{slug}/"),
        (("/stops/brewery-hill", "/stops/quay", "/stops/caf%C3%A9"), "/stops/{slug}"),
        (("/search?q=1", "/search?q=2"), "/search?*"),
        (tuple(f"/wing/{name}" for name in TEN), "/wing/{slug}"),
        (tuple(f"/wing/{name}.html" for name in TEN), "/wing/{slug}.html"),
    ],
)
async def test_what_differs_is_one_placeholder(
    paths: tuple[str, ...], pattern: str, database_bench: DatabaseBench, database_reports: Reports
) -> None:
    await fail(database_bench, *paths)
    (group,) = database_reports.failure_count(("pattern",), None).groups
    assert (group.key, group.count) == ((("pattern", pattern),), len(paths))
    assert group.sample_url == A + paths[0]


async def test_single_words_stay_where_no_title_is_beside_them_or_they_take_a_query(
    database_bench: DatabaseBench, database_reports: Reports
) -> None:
    few = [f"/wing/{name}" for name in TEN[:9]]
    await fail(database_bench, *few, "/search?q=1", "/search", "/about-us", "/list/7", "/wing/deep/old-stairs")
    groups = database_reports.failure_count(("pattern",), None).groups
    assert {group.key[0][1]: group.count for group in groups} == {
        **dict.fromkeys(few, 1),
        "/{slug}": 2,
        "/search?*": 1,
        "/list/{n}": 1,
        "/wing/deep/{slug}": 1,
    }


async def test_words_go_to_the_titles_of_their_own_origin_and_exit_code(
    database_bench: DatabaseBench, database_reports: Reports
) -> None:
    store = database_bench.open()
    await store.begin_run(plan(f"{A}/stops/brewery-hill", f"{A}/stops/quay", f"{B}/stops/quay"))
    for origin in (A, B):
        for page in (await store.candidates(origin, T0, 10, True)).pages:
            await store.settle(failed(page, T0, ExitCode.file_not_found, 404))
    groups = database_reports.failure_count(("origin", "exit_code", "pattern"), None).groups
    assert [(group.key[0][1], group.key[2][1], group.count) for group in groups] == [
        (A, "/stops/{slug}", 2),
        (B, "/stops/quay", 1),
    ]


@given(st.from_regex(r"/[0-9a-f%?./-]{0,60}", fullmatch=True), st.permutations("0123456789"))
def test_which_digits_they_are_makes_no_difference(path: str, digits: list[str]) -> None:
    others = path if "%" in path else path.translate(str.maketrans("0123456789", "".join(digits)))
    plain = _pattern.__wrapped__(*(path.partition("?")[0], "?" in path))
    assert path_pattern(A + path, A) == path_pattern(A + others, A) == plain


@given(st.lists(st.sampled_from(PATHS), unique=True, min_size=1))
def test_a_window_of_a_group_has_the_pages_that_were_counted(paths: list[str]) -> None:
    groups: dict[tuple[str, ...], _Group] = {}
    for path in paths:
        row = _Failed(1, 44, 404, A, A + path, "", T0, 0, 0, T0, 0, 0, 1)
        groups.setdefault((path_pattern(A + path, A),), _Group(A + path, T0)).add(row, 0)
    _gather_titles(groups, 0)
    for (pattern,), group in groups.items():
        assert group.count == sum(is_of_pattern(A + path, A, pattern) for path in paths), pattern
    assert sum(group.count for group in groups.values()) == len(paths)
