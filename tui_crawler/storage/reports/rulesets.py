"""Reports on rulesets: the history of a job's rules, and what is in force."""
# What judges URLs is large, and the first rows need none of it.

import json
from collections.abc import Sequence
from contextlib import suppress

from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.ruleset import Ruleset
from tui_crawler.storage.crawl.stored_rules import RULESET
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.reader import SubjectReports

_VERSIONS = """SELECT r.id AS ruleset_id, j.name AS job, r.rules AS policies, r.parent_id, r.at, r.who, r.note,
r.from_config, j.ruleset_id = r.id AS current FROM ruleset r JOIN job j ON j.id = r.job_id"""

_CURRENT = """WHERE r.id = j.ruleset_id
ORDER BY j.id = (SELECT job_id FROM run ORDER BY id DESC LIMIT 1) DESC, j.id"""

_APPLIED = """SELECT id, "after" FROM operator_action WHERE action = 'rules' AND applied_at > 0 AND error = ''
ORDER BY id DESC"""

_WITH_IT = """SELECT COUNT(*) FROM ruleset a JOIN ruleset b ON b.at = a.at AND b.who = a.who AND b.note = a.note
WHERE a.id = ? AND a.from_config = 0 AND b.from_config = 0"""


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

    def exclusions(self) -> tuple[Exclusion, ...]:
        """The exclusion list as operators have extended it."""
        text = "SELECT kind, value, reason, who, source FROM exclusion ORDER BY id"
        return self._reader.records(Exclusion, text)

    def _read(self, ending: str, values: Sequence[str | int] = ()) -> tuple[Ruleset, ...]:
        return self._reader.records(RULESET, f"{_VERSIONS}{ending}", values)

    def ruleset_writer(self, job: str, ruleset_id: int, alone: bool) -> int:
        """The action of the operator journal that wrote a version of a job, 0 where none did. `alone`: also 0 where it
        wrote versions of other jobs, too."""
        number = self._reader.number(_WITH_IT, (ruleset_id,))
        if not number or (alone and number > 1):
            return 0
        writer = 0
        for action_id, after in self._reader.stream(_APPLIED):  # several may name it: those that changed nothing later
            current = 0
            with suppress(ValueError, KeyError, TypeError):  # it cannot be read, or says nothing of the job
                version = json.loads(after)["rulesets"][job]
                current = version if isinstance(version, int) else 0
            if current == ruleset_id:
                writer = action_id
            elif writer or current < ruleset_id:
                break
        return writer
