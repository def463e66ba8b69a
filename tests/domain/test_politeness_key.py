"""The politeness key in its four modes."""

from __future__ import annotations

import pytest

from tui_crawler.domain.crawl.scheduler import PolitenessMode, politeness_key


def registrable(host: str) -> str | None:
    return "example.co.uk" if host.endswith("example.co.uk") else None


@pytest.mark.parametrize(
    ("mode", "host", "address", "key"),
    [
        ("origin", "a.example.co.uk", "192.0.2.1", "https://a.example.co.uk:8443"),
        ("host", "A.example.co.uk.", None, "a.example.co.uk"),
        ("registrable_domain", "a.example.co.uk", None, "example.co.uk"),
        ("registrable_domain", "b.example.co.uk.", None, "example.co.uk"),
        ("registrable_domain", "localhost", None, "localhost"),
        ("registrable_domain", "192.0.2.7", None, "192.0.2.7"),
        ("registrable_domain", "[2001:db8::1]", None, "[2001:db8::1]"),
        ("ip", "a.example.co.uk", "192.0.2.1", "192.0.2.1"),
        ("ip", "b.example.org", "::ffff:192.0.2.1", "192.0.2.1"),
        ("ip", "c.example.org", "2001:DB8:0::1", "2001:db8::1"),
        ("ip", "[2001:db8::1]", None, "2001:db8::1"),
        ("ip", "unresolved.example", None, "unresolved.example"),
    ],
)
def test_the_key(mode: PolitenessMode, host: str, address: str | None, key: str) -> None:
    assert politeness_key(mode, f"https://{host}:8443", host, registrable, address) == key


def test_an_address_is_never_asked_for_its_domain() -> None:
    def refuse(host: str) -> str | None:
        raise AssertionError(host)

    assert politeness_key("registrable_domain", "http://192.0.2.1", "192.0.2.1", refuse, None) == "192.0.2.1"
