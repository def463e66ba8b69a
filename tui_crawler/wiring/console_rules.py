"""What the rule editor of the console asks: a text of rules read as `rules apply` reads it, and a draft judged."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.domain.records.database_place import DatabasePlace

if TYPE_CHECKING:
    from tui_crawler.domain.rules.exclusion import Exclusion
    from tui_crawler.domain.rules.preview import Impact, Preview
    from tui_crawler.domain.rules.ruleset import RulesetChange, RulesProblem
    from tui_crawler.wiring.rules import RuleQueries

SOURCE = "console"
"""The name of the text in the places of its entries."""


class ConsoleRules:
    """Fits the console's RuleQueries for one database. Holds no connection: any thread may call it."""

    def __init__(self, database: DatabasePlace) -> None:
        self._database = database

    def read(self, text: str) -> RulesetChange | tuple[RulesProblem, ...]:
        from tui_crawler.config.load import read_rules  # noqa: PLC0415  the screen does not wait for it
        from tui_crawler.config.problem import ConfigErrors  # noqa: PLC0415
        from tui_crawler.domain.rules.ruleset import RulesProblem  # noqa: PLC0415

        try:
            return read_rules(text, SOURCE, Path())
        except ConfigErrors as errors:
            said = ((one, "; ".join(filter(None, (one.message, one.suggestion)))) for one in errors.problems)
            return tuple(RulesProblem(one.line, f"{one.key}: {words}" if one.key else words) for one, words in said)

    def impact(self, change: RulesetChange, job: str) -> ConsoleImpact:
        return ConsoleImpact(self._database, lambda rule_queries: rule_queries.impact(change, job))

    def impact_of_exclusions(self, more: tuple[Exclusion, ...]) -> ConsoleImpact:
        return ConsoleImpact(self._database, lambda rule_queries: rule_queries.impact_of_exclusions(more))


class ConsoleImpact:
    """Fits the console's ImpactCount for one database. Holds no connection between two times."""

    def __init__(self, database: DatabasePlace, begin: Callable[[RuleQueries], Impact]) -> None:
        self._database, self._begin = database, begin
        self._impact: Impact | None = None

    def go_on(self, progress: Callable[[int], None]) -> Preview:
        """As the port says; raises, the first time, also NoSuchJob and BadPattern."""
        from tui_crawler.storage.reports.reports import Reports  # noqa: PLC0415  the screen does not wait for it
        from tui_crawler.wiring.rules import RuleQueries, judge_known  # noqa: PLC0415

        with contextlib.closing(Reports(self._database)) as reports:
            if self._impact is None:
                self._impact = self._begin(RuleQueries(reports))
            return judge_known(self._impact, reports, progress)
