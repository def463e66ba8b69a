"""robots.txt: Google's table, an independent matcher, hostile files, delays and groups."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.rules.robots import ALLOW_ALL, RobotsDecision, RobotsRules, parse_robots, product_token
from tui_crawler.domain.url import CrawlUrl, normalise

CORPUS = Path(__file__).parent / "corpora" / "google_robots.json"
CASES: list[dict[str, Any]] = json.loads(CORPUS.read_text("utf-8"))["cases"]


def url(raw: str) -> CrawlUrl:
    parsed = normalise(raw, "http://h/", 10**6)
    assert isinstance(parsed, CrawlUrl), parsed
    return parsed


def at(target: str) -> CrawlUrl:
    """A URL with exactly this path and query, normalised or not."""
    path, _, query = target.partition("?")
    return CrawlUrl(f"http://h{target}", "http://h", "http", "h", 80, path, query)


def target_of(raw: str) -> str:
    start = raw.find("/", raw.find("://") + 3) if "://" in raw else -1
    return raw[start:].partition("#")[0] if start >= 0 else "/"


def rules_of(case: dict[str, Any]) -> RobotsRules:
    return parse_robots(case["robots"].encode("utf-8", "surrogateescape"), case["agent"])


def rules(text: str, token: str = "Bot") -> RobotsRules:
    return parse_robots(text.encode(), token)


def allowed(text: str, target: str, token: str = "Bot") -> bool:
    return rules(text, token).allows(at(target)).allowed


DENIED_BY_THE_RFC = frozenset({"extra_pct_unreserved"})
"""Google's parser compares `%61` as written and allows; RFC 9309, section 2.2.2 decodes it, so the rule denies."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_googles_table(case: dict[str, Any]) -> None:
    expected = case["allowed"] and case["id"] not in DENIED_BY_THE_RFC
    assert rules_of(case).allows(at(target_of(case["url"]))).allowed == expected


def test_the_table_is_whole() -> None:
    groups = [case["group"] for case in CASES]
    assert (groups.count("rfc9309"), groups.count("google_only"), groups.count("extra")) == (72, 73, 56)


def test_the_table_holds_for_normalised_urls_but_for_two_that_were_never_encoded() -> None:
    """RFC 9309, section 2.2.2 asks for the percent-encoding that these two do without."""
    other = {case["id"] for case in CASES if rules_of(case).allows(url(case["url"])).allowed != case["allowed"]}
    assert other == {"ID_Encoding#3", "ID_Encoding#5"} | DENIED_BY_THE_RFC


RESERVED_OR_UNRESERVED = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%"
)
UNRESERVED = RESERVED_OR_UNRESERVED - frozenset(":/?#[]@!$&'()*+,;=%")
_ATOM = re.compile("%[0-9A-Fa-f]{2}|.", re.DOTALL)


def atoms(text: str, *, special: str) -> list[str]:
    """The octets of a URL or rule as RFC 9309, sections 2.2.2 and 2.2.3, compares them; `special` keep a meaning."""
    found = []
    for raw in _ATOM.findall(text):
        if len(raw) == 3:
            character = chr(int(raw[1:], 16))
            found.append(character if character in UNRESERVED else raw.upper())
        elif (raw in "*$" and raw not in special) or raw not in RESERVED_OR_UNRESERVED:
            found.extend(f"%{octet:02X}" for octet in raw.encode())
        else:
            found.append(raw)
    return found


def rfc_match(target: str, pattern: str) -> bool:
    anchored = pattern.endswith("$")
    sent, rule = atoms(target, special=""), atoms(pattern[:-1] if anchored else pattern, special="*")
    positions = {0}
    for atom in rule:
        if atom == "*":
            positions = set(range(min(positions), len(sent) + 1))
        else:
            positions = {each + 1 for each in positions if sent[each : each + 1] == [atom]}
        if not positions:
            return False
    return not anchored or len(sent) in positions


