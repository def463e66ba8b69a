"""Reports on rulesets: the history of a job's rules, and what is in force."""

from __future__ import annotations

from tui_crawler.domain.ruleset import Ruleset
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.rulesets import ruleset_of

_VERSIONS = """SELECT r.id, j.name, r.rules, r.parent_id, r.at, r.who, r.note, r.from_config, j.ruleset_id = r.id
FROM ruleset r JOIN job j ON j.id = r.job_id"""

_CURRENT = """WHERE r.id = j.ruleset_id
ORDER BY j.id = (SELECT job_id FROM run ORDER BY id DESC LIMIT 1) DESC, j.id"""


def rulesets(reader: Reader, job: str, limit: int) -> tuple[Ruleset, ...]:
    """Versions, newest first: of one job, or of all for an empty name."""
    where, values = (" WHERE j.name = ?", (clean(job), limit)) if job else ("", (limit,))
    rows = reader.all(f"{_VERSIONS}{where} ORDER BY r.id DESC LIMIT ?", values)
    return tuple(ruleset_of(row) for row in rows)


def ruleset(reader: Reader, ruleset_id: int) -> Ruleset | None:
    """One version, None when there is none of this id."""
    row = reader.one(f"{_VERSIONS} WHERE r.id = ?", (ruleset_id,))
    return ruleset_of(row) if row else None


def current_rulesets(reader: Reader) -> tuple[Ruleset, ...]:
    """The version in force of each job, the job of the newest run first."""
    return tuple(ruleset_of(row) for row in reader.all(f"{_VERSIONS} {_CURRENT}"))
