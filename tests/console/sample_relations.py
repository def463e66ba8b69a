"""Every relation of the console and the command line, with records of all kinds, sample or hostile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tests.console.fake_reports import FakeReports
from tests.console.poison import hostile_answer
from tests.console.sample_crawl import API, NOW
from tests.console.sample_diff import changes
from tests.console.sample_tree import branch_list, branch_piece
from tui_crawler.console.dialogs.choose import CHOICES
from tui_crawler.console.dialogs.pivot_rows import pivot_of, values_of
from tui_crawler.console.diff.rows import PAGES, origins_of
from tui_crawler.console.failures.rows import GROUPINGS, REFERRERS, ReferrerLine, groups_by, pages_by
from tui_crawler.console.logs.attempts import ATTEMPTS
from tui_crawler.console.logs.rows import LOG, LogEntry, action_line, activity_line, attempt_line
from tui_crawler.console.operator.retry_start import NextRequest
from tui_crawler.console.origin.rows import TODO, TodoLine, exits_of
from tui_crawler.console.overview.event_rows import EVENTS, line_of
from tui_crawler.console.overview.rows import OVERVIEW, OriginLine
from tui_crawler.console.panes.notice import ReportedError
from tui_crawler.console.pulse.wall import wall_lines, wall_of
from tui_crawler.console.rules.rows import VERSIONS
from tui_crawler.console.sql.rows import answer_of, answer_rows
from tui_crawler.console.tree.rows import TREE, OpenBranch, nodes
from tui_crawler.console.url.rows import LINKS, REQUESTS, TRIES, LinkLine, tries_of
from tui_crawler.console.urls.rows import URLS, PageLine
from tui_crawler.console.workers.rows import HELD
from tui_crawler.domain.crawl.recovery import NextTry
from tui_crawler.domain.history.run_diff import RunSpan
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.text.cells import Present, cell_text
from tui_crawler.text.columns import Relation
from tui_crawler.text.relations.actions import ACTIONS
from tui_crawler.text.relations.jobs import JOBS
from tui_crawler.text.relations.limbo import LIMBO
from tui_crawler.text.relations.refused import REFUSED, by_reason
from tui_crawler.text.relations.runs import RUNS
from tui_crawler.text.relations.stashes import STASHES
from tui_crawler.text.relations.validations import VALIDATIONS
from tui_crawler.text.relations.workers import PROCESSES, WORKERS, process_of


def texts_of(relation: Relation[Any], record: Any, now: int = NOW) -> dict[str, str]:
    """The cells of a record as texts, by the ids of their columns."""
    present = Present(now)
    return {column.id: cell_text(column.cell(record, present)) for column in relation.columns}


def relations(reports: FakeReports, payload: str = "") -> Iterator[tuple[Relation[Any], Sequence[Any]]]:
    """Each relation with records of these reports; where a record has further texts of its own, these are `payload`."""
    detail, run = reports.page_detail(API, 0, 9), reports.run()
    assert detail is not None
    views = tuple(reports.rows.values())
    yield JOBS, reports.jobs()
    yield wall_of(20), wall_lines(reports.rows, reports.paces(TimeSpan(NOW - 3_600_000, NOW, 20)))
    yield REFUSED, by_reason(reports.refused(""))
    yield LIMBO, reports.limbo(0)
    yield STASHES, reports.stashes()
    yield VALIDATIONS, (*reports.validations(9).sums, (payload, 1, 2))
    yield RUNS, [replace(one, live=live) for one in reports.runs(9) for live in (False, True)]
    yield ACTIONS, reports.actions(9)
    yield PROCESSES, [process_of(one, NOW, 9.0) for one in (*reports.workers(), *reports.sessions(9))]
    yield WORKERS, reports.workers()
    yield exits_of(reports.exit_counts("", NOW)), reports.exit_counts("", NOW)
    lines = [OriginLine(view, run, payload, *more) for view in views for more in ((), (True, 2, (1.0, None), (9.0,)))]
    for relation in (OVERVIEW, HELD):
        yield relation, lines
    yield EVENTS, [*map(line_of, (*reports.log, *reports.actions(9), ReportedError(1, NOW, payload)))]
    yield ATTEMPTS, reports.log
    entries = [attempt_line(one) for one in reports.log]
    entries += [activity_line(one) for one in reports.happened]
    entries += [action_line(one) for one in reports.asked_for]
    yield LOG, [LogEntry(one, needle, bool(needle), not needle) for one in entries for needle in ("", "x", "/")]
    outlooks = [NextRequest(when, held) for when in NextTry for held in ("", "paused")]
    pages = [PageLine(page, outlook) for page in reports.pages for outlook in outlooks]
    yield URLS, pages
    each = pages[:: len(outlooks) + 1]  # every page or every outlook once, not each with each
    for by in GROUPINGS:
        yield groups_by(by), reports.failure_count(by, 9, NOW).groups
        yield pages_by(by), each
    yield pages_by(()), each
    yield REFERRERS, [ReferrerLine(number, one, API) for number, one in enumerate(reports.referrers(1, 9).first)]
    yield TODO, [TodoLine(number, one, API, outlooks[0]) for number, one in enumerate(reports.todo(API, 9))]
    for inward in (True, False):
        ends = reports.link_ends(API, inward, (0, ""), 9)
        yield LINKS, [LinkLine(number, end, API, inward) for number, end in enumerate(ends)]
    yield TRIES, tries_of(detail)
    yield REQUESTS, detail.requests
    yield VERSIONS, reports.rulesets("my-index", 9)
    for counted in (False, True):
        yield origins_of(counted=counted), reports.origin_diffs(RunSpan(6, 7))
    yield PAGES, [*changes(API, 1)]
    answer = hostile_answer(payload)
    yield answer_of(answer), answer_rows(answer)
    pivot = pivot_of([payload, payload, ""], payload)
    yield values_of(pivot), pivot.counts
    yield CHOICES, [(payload, payload)]
    branch = OpenBranch(f"{API}/")
    branch.listed, branch.shown = branch_list(f"{API}/", 9, 9), branch.shown.plus(branch_piece(f"{API}/", "", 9_999))
    yield TREE, [*nodes(f"{API}/", {f"{API}/": branch}, frozenset((f"{API}/",)))]