KINDS = ("Allow", "Disallow")
PATTERNS = st.text("ab/*$?", max_size=7)
TARGETS = st.text("ab/$?*", max_size=10).map("/".__add__)


@given(st.lists(st.tuples(st.sampled_from(KINDS), PATTERNS), max_size=6), TARGETS)
def test_the_decision_and_its_line_are_those_of_the_longest_match(lines: list[tuple[str, str]], target: str) -> None:
    target = target if target != "/?" and not target.endswith("?") else target + "a"
    text = "User-agent: *\n" + "".join(f"{kind}: {pattern}\n" for kind, pattern in lines)
    decision = rules(text).allows(at(target))
    longest = {kind: [len(text) for name, text in lines if name == kind and rfc_match(target, text)] for kind in KINDS}
    assert decision.allowed == (max(longest["Disallow"], default=0) <= max(longest["Allow"], default=0))
    if decision.line_number is None:
        assert decision.allowed
    else:
        kind, pattern = lines[decision.line_number - 2]
        assert (kind == "Allow") == decision.allowed
        assert rfc_match(target, pattern)
        assert decision.line == f"{kind}: {pattern}".strip()


@given(st.binary(max_size=300), st.text(max_size=8), TARGETS)
def test_any_bytes_give_rules(body: bytes, token: str, target: str) -> None:
    found = parse_robots(body, token)
    assert isinstance(found.allows(at(target)).allowed, bool)
    assert found == parse_robots(body, token)


KEYS = ["User-agent", "useragent", "Disallow", "Disalow", "Allow", "Sitemap", "Crawl-delay", "Request-rate", "X"]
LINES = st.tuples(
    st.sampled_from(KEYS),
    st.sampled_from([": ", ":", " ", "\t:", ""]),
    st.sampled_from(["*", "Bot", "Other/1.0", "/", "/*.gif$", "/a#c", "", "5", "1/10m", "é", "\x00", "nan", "*$*"]),
    st.sampled_from(["\n", "\r", "\r\n", "\u2028", "\x85", "\x0c", " "]),
)


@given(st.lists(LINES, max_size=20), TARGETS)
def test_any_lines_give_a_decision_that_its_line_explains(lines: list[tuple[str, ...]], target: str) -> None:
    found = rules("".join("".join(line) for line in lines))
    decision = found.allows(at(target))
    if decision.line_number is None:
        assert decision.allowed
    else:
        line = next(each for each in found.rules if each.line_number == decision.line_number)
        assert (line.allow, line.line) == (decision.allowed, decision.line)
    assert found.crawl_delay_ms is None or found.crawl_delay_ms >= 0


def test_the_line_that_decided_is_named() -> None:
    text = "\ufeff# ours\r\nUser-agent: *\r\n\r\nDisallow: /  # all\r\nAllow: /docs/\rAllow: /$\n"
    found = rules(text)
    assert found.allows(at("/x")) == RobotsDecision(False, 4, "Disallow: /")
    assert found.allows(at("/docs/x")) == RobotsDecision(True, 5, "Allow: /docs/")
    assert found.allows(at("/")) == RobotsDecision(True, 6, "Allow: /$")
    assert found.allows(at("/robots.txt")) == RobotsDecision(True, None, "")
    assert (found.group, len(found.rules)) == ("*", 3)


def test_no_rules_allow_everything() -> None:
    assert ALLOW_ALL.allows(at("/x")) == RobotsDecision(True)
    assert (ALLOW_ALL.group, len(ALLOW_ALL.rules), ALLOW_ALL.sitemaps) == ("", 0, ())
    assert (ALLOW_ALL.crawl_delay_ms, ALLOW_ALL.truncated, ALLOW_ALL.widened) == (None, False, 0)


