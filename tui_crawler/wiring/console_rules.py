"""What the rule editor of the console asks: a text of rules read as `rules apply` reads it, and a draft judged."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.domain.records.database_place import DatabasePlace

if TYPE_CHECKING:
    from tui_crawler.domain.rules.exclusion import Exclusion
    from tui_crawler.domain.rules.preview import Preview
    from tui_crawler.domain.rules.ruleset import RulesetChange, RulesProblem
    from tui_crawler.wiring.rules import Judging, RuleQueries

SOURCE = "console"
"""The name of the text in the places of its entries."""


class ConsoleRules:
    """Fits the console's RuleQueries for one database. Holds no connection: any thread may call it."""

    def __init__(self, database: DatabasePlace) -> None:
        self._database = database

    def read(self, text: str) -> RulesetChange | tuple[RulesProblem, ...]:
        """Return the change that a text makes, or what is wrong with it. Entries know their line: `console:3`."""
        from tui_crawler.config.load import read_rules  # noqa: PLC0415  the screen does not wait for it
        from tui_crawler.config.problem import ConfigErrors  # noqa: PLC0415
        from tui_crawler.domain.rules.ruleset import RulesProblem  # noqa: PLC0415

        try:
            return read_rules(text, SOURCE, Path())
        except ConfigErrors as errors:
            words = (
                (one, f"{one.message}; {one.suggestion}" if one.suggestion else one.message) for one in errors.problems
            )
            return tuple(RulesProblem(one.line, f"{one.key}: {said}" if one.key else said) for one, said in words)

    def impact(self, change: RulesetChange, job: str) -> ConsoleImpact:
        """Counts what a change of a job's rules would block and revive among all known URLs.

        Beginning raises StorageFailure, NoSuchJob, BadPattern.
        """
        return ConsoleImpact(self._database, lambda rule_queries: rule_queries.judging(change, job))

    def impact_of_exclusions(self, more: tuple[Exclusion, ...]) -> ConsoleImpact:
        return ConsoleImpact(self._database, lambda rule_queries: rule_queries.judging_exclusions(more))


class ConsoleImpact:
    """Fits the console's ImpactCount for one database. Holds no connection between two times."""

    def __init__(self, database: DatabasePlace, begin: Callable[[RuleQueries], Judging]) -> None:
        self._database = database
        self._begin = begin
        self._judging: Judging | None = None

    def go_on(self, progress: Callable[[int], None]) -> Preview:
        """Judges the URLs that became known since the last time; answers for all. Blocking.

        `progress` is told how many were judged; what it raises ends the judging. Raises StorageFailure, the first time
        also NoSuchJob and BadPattern.
        """
        from tui_crawler.storage.reports.reports import Reports  # noqa: PLC0415  the screen does not wait for it
        from tui_crawler.wiring.rules import RuleQueries  # noqa: PLC0415

        with contextlib.closing(Reports(self._database)) as reports:
            if self._judging is None:
                self._judging = self._begin(RuleQueries(reports))
            return self._judging.go_on(reports, progress)
