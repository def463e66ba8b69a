"""The welcome: what it offers in a folder, how a crawl begins from it, and that a mistake costs nothing."""

from __future__ import annotations

import gc
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from tests.console.pty_child import CASES
from tests.support.keys_page import keys_markdown
from tests.support.patience import PATIENT_S
from tui_crawler.config.load import read_config
from tui_crawler.config.problem import ConfigErrors
from tui_crawler.console.welcome.actions import WELCOME
from tui_crawler.console.welcome.app import FileRow, FirstSeedsScreen, WelcomeApp
from tui_crawler.console.welcome.first_step import (
    Cancelled,
    FirstStep,
    FolderFound,
    FoundFile,
    FromConfiguration,
    FromDatabase,
    FromDemo,
    FromSeeds,
    StepProblem,
)
from tui_crawler.domain.records.seed_option import SEED_OPTIONS
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.wiring.welcome import Folder

FOUND = FolderFound(
    (FoundFile("a.yaml", "1 seed → a.db"), FoundFile("b.yaml", "2 problems", usable=False)),
    (FoundFile("one.db", "run 7 finished"), FoundFile("two.db", "cannot be opened", usable=False)),
)


class FakeFolder:
    """A folder with these files; `problems` are wrong with every step, and a check waits for `gate`."""

    folder = "~/crawls"

    def __init__(self, found: FolderFound = FOUND, problems: tuple[StepProblem, ...] = ()) -> None:
        self.found = found
        self.problems = problems
        self.checked: list[FirstStep] = []
        self.gate = threading.Event()
        self.gate.set()
        self.failure: Exception | None = None

    def look(self) -> FolderFound:
        if self.failure is not None:
            raise self.failure
        return self.found

    def check(self, step: FirstStep) -> tuple[StepProblem, ...]:
        self.checked.append(step)
        self.gate.wait(PATIENT_S)
        if self.failure is not None:
            raise self.failure
        return self.problems


class Welcomed:
    """A running welcome."""

    def __init__(self, app: WelcomeApp, pilot: Pilot[Any]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.worked()

    async def paste(self, text: str) -> None:
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()

    async def worked(self) -> None:
        await self.app.workers.wait_for_complete()
        await self.pilot.pause()

    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


@asynccontextmanager
async def welcome(folder: Any = None, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Welcomed]:
    app = WelcomeApp(folder or FakeFolder())
    async with app.run_test(size=size) as pilot:
        held = Welcomed(app, pilot)
        await pilot.pause()
        await held.worked()
        yield held


async def test_it_offers_every_way_and_the_files_that_were_found() -> None:
    async with welcome() as held:
        text = held.text()
        for words in ("Add seeds", "Demo", "a.yaml", "1 seed → a.db", "✗ 2 problems", "one.db", "run 7", "~/crawls"):
            assert words in text
    async with welcome(FakeFolder(FolderFound())) as held:
        assert "No configuration (*.yaml) and no database (*.db)" in held.text()


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)])
async def test_every_way_is_in_view_at_every_size(size: tuple[int, int]) -> None:
    async with welcome(size=size) as held:
        lines = held.text().splitlines()
        for words in ("Add seeds", "Demo", "a.yaml", "b.yaml", "one.db", "two.db", "Quit"):
            assert any(words in line for line in lines), (words, held.text())
        assert ("▶ ── ○" in held.text()) == (size[0] > 80)


async def test_where_there_is_no_room_it_scrolls_to_every_way() -> None:
    found = FolderFound(tuple(FoundFile(f"{number}.yaml", "1 seed") for number in range(20)))
    async with welcome(FakeFolder(found), size=(40, 10)) as held:
        await held.press("up")
        assert "Quit" in held.text()
        await held.press("up", "enter")
    assert held.app.return_value == FromConfiguration("19.yaml")


async def test_sizes_may_change_at_any_time() -> None:
    async with welcome() as held:
        for keys in ((), ("a",)):
            await held.press(*keys)
            for size in ((1, 1), (250, 70), (39, 9), (40, 10), (100, 30)):
                await held.pilot.resize_terminal(*size)
        await held.press("escape")
        assert "one.db" in held.text()
        await held.pilot.resize_terminal(39, 9)
        await held.worked()
        assert held.text().strip() == "too small: 40×10 needed"


async def test_the_cursor_and_the_mouse_lead_to_the_same() -> None:
    async with welcome() as held:
        await held.press("j", "enter")
        assert held.app.return_value == FromDemo()
    async with welcome() as held:
        await held.pilot.click("FileRow")
        await held.worked()
        assert held.app.return_value == FromConfiguration("a.yaml")
    async with welcome() as held:
        await held.press("up", "enter")
        assert held.app.return_value == Cancelled(0)
    async with welcome() as held:
        await held.press("up", "up", "up", "enter")
        assert held.app.return_value == FromDatabase("one.db")