@pytest.mark.parametrize(
    ("text", "token", "group"),
    [
        ("User-agent: FooBot/2.1\nDisallow: /\n", "foobot", "FooBot/2.1"),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Other\nAllow: /\n", "foobot", "*"),
        ("User-agent: Other\nDisallow: /\n", "foobot", ""),
        ("User-agent: *\nDisallow:\n", "foobot", "*"),
        ("User-agent: tui2.crawler\nDisallow: /\n", "tui2.crawler", "tui2.crawler"),
        ("User-agent: tui2.crawler*\nDisallow: /\n", "tui2.crawler", "tui2.crawler*"),
        ("User-agent: föö\nDisallow: /\n", "föö", ""),
        ("User-agent: *\xa0\nDisallow: /\n", "foobot", ""),
        ("User-agent:\nDisallow: /\n", "", ""),
        ("", "foobot", ""),
    ],
)
def test_the_group_in_force(text: str, token: str, group: str) -> None:
    assert rules(text, token).group == group


def test_all_groups_that_name_the_token_are_one() -> None:
    text = "User-agent: Bot\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\nUser-agent: bot\nDisallow: /c\n"
    assert [allowed(text, target) for target in ("/a", "/b", "/c")] == [False, True, False]
    assert allowed(text, "/b", "Other") is False


@pytest.mark.parametrize(
    ("pattern", "target", "fits"),
    [
        ("/%c3%a9", "/%C3%A9", True),
        ("/%C3%A9", "/%c3%a9", True),
        ("/é", "/%c3%a9", True),
        ("/admin", "/%61dmin", True),
        ("/~user", "/%7Euser", True),
        ("/a%2Fb", "/a/b", False),
        ("/a/b", "/a%2Fb", False),
        ("/*?*id=", "/x?a=1&id=2", True),
        ("/x?", "/x", False),
        ("/x", "/x?y", True),
        ("/X", "/x", False),
        ("*", "/", True),
        ("$", "/", False),
        ("/$", "/", True),
        ("/$", "/?a", False),
        ("/a$b", "/a$b", True),
        ("/a%24", "/a$", True),
        ("/a%24", "/a%24", True),
        ("/a%24", "/a%24b", True),
        ("/a%24", "/a", False),
        ("/a%24$", "/a$", True),
        ("/a%24$", "/a$b", False),
        ("/a$b", "/a%24b", True),
        ("/file-%2A.html", "/file-*.html", True),
        ("/file-%2a.html", "/file-%2A.html", True),
        ("/file-%2A.html", "/file-%2a.html", True),
        ("/file-%2A.html", "/file-b.html", False),
        ("/*%2A", "/x/*", True),
        ("/a*", "/a%2A", True),
        ("/q?x=%2A", "/q?x=*", True),
        ("/a%252A", "/a*", False),
        ("/a%252A", "/a%252A", True),
        ("/%G1", "/%G1", True),
        ("/%2", "/%2", True),
        ("/%2*", "/%2A", False),
        ("/100%", "/100%", True),
        ("/100%", "/100%25", True),
        ("/%61dmin", "/admin", True),
        ("/%7Euser", "/~user", True),
        ("/%7euser", "/%7Euser", True),
        ("/%41", "/a", False),
        ("/x%2Fy", "/x%2fy", True),
        ("/a b", "/a%20b", True),
        ("/{a}|b", "/%7Ba%7D%7Cb", True),
        ("/{a}|b", "/{a}|b", True),
        ('/"', "/%22", True),
        ("/%C3%A9", "/%c3%A9", True),
        ("/*$", "/anything", True),
        ("/a*$*", "/a$", True),
        ("/a~-=.b", "/a~-=.b", True),
        ("/**a", "/xa", True),
        ("/index.html", "/", False),
    ],
)
def test_a_pattern(pattern: str, target: str, fits: bool) -> None:
    assert allowed(f"User-agent: *\nDisallow: {pattern}\n", target) != fits


SPELLINGS = ["a", "%61", "~", "%7e", "/", "%2F", "*", "%2A", "%2a", "$", "%24", "%25", "%G1", "?", " ", "é", "|"]
SPELT = st.lists(st.sampled_from(SPELLINGS), max_size=5).map("".join).map("/".__add__)


