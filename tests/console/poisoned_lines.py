"""Every line and cell that the console can make of rows whose every string carries a payload."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC

from tests.console.poison import PoisonedReports, hostile_answer, poison
from tests.console.sample_crawl import API, NOW
from tests.console.sample_relations import relations
from tests.console.sample_trace import explanation
from tui_crawler.console.dialogs import pivot_rows as pivot
from tui_crawler.console.dialogs.seeds import read_seeds, seeds_lines
from tui_crawler.console.failures import rows as failure_rows
from tui_crawler.console.failures.retry_cost import RetryCost, cost_words
from tui_crawler.console.keys import KeyNames
from tui_crawler.console.logs import rows as log_lines
from tui_crawler.console.operator.detach import Departure
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.console.operator.retry_start import RetryStart, outlook_of
from tui_crawler.console.origin import rows as contract_card
from tui_crawler.console.origin import rows as origin_detail
from tui_crawler.console.origin.queries import TopUp, robots_sheet
from tui_crawler.console.origin.rows import head_line, robots_lines, text_line, wanted_url
from tui_crawler.console.overview.rows import OVERVIEW, OriginLine
from tui_crawler.console.overview.summary import summary_lines, trap_lines, why_line
from tui_crawler.console.panes.footer import footer_line
from tui_crawler.console.panes.header import HeaderState, header_line
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.tabs import Tab, tab_line
from tui_crawler.console.reading.snapshot import EngineStanding
from tui_crawler.console.rules import impact_lines as rule_impact
from tui_crawler.console.rules import rows as rule_rows
from tui_crawler.console.rules.draft import RuleDraft, note_of
from tui_crawler.console.rules.entries import added_entries, entries_of
from tui_crawler.console.rules.exclusion import exclusion_lines
from tui_crawler.console.rules.impact import ImpactNews
from tui_crawler.console.rules.pattern import clusters_of, pattern_of
from tui_crawler.console.rules.rule_hits import RuleHits
from tui_crawler.console.sql import rows as sql_rows
from tui_crawler.console.url import rows as stored_body
from tui_crawler.console.url import rows as url_detail
from tui_crawler.console.url import why_lines as why
from tui_crawler.console.urls import rows as url_rows
from tui_crawler.console.workers import rows as worker_rows
from tui_crawler.domain.crawl.contract import Contract
from tui_crawler.domain.history.trap import TrapSuspicion
from tui_crawler.domain.records.command import PauseOrigins, RetryPages, to_json
from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.domain.records.page_view import OriginHistory
from tui_crawler.domain.records.view import OriginView, RunView
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.preview import OriginImpact, Preview, Sample
from tui_crawler.domain.rules.robots import RobotsDecision
from tui_crawler.domain.rules.ruleset import difference
from tui_crawler.text.cells import Present
from tui_crawler.text.glyphs import StateGlyph
from tui_crawler.text.same_as import command_line_of, same_as

AT = Present(NOW)


def every_line_of_urls(reports: PoisonedReports, now: int) -> Iterator[Line]:
    """What view 3, the tabs of a URL and the trace show."""
    for page in reports.pages:
        outlook = outlook_of(page, now, None, RetryStart.this_run)
        yield from url_rows.url_lines(page, outlook, UTC)
    detail = reports.page_detail(API, 0, 9)
    assert detail is not None
    yield from url_detail.content_lines(detail, UTC)
    yield from url_detail.redirect_lines(detail)
    yield url_detail.links_title(reports.payload, 1, 2, 3)
    yield url_detail.idn_of(f"https://xn--{reports.payload}/")
    yield from url_detail.unknown_lines(reports.payload)
    body = reports.body("") or b""
    for width in (20, 90):
        yield from stored_body.text_lines(body, 9, f"text/html; charset={reports.payload}", width)
        yield from stored_body.hex_lines(body, 9, width)
    said = explanation(f"{API}/private/x")
    trace = dataclasses.replace(poison(said, reports.payload, names=False), answer=said.answer)
    yield from why.trace_lines(trace, NOW, UTC)
    yield from why.trace_lines(trace, NOW, UTC, short=True)
    yield from why.standing_lines(trace, UTC, KeyNames())


def every_line_of_the_log(reports: PoisonedReports, now: int) -> Iterator[Line]:
    """What views 5 and 6 show."""
    entries = [log_lines.attempt_line(one) for one in reports.log]
    entries += [log_lines.activity_line(one) for one in reports.happened]
    entries += [log_lines.action_line(one) for one in reports.asked_for]
    for entry in entries:
        yield from log_lines.log_lines(entry, UTC)
    yield from (line for one in reports.workers() for line in worker_rows.worker_lines(one, UTC, now))
    yield from (line for one in reports.sessions(9) for line in worker_rows.session_lines(one, UTC, now))
    yield log_lines.histogram(entries, 80, UTC)


def lines_of_rules(reports: PoisonedReports, payload: str) -> Iterator[Line]:
    """Everything that is made of rules, drafts and impacts whose every string carries the payload."""
    now = reports.versions[0]
    draft = RuleDraft(now, payload)
    other = dataclasses.replace(now.policies, exclusions=(), rules=reports.versions[2].policies.rules)
    changes = difference(now.policies, other)
    firing = RuleHits(3, 4, payload, 1, 2, links_in_all=3)
    for fired in (None, RuleHits(), firing, dataclasses.replace(firing, count=0, links=True)):
        hits = rule_rows.rule_hits_line(fired, reports.refusal_counts(9), UTC, query=True)
        for entry in (*entries_of(now.policies), *added_entries(reports.added)):
            lines = rule_rows.rule_lines(now.policies, reports.added, {entry.key: fired}, whole=False)
            yield from (cell for line in lines for cell in rule_rows.RULE_LINES.cells(line, Present()))
            yield from rule_rows.entry_lines(entry, hits, rule_rows.since_words(entry, [now], UTC))
    yield from rule_rows.comparison_lines(now, dataclasses.replace(now, policies=other))
    for one in reports.versions:
        yield from rule_rows.difference_lines(one, now)
    merged = draft.merged(dataclasses.replace(now, policies=other))
    yield from merged.lines
    for moot in (True, False):
        yield from rule_rows.overtaken_lines(now, moot, KeyNames())
    yield note_of(changes)
    origin = OriginImpact(f"https://{payload}", 1, 2, 3)
    samples = (Sample(payload, "allowed", payload, payload), Sample(payload, payload, "allowed", payload))
    preview = Preview(9, 1, 2, 6, (origin,), (f"https://{payload}/",), samples, (("done", 1), (payload, 1)))
    for news in (ImpactNews(draft, None, 9, preview), ImpactNews(draft, error=payload)):
        yield from rule_impact.impact_lines(True, news, KeyNames())
        yield rule_impact.impact_words(news)
        for wrong in (payload, ""):
            yield from exclusion_lines(payload, [Exclusion("host", payload, payload, payload, payload)], wrong, news)
    for url in (f"https://x.example/{payload}", payload):
        yield from rule_impact.judged_lines(url, now.policies)


def every_line_of_an_origin(view: OriginView, history: OriginHistory, run: RunView, payload: str) -> Iterator[Line]:
    """What the detail of an origin and its robots.txt show."""
    contract = Contract(payload, delay_from=payload, politeness_key=payload)
    trap = TrapSuspicion((payload, payload), payload)
    given = (TopUp(NOW, payload, 1, 5),)
    yield from origin_detail.state_lines(
        OriginLine(view, run, payload), origin_detail.OriginContext(history, given, contract, trap), AT, KeyNames()
    )
    yield head_line(OriginLine(view, run, payload), contract, AT)
    lost = dataclasses.replace(
        view,
        state="FINISHED",
        finish_reason="patience",
        robots_status="unreachable",
        robots_message=payload,
        robots_http_status=None,
    )
    yield from robots_lines(lost, None, "", None, AT, KeyNames())
    yield from OVERVIEW.cells(OriginLine(lost, run), AT)
    raw = payload.encode("utf-8", "surrogatepass").replace(b"\r", b" ").replace(b"\n", b" ")
    body = b"User-agent: *\nDisallow: /%b\nAllow: /%b\nSitemap: %b\n# \xff\x9b%b" % (raw, raw, raw, raw)
    sheet = robots_sheet(body, contract)
    decision = RobotsDecision(False, 2, payload)
    for url in ("", f"{view.origin}/{payload}"):
        yield from robots_lines(view, sheet, url, decision, AT, KeyNames())
    for number in range(1, len(sheet.lines) + 1):
        yield text_line(sheet, number, 2)
    yield from trap_lines(trap, hint=payload)
    yield from contract_card.contract_lines(contract, view, AT, KeyNames())
    yield wanted_url(view.origin, f"/{payload}")


def lines_of_tools(payload: str) -> Iterator[Line]:
    """What SQL answers, a pivot counts, and commands are written as."""
    answer = hostile_answer(payload)
    for row in sql_rows.answer_rows(answer):
        yield from sql_rows.answer_lines(answer, row.number, UTC)
    yield pivot.pivot_words(pivot.pivot_of([payload], payload))
    commands = (PauseOrigins((payload, f"https://{payload}")), RetryPages((payload,)))
    yield same_as(commands)
    for command in commands:
        for written in (to_json(command), payload):
            asked = ActionView(1, NOW, payload, payload, payload, "", "", undone=False, applied=False, command=written)
            yield command_line_of(asked)
    yield pattern_of((f"https://a/{payload}", f"https://a/{payload}/2"))


def printed(reports: PoisonedReports, payload: str) -> Iterator[str]:
    """What is printed when the console has been left."""
    plain = ExitSummary(run=reports.newest_run, gave_up=tuple(reports.rows), engine_failure=payload)
    gone = Departure(7, f"/x/{payload}.log", f"tui-crawler --db {payload}", f"tui-crawler stop --all --db {payload}")
    for summary in (
        plain,
        dataclasses.replace(plain, run=None, trouble=payload, engine_failure=""),
        dataclasses.replace(plain, hosted=True, engine_reason=payload),
        dataclasses.replace(plain, departure=gone, engine_stuck=True),
        dataclasses.replace(plain, run=None),
    ):
        yield from summary.lines()


def every_line(payload: str) -> Iterator[Line]:
    """Everything `present` makes of rows whose every string carries the payload."""
    reports = PoisonedReports()
    reports.load(payload, names=True)
    run, now = reports.newest_run, NOW
    assert run is not None
    zone, history = UTC, reports.history(API)
    for view in reports.rows.values():
        yield from summary_lines(OriginLine(view, run, payload), AT)
        yield from every_line_of_an_origin(view, history, run, payload)
        yield why_line(OriginLine(view, run), AT)
    for by in failure_rows.GROUPINGS:
        for group in reports.failure_count(by, 9, now).groups:
            yield failure_rows.key_words(group.key)
            yield cost_words(RetryCost(1, 2, f"https://{payload}", 3, 4))
    yield failure_rows.cluster_words(clusters_of((f"https://a/{payload}/1", f"https://a/{payload}/2"))[0], 2)
    yield from every_line_of_the_log(reports, now)
    yield from every_line_of_urls(reports, now)
    detail = reports.page_detail(API, 0, 9)
    yield from url_detail.page_lines(detail.page, zone)
    yield from url_detail.path_lines(detail, zone)
    for request in detail.requests:
        yield from url_detail.sent_lines(request)
        yield from url_detail.received_lines(request)
    for relation, records in relations(reports, payload):
        for column in relation.columns:
            yield from (column.title, column.id)
        for record in records:
            yield from relation.cells(record, Present(now))
            yield from (column.cell(record, Present(now)) for column in relation.text_columns)
    yield from lines_of_rules(reports, payload)
    yield from lines_of_tools(payload)
    yield from printed(reports, payload)
    yield from seeds_lines(read_seeds(f"https://x.example/{payload}\n{payload}", (payload,)))
    yield footer_line((payload,), (), 80)
    engine = EngineStanding(StateGlyph("✗", "engine failed", "error"), payload)
    state = HeaderState(payload, engine.mark, run, now, idle=engine.trouble)
    yield header_line(state, 120)
    yield tab_line([Tab("view.rules", payload, payload, payload)], "view.rules", 120)
