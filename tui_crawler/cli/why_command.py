"""`why`: the whole decision chain of one URL."""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, meant_url, reports_of
from tui_crawler.cli.options import CommandSet
from tui_crawler.cli.printer import LINE_LIMIT, Printer, local_zone, picked, safe, terminal_width
from tui_crawler.text.format import date_time, phase
from tui_crawler.wiring import operator_name

if TYPE_CHECKING:
    from tui_crawler.domain.history.explanation import Explanation
    from tui_crawler.domain.records.view import AttemptView
    from tui_crawler.domain.rules.verdict import Step

_MARKS = {"pass": "✓", "refuse": "✗", "unknown": "?"}
_PAGE_STAGES = ("known", "job", "depth", "status", "tries")
_LABEL = 14
_MOST_HOPS = 5
_MOST_ATTEMPTS = 3
_URL_LENGTH = 2_048
ATTEMPT_COLUMNS = """attempt_id run_id url origin kind exit_code exit_code_id http_status started_at ended_at
response_ms bytes requests patience_after politeness_after delay_ms_after ruleset_id worker message cut"""


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "why",
        "explain why a URL was, or was not, crawled",
        execute,
        "Shows the whole decision chain of one URL: what it is normalised to, its origin, each filter and policy with "
        "the line that decided, robots.txt, when it is due, its place in the queue, its attempts, and the path that "
        "led to it from a seed. Works for URLs that were never seen, too.",
        examples=("why https://example.org/missing", "why https://example.org/ --verbose"),
    )
    parser.add_argument("url", metavar="URL", help="any URL")
    parser.add_argument("--job", metavar="JOB", default="", help="in this job (else: in the one that knows the URL)")
    parser.add_argument("--verbose", action="store_true", help="every stage on a line of its own, every attempt")


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    gc.disable()  # nearly all that it makes is needed until its end, which is near
    from tui_crawler.wiring.explain import Explainer

    zone = local_zone()
    database = existing_database(arguments)
    with reports_of(database) as reports:
        asked = Explainer(reports, zone=zone, you=operator_name(database))
        explanation = asked.explain(meant_url(arguments.url, reports), time.time_ns() // 1_000_000, arguments.job)
    document = {
        "url": explanation.url,
        "normalized": explanation.normalized or None,
        "known": explanation.known,
        "verdict": explanation.answer.value,
        "exit_code": explanation.exit_code or None,
        "steps": [{"stage": str(step.stage)} | picked(step, "verdict reason source") for step in explanation.steps],
        "provenance": [
            {"from": hop.from_url, "to": hop.to_url, "kind": hop.kind, "depth": hop.depth}
            for hop in explanation.provenance
        ],
        "attempts": [picked(each, ATTEMPT_COLUMNS) for each in explanation.attempts],
        "due_at": explanation.due_at,
        "queue_position": explanation.queue_position,
    } | ({"cut": explanation.cut} if explanation.cut else {})
    width = max(60, terminal_width() or LINE_LIMIT)
    return printer.answer(arguments.json, document, _lines(explanation, width, zone, verbose=arguments.verbose))


def _lines(explanation: Explanation, width: int, zone: tzinfo, *, verbose: bool) -> Iterator[str]:
    """The answer on one screen: the verdict first, then the chain, the path and the last attempts."""
    from tui_crawler.domain.crawl.cut import cut_words
    from tui_crawler.text.safe_text import clip

    yield safe(explanation.url, _URL_LENGTH)
    word = explanation.answer.value.upper().replace("_", " ")
    yield from _wrapped(f"{word}: ", explanation.sentence, width, 2)
    if explanation.advice:
        yield from _wrapped("  → ", explanation.advice, width, 4)
    if explanation.cut:
        yield from _wrapped("  not read completely, cut: ", cut_words(explanation.cut), width, 4)
    yield ""
    for label, verdict, text in _rows(explanation, verbose=verbose):
        yield from _wrapped(f"{_MARKS[verdict]} {label:<{_LABEL}}", text, width, _LABEL + 2)
    if path := explanation.provenance:
        yield from ("", f"  {safe(path[0].from_url, _URL_LENGTH)}  seed")
        told = path if verbose or len(path) <= _MOST_HOPS else path[1 - _MOST_HOPS :]
        if len(told) < len(path):
            yield f"  … {len(path) - len(told)} steps (--verbose)"
        yield from (f"  ↳ {safe(hop.to_url, _URL_LENGTH)}  {safe(hop.kind)}, depth {hop.depth}" for hop in told)
    if explanation.attempts:
        yield ""
    shown = explanation.attempts if verbose else explanation.attempts[:_MOST_ATTEMPTS]
    for each in shown:
        line = _attempt_line(each, zone)
        yield from _wrapped("  ", line, width, 4) if verbose else (clip(f"  {line}", width),)
    if len(shown) < len(explanation.attempts):
        yield f"  … and {len(explanation.attempts) - len(shown)} earlier attempts (--verbose)"


def _rows(explanation: Explanation, *, verbose: bool) -> Iterator[tuple[str, str, str]]:
    """Label, verdict and text of each line of the chain. Stages with nothing to say share a line."""
    chain = [step for step in explanation.steps if step.stage != "verdict"]
    if verbose:
        yield from ((step.stage, step.verdict, _text(step)) for step in chain)
        return
    left_out = {"normalise"} if explanation.url.partition("#")[0] == explanation.normalized else set()
    left_out |= {"queue"} if explanation.queue_position is None else set()
    chain = [step for step in chain if step.stage not in left_out]
    page = [step for step in chain if step.stage in _PAGE_STAGES and step.verdict == "pass"]
    told = [step for step in chain if step.stage in {"normalise", "origin", "robots", "due", "queue"} or step.source]
    silent = [step for step in chain if step not in told and step not in page and step.verdict == "pass"]
    unknown = [step for step in chain if step not in told and step.verdict == "unknown"]
    for step in chain:
        if step is next(iter(silent), None):
            yield "passes", "pass", ", ".join(each.stage for each in silent)
        elif step is next(iter(unknown), None):
            yield "depends", "unknown", f"on the page that links to it: {', '.join(each.stage for each in unknown)}"
        elif step is next(iter(page), None):
            yield "page", "pass", "; ".join(each.reason for each in page)
        elif step not in (*silent, *unknown, *page):
            yield step.stage, step.verdict, _text(step)


def _text(step: Step) -> str:
    return f"{step.reason}  ({step.source})" if step.source and step.source not in step.reason else step.reason


def _attempt_line(each: AttemptView, zone: tzinfo) -> str:
    status = "-" if each.http_status is None else str(each.http_status)
    parts = [date_time(each.ended_at, zone), each.exit_code, status, phase(each.response_ms)]
    parts += [f"ruleset {each.ruleset_id}"] if each.ruleset_id else []
    parts += [each.message] if each.message else []
    parts += [f"cut: {', '.join(each.cut)}"] if each.cut else []
    return safe("  ".join(parts), _URL_LENGTH)


def _wrapped(start: str, text: str, width: int, indent: int) -> Iterator[str]:
    """`text` made safe and wrapped to `width` after `start`; further lines are indented."""
    from textwrap import wrap

    text, behind = safe(text, _URL_LENGTH), " " * indent
    lines = wrap(text, width, initial_indent=start, subsequent_indent=behind, break_on_hyphens=False)
    yield from lines or [start.rstrip()]
