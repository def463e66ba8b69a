"""Dates of documents: W3C, RFC 3339, RFC 822; nonsense is no date and never an exception."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.crawl.recrawl import parse_http_date
from tui_crawler.fetch.headers import is_rfc_3339, w3c_date_ms


def ms(*parts: int) -> int:
    return round(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type, misc]  # year, month, …


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024", ms(2024, 1, 1)),
        ("2024-03", ms(2024, 3, 1)),
        ("2024-03-05", ms(2024, 3, 5)),
        (" 2024-03-05\n", ms(2024, 3, 5)),
        ("2024-03-05T06:07Z", ms(2024, 3, 5, 6, 7)),
        ("2024-03-05T06:07:08Z", ms(2024, 3, 5, 6, 7, 8)),
        ("2024-03-05T06:07:08.25Z", ms(2024, 3, 5, 6, 7, 8) + 250),
        ("2024-03-05T06:07:08.123456789+00:00", ms(2024, 3, 5, 6, 7, 8) + 123),
        ("2024-03-05T06:07:08+02:30", ms(2024, 3, 5, 3, 37, 8)),
        ("2024-03-05T06:07:08-0330", ms(2024, 3, 5, 9, 37, 8)),
        ("2024-03-05 06:07:08", ms(2024, 3, 5, 6, 7, 8)),
        ("2024-03-05t06:07:60z", ms(2024, 3, 5, 6, 7, 59)),
        ("9999-12-31T23:59:59Z", ms(9999, 12, 31, 23, 59, 59)),
        ("9999-12-31T23:59:59-01:00", None),
        ("0001-01-01T00:00:00+01:00", None),
        ("10000-01-01", None),
        ("0000-01-01", None),
        ("2024-13-01", None),
        ("2024-02-30", None),
        ("2024-2-3", None),
        ("2024-03-05T25:00Z", None),
        ("2024-03-05T06Z", None),
        ("2024-03-05T06:07:08+99:00", None),
        ("２０２４-03-05", None),
        ("yesterday", None),
        ("", None),
        ("2024-03-05" + " " * 100, None),
    ],
)
def test_w3c_dates(text: str, moment: int | None) -> None:
    assert w3c_date_ms(text) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Tue, 05 Mar 2024 06:07:08 GMT", ms(2024, 3, 5, 6, 7, 8)),
        ("Tue, 05 Mar 2024 06:07:08 +0200", ms(2024, 3, 5, 4, 7, 8)),
        ("5 Mar 2024 06:07", ms(2024, 3, 5, 6, 7)),
        ("Tue, 32 Mar 2024 06:07:08 GMT", None),
        ("Tue, 05 Mar 99999 06:07:08 GMT", None),
        ("2024-03-05", None),
        ("", None),
        ("x" * 1000, None),
    ],
)
def test_mail_dates(text: str, moment: int | None) -> None:
    assert parse_http_date(text) == moment


@pytest.mark.parametrize(
    ("text", "is_date"),
    [
        ("2024-03-05T06:07:08Z", True),
        ("2024-03-05T06:07:08.5+01:00", True),
        ("2024-03-05T06:07:08", False),
        ("2024-03-05", False),
        ("2024-02-31T06:07:08Z", False),
    ],
)
def test_dates_of_atom(text: str, is_date: bool) -> None:
    assert is_rfc_3339(text) is is_date


@given(
    st.text(max_size=70) | st.from_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)?", fullmatch=True)
)
def test_no_text_raises(text: str) -> None:
    for moment in (w3c_date_ms(text), parse_http_date(text)):
        assert moment is None or ms(1, 1, 1) <= moment < ms(9999, 12, 31, 23, 59, 59) + 1000
    assert is_rfc_3339(text) in (True, False)


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(9998, 1, 1), timezones=st.timezones()))  # noqa: DTZ001 (Hypothesis wants naive bounds)
def test_what_python_writes_is_read(moment: datetime) -> None:
    whole = moment.replace(second=0, microsecond=0)
    if whole.isoformat()[-6] in "+-":  # an offset of whole minutes, as W3C has it
        assert w3c_date_ms(whole.isoformat()) == round(
            (whole - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000
        )
