"""The folder in which a crawl may begin: what lies there, whether a first step can be done, and its configuration."""

import contextlib
import os
from itertools import chain, count
from pathlib import Path

from tui_crawler.config.load import config_from_seeds, load_config
from tui_crawler.config.problem import ConfigErrors, ConfigProblem
from tui_crawler.config.schema import Config
from tui_crawler.console.welcome import first_step
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.seed_option import option_of, settings_of
from tui_crawler.domain.records.status_words import run_word
from tui_crawler.domain.url import file_stem, normalise
from tui_crawler.storage.db.file_identity import FileState, examine
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.text.format import plural

_MOST = 30  # files of each kind that are looked into


class Folder:
    """Fits the console's Threshold. Paths that are typed are meant from this folder on; `~` is the home folder."""

    def __init__(self, path: Path, *, impolite: bool = False) -> None:
        """`impolite` is the command line's `--allow-impolite`."""
        self._path, self._impolite = path, impolite

    @property
    def folder(self) -> str:
        """The folder, short where it lies in the home folder."""
        with contextlib.suppress(ValueError, RuntimeError):
            return f"~/{self._path.relative_to(Path.home())}".removesuffix("/.")
        return str(self._path)

    def look(self) -> first_step.FolderFound:
        configurations, databases = self._files("*.yaml", "*.yml"), self._files("*.db")
        return first_step.FolderFound(
            tuple(_configuration(path, self._impolite) for path in configurations[:_MOST]),
            tuple(_database(path) for path in databases[:_MOST]),
            max(0, len(configurations) - _MOST) + max(0, len(databases) - _MOST),
        )

    def check(self, step: first_step.FirstStep) -> tuple[first_step.StepProblem, ...]:
        try:
            match step:
                case first_step.FromSeeds():
                    self.config_for(step)
                    cannot = first_step.StepProblem(f"{self._path}: this folder cannot be written")
                    return () if os.access(self._path, os.W_OK | os.X_OK) else (cannot,)
                case first_step.FromConfiguration(path=path):
                    return tuple(map(first_step.StepProblem, self._check_configuration(path)))
                case first_step.FromDatabase(path=path):
                    return tuple(map(first_step.StepProblem, self._check_database(path)))
                case first_step.FromDemo():
                    return ()
        except ConfigErrors as errors:
            if isinstance(step, first_step.FromConfiguration):
                return tuple(first_step.StepProblem(str(problem)) for problem in errors.problems)
            return tuple(map(_of_seeds, errors.problems))

    def file(self, typed: str) -> Path:
        with contextlib.suppress(RuntimeError):  # there is no such user
            return self._path / Path(typed).expanduser()
        return self._path / typed

    def config_for(self, step: first_step.FromSeeds) -> tuple[Config, Path]:
        """The configuration of these seeds, and a new database of this folder. Raises ConfigErrors."""
        stem = file_stem(normalise(step.urls[0]), with_port=False)
        names = chain((f"{stem}.db",), (f"{stem}-{number}.db" for number in count(2)))
        database = next(path for name in names if not (path := self._path / name).exists())
        settings, name = settings_of(step.given, impolite=self._impolite), database.stem
        config = config_from_seeds(
            step.urls, database, name=name, overrides=settings, allow_impolite_cli=self._impolite
        )
        return config, database

    def _files(self, *patterns: str) -> list[Path]:
        return sorted(path for pattern in patterns for path in self._path.glob(pattern) if path.is_file())

    def _check_configuration(self, typed: str) -> tuple[str, ...]:
        path = self.file(typed)
        short = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        database = Path(load_config(short, allow_impolite_cli=self._impolite).database.location)
        return self._check_database(str(database)) if database.exists() else ()

    def _check_database(self, typed: str) -> tuple[str, ...]:
        path = self.file(typed)
        if not path.exists():
            return (f"{typed}: there is no such file",)
        if path.is_dir():
            return (f"{typed}: this is a folder, not a database",)
        try:
            if examine(path) is FileState.current:
                with contextlib.closing(Reports(path)) as reports:
                    reports.run()
        except StorageFailure as failure:
            return (str(failure),)
        return ()


def _of_seeds(problem: ConfigProblem) -> first_step.StepProblem:
    one = option_of(problem.key)
    if one is not None:
        return first_step.StepProblem(problem.message, one.name)
    hint = f"; {problem.suggestion}" if problem.suggestion else ""
    return first_step.StepProblem(f"{problem.key}: {problem.message}{hint}")


def _configuration(path: Path, impolite: bool) -> first_step.FoundFile:
    try:
        config = load_config(path, allow_impolite_cli=impolite)
    except ConfigErrors as errors:
        return first_step.FoundFile(
            path.name, f"{plural(len(errors.problems), 'problem')}; enter shows them", usable=False
        )
    database = Path(config.database.location).name
    return first_step.FoundFile(path.name, f"{plural(len(config.seeds), 'seed')} → {database}")


def _database(path: Path) -> first_step.FoundFile:
    try:
        if examine(path) is FileState.older:
            return first_step.FoundFile(path.name, "of an earlier version; opening it upgrades it")
        with contextlib.closing(Reports(path)) as reports:
            run, totals = reports.run(), reports.totals()
    except StorageFailure:
        return first_step.FoundFile(path.name, "cannot be opened; enter says why", usable=False)
    if run is None:
        return first_step.FoundFile(path.name, "not crawled yet")
    state = f"run {run.run_id} {run_word(run)}"
    return first_step.FoundFile(path.name, f"{run.config_name} · {state} · {plural(totals.done, 'page')} done")