@given(st.lists(SPELT, min_size=1, max_size=3), SPELT)
def test_no_spelling_of_a_denied_url_is_allowed(patterns: list[str], target: str) -> None:
    """What RFC 9309 denies is denied, and a site without Allow lines denies nothing else."""
    sent = url(f"http://h{target}")
    patterns = [pattern.rstrip() for pattern in patterns]
    found = rules("User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns))
    assert found.allows(sent).allowed != any(rfc_match(sent.target, pattern) for pattern in patterns)


@given(SPELT, SPELT)
def test_an_allow_line_allows_at_most_what_it_matches(pattern: str, target: str) -> None:
    """Of an Allow line with a percent-encoded unreserved character the narrower of two readings counts."""
    sent = url(f"http://h{target}")
    pattern = pattern.rstrip()
    allows = rules(f"User-agent: *\nDisallow: /\nAllow: {pattern}\n").allows(sent).allowed
    matches = rfc_match(sent.target, pattern)
    assert allows <= matches
    if "%61" not in pattern and "%7e" not in pattern:
        assert allows == matches


def test_an_escaped_asterisk_is_as_long_as_it_is_written() -> None:
    text = "User-agent: *\nDisallow: /x%2A\nAllow: /x*\n"
    assert not allowed(text, "/x*")
    assert allowed(text, "/xy")
    assert allowed("User-agent: *\nDisallow: /x*\nAllow: /x%2A\n", "/x*")


def test_an_encoded_letter_in_the_url_does_not_pass_by_a_rule() -> None:
    found = rules("User-agent: *\nAllow: /%61llowed\nDisallow: /a\nDisallow: /%62\n")
    assert found.allows(at("/%61dmin")) == RobotsDecision(False, 3, "Disallow: /a")
    assert found.allows(at("/%61llowed")).allowed
    assert not found.allows(at("/%62x")).allowed


def test_the_octets_of_a_rule_in_another_encoding_are_kept() -> None:
    found = parse_robots("User-agent: *\nDisallow: /geschützt\n".encode("latin-1"), "Bot")
    assert not found.allows(at("/gesch%FCtzt")).allowed
    assert found.allows(at("/gesch%FCtzt")).line == "Disallow: /gesch\ufffdtzt"


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        ("Crawl-delay: 7", 7000),
        ("Crawl-delay: 0.2", 200),
        ("crawl-delay:.5", 500),
        ("Crawl-delay: 600 # slow", 600_000),
        ("Crawl-delay: 0", 0),
        ("Crawl-delay: 0.0001", 1),
        ("Crawl-delay 3", 3000),
        ("Crawl-delay: 2\nCrawl-delay: 9\nCrawl-delay: 4", 9000),
        ("Crawl-delay: -5", None),
        ("Crawl-delay: soon", None),
        ("Crawl-delay: 5s", None),
        ("Crawl-delay: 1e3", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: inf", None),
        ("Crawl-delay: 1_0", None),
        ("Crawl-delay:", None),
        ("Crawl-delay: " + "9" * 400, None),
        ("Crawl-delay: " + "9" * 18, 366 * 86_400_000),
        ("Request-rate: 1/5", 5000),
        ("Request-rate: 3/10s", 3334),
        ("Request-rate: 1/2m 0900-1700", 120_000),
        ("Request-rate: 60/1H", 60_000),
        ("Request-rate: 1 / 1d", 86_400_000),
        ("Request-rate: 0/5", None),
        ("Request-rate: 5/0", None),
        ("Request-rate: 5", None),
        ("Request-rate: -1/5", None),
        ("Crawl-delay: 2\nRequest-rate: 1/5", 5000),
        ("Crawl-delay: 8\nRequest-rate: 1/5", 8000),
        ("Crawl-delay: x\nRequest-rate: 1/5", 5000),
    ],
)
def test_the_delay_a_file_asks_for(lines: str, delay: int | None) -> None:
    assert rules(f"User-agent: *\n{lines}\nDisallow: /x\n").crawl_delay_ms == delay


