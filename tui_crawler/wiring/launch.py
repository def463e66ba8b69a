"""How a crawl is started: by `run`, as one more worker of a run, in the child of a console, or left to itself.

One value says it. It is read from a command line, and is one for a process that is to crawl in the same way.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from tui_crawler.domain.record import dataclass, fields, replace
from tui_crawler.domain.records.database_place import DatabasePlace, location_of


@dataclass(frozen=True, slots=True)
class Launch:
    """The options of `run` that are no configuration, or win over it; each has its name.

    Without a `file` the configuration is the one that the database keeps. Of several `workers` the first starts those
    that `join` it, by their numbers. One that `may_join` takes part in the live run, or continues the last one; `token`
    proves its name. `metrics` is an address (host, port) for Prometheus, `on_event` the command that gets alarms.
    """

    file: str | None = None
    new_run: bool = False
    max_requests: int | None = None
    recheck: bool = False
    force_recrawl: bool = False
    user_agent: str | None = None
    own: bool = False
    allow_impolite: bool = False
    ignore_database_name: bool = False
    workers: int = 1
    join: int | None = None
    metrics: tuple[str, int] | None = None
    on_event: tuple[str, ...] = ()
    quiet: bool = False
    json: bool = False
    may_join: bool = False
    token: str = ""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Launch:
        """What a command line asks for; of a command that has fewer options, the others are left out."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in vars(arguments).items() if name in names})

    def joined(self, number: int) -> Launch:
        """One more worker of this run."""
        alone = replace(self, new_run=False, metrics=None, on_event=(), quiet=False)
        return replace(alone, json=True, ignore_database_name=True, join=number)

    def detached(self, file: str) -> Launch:
        """The same crawl without a console, by the configuration in `file`; empty: by the one the database keeps."""
        path = str(Path(file).absolute()) if file else None
        alone = Launch(path, allow_impolite=self.allow_impolite, ignore_database_name=bool(file), workers=self.workers)
        return replace(alone, metrics=self.metrics, on_event=self.on_event, quiet=True)

    def words(self, database: DatabasePlace) -> tuple[str, ...]:
        """The words of the command line that starts it on a database."""
        words = ["run", *([self.file] if self.file else []), "--db", location_of(database)]
        for one in fields(self):
            value = getattr(self, one.name)
            if value == one.default or one.name in {"file", "may_join", "token"}:
                continue
            option = f"--{one.name.replace('_', '-')}"
            match value:
                case True:
                    words.append(option)
                case (str(host), int(port)):
                    words.append(f"{option}=[{host}]:{port}")
                case tuple():
                    words.append(f"{option}={shlex.join(value)}")
                case _:
                    words.append(f"{option}={value}")
        return tuple(words)


def program(*words: str) -> tuple[str, ...]:
    """The command line of this very program."""
    return (sys.executable, "-m", "tui_crawler", *words)
