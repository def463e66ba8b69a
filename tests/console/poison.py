"""Hostile text in everything the console reads: rows, files, answers to SQL, messages of errors; and what is clean."""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.console.fake_queries import FakeQueries
from tests.console.sample_crawl import API, attempt, attempts, failed_pages, origins, page_detail, run_view
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
    workers,
)
from tests.console.sample_rules import ADDED, FakeImpact, FakeRules, versions
from tests.console.sample_trace import SampleExplainer
from tests.console.support import FakeReports, Stage
from tui_crawler.console.welcome.first_step import FirstStep, FolderFound, FoundFile, StepProblem
from tui_crawler.domain.crawl.contract import Contract
from tui_crawler.domain.history.explanation import Explanation
from tui_crawler.domain.records.attempt import DataValue, Validation, ValidationError
from tui_crawler.domain.records.operator_view import QueryAnswer
from tui_crawler.domain.records.page_view import (
    ExitCountView,
    FailureCount,
    FailureGroup,
    LinkView,
    OriginHistory,
    PageDetail,
    RedirectView,
    Referrer,
    Referrers,
    RefusedView,
    TodoView,
)
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.page_filter import PageCounts, PageFilter, PageWindow
from tui_crawler.domain.rules.preview import OriginImpact, Preview, Sample
from tui_crawler.domain.rules.ruleset import RulesetChange, RulesProblem
from tui_crawler.text.safe_text import safe

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
OWN: dict[str, str] = {
    "marks": "e" + "\u0301" * 40,
    "tags": "x\U000e0041\U000e007f\ufe0f\U000e0100",
    "zero width": "a\u200b\u200d\u2060\u034f\u3164b",
    "bidi": "\u2066\u202ea\u2069\u061c",
    "separators": "a\u2028b\u2029c\x0bd\x0ce",
    "wide": "日" * 30 + "\U0001f600\U0001f1e9\U0001f1ea",
    "spaces": "\u00a0\u3000\u2003",
    "formula": '=HYPERLINK("http://x/")|\'|"',
    "quotes": "'\";--\\\x00\x1a",
    "braces": "{0} %s ${x} {{}}",
    "broken escape": "\\x1b\\",
    "long": "\x1b" * 2_000,
    "worst": WORST[0] + WORST[1],
    "worst turned": WORST[1] + WORST[0],
}
"""Cases that the corpus has not."""
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
        self.at_work = tuple(self._bad(one) for one in workers())

        self.versions = tuple(poison(one, payload, names=False) for one in versions())
        self.added = tuple(poison(one, payload, names=False) for one in ADDED)

    def stashes(self) -> Any:
        return self._bad(stashes())

    def validations(self, most: int) -> Any:
        return self._bad(validation_totals())

    def sessions(self, limit: int) -> Any:
        return self._bad(sessions())

    def robots_text(self, origin: str) -> bytes | None:
        raw = self.payload.encode("utf-8", "surrogatepass").replace(b"\r", b" ").replace(b"\n", b" ")
        return b"User-agent: *\nDisallow: /%b\nAllow: /%b # \xff\xfe\nSitemap: %b\n\xff%b: \x9b\n" % (
            raw,
            raw,
            raw,
            raw,
        )

    def contract(self, origin: str) -> Contract:
        return self._bad(Contract("agent", delay_from="hosts"))

    def body(self, url: str) -> bytes | None:
        return b"\xff\xfe\x9b" + self.payload.encode("utf-8", "surrogatepass") * 3

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

    def failure_count(
        self,
        by: tuple[str, ...],
        limit: int,
        now: int,
        sought: tuple[str, ...] = (),
        within: tuple[tuple[str, str], ...] = (),
    ) -> FailureCount:
        key = tuple((name, f"v{self.payload}") for name in by)
        group = FailureGroup(key, 3, 1, f"https://s/{self.payload}", 1, 2, 1, (1,) * 12, ((f"o{self.payload}", 3),))
        return FailureCount((group,), 3, 9)

    def failure_window(
        self, key: tuple[tuple[str, str], ...], after_id: int, limit: int, newest_first: bool, sought: tuple[str, ...]
    ) -> PageWindow:
        return PageWindow(self.pages, 9, 9, max(one.page_id for one in self.pages), ended=True)

    def link_ends(self, url: str, inward: bool, after: tuple[int, str], limit: int) -> Any:
        return self._bad(link_ends(url, inward))

    def referrers(self, page_id: int, limit: int) -> Any:
        return self._bad(Referrers((Referrer("https://a/", "a", "text"),), 2))

    def refusal_counts(self, limit: int) -> Any:
        return self._bad(refusal_counts())

    def page_detail(self, url: str, links: int, counted: int) -> PageDetail | None:
        detail = page_detail(f"{API}/p")
        link = LinkView("https://a/", "https://b/", "a", False, "text", 1)
        redirect = RedirectView(detail.page.url, "https://to/", "frag", True, "location", 1)
        found: dict[str, Any] = {
            "validation": Validation("html", (ValidationError(1, 2, "message"),)),
            "data": (DataValue("name", "text", 0, "value"),),
        }
        return self._bad(dataclasses.replace(detail, inlinks=(link,), outlinks=(link,), redirects=(redirect,), **found))


