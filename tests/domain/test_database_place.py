"""What a URL names as the place of a crawl."""

from __future__ import annotations

import pytest

from tui_crawler.domain.database_place import parse_server_url


@pytest.mark.parametrize(
    ("text", "url", "name", "password"),
    [
        ("postgresql://me:s%2F@db.example.org:5433/crawl", "postgresql://me@db.example.org:5433/crawl", "crawl", "s/"),
        (
            "postgres://db/crawl?password=x&sslmode=verify-full",
            "postgresql://db/crawl?sslmode=verify-full",
            "crawl",
            "x",
        ),
        ("postgresql:///?service=archive", "postgresql:///?service=archive", "archive", ""),
        ("postgresql://?service=archive", "postgresql://?service=archive", "archive", ""),
        ("postgresql:///crawl", "postgresql:///crawl", "crawl", ""),
        ("postgresql:///crawl?host=/run/postgresql", "postgresql:///crawl?host=%2Frun%2Fpostgresql", "crawl", ""),
        ("postgresql://", "postgresql://", "postgres", ""),
        (
            "postgresql://me:x@db1:5433,db2/crawl?target_session_attrs=read-write",
            "postgresql://me@db1:5433,db2/crawl?target_session_attrs=read-write",
            "crawl",
            "x",
        ),
    ],
)
def test_a_url_names_a_database_for_the_driver_without_its_password(text: str, url: str, name: str, password: str):
    place, said = parse_server_url(text)
    assert (place.url, place.name, said) == (url, name, password)
    assert parse_server_url(place.url) == (place, "")
