"""A build that fails, or is killed, at any step: nothing is lost, and nothing stands in two segments."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.storage.making import A, B
from tests.storage.offline import Web, build, built_urls, crawl_offline, rows, urls_of, value
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.db import segment_files
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.queue import scan

KINDS = ("database", "memory", "bloom")


class Failing(sqlite3.Connection):
    """Counts calls; the one with the number `fails` raises before it does anything, or `dies` there."""

    calls = 0
    fails = 0
    dies = False

    def _count(self) -> None:
        Failing.calls += 1
        if Failing.calls != Failing.fails:
            return
        if Failing.dies:
            raise Killed
        error = sqlite3.OperationalError("disk I/O error (made by the test)")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().executemany(*arguments)


class Killed(BaseException):
    """The process is gone: nothing that would tidy up runs any more."""

    happened = False

    def __init__(self) -> None:
        super().__init__()
        Killed.happened = True


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is killed leaves files and lock as they are; only the lock's hold ends with the process."""
    close = segment_files.Batch.close

    def close_unless_dead(batch: segment_files.Batch) -> None:
        if Killed.happened:
            batch._lock.close()
        else:
            close(batch)

    monkeypatch.setattr(segment_files.Batch, "close", close_unless_dead)
    monkeypatch.setattr(Killed, "happened", False)


WEB = Web(
    {f"{A}/": (f"{A}/1", f"{A}/2", f"{B}/away"), f"{A}/s": (f"{A}/2", f"{A}/3")},
    {f"{A}/r": f"{A}/4"},
    seeds=(f"{A}/", f"{A}/s", f"{A}/r"),
)
WANTED = [f"{A}/1", f"{A}/2", f"{A}/3", f"{A}/4"]


@pytest.fixture(scope="module")
def crawled_once(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(template, tmp_path_factory.mktemp("crawled") / "crawl.db"))
    asyncio.run(crawl_offline(path, WEB))
    return path


def fresh(crawled_once: Path, folder: Path) -> Path:
    folder.mkdir()
    return Path(shutil.copy(crawled_once, folder / "crawl.db"))


def everything(path: Path) -> list[str]:
    """The URLs of all segments a build has registered."""
    segments = path.parent / "segments"
    found = rows(path, "SELECT path FROM segment ORDER BY id")
    assert {segments / Path(row["path"]).name for row in found} == set(segments.iterdir())
    return sorted(one for row in found for one in urls_of(path.parent / row["path"]))


@pytest.mark.usefixtures("deadly")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dies", [False, True])
def test_whichever_call_of_the_database_fails(crawled_once, tmp_path, monkeypatch, kind, dies):
    """Nothing is lost and nothing stands in two segments, whether the build fails there or is killed."""
    monkeypatch.setattr(Failing, "dies", dies)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    more: dict[str, Any] = {"opening": OpenSettings(connection=Failing), "segment_urls": 2}
    more["seen"] = scan.SeenSettings(kind, 100, 1e-6)
    monkeypatch.setattr(Failing, "calls", 0)
    path = fresh(crawled_once, tmp_path / "count")
    build(path, **more)
    assert everything(path) == WANTED
    first, step = 1 + 2 * KINDS.index(kind) + dies, 6  # the six cases share the calls among them
    for number in range(first, Failing.calls + 1, step):
        path = fresh(crawled_once, tmp_path / str(number))
        monkeypatch.setattr(Failing, "calls", 0)
        monkeypatch.setattr(Failing, "fails", number)
        with pytest.raises((StorageFailure, Killed)):
            build(path, **more)
        monkeypatch.setattr(Failing, "fails", 0)
        monkeypatch.setattr(Killed, "happened", False)
        assert built_urls(build(path, **more)) in ([], WANTED), number
        assert everything(path) == WANTED, number
        assert value(path, "SELECT SUM(count) FROM refused") == 1


@pytest.mark.usefixtures("deadly")
@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("name", ["fsync", "replace", "write"])
def test_whichever_call_of_the_file_system_fails(crawled_once, tmp_path, monkeypatch, name, dies):
    counted = 0
    fails = 0

    def failing(call: Any) -> Any:
        def wrapped(*arguments: Any, **more: Any) -> Any:
            nonlocal counted
            counted += 1
            if counted == fails:
                raise Killed if dies else OSError(28, "No space left on device")
            return call(*arguments, **more)

        return wrapped

    target = {"fsync": (os, "fsync"), "replace": (Path, "replace"), "write": (segment_files.segment, "line_of")}[name]
    monkeypatch.setattr(*target, failing(getattr(*target)))
    path = fresh(crawled_once, tmp_path / "count")
    assert built_urls(build(path, segment_urls=2)) == WANTED
    total, counted = counted, 0
    assert total >= 2
    for number in range(1, total + 1):
        path = fresh(crawled_once, tmp_path / str(number))
        counted, fails = 0, number
        failed = True
        try:
            build(path, segment_urls=2)
            failed = False  # the folder's own fsync is a wish
        except StorageFailure as error:
            if name == "replace":
                assert "next build or load gives it one" in str(error)
            else:
                assert "disk is full" in str(error)
                assert not list((path.parent / "segments").iterdir()), "nothing is left behind"
                assert value(path, "SELECT COUNT(*) FROM segment") == 0
        except Killed:
            pass
        fails = 0
        monkeypatch.setattr(Killed, "happened", False)
        assert build(path, segment_urls=2).scanned in ((3, 0) if failed else (0,))
        assert everything(path) == WANTED
