"""A folder of somebody else: names and contents of its files are shown by the welcome, and never obeyed."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.crawls import store_crawl
from tests.console.poison import CASES, OWN, WORST, HostileFolder, assert_strips
from tests.console.test_welcome import Welcomed, welcome
from tui_crawler.console.welcome.app import FileRow
from tui_crawler.wiring.welcome import Folder

NAMES = (
    b"\x1b]52;c;x\x07",
    b"\xff\xfe\x9b",
    b"\xed\xa0\x80",
    b"two\nlines\t",
    "\u202egnp".encode(),
    b"[@click=app.bell]x[]",
    b"a?mode=memory#x",
    b"-rf %41",
)
BODY = b'name: "\x1b]52;c;x\x07\nseeds: ["http://\xff\xfe/"]\n'
YAML = b'name: "\\e]52;c;x\\a\\u202e"\nseeds: ["http://a.test/\\e[2J", "[/]\\x9b31m"]\n"\\e]0;x\\a": 1\n'


def clean(held: Welcomed, payload: object) -> None:
    assert_strips(held.app.screen._compositor.render_strips(), str(payload))


async def look_around(held: Welcomed, payload: object) -> None:
    """Every row of the welcome, with what is wrong with it."""
    clean(held, payload)
    for row in held.app.screen.query(FileRow):
        row.focus()
        await held.press("enter")
        clean(held, payload)


@pytest.mark.parametrize("payload", [OWN["worst"], OWN["worst turned"], OWN["long"]], ids=["worst", "turned", "long"])
async def test_whatever_a_folder_is_said_to_hold_is_text(payload: str) -> None:
    async with welcome(HostileFolder(payload)) as held:
        await look_around(held, payload)
        await held.press("a")
        await held.paste(f"https://x.example/{payload}\n{payload}")
        clean(held, payload)
        for _ in range(4):
            await held.press("tab")
            await held.paste(f"raise {payload}")
            await held.press("enter")
            clean(held, payload)
        await held.press("escape")


async def test_every_name_of_a_file_is_text() -> None:
    folder: Any = HostileFolder("")
    async with welcome(folder) as held:
        for payload in (CASES | OWN).values():
            folder.payload = payload
            await held.worked()
            await held.app.screen.query(FileRow).remove()
            await held.app.screen_stack[0].show_found(folder.look())  # type: ignore[attr-defined]  # the welcome screen
            await held.pilot.pause()
            clean(held, payload)


@pytest.fixture
def hostile_files(tmp_path: Path) -> Path:
    """Configurations and databases with hostile names and contents, and a crawl with a hostile name."""
    for number, name in enumerate(NAMES):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name + b".yaml")).write_bytes(YAML if number % 2 else BODY)
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name + b".db")).write_bytes(b"SQLite format 3\0" + name * 60)
    with closing(sqlite3.connect(store_crawl(tmp_path / "crawl.db"))) as opened, opened:
        hostile = WORST[0] + "\u202e[@click=app.bell]x[/]"
        opened.execute("UPDATE run SET finish_reason = ?, config_name = ?", (hostile, hostile))
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
async def test_a_real_folder_of_hostile_files_is_read_and_shown(hostile_files: Path) -> None:
    async with welcome(Folder(hostile_files)) as held:
        assert len(held.app.screen.query(FileRow)) == 2 * len(NAMES) + 1
        await look_around(held, "files")
