"""The report of a site audit as HTML, JSON, Markdown and JUnit XML.

Whatever came from the web is text here: `Show` spells out what a reader's program might obey or hide, and what would be
markup in the form at hand is escaped. JSON holds values as they are, in ASCII. A timeline is a
picture without a style of its own: report.css has the colours of both themes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from tui_crawler import __version__
from tui_crawler.domain.history.site_audit import Cell, CheckOutcome, FindingSeverity, ReportCell, Section, SiteAudit
from tui_crawler.domain.history.timeline import LaneCell, LaneEvent, LanePhase, Timeline
from tui_crawler.domain.records.exit_code import FAILURES, Group
from tui_crawler.text.charts import round_top
from tui_crawler.text.format import date_time, phase, plural
from tui_crawler.text.safe_text import safe
from tui_crawler.text.timeline import kept_words, mark_words

Show = Callable[[ReportCell, Cell], str]
"""A value of a kind that names no URLs, or one URL, as plain characters; nothing for a text that is unknown."""

_MARKUP = re.compile(r"[!#$&()*+\-.:<>@\[\\\]^_`{|}~]")


def link_of(url: str | None) -> str:
    """What a link to a URL may hold: the URL if it is of the web and in plain characters, else nothing."""
    plain = url is not None and url.isascii() and url.isprintable() and " " not in url
    return url if url and plain and url.startswith(("http://", "https://")) else ""


def named(kind: ReportCell, cell: Cell) -> Sequence[tuple[str | None, str, str]] | None:
    """The URLs that a cell names, each with how and with what text; None: it is of another kind."""
    if kind is ReportCell.referrers:
        return [(one.url, one.kind, " → ".join((one.text, *one.chain))) for one in cell]
    urls = [cell] if kind is ReportCell.url else cell
    return [(url, "", "") for url in urls] if kind in {ReportCell.url, ReportCell.urls} else None


def report_json(audit: SiteAudit, _: Show) -> Iterator[str]:
    """One JSON value; its keys are those of docs/report.md."""
    document: dict[str, object] = {"crawl": audit.crawl, "run": audit.run, "scope": audit.scope}
    document |= {"generated_at": audit.at, "summary": {column.name: cell for column, cell in audit.summary}}
    document["coverage"] = None if audit.coverage is None else audit.coverage.as_document()
    for section in audit.sections:
        rows = [{column.name: cell for column, cell in row} for row in section.cells]
        shown = {"severity": section.severity, "total": section.total, "rows": rows}
        document[section.key] = shown | audit.made(section).document
    text = json.dumps(document, indent=1, default=lambda one: getattr(one, "document", lambda: asdict(one))())
    yield text.replace("\x7f", "\\u007f") + "\n"


def report_markdown(audit: SiteAudit, show: Show) -> Iterator[str]:
    """Tables as GitHub and GitLab know them."""

    def text(kind: ReportCell, value: Cell) -> str:
        return _MARKUP.sub(r"\\\g<0>", show(kind, value))

    def line(url: str | None, how: str, said: str) -> str:
        target = quote(link_of(url), safe="/:?&=@%+,;~#$!'")
        link = f"[{text(ReportCell.url, url)}](<{target}>)" if target else text(ReportCell.url, url)
        return " ".join(filter(None, (link, text(ReportCell.text, how), text(ReportCell.text, said))))

    def cell(kind: ReportCell, value: Cell) -> str:
        lines = named(kind, value)
        return text(kind, value) if lines is None else "<br>".join(line(*one) for one in lines)

    def table(rows: Sequence[Sequence[tuple[object, str]]]) -> str:
        titles = [str(title) for title, _ in rows[0]]
        lines = [titles, ["---"] * len(titles), *([shown for _, shown in row] for row in rows)]
        return "".join(f"| {' | '.join(each)} |\n" for each in lines) + "\n"

    yield f"# Site audit: {text(ReportCell.text, audit.crawl)}\n\n{audit.verdict} {audit.scope}\n\n"
    yield f"Made {show(ReportCell.moment, audit.at)}. All times are UTC.\n\n"
    yield table([[(column.title, cell(column.kind, value)) for column, value in audit.summary if value is not None]])
    for section in audit.every_section:
        unmade = text(ReportCell.text, audit.made(section).words)
        found = f": {unmade or section.total or 'none'}" if section.severity else ""
        if section.rows or found:
            yield f"## {section.title}{found}\n\n"
        if section.rows:
            shown = [[(column.title, cell(column.kind, value)) for column, value in row] for row in section.cells]
            more = f"… and {section.left_out} more.\n\n" if section.left_out else ""
            yield f"{section.says}\n\n{table(shown)}{more}"


def report_junit(audit: SiteAudit, show: Show) -> Iterator[str]:
    """A test suite for each check. What it found fails, or is skipped if it is only to be known; one test passes where
    there is none."""
    suites = [(one, [*_cases(one, audit.made(one), show)]) for one in audit.every_section if one.severity]
    name = escape(show(ReportCell.text, f"site audit: {audit.crawl}"))
    sums = _sums([case for _, cases in suites for case in cases])
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="{name}" {sums} time="0">\n'
    times = f'time="0" timestamp="{show(ReportCell.moment, audit.at).replace(" ", "T")}"'
    for section, cases in suites:
        yield f' <testsuite name="{section.title}" {_sums(cases)} {times}>\n'
        for outcome, first, *others in cases:
            case = f'  <testcase classname="site_audit.{section.key}" name="{escape(first)}" time="0"'
            told = escape("\n".join((section.says, *others)))
            message = escape("; ".join(others) or section.says)
            yield f'{case}><{outcome} message="{message}">{told}</{outcome}></testcase>\n' if outcome else f"{case}/>\n"
        yield " </testsuite>\n"
    yield "</testsuites>\n"


def _cases(section: Section, made: CheckOutcome, show: Show) -> Iterator[tuple[str, ...]]:
    """`failure`, `skipped` or nothing, then name and further words of each test case of a check."""

    def line(url: str | None, how: str, said: str) -> str:
        more = f" ({show(ReportCell.text, how)}: {show(ReportCell.text, said)})" if how else ""
        return show(ReportCell.url, url) + more

    def words(kind: ReportCell, cell: Cell, between: str = ", ") -> str:
        return between.join(line(*one) for one in named(kind, cell) or ()) or show(kind, cell)

    outcome = "skipped" if section.severity is FindingSeverity.notice else "failure"
    if made.words:
        yield "skipped", made.status.name.replace("_", " "), made.words
    elif not section.rows:
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


_SIGNS = {FindingSeverity.fault: "✗", FindingSeverity.warning: "!", FindingSeverity.notice: "i", None: "✓"}
_NUMBERS = {ReportCell.count, ReportCell.bytes, ReportCell.ms}
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
    crawl = escape(show(ReportCell.text, audit.crawl))
    yield _HEAD.format(digest=digest, style=style, crawl=crawl, verdict=audit.verdict, scope=audit.scope)
    yield from _summary(audit, show)
    for section in audit.every_section:
        if section.rows:
            yield from _section(section, show)
    made = f"Made {show(ReportCell.moment, audit.at)} by tui-crawler {__version__}. All times are UTC."
    yield f"</main>\n<footer><p>{made}</p></footer>\n</body>\n</html>\n"


def _summary(audit: SiteAudit, show: Show) -> Iterator[str]:
    yield '<section aria-labelledby="summary"><h2 id="summary">Summary</h2>\n<dl>\n'
    for column, cell in audit.summary:
        if cell is not None:
            yield f"<div><dt>{column.title}</dt><dd>{show(column.kind, cell)}</dd></div>\n"
    yield _CHECKS
    for section in audit.every_section:
        if section.severity:
            severity, unmade = section.severity if section.total else None, audit.made(section).words
            total = section.total or (None if unmade else 0)
            kind, sign = ("warning", "?") if unmade else (severity or "none", _SIGNS[severity])
            title = f'<a href="#{section.key}">{section.title}</a>' if section.rows else section.title
            yield f'<tr><th scope="row">{title}</th><td class="n">{show(ReportCell.count, total)}</td>'
            yield f'<td class="{kind}"><span aria-hidden="true">{sign}</span> {escape(unmade) or kind}</td></tr>\n'
    yield "</table></section>\n"


def _section(section: Section, show: Show) -> Iterator[str]:
    level = section.severity
    sign = f'<span class="{level}" aria-hidden="true">{_SIGNS[level]}</span> ' if level else ""
    yield f'<section aria-labelledby="{section.key}"><h2 id="{section.key}">{sign}{section.title}</h2>\n'
    lanes = any(column.kind is ReportCell.timeline for column in section.columns)
    yield LEGEND if lanes else ""
    total = show(ReportCell.count, section.total)
    listed = f"The first {len(section.rows)} of {total}." if section.left_out else f"All {total}." if level else ""
    said = f"<caption>{escape(section.says)} <b>{listed}</b></caption>"
    yield f'<table role="table" class="{"lanes" if lanes else ""}">{said}\n'
    classes = {one.name: "bar" if one.bar else "n" if one.kind in _NUMBERS else "" for one in section.columns}
    yield '<thead role="rowgroup"><tr role="row">'
    for one in section.columns:
        yield f'<th role="columnheader" scope="col" class="{classes[one.name]}">{one.title}</th>'
    yield '</tr></thead>\n<tbody role="rowgroup">\n'
    most = max((cell for row in section.cells for column, cell in row if column.bar), default=0) or 1
    for row in section.cells:
        yield '<tr role="row">'
        for place, (column, cell) in enumerate(row):
            inner = _cell(column.kind, cell, show)
            if column.bar:
                inner += _BAR.format(width=100 * cell / most, outcome="fault" if row[0][1] in _FAILURES else "")
            tag, role = ("td", "cell") if place else ("th", "rowheader")
            yield f'<{tag} role="{role}" data-label="{column.title}" class="{classes[column.name]}">{inner}</{tag}>'
        yield "</tr>\n"
    yield "</tbody></table></section>\n"


def _cell(kind: ReportCell, cell: Cell, show: Show) -> str:
    if (lines := named(kind, cell)) is not None:
        links = [_link(*line, show) for line in lines]
        tag = "ol" if kind is ReportCell.urls else "ul"
        return links[0] if kind is ReportCell.url else f"<{tag}>{''.join(f'<li>{link}</li>' for link in links)}</{tag}>"
    if kind is ReportCell.series:
        return _line(cell)
    if kind is ReportCell.timeline:
        return timeline_svg(cell)
    shown = escape(show(kind, cell))
    tag = "code" if kind is ReportCell.exit_code else "span" if kind in _NUMBERS else "bdi"
    mark = ' class="fault"' if kind is ReportCell.exit_code and cell in _FAILURES else ""
    return f"<{tag}{mark}>{shown}</{tag}>" if shown else ""


def _link(url: str | None, how: str, said: str, show: Show) -> str:
    shown, href = escape(show(ReportCell.url, url)), escape(link_of(url))
    link = f'<a href="{href}" rel="noreferrer noopener nofollow">{shown}</a>' if href else f"<bdi>{shown}</bdi>"
    kind = f' <span class="kind">{escape(show(ReportCell.text, how))}</span>' if how else ""
    return f"{link}{kind} <q><bdi>{escape(show(ReportCell.text, said))}</bdi></q>" if said else link + kind


def _line(counts: Sequence[int]) -> str:
    most = max(counts, default=0)
    points = "".join(f"V{20 - 20 * count / (most or 1):.1f}H{place}" for place, count in enumerate(counts, 1))
    label = f"requests over time, {most} at most in one of {len(counts)} spans"
    return f"""<svg class="line" viewBox="0 0 {len(counts)} 20" preserveAspectRatio="none" role="img" \
