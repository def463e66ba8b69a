"""The report of a site audit as JSON, Markdown and JUnit XML.

Whatever came from the web is text here: `Show` spells out what a reader's program might obey or hide, and what would be
markup in the form at hand is escaped. JSON holds values as they are, in ASCII.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from urllib.parse import quote

from tui_crawler.domain.site_audit import Cell, Kind, Section, Severity, SiteAudit

Show = Callable[[Kind, Cell], str]
"""A value of a kind that names no URLs, or one URL, as plain characters; nothing for a text that is unknown."""

_MARKUP = re.compile(r"[!#$&()*+\-.:<>@\[\\\]^_`{|}~]")


def link_of(url: str | None) -> str:
    """What a link to a URL may hold: the URL if it is of the web and in plain characters, else nothing."""
    plain = url is not None and url.isascii() and url.isprintable() and " " not in url
    return url if url and plain and url.startswith(("http://", "https://")) else ""


def named(kind: Kind, cell: Cell) -> Sequence[tuple[str | None, str, str]] | None:
    """The URLs that a cell names, each with how and with what text; None: it is of another kind."""
    if kind is Kind.referrers:
        return [(one.url, one.kind, one.text) for one in cell]
    urls = [cell] if kind is Kind.url else cell
    return [(url, "", "") for url in urls] if kind in {Kind.url, Kind.urls} else None


def report_json(audit: SiteAudit, _: Show) -> Iterator[str]:
    """One JSON value; its keys are those of docs/report.md."""
    document: dict[str, object] = {"crawl": audit.crawl, "run": audit.run, "scope": audit.scope}
    document |= {"generated_at": audit.at, "summary": {column.name: cell for column, cell in audit.summary}}
    for section in audit.sections:
        rows = [{column.name: cell for column, cell in row} for row in section.cells]
        document[section.key] = {"severity": section.severity, "total": section.total, "rows": rows}
    yield json.dumps(document, indent=1, default=asdict).replace("\x7f", "\\u007f") + "\n"


def report_markdown(audit: SiteAudit, show: Show) -> Iterator[str]:
    """Tables as GitHub and GitLab know them."""

    def text(kind: Kind, value: Cell) -> str:
        return _MARKUP.sub(r"\\\g<0>", show(kind, value))

    def line(url: str | None, how: str, said: str) -> str:
        target = quote(link_of(url), safe="/:?&=@%+,;~#$!'")
        link = f"[{text(Kind.url, url)}](<{target}>)" if target else text(Kind.url, url)
        return " ".join(filter(None, (link, text(Kind.text, how), text(Kind.text, said))))

    def cell(kind: Kind, value: Cell) -> str:
        lines = named(kind, value)
        return text(kind, value) if lines is None else "<br>".join(line(*one) for one in lines)

    def table(rows: Sequence[Sequence[tuple[object, str]]]) -> str:
        titles = [str(title) for title, _ in rows[0]]
        lines = [titles, ["---"] * len(titles), *([shown for _, shown in row] for row in rows)]
        return "".join(f"| {' | '.join(each)} |\n" for each in lines) + "\n"

    yield f"# Site audit: {text(Kind.text, audit.crawl)}\n\n{audit.verdict} {audit.scope}\n\n"
    yield f"Made {show(Kind.moment, audit.at)}. All times are UTC.\n\n"
    yield table([[(column.title, cell(column.kind, value)) for column, value in audit.summary if value is not None]])
    for section in audit.sections:
        found = f": {section.total or 'none'}" if section.severity else ""
        if section.rows or found:
            yield f"## {section.title}{found}\n\n"
        if section.rows:
            shown = [[(column.title, cell(column.kind, value)) for column, value in row] for row in section.cells]
            more = f"… and {section.left_out} more.\n\n" if section.left_out else ""
            yield f"{section.says}\n\n{table(shown)}{more}"


def report_junit(audit: SiteAudit, show: Show) -> Iterator[str]:
    """A test suite for each check. What it found fails, or is skipped if it is only to be known; one test passes where
    there is none."""
    suites = [(section, [*_cases(section, show)]) for section in audit.sections if section.severity]
    name = escape(show(Kind.text, f"site audit: {audit.crawl}"))
    sums = _sums([case for _, cases in suites for case in cases])
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="{name}" {sums} time="0">\n'
    times = f'time="0" timestamp="{show(Kind.moment, audit.at).replace(" ", "T")}"'
    for section, cases in suites:
        yield f' <testsuite name="{section.title}" {_sums(cases)} {times}>\n'
        for outcome, first, *others in cases:
            case = f'  <testcase classname="site_audit.{section.key}" name="{escape(first)}" time="0"'
            told = escape("\n".join((section.says, *others)))
            message = escape("; ".join(others) or section.says)
            yield f'{case}><{outcome} message="{message}">{told}</{outcome}></testcase>\n' if outcome else f"{case}/>\n"
        yield " </testsuite>\n"
    yield "</testsuites>\n"


def _cases(section: Section, show: Show) -> Iterator[tuple[str, ...]]:
    """`failure`, `skipped` or nothing, then name and further words of each test case of a check."""

    def words(kind: Kind, cell: Cell, between: str = ", ") -> str:
        lines = [(show(Kind.url, url), show(Kind.text, how), said) for url, how, said in named(kind, cell) or ()]
        told = [f"{url} ({how}: {show(Kind.text, said)})" if how else url for url, how, said in lines]
        return between.join(told) or show(kind, cell)

    outcome = "skipped" if section.severity is Severity.notice else "failure"
    if not section.rows:
        yield "", "none"
    for row in section.cells:
        others = [(column.title, words(column.kind, cell)) for column, cell in row[1:]]
        first = words(row[0][0].kind, row[0][1], " -> ")
        yield outcome, first, *(f"{title}: {said}" for title, said in others if said)
    if section.left_out:
        yield outcome, f"and {section.left_out} more"


def _sums(cases: Sequence[tuple[str, ...]]) -> str:
    count = [case[0] for case in cases].count
    return f'tests="{len(cases)}" failures="{count("failure")}" errors="0" skipped="{count("skipped")}"'
