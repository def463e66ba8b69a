"""The lines of robots.txt: their numbers, and which of them are in force."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.rules.robots_text import RobotsField, directives, in_force, raw_lines

_PIECES = (
    b"User-agent: *", b"User-agent: bot", b"user agent: Bot/2", b"User-agent: other", b"Disallow: /a", b"Allow: /a/b",
    b"Crawl-delay: 3", b"Crawl-delay: x", b"Request-rate: 1/5", b"Sitemap: http://h/s", b"Disallow:", b"# words", b"",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=24))
def test_the_lines_in_force_are_those_of_the_rules_in_force_and_what_names_them(pieces: list[bytes]) -> None:
    body = b"\n".join(pieces)
    lines = list(directives(body))
    found = in_force(lines, "bot")
    by_number = {line.line_number: line for line in lines}
    ruling = {
        number for number in found.line_numbers if by_number[number].key in {RobotsField.allow, RobotsField.disallow}
    }
    assert {n for n in ruling if by_number[n].value} == {rule.line_number for rule in found.rules}
    for number in found.line_numbers - ruling:
        assert by_number[number].key in {RobotsField.user_agent, RobotsField.crawl_delay, RobotsField.request_rate}
    assert bool(
        found.line_numbers & {n for n, line in by_number.items() if line.key is RobotsField.user_agent}
    ) is bool(found.group)


def test_every_line_has_its_number_whatever_ends_it() -> None:
    body = b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /a\rAllow: /b\n\nDisallow: /c"
    assert raw_lines(body) == [b"User-agent: *", b"Disallow: /a", b"Allow: /b", b"", b"Disallow: /c"]
    assert in_force(directives(body), "bot").line_numbers == {1, 2, 3, 5}