aria-label="{label}"><path d="M0 20{points}V20Z"/></svg>"""


_GAPS, _ASKED, _PATIENCE, _STATE, _HEIGHT = 60, 64, 90, 94, 102
"""Where the gaps end, what was asked begins, patience ends, the state begins, and all of it ends."""
_TOLD = 20
_BAD = {Group.server: "fault", Group.network: "warning", Group.client: "client", Group.local: "fault"}


def timeline_svg(timeline: Timeline) -> str:
    """The picture with its scale, and what happened as a list, which says the same in words."""
    span, cells = timeline.span, timeline.cells
    top = round_top(1.2 * timeline.longest_ms)
    promised = "".join(f"V{_height(cell.delay_ms or 0, top)}H{at}" for at, cell in enumerate(cells, 1))
    drawn = f'<path class="promised" d="M0 {_GAPS}{promised}V{_GAPS}Z"/>'  # the delay in force, filled from zero up
    drawn += "".join((*_kept(cells, top), *_asked(cells), _patience(cells), *_states(cells), *_marks(timeline)))
    marks = [mark for mark in timeline.marks if mark.event is not LaneEvent.broken_promise]
    told = [f"<li>{date_time(mark.at)} {escape(mark_words(mark))}</li>" for mark in marks]
    more = len(told) - _TOLD + timeline.marks_left_out
    told[_TOLD:] = [f"<li>and {more} more</li>"] if more > 0 else []
    said = f"<summary>{plural(len(told), 'mark')}</summary><ul>{''.join(told)}</ul>"
    words, since, until = kept_words(timeline), date_time(span.since), date_time(span.until)
    return f"""<div><p>{words}</p><svg class="lane" viewBox="0 0 {len(cells)} {_HEIGHT}" preserveAspectRatio="none" \
