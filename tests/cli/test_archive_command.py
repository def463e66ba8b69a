"""`archive` on a real site: what the WARC holds, how it is named, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.cli.test_site_audit_command import stem
from tests.designs.web import Web
from tui_crawler.cli.main import main


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web()
    yield made
    made.close()


def archived(web: Web, *words: str) -> int:
    with web.in_thread():
        return main(["archive", *words])


def bodies(path: Path) -> dict[str, bytes]:
    """The responses of an archive by URL."""
    with path.open("rb") as file:
        records = ((one, one.content_stream().read()) for one in ArchiveIterator(file))
        return {one.rec_headers["WARC-Target-URI"]: body for one, body in records if one.rec_type == "response"}


def test_all_kinds_of_resources_are_kept_with_their_bodies(
    here: Path, web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    home, far = web.site(), web.site()
    embedded = "<img src=/a.png?v=2><script src=/b.js></script><video src=/c.mp4></video>"
    home.page("/", "/two", head="<link rel=stylesheet href=/d.css>", body=f"{embedded}<img src={far.url('/e.png')}>")
    home.page("/two", head=f'<link rel=canonical href="{home.url("/")}">')
    files = {"/a.png?v=2": "image/png", "/b.js": "text/javascript", "/c.mp4": "video/mp4", "/d.css": "text/css"}
    for path, kind in files.items():
        home.file(path, f"body of {path}", kind)
    assert archived(web, home.url(), "--own") == 0

    found = bodies(here / f"{stem(home)}.warc.gz")
    assert set(found) == {home.url(path) for path in ("/robots.txt", "/sitemap.xml", "/", "/two", *files)}
    assert {path: found[home.url(path)] for path in files} == {path: f"body of {path}".encode() for path in files}
    assert far.seen == []
    err = capsys.readouterr().err
    assert "left out: 1 image, style, script or media file" in err
    assert f"{stem(home)}.warc.gz" in err


def test_an_older_archive_is_not_replaced_unless_that_is_said(here: Path, web: Web) -> None:
    home = web.site()
    home.page("/", body="first")
    assert archived(web, home.url(), "--own") == 0
    home.page("/", body="second")
    assert archived(web, home.url(), "--own") == 0
    first, second = (bodies(here / f"{stem(home)}{number}.warc.gz")[home.url()] for number in ("", "-2"))
    assert (b"first" in first, b"second" in second) == (True, True)
    words = (home.url(), "--own", "--output", f"{stem(home)}.warc.gz")
    home.seen.clear()
    assert archived(web, *words) == 2
    assert home.seen == [], "before anything is requested"
    assert archived(web, *words, "--force") == 0
    assert b"second" in bodies(here / f"{stem(home)}.warc.gz")[home.url()]


def test_wacz_is_not_written(here: Path) -> None:
    assert main(["archive", "http://127.0.0.1/", "--format", "wacz"]) == 2
