"""What holds for all tests: Hypothesis judges what code does, never how long it took on a busy machine; and what is the
same for all of them is done once in a process, since they begin more programs and databases than anybody else does."""

from __future__ import annotations

import functools
import gc
import gettext
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import peewee
import pytest
from hypothesis import HealthCheck, settings

from tui_crawler.storage.db.transaction import Texts

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Programs begin hundreds of times in these tests: each would compile all of its sources anew."""

os.environ.pop("NO_COLOR", None)
os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LC_ALL="C.UTF-8")
"""Consoles are those of a terminal that shows everything, wherever the tests run."""

settings.register_profile("untimed", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("untimed"), max_examples=1_000)
settings.load_profile("untimed")


QUICK = ("domain", "config", "designs/test_scope.py", "console/test_overview.py")
"""For a first look: the pure core, the configuration, crawls of a web on the loopback, one screen of the console."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no other file for `pytest -m quick`."""
    path = collection_path.relative_to(Path(__file__).parent).as_posix() if collection_path.suffix == ".py" else ""
    return True if path and config.option.markexpr == "quick" and not path.startswith(QUICK) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(Path(__file__).parent).as_posix().startswith(QUICK):
            item.add_marker("quick")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Workers begin to import the tests each elsewhere: one rewrites the assertions of a file, the others find that."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    folders = [Path(argument) for argument in session.config.args]
    files = sorted({file for folder in folders for file in folder.rglob("test_*.py")})
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in (*files[first:], *files[:first]):
        with suppress(Exception), warnings.catch_warnings(action="error"):  # the collection tells what is wrong
            module = file.absolute().relative_to(session.config.rootpath).with_suffix("")
            importlib.import_module(".".join(module.parts))


def pytest_collection_finish() -> None:
    """The collector of cycles passes over what was there before the first test, and looks less often for the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


_UMASK = os.umask(0o022)
os.umask(_UMASK)


def pytest_runtest_teardown() -> None:
    """Undo what a command changes for its process: a crawl with credentials the umask, a short one the collector."""
    os.umask(_UMASK)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """SQL texts, which are those of every database of a kind; and that the machine has no translations of argparse, for
    which that looks on the disk a hundred times for each command line."""
    firsts: dict[type, Texts] = {}
    make = Texts.__init__

    def share(texts: Texts, database: peewee.Database) -> None:
        make(texts, database)
        first = firsts.setdefault(type(database), texts)
        texts._kept, texts._by_column = first._kept, first._by_column

    with pytest.MonkeyPatch.context() as patched:
        if "textual" in sys.modules:
            share_rules(patched)
            paint_less(patched)
        patched.setattr(Texts, "__init__", share)
        patched.setattr(gettext, "find", functools.cache(gettext.find))
        yield


def share_rules(patched: pytest.MonkeyPatch) -> None:
    """The rules of a style sheet, which depend on its text and on the colours of the theme, and are only read."""
    from textual.css.stylesheet import Stylesheet  # noqa: PLC0415  # most tests need no Textual

    parse, made = Stylesheet._parse_rules, {}

    def parse_once(sheet: Stylesheet, *source: Any, **how: Any) -> Any:
        key = (source, *sorted(how.items()), frozenset(sheet._variables.items()))
        if key not in made:
            made[key] = parse(sheet, *source, **how)
        return made[key]

    patched.setattr(Stylesheet, "_parse_rules", parse_once)


def paint_less(patched: pytest.MonkeyPatch) -> None:
    """Apps that say so (`StageApp`) paint when a test looks at them, not at each message on the way; and what is
    painted once has no caches, of which Textual makes seven for each line."""
    from textual import strip  # noqa: PLC0415  # most tests need no Textual
    from textual.screen import Screen  # noqa: PLC0415

    class Nothing:
        def get(self, key: object, default: object = None) -> object:
            return default

        def __setitem__(self, key: object, value: object) -> None:
            pass

    nothing = Nothing()
    patched.setattr(strip, "FIFOCache", lambda _: nothing)
    paint = Screen._compositor_refresh

    def paint_unless_put_off(screen: Screen[Any]) -> None:
        if screen is not screen.app.screen or not getattr(screen.app, "puts_painting_off", False):
            paint(screen)

    patched.setattr(Screen, "_compositor_refresh", paint_unless_put_off)


@pytest.fixture
def painted_when_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of what was painted before: columns stay as wide as they were."""
    from tests.console.support import StageApp  # noqa: PLC0415  # most tests need no console

    monkeypatch.setattr(StageApp, "paints_when_quiet", True)


@pytest.fixture
def painted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of what is painted when: at each message, as where no test looks on."""
    from tests.console.support import StageApp  # noqa: PLC0415  # most tests need no console

    monkeypatch.setattr(StageApp, "puts_painting_off", False)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server; where there is none, the tests that need it are skipped, or fail in CI."""
    from tests.support.postgres_server import NoServer, shared_server, unavailable  # noqa: PLC0415  most need none

    own = tmp_path_factory.getbasetemp()
    try:
        with shared_server(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) as url:
            yield url
    except NoServer as error:
        unavailable(str(error))
