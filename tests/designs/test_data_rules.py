"""Data rules (R): named CSS, XPath and regular expressions per host that take links, videos, pictures and texts out."""

from __future__ import annotations

import json
from typing import Any

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import HTML

RULES = r"""data_rules:
  - {host: 127.0.0.1, name: photos, type: picture, css: 'img.photo::attr(src)'}
  - {host: 127.0.0.1, name: headline, type: text, xpath: '//h1/text()'}
  - {host: 127.0.0.1, name: price, type: text, regex: 'costs (\d+) coins'}
  - {host: 127.0.0.1, name: more, type: link, css: 'a.more::attr(href)'}
  - {host: 127.0.0.1, name: film, type: video, xpath: '//video/@src'}
"""
PAGE = """<!DOCTYPE html><html><head><title>t</title></head><body><h1>A <b>boat</b></h1><h1>Another</h1>
<img class=photo src="/1.png"><img class=photo src="2.png"><img src="/logo.png">
It costs 12 coins. The other costs 7 coins.
<a class=more href="/next">more</a> <video src="/f.mp4"></video></body></html>"""


def data(crawl: Crawling) -> list[dict[str, Any]]:
    """What `export data` writes."""
    said = crawl.ask("export", "data", "--format", "jsonl")
    assert said.status == 0, said.err
    return [json.loads(line) for line in said.out.splitlines()]


def values(crawl: Crawling, name: str) -> list[tuple[str, str]]:
    """Type and value of what one rule found, in the order of the page."""
    return [(row["type"], row["value"]) for row in data(crawl) if row["name"] == name]


def test_css_xpath_and_regex_give_blocks_of_four_types(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", PAGE, HTML)
    crawl.run(RULES)
    assert values(crawl, "photos") == [("picture", site.url("/1.png")), ("picture", site.url("/2.png"))]
    assert values(crawl, "headline") == [("text", "A"), ("text", "Another")]
    assert values(crawl, "price") == [("text", "12"), ("text", "7")]
    assert values(crawl, "more") == [("link", site.url("/next"))]
    assert values(crawl, "film") == [("video", site.url("/f.mp4"))]
    assert {row["url"] for row in data(crawl)} == {site.url()}


def test_rules_are_of_one_host(crawl: Crawling) -> None:
    site, other = crawl.site(), crawl.site("127.0.0.2")
    site.file("/", PAGE, HTML)
    other.file("/", PAGE, HTML)
    crawl.run(RULES)
    assert {row["url"] for row in data(crawl)} == {site.url()}


def test_data_is_replaced_with_the_document_and_kept_while_it_does_not_change(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", PAGE, HTML, ("ETag", '"1"'))
    crawl.run(RULES)
    before = data(crawl)
    crawl.run(RULES, later=5 * WEEK)
    assert crawl.codes(site.url())[-1] == "file_did_not_change"
    assert data(crawl) == before
    site.file("/", PAGE.replace("12 coins", "13 coins"), HTML, ("ETag", '"2"'))
    crawl.run(RULES, later=5 * WEEK)
    assert values(crawl, "price") == [("text", "13"), ("text", "7")]


def test_a_bad_expression_is_refused_with_its_place(crawl: Crawling) -> None:
    crawl.site()
    config = crawl.configure("data_rules: [{host: a.example, name: x, type: text, xpath: '//['}]")
    said = crawl.command("check", str(config))
    assert said.status == 2
    assert f"{config}:3:" in said.out + said.err