def hostile_answer(payload: str) -> QueryAnswer:
    """Whatever SQLite can answer, with the payload in every text of it, also in the names of columns."""
    names = ("url", "url", "url 2", "", f"{payload}_at", payload, "=1+1", "日")
    raw = payload.encode("utf-8", "surrogatepass")
    rows: list[tuple[object, ...]] = [
        (f"https://x/{payload}", payload, raw, None, 2**63 - 1, -(2**63), f"=1+1{payload}", float("nan")),
        (payload, f"{payload}x", b"\xff\xfe\x00\x9b", payload, -(2**63), 10**400, float("inf"), "日" * 30),
    ]
    return QueryAnswer(names, tuple(rows), True, 3, 12)


class PoisonedQueries(FakeQueries):
    """Answers, or fails, with the payload."""

    def __init__(self, payload: str) -> None:
        super().__init__()
        self.payload = payload

    def schema(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return ((f"v_page{self.payload}", ("url", f"url{self.payload}")), ("v_origin", (f"origin{self.payload}",)))

    def ask(self, text: str) -> QueryAnswer:
        if text.startswith("raise"):
            raise ValueError(f"near {self.payload}")
        return QueryAnswer(problem=f"near {self.payload}") if text.startswith("fail") else hostile_answer(self.payload)


class PoisonedRules(FakeRules):
    """Rules with the payload: in force, what they would do, and what is wrong with what was typed."""

    payload = ""

    def read(self, text: str) -> RulesetChange | tuple[RulesProblem, ...]:
        return (RulesProblem(1, f"{text}{self.payload}"),) if "bad" in text else super().read(text)

    def impact(self, change: RulesetChange, job: str) -> PoisonedImpact:
        return PoisonedImpact(self.payload)

    def impact_of_exclusions(self, more: tuple[Exclusion, ...]) -> PoisonedImpact:
        return PoisonedImpact(self.payload)


class PoisonedImpact(FakeImpact):
    """What they would do."""

    def __init__(self, payload: str) -> None:
        self.payload = payload

    def go_on(self, progress: Callable[[int], None]) -> Preview:
        bad = self.payload
        samples = (Sample(bad, "allowed", bad, bad), Sample(f"https://x/{bad}", bad, "allowed", bad))
        origin = OriginImpact(f"https://{bad}", 1, 2, 3)
        return Preview(9, 1, 2, 6, (origin,), (f"https://{bad}/",), samples, (("done", 1), (bad, 1)))


class PoisonedExplainer(SampleExplainer):
    """A trace whose every string carries the payload of the reports; what is asked for `odd` is not answered."""

    def explain(self, written: str, now: int, job: str = "") -> Explanation:
        bad = getattr(self.reports, "payload", "")
        if "odd" in written:
            raise ValueError(f"no such thing: {bad}")
        said = super().explain(written, now, job)
        return dataclasses.replace(poison(said, bad, names=False), answer=said.answer)


@dataclass
class HostileFolder:
    """A folder whose files have these names, and with which everything is wrong."""

    payload: str
    checked: list[FirstStep] = field(default_factory=list)

    @property
    def folder(self) -> str:
        return f"~/{self.payload}"

    def look(self) -> FolderFound:
        bad = self.payload
        files = (FoundFile(f"{bad}.yaml", f"1 seed → {bad}"), FoundFile(f"b{bad}", bad, usable=False))
        return FolderFound(files, files, 3)

    def check(self, step: FirstStep) -> tuple[StepProblem, ...]:
        self.checked.append(step)
        if "raise" in repr(step):
            raise OSError(5, f"Input/output error {self.payload}", f"/x/{self.payload}")
        return (StepProblem(f"{step}: {self.payload}"), StepProblem(self.payload, "delay"))


def seen(text: str) -> list[str]:
    """What of a text no terminal may get: controls, and whatever `safe` would spell out."""
    return [char for char in text if not char.isprintable() or unicodedata.category(char) in FORBIDDEN]


def assert_clean(held: Stage, payload: str) -> None:
    """As `assert_strips`, of the screen on top of a stage."""
    assert_strips(held.app.screen._compositor.render_strips(), payload)


def assert_strips(strips: Iterable[Any], payload: str) -> None:
    """Nothing on the screen is a control or could run an action; the payload's own characters are spelled out."""
    for strip in strips:
        for segment in strip:
            assert segment.text.isprintable(), (payload, seen(segment.text), segment)
            assert segment.control is None
            style = segment.style
            if style is not None:
                assert style.link is None
                if style._meta is not None:
                    meta = style.meta
                    assert all(value in SCROLLBAR for key, value in meta.items() if key.startswith("@")), (
                        payload,
                        meta,
                    )
        assert strip.text.isascii() or safe(strip.text, 10_000) == strip.text, (payload, strip.text)
