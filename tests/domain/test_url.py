"""URLs: the whole of WPT goes through `normalise`, and whatever comes out httpx reads as we do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.url import (
    MASK,
    CrawlUrl,
    InvalidUrl,
    LinkResolver,
    SiteLinks,
    normalise,
    read_seed,
    url_hash,
    without_fragment,
    without_userinfo,
)

CORPORA = Path(__file__).parent / "corpora"
NO_LIMIT = 10**6


def cases(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((CORPORA / name).read_text("utf-8"))["cases"]
    return loaded


def ours(raw: str, base: str | None = None) -> CrawlUrl:
    url = normalise(raw, base)
    assert isinstance(url, CrawlUrl), url
    return url


def reason(raw: str, base: str | None = None) -> str:
    url = normalise(raw, base)
    assert isinstance(url, InvalidUrl), url
    assert url.raw == without_userinfo(raw)
    return url.reason


def as_httpx(url: CrawlUrl) -> tuple[str, str, int | None, str]:
    parsed = httpx.URL(url.href)
    default = {"http": 80, "https": 443}[parsed.scheme]
    port = default if parsed.port is None else parsed.port
    return parsed.scheme, parsed.raw_host.decode(), port, parsed.raw_path.decode()


def test_every_wpt_case_is_answered_as_whatwg_says_or_refused_for_a_reason_of_ours() -> None:
    counted = {"same": 0, "failure": 0}
    refused: dict[str, int] = {}
    for case in cases("wpt_urltestdata.json"):
        url = normalise(case["input"], case["base"], NO_LIMIT)
        if isinstance(url, InvalidUrl):
            if case.get("failure"):
                counted["failure"] += 1
                continue
            kind = " ".join(url.reason.split()[:3])
            refused[kind] = refused.get(kind, 0) + 1
            if kind == "is not http":
                assert case["protocol"] not in {"http:", "https:"}
            elif kind == "has a user":
                assert "@" in case["href"]
            continue
        assert not case.get("failure"), case
        counted["same"] += 1
        assert url.href == case["href"].partition("#")[0].removesuffix("?")
        assert (url.host, url.path, url.query) == (case["hostname"], case["pathname"], case["search"][1:])
        assert url.fragment == case["hash"][1:]
        assert url.origin == case.get("origin", url.origin)
        assert f"{url.scheme}:" == case["protocol"]
        assert str(url.port) == (case["port"] or {"http": "80", "https": "443"}[url.scheme])
        assert normalise(url.href) == url
        assert as_httpx(url) == (url.scheme, url.host.strip("[]"), url.port, url.target)
    assert counted == {"same": 208, "failure": 267}
    assert refused == {"is not http": 367, "has a user": 30, "contains a control": 17, "has port 0": 2}
    assert sum(counted.values()) + sum(refused.values()) == 891


def test_every_wpt_host_is_answered_as_whatwg_says() -> None:
    for case in cases("wpt_toascii.json"):
        url = normalise(f"http://{case['input']}/x", None, NO_LIMIT)
        if case["output"] is None:
            assert isinstance(url, InvalidUrl), case
        else:
            assert isinstance(url, CrawlUrl), case
            assert url.host == case["output"]
            assert as_httpx(url)[1] == url.host


def test_the_parts_of_a_url() -> None:
    url = ours("HTTPS://Example.ORG:443/a/../b c?x=1&y#part")
    assert url == CrawlUrl("https://example.org/b%20c?x=1&y", "", "", "", 0, "", "")
    assert (url.origin, url.scheme, url.host, url.port) == ("https://example.org", "https", "example.org", 443)
    assert (url.path, url.query, url.fragment, url.target) == ("/b%20c", "x=1&y", "part", "/b%20c?x=1&y")


@pytest.mark.parametrize(
    ("raw", "href"),
    [
        ("http://h:81/", "http://h:81/"),
        ("http://h:80", "http://h/"),
        ("https://h:80/", "https://h:80/"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://h/?", "http://h/"),
        ("http://h/?#f", "http://h/"),
        ("http://h/a?b#c?d", "http://h/a?b"),
        ("http://h/\x00", "http://h/"),
        (" \t\nhttp://h/a\tb\n", "http://h/ab"),
        ("\x00\x1fhttp://h/\x1f", "http://h/"),
        ("http://bücher.example/é?ü", "http://xn--bcher-kva.example/%C3%A9?%C3%BC"),
        ("http://h/\ud800x", "http://h/%EF%BF%BDx"),
        ("http://h/\ud83d\ude00", "http://h/%F0%9F%98%80"),
        ("http:\\\\h\\a", "http://h/a"),
    ],
)
def test_what_is_normalised(raw: str, href: str) -> None:
    assert ours(raw).href == href


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "is not a valid URL"),
        ("/relative", "is not a valid URL"),
        ("http://", "is not a valid URL"),
        ("http://h:65536/", "is not a valid URL"),
        ("http://h:-1/", "is not a valid URL"),
        ("http://h:0/", "has port 0"),
        ("http://[::1/", "is not a valid URL"),
        ("http://[1:2:3]/", "is not a valid URL"),
        ("http://a b/", "is not a valid URL"),
        ("http://xn--a.ß/", "is not a valid URL"),
        ("http://u:p@h/", "has a user name or password"),
        ("http://u@h/", "has a user name or password"),
        ("http://h/\x00a", "contains a control character"),
        ("http://h/a\x1bb", "contains a control character"),
        ("http://h/?\x7fb", "contains a control character"),
        ("mailto:a@example.org", "is not http or https but mailto"),
        ("javascript:alert(1)", "is not http or https but javascript"),
        ("file:///etc/passwd", "is not http or https but file"),
        ("ftp://h/", "is not http or https but ftp"),
        ("a" * 40 + "://h/", "is not http or https but aaaaaaaaaaaaaaaaaaa…"),
    ],
)
def test_what_is_refused(raw: str, why: str) -> None:
    assert reason(raw) == why


@pytest.mark.parametrize(
    "raw",
    [
        "https://me:secret@h/",
        "HTTPS:\\\\me:secret@h/a/b",
        "//me:secret@h",
        "http:me:se@cret@h",
        "ht\ntp:/\t/me:sec\nret@h/",
        "http://me:secret@h:99999/",
        "ftp://me:secret@h/",
        "me:secret@h",
        " https://me:secret@h/?a=b@c",
    ],
)
def test_no_password_stands_in_what_is_told_of_a_url(raw: str) -> None:
    url = normalise(raw, "https://base/")
    assert isinstance(url, InvalidUrl)
    assert "secret" not in url.raw + url.reason
    assert "se@cret" not in url.raw
    assert f"{MASK}@h" in url.raw


@pytest.mark.parametrize("again", ["http: ", "http:", "//@", "@", " ", "a", "/ ", "https:\x0b", "ftp:"])
def test_a_text_that_is_made_to_take_long_is_read_once(again: str) -> None:
    """Of 60 KB: looking from each place to the end of all of them would take minutes."""
    for text in (f"http:{again * 30_000}x/@", f"{again * 30_000}me:secret@h", f"//{again * 30_000}me:secret@h"):
        assert len(without_userinfo(text)) <= len(text) + 30_000 * len(MASK)
    assert "secret" not in without_userinfo(f"http:{again * 30_000}//me:secret@h")


@pytest.mark.parametrize("raw", ["mailto:a@example.org", "https://h:x/@me", "http://h/\x00/@a", "file:///a/b@c"])
def test_what_is_no_user_name_stays(raw: str) -> None:
    url = normalise(raw)
    assert isinstance(url, InvalidUrl)
    assert url.raw == raw


def test_the_length_is_that_of_the_url_without_its_fragment() -> None:
    fits = "http://h/" + "a" * 2039
    assert ours(f"{fits}#{'f' * 9999}").href == fits
    assert reason(fits + "a") == "is 2049 characters long, more than 2048"
    assert isinstance(normalise(fits, None, 2047), InvalidUrl)
    assert isinstance(normalise("http://h/" + "a" * 65_536, None, NO_LIMIT), InvalidUrl)


def test_a_megabyte_is_only_too_long() -> None:
    assert reason("http://h/" + "é" * 500_000).startswith("is 3000009 characters long")
    assert reason("//" + "x." * 500_000, "http://h/").startswith("is 1000008 characters long")


@pytest.mark.parametrize(
    ("raw", "base", "href"),
    [
        ("../c?d", "http://h/a/b/", "http://h/a/c?d"),
        ("", "http://h/a?b#c", "http://h/a?b"),
        ("#top", "http://h/a?b", "http://h/a?b"),
        ("?x", "http://h/a", "http://h/a?x"),
        ("//other/x", "https://h/a", "https://other/x"),
        ("x", "http://h/\ud800/", "http://h/%EF%BF%BD/x"),
    ],
)
def test_a_link_is_resolved_against_its_base(raw: str, base: str, href: str) -> None:
    assert ours(raw, base).href == href


@pytest.mark.parametrize("base", ["", "nonsense", "data:text/html,x", "http://u@h/"])
def test_a_bad_base_makes_a_relative_link_invalid(base: str) -> None:
    assert isinstance(normalise("x", base), InvalidUrl)


def test_equality_is_that_of_the_href() -> None:
    assert ours("http://h/a#x") == ours("http://h/a#y")
    assert len({ours("http://h/a#x"), ours("http://h/a#y"), ours("http://h/b")}) == 2


def test_the_hash_is_stable_signed_and_64_bits() -> None:
    assert ours("http://example.org/").hash == url_hash("http://example.org/") == 4654873767771525413
    assert url_hash("http://h/2") == -8080957690820245981
    assert -(2**63) <= url_hash("\ud800") < 2**63


def test_the_resolver_answers_as_normalise_and_forgets_the_oldest() -> None:
    base = "http://h/a/"
    resolver = LinkResolver(base, max_length=30, capacity=2)
    links = ["x", "y", "x", "/z", "x", "http://u@h/", "y" * 40, "x"]
    assert [resolver.resolve(link) for link in links] == [normalise(link, base, 30) for link in links]
    assert len(resolver._known) == 2


def test_the_resolver_does_not_parse_twice() -> None:
    resolver = LinkResolver("http://h/")
    assert resolver.resolve("nav") is resolver.resolve("nav")


ANYTHING = st.text(st.characters(), max_size=60)
AUTHORITIES = ["http:", "https:", "//", "h", "ex.org", "xn--a", ":", "80", "0", "99999", "@", "[", "]", "::1"]
OTHERS = ["/", "?", "#", "%", "%41", "%zz", "é", "\ud800", "\x00", "\n", " ", "\\", "..", ".", '"', "{", "|", "^", "'"]
PIECES = st.lists(st.sampled_from([*AUTHORITIES, *OTHERS]), max_size=12).map("".join)


@given(PIECES | ANYTHING | PIECES.map("http://h/".__add__), st.none() | PIECES | st.just("http://h/a/b?c"))
def test_normalise_is_total_idempotent_and_read_alike_by_httpx(raw: str, base: str | None) -> None:
    url = normalise(raw, base)
    if isinstance(url, InvalidUrl):
        assert url.reason
        return
    again = normalise(url.href)
    assert isinstance(again, CrawlUrl)
    assert (again.href, again.origin, again.path, again.query) == (url.href, url.origin, url.path, url.query)
    assert again.fragment == ""
    assert url.href.isascii() and url.href.isprintable()
    assert url.href == url.origin + url.target
    assert as_httpx(url) == (url.scheme, url.host.strip("[]"), url.port, url.target)


@given(st.text(max_size=30), st.sampled_from(["http://a.test/x/y", "https://b.test:8443/", "not a base"]))
def test_what_is_remembered_across_pages_is_what_normalise_says(raw, base):
    site = SiteLinks(capacity=3)
    for start in ("", "/", "//", "/\\"):
        for _ in range(2):
            resolver = LinkResolver(base, site=site)
            assert resolver.resolve(start + raw) == normalise(start + raw, base)


@given(
    PIECES | ANYTHING | st.builds("{}#{}".format, PIECES | ANYTHING, PIECES | ANYTHING),
    st.sampled_from(["http://h/a/b?c", "https://b.test:8443/"]),
)
def test_a_link_without_its_fragment_is_the_same_url(raw: str, base: str) -> None:
    short, whole = normalise(without_fragment(raw), base), normalise(raw, base)
    assert isinstance(short, CrawlUrl) == isinstance(whole, CrawlUrl)
    if isinstance(whole, CrawlUrl):
        assert short == whole


def test_a_full_memory_of_a_site_forgets_and_goes_on():
    site = SiteLinks(capacity=2)
    for number in range(5):
        resolved = LinkResolver("http://a.test/", site=site).resolve(f"/{number}")
        assert resolved == normalise(f"http://a.test/{number}")
    assert site.known.get(("http://a.test", "/0")) is None


@pytest.mark.parametrize(
    ("typed", "href"),
    [
        ("example.org", "https://example.org/"),
        (" example.org/a b ", "https://example.org/a%20b"),
        ("example.org:8080/path", "https://example.org:8080/path"),
        ("example.org/?u=http://other.example/", "https://example.org/?u=http://other.example/"),
        ("//example.org/x", "https://example.org/x"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("Example.ORG.", "https://example.org./"),
        ("localhost", "http://localhost/"),
        ("LOCALHOST:8000", "http://localhost:8000/"),
        ("wiki.localhost", "http://wiki.localhost/"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("192.168.1.1:81/x", "http://192.168.1.1:81/x"),
        ("10.0.0.1", "http://10.0.0.1/"),
        ("[::1]:80", "http://[::1]/"),
        ("[fd00::a]", "http://[fd00::a]/"),
        ("8.8.8.8", "https://8.8.8.8/"),
        ("[2606:4700::1]", "https://[2606:4700::1]/"),
        ("known.example", "http://known.example/"),
        ("both.example", "https://both.example/"),
        ("secure.localhost", "https://secure.localhost/"),
        ("http:example.org", "http://example.org/"),
        ("HTTPS://example.org", "https://example.org/"),
    ],
)
def test_a_seed_without_a_scheme_gets_one(typed: str, href: str) -> None:
    known = {"http://known.example", "http://both.example", "https://both.example", "https://secure.localhost"}
    url = read_seed(typed, known)
    assert isinstance(url, CrawlUrl), url
    assert url.href == href


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("mailto:x@example.org", "is not http or https but mailto"),
        ("ftp://example.org/", "is not http or https but ftp"),
        ("javascript:alert(1.5)", "is not http or https but javascript"),
        ("user@example.org", "has a user name or password"),
        ("user:secret@example.org", "is not http or https but user"),
        ("nonsense", "is not a valid URL"),
        ("/path.html", "is not a valid URL"),
        ("", "is not a valid URL"),
        ("example.org:99999", "is not a valid URL"),
    ],
)
def test_what_is_no_seed_is_refused(typed: str, why: str) -> None:
    url = read_seed(typed)
    assert isinstance(url, InvalidUrl), url
    assert url.reason == why
    assert "secret" not in url.raw