def test_a_delay_is_for_the_agents_named_before_it() -> None:
    text = "User-agent: A\nUser-agent: B\nCrawl-delay: 5\n\nUser-agent: C\nCrawl-delay: 30\nDisallow: /\n"
    assert [rules(text, token).crawl_delay_ms for token in "ABCD"] == [5000, 5000, 30_000, None]
    assert [allowed(text, "/", token) for token in "ABCD"] == [False, False, False, True]
    text = "User-agent: *\nCrawl-delay: 5\nDisallow: /x\n\nUser-agent: A\nDisallow: /y\n"
    assert [rules(text, token).crawl_delay_ms for token in "AB"] == [None, 5000]


def test_sitemaps_are_those_of_the_whole_file() -> None:
    text = "Sitemap: http://h/1.xml\nUser-agent: A\nDisallow: /\nsite-map: /é.xml\nSitemap:\nSITEMAP: http://h/1.xml\n"
    assert rules(text).sitemaps == ("http://h/1.xml", "/é.xml")


def test_a_long_file_is_cut_at_a_line_end() -> None:
    body = b"User-agent: *\nDisallow: /\nAllow: /public/\nAllow: /private-not\n"
    whole = parse_robots(body, "Bot", len(body))
    assert (whole.truncated, len(whole.rules)) == (False, 3)
    short = parse_robots(body, "Bot", len(body) - len("ivate-not\n"))
    assert (short.truncated, len(short.rules)) == (True, 2)
    assert not short.allows(at("/private")).allowed
    nothing = parse_robots(b"x" * 100, "Bot", 50)
    assert (nothing.truncated, len(nothing.rules)) == (True, 0)


def test_a_line_that_never_ends_is_read_to_its_limit() -> None:
    found = parse_robots(b"User-agent: *\nDisallow: /" + b"a" * 100_000, "Bot")
    assert len(found.rules[0].pattern) == 2083 * 8 - 1 - len("Disallow: ")
    assert len(found.rules[0].line) == 300


def test_one_rule_with_thousands_of_wildcards_is_matched_as_written() -> None:
    text = f"User-agent: *\nDisallow: /{'*a' * 8000}*b\n"
    assert allowed(text, "/" + "a" * 2000)
    assert allowed(text, "/" + "a" * 8000 + "c")
    assert not allowed(text, "/" + "a" * 8000 + "b")


def test_wildcard_rules_past_the_budget_become_stricter_and_are_counted() -> None:
    many = "".join(f"Disallow: /x/*a*{n:05}\n" for n in range(6000))
    found = rules(f"User-agent: *\n{many}Allow: /*.html\nAllow: /x/open\nDisallow: /plain\n")
    assert 0 < found.widened < 6001
    assert not found.allows(at("/x/a00001")).allowed
    assert not found.allows(at("/x/other")).allowed
    assert not found.allows(at("/x/open")).allowed  # the widened rules keep their rank
    assert not found.allows(at("/plain.html")).allowed
    assert found.allows(at("/else.html")).allowed


def test_a_widened_rule_is_not_anchored_by_what_it_lost() -> None:
    many = "".join(f"Disallow: /y/*{n:05}\n" for n in range(8000))
    found = rules(f"User-agent: *\n{many}Disallow: /a$*b\n")
    assert not found.allows(at("/a$xb")).allowed
    assert not found.allows(at("/a$")).allowed
    assert found.allows(at("/a")).allowed


def test_equal_files_give_equal_rules() -> None:
    text = "User-agent: *\nDisallow: /x\n"
    assert rules(text) == rules(text)
    assert rules(text) != rules(text + "Disallow: /y\n")


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("example-net-crawler (for https://example.net/why)", "example-net-crawler"),
        ("FooBot/1.0 (x)", "FooBot"),
        ("FooBot", "FooBot"),
        (" FooBot 1", "FooBot"),
        ("Foo\tBot", "Foo"),
        ("", ""),
    ],
)
def test_the_product_token(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token
