"""One URL: the way to it, attempts with their timings, links in windows, letters of an international host."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, MINUTE, NOW, page_detail
from tests.console.sample_relations import texts_of
from tests.console.support import Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import Lines, lay_out_line
from tui_crawler.console.url.rows import (
    TRIES,
    connection_words,
    idn_of,
    links_title,
    many_links,
    page_lines,
    path_lines,
    tries_of,
)
from tui_crawler.console.urls.queries import MOST_LINKS
from tui_crawler.domain.records.attempt import RequestRecord
from tui_crawler.domain.records.page_view import Hop, LinkEnd, LinkView

URL = f"{API}/v2/items?page=18"


def text_of(lines: list[Line], width: int = 80) -> str:
    return "\n".join(
        "".join(text for text, _ in pieces).rstrip() for line in lines for pieces in lay_out_line(line, width)
    )


async def open_url(held: Stage) -> None:
    held.app.go_to(Where.url, URL)
    await held.settle(3)


# the way to it


def test_the_shortest_path_is_a_tree_with_kind_time_and_depth() -> None:
    lines = text_of(path_lines(page_detail(), UTC), 60).splitlines()
    assert lines[0].split() == ["◆", "/", "seed", "depth", "0"]
    assert lines[1].startswith("↳ /v2/ ")
    assert lines[1].endswith("<a> 09:17 depth 1")
    assert lines[2].startswith("  ↳ /v2/items?page=17 ")
    assert lines[3].startswith("    ↳ /v2/items?page=18 ")
    assert lines[3].endswith("<a> 09:58 depth 3 ◀ shortest")
    assert "linked   from 12 pages, to 7" in lines


def test_depths_are_those_of_the_database_for_a_redirect_adds_none() -> None:
    detail = page_detail()
    first, moved, last = detail.path
    moved, last = replace(moved, kind="location", depth=1), replace(last, depth=2)
    detail = replace(detail, path=(first, moved, last))
    lines = text_of(path_lines(detail, UTC)).splitlines()
    assert [line.split("depth ")[1][:1] for line in lines[:4]] == ["0", "1", "1", "2"]
    assert "<location>" in lines[2]


def test_of_a_long_path_the_last_steps_are_drawn() -> None:
    steps = tuple(Hop(f"{API}/{n}", f"{API}/{n + 1}", "a", n + 1, NOW) for n in range(30))
    text = text_of(path_lines(replace(page_detail(), path=steps), UTC))
    assert "… 18 steps" in text
    assert "/30" in text
    assert "depth 30 ◀ shortest" in text
    assert "/18 " not in text


def test_a_seed_and_a_page_that_nobody_knows_the_way_to() -> None:
    detail = page_detail()
    seed = replace(detail, path=(), page=replace(detail.page, depth=0))
    assert text_of(path_lines(seed, UTC)).splitlines()[0].startswith("◆ a seed")
    assert "how it was found is not known" in text_of(path_lines(replace(detail, path=()), UTC))


async def test_in_one_column_the_path_stands_below_the_trace() -> None:
    async with stage((60, 20)) as held:
        await open_url(held)
        text = held.app.screen.query_one("#url-trace", Lines).text
        assert "Why is it here?" in text
        assert "depth 3 ◀ shortest" in text
    async with stage((120, 40)) as held:
        await open_url(held)
        assert "Why is it here?" not in held.app.screen.query_one("#url-trace", Lines).text


# international hosts


def test_the_letters_of_an_international_host_stand_beside_its_punycode() -> None:
    assert idn_of("https://xn--bcher-kva.example/a") == "bücher.example"
    assert idn_of("https://www.XN--bcher-kva.example:8443") == "www.bücher.example:8443"
    assert idn_of(URL) == ""
    for odd in ("https://xn--\u00e9.example/", "https://xn--99999999999.example/", "xn--", "https://xn--/", "a"):
        assert isinstance(idn_of(odd), str)
    page = replace(page_detail().page, url="https://xn--bcher-kva.example/")
    text = text_of(page_lines(page, UTC))
    assert "https://xn--bcher-kva.example/" in text
    assert "host     bücher.example" in text
    assert "as it is written" not in text_of(page_lines(page_detail().page, UTC))


def test_when_it_is_tried_next_is_said_by_the_trace_alone() -> None:
    """A number of tries tells nothing of it: the run may have considered the page already, or be over."""
    tried = replace(page_detail().page, attempts=1, attempts_remaining=2, not_before=0, due_at=NOW)
    text = text_of(page_lines(tried, UTC))
    assert "1 done, 2 left" in text
    assert not any(word in text for word in ("now", "next", "due"))
    assert "due" in text_of(page_lines(replace(tried, attempts_remaining=0), UTC))


def test_a_page_tells_its_message_else_what_its_code_means_and_nothing_that_is_not_known() -> None:
    page = replace(page_detail().page, size=0)
    text = text_of(page_lines(page, UTC))
    assert "message  no response head within 30.0 s" in text
    assert "408" not in text, "what a code means stands for a message, not beside it"
    assert "request_timeout\n" in text, "there was no status"
    assert "content  text/html; charset=utf-8" in text
    assert "no response head in time; 408" in text_of(page_lines(replace(page, message=""), UTC))


def test_letters_that_turn_the_line_round_are_spelled_out() -> None:
    host = "xn--" + "\u202egro".encode("punycode").decode()
    page = replace(page_detail().page, url=f"https://{host}/")
    assert "\u202e" in idn_of(page.url)
    assert "\u202e" not in text_of(page_lines(page, UTC))


# attempts


def test_attempts_tell_what_the_log_has_of_their_timing() -> None:
    newest, second, first = (texts_of(TRIES, one) for one in tries_of(page_detail()))
    assert (first["head"], first["total"], first["remote"], first["note"]) == (
        "600ms", "900ms", "203.0.113.7", "+7 pages  ",
    )  # fmt: skip
    assert (first["dns"], first["connect"], first["tls"]) == ("-", "kept", "-")
    assert (newest["number"], newest["head"], newest["total"]) == ("3", "-", "30.0s")
    assert (newest["dns"], newest["connect"], newest["tls"]) == ("1ms", "20ms", "31ms")
    assert newest["note"] == "patience 3→2  no response head within 30.0 s"
    assert (second["requests"], second["total"]) == ("2", "30.0s")
    assert newest["rules"] == "13"


def test_a_refusal_tells_who_decided_and_under_which_rules() -> None:
    detail = page_detail()
    refused = replace(
        detail.attempts[0], message="rule /x/: skip true", decided_by="my.yaml:31", ruleset_id=12, patience_after=3
    )
    (one,) = tries_of(replace(detail, attempts=(refused,), requests=()))
    cells = texts_of(TRIES, one)
    assert (cells["rules"], cells["note"]) == ("12", "rule /x/: skip true  my.yaml:31")


# connections


def steps(request: RequestRecord | None) -> list[str]:
    cells = texts_of(TRIES, replace(tries_of(page_detail())[0], request=request))
    return [cells[name] for name in ("dns", "connect", "tls")]


def test_a_kept_connection_a_step_not_taken_and_one_not_noted_look_different() -> None:
    new = page_detail().requests[0]
    assert steps(new) == ["1ms", "20ms", "31ms"]
    assert steps(replace(new, dns_ms=None, tls_ms=None)) == ["-", "20ms", "-"]
    kept = replace(new, dns_ms=None, connect_ms=None, tls_ms=None, connection_reused=True)
    assert steps(kept) == ["-", "kept", "-"]
    assert steps(replace(kept, connection_reused=None)) == ["?", "?", "?"]
    assert steps(None) == ["-", "-", "-"]


def test_the_words_of_a_connection() -> None:
    new = page_detail().requests[0]
    assert connection_words(new) == "new connection to 203.0.113.7: DNS 1ms, TCP 20ms, TLS 31ms"
    assert connection_words(replace(new, dns_ms=None, tls_ms=None)) == "new connection to 203.0.113.7: TCP 20ms"
    refused = replace(new, tls_ms=None, remote_address="")
    assert connection_words(refused) == "no connection was made: DNS 1ms, TCP 20ms"
    assert connection_words(replace(new, connection_reused=True)) == "kept connection to 203.0.113.7"
    older = replace(new, connection_reused=None)
    assert connection_words(older) == "connection to 203.0.113.7, its steps were not recorded"
    assert connection_words(replace(older, remote_address="")) == "connection, its steps were not recorded"


async def test_the_steps_stand_in_the_tables_and_beside_the_headers() -> None:
    async with stage((120, 40)) as held:
        await open_url(held)
        shown = held.table("#url-attempts").visible_columns
        assert shown == tuple(column.id for column in TRIES.columns if column.id != "requests")
        await held.press("url.tab_headers", rounds=3)
        assert "new connection to 203.0.113.7: DNS 1ms, TCP 20ms, TLS 31ms" in " ".join(sent_words(held).split())
        assert {"dns", "connect", "tls", "remote"} <= set(held.table("#url-requests").visible_columns)
    async with stage((80, 24)) as held:
        await open_url(held)
        await held.press("url.tab_attempts", rounds=3)
        shown = held.table("#url-attempts").visible_columns
        assert {"time", "exit", "status", "head", "total", "note"} <= set(shown)
        assert not {"dns", "connect", "tls"} & set(shown)
        await held.press("url.tab_headers", rounds=3)
        assert "new connection to 203.0.113.7: DNS 1ms" in sent_words(held)


def sent_words(held: Stage) -> str:
    return held.app.screen.query_one("#url-sent", Lines).text


# links


def test_a_table_of_links_says_which_of_how_many_it_shows() -> None:
    assert links_title("Links to it", 1, 12, 12) == "Links to it · 12"
    assert links_title("Links to it", 201, 200, 4_110) == "Links to it · 201–400 of 4 110"
    assert links_title("Links to it", 1, 200, MOST_LINKS) == "Links to it · 1–200 of 10 000+"
    assert many_links(MOST_LINKS - 1) == "9 999"


def many_ends(url: str, inward: bool) -> tuple[LinkEnd, ...]:
    if not inward:
        return ()
    return tuple(
        LinkEnd(LinkView(f"{API}/from/{n}", url, "a", False, "", NOW - n * MINUTE), f"From {n}", "redirect", (n, "a"))
        for n in range(1, 451)
    )


async def test_links_are_windows_read_only_where_they_are_shown() -> None:
    found = replace(page_detail(), inlink_count=450, outlink_count=0)
    async with stage((140, 40), reports=FakeReports(detail=lambda _: found, ends=many_ends)) as held:
        await open_url(held)
        assert not any(one.startswith("link_ends") for one in held.reports.asked)
        await held.press("url.tab_links", rounds=3)
        held.sees("Links to it · 1–200 of 450", "From 1")
        assert "✓ " in held.text() or "→ " in held.text()
        await held.press("list.older", rounds=3)
        held.sees("Links to it · 201–400 of 450", "From 201")
        await held.press("list.older", rounds=3)
        assert "Links to it · 401–450 of 450" in held.text()
        await held.press("list.older")
        assert "older rows: this is the end of the list" in held.text()
        await held.press("list.newer", "list.newer", rounds=3)
        assert "Links to it · 1–200 of 450" in held.text()
        await held.press("enter", rounds=2)
        assert held.app.screen._url == f"{API}/from/1"  # type: ignore[attr-defined]


async def test_links_show_the_titles_of_their_other_ends_and_how_those_ended() -> None:
    async with stage((160, 40)) as held:
        await open_url(held)
        await held.press("url.tab_links", rounds=3)
        text = held.text()
        for words in ("Items page 12", "User 3", "not tried", "nofollow", "Links to it · 12", "Links from it · 7"):
            assert words in text
        assert held.table("#url-outlinks").row_count == 7
