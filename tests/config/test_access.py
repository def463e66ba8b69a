"""What a host is asked with: secrets, certificates, which entry holds; and that nothing of it is told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.config.written import SEEDS, load_text, problem_of
from tui_crawler.config.document import effective
from tui_crawler.config.load import load_config, read_config
from tui_crawler.config.problem import BadValue
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.fetch.tls import Trust
from tui_crawler.wiring.origin_settings import settings_by_origin
from tui_crawler.wiring.settings import access_by_url, check_secrets

HOSTS = """hosts:
  - host: intern.example.org   # the one we know
    headers: {X-Token: '${TOKEN}', X-Plain: plain-secret, 'X-Number': 4711}
    cookies:
      sid: &sid file:sid.txt
      other: *sid
    basic_auth:
      user: zoe-q
      password: |
        pass: word
  - {host: 'intern.example.org:8080', headers: {Authorization: 'Bearer ${TOKEN}'}}
"""
SECRETS = ("plain-secret", "4711", "pass: word", "from-env", "from-file", "zoe-q", "em9lLXE6c")


def url(text: str) -> CrawlUrl:
    found = normalise(text)
    assert isinstance(found, CrawlUrl)
    return found


@pytest.fixture(autouse=True)
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "from-env")
    monkeypatch.delenv("MISSING", raising=False)
    (tmp_path / "sid.txt").write_text("from-file\n")


def test_what_is_sent_to_which_origin(tmp_path: Path) -> None:
    config = load_text(tmp_path, SEEDS + HOSTS.replace("password: |\n        pass: word", "password: 'pass: word'"))
    access = access_by_url(config)
    assert dict(access(url("https://intern.example.org/a")).headers) == {
        "X-Token": "from-env",
        "X-Plain": "plain-secret",
        "X-Number": "4711",
        "Cookie": "sid=from-file; other=from-file",
        "Authorization": "Basic em9lLXE6cGFzczogd29yZA==",
    }
    for other in ("http://intern.example.org/", "https://intern.example.org:444/", "https://a.intern.example.org/"):
        assert access(url(other)).headers == ()
    for there in ("http://intern.example.org:8080/", "https://intern.example.org:8080/"):
        assert access(url(there)).headers == (("Authorization", "Bearer from-env"),)


def test_nothing_of_it_is_shown_or_stored(tmp_path: Path) -> None:
    text = f"{SEEDS}description: &sec plain-secret\n" + HOSTS.replace("X-Plain: plain-secret", "X-Plain: *sec")
    config = load_text(
        tmp_path, text.replace("pass: word", "pass-word").replace("|\n        pass-word", "|-\n        pass: word")
    )
    shown = json.dumps([setting.value for setting in effective(config)], ensure_ascii=False) + repr(config.hosts)
    for secret in SECRETS[1:]:
        assert secret not in shown.replace('"name"', "").replace("name=", ""), secret
        if secret != "zoe-q":
            assert secret not in config.text, secret
    assert "plain-secret" not in config.text
    assert "•••" in shown
    assert "${TOKEN}" in config.text
    assert f"file:{tmp_path / 'sid.txt'}" in config.text
    assert "# the one we know" in config.text


def test_what_is_stored_says_the_same_but_for_the_literals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = load_text(tmp_path, f"{SEEDS}hosts: [{{host: 'h:1', headers: {{A: '${{TOKEN}}', B: 'file:sid.txt'}}}}]\n")
    kept = read_config(config.text, "crawl")
    assert kept.text == config.text
    monkeypatch.chdir("/")
    monkeypatch.setenv("TOKEN", "another")
    assert access_by_url(kept)(url("http://h:1/")).headers == (("A", "another"), ("B", "from-file"))
    literal = load_text(tmp_path, SEEDS + "hosts: [{host: h, headers: {A: b}}]\n")
    check_secrets(literal)
    with pytest.raises(StorageFailure, match=r"hosts\[0\].headers.A: is not kept in the database; start with"):
        check_secrets(read_config(literal.text, "crawl"))


@pytest.mark.parametrize(
    ("entry", "key", "words"),
    [
        ("headers: {A: '${MISSING}'}", "headers.A", "the environment variable MISSING is not set"),
        ("headers: {A: 'x${MISSING}'}", "headers.A", "the environment variable MISSING is not set"),
        ("headers: {A: '${s3cret}'}", "headers.A", "is not set"),
        ("headers: {A: 's3cret${'}", "headers.A", "as in ${NAME}"),
        ("cookies: {A: 'file:nothing'}", "cookies.A", "nothing cannot be read: no such file"),
        ("cookies: {A: 'file:.'}", "cookies.A", "cannot be read"),
        ('headers: {A: "s3cret\\r\\nX: y"}', "headers.A", "contains a character that cannot be sent"),
        ("cookies: {A: 's3cret; b=c'}", "cookies.A", "contains a character that cannot be sent"),
        ("headers: {A: ''}", "headers.A", "is empty"),
        ("headers: {A: [s3cret]}", "headers.A", "found a list"),
        ("headers: {A: null}", "headers.A", "found nothing"),
        ("headers: 'A: s3cret'", "headers", "expected a mapping"),
        ("headers: {'A: s3cret': b}", "headers", "is no name of that"),
        ("headers: {A: b, a: s3cret}", "headers.a", "given twice"),
        ("headers: {Host: s3cret}", "headers.Host", "not to be set here"),
        ("headers: {content-length: 5}", "headers.content-length", "not to be set here"),
        ("headers: {Transfer-Encoding: chunked}", "headers.Transfer-Encoding", "not to be set here"),
        ("headers: {Connection: close}", "headers.Connection", "not to be set here"),
        ("headers: {User-Agent: x}", "headers.User-Agent", "user_agent"),
        ("headers: {Cookie: a=s3cret}", "headers.Cookie", "under `cookies`"),
        ("basic_auth: 'me:s3cret'", "basic_auth", "expected a mapping"),
        ("headers: {A: *s3cret}", "headers.A", "the alias *••• has no anchor"),
        ("headers: {A: !s3cret x}", "headers.A", "the tag ••• is not accepted"),
        ("basic_auth: {user: me}", "basic_auth.password", "is missing"),
        ("basic_auth: {user: 'a:b', password: s3cret}", "basic_auth.user", "contains a character"),
        ("headers: {authorization: s3cret}, basic_auth: {user: a, password: s3cret}", "basic_auth", "keep one"),
        ("ca_file: nothing.pem", "ca_file", "nothing.pem cannot be used: no such file"),
        ("ca_file: sid.txt", "ca_file", "contains no certificate"),
    ],
)
def test_what_is_wrong_is_told_by_file_line_and_key_alone(tmp_path: Path, entry: str, key: str, words: str) -> None:
    problem = problem_of(tmp_path, f"{SEEDS}hosts:\n  - {{host: h, {entry}}}\n")
    assert (problem.key, problem.line) == (f"hosts[0].{key}", 4)
    assert words in f"{problem.message}; {problem.suggestion}"
    if "${s3cret}" not in entry:
        assert "s3cret" not in str(problem)


def test_who_requests_nothing_needs_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "crawl.yaml"
    path.write_text(SEEDS + "hosts: [{host: h, ca_file: none.pem, headers: {A: '${MISSING}'}}]\n")
    config = load_config(path, resolves=False)
    with pytest.raises(BadValue, match="MISSING is not set"):
        access_by_url(config)(url("https://h/"))


def test_the_entry_of_the_origin_wins_then_that_with_the_port(tmp_path: Path) -> None:
    text = """hosts:
  - {host: h, default_delay: 2s, verify: false}
  - {host: 'h:81', default_delay: 3s}
  - {host: 'http://h:82', default_delay: 4s, verify: true}
  - {host: '[::1]:8080', default_delay: 5s}
  - {host: other}
