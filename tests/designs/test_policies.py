"""do_not_crawl and url_query_parameters (U): every field, every operator, every combination, and what the log says."""

from __future__ import annotations

import json

import pytest

from tests.designs.crawling import Crawling
from tests.designs.web import Site

FIELDS = ("scheme", "host", "port", "origin", "path", "query", "url")
OPS = ("equals", "prefix", "suffix", "contains", "glob", "regex")
WORDS = ("is", "begins with", "ends with", "contains", "is like", "matches")
COMBINED = {
    "all": ({"all": [{"path": {"prefix": "/all"}}, {"path": {"suffix": "-yes"}}]}, "/all-yes", "/all-no"),
    "any": ({"any": [{"path": "/any-1"}, {"path": "/any-2"}]}, "/any-2", "/any-3"),
    "not": ({"all": [{"path": {"prefix": "/not"}}, {"not": {"path": {"contains": "ok"}}}]}, "/not-a", "/not-ok"),
    "several": ({"path": {"prefix": "/both", "suffix": "x"}}, "/both-x", "/both-y"),
    "fragment": ({"all": [{"path": "/whole"}, {"fragment": {"regex": "^$"}}]}, "/whole", "/part"),
}


def matcher(site: Site, field: str, op: str, path: str) -> dict[str, dict[str, str]]:
    """A test that holds for the URL with this path and the query n=1."""
    host, port = site.origin.removeprefix("http://").split(":")
    fields = {"scheme": "http", "host": host, "port": port, "origin": site.origin, "path": path, "query": "n=1"}
    text = fields.get(field, site.url(f"{path}?n=1"))
    values = (text, text[:3], text[-3:], text[1:], f"{text[:2]}*", f"^{text[0]}.+{text[-1]}$")
    return {field: {op: values[OPS.index(op)]}}


@pytest.fixture(scope="module")
def matched(shared_crawl: Crawling) -> Crawling:
    """One crawl with a policy for each field and operator: for one path as it is, for another with `not`."""
    crawl = shared_crawl
    site = crawl.site()
    policies: list[object] = [policy for policy, _, _ in COMBINED.values()]
    paths = [path for _, hit, miss in COMBINED.values() for path in (hit, miss)]
    for field in FIELDS:
        for op in OPS:
            hit, miss = f"/{field}-{op}", f"/no-{field}-{op}"
            policies.append({"all": [{"path": hit}, matcher(site, field, op, hit)]})
            policies.append({"all": [{"path": miss}, {"not": matcher(site, field, op, miss)}]})
            paths += [f"{hit}?n=1", f"{miss}?n=1"]
    site.page("/", *paths)
    for path in paths:
        site.page(path)
    given = {"do_not_crawl": policies, "url_query_parameters": [{"allow": ["n"]}]}
    crawl.run(f"policies: {json.dumps(given)}")
    return crawl


def attempt(crawl: Crawling, path: str) -> dict[str, object]:
    """The one attempt for a path."""
    (row,) = crawl.rows("SELECT * FROM v_attempt WHERE url LIKE ?", f"%:%{path}")
    return row


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_compared(matched: Crawling, field: str, op: str) -> None:
    refused = attempt(matched, f"/{field}-{op}?n=1")
    assert (refused["exit_code"], refused["requests"]) == ("blocked_url_by_local_policy", 0)
    assert f"{field} {WORDS[OPS.index(op)]} " in str(refused["message"])
    assert attempt(matched, f"/no-{field}-{op}?n=1")["exit_code"] == "file_ingested"


@pytest.mark.parametrize("name", COMBINED)
def test_matchers_are_combined(matched: Crawling, name: str) -> None:
    _, hit, miss = COMBINED[name]
    assert attempt(matched, hit)["exit_code"] == "blocked_url_by_local_policy"
    assert attempt(matched, miss)["exit_code"] == "file_ingested"


def test_a_refusal_is_an_attempt_without_a_request_that_names_pattern_and_line(crawl: Crawling) -> None:
    site = crawl.site().front("/admin/x")
    crawl.run("policies:\n  do_not_crawl:\n    - path: {prefix: /admin/}")
    refused = attempt(crawl, "/admin/x")
    assert refused["message"] == 'do_not_crawl: path begins with "/admin/"'
    assert refused["requests"] == 0
    assert site.asked == ["/"]
    detail = crawl.detail(site.url("/admin/x"))
    assert detail.attempts[0].decided_by == f"{crawl.file}:5"
    assert crawl.page(site.url("/admin/x"))["attempts_remaining"] == 0


def test_without_a_query_policy_every_query_is_refused_in_plain_words(crawl: Crawling) -> None:
    site = crawl.site().front("/list?page=2", "/list?")
    crawl.run()
    message = str(attempt(crawl, "/list?page=2")["message"])
    assert message == "no url_query_parameters policy is configured, so every URL with a query is refused"
    assert site.asked == ["/", "/list"], "an empty query is none"


def test_a_query_passes_when_some_policy_allows_every_parameter(crawl: Crawling) -> None:
    site = crawl.site()
    asked = ("/list?page=2", "/list?page=2&sort=up", "/any?x=1&y=", "/plain")
    refused = {
        "/list?page=two": "value 'two' of parameter 'page' does not match",
        "/list?page=2&sid=7": "parameter 'sid' is not allowed",
        "/else?page=2": "no url_query_parameters policy is for this URL (2 configured)",
    }
    site.page("/", *asked, *refused)
    for path in asked:
        site.page(path)
    crawl.run(
        r"""
policies:
  url_query_parameters:
    - {match: {path: {prefix: /list}}, allow: [sort], values: {page: '^\d+$'}}
    - {match: {path: /any}, allow_any: true}
"""
    )
    assert site.asked == ["/", *asked]
    for path, words in refused.items():
        assert words in str(attempt(crawl, path)["message"])


def test_policies_are_judged_again_when_a_page_is_due_to_be_crawled(crawl: Crawling) -> None:
    """An edited policy needs no rediscovery: the page that it refused is crawled by the next run."""
    site = crawl.site().pages("/a")
    crawl.run("policies: {do_not_crawl: [{path: /a}]}")
    assert site.asked == ["/"]
    crawl.run()
    assert site.asked == ["/", "/a"]
    assert crawl.codes(site.url("/a")) == ["blocked_url_by_local_policy", "file_ingested"]


def test_a_seed_that_a_policy_refuses_is_named_as_a_seed(crawl: Crawling) -> None:
    site = crawl.site()
    crawl.run("policies: {do_not_crawl: [{path: /}]}")
    assert attempt(crawl, "/")["message"] == 'this seed: do_not_crawl: path is "/"'
    assert site.asked == []
