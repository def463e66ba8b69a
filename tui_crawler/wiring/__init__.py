"""Wiring: the only place that knows every part. What the command line calls most stands here and loads when called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace

if TYPE_CHECKING:
    from tui_crawler.storage.db.file_identity import server_module
    from tui_crawler.storage.reports.reports import Reports
    from tui_crawler.wiring.console import demo_console, open_console
    from tui_crawler.wiring.coverage import coverage_of
    from tui_crawler.wiring.demo import demo_headless, demo_serve
    from tui_crawler.wiring.export import write_export
    from tui_crawler.wiring.headless import run_headless
    from tui_crawler.wiring.replay_console import crawl_in_file, open_replay
    from tui_crawler.wiring.steering import carry_out
    from tui_crawler.wiring.welcome import config_from_first_seeds, open_welcome

    open_reports = Reports
else:

    def __getattr__(name: str) -> object:
        if name not in _LATE:
            raise AttributeError(name)
        module, _, within = _LATE[name].partition(":")
        if module in {"wiring.console", "wiring.replay_console"}:
            _prepare_for_screen()
        return getattr(import_module(f"tui_crawler.{module}"), within or name)


_LATE = {
    "open_reports": "storage.reports.reports:Reports",
    "carry_out": "wiring.steering",
    "coverage_of": "wiring.coverage",
    "server_module": "storage.db.file_identity",
    "write_export": "wiring.export",
    "run_headless": "wiring.headless",
    "open_console": "wiring.console",
    "demo_console": "wiring.console",
    "demo_headless": "wiring.demo",
    "demo_serve": "wiring.demo",
    "crawl_in_file": "wiring.replay_console",
    "open_replay": "wiring.replay_console",
    "open_welcome": "wiring.welcome",
    "config_from_first_seeds": "wiring.welcome",
}
"""Where what is called as it stands is loaded from, and its name there if it is another one."""
__all__ = [
    "carry_out",
    "config_from_first_seeds",
    "coverage_of",
    "crawl_in_file",
    "demo_console",
    "demo_headless",
    "demo_serve",
    "open_console",
    "open_replay",
    "open_reports",
    "open_welcome",
    "operator_name",
    "run_headless",
    "server_module",
    "write_export",
]  # fmt: skip


class _NotShown(ModuleType):
    """In place of a module of Textual: whatever is imported from it is an empty class."""

    def __getattr__(self, name: str) -> type:
        return type(name, (), {})


def _prepare_for_screen() -> None:
    """Before Textual is loaded. What a key has changed waits for its frame half as long: at most 120 frames a second,
    where Textual has 60. Textual's own command palette, which no app here has (ENABLE_COMMAND_PALETTE), would load ten
    widgets."""
    os.environ.setdefault("TEXTUAL_FPS", "120")
    sys.modules.setdefault("textual.command", _NotShown("textual.command"))


def operator_name(database: DatabasePlace | None = None) -> str:
    """The name of the user of this process, `operator` where the system knows none; with that of the machine for a
    database that several may use."""
    import getpass

    try:
        user = getpass.getuser()
    except (ImportError, KeyError, OSError):  # no such user in the password database, none in the environment
        user = "operator"
    if not isinstance(database, PostgresPlace):
        return user
    import socket

    return f"{user}@{socket.gethostname()}"
