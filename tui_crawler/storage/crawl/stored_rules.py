"""How a stored version of the rules of a job becomes a record: for writers and for reports, which load no writer."""

from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.rules.policy import PolicySet
from tui_crawler.domain.rules.ruleset import BadRuleset, Ruleset, from_json
from tui_crawler.storage.db.reader import From, RowMapper


def _policies_of(ruleset_id: int, job: str, rules: str) -> PolicySet:
    try:
        return from_json(rules)
    except BadRuleset as error:
        raise StorageFailure(f"ruleset {ruleset_id} of job {job!r}: {error}") from error


RULESET = RowMapper(Ruleset, policies=From("ruleset_id job policies", _policies_of))
"""A version of the rules of a job, its columns called as its fields."""
