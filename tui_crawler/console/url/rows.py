"""One URL, whole: what is known of it, how it was found, its attempts, requests and headers, its stored body. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, get_character_cell_size

from tui_crawler.console.logs.attempts import circumstances, exit_cell, exit_in_full, meaning, status_cell
from tui_crawler.console.panes.line import LABEL, HangingText, Line, Paragraph, Split, fact, heading, width_of
from tui_crawler.console.urls.cells import path_of
from tui_crawler.console.urls.queries import MOST_LINKS
from tui_crawler.domain.crawl.cut import cut_names, cut_words
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ABSENT, clock, count, date_time, phase, plural, size
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.records.attempt import RequestRecord
    from tui_crawler.domain.records.page_view import Hop, LinkEnd, PageDetail, PageView
    from tui_crawler.domain.records.view import AttemptView


KEPT = "kept"
"""What stands for the steps of a connection that a request found open."""

NOT_NOTED = "?"
"""What stands for steps nobody noted: an older program made the request, or it was cancelled."""


def _request(one: RequestRecord | Try) -> RequestRecord | None:
    return one.request if isinstance(one, Try) else one


def _step(name: str, heading: str, kept: Styled, priority: int) -> Column[RequestRecord | Try, float | None]:
    """What a step of a new connection took: name look-up, TCP connect, or TLS handshake."""

    def took(one: RequestRecord | Try) -> float | None:
        request = _request(one)
        return getattr(request, f"{name}_ms") if request is not None and request.connection_reused is False else None

    def show(ms: float | None, one: RequestRecord | Try, _present: Present) -> Cell:
        request = _request(one)
        if request is None or request.connection_reused is False:
            return phase(ms)
        return Styled(NOT_NOTED, "faint") if request.connection_reused is None else kept

    return Column(name, heading, show, 5, priority, "right", value=took)


def _head(one: RequestRecord | Try) -> float | None:
    request = _request(one)
    return request.head_at - request.sent_at if request is not None and request.head_at is not None else None


def _total(one: RequestRecord | Try) -> float | None:
    request = _request(one)
    if request is not None:
        return request.ended_at - request.sent_at
    return one.attempt.response_ms if isinstance(one, Try) else None


_PATH, _INDENTED = 12, 6
"""How many steps of a path are drawn, the last ones; and how many of them are indented further."""

_HEADER_NAME = 32
"""How many cells the name of a header takes at most."""


def connection_words(request: RequestRecord) -> str:
    """Where a request was connected to, and what the steps that were taken took."""
    to = f" to {request.remote_address}" if request.remote_address else ""
    if request.connection_reused is not False:
        return f"kept connection{to}" if request.connection_reused else f"connection{to}, its steps were not recorded"
    steps = (("DNS", request.dns_ms), ("TCP", request.connect_ms), ("TLS", request.tls_ms))
    taken = ", ".join(f"{name} {phase(ms)}" for name, ms in steps if ms is not None)
    made = f"new connection{to}" if request.remote_address else "no connection was made"
    return f"{made}: {taken}" if taken else made


def page_lines(page: PageView, zone: tzinfo) -> list[Line]:
    """What is known of a page. When it is tried next is for the decision trace to say: that depends on the run."""
    status = () if page.last_http_status is None else (" ", status_cell(page.last_http_status))
    lines: list[Line] = [
        Paragraph(page.url, "strong", most=3),
        *([fact("host", letters, Styled("  as written", "muted"))] if (letters := idn_of(page.url)) else []),
        Paragraph(page.title, "", most=2) if page.title else Styled("no title known", "faint"),
        "",
        fact("last", exit_in_full(page.last_exit_code), *status),
    ]
    if page.message:
        lines.append(_labelled("message", page.message))
    elif words := meaning(page.last_exit_code):
        lines.append(Paragraph(" " * LABEL + words, "muted", indent=LABEL, most=2))
    lines += [
        fact("when", date_time(page.last_crawled_at, zone) if page.last_crawled_at else "never"),
        fact("tries", f"{page.attempts} done, {page.attempts_remaining} left"),
        fact("place", f"depth {page.depth}, nice {page.nice}", Styled(f"  job {page.job}", "muted")),
    ]
    if page.due_at and not page.attempts_remaining:
        lines.append(fact("due", date_time(page.due_at, zone)))
    if page.content_type or page.size:
        lines.append(
            fact("content", "  ".join(filter(None, (size(page.size) if page.size else "", page.content_type))))
        )
    lines += _cut_lines(page.incomplete)
    if page.etag:
        lines.append(fact("etag", page.etag))
    if page.sha256:
        lines.append(fact("sha256", Styled(page.sha256[:16], "muted")))
    return lines


def _cut_lines(incomplete: str) -> list[Line]:
    """What was not read, and the keys that raise the bounds."""
    return [_labelled("cut", words)] if (words := cut_words(cut_names(incomplete))) else []


def _labelled(label: str, words: str) -> Line:
    return Paragraph(label.ljust(LABEL) + words, "warning", indent=LABEL, most=4)


def idn_of(url: str) -> str:
    """The host of a URL in the letters its punycode stands for; empty where it has none. Raw text."""
    host = url.partition("://")[2].split("/", 1)[0].rpartition("@")[2]
    labels = [(label.lower().startswith("xn--"), label) for label in host.split(".")]
    if not any(coded for coded, _ in labels):
        return ""
    try:
        return ".".join(label[4:].encode("ascii").decode("punycode") if coded else label for coded, label in labels)
    except (ValueError, OverflowError):  # of a coding: a ValueError
        return ""


def path_lines(detail: PageDetail, zone: tzinfo) -> list[Line]:
    """How the URL was found: the shortest path from a seed, link by link; and what else points at it."""
    page = detail.page
    lines: list[Line] = []
    if detail.path:
        lines += steps_lines(detail.path, page.origin, zone)
    elif page.depth == 0:
        lines.append(Split((Styled("◆ ", "accent"), "a seed"), Styled("depth 0", "muted")))
    else:
        lines.append(Styled("how it was found is not known", "muted"))
    number = detail.inlink_count
    pages = plural(number, "page") if number < MOST_LINKS else f"{many_links(number)} pages"
    lines += ["", fact("linked", f"from {pages}, to {many_links(detail.outlink_count)}")]
    return [*lines, *(redirect_lines(detail)[:4] or [Styled("no redirect is known", "faint")])]


def steps_lines(path: Sequence[Hop], origin: str, zone: tzinfo) -> list[Line]:
    """The way from a seed, link by link, of a long one its end; URLs of `origin` without that."""
    first = (Styled("◆ ", "accent"), path_of(path[0].from_url, origin), Styled("  seed", "muted"))
    lines: list[Line] = [Split(first, Styled("depth 0", "muted"))]
    hidden = max(0, len(path) - _PATH)
    if hidden:
        lines.append(Styled(f"  … {plural(hidden, 'step')}", "faint"))
    for number, hop in enumerate(path[hidden:], hidden + 1):
        last, seen = number == len(path), clock(hop.first_seen_at, zone)[:5] if hop.first_seen_at else "-"
        step = Styled(path_of(hop.to_url, origin), "strong" if last else "")
        about = Styled(f"  <{hop.kind}> {seen} depth {hop.depth}", "muted")
        arrow = Styled(f"{'  ' * min(number - hidden - 1, _INDENTED)}↳ ", "muted")
        lines.append(Split((arrow, step), (about, Styled(" ◀ shortest" if last else "", "accent"))))
    return lines


def many_links(number: int) -> str:
    return f"{count(MOST_LINKS)}+" if number >= MOST_LINKS else count(number)


def redirect_lines(detail: PageDetail) -> list[Line]:
    """Where the URL redirects to, and what redirects to it."""
    lines: list[Line] = []
    for redirect in detail.redirects:
        arrow, other = "← ", redirect.from_url
        if redirect.from_url == detail.page.url:
            arrow, other = "→ ", "#".join(filter(None, (redirect.to_url, redirect.to_fragment)))
        kind = "permanent " if redirect.permanent else ""
        lines.append((Styled(arrow, "redirect"), other, Styled(f"  {kind}{redirect.source}", "muted")))
    return lines


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A link to a page (`inward`) or from it, its number in the list, and the origin of the page."""

    number: int
    end: LinkEnd
    origin: str
    inward: bool

    @property
    def url(self) -> str:
        """The other end, short where it is of the same origin."""
        link = self.end.link
        return path_of(link.from_url if self.inward else link.to_url, self.origin).removeprefix("https://")