@pytest.mark.parametrize("key", ["q", "ctrl+q", "ctrl+c"])
async def test_it_is_left_without_having_begun(key: str) -> None:
    async with welcome() as held:
        await held.press(key)
        assert held.app.return_value == Cancelled(0)


async def test_seeds_are_pasted_once_and_begin_with_what_is_typed() -> None:
    folder = FakeFolder()
    async with welcome(folder) as held:
        await held.press("a")
        await held.paste("example.org\nhttps://b.example/\x1b[2J\nhttps://a.example/")
        assert held.app.screen.query_one(TextArea).text == "example.org\nhttps://b.example/[2J\nhttps://a.example/"
        assert "3 seeds of 3 origins" in held.text()
        await held.press("tab", *"me", "tab", *"2s", "tab", "3", "tab", *"50", "tab", "space", "enter")
    given = {"user_agent": "me", "delay": "2s", "depth": "3", "max_pages": "50", "allow_queries": True}
    assert held.app.return_value == FromSeeds(
        ("https://example.org/", "https://b.example/[2J", "https://a.example/"), given
    )
    assert folder.checked == [held.app.return_value]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_every_field_is_in_view_with_its_default(size: tuple[int, int]) -> None:
    async with welcome(size=size) as held:
        await held.press("a")
        lines = held.text().splitlines()
        for one in SEED_OPTIONS:
            (line,) = (line for line in lines if f" {one.label} " in line)
            assert one.default in line or "[ ]" in line


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_who_crawls_is_seen_to_be_empty_and_what_that_means(size: tuple[int, int]) -> None:
    async with welcome(size=size) as held:
        await held.press("a")
        await held.paste("example.org")
        await held.press("tab")
        assert "e.g. my-project-crawler (for https://" in held.text()
        assert "⚠ empty: it goes out as tui-crawler-u" in held.text()
        await held.press(*"me")
        assert "⚠ empty" not in held.text()
        await held.press("backspace", "backspace")
        assert "⚠ empty" in held.text()
        await held.press("enter")
    assert held.app.return_value == FromSeeds(("https://example.org/",)), "it warns, and begins"


async def test_what_is_wrong_is_shown_below_its_field_and_nothing_typed_is_lost() -> None:
    folder = FakeFolder(problems=(StepProblem("not \x1b[2Jthat", "depth"), StepProblem("no room")))
    async with welcome(folder) as held:
        await held.press("a", "ctrl+s")
        assert folder.checked == []  # there is no seed yet
        await held.paste("example.org")
        await held.press("tab", "m", "tab", "tab", "x", "enter")
        lines = held.text().splitlines()
        below = next(number for number, line in enumerate(lines) if " Depth " in line) + 1
        assert "✗ not \\x1b[2Jthat" in lines[below]
        assert "✗ no room" in held.text()
        await held.press("escape")
        assert held.app.is_running
        await held.press("a")
        assert held.app.screen.query_one(TextArea).text == "example.org"
        assert held.app.screen.query_one("#user_agent", Input).value == "m"
        await held.press("ctrl+c", "a")
        assert isinstance(held.app.screen, FirstSeedsScreen)
        folder.problems = ()
        await held.press("ctrl+s")
        assert held.app.return_value == FromSeeds(("https://example.org/",), {"user_agent": "m", "depth": "x"})


async def test_a_configuration_with_problems_shows_their_places() -> None:
    problems = ("b.yaml:3:1: crawll: unknown key; did you mean crawl?", "b.yaml:9:2: delay: no")
    folder = FakeFolder(problems=tuple(map(StepProblem, problems)))
    async with welcome(folder) as held:
        await held.press("down", "down", "down", "enter")
        assert folder.checked == [FromConfiguration("b.yaml")]
        for problem in problems:
            assert problem in held.text()
        folder.problems = ()
        await held.press("enter")
        assert held.app.return_value == FromConfiguration("b.yaml")


async def test_a_check_that_fails_is_words_and_one_that_hangs_can_be_left() -> None:
    folder = FakeFolder()
    async with welcome(folder) as held:
        folder.failure = OSError("the disk is gone")
        await held.press("down", "down", "enter")
        assert "OSError: the disk is gone" in held.text()
        folder.failure = None
        folder.gate.clear()
        await held.pilot.press("enter")
        await held.pilot.pause()
        await held.pilot.press("q")
        assert held.app.return_value == Cancelled(0)
        folder.gate.set()


async def test_a_check_of_a_form_that_was_left_begins_nothing() -> None:
    folder = FakeFolder()
    async with welcome(folder) as held:
        await held.press("a")
        await held.paste("example.org")
        folder.gate.clear()
        await held.pilot.press("ctrl+s")
        await held.pilot.press("escape")
        await held.pilot.pause()
        folder.gate.set()
        await held.worked()
        assert held.app.is_running
        assert held.app.return_value is None


