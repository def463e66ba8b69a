"""The offline mode around its storage: builds segments by a configuration, and finds those that wait to be loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import BadSegment
from tui_crawler.domain.records.segment import SUFFIX, SegmentHead
from tui_crawler.domain.rules.admission import Admission
from tui_crawler.domain.rules.ruleset import same_rules
from tui_crawler.storage.db.open_settings import Durability, OpenSettings
from tui_crawler.storage.db.segment_files import publish, read_head
from tui_crawler.storage.queue.scan import BuildSettings, Built, build_queue
from tui_crawler.storage.queue.seen import SeenSettings
from tui_crawler.storage.queue.segments import SegmentStore
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.origin_settings import admission_of, rules_in_force

if TYPE_CHECKING:
    from pathlib import Path

    from tui_crawler.config.schema import Config


@dataclass(frozen=True, slots=True)
class SegmentFolder:
    """What a folder holds: segments that wait, oldest first, and what is wrong with others."""

    waiting: tuple[tuple[Path, SegmentHead], ...]
    problems: tuple[str, ...]


def build(config: Config, database: DatabasePlace, output: Path | None) -> Built:
    """Builds segments into `output` (None: the usual folder). Raises StorageFailure; then nothing was changed."""
    settings = BuildSettings(
        output=output,
        segment_urls=config.queue.segment_urls,
        link_kinds=config.crawl.page_kinds,
        seen=SeenSettings(config.seen_index.kind, config.seen_index.capacity, config.seen_index.error_rate),
        opening=OpenSettings(durability=Durability(config.storage.durability)),
    )
    with contextlib.closing(Reports(database)) as reports:
        admission = _admission_of(config, reports)
    return build_queue(database, settings, admission)


def segment_folder(database: DatabasePlace, folder: Path | None) -> SegmentFolder:
    """What a folder (None: the usual one) holds for a database. Raises StorageFailure, BadSegment for no folder."""
    segment_store = SegmentStore(database, folder)
    with contextlib.closing(Reports(database)) as reports:
        rows = reports.segments()
    for row in rows:
        if row.path and not row.consumed_at and not segment_store.found(row.path).exists():
            publish(segment_store.found(row.path))
    consumed = {(row.name, row.digest) for row in rows if row.consumed_at}
    found: list[tuple[Path, SegmentHead]] = []
    problems: list[str] = []
    for path in _files(segment_store.place, must_exist=folder is not None):
        try:
            found.append((path, read_head(path)))
        except BadSegment as error:
            problems.append(str(error))
    found.sort(key=lambda pair: (pair[1].created_at, pair[1].name))
    ids = ((head.name, head.digest) for _, head in reversed(found))
    once = {name: one for name, one in zip(ids, reversed(found), strict=True) if name not in consumed}
    return SegmentFolder(tuple(reversed(once.values())), tuple(problems))


def _files(folder: Path, *, must_exist: bool) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except FileNotFoundError as error:
        if must_exist:
            raise BadSegment(f"{folder} does not exist") from error
        return []
    except OSError as error:
        raise BadSegment(f"{folder} cannot be read: {error.strerror}") from error


def _admission_of(config: Config, reports: Reports) -> Callable[[str], Admission]:
    """The filters of each job by its name: its rules in force, scope and limits of the configuration. One that was
    edited since a run read it goes before the stored rules, as at the next start. Origins that joined later, by hand or
    otherwise, are in scope, too."""
    configured = admission_of(config)
    for origin, path in reports.origins_added().items():
        configured = configured.with_origin(origin, path)
    own_rules = {job.name: job.rules for job in config.jobs}
    policies = {"": config.policy_set.with_exclusions(reports.exclusions())}
    for rules in rules_in_force(reports):
        written = replace(config.policy_set, rules=(*config.rules, *own_rules.get(rules.job, ())))
        last_read = next((one for one in reports.rulesets(rules.job) if one.from_config), None)
        edited = last_read is None or not same_rules(last_read.policies, written)
        policies[rules.job] = written.with_exclusions(rules.added) if edited else rules.policies
    made = {one: Admission(one, configured.scope, configured.limits) for one in set(policies.values())}
    return lambda job: made[policies.get(job, policies[""])]