LINKS: Relation[LinkLine] = Relation(
    key=lambda line: line.number,
    nothing="no links",
    source=lambda line: line.end.link,
    columns=(
        Column("kind", "KIND", shown.plain("muted"), 6, 3, min_width=4, value=lambda line: line.end.link.shown_kind),
        Column("url", "URL", shown.plain(), None, 0, min_width=18, kind="place"),
        Column("title", "TITLE", shown.plain("muted"), None, 2, min_width=14, value=lambda line: line.end.title),
        Column("text", "TEXT", shown.plain("faint"), 20, 4, min_width=12, value=lambda line: line.end.link.text),
        Column("exit", "EXIT", shown.by_value(lambda code: exit_cell(code) if code else Styled("not tried", "faint")),
               14, 1, min_width=12, value=lambda line: line.end.exit_code),
        Column("seen", "SEEN",
               lambda at, _, present: Styled(date_time(at, present.zone)[:16], "faint", short=clock(at, present.zone)),
               16, 6, min_width=8, value=lambda line: line.end.link.first_seen_at),
        Column("note", "", shown.plain("warning"), 8, 5, value=lambda line: "nofollow" * line.end.link.nofollow),
    ),
)  # fmt: skip


def links_title(words: str, first: int, shown: int, whole: int) -> str:
    """What a table of links shows: how many there are, and which of them; `first` is the number of the first."""
    if first == 1 and shown >= whole:
        return f"{words} · {count(whole)}"
    return f"{words} · {count(first)}–{count(first + shown - 1)} of {many_links(max(whole, first + shown - 1))}"


