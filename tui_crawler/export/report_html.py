"""The report of a site audit as one HTML file: no script, no other file, nothing that is fetched.

Tables become cards on a narrow screen, so that each cell repeats the title of its column. Bars and lines are SVG beside
the numbers they show; no colour says what a word does not. The policy in the head lets nothing but the stylesheet act.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from tui_crawler import __version__
from tui_crawler.domain.exit_code import FAILURES
from tui_crawler.domain.site_audit import Cell, Kind, Section, Severity, SiteAudit
from tui_crawler.export.report import Show, link_of, named

_SIGNS = {Severity.fault: "✗", Severity.warning: "!", Severity.notice: "i", None: "✓"}
_NUMBERS = {Kind.count, Kind.bytes, Kind.ms}
_FAILURES = {code.name for code in FAILURES}
_BAR = """<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" class="{outcome}">\
<rect width="{width:.2f}" height="10"/></svg>"""
_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">
<title>Site audit: {crawl}</title>
<style>{style}</style>
</head><body>
<header><h1>Site audit: <bdi>{crawl}</bdi></h1>
<p><b>{verdict}</b> {scope}</p></header>
<main>
"""
_CHECKS = """</dl>
<table class="checks"><caption>What was checked</caption>
<thead><tr><th scope="col">check</th><th scope="col" class="n">found</th><th scope="col">as</th></tr></thead>
"""


def report_html(audit: SiteAudit, show: Show) -> Iterator[str]:
    """The file, piece by piece."""
    style = Path(__file__).with_name("report.css").read_text(encoding="ascii")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    crawl = escape(show(Kind.text, audit.crawl))
    yield _HEAD.format(digest=digest, style=style, crawl=crawl, verdict=audit.verdict, scope=audit.scope)
    yield from _summary(audit, show)
    for section in audit.sections:
        if section.rows:
            yield from _section(section, show)
    made = f"Made {show(Kind.moment, audit.at)} by tui-crawler {__version__}. All times are UTC."
    yield f"</main>\n<footer><p>{made}</p></footer>\n</body>\n</html>\n"


def _summary(audit: SiteAudit, show: Show) -> Iterator[str]:
    yield '<section aria-labelledby="summary"><h2 id="summary">Summary</h2>\n<dl>\n'
    for column, cell in audit.summary:
        if cell is not None:
            yield f"<div><dt>{column.title}</dt><dd>{show(column.kind, cell)}</dd></div>\n"
    yield _CHECKS
    for section in audit.sections:
        if section.severity:
            severity = section.severity if section.total else None
            word = severity or "none"
            title = f'<a href="#{section.key}">{section.title}</a>' if section.rows else section.title
            yield f'<tr><th scope="row">{title}</th><td class="n">{show(Kind.count, section.total)}</td>'
            yield f'<td class="{word}"><span aria-hidden="true">{_SIGNS[severity]}</span> {word}</td></tr>\n'
    yield "</table></section>\n"


def _section(section: Section, show: Show) -> Iterator[str]:
    level = section.severity
    sign = f'<span class="{level}" aria-hidden="true">{_SIGNS[level]}</span> ' if level else ""
    yield f'<section aria-labelledby="{section.key}"><h2 id="{section.key}">{sign}{section.title}</h2>\n'
    total = show(Kind.count, section.total)
    listed = f"The first {len(section.rows)} of {total}." if section.left_out else f"All {total}." if level else ""
    yield f'<table role="table"><caption>{escape(section.says)} <b>{listed}</b></caption>\n'
    classes = ["bar" if one.bar else "n" if one.kind in _NUMBERS else "" for one in section.columns]
    yield '<thead role="rowgroup"><tr role="row">'
    for one, column in zip(classes, section.columns, strict=True):
        yield f'<th role="columnheader" scope="col" class="{one}">{column.title}</th>'
    yield '</tr></thead>\n<tbody role="rowgroup">\n'
    most = max((cell for row in section.cells for column, cell in row if column.bar), default=0) or 1
    for row in section.cells:
        yield '<tr role="row">'
        for place, (column, cell) in enumerate(row):
            inner = _cell(column.kind, cell, show)
            if column.bar:
                inner += _BAR.format(width=100 * cell / most, outcome="fault" if row[0][1] in _FAILURES else "")
            tag, role = ("td", "cell") if place else ("th", "rowheader")
            yield f'<{tag} role="{role}" data-label="{column.title}" class="{classes[place]}">{inner}</{tag}>'
        yield "</tr>\n"
    yield "</tbody></table></section>\n"


def _cell(kind: Kind, cell: Cell, show: Show) -> str:
    lines = named(kind, cell)
    if lines is not None:
        links = [_link(*line, show) for line in lines]
        tag = "ol" if kind is Kind.urls else "ul"
        return links[0] if kind is Kind.url else f"<{tag}>{''.join(f'<li>{link}</li>' for link in links)}</{tag}>"
    if kind is Kind.series:
        return _line(cell)
    shown = escape(show(kind, cell))
    tag = "code" if kind is Kind.exit_code else "span" if kind in _NUMBERS else "bdi"
    mark = ' class="fault"' if kind is Kind.exit_code and cell in _FAILURES else ""
    return f"<{tag}{mark}>{shown}</{tag}>" if shown else ""


def _link(url: str | None, how: str, said: str, show: Show) -> str:
    shown, href = escape(show(Kind.url, url)), escape(link_of(url))
    link = f'<a href="{href}" rel="noreferrer noopener nofollow">{shown}</a>' if href else f"<bdi>{shown}</bdi>"
    kind = f' <span class="kind">{escape(show(Kind.text, how))}</span>' if how else ""
    return f"{link}{kind} <q><bdi>{escape(show(Kind.text, said))}</bdi></q>" if said else link + kind


def _line(counts: Sequence[int]) -> str:
    most = max(counts, default=0)
    points = "".join(f"V{20 - 20 * count / (most or 1):.1f}H{place}" for place, count in enumerate(counts, 1))
    return (
        f'<svg class="line" viewBox="0 0 {len(counts)} 20" preserveAspectRatio="none" role="img" '
        f'aria-label="requests over time, {most} at most in one of {len(counts)} spans">'
        f'<path d="M0 20{points}V20Z"/></svg>'
    )
