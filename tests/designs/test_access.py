"""Sites behind a login: what is secret goes to its origin alone, and is nowhere to be read."""

from __future__ import annotations

import gzip
from base64 import b64encode

import pytest

from tests.designs.crawling import Crawling

SECRETS = ("tok-3c9f", "plain-77d0", "sid-81aa", "pw-5e21", b64encode(b"me:pw-5e21").decode())


def test_what_is_secret_goes_to_its_origin_alone_and_is_nowhere_to_be_read(
    crawl: Crawling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "tok-3c9f")
    (crawl.folder / "sid.txt").write_text("sid-81aa\n")
    own, other = crawl.site(), crawl.site()
    own.redirect("/robots.txt", other.url("/robots.txt"))
    own.page("/", "/moved", "/gone", other.url("/linked"))
    own.redirect("/moved", other.url("/landed"))
    for path in ("/", "/landed", "/linked"):
        other.page(path)
    crawl.run(f"""hosts:
  - host: {own.origin}
    headers: {{X-Token: '${{TOKEN}}', X-Plain: plain-77d0}}
    cookies: {{sid: 'file:sid.txt'}}
    basic_auth: {{user: me, password: pw-5e21}}
""")
    wanted = ("tok-3c9f", "plain-77d0", "sid=sid-81aa", f"Basic {SECRETS[-1]}")
    fields = ("X-Token", "X-Plain", "Cookie", "Authorization")
    assert [one.target for one in own.seen] == ["/robots.txt", "/", "/moved", "/gone"]
    assert {tuple(map(one.header, fields)) for one in own.seen} == {wanted}
    assert {"/robots.txt", "/landed", "/linked"} <= {one.target for one in other.seen}
    assert {tuple(map(one.header, fields)) for one in other.seen} == {(None,) * 4}

    archive = crawl.folder / "all.warc.gz"
    said = [
        crawl.ask("export", "bodies", "--format", "warc", "--output", str(archive)).raw,
        gzip.decompress(archive.read_bytes()),
        crawl.command("check", str(crawl.file)).raw,
        crawl.command("check", str(crawl.file), "--json").raw,
        crawl.ask("why", own.url("/gone"), "--json").raw,
        crawl.ask("status", "--json").raw,
        crawl.ask("log").raw,
        repr(crawl.heard.events).encode(),
        *(crawl.ask("export", what, "--format", "jsonl").raw for what in ("pages", "attempts", "failures")),
        *(file.read_bytes() for file in crawl.folder.glob("crawl.db*")),
    ]
    assert b"Authorization: ***\r\n" in said[1]
    assert "•••" in said[2].decode()
    for secret in SECRETS:
        assert not [number for number, text in enumerate(said) if secret.encode() in text], secret
    assert {file.stat().st_mode & 0o777 for file in crawl.folder.glob("crawl.db*")} == {0o600}


def test_that_certificates_are_not_verified_is_told_as_long_as_the_run_is_shown(crawl: Crawling) -> None:
    crawl.site().front()
    crawl.run("network: {verify: false}")
    said = crawl.command("check", str(crawl.file))
    assert "network.verify: certificates are not verified; name its certificate as ca_file" in said.err
    assert "warning: certificates are not verified: requests and responses" in crawl.ask("status").out
    (warning,) = crawl.ask("status", "--json").json["run"]["warnings"]
    assert warning.startswith("certificates are not verified")
    crawl.run("hosts: [{host: a.example.org, verify: false}]")
    assert "not verified (1 of the entries in hosts):" in crawl.ask("status").out
    crawl.run()
    assert crawl.ask("status", "--json").json["run"]["warnings"] == []
