"""Rulesets (B): immutable rows, one current version per job; the configuration and operators write new ones.

Whoever edited last decides. A configuration that says what it said when it was last read leaves the version of an
operator in force; an edited one replaces it. Where an entry was written is no edit: lines that only moved make no new
version, the run goes by the newer places, and the stored version keeps those it was made with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tui_crawler.domain.crawl.job import QueueChange
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.rules import ruleset
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import CompiledPolicies, PolicySet
from tui_crawler.domain.rules.preview import Rejudgement
from tui_crawler.storage.crawl import operator_actions, rejudging
from tui_crawler.storage.crawl.activity import note
from tui_crawler.storage.crawl.jobs import job_id_of
from tui_crawler.storage.crawl.rejudging import Verdicts
from tui_crawler.storage.crawl.stored_rules import RULESET
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.reader import RowMapper
from tui_crawler.storage.db.statements import columns
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Job, Origin, Run
from tui_crawler.storage.models import Ruleset as RulesetRow

CONFIGURATION = "configuration"
"""Who wrote a version that was read from the configuration."""
_VERSION = ("ruleset_id", "job", "policies", "parent_id", "at", "who", "note", "from_config", "current")
_VERSIONS = RulesetRow.select(
    RulesetRow.id,
    Job.name,
    *columns(RulesetRow, "rules parent_id at who note from_config"),
    Job.ruleset_id == RulesetRow.id,
).join(Job, on=(Job.id == RulesetRow.job))


@dataclass(frozen=True, slots=True)
class Edited:
    """What a start finds to be another than at the last one: the configuration, the name robots.txt is asked in."""

    configuration: bool = False
    robots_name: bool = False


def begin(transaction: Transaction, claim: Claim, plan: RunPlan, edited: Edited) -> tuple[ruleset.Ruleset, ...]:
    """What holds at a start, the job of the run first; versions are written where the configuration was edited.

    `plan.policies` hold for every job of the database, also for one that is no longer configured; a job's own rules
    come after the common ones. Refused pages that what was `edited` might let pass go back into the queue. Raises
    StorageFailure for a stored version that cannot be read: rules that forbid something are never passed over.
    """
    own = {clean(job.name): job.rules for job in plan.jobs}
    answers = []
    former: dict[int, PolicySet] = {}
    now: dict[int, PolicySet] = {}
    for job_id, name, current_id in _jobs(transaction):
        rules = () if job_id == claim.job_id else own.get(name, ())
        policies = replace(plan.policies, rules=(*plan.policies.rules, *rules))
        answer = _begin_job(transaction, claim, job_id, current_id, policies)
        now[job_id] = answer.policies
        before = answer if current_id in {0, answer.ruleset_id} else _load(transaction, current_id)
        former[job_id] = before.policies
        answers.append(answer)
    if edited.configuration or edited.robots_name or former != now:
        added = operator_actions.exclusions(transaction)
        rejudgements = _rejudgements(former, now, added, added, plan.max_url_length)
        rejudging.judge_again(transaction, plan.tries, rejudgements, whole=True, robots=edited.robots_name)
    return tuple(answers)


def current(transaction: Transaction) -> tuple[ruleset.Ruleset, ...]:
    """The version in force of each job that has one, the job of the newest run first. Raises StorageFailure."""
    return tuple(_load(transaction, ruleset_id) for _, _, ruleset_id in _jobs(transaction) if ruleset_id)


@dataclass(frozen=True, slots=True)
class RuleEstimate:
    """What an edit will do to refused pages, judged before its transaction: `verdicts` hold for this change of rules
    (by job, before and after) with these exclusions of operators."""

    before: Mapping[int, PolicySet]
    after: Mapping[int, PolicySet]
    added: tuple[Exclusion, ...]
    verdicts: Verdicts


def foresee(transaction: Transaction, claim: Claim, command: ApplyRules) -> RuleEstimate:
    """Judges the pages that are refused now, on a connection that only reads. Raises what `apply` does."""
    edits = _edits(transaction, claim, command)
    before = {job_id: former.policies for job_id, former, _ in edits}
    after = {job_id: policies for job_id, _, policies in edits}
    added = operator_actions.exclusions(transaction)
    verdicts = rejudging.foresee(transaction, _rejudgements(before, after, added, added)) if edits else {}
    return RuleEstimate(before, after, added, verdicts)


def apply(
    transaction: Transaction, claim: Claim, command: ApplyRules, who: str, estimate: RuleEstimate | None = None
) -> tuple[tuple[ruleset.Ruleset, ...], QueueChange]:
    """Write a version for each job that the edit changes; return what is in force now, as `current` does, and how many
    pages of which origin went back into the queue.

    The edit is what `command.rules` changes of the version it names. Without a job it is made to every job, and it
    must name the current version of the run's job. One that changes nothing writes nothing. Pages that the former
    rules refused, and these do not, or with another exit code, go back into the queue. `estimate` of another change
    than this has become meanwhile is of no use.

    Raises RulesetConflict when another version is current, BadRuleset, BadPattern, NoSuchJob, and ValueError for
    common rules that jobs with rules of their own cannot share; then nothing was written.
    """
    before: dict[int, PolicySet] = {}
    after: dict[int, PolicySet] = {}
    back: Mapping[int, int] = {}
    for job_id, former, policies in _edits(transaction, claim, command):
        ruleset_id = _write(transaction, job_id, policies, former.ruleset_id, who, command.note)
        message = f"job {former.job}: version {ruleset_id} of {who} replaces {former.ruleset_id}"
        note(transaction, "ruleset_applied", message, run_id=claim.run_id)
        before[job_id], after[job_id] = former.policies, policies
    if after:
        added = operator_actions.exclusions(transaction)
        holds = estimate is not None and (estimate.before, estimate.after, estimate.added) == (before, after, added)
        verdicts = estimate.verdicts if estimate is not None and holds else None
        rejudgements = _rejudgements(before, after, added, added)
        back = rejudging.judge_again(transaction, claim.tries, rejudgements, foreseen=verdicts)
    return current(transaction), _change_of(transaction, back)


def _edits(transaction: Transaction, claim: Claim, command: ApplyRules) -> list[tuple[int, ruleset.Ruleset, PolicySet]]:
    wanted = ruleset.from_json(command.rules)
    CompiledPolicies(wanted)
    jobs = _jobs(transaction)
    job_id = job_id_of(transaction, claim, command.job)
    name, ruleset_id = next(row[1:] for row in jobs if row[0] == job_id)
    if not ruleset_id:
        raise ValueError(f"job {name!r} has no ruleset yet: it gets one when a run begins")
    base = _load(transaction, ruleset_id)
    if base.ruleset_id != command.base_id:
        at = datetime.fromtimestamp(base.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        raise ruleset.RulesetConflict(
            f"the edit began with version {command.base_id}, but version {base.ruleset_id} is current for job"
            f" {base.job!r}, written by {base.who} at {at}: nothing was written"
        )
    edit = ruleset.change_between(base.policies, wanted)
    edits = []
    for job_id, former in _meant(transaction, jobs, command, base, edit):
        policies = edit.applied_to(former.policies)
        if not ruleset.same_rules(policies, former.policies):
            CompiledPolicies(policies)
            edits.append((job_id, former, policies))
    return edits


def change_exclusion(transaction: Transaction, claim: Claim, exclusion: Exclusion, remove: bool) -> QueueChange | None:
    """Adds or removes an entry of the exclusion list; None when that changes nothing.

    Pages that it, or another rule, had refused go back into the queue where the verdict is another one now.
    """
    before = operator_actions.exclusions(transaction)
    if not operator_actions.change_exclusion(transaction, exclusion, remove):
        return None
    policies = {
        job_id: _load(transaction, ruleset_id).policies for job_id, _, ruleset_id in _jobs(transaction) if ruleset_id
    }
    rejudgements = _rejudgements(policies, policies, before, operator_actions.exclusions(transaction))
    return _change_of(transaction, rejudging.judge_again(transaction, claim.tries, rejudgements))


def _change_of(transaction: Transaction, back: Mapping[int, int]) -> QueueChange:
    """How many pages went `back` into the queue, by the names of their origins."""
    names = transaction.fetch(Origin.select(Origin.id, Origin.origin)) if back else []
    return QueueChange(tuple((name, back[origin_id]) for origin_id, name in names if origin_id in back))


def _rejudgements(
    before: Mapping[int, PolicySet],
    after: Mapping[int, PolicySet],
    added_before: tuple[Exclusion, ...],
    added: tuple[Exclusion, ...],
    longest: int | None = None,
) -> dict[int, Rejudgement]:
    """By job, with what operators have added to the exclusion list; jobs with equal rules share one.

    Raises StorageFailure for a stored value that cannot be compiled.
    """
    made: list[tuple[PolicySet, PolicySet, Rejudgement]] = []
    rejudgements: dict[int, Rejudgement] = {}
    for job_id, now in after.items():
        former = before[job_id]
        known = next((one for was, is_now, one in made if (was, is_now) == (former, now)), None)
        if known is None:
            try:
                known = Rejudgement(former.with_exclusions(added_before), now.with_exclusions(added), longest)
            except BadPattern as error:
                raise StorageFailure(f"the stored rules cannot be compiled: {error}") from error
            made.append((former, now, known))
        rejudgements[job_id] = known
    return rejudgements


def _begin_job(
    transaction: Transaction, claim: Claim, job_id: int, current_id: int, policies: PolicySet
) -> ruleset.Ruleset:
    if not current_id:
        return _load(transaction, _write(transaction, job_id, policies, 0, None, "read from the configuration"))
    of_configuration = (Job.id == job_id) & (RulesetRow.from_config == 1)
    rows = transaction.fetch(_VERSIONS.where(of_configuration).order_by(RulesetRow.id.desc()).limit(1))
    read_last = dict(zip(_VERSION, rows[0], strict=True)) if rows else None
    if read_last is not None and (
        read_last["policies"] == ruleset.to_json(policies)  # tells without reading them, however long they are
        or ruleset.same_rules(RULESET.of(_VERSION)(tuple(read_last.values())).policies, policies)
    ):
        if read_last["ruleset_id"] != current_id:
            return _load(transaction, current_id)
        return RowMapper(ruleset.Ruleset).of(_VERSION)(tuple((read_last | {"policies": policies}).values()))
    now = _load(transaction, current_id)
    said = "the configuration was edited"
    if not now.from_config:
        said += f"; replaces version {now.ruleset_id} of {now.who}" + (f" ({now.note})" if now.note else "")
    written = _load(transaction, _write(transaction, job_id, policies, now.ruleset_id, None, said))
    message = f"job {now.job}: version {written.ruleset_id} replaces {now.ruleset_id}, {said}"
    note(transaction, "ruleset_applied", message, run_id=claim.run_id)
    return written


def _meant(
    transaction: Transaction, jobs: list[Row], command: ApplyRules, base: ruleset.Ruleset, edit: ruleset.RulesetChange
) -> list[tuple[int, ruleset.Ruleset]]:
    """The jobs that an edit is for, with their current versions. Raises ValueError when the rules of all jobs are to
    be replaced although some have rules of their own."""
    if command.job:
        return [(job_id, base) for job_id, name, _ in jobs if name == clean(command.job)]
    meant = [(job_id, _load(transaction, ruleset_id)) for job_id, _, ruleset_id in jobs if ruleset_id]
    if edit.rules is not None:
        common = ruleset.RulesetChange(rules=base.policies.rules)
        others = [one.job for _, one in meant if not ruleset.same_rules(common.applied_to(one.policies), one.policies)]
        if others:
            raise ValueError(
                f"jobs with rules of their own: {', '.join(others)}; say with --job whose rules are to be replaced"
            )
    return meant


def _write(
    transaction: Transaction, job_id: int, policies: PolicySet, parent_id: int, who: str | None, said: str
) -> int:
    values = {
        RulesetRow.job: job_id,
        RulesetRow.parent_id: parent_id,
        RulesetRow.at: transaction.now,
        RulesetRow.who: CONFIGURATION if who is None else clean(who),
        RulesetRow.note: clean(said),
        RulesetRow.rules: ruleset.to_json(policies),
        RulesetRow.from_config: int(who is None),
    }
    ruleset_id = int(transaction.fetch(RulesetRow.insert(values).returning(RulesetRow.id))[0][0])
    transaction.execute(Job.update({Job.ruleset_id: ruleset_id}).where(Job.id == job_id))
    return ruleset_id


def _load(transaction: Transaction, ruleset_id: int) -> ruleset.Ruleset:
    rows = transaction.fetch(_VERSIONS.where(RulesetRow.id == ruleset_id))
    if not rows:
        raise StorageFailure(f"ruleset {ruleset_id} is not in the database")
    return RULESET.of(_VERSION)(rows[0])


def _jobs(transaction: Transaction) -> list[Row]:
    rows = transaction.fetch(Job.select(Job.id, Job.name, Job.ruleset_id).order_by(Job.id))
    newest = transaction.fetch(Run.select(Run.job).order_by(Run.id.desc()).limit(1))
    main = newest[0][0] if newest else 0
    return sorted(rows, key=lambda row: row[0] != main)
