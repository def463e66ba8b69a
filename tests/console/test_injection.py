"""No crawled string reaches the screen as anything but plain characters: payloads × every string of every row."""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.console.sample_crawl import API, NOW, attempt, attempts, failed_pages, origins, page_detail, run_view
from tests.console.sample_failures import link_ends, refusal_counts
from tests.console.sample_log import (
    activities,
    claimed,
    jobs,
    operator_actions,
    refused_links,
    runs,
    sessions,
    stashes,
    validation_totals,
)
from tests.console.sample_rules import ADDED, versions
from tests.console.sample_trace import explanation
from tests.console.support import FakeReports, Stage, stage
from tui_crawler.console.exit_summary import ExitSummary
from tui_crawler.console.glyphs import Mark
from tui_crawler.console.impact_room import ImpactNews
from tui_crawler.console.notice import Trouble
from tui_crawler.console.origin_parts import TopUp, robots_sheet
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.picture import EngineStanding
from tui_crawler.console.ports import PageCounts
from tui_crawler.console.present import (
    action_rows,
    failure_rows,
    log_histogram,
    log_lines,
    origin_detail,
    pivot,
    rule_impact,
    rule_rows,
    session_rows,
    stat_rows,
    stored_body,
    url_detail,
    url_rows,
    why,
)
from tui_crawler.console.present.attempt_row import event_row, log_row
from tui_crawler.console.present.event_rows import action_row, trouble_row
from tui_crawler.console.present.footer import footer_line
from tui_crawler.console.present.header import HeaderState, header_lines
from tui_crawler.console.present.line import Line
from tui_crawler.console.present.origin_now import head_line
from tui_crawler.console.present.origin_row import origin_row
from tui_crawler.console.present.retry_cost import RetryCost, cost_words
from tui_crawler.console.present.robots_lines import robots_lines, text_line
from tui_crawler.console.present.seeds import read_seeds, seeds_lines
from tui_crawler.console.present.summary import summary_lines, why_line
from tui_crawler.console.rule_draft import RuleDraft
from tui_crawler.console.rule_firing import Firing
from tui_crawler.console.rule_pattern import clusters_of
from tui_crawler.domain.attempt import DataValue, Validation, ValidationError
from tui_crawler.domain.contract import Contract
from tui_crawler.domain.page_filter import PageFilter, PageWindow
from tui_crawler.domain.policy import Rule
from tui_crawler.domain.preview import OriginImpact, Preview, Sample
from tui_crawler.domain.robots import RobotsDecision
from tui_crawler.domain.ruleset import RulesetChange
from tui_crawler.domain.trap import TrapSuspicion
from tui_crawler.domain.view import (
    ActionView,
    ExitCountView,
    FailureCount,
    FailureGroup,
    LinkView,
    OriginHistory,
    OriginView,
    PageDetail,
    RedirectView,
    RefusedView,
    RunView,
    TodoView,
)

CASES: dict[str, str] = {
    case["id"]: case["text"]
    for case in json.loads((Path(__file__).parent / "corpora" / "terminal_injection.json").read_text())["cases"]
}
FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
ENUMERATED = frozenset({"state", "finish_reason", "robots_status", "exit_code", "last_exit_code", "kind", "status"}) | {
    "op",
    "field",
}
"""Fields whose value decides what is drawn: left alone at first, poisoned too in a second pass."""
WORST = ("[/]\x1b]52;c;x\x07\x9b31m\r\n", "\ud800\u202e[@click=app.bell]x[/]" + "\u0301" * 40)
SCROLLBAR = frozenset({"grab", "release", "scroll_up", "scroll_down"})