def content_lines(detail: PageDetail, zone: tzinfo) -> list[Line]:
    """What is known of the stored document: type and validators, what a validator said, what data rules found."""
    page = detail.page
    lines: list[Line] = [fact("type", page.content_type or "not known"), fact("size", size(page.size or 0))]
    lines += _cut_lines(page.incomplete)
    lines += [fact(label, said) for label, said in (("etag", page.etag), ("modified", page.last_modified)) if said]
    if detail.lastmod:
        lines.append(fact("lastmod", date_time(detail.lastmod, zone), Styled("  in a sitemap", "muted")))
    if page.sha256:
        lines.append(HangingText(Styled("sha256", "muted"), LABEL, page.sha256, "muted", most=4))
    checked = detail.validation
    if checked is not None:
        errors = plural(len(checked.errors), "error")
        lines += ["", heading("Validation")]
        verdict = Styled("✓ valid", "ok") if checked.valid else Styled(f"✗ not valid, {errors}", "error")
        lines.append((verdict, Styled(f"  {checked.type}", "muted")))
        lines += [
            HangingText(Styled(f"{one.line}:{one.column}" if one.line else "", "warning"), LABEL, one.message, most=3)
            for one in checked.errors
        ]
    if detail.data:
        lines += ["", heading("Data")]
        lines += [
            HangingText((Styled(one.name, "accent"), Styled(f" {one.type}", "faint")), 18, one.value, most=4)
            for one in detail.data
        ]
    return lines


@dataclass(frozen=True, slots=True)
class Try:
    """An attempt, its number from the oldest, and the last request it made, if any."""

    number: int
    attempt: AttemptView
    request: RequestRecord | None


def tries_of(detail: PageDetail) -> list[Try]:
    """Return the attempts of a URL, newest first."""
    last = {request.attempt_id: request for request in detail.requests}
    numbers = range(len(detail.attempts), 0, -1)
    return [Try(number, one, last.get(one.attempt_id)) for number, one in zip(numbers, detail.attempts, strict=True)]


def _note(of: Try) -> Cell:
    """What an attempt cost and brought, and why it ended so."""
    one = of.attempt
    parts = [*circumstances(one), Styled(one.message)]
    if one.new_pages:
        parts.insert(0, Styled(f"+{plural(one.new_pages, 'page')}  ", "ok"))
    if one.decided_by:
        parts.append(Styled(f"  {one.decided_by}" if one.message else one.decided_by, "muted"))
    return tuple(parts)


def _kind(request: RequestRecord) -> str:
    kinds = [("conditional", request.conditional), ("second try", request.fluke_retry)]
    return ", ".join(name for name, holds in kinds if holds) or "plain"


