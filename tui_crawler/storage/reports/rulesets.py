"""Reports on rulesets: the history of a job's rules, and what is in force."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tui_crawler.domain.failure import StorageFailure
from tui_crawler.domain.policy import PolicySet
from tui_crawler.domain.ruleset import BadRuleset, Ruleset, from_json
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.reader import SubjectReports
from tui_crawler.storage.transaction import Row

_VERSIONS = """SELECT r.id, j.name, r.rules, r.parent_id, r.at, r.who, r.note, r.from_config, j.ruleset_id = r.id
FROM ruleset r JOIN job j ON j.id = r.job_id"""

_CURRENT = """WHERE r.id = j.ruleset_id
ORDER BY j.id = (SELECT job_id FROM run ORDER BY id DESC LIMIT 1) DESC, j.id"""

_APPLIED = """SELECT id, "after" FROM operator_action WHERE action = 'rules' AND applied_at > 0 AND error = ''
ORDER BY id DESC"""

_WITH_IT = """SELECT COUNT(*) FROM ruleset a JOIN ruleset b ON b.at = a.at AND b.who = a.who AND b.note = a.note
WHERE a.id = ? AND a.from_config = 0 AND b.from_config = 0"""


def ruleset_of(row: Row) -> Ruleset:
    """A ruleset of id, job, rules, parent_id, at, who, note, from_config, current. Raises StorageFailure."""
    try:
        return with_policies(row, from_json(row[2]))
    except BadRuleset as error:
        raise StorageFailure(f"ruleset {row[0]} of job {row[1]!r}: {error}") from error


def with_policies(row: Row, policies: PolicySet) -> Ruleset:
    """The same row, its rules read already."""
    ruleset_id, job, _, parent_id, at, who, said, from_config, is_current = row
    return Ruleset(ruleset_id, job, policies, parent_id, at, who, said, bool(from_config), bool(is_current))


def _versions_of(after: str) -> Mapping[str, int]:
    """What holds after an action, by job; empty where the journal cannot be read."""
    try:
        document = json.loads(after)
        versions = document["rulesets"]
    except (ValueError, KeyError, TypeError):
        return {}
    return {name: one for name, one in versions.items() if isinstance(one, int)} if isinstance(versions, dict) else {}


class RulesetReports(SubjectReports):
    """The history of the rules of each job, and what is in force."""

    def rulesets(self, job: str = "", limit: int = 200) -> tuple[Ruleset, ...]:
        """The versions of a job's rules, newest first; of all jobs for an empty name."""
        where, values = (" WHERE j.name = ?", (clean(job), limit)) if job else ("", (limit,))
        return self._read(f"{where} ORDER BY r.id DESC LIMIT ?", values)

    def ruleset(self, ruleset_id: int) -> Ruleset | None:
        """One version, None when there is none of this id."""
        return next(iter(self._read(" WHERE r.id = ?", (ruleset_id,))), None)

    def current_rulesets(self) -> tuple[Ruleset, ...]:
        """The version in force of each job, the job of the newest run first."""
        return self._read(f" {_CURRENT}")

    def _read(self, ending: str, values: Sequence[str | int] = ()) -> tuple[Ruleset, ...]:
        return tuple(map(ruleset_of, self._reader.all(f"{_VERSIONS}{ending}", values)))

    def ruleset_writer(self, job: str, ruleset_id: int, alone: bool) -> int:
        """The action of the operator journal that wrote a version of a job, 0 where none did. `alone`: also 0 where it
        wrote versions of other jobs, too."""
        number = self._reader.number(_WITH_IT, (ruleset_id,))
        if not number or (alone and number > 1):
            return 0
        writer = 0
        for action_id, after in self._reader.stream(_APPLIED):  # several may name it: those that changed nothing later
            current = _versions_of(after).get(job, 0)
            if current == ruleset_id:
                writer = action_id
            elif writer or current < ruleset_id:
                break
        return writer