def poison(value: Any, payload: str, *, names: bool, field: str = "") -> Any:
    """`value` with `payload` in every string it holds; `names`: also where an enumeration belongs."""
    if isinstance(value, str):
        if field in ENUMERATED and not names:
            return value
        return f"{value}{payload}"
    if isinstance(value, tuple):
        return tuple(poison(one, payload, names=names, field=field) for one in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {
            one.name: poison(getattr(value, one.name), payload, names=names, field=one.name)
            for one in dataclasses.fields(value)
        }
        return dataclasses.replace(value, **changes)
    return value


class PoisonedReports(FakeReports):
    """Every string of every row carries the payload of the moment."""

    payload = ""
    names = False

    def _bad(self, value: Any) -> Any:
        return poison(value, self.payload, names=self.names)

    def load(self, payload: str, *, names: bool) -> None:
        self.payload, self.names = payload, names
        self.version += 1
        views = [self._bad(view) for view in origins()]
        self.rows = {view.origin: dataclasses.replace(view, change=self.version) for view in views}
        self.log = tuple(self._bad(one) for one in attempts())
        self.newest_run = self._bad(run_view(live=not names))
        self.pages = tuple(self._bad(one) for one in failed_pages())

        self.happened = tuple(self._bad(one) for one in activities())
        self.asked_for = tuple(self._bad(one) for one in operator_actions())
        self.groups_of_pages = tuple(self._bad(one) for one in jobs())
        self.past_runs = tuple(self._bad(one) for one in runs())

        self.versions = tuple(poison(one, payload, names=False) for one in versions())
        self.added = tuple(poison(one, payload, names=False) for one in ADDED)

    def stashes(self) -> Any:
        return self._bad(stashes())

    def validations(self, most: int) -> Any:
        return self._bad(validation_totals())

    def sessions(self, limit: int) -> Any:
        return self._bad(sessions())

    def page_counts(self, narrowing: PageFilter, field: str) -> Any:
        return self._bad(PageCounts((("value", 3), ("other", 1)), 2, 3, 9))

    def limbo(self, older_ms: int) -> Any:
        return self._bad(claimed())

    def refused(self, origin: str) -> Any:
        return self._bad(refused_links())

    def history(self, origin: str) -> OriginHistory:
        rows = (attempt(9, f"{API}/x", "request_timeout", delay_reason="odd", patience_after=4),)
        return self._bad(OriginHistory(rows, rows, (RefusedView("o", "scope", 1, "https://x/"),)))

    def todo(self, origin: str, limit: int) -> tuple[TodoView, ...]:
        return self._bad((TodoView(f"{API}/t", 1, 0, 0, 1, 0, False, "title", "https://found/"),))

    def exit_counts(self, origin: str, now: int) -> tuple[ExitCountView, ...]:
        return self._bad((ExitCountView("file_ingested", 3, 1),))

    def failure_count(self, by: tuple[str, ...], limit: int, now: int) -> FailureCount:
        key = tuple((name, f"v{self.payload}") for name in by)
        group = FailureGroup(key, 3, 1, f"https://s/{self.payload}", 1, 2, 1, (1,) * 12, ((f"o{self.payload}", 3),))
        return FailureCount((group,), 3, 9)

    def failure_window(self, key: tuple[tuple[str, str], ...], after_id: int, limit: int) -> PageWindow:
        return PageWindow(self.pages, 9, 9, 0, False)

    def link_ends(self, url: str, inward: bool, after: tuple[int, str], limit: int) -> Any:
        return self._bad(link_ends(url, inward))

    def refusal_counts(self, limit: int) -> Any:
        return self._bad(refusal_counts())

    def page_detail(self, url: str, links: int, counted: int) -> PageDetail | None:
        detail = page_detail(f"{API}/p")
        link = LinkView("https://a/", "https://b/", "a", False, "text", 1)
        redirect = RedirectView(detail.page.url, "https://to/", "frag", True, "location", 1)
        found: dict[str, Any] = {
            "validation": Validation("html5", False, (ValidationError(1, 2, "message"),)),
            "data": (DataValue("name", "text", 0, "value"),),
        }
        return self._bad(dataclasses.replace(detail, inlinks=(link,), outlinks=(link,), redirects=(redirect,), **found))


def assert_clean(held: Stage, payload: str) -> None:
    """Nothing on the screen is a control or could run an action; the payload's own characters are spelled out."""
    for strip in held.app.screen._compositor.render_strips():
        for segment in strip:
            bad = [char for char in segment.text if unicodedata.category(char) in FORBIDDEN or char in "\ufffe\uffff"]
            assert not bad, (payload, segment)
            assert segment.control is None
            meta = segment.style.meta if segment.style is not None else {}
            assert all(value in SCROLLBAR for key, value in meta.items() if key.startswith("@")), (payload, meta)
            assert segment.style is None or segment.style.link is None


async def show_everything(held: Stage, payload: str) -> None:
    """Goes through every screen."""
    await held.settle(2)
    assert_clean(held, payload)
    await held.press("enter", rounds=2)
    assert_clean(held, payload)
    await held.press("enter", rounds=2)
    assert_clean(held, payload)
    await held.press("escape", rounds=0)
    await held.press("b", rounds=2)
    assert_clean(held, payload)
    held.app.dispatcher.do("robots.test", f"/{payload}")
    await held.press("B", rounds=2)
    assert_clean(held, payload)
    await held.press("escape", "escape", rounds=0)
    await held.press("2", rounds=3)
    assert_clean(held, payload)
    for _ in failure_rows.GROUPINGS:
        await held.press("c", rounds=2)
        assert_clean(held, payload)
    for key in ("ctrl+p", "?", "ctrl+o", "f1", "R"):
        await held.press(key, rounds=0)
        assert_clean(held, payload)
        await held.press("escape", rounds=0)
    await show_urls(held, payload)
    await held.press("5", rounds=2)
    assert_clean(held, payload)
    await held.press("/", "o", "enter", "e", "w", "O", "&", "escape", rounds=0)
    await held.settle(1)
    assert_clean(held, payload)
    await held.press("6", rounds=2)
    for key in ("c", "c", "c", "c", "c", "c", "c", "F", "escape", "L"):
        assert_clean(held, payload)
        await held.press(key, rounds=1)
    assert_clean(held, payload)
    await held.press("escape", rounds=0)
    await held.press("4", "tab", "shift+tab", rounds=2)
    assert_clean(held, payload)
    await held.press("D", "tab", rounds=2)
    assert_clean(held, payload)
    await held.press("escape", "escape", rounds=1)
    assert_clean(held, payload)
    await held.press("y", rounds=1)
    await held.press("1", "x", rounds=0)
    assert_clean(held, payload)
    await held.press("escape", rounds=0)
    held.app.tell("k", f"said {payload}", "error")
    await held.quiet()
    assert_clean(held, payload)
    summary = ExitSummary(run=held.reports.newest_run, gave_up=tuple(held.reports.rows), engine_failure=payload)
    for line in summary.lines():
        assert not [char for char in line if unicodedata.category(char) in FORBIDDEN], payload


async def show_urls(held: Stage, payload: str) -> None:
    """View 3, each tab of a URL, and why it is crawled."""
    await held.press("3", "j", rounds=2)
    assert_clean(held, payload)
    await held.press("/", rounds=0)
    await held.type("re:(" + payload)
    await held.press("enter", rounds=2)
    assert_clean(held, payload)
    await held.press("ctrl+l", "F", rounds=2)
    assert_clean(held, payload)
    await held.press("enter", "ctrl+l", rounds=2)
    await held.press("enter", rounds=2)
    for key in ("A", "H", "L", "B", "b", "b", "W"):
        assert_clean(held, payload)
        await held.press(key, rounds=2)
    await held.press("i", rounds=0)
    assert_clean(held, payload)
    await held.press("enter", rounds=2)
    assert_clean(held, payload)
    held.app.dispatcher.go_to_why(payload)
    await held.settle(2)
    assert_clean(held, payload)
    await held.press("1", rounds=0)


def every_line_of_urls(reports: PoisonedReports, now: int) -> Iterator[Line]:
    """What view 3, the tabs of a URL and the trace show."""
    for page in reports.pages:
        yield from url_rows.url_row(page, now).cells
        yield from url_rows.url_lines(page, now, UTC)
    detail = reports.page_detail(API, 0, 9)
    assert detail is not None
    yield from url_detail.content_lines(detail, UTC)
    yield from url_detail.redirect_lines(detail)
    for inward in (True, False):
        for end in reports.link_ends(API, inward, (0, ""), 9):
            yield from url_detail.link_row(0, end, API, UTC, inward=inward).cells
    yield url_detail.links_title(reports.payload, 1, 2, 3)
    yield url_detail.idn_of(f"https://xn--{reports.payload}/")
    yield from url_detail.unknown_lines(reports.payload)
    body = reports.payload.encode("utf-8", "replace")
    for width in (20, 90):
        yield from stored_body.text_lines(body, 9, f"text/html; charset={reports.payload}", width)
        yield from stored_body.hex_lines(body, 9, width)
    said = explanation(f"{API}/private/x")
    trace = dataclasses.replace(poison(said, reports.payload, names=False), answer=said.answer)
    yield from why.trace_lines(trace)
    yield from why.short_trace_lines(trace)
    yield from why.standing_lines(trace, UTC)


def every_line_of_the_log(reports: PoisonedReports, now: int) -> Iterator[Line]:
    """What views 5 and 6 show."""
    entries = [log_lines.attempt_line(one) for one in reports.log]
    entries += [log_lines.activity_line(one) for one in reports.happened]
    entries += [log_lines.action_line(one) for one in reports.asked_for]
    for entry in entries:
        for needle in ("", "x", "/"):
            yield from log_lines.log_row(entry, now, UTC, needle, relative=bool(needle)).cells
        yield from log_lines.log_lines(entry, UTC)
    rows = [stat_rows.job_row(job) for job in reports.groups_of_pages]
    rows += [stat_rows.refused_row(one) for one in stat_rows.by_reason(reports.refused(""))]
    rows += [stat_rows.limbo_row(one) for one in reports.limbo(0)]
    rows += [stat_rows.stash_row(one) for one in reports.stashes()]
    rows += [stat_rows.validation_row(*one) for one in reports.validations(9).sums]
    rows += [stat_rows.run_row(run, now, UTC, live=False) for run in reports.past_runs]
    rows += [stat_rows.worker_row(load) for load in stat_rows.worker_loads(reports.rows.values())]
    rows += stat_rows.origin_rows(stat_rows.top_origins(reports.rows.values(), "failed"), "failed")
    rows += stat_rows.exit_rows(reports.exit_counts("", now))
    rows += [session_rows.session_row(one, now, UTC) for one in reports.sessions(9)]
    rows += [action_rows.action_row(one, UTC) for one in reports.asked_for]
    rows += pivot.pivot_rows(pivot.pivot_of([reports.payload, reports.payload, ""], reports.payload))
    yield log_histogram.histogram(entries, 80, UTC)
    for row in rows:
        yield from row.cells


def lines_of_rules(reports: PoisonedReports, payload: str) -> Iterator[Line]:
    """Everything that is made of rules, drafts and impacts whose every string carries the payload."""
    now = reports.versions[0]
    draft = RuleDraft(now, dataclasses.replace(now.policies, exclusions=(), rules=reports.versions[2].policies.rules))
    for row in draft.rows():
        yield from rule_rows.entry_row(row).cells
        yield from rule_rows.entry_lines(row.entry)
    firing = Firing(3, 4, payload, 1, 2, links_in_all=3)
    for fired in (None, Firing(), firing, dataclasses.replace(firing, count=0, links=True)):
        for row in rule_rows.operator_rows(reports.added):
            yield from rule_rows.with_firing(row, {row.key: fired}, whole=False).cells
        yield rule_rows.firing_line(fired, reports.refusal_counts(9), UTC, query=True)
    yield from rule_rows.comparison_lines(now, now, draft.lines)
    yield from rule_rows.entry_lines(reports.added[0])
    for one in reports.versions:
        yield from rule_rows.version_row(one, UTC).cells
        yield from rule_rows.difference_lines(one, now, draft.lines)
    yield from rule_rows.overtaken_lines(draft, now)
    yield rule_rows.draft_heading(draft)
    yield rule_rows.heading_of(now, 3)
    yield draft.note()
    for read in (payload, RulesetChange(rules=(Rule(payload, skip=True, source=payload),))):
        yield from rule_rows.typed_lines(payload, read)
    origin = OriginImpact(f"https://{payload}", 1, 2, 3)
    samples = (Sample(payload, "allowed", payload, payload), Sample(payload, payload, "allowed", payload))
    preview = Preview(9, 1, 2, 6, (origin,), (f"https://{payload}/",), samples, (("done", 1), (payload, 1)))
    for news in (ImpactNews(draft, 9, preview), ImpactNews(draft, error=payload)):
        yield from rule_impact.impact_lines(True, news)
    yield from rule_impact.judged_lines(rule_impact.judge(f"https://x.example/{payload}", now.policies))
    yield from rule_impact.judged_lines(rule_impact.Judged(payload, payload, payload, (payload,)))
    for judged in (rule_impact.Judged(payload, problem=payload), rule_impact.Judged(payload, payload, payload)):
        yield from rule_impact.judged_lines(judged)
        yield from rule_impact.draft_lines(judged)


def every_line_of_an_origin(view: OriginView, history: OriginHistory, run: RunView, payload: str) -> Iterator[Line]:
    """What the detail of an origin and its robots.txt show."""
    contract = Contract(payload, delay_from=payload, politeness_key=payload)
    trap = TrapSuspicion((payload, payload), payload)
    given = (TopUp(NOW, payload, 1, 5),)
    yield from origin_detail.state_lines(
        view, origin_detail.Past(history, given, run, contract, trap), NOW, UTC, (1.0, None)
    )
    yield head_line(view, NOW, run, UTC, payload, contract)
    yield from origin_row(view, NOW, run, UTC, narrow=True, suspected=True).cells
    raw = payload.encode("utf-8", "surrogatepass").replace(b"\r", b" ").replace(b"\n", b" ")
    body = b"User-agent: *\nDisallow: /%b\nAllow: /%b\nSitemap: %b\n# %b" % (raw, raw, raw, raw)
    sheet = robots_sheet(body, contract)
    decision = RobotsDecision(False, 2, payload)
    for url in ("", f"{view.origin}/{payload}"):
        yield from robots_lines(view, sheet, url, decision, NOW, UTC)
    for number in range(1, len(sheet.lines) + 1):
        yield text_line(sheet, number, 2)
    asked = ActionView(1, NOW, payload, payload, payload, payload, payload, undone=False, applied=True, error=payload)
    yield from action_row(asked, UTC).cells
    yield from trouble_row(Trouble(1, NOW, payload), UTC).cells


def every_line(payload: str) -> Iterator[Line]:
    """Everything `present` makes of rows whose every string carries the payload."""
    reports = PoisonedReports()
    reports.load(payload, names=True)
    run, now, line = reports.newest_run, NOW, (1.0, None)
    assert run is not None
    zone, history = UTC, reports.history(API)
    for view in reports.rows.values():
        yield from origin_row(view, now, run, zone, narrow=False, you=payload).cells
        yield from summary_lines(view, now, run, zone, payload, line)
        yield from every_line_of_an_origin(view, history, run, payload)
        yield why_line(view, now, run, zone, "")
    for one in reports.log:
        yield from event_row(one, zone).cells
        yield from log_row(one, zone).cells
    for number, item in enumerate(reports.todo(API, 9)):
        yield from origin_detail.todo_row(number, item, API, now).cells
    for exits in reports.exit_counts(API, now):
        yield from origin_detail.exit_row(exits, 9).cells
    for by in failure_rows.GROUPINGS:
        for group in reports.failure_count(by, 9, now).groups:
            yield from failure_rows.group_row(group, now).cells
            yield failure_rows.group_name(group)
            yield cost_words(RetryCost(1, 2, f"https://{payload}", 3, 4))
    yield failure_rows.cluster_words(clusters_of((f"https://a/{payload}/1", f"https://a/{payload}/2"))[0], 2)
    for page in reports.pages:
        yield from failure_rows.page_row(page, now, ()).cells
        yield from failure_rows.page_lines(page)
    yield from every_line_of_the_log(reports, now)
    yield from every_line_of_urls(reports, now)
    detail = reports.page_detail(API, 0, 9)
    assert detail is not None
    yield from url_detail.page_lines(detail.page, now, zone)
    yield from url_detail.path_lines(detail, zone)
    for row in url_detail.attempt_rows(detail, zone):
        yield from row.cells
    for request in detail.requests:
        yield from url_detail.request_row(request, zone).cells
        yield from url_detail.sent_lines(request)
        yield from url_detail.received_lines(request)
    yield from lines_of_rules(reports, payload)
    yield from seeds_lines(read_seeds(f"https://x.example/{payload}\n{payload}", (payload,)))
    yield footer_line((payload,), (), 80)[0]
    engine = EngineStanding(Mark("✗", "engine failed", "error"), payload)
    state = HeaderState(payload, engine.mark, run, now, idle=engine.trouble)
    for tall in (True, False):
        yield from header_lines(state, 120, tall=tall)


@pytest.mark.parametrize("payload", CASES.values(), ids=CASES)
def test_every_cell_and_line_is_plain_in_every_width(payload: str) -> None:
    for line in every_line(payload):
        for width in (3, 20, 160):
            for pieces in lay_out_line(line, width):
                text = "".join(text for text, _ in pieces)
                assert cell_len(text) == width
                assert not [char for char in text if unicodedata.category(char) in FORBIDDEN]


@pytest.mark.parametrize("names", [False, True], ids=["values", "names too"])
async def test_no_payload_is_obeyed_or_breaks_a_screen(names: bool) -> None:
    reports = PoisonedReports()
    reports.load(CASES["osc52"], names=names)
    async with stage((120, 30), reports=reports) as held:
        for payload in [CASES["osc52"]] if names else WORST:
            held.app.picture.origins.clear()
            reports.load(payload, names=names)
            await held.settle(2, move_ms=1_200)
            await show_everything(held, payload)
        assert held.app.is_running


async def test_the_shown_text_is_the_payload_spelled_out() -> None:
    reports = PoisonedReports()
    reports.load("\x1b[2J", names=False)
    async with stage((200, 50), reports=reports) as held:
        assert "api.example.org\\x1b[2J" in held.text()
    reports.load("[@]", names=False)
    async with stage((200, 50), reports=reports) as held:
        assert "api.example.org[@]" in held.text()