_NOT_TAKEN = Styled(ABSENT, "faint")
_STEPS: tuple[Column[Any, Any], ...] = (
    _step("dns", "DNS", _NOT_TAKEN, 11),
    _step("connect", "CONN", Styled(KEPT, "muted"), 9),
    _step("tls", "TLS", _NOT_TAKEN, 10),
)
TRIES: Relation[Try] = Relation(
    key=lambda one: one.attempt.attempt_id,
    nothing="never tried",
    source=lambda one: one.attempt,
    columns=(
        Column("number", "#", shown.plain("faint"), 3, 6, "right"),
        Column("time", "TIME", shown.date_and_time(), 19, 0, min_width=8, value=lambda one: one.attempt.ended_at),
        Column("rules", "RULESET", shown.plain("faint", ABSENT), 7, 8, "right", min_width=5, short="RULES",
               value=lambda one: one.attempt.ruleset_id or None),
        Column("exit", "EXIT", shown.by_value(exit_cell), 14, 0, min_width=14, value=lambda one: one.attempt.exit_code),
        Column("status", "ST", shown.by_value(status_cell), 3, 1, "right", value=lambda one: one.attempt.http_status),
        *_STEPS,
        Column("head", "TTFB", shown.words(phase), 6, 4, "right", min_width=5, value=_head),
        Column("total", "TOTAL", shown.words(phase), 6, 2, "right", min_width=5, value=_total),
        Column("bytes", "BYTES", shown.data_size("muted"), 6, 5, "right", value=lambda one: one.attempt.bytes or None),
        Column("remote", "REMOTE", shown.plain("muted"), 21, 7, min_width=15,
               value=lambda one: one.request.remote_address if one.request is not None else ""),
        Column("requests", "REQ", shown.plain("faint"), 3, 12, "right", value=lambda one: one.attempt.requests),
        Column("note", "NOTE", shown.by_record(_note), None, 3, min_width=24, value=lambda one: one.attempt.message),
    ),
)  # fmt: skip
REQUESTS: Relation[RequestRecord] = Relation(
    key=lambda request: request.request_id,
    nothing="no request",
    columns=(
        Column("time", "SENT", shown.time_of_day(millis=True), 12, 0, value=lambda request: request.sent_at),
        Column("method", "METHOD", shown.plain(), 6, 3),
        Column("status", "ST", shown.by_value(status_cell), 3, 0, "right", value=lambda request: request.http_status),
        *(replace(one, priority=one.priority - 2) for one in _STEPS),
        Column("head", "TTFB", shown.words(phase), 7, 2, "right", min_width=5, value=_head),
        Column("total", "TOTAL", shown.words(phase), 7, 1, "right", min_width=5, value=_total),
        Column("remote", "REMOTE", shown.plain(), 22, 5, min_width=15, value=lambda request: request.remote_address),
        Column("kind", "KIND", shown.plain("muted"), 24, 6, value=_kind),
        Column("error", "ERROR", shown.plain("error"), None, 4, min_width=14),
    ),
)


def unknown_lines(url: str) -> list[Line]:
    """What is shown of a URL that is not known."""
    return [Paragraph(url, "strong"), Styled("∅ is unknown to this crawl", "muted")]


def sent_lines(request: RequestRecord | None) -> list[Line]:
    """What was sent, and over which connection: the request line and its headers."""
    if request is None:
        return [Styled("no request was made", "muted")]
    return [
        (Styled(f"{request.method} ", "accent"), Styled(request.url, "strong")),
        Paragraph(connection_words(request), "muted", most=2),
        *(_header_line(name, value) for name, value in request.request_headers),
    ]


def received_lines(request: RequestRecord | None) -> list[Line]:
    """What came back: the status and its headers, or why nothing did."""
    if request is None:
        return []
    if request.http_status is None:
        return [Styled("no response", "muted"), *([Paragraph(request.error, "error")] if request.error else [])]
    return [
        (status_cell(request.http_status), Styled(f"  {request.error}" if request.error else "", "error")),
        *(_header_line(name, value) for name, value in request.response_headers),
    ]


def _header_line(name: str, value: str) -> Line:
    head = Styled(f"{name}: ", "muted")
    return HangingText(head, min(width_of(head), _HEADER_NAME), value, most=4)


MOST_LINES = 6_000
_GUTTER = 5
_BREAK = re.compile(r"\r\n|\r|\n")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_OF_THE_WEB = re.compile(
    r"utf-?(8|16|16le|16be)|(us-)?ascii|iso-?8859-?\d{1,2}|latin-?\d|windows-?125\d|koi8-[ru]|shift[-_]?jis|"
    r"euc-(jp|kr)|gb(2312|k|18030)|big5",
    re.IGNORECASE,
)
"""Charsets that are decoded; others of Python's take long, or are no text."""


