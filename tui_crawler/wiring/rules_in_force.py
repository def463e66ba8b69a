"""Which rules decide over the URLs of a database, and the configuration it keeps: all that is needed to show them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.domain.run import NoSuchJob

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.domain.exclusion import Exclusion
    from tui_crawler.domain.policy import PolicySet
    from tui_crawler.domain.view import RunView
    from tui_crawler.storage.reports import Reports


@dataclass(frozen=True, slots=True)
class RulesInForce:
    """What decides over the URLs of a job: its ruleset (`ruleset_id` 0: none is stored yet, `own` is the configured
    one) and the exclusions that operators added."""

    job: str
    ruleset_id: int
    own: PolicySet
    added: tuple[Exclusion, ...] = ()

    @property
    def policies(self) -> PolicySet:
        """All of it."""
        return self.own.with_exclusions(self.added)


def rules_in_force(reports: Reports, job: str = "") -> tuple[RulesInForce, ...]:
    """The rules of every job, that of the newest run first; of one job if it is named.

    A job that has no ruleset yet goes by the configuration. Raises NoSuchJob.
    """
    added = reports.exclusions()
    current = {
        one.job: RulesInForce(one.job, one.ruleset_id, one.policies, added) for one in reports.current_rulesets()
    }
    jobs = [str(row[0]) for row in reports.rows("v_job", ("job",))]
    if job and job not in jobs:
        raise NoSuchJob(f"there is no job named {job!r}")
    names = [job] if job else list(dict.fromkeys([*current, *jobs]))
    if names and current.keys() >= set(names):
        return tuple(current[name] for name in names)
    config = stored_config(reports.config_text(), reports.run())
    return tuple(
        current.get(name) or RulesInForce(name, 0, _configured(config, name), added) for name in names or [config.name]
    )


def stored_config(text: str, run: RunView | None) -> Config:
    """The configuration of the newest run as the database keeps it; all defaults where there is none to be read."""
    from tui_crawler.config.load import read_config  # noqa: PLC0415  where rulesets are stored none is read
    from tui_crawler.config.problem import ConfigErrors  # noqa: PLC0415  the same
    from tui_crawler.config.schema import Config  # noqa: PLC0415  the same

    if text and run is not None:
        with contextlib.suppress(ConfigErrors):
            return read_config(text, run.config_name)
    return Config(())


def _configured(config: Config, job: str) -> PolicySet:
    """The rules of a job as the configuration has them."""
    own = next((one.rules for one in config.jobs if one.name == job), ())
    return replace(config.policy_set, rules=(*config.policy_set.rules, *own))
