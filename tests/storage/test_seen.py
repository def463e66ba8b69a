"""The seen index: exact where it says so; as a Bloom filter never wrong about what it knows."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.workbench import Workbench
from tests.support.patience import PATIENT_S
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.crawl.counters import mark
from tui_crawler.storage.models import Job, Origin, Page, SeenFilter, Url
from tui_crawler.storage.queue.seen import SeenIndex, SeenSettings, open_seen, pages_among
from tui_crawler.storage.queue.sorter import Sorter

ROOT = Path(__file__).parents[2]
LOW, HIGH = -(2**63), 2**63 - 1
BLOOM = SeenSettings("bloom", 1_000, 0.001)
KEYS = st.integers(LOW, HIGH)


@pytest.fixture
def sorter() -> Iterator[Sorter]:
    made = Sorter()
    yield made
    made.close()


def add_pages(workbench: Workbench, *found: tuple[int, int]) -> None:
    """Pages of these jobs with these hashes, as bare as they can be."""

    def work(transaction: object) -> None:
        for job_id, key in found:
            for model, values in (
                (Job, {Job.id: job_id, Job.name: f"job {job_id}"}),
                (Origin, {Origin.id: 1, Origin.origin: "https://a.example"}),
                (Url, {Url.hash: key, Url.href: f"https://a.example/{key}"}),
            ):
                transaction.execute(model.insert(values).on_conflict("ignore"))  # type: ignore[attr-defined]
            row = {Page.job: job_id, Page.origin: 1, Page.url: Url.select(Url.id).where(Url.hash == key)}
            transaction.execute(Page.insert(row))  # type: ignore[attr-defined]
            transaction.execute(Origin.update({Origin.pages_known: Origin.pages_known + 1}))  # type: ignore[attr-defined]

    workbench.work(work)


def opened(workbench: Workbench, settings: SeenSettings, sorter: Sorter) -> SeenIndex:
    return open_seen(settings, workbench.transaction(), sorter)


def saved(workbench: Workbench, index: SeenIndex, last_segment: int = 0) -> None:
    workbench.work(lambda work: index.save(work, last_segment))


@pytest.mark.parametrize("kind", ["database", "memory", "bloom"])
def test_pages_and_what_waits_are_known_to_their_job_alone(workbench, sorter, kind):
    add_pages(workbench, (1, 5), (1, LOW), (1, HIGH), (2, 5), (2, 6))
    index = opened(workbench, SeenSettings(kind, 1_000, 1e-9), sorter)
    index.take_waiting(1, [7, 8])
    keys = [LOW, 0, 5, 6, 7, 8, 9, HIGH]
    assert index.known(1, keys) == {LOW, 5, 7, 8, HIGH}
    assert index.known(2, keys) == {5, 6}
    assert index.known(3, keys) == set()
    assert index.known(1, []) == set()
    assert index.warnings == ()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sets(st.tuples(st.integers(1, 2), KEYS), max_size=30),
    st.sets(st.tuples(st.integers(1, 2), KEYS), max_size=30),
    st.sets(KEYS, max_size=30),
)
def test_the_exact_ones_agree_and_the_filter_knows_no_less(template, tmp_path_factory, pages, waiting, others):
    path = tmp_path_factory.mktemp("seen") / "crawl.db"
    path.write_bytes(template.read_bytes())
    workbench = Workbench(path)
    add_pages(workbench, *sorted(pages))
    for job_id in (1, 2):
        asked = sorted(others | {key for _, key in pages | waiting})
        exact = {key for job, key in pages | waiting if job == job_id}
        for kind in ("database", "memory", "bloom"):
            sorter = Sorter()
            index = opened(workbench, SeenSettings(kind, 1_000, 0.1), sorter)
            for job in (1, 2):
                index.take_waiting(job, sorted(key for j, key in waiting if j == job))
            known = index.known(job_id, asked)
            assert known >= exact
            assert known == exact or kind == "bloom"
            sorter.close()
    workbench.close()


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["page", "waiting", "found"]), st.sets(KEYS, max_size=20)), max_size=6))
def test_what_a_filter_was_ever_told_it_knows_for_ever(template, tmp_path_factory, steps):
    """Pages that came between two builds, what waits, what a build has found: through any number of builds."""
    path = tmp_path_factory.mktemp("seen") / "crawl.db"
    path.write_bytes(template.read_bytes())
    workbench = Workbench(path)
    told: set[int] = set()
    for kind, keys in steps:
        sorter = Sorter()
        if kind == "page":
            add_pages(workbench, *((1, key) for key in sorted(keys - told)))
        index = opened(workbench, SeenSettings("bloom", 100, 0.01), sorter)
        if kind == "waiting":
            index.take_waiting(1, sorted(keys))
        if kind == "found":
            index.add((1, key) for key in keys)
        saved(workbench, index)
        told |= keys
        assert index.known(1, sorted(told)) == told
        sorter.close()
    workbench.close()


def test_the_error_rate_of_a_full_filter_is_about_what_was_asked_for(workbench, sorter):
    dice = random.Random(1)
    for rate in (0.01, 0.1):
        index = opened(workbench, SeenSettings("bloom", 20_000, rate), sorter)
        index.add((1, dice.randint(LOW, HIGH)) for _ in range(20_000))
        wrong = len(index.known(1, [dice.randint(LOW, HIGH) for _ in range(50_000)])) / 50_000
        assert rate / 2 < wrong < rate * 1.5
        other_job = len(index.known(2, [dice.randint(LOW, HIGH) for _ in range(20_000)])) / 20_000
        assert other_job < rate * 1.5


def test_the_same_urls_of_two_jobs_are_apart(workbench, sorter):
    index = opened(workbench, BLOOM, sorter)
    keys = [random.Random(2).randint(LOW, HIGH) for _ in range(500)]
    index.add((1, key) for key in keys)
    assert index.known(1, keys) == set(keys)
    assert len(index.known(2, keys)) < 10


def test_it_is_full_when_it_holds_its_capacity(workbench, sorter):
    index = opened(workbench, SeenSettings("bloom", 10, 1e-9), sorter)
    index.add((1, key) for key in range(9))
    index.add((1, key) for key in range(9))
    assert index.warnings == (), "what it knows counts once"
    index.add([(1, 9)])
    assert "holds 10 URLs and was made for 10" in index.warnings[0]
    saved(workbench, index)
    assert opened(workbench, SeenSettings("bloom", 10, 1e-9), sorter).warnings


def test_it_is_kept_with_its_parameters(workbench, sorter):
    index = opened(workbench, BLOOM, sorter)
    index.add([(1, 5)])
    saved(workbench, index, last_segment=4)
    again = opened(workbench, BLOOM, sorter)
    assert again.known(1, [5, 6]) == {5}
    assert again.after_segment == 4
    rows = workbench.transaction().fetch(
        SeenFilter.select(SeenFilter.capacity, SeenFilter.error_rate, SeenFilter.count)
    )
    assert rows == [(1_000, 0.001, 1)]


@pytest.mark.parametrize("changed", [SeenSettings("bloom", 2_000, 0.001), SeenSettings("bloom", 1_000, 0.002)])
def test_with_other_parameters_it_is_made_anew_from_the_pages(workbench, sorter, changed):
    add_pages(workbench, (1, 1), (1, 2))
    index = opened(workbench, BLOOM, sorter)
    index.add([(1, 5)])
    saved(workbench, index, last_segment=4)
    anew = opened(workbench, changed, sorter)
    assert anew.known(1, [1, 2, 5]) == {1, 2}
    assert anew.after_segment == 0, "and from every segment that waits"
    saved(workbench, anew)
    assert workbench.transaction().fetch(SeenFilter.select(SeenFilter.capacity, SeenFilter.error_rate)) == [
        (changed.capacity, changed.error_rate)
    ]


@pytest.mark.parametrize("bits", [b"", b"short", b"\0" * 8, b"\xff" * 1_808])
def test_a_filter_that_is_damaged_is_made_anew(workbench, sorter, bits):
    add_pages(workbench, (1, 1))
    saved(workbench, opened(workbench, BLOOM, sorter), last_segment=4)
    workbench.work(lambda work: work.execute(SeenFilter.update({SeenFilter.bits: sqlite3.Binary(bits)})))
    anew = opened(workbench, BLOOM, sorter)
    assert (anew.known(1, [1]), anew.after_segment) == ({1}, 0)


def test_a_filter_that_the_database_could_not_keep_is_refused(workbench, sorter):
    with pytest.raises(StorageFailure, match=r"17139 MiB.*lower capacity"):
        opened(workbench, SeenSettings("bloom", 10_000_000_000, 0.001), sorter)


OTHER_PROCESS = """
import sys
from tui_crawler.domain.records.database_place import PostgresPlace, is_server_url
from pathlib import Path
from tests.storage.workbench import Workbench
from tui_crawler.storage.queue.seen import SeenSettings, open_seen
from tui_crawler.storage.queue.sorter import Sorter
place = PostgresPlace if is_server_url(sys.argv[1]) else Path
workbench = Workbench(place(sys.argv[1]))
index = open_seen(SeenSettings("bloom", 1_000, 0.001), workbench.transaction(), Sorter())
print(sorted(index.known(1, [*range(-50, 50)])))
"""


def test_another_process_knows_the_same(workbench, sorter):
    index = opened(workbench, BLOOM, sorter)
    index.add((1, key) for key in range(-50, 50, 5))
    saved(workbench, index)
    expected = sorted(index.known(1, [*range(-50, 50)]))
    assert set(range(-50, 50, 5)) <= set(expected)
    command = [sys.executable, "-c", OTHER_PROCESS, str(workbench.place)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=PATIENT_S, check=True, cwd=ROOT)
    assert said.stdout.strip() == str(expected)


def test_pages_are_read_in_windows(workbench, sorter, monkeypatch):
    monkeypatch.setattr("tui_crawler.storage.queue.seen._WINDOW", 3)
    add_pages(workbench, *((job, key) for key in range(5) for job in (1, 2)))
    for kind in ("memory", "bloom"):
        index = opened(workbench, SeenSettings(kind, 1_000, 1e-9), sorter)
        assert index.known(1, range(9)) == index.known(2, range(9)) == set(range(5))
    saved(workbench, index)
    assert mark(workbench.transaction(), "seen_page") == 10
    assert pages_among(workbench.transaction(), 1, range(9)) == set(range(5))