def text_lines(data: bytes, whole: int, content_type: str, width: int) -> list[Line]:
    """The text of `data`, the first bytes of a body of `whole` bytes, in rows of at most `width` cells."""
    rows: list[Line] = []
    room = max(8, width - _GUTTER - 1)
    syntax = next((one for word, one in _SYNTAX if word in content_type), None)
    for number, text in enumerate(_BREAK.split(decoded(data, content_type)), 1):
        for index, pieces in enumerate(_coloured(list(cut_pieces(text, room)), syntax)):
            head = str(number) if index == 0 else ""
            rows.append((Styled(f"{head:>{_GUTTER}} ", "faint"), *pieces))
        if len(rows) >= MOST_LINES:
            break
    return [*rows[:MOST_LINES], *rest_lines(len(data), whole, cut=len(rows) >= MOST_LINES)]


_STRINGS = r"""(?P<ok>"(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?)"""
_MARKUP = re.compile(
    r"(?P<faint><!--.*?(?:-->|$))|(?P<accent></?[\w:!?-]++|[/?]?>)"
    r"""|(?<==)(?P<ok>"[^"]*+"?|'[^']*+'?)|(?P<client>&\#?\w{1,32};)"""
)
_JSON = re.compile(
    rf'(?P<accent>"(?:[^"\\]|\\.)*+"(?=\s*+:))|{_STRINGS}|(?P<client>(?<!\w)(?:-?\d[\d.eE+-]*+|true|false|null))'
)
_STYLE = re.compile(
    rf"(?P<faint>/\*.*?(?:\*/|$))|{_STRINGS}|(?P<accent>(?<![\w-])[A-Za-z-][\w-]*+(?=\s*+:))|(?P<client>(?<!\w)[\#@.]?\d[\w.%]*+)"
)
_SYNTAX = (("html", _MARKUP), ("xml", _MARKUP), ("json", _JSON), ("css", _STYLE), ("javascript", _STYLE))
"""What is coloured, by a word of the media type: groups are named by roles. Each runs in linear time: what it has begun
with ends with the line at last, and is not begun again within."""


def _coloured(pieces: Sequence[str], syntax: re.Pattern[str] | None) -> Iterator[tuple[str | Styled, ...]]:
    text = "".join(pieces)
    marks = [(*one.span(), one.lastgroup or "") for one in syntax.finditer(text)] if syntax is not None else []
    start = at = 0
    for piece in pieces:
        end, row = start + len(piece), list[str | Styled]()
        while start < end:
            while at < len(marks) and marks[at][1] <= start:
                at += 1
            first, last, role = marks[at] if at < len(marks) else (end, end, "")
            stop = min(end, last if first <= start else first)
            row.append(Styled(text[start:stop], role) if first <= start else text[start:stop])
            start = stop
        yield tuple(row or [""])


def looks_binary(data: bytes) -> bool:
    """Whether bytes are better shown as such."""
    return b"\0" in data[:4_096]


def hex_lines(data: bytes, whole: int, width: int) -> list[Line]:
    """Offset, bytes and printable ASCII of `data`, in rows of 16, 8 or 4 bytes as `width` allows."""
    per_row = next((number for number in (16, 8) if number * 4 + 11 <= width), 4)
    rows: list[Line] = []
    for at in range(0, len(data), per_row):
        part = data[at : at + per_row]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        digits = f"{part.hex(' '):{per_row * 3 - 1}}"
        rows.append((Styled(f"{at:08x}  ", "faint"), digits, Styled(f"  {shown}", "muted")))
    return [*rows, *rest_lines(len(data), whole, cut=False)]


def rest_lines(shown: int, whole: int, *, cut: bool) -> list[Line]:
    """What tells that more is stored than is shown; `cut`: there were too many rows."""
    part = f"{count(MOST_LINES)} rows" if cut else size(shown) if shown < whole else ""
    return ["", Styled(f"… the first {part} of {size(whole)}", "muted")] if part else []


def decoded(data: bytes, content_type: str) -> str:
    """The text in the charset it says it has, else as UTF-8; what is not of it is shown as U+FFFD."""
    found = _CHARSET.search(content_type)
    named = found[1] if found and _OF_THE_WEB.fullmatch(found[1]) else "utf-8"
    try:
        return data.decode(named, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


def cut_pieces(text: str, room: int) -> Iterator[str]:
    """A line made safe, in pieces of at most `room` cells; at least one."""
    plain = text.expandtabs(4)
    shown = plain if plain.isascii() and plain.isprintable() else safe(plain, len(plain) * 10 + 1)
    if cell_len(shown) == len(shown):
        yield from (shown[at : at + room] for at in range(0, max(1, len(shown)), room))
        return
    piece, used = "", 0
    for char in shown:
        cells = get_character_cell_size(char)
        if used + cells > room:
            yield piece
            piece, used = "", 0
        piece, used = piece + char, used + cells
    yield piece
