"""What a URL names as the place of a crawl."""

from __future__ import annotations

import pytest

from tui_crawler.domain.records.database_place import location_of, parse_server_url


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


FILES = (
    "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir", "sslkeylogfile", "passfile", "servicefile", "krbsrvname",
)  # fmt: skip


@pytest.mark.parametrize("name", [*FILES, "of_a_later_libpq"])
def test_the_paths_of_certificates_are_part_of_no_address_that_is_shown(name: str):
    url = f"postgresql://me@db.example.org/crawl?{name}=%2Fetc%2Fkeys%2Fmine&options=-csearch_path%3Dnews"
    place, _ = parse_server_url(url)
    assert location_of(place) == url
    assert str(place) == f"{place}" == "postgresql://me@db.example.org/crawl?options=-csearch_path%3Dnews"


def test_what_says_which_database_it_is_is_shown():
    for url in ("postgresql:///crawl?host=%2Frun%2Fpostgresql&port=5433", "postgresql:///?service=archive"):
        assert str(parse_server_url(f"{url}&sslcert=%2Fx")[0]) == url


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:hush/hush@db/crawl",
        "postgresql://me:hush?hush@db/crawl",
        "postgresql://me:hush#hush@db/crawl",
        "postgresql://me:hush@[db/crawl",
        "postgresql://me:hush\u2100@db/crawl",
        "postgresql://me:12/hush@db/crawl",
        "postgresql://me@db/crawl?sslpassword=hush",
        "postgresql://me@db/crawl?scram_client_key=hush",
        "mysql://me:hush@db/crawl",
    ],
)
def test_what_is_wrong_with_a_url_is_said_without_its_password(text: str):
    with pytest.raises(ValueError, match=r"expected|service") as error:
        parse_server_url(text)
    assert "hush" not in str(error.value)