async def test_a_folder_that_cannot_be_looked_into_can_be_left() -> None:
    folder = FakeFolder()
    folder.failure = PermissionError("no")
    async with welcome(folder) as held:
        assert "Add seeds" in held.text()
        assert "PermissionError: no" in held.text()
        await held.press("q")
        assert held.app.return_value == Cancelled(0)


async def test_names_of_files_are_hostile() -> None:
    found = FolderFound(
        tuple(FoundFile(f"{case}.yaml", case) for case in CASES), tuple(FoundFile(f"{case}.db", case) for case in CASES)
    )
    folder = FakeFolder(found, tuple(map(StepProblem, CASES)))
    folder.folder = CASES[0]
    async with welcome(folder, size=(100, 50)) as held:
        for row in held.app.screen.query(FileRow):
            row.focus()
            await held.press("enter")
            assert all(char.isprintable() or char == "\n" for char in held.text())


def test_the_page_of_keys_names_its_actions() -> None:
    for action in WELCOME:
        assert action.id in keys_markdown()


class TestAFolder:
    """What really lies in a folder."""

    @pytest.fixture
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def test_it_is_looked_into_and_nothing_is_written(self, here: Path) -> None:
        (here / "good.yaml").write_text("seeds: [https://a.example/, https://b.example/]\n")
        (here / "bad.yml").write_text("seedss: []\n")
        (here / "folder.yaml").mkdir()
        (here / "other.db").write_bytes(b"no database at all")
        open_writable(here / "empty.db", OpenSettings()).close()
        before = {path: path.read_bytes() for path in here.iterdir() if path.is_file()}
        found = Folder(here).look()
        assert found.configurations[1] == FoundFile("good.yaml", "2 seeds → good.db")
        assert (found.configurations[0].name, found.configurations[0].usable) == ("bad.yml", False)
        assert found.databases == (
            FoundFile("empty.db", "not crawled yet"),
            FoundFile("other.db", "cannot be opened; enter says why", usable=False),
        )
        assert {path: path.read_bytes() for path in before} == before

    def test_steps_are_checked(self, here: Path) -> None:
        folder = Folder(here)
        (here / "bad.yaml").write_text("seeds: [https://a.example/]\ncrawll: 1\n")
        (here / "good.yaml").write_text("seeds: [https://a.example/]\n")
        (here / "else.db").write_bytes(b"no database at all" * 100)
        assert folder.check(FromDemo()) == ()
        assert folder.check(FromConfiguration("good.yaml")) == ()
        (problem,) = folder.check(FromConfiguration("bad.yaml"))
        assert problem == StepProblem("bad.yaml:2:1: crawll: unknown key; did you mean crawl?")
        assert "no.yaml" in folder.check(FromConfiguration("no.yaml"))[0].words
        assert folder.check(FromConfiguration("~nobody-of-that-name/x.yaml"))
        assert "no such file" in folder.check(FromDatabase("no.db"))[0].words
        assert "folder" in folder.check(FromDatabase("."))[0].words
        assert "else.db" in folder.check(FromDatabase("else.db"))[0].words
        given = {"user_agent": "ü", "delay": "x", "depth": "-1", "max_pages": "0"}
        assert {one.option for one in folder.check(FromSeeds(("https://a.example/",), given))} == given.keys()
        (floor,) = folder.check(FromSeeds(("https://a.example/",), {"delay": "500ms"}))
        assert (floor.option, "delay.floor makes it 1s" in floor.words) == ("delay", True)
        assert Folder(here, impolite=True).check(FromSeeds(("https://a.example/",), {"delay": "500ms"})) == ()
        assert folder.check(FromSeeds(("https://a.example/",), {"user_agent": "me"})) == ()
        assert not (here / "a.example.db").exists()

    def test_seeds_get_a_database_that_nobody_has(self, here: Path) -> None:
        folder = Folder(here)
        config, database = folder.config_for(
            FromSeeds(("https://a.example/x",), {"user_agent": "me (for https://a.example/)"})
        )
        assert database == here / "a.example.db"
        assert config.user_agent == "me (for https://a.example/)"
        assert read_config(config.text, "kept").user_agent == config.user_agent
        database.touch()
        assert folder.config_for(FromSeeds(("https://a.example/x",)))[1] == here / "a.example-2.db"
        with pytest.raises(ConfigErrors):
            folder.config_for(FromSeeds(("nonsense",)))

    def test_a_folder_of_ones_own_is_short(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(here))
        (here / "sub").mkdir()
        assert Folder(here / "sub").folder == "~/sub"
        assert Folder(here).folder == "~"
        assert Folder(Path("/")).folder == "/"


async def test_a_look_that_was_not_begun_when_the_welcome_is_left_leaves_nothing_behind() -> None:
    async with welcome() as held:
        held.app._begin()
        held.app.workers.cancel_all()  # in the same turn, as the end does; what was not begun would be complained of
        await held.pilot.pause()
        gc.collect()
