"""Hostile text at the edge of the database."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, attempt, crawled, document, link, outcome, plan, record, request, seed
from tui_crawler.domain.records.attempt import RefusedCount, Settle
from tui_crawler.domain.records.command import AddSeeds
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.reports.reports import Reports

HOSTILE = "a\0b\ud800c\udfff \U0001f600 \x1b[31m ]"


@given(st.text(st.characters(codec=None, categories=None)))
def test_what_is_cleaned_can_be_stored_and_stays_so(text):
    cleaned = clean(text)
    assert "\0" not in cleaned
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_what_can_be_stored_is_not_touched(text):
    assert clean(text) is text or clean(text) == text


def test_surrogates_that_belong_together_are_one_character():
    assert clean("\ud83d\ude00") == "\U0001f600"
    assert clean("\ud83d") == "\ufffd"
    assert clean("a\0b") == "a\ufffdb"


async def test_hostile_text_everywhere_is_stored_and_read_back(database_bench: DatabaseBench):
    store = database_bench.open()
    await store.begin_run(
        plan(f"{A}/", config_name=HOSTILE, user_agent=HOSTILE, job=HOSTILE, config_text=HOSTILE, worker=HOSTILE)
    )
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    asked = request(home.url, T0, error=HOSTILE, request_headers=((HOSTILE, HOSTILE),), remote_address=HOSTILE)
    settle = crawled(
        home,
        T0,
        attempt=attempt(home, ExitCode.file_ingested, T0, message=HOSTILE, decided_by=HOSTILE, requests=(asked,)),
        document=document(home, title=HOSTILE, etag=HOSTILE, content_type=HOSTILE, charset=HOSTILE),
        links=(link(f"{A}/x", text=HOSTILE),),
        refused=(RefusedCount("invalid_url", 1, "http://" + HOSTILE),),
    )
    await store.settle(settle)
    odd = "http://a.example/" + HOSTILE
    refused = attempt(
        home, ExitCode.local_processing_error, T0 + 1, None, url=odd, requests=(request(odd, T0 + 1, None),)
    )
    left = outcome(home, ExitCode.local_processing_error, T0 + 1, None)
    await store.settle(Settle(refused, record(in_flight_url=HOSTILE), left))
    await store.add_pages((seed(f"{A}/item", item_pattern=HOSTILE),), "")
    database_bench.ask(AddSeeds((HOSTILE,), pattern=HOSTILE))
    (action,) = await store.take_actions()
    assert action.command == AddSeeds((HOSTILE,), pattern=HOSTILE)
    reports = Reports(database_bench.place)
    detail = reports.page_detail(home.url)
    assert detail.page.title == clean(HOSTILE)
    assert detail.outlinks[0].text == clean(HOSTILE)
    assert reports.requests(1)[0].request_headers == ((HOSTILE, HOSTILE),)
    assert [row.url for row in reports.attempts()] == [clean(odd), home.url]
    assert reports.refused()[0].sample_url == "http://" + clean(HOSTILE)
    assert reports.run().config_name == clean(HOSTILE)  # type: ignore[union-attr]  # there is a run
    reports.close()
