"""The words of the field as this project uses them, in code, database, screens and documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.domain.endings import FinishReason
from tui_crawler.domain.page import PageStatus
from tui_crawler.domain.run import RunReason

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Term:
    """A word, what it means, and where in the code it lives."""

    word: str
    meaning: str
    lives_in: str = ""


TERMS = (
    Term("origin", "Scheme, host and port: what a crawl loop, a delay and a robots.txt belong to.", "domain/url.py"),
    Term("origin crawler", "The crawl loop of one origin.", "domain/turn.py"),
    Term("page", "A URL known to a job: crawl candidate, queue row and result are one row.", "domain/page.py"),
    Term(
        "todo list",
        "The pages an origin crawler has taken out of the frontier for its next turns.",
        "domain/origin.py",
    ),
    Term("todo", "How many pages stand on todo lists, done ones that are due again among them.", "domain/origin.py"),
    Term(
        "pending",
        "How many pages have tries left: new ones, and failed ones (which count as failed, too), whether they stand on "
        "a todo list yet or not.",
        "domain/page.py",
    ),
    Term(
        "failed",
        "How many pages failed when they were last asked for. With tries left a page is pending, too: it is asked "
        "again in this run or the next, by its exit code.",
        "domain/page.py",
    ),
    Term(
        "final",
        "What an exit code is that leaves a page no tries, as 404 does: only a retry, or its recrawl when that is due, "
        "asks for it again.",
        "domain/exit_code.py",
    ),
    Term(
        "recoverable",
        "A failed page whose exit code is not final, or that was put back: with tries left it is asked again by "
        "itself, without when an operator puts it back.",
        "domain/recovery.py",
    ),
    Term(
        "retry",
        "What an operator puts pages back with: they get all their tries, and come next of all that their origin has "
        "to ask for. It gives no patience.",
        "domain/command.py",
    ),
    Term("turn", "One step of an origin crawler: robots.txt, a fill, or a crawl.", "domain/turn.py"),
    Term(
        "attempt",
        "One entry of the append-only crawl log: a page crawl, a robots.txt fetch, a link check, or a refusal that "
        "made no request.",
        "domain/attempt.py",
    ),
    Term(
        "problem",
        "An attempt that failed (a robots.txt that does not exist is none), an origin that gave up, an action that was "
        "refused.",
        "domain/exit_code.py",
    ),
    Term("request", "One HTTP exchange inside an attempt.", "domain/attempt.py"),
    Term("exit code", "The high-level outcome of an attempt. See exit-codes.md.", "domain/exit_code.py"),
    Term(
        "patience",
        "How many persistent failures an origin crawler still tolerates. It falls to 0 and never rises by itself.",
        "domain/turn.py",
    ),
    Term("politeness", "The exponent of the adaptive delay: response time × 2^politeness.", "domain/delay.py"),
    Term("delay", "The time between the end of a response and the next request to that origin.", "domain/delay.py"),
    Term("penalty box", "Where an origin waits until its delay is over.", "domain/scheduler.py"),
    Term(
        "politeness key",
        "What never gets two requests at once, and keeps the delay: the origin, its host, its registrable domain, or "
        "its address.",
        "domain/politeness_key.py",
    ),
    Term("ignore list", "The pages already considered in this run.", "storage/"),
    Term(
        "run",
        "One invocation, from start until exhausted or stopped; a run that was killed or interrupted is continued by "
        "the next start.",
        "domain/run.py",
    ),
    Term("job", "A group of pages with its own seeds, rules, depth, niceness.", "domain/page.py"),
    Term("ruleset", "An immutable version of a job's rules.", "domain/policy.py"),
    Term("link", "Page A refers to page B; there are seven kinds.", "domain/attempt.py"),
    Term("slot", "One place for a turn in a worker; there are `max_in_flight` of them.", "domain/scheduler.py"),
    Term("nice", "Lower is sooner, everywhere.", "domain/page.py"),
    Term("fluke", "A connection that failed and is tried a second time at once, within the same attempt.", "fetch/"),
    Term("settle step", "Everything one attempt changes, as one value and one transaction.", "domain/outcome.py"),
    Term("operator journal", "What operators asked for and what became of it, as rows.", "domain/command.py"),
)


def glossary_markdown() -> str:
    """docs/glossary.md, made from the terms and the enumerations."""
    lines = [
        "# Glossary",
        "",
        "Made from `tui_crawler/domain/glossary.py`; a test keeps this page equal to it.",
        "",
        "| word | meaning | in the code |",
        "|---|---|---|",
    ]
    lines += [f"| **{term.word}** | {term.meaning} | `{term.lives_in}` |" for term in TERMS]
    lines += [
        "",
        "An origin crawler ends its run as " + _names(reason.value for reason in FinishReason) + ".",
        "A run ends as " + _names(reason.value for reason in RunReason) + ".",
        "A page is " + _names(status.name for status in PageStatus) + "; done is READY with no attempt remaining.",
    ]
    return "\n".join(lines) + "\n"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
