"""Which of many pages that are put back come next: few over all origins, and every origin has its share of them."""

from __future__ import annotations

import pytest

from tests.storage.making import T0, A, B, C, failed, fill_of, plan, record
from tests.support import memory_store
from tui_crawler.domain.records.command import RetryPages
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import PutBack
from tui_crawler.storage.crawl import retrying


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (retrying, memory_store):
        monkeypatch.setattr(module, "RETRIED_NEXT", 3)
        monkeypatch.setattr(module, "RETRIED_AT_ONCE", 5)
    for name, size in (("_WINDOW", 4), ("_PIECE", 3), ("_LOOK", 2), ("_SPAN", 3), ("_CHUNK", 2)):
        monkeypatch.setattr(retrying, name, size)


async def put_back(store, selection: RetryPages, **numbers: int) -> PutBack:
    """So many pages of each origin have failed, and are put back."""
    origins = {"a": A, "b": B, "c": C}
    urls = [f"{origins[key]}/{n}" for key, number in numbers.items() for n in range(number)]
    await store.begin_run(plan(*urls))
    for key in numbers:
        for page in (await store.candidates(origins[key], T0, 100, False)).pages:
            await store.settle(failed(page, T0, ExitCode.file_not_found, 404))
    await store.retry(selection)
    return await store.put_back(selection)


def found(answer: PutBack) -> dict[str, list[str]]:
    return {origin: [page.url.rpartition("/")[2] for page in pages] for origin, pages in answer.origins}


async def test_one_origin_has_no_more_than_its_own_bound(bench):
    assert found(await put_back(bench.open(), RetryPages(), a=4)) == {A: ["0", "1", "2"]}


async def test_the_first_of_every_origin_comes_before_the_second_of_any(bench):
    answer = await put_back(bench.open(), RetryPages(), a=9, b=1, c=9)
    assert found(answer) == {A: ["0", "1"], B: ["0"], C: ["0", "1"]}
    assert answer.listed == frozenset()


@pytest.mark.parametrize(
    ("a", "next_of_a", "next_of_b"), [(2, ["0", "1"], ["0", "1", "2"]), (3, ["0", "1", "2"], ["0", "1"])]
)
async def test_what_is_left_over_goes_to_those_who_have_more_and_wait_longest(bench, a, next_of_a, next_of_b):
    assert found(await put_back(bench.open(), RetryPages(), a=a, b=9)) == {A: next_of_a, B: next_of_b}


async def test_urls_that_are_named_share_in_the_same_way(bench):
    """Many of them are asked for in pieces: the shares are those of all pieces together."""
    urls = tuple(f"{origin}/{n}" for origin in (A, B, C) for n in range(4))
    answer = await put_back(bench.open(), RetryPages(urls=urls), a=5, b=5, c=1)
    assert found(answer) == {A: ["0", "1"], B: ["0", "1"], C: ["0"]}


async def test_the_others_wait_for_the_usual_order(bench):
    store = bench.open()
    answer = await put_back(store, RetryPages(), a=6)
    assert len(found(answer)[A]) == 3
    assert len((await store.candidates(A, T0, 100, False)).pages) == 6


async def test_what_is_put_first_comes_before_the_todo_list_however_often(bench):
    """Each page stands there once, what was on the list keeps its place, and the next start finds it all."""
    store = bench.open()
    await store.begin_run(plan(*(f"{A}/{n}" for n in range(8)), f"{B}/0"))
    pages = (await store.candidates(A, T0, 100, False)).pages
    ids = [page.page_id for page in pages]
    await store.fill(fill_of(pages[:3]))
    await store.put_first([(record(patience=4), (ids[5], ids[1]))])
    of_b = (await store.candidates(B, T0, 1, False)).pages[0].page_id
    await store.put_first([(record(patience=3), (ids[7],)), (record(B), (of_b,))])
    assert [page.page_id for page in (await store.candidates(A, T0, 100, False)).pages] == [ids[3], ids[4], ids[6]]
    bench.crash()
    start = await bench.open().begin_run(plan(*(f"{A}/{n}" for n in range(8)), f"{B}/0"))
    a, b = sorted(start.origins, key=lambda origin: origin.record.origin)
    assert [page.page_id for page in a.todo] == [ids[7], ids[5], ids[1], ids[0], ids[2]]
    assert a.record.patience == 3
    assert len(b.todo) == 1
