"""How a crawl can begin where there is none yet: what lies in a folder, what may be chosen, and who checks it.

Known to the welcome screen and to the wiring that carries the choice out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the folder by its name. `about` says what is in it, or (not `usable`) what is wrong (raw)."""

    name: str
    about: str
    usable: bool = True


@dataclass(frozen=True, slots=True)
class FolderFound:
    """What lies in a folder. `more` files of these kinds were not looked into."""

    configurations: tuple[FoundFile, ...] = ()
    databases: tuple[FoundFile, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class FromSeeds:
    """Crawl from these URLs; `given` has values by the names of `SEED_OPTIONS`, the others are as usual."""

    urls: tuple[str, ...]
    given: Mapping[str, str | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FromConfiguration:
    """Crawl as the configuration in this file says."""

    path: str


@dataclass(frozen=True, slots=True)
class FromDatabase:
    """Open the crawl that this file keeps."""

    path: str


@dataclass(frozen=True, slots=True)
class FromDemo:
    """Crawl the built-in demo web."""


FirstStep = FromSeeds | FromConfiguration | FromDatabase | FromDemo
"""What was chosen."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Nothing was chosen; `exit_status` is 0, or that of a signal."""

    exit_status: int = 0


@dataclass(frozen=True, slots=True)
class StepProblem:
    """What keeps a step from being done, on one line (raw); `option` names the setting that is wrong, if one is."""

    words: str
    option: str = ""


class StartFolder(Protocol):
    """The folder in which a crawl may begin. Every method may be slow, writes nothing and fits any thread."""

    @property
    def folder(self) -> str:
        """The folder, for a person (raw)."""

    def look(self) -> FolderFound:
        """What lies here."""

    def check(self, step: FirstStep) -> tuple[StepProblem, ...]:
        """What keeps this step from being done; nothing when it can be done."""
