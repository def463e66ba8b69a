"""What holds for all tests: Hypothesis judges what code does, never how long it took on a busy machine; and what is the
same for all of them is done once in a process, since they begin more programs and databases than anybody else does."""

from __future__ import annotations

import functools
import gc
import gettext
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import peewee
import pytest
from hypothesis import HealthCheck, settings

from tui_crawler.storage.statements import Statement
from tui_crawler.storage.transaction import Texts

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Programs begin hundreds of times in these tests: each would compile all of its sources anew."""

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """The collector of cycles passes over what was there before the first test, and looks less often for the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_runtest_teardown() -> None:
    """Textual remembers the last 1,024 widgets it painted, of whatever program: those of a test are gone after it."""
    if "textual" in sys.modules:
        from textual._styles_cache import StylesCache  # noqa: PLC0415  # most tests need no Textual

        StylesCache.get_inner_outer.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """SQL texts, which are those of every SQLite database; and that the machine has no translations of argparse, for
    which that looks on the disk a hundred times for each command line."""
    statements: dict[tuple[Callable[..., Any], int], Statement] = {}

    def share(texts: Texts, database: peewee.Database) -> None:
        texts._database, texts._kept = database, statements

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Texts, "__init__", share)
        patched.setattr(gettext, "find", functools.cache(gettext.find))
        yield
