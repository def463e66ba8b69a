"""A database that is deleted, moved or replaced while it is open: told at once, and gone on with when it is back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tui_crawler.domain.records.command import AddSeeds
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.file_identity import FilePlace
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.writer import Writer, WriterSettings
from tui_crawler.storage.models import Job
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers.journal import Journal


def away(path: Path) -> None:
    path.rename(path.with_suffix(".away"))


def back(path: Path) -> None:
    path.with_suffix(".away").replace(path)


def replace(path: Path) -> None:
    away(path)
    path.write_bytes(b"another file")


@pytest.mark.parametrize(("act", "words"), [(away, "deleted or moved away"), (replace, "replaced by another file")])
def test_it_is_told_until_the_file_is_back(database_path: Path, act: Callable[[Path], None], words: str) -> None:
    place = FilePlace(database_path)
    place.check()
    act(database_path)
    with pytest.raises(StorageFailure, match=words):
        place.check()
    back(database_path)
    place.check()


def test_what_is_written_inside_is_no_other_file(database_path: Path) -> None:
    place = FilePlace(database_path)
    database_path.write_bytes(database_path.read_bytes())
    place.check()
    link = database_path.with_name("link.db")
    link.symlink_to(database_path)
    through = FilePlace(link)
    through.check()
    link.unlink()
    with pytest.raises(StorageFailure, match="deleted"):
        through.check()


def test_reports_and_journal_do_not_work_on_a_file_nobody_finds_again(database_path: Path) -> None:
    reports, journal = Reports(database_path), Journal(database_path)
    try:
        journal.send(AddSeeds(("https://example.org/",)), "mara")
        assert len(reports.actions(10)) == 1
        away(database_path)
        with pytest.raises(StorageFailure, match="deleted or moved away"):
            reports.actions(10)
        with pytest.raises(StorageFailure, match="deleted or moved away"):
            journal.send(AddSeeds(("https://example.com/",)), "mara")
        back(database_path)
        assert len(reports.actions(10)) == 1
    finally:
        reports.close()
        journal.close()


async def test_the_writer_keeps_nothing_in_a_file_that_is_gone_and_goes_on_when_it_is_back(database_path: Path) -> None:
    writer = Writer(open_writable(database_path, OpenSettings()), database_path, WriterSettings(), lambda: 1_000)
    try:
        away(database_path)
        with pytest.raises(StorageFailure, match="deleted or moved away"):
            await writer.write(lambda work: work.execute(Job.insert({Job.name: "lost"})))
        shutil.copy(database_path.with_suffix(".away"), database_path)
        with pytest.raises(StorageFailure, match="replaced by another file"):
            await writer.write(lambda work: work.execute(Job.insert({Job.name: "lost"})))
        back(database_path)
        await writer.write(lambda work: work.execute(Job.insert({Job.name: "kept"})))
        assert await writer.read(lambda work: list(work.fetch(Job.select(Job.name)))) == [("kept",)]
    finally:
        writer.close()
