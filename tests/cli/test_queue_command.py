"""`queue build` and `queue load`: what is asked of the wiring, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tui_crawler.wiring.offline as offline_mode
from tests.cli.conftest import CONFIG, Say, Wiring
from tui_crawler.domain.records.command import ActionResult, LoadSegment
from tui_crawler.domain.records.failure import BadSegment, NotTakenUp, StorageFailure
from tui_crawler.domain.records.segment import SegmentHead
from tui_crawler.storage.queue.scan import Built, BuiltSegment
from tui_crawler.wiring import origin_settings
from tui_crawler.wiring.offline import SegmentFolder

A, B = "https://a.example", "https://b.example"
BUILT = Built(3, 900, 500, 100, (BuiltSegment(Path("/s/x-1"), 200), BuiltSegment(Path("/s/x-2"), 100)))


class Offline:
    """The offline side of the wiring: remembers what it is asked."""

    def __init__(self) -> None:
        self.built: list[tuple[Any, Path, Path | None]] = []
        self.answer: Built | Exception = BUILT
        self.kept: Any = None
        self.folder = SegmentFolder((), ())
        self.places: list[Path | None] = []

    def kept_config(self, database: Path) -> Any:
        return self.kept

    def build(self, config: Any, database: Path, output: Path | None) -> Built:
        self.built.append((config, database, output))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def read_head(self, path: Path) -> SegmentHead:
        if path.name.startswith("bad"):
            raise BadSegment(f"{path}: it is not a segment of tui-crawler")
        return SegmentHead(path.stem, "", 0, 10)

    def segment_folder(self, database: Path, folder: Path | None) -> SegmentFolder:
        self.places.append(folder)
        return self.folder


@pytest.fixture
def offline(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> Offline:
    made = Offline()
    monkeypatch.setattr(origin_settings, "kept_config", made.kept_config)
    for name in ("build", "segment_folder"):
        monkeypatch.setattr(offline_mode, name, getattr(made, name))
    monkeypatch.setattr("tui_crawler.storage.db.segment_files.read_head", made.read_head)
    return made


@pytest.fixture
def config_file(here: Path) -> Path:
    path = here / "site.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def loaded(**pages: int) -> Callable[[Any], ActionResult]:
    by_origin = {{"a": A, "b": B}[name]: count for name, count in pages.items()}
    return lambda _: ActionResult(1, "{}", json.dumps({"pages": by_origin}))


def waiting(*names: str) -> tuple[tuple[Path, SegmentHead], ...]:
    return tuple((Path(f"/s/{name}.segment"), SegmentHead(name, "", 0, 10)) for name in names)


# build


def test_a_build_by_a_configuration(config_file: Path, here: Path, say: Say, offline: Offline):
    (here / "site.db").touch()
    said = say("queue", "build", "site.yaml").ok
    ((config, database, output),) = offline.built
    assert (config.name, database, output) == ("site", here / "site.db", None)
    assert said.out.splitlines() == [
        "3 pages scanned, 900 URLs found: 500 already known, 100 refused",
        "/s/x-1  200 URLs",
        "/s/x-2  100 URLs",
    ]


def test_a_build_by_what_the_database_keeps(database: Path, say: Say, offline: Offline):
    offline.kept = object()
    assert say("queue", "build", "--db", str(database)).status == 0
    assert offline.built == [(offline.kept, database, None)]


def test_the_configuration_that_lies_here(here: Path, say: Say, offline: Offline):
    (here / "tui-crawler.yaml").write_text(CONFIG, encoding="utf-8")
    (here / "tui-crawler.db").touch()
    assert say("queue", "build").status == 0
    assert offline.built[0][0].name == "tui-crawler"
    offline.kept = "kept"
    (here / "other.db").touch()
    assert say("queue", "build", "--db", "other.db").status == 0
    assert offline.built[1][:2] == ("kept", here / "other.db")


def test_a_build_needs_a_configuration_and_a_database(config_file: Path, database: Path, say: Say, offline: Offline):
    say("queue", "build", "--db", str(database)).refused("keeps no configuration", "queue build CONFIG")
    say("queue", "build", str(config_file)).refused("there is no database")
    assert say("queue", "build", "site.yaml", "--config", "site.yaml").status == 2
    assert offline.built == []


def test_another_folder_has_to_be_there(database: Path, here: Path, say: Say, offline: Offline):
    offline.kept = object()
    say("queue", "build", "--output", "nowhere").refused("no such folder")
    assert offline.built == []
    (here / "out").mkdir()
    assert say("queue", "build", "--output", "out").status == 0
    assert offline.built[0][2] == here / "out"


def test_a_build_as_json_and_its_warnings(database: Path, say: Say, offline: Offline):
    offline.kept = object()
    offline.answer = Built(1, 2, 1, 1, (), ("the filter is full",))
    said = say("queue", "build", "--json")
    assert said.document == {"scanned": 1, "found": 2, "known": 1, "refused": 1, "segments": []}
    assert said.err == "warning: the filter is full\n"
    assert say("queue", "build").out.splitlines()[-1] == "nothing new: no segment was written"
    offline.answer = BUILT
    assert say("queue", "build", "--json").document["segments"][0] == {"path": "/s/x-1", "urls": 200}


def test_a_build_that_cannot_be(database: Path, say: Say, offline: Offline):
    offline.kept = object()
    offline.answer = StorageFailure("the disk is full")
    say("queue", "build").refused("the disk is full", status=3)


# load


def test_a_file_is_loaded(database: Path, here: Path, say: Say, wiring: Wiring, offline: Offline):
    wiring.answer = loaded(a=7, b=1)
    said = say("queue", "load", "one.segment").ok
    assert wiring.commands == [(database, LoadSegment(str(here / "one.segment")), wiring.commands[0][2])]
    assert said.out.splitlines() == ["8 pages loaded, 2 already known  one", f"  7 {A}", f"  1 {B}"]
    assert say("queue", "load", "one.segment", "--json").document == {
        "loaded": {A: 7, B: 1},
        "known": 2,
        "segment": "one",
    }


def test_of_a_folder_the_oldest_or_all(database: Path, here: Path, say: Say, wiring: Wiring, offline: Offline):
    wiring.answer = loaded(a=10)
    offline.folder = SegmentFolder(waiting("one", "two"), ("three: damaged",))
    said = say("queue", "load")
    assert (said.status, offline.places) == (0, [None])
    assert [command.path for _, command, _ in wiring.commands] == ["/s/one.segment"]  # type: ignore[union-attr]  # they load
    assert said.err == "warning: three: damaged\n"
    (here / "folder").mkdir()
    assert say("queue", "load", "folder", "--all", "--json").document == {
        "segments": [{"loaded": {A: 10}, "known": 0, "segment": name} for name in ("one", "two")]
    }
    assert offline.places[1] == here / "folder"


def test_nothing_waits(database: Path, say: Say, wiring: Wiring, offline: Offline):
    said = say("queue", "load")
    assert (said.status, said.out) == (0, "no segment waits to be loaded\n")
    assert say("queue", "load", "--json").document == {"loaded": {}, "known": 0, "segment": None}
    assert say("queue", "load", "--all", "--json").document == {"segments": []}
    assert wiring.commands == []


def test_what_is_no_segment_is_not_asked_for(database: Path, say: Say, wiring: Wiring, offline: Offline):
    say("queue", "load", "bad.segment").refused("not a segment")
    assert say("queue", "load", "one.segment", "--all").status == 2
    assert wiring.commands == []


def test_a_refused_segment_is_an_error(database: Path, say: Say, wiring: Wiring, offline: Offline):
    wiring.answer = lambda _: ActionResult(1, "", "", "segment one was loaded already, yesterday")
    say("queue", "load", "one.segment", "--json").refused("loaded already")


def test_of_many_the_first_that_is_refused_ends_it(database: Path, say: Say, wiring: Wiring, offline: Offline):
    offline.folder = SegmentFolder(waiting("one", "two", "three"), ())
    good, bad = loaded(a=1), ActionResult(1, "", "", "damaged")
    wiring.answer = lambda command: bad if "two" in str(command) else good(command)
    said = say("queue", "load", "--all", "--json")
    assert said.status == 2
    assert [one["segment"] for one in said.document["segments"]] == ["one"]
    assert len(wiring.commands) == 2


def test_a_live_run_that_does_not_answer(database: Path, say: Say, wiring: Wiring, offline: Offline):
    def late(_: Any) -> ActionResult:
        raise NotTakenUp("it stays in the journal")

    wiring.answer = late
    say("queue", "load", "one.segment").refused("stays in the journal", status=3)


def test_no_name_reaches_the_terminal_unescaped(database: Path, say: Say, wiring: Wiring, offline: Offline):
    wiring.answer = lambda _: ActionResult(1, "{}", json.dumps({"pages": {"https://\x1b[31m": 1}}))
    offline.folder = SegmentFolder(((Path("/s/x"), SegmentHead("\x1b[2J", "", 0, 1)),), ("\x1b]0;x\x07",))
    assert "1 page loaded" in say("queue", "load").out
    offline.kept = object()
    offline.answer = Built(0, 0, 0, 0, (BuiltSegment(Path("/s/\x1b[31m"), 1),), ("\x1b[31m",))
    assert "warning: " in say("queue", "build").err
