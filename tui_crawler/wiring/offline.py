"""The offline mode around its storage: builds segments by a configuration, and finds those that wait to be loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.domain.admission import Admission, Scope
from tui_crawler.domain.content_kind import LinkKind
from tui_crawler.domain.failure import BadSegment
from tui_crawler.domain.ruleset import same_rules
from tui_crawler.domain.segment import SUFFIX, SegmentHead
from tui_crawler.storage.open_settings import Durability, OpenSettings
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.scan import BuildSettings, Built, build_queue
from tui_crawler.storage.seen import SeenSettings
from tui_crawler.storage.segment_files import publish, read_head
from tui_crawler.storage.segments import SegmentStore
from tui_crawler.wiring.origin_settings import admission_of, read_kept, rules_in_force

if TYPE_CHECKING:
    from pathlib import Path

    from tui_crawler.config.schema import Config


@dataclass(frozen=True, slots=True)
class WaitingSegment:
    """A segment that can be loaded."""

    path: Path
    name: str
    urls: int


@dataclass(frozen=True, slots=True)
class SegmentFolder:
    """What a folder holds: segments that wait, oldest first, and what is wrong with others."""

    waiting: tuple[WaitingSegment, ...]
    problems: tuple[str, ...]


def kept_config(database: Path) -> Config | None:
    """The configuration of the newest run as the database keeps it, None when there is none that can be read.

    Raises StorageFailure.
    """
    with contextlib.closing(Reports(database)) as reports:
        run, text = reports.run(), reports.config_text()
    return None if run is None else read_kept(text, run.config_name)


def build(config: Config, database: Path, output: Path | None) -> Built:
    """Builds segments into `output` (None: the usual folder). Raises StorageFailure; then nothing was changed."""
    settings = BuildSettings(
        output=output,
        segment_urls=config.queue.segment_urls,
        link_kinds=frozenset(LinkKind(kind) for kind in config.crawl.link_kinds_queued),
        seen=SeenSettings(config.seen_index.kind, config.seen_index.capacity, config.seen_index.error_rate),
        opening=OpenSettings(durability=Durability(config.storage.durability)),
    )
    with contextlib.closing(Reports(database)) as reports:
        admission = _admission_of(config, reports)
    return build_queue(database, settings, admission)


def waiting_segment(path: Path) -> WaitingSegment:
    """The segment in a file; whether it was consumed is not asked. Raises BadSegment."""
    head = read_head(path)
    return WaitingSegment(path, head.name, head.urls)


def segment_folder(database: Path, folder: Path | None) -> SegmentFolder:
    """What a folder (None: the usual one) holds for a database. Raises StorageFailure, BadSegment for no folder."""
    segment_store = SegmentStore(database, folder)
    with contextlib.closing(Reports(database)) as reports:
        rows = reports.segments()
    for row in rows:
        if row.path and not row.consumed_at and not segment_store.found(row.path).exists():
            publish(segment_store.found(row.path))
    consumed = {(row.name, row.digest) for row in rows if row.consumed_at}
    found: list[tuple[SegmentHead, Path]] = []
    problems: list[str] = []
    for path in _files(segment_store.place, must_exist=folder is not None):
        try:
            head = read_head(path)
        except BadSegment as error:
            problems.append(str(error))
            continue
        if (head.name, head.digest) not in consumed:
            found.append((head, path))
    found.sort(key=lambda pair: (pair[0].created_at, pair[0].name))
    once = {(head.name, head.digest): WaitingSegment(path, head.name, head.urls) for head, path in reversed(found)}
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
    """The filters of each job by its name: its rules in force, scope and limits of the configuration.

    A configuration that was edited since a run read it goes before the stored rules, as at the next start. Origins
    that joined by hand or by the whitelist are in scope, too.
    """
    configured = admission_of(config)
    scope = Scope(configured.scope.origins.union(reports.origins_added()), configured.scope.start_paths)
    own_rules = {job.name: job.rules for job in config.jobs}
    policies = {"": config.policy_set.with_exclusions(reports.exclusions())}
    for rules in rules_in_force(reports):
        written = replace(config.policy_set, rules=(*config.rules, *own_rules.get(rules.job, ())))
        last_read = next((one for one in reports.rulesets(rules.job) if one.from_config), None)
        edited = last_read is None or not same_rules(last_read.policies, written)
        policies[rules.job] = written.with_exclusions(rules.added) if edited else rules.policies
    made = {one: Admission(one, scope, configured.limits) for one in set(policies.values())}
    return lambda job: made[policies.get(job, policies[""])]