role="img" aria-label="{escape(words)}">{drawn}</svg><p class="axis"><span>{since}</span>\
<span>up to {phase(top)}</span><span>{until}</span></p>{f"<details>{said}</details>" if told else ""}</div>"""


def _kept(cells: tuple[LaneCell, ...], top: float) -> Iterator[str]:
    """The gap that kept its promise least in each cell, as a line over the cell."""
    lines: dict[bool, list[str]] = {False: [], True: []}
    for at, cell in enumerate(cells):
        if cell.kept_ms is not None:
            lines[cell.broken].append(f"M{at} {_height(max(cell.kept_ms, 0), top)}h1")
    return map(_path, ("kept", "broken"), lines.values())


def _asked(cells: tuple[LaneCell, ...]) -> Iterator[str]:
    """A tick for each cell in which something was asked, by how that ended."""
    kinds = {kind: list[str]() for kind in ("asked", "client", "warning", "fault")}
    for at, cell in enumerate(cells):
        if cell.requests and cell.ended is not None:
            bad = "fault" if cell.broken else _BAD.get(cell.ended, "asked")
            kinds[bad].append(f"M{at + 0.5} {_ASKED}v12")
    return (_path(f"tick {kind}", ticks) for kind, ticks in kinds.items())


def _patience(cells: tuple[LaneCell, ...]) -> str:
    most = max((cell.patience or 0 for cell in cells), default=0) or 1
    known = [(at, cell.patience) for at, cell in enumerate(cells) if cell.patience is not None]
    steps = [f"{at} {_PATIENCE - 10 * left / most:.1f}h1" for at, left in known]
    return _path("patience", ["M" + "L".join(steps)] if steps else ())


def _path(kind: str, steps: Sequence[str]) -> str:
    return f'<path class="{kind}" d="{"".join(steps)}"/>' if steps else ""


def _states(cells: tuple[LaneCell, ...]) -> Iterator[str]:
    for state, run in groupby(enumerate(cells), key=lambda each: each[1].phase):
        places = [at for at, _ in run]
        if state is not LanePhase.not_known:
            yield f'<rect class="{state.name}" x="{places[0]}" y="{_STATE}" width="{len(places)}" height="8"/>'


def _marks(timeline: Timeline) -> Iterator[str]:
    for mark in timeline.marks:
        at = timeline.span.cell(mark.at) + 0.5
        words = escape(safe(f"{date_time(mark.at)} {mark_words(mark)}", 200))
        yield f'<path class="mark {mark.event}" d="M{at} 0V{_HEIGHT}"><title>{words}</title></path>'


def _height(ms: float, top: float) -> str:
    return f"{_GAPS - min(ms / top, 1.0) ** 0.5 * _GAPS:.1f}"


LEGEND = """<p class="legend"><svg viewBox="0 0 10 10"><rect class="promised" width="10" height="10"/></svg> promised
<svg viewBox="0 0 10 10"><path class="kept" d="M0 5h10"/></svg> kept
<svg viewBox="0 0 10 10"><path class="broken" d="M0 5h10"/></svg> broken promise
asked: <svg viewBox="0 0 10 10"><path class="tick asked" d="M5 0v10"/></svg> answered
<svg viewBox="0 0 10 10"><path class="tick fault" d="M5 0v10"/></svg> 429, 5xx
<svg viewBox="0 0 10 10"><path class="tick warning" d="M5 0v10"/></svg> no answer
<svg viewBox="0 0 10 10"><path class="tick client" d="M5 0v10"/></svg> other 4xx
<svg viewBox="0 0 10 10"><path class="patience" d="M0 3h5v5h5"/></svg> patience ·
<svg viewBox="0 0 10 10"><rect class="asking" width="10" height="10"/></svg> crawling
<svg viewBox="0 0 10 10"><rect class="in_delay" width="10" height="10"/></svg> waiting
<svg viewBox="0 0 10 10"><rect class="held" width="10" height="10"/></svg> paused
<svg viewBox="0 0 10 10"><rect class="over" width="10" height="10"/></svg> over</p>
"""
"""What the colours of the pictures mean; stands once above them."""
