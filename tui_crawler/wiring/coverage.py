"""The coverage statement of a database with what only the configuration and the decision chain of `why` know; and a
listener that reports it before the end of a run."""

from __future__ import annotations

import contextlib
import math
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.coverage import Coverage, CoverageEvent, RefusedGroup, SeedEnd
from tui_crawler.domain.records.failure import BadKeptConfig, ReadingStopped, StorageFailure
from tui_crawler.domain.records.status_words import RunReason

if TYPE_CHECKING:
    from tui_crawler.domain.records.database_place import DatabasePlace
    from tui_crawler.engine.ports import Listener
    from tui_crawler.storage.reports.reports import Reports

_HURRY_S = 0.5
_EXPLAINED = 20  # seeds and groups of refusals whose sentence or decider `why` gives


def coverage_of(reports: Reports) -> Coverage:
    """The statement of the newest run; it says so where the configuration that explains it cannot be read. Raises
    StorageFailure."""
    found, text = reports.coverage(), reports.config_text()
    if found.run is None or (found.complete and not found.refused and not re.search("offline|obey_", text)):
        return found
    from tui_crawler.wiring.explain import Explainer  # noqa: PLC0415  a crawl that went well needs none
    from tui_crawler.wiring.origin_settings import located, waived_rules  # noqa: PLC0415  the same

    explainer, now = Explainer(reports), time.time_ns() // 1_000_000
    try:
        config = explainer.config(found.run)
    except BadKeptConfig as failure:
        return replace(found, unexplained=str(failure))
    unknown = [one for one in found.refused if not one.decided_by][:_EXPLAINED]
    lost = found.lost[:_EXPLAINED]

    def decided(one: RefusedGroup) -> RefusedGroup:
        by = one.decided_by
        if one in unknown:
            steps = explainer.explain(one.sample_url, now).steps
            by = next((step.source for step in steps if step.verdict == "refuse" and step.stage == one.reason), "")
        return replace(one, decided_by=located(by, config))

    def explained(one: SeedEnd) -> SeedEnd:
        """A seed without a document, with what `why` says of it and of the URL it leads to."""
        answers = [explainer.explain(url, now) for url in dict.fromkeys((one.url, one.ended_at_url))]
        advice = f" → {answers[-1].advice}" if answers[-1].advice else ""
        return replace(one, message=f" → {one.ended_at_url}: ".join(each.sentence for each in answers) + advice)

    return replace(
        found,
        refused=tuple(map(decided, found.refused)),
        seeds=(*map(explained, lost), *found.seeds[len(lost) :]),
        waived=waived_rules(config),
        unread=reports.documents_unread() if config.crawl.mode == "offline" else 0,
    )


class CoverageListener:
    """A listener that passes events on and reports the coverage before the end of the run. `nothing`: no seed gave a
    document."""

    def __init__(self, listener: Listener, database: DatabasePlace) -> None:
        self._listener, self._database = listener, database
        self.nothing = False

    def on_event(self, event: Event) -> None:
        """Hands an event on. Where the database cannot be read, or not in time after a signal, no coverage is
        reported."""
        if event.event == "run_finished":
            from tui_crawler.storage.reports.reports import Reports  # noqa: PLC0415  not before the end of a run

            interrupted = dict(event.extra).get("reason") == RunReason.interrupted.value
            until = time.monotonic() + (_HURRY_S if interrupted else math.inf)
            failures = contextlib.suppress(StorageFailure, ReadingStopped)
            with failures, contextlib.closing(Reports(self._database)) as reports:
                reports.stop_when(lambda: time.monotonic() > until)
                coverage = coverage_of(reports)
                self.nothing = coverage.nothing
                document = tuple(coverage.as_document().items())
                self._listener.on_event(CoverageEvent(event.at, "coverage", extra=document, coverage=coverage))
        self._listener.on_event(event)