"""
    config = load_text(tmp_path, SEEDS + text)
    settings, access = settings_by_origin(config), access_by_url(config)
    delays = {
        "https://h": 2000,
        "http://h:81": 3000,
        "https://h:81": 3000,
        "http://h:82": 4000,
        "https://h:82": 2000,
        "https://[::1]:8080": 5000,
        "http://other": 1000,
    }
    assert {origin: settings(origin).delay.default_ms for origin in delays} == delays
    assert access(url("https://h:81/")).trust == Trust(verify=False)
    assert access(url("http://h:82/")).trust == access(url("https://other/")).trust == Trust()
    assert [warning.key for warning in config.warnings] == ["hosts[0].verify"]
    assert "certificates are not verified" in config.warnings[0].message


@pytest.mark.parametrize(
    ("seed", "host", "warned"),
    [
        ("http://reef.example:8080/", "reef.example", "name http://reef.example:8080"),
        ("http://reef.example:8080/", "reef.example:8080", ""),
        ("http://reef.example/", "http://reef.example", ""),
        ("https://reef.example/", "reef.example", ""),
        ("https://other.example/", "reef.example", ""),
    ],
)
def test_secrets_of_a_name_that_no_seed_gets_are_warned_of(seed: str, host: str, warned: str) -> None:
    """They go to the https origin of the name only, which is easily missed on another port."""
    text = f"user_agent: me\nseeds: ['{seed}']\nhosts: [{{host: '{host}', cookies: {{sid: s3cret}}}}]\n"
    told = [(one.key, one.suggestion) for one in read_config(text, "crawl").warnings]
    assert told == ([("hosts[0].host", warned)] if warned else [])


@pytest.mark.parametrize("entry", ["cookies: {A: 'file:pipe'}", "ca_file: pipe"])
def test_a_pipe_is_refused_before_it_is_waited_for(tmp_path: Path, entry: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    problem = problem_of(tmp_path, f"{SEEDS}hosts:\n  - {{host: h, {entry}}}\n")
    assert "pipe cannot be" in problem.message
    assert "it is not a regular file" in problem.message
