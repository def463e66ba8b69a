"""One URL, whole: what is known of it, how it was found, its attempts, requests and headers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from tui_crawler.console.format import clock, count, date_time, due, phase, plural, size
from tui_crawler.console.present.exits import exit_cell, meaning, status_cell
from tui_crawler.console.present.line import LABEL, Hanging, Line, Prose, fact, heading, width_of
from tui_crawler.console.present.urls import path_of
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column
from tui_crawler.domain.view import AttemptView, LinkView, PageDetail, PageView, RequestView

ATTEMPT_COLUMNS: tuple[Column, ...] = (
    Column("number", "#", 3, 4, "right"),
    Column("time", "TIME", 19, 0, min_width=8),
    Column("exit", "EXIT", 27, 0, min_width=14),
    Column("status", "ST", 3, 1, "right"),
    Column("took", "TOOK", 7, 2, "right"),
    Column("bytes", "BYTES", 7, 5, "right"),
    Column("requests", "REQ", 3, 6, "right"),
    Column("new", "NEW", 4, 7, "right"),
    Column("patience", "PATIENCE", 8, 8),
    Column("message", "MESSAGE", None, 3, min_width=30),
)
REQUEST_COLUMNS: tuple[Column, ...] = (
    Column("time", "SENT", 12, 0),
    Column("method", "METHOD", 6, 3),
    Column("status", "ST", 3, 0, "right"),
    Column("head", "HEAD", 7, 2, "right"),
    Column("total", "TOTAL", 7, 1, "right"),
    Column("remote", "REMOTE", 22, 5, min_width=15),
    Column("kind", "KIND", 24, 6),
    Column("error", "ERROR", None, 4, min_width=14),
)
LINK_COLUMNS: tuple[Column, ...] = (
    Column("kind", "KIND", 8, 2),
    Column("url", "URL", None, 0, min_width=18),
    Column("text", "TEXT", 20, 1, min_width=12),
    Column("note", "", 8, 3),
)
_HEADER_NAME = 32
"""How many cells the name of a header takes at most."""


def page_lines(page: PageView, now: int, zone: tzinfo) -> list[Line]:
    """What is known of a page at `now` (epoch ms)."""
    lines: list[Line] = [
        Prose(page.url, "strong", most=3),
        Prose(page.title, "", most=2) if page.title else Styled("no title known", "faint"),
        "",
        fact("last", exit_cell(page.last_exit_code), " ", status_cell(page.last_http_status)),
    ]
    words = meaning(page.last_exit_code)
    if words:
        lines.append(Prose(" " * LABEL + words, "muted", indent=LABEL, most=2))
    if page.message:
        lines.append(Prose("message".ljust(LABEL) + page.message, "warning", indent=LABEL, most=4))
    lines += [
        fact("when", date_time(page.last_crawled_at, zone) if page.last_crawled_at else "never"),
        fact("tries", f"{page.attempts} done, {page.attempts_remaining} left", Styled(_next_try(page, now), "muted")),
        fact("place", f"depth {page.depth}, nice {page.nice}", Styled(f"  job {page.job}", "muted")),
    ]
    if page.due_at:
        lines.append(fact("due", date_time(page.due_at, zone)))
    if page.content_type or page.size:
        lines.append(fact("content", f"{size(page.size)}  {page.content_type}"))
    if page.etag:
        lines.append(fact("etag", page.etag))
    if page.sha256:
        lines.append(fact("sha256", Styled(page.sha256[:16], "muted")))
    return lines


def _next_try(page: PageView, now: int) -> str:
    if not page.attempts_remaining:
        return ""
    wait = page.not_before - now
    return f"  next {due(wait)}" if wait > 0 else "  may run now"


def path_lines(detail: PageDetail) -> list[Line]:
    """How the URL was found: from a seed, link by link; and what else points at it."""
    page = detail.page
    lines: list[Line] = []
    if detail.path:
        lines.append((Styled("◆ ", "accent"), path_of(detail.path[0].from_url, page.origin), Styled("  seed", "muted")))
        lines += [_step(depth, link, page) for depth, link in enumerate(detail.path, 1)]
    elif page.depth == 0:
        lines.append((Styled("◆ ", "accent"), "a seed"))
    else:
        lines.append(Styled("how it was found is not known", "muted"))
    lines.append("")
    lines.append(fact("linked", f"from {plural(detail.inlink_count, 'page')}, to {count(detail.outlink_count)}"))
    lines += redirect_lines(detail)[:4]
    return lines


def redirect_lines(detail: PageDetail) -> list[Line]:
    """Where the URL redirects to, and what redirects to it."""
    lines: list[Line] = []
    for redirect in detail.redirects:
        leaves = redirect.from_url == detail.page.url
        to = f"{redirect.to_url}#{redirect.to_fragment}" if redirect.to_fragment else redirect.to_url
        kind = "permanent " if redirect.permanent else ""
        lines.append(
            (
                Styled("→ " if leaves else "← ", "redirect"),
                to if leaves else redirect.from_url,
                Styled(f"  {kind}{redirect.source}", "muted"),
            )
        )
    return lines


def _step(depth: int, link: LinkView, page: PageView) -> Line:
    role = "strong" if link.to_url == page.url else ""
    return (
        Styled("  " * (depth - 1) + "↳ ", "muted"),
        Styled(path_of(link.to_url, page.origin), role),
        Styled(f"  <{link.kind}>", "muted"),
        Styled(f" {link.text}" if link.text else "", "faint"),
    )


def link_row(number: int, link: LinkView, origin: str, *, inward: bool) -> Row:
    """A link as a row; its key is its number, the other end is what is shown."""
    other = link.from_url if inward else link.to_url
    note = "nofollow" if link.nofollow else ""
    return Row(
        number,
        (
            Styled(link.kind, "muted"),
            path_of(other, origin).removeprefix("https://"),
            Styled(link.text, "faint"),
            Styled(note, "warning"),
        ),
    )


def links_title(words: str, shown: int, whole: int) -> str:
    """What a table of links shows: how many there are, and whether all of them."""
    return f"{words} · {count(whole)}" if shown >= whole else f"{words} · first {count(shown)} of {count(whole)}"


def content_lines(detail: PageDetail, zone: tzinfo) -> list[Line]:
    """What is known of the stored document: type and validators, what a validator said, what data rules found."""
    page = detail.page
    lines: list[Line] = [fact("type", page.content_type or "not known"), fact("size", size(page.size))]
    if page.etag:
        lines.append(fact("etag", page.etag))
    if page.last_modified:
        lines.append(fact("modified", page.last_modified))
    if detail.lastmod:
        lines.append(fact("lastmod", date_time(detail.lastmod, zone), Styled("  in a sitemap", "muted")))
    if page.sha256:
        lines.append(Hanging(Styled("sha256", "muted"), LABEL, page.sha256, "muted", most=4))
    checked = detail.validation
    if checked is not None:
        errors = plural(len(checked.errors), "error")
        lines += ["", heading("Validation")]
        verdict = Styled("✓ valid", "ok") if checked.valid else Styled(f"✗ not valid, {errors}", "error")
        lines.append((verdict, Styled(f"  {checked.type}", "muted")))
        lines += [
            Hanging(Styled(f"{one.line}:{one.column}" if one.line else "", "warning"), LABEL, one.message, most=3)
            for one in checked.errors
        ]
    if detail.data:
        lines += ["", heading("Data")]
        lines += [
            Hanging((Styled(one.name, "accent"), Styled(f" {one.type}", "faint")), 18, one.value, most=4)
            for one in detail.data
        ]
    return lines


def attempt_rows(attempts: Sequence[AttemptView], zone: tzinfo) -> list[Row]:
    """The attempts of a URL, newest first, numbered from the oldest; keys are attempt ids."""
    return [_attempt_row(len(attempts) - index, one, zone) for index, one in enumerate(attempts)]


def _attempt_row(number: int, one: AttemptView, zone: tzinfo) -> Row:
    lost = one.patience_after != one.patience_before
    return Row(
        one.attempt_id,
        (
            Styled(str(number), "faint"),
            Styled(date_time(one.ended_at, zone), "muted", short=clock(one.ended_at, zone)),
            exit_cell(one.exit_code),
            status_cell(one.http_status),
            phase(one.response_ms),
            Styled(size(one.bytes) if one.bytes else "-", "muted"),
            str(one.requests),
            Styled(f"+{count(one.new_pages)}" if one.new_pages else "", "ok"),
            Styled(f"{one.patience_before}→{one.patience_after}" if lost else "", "warning"),
            one.message or one.decided_by,
        ),
    )


def request_row(request: RequestView, zone: tzinfo) -> Row:
    """A request of an attempt; its key is the request id."""
    kinds = [("conditional", request.conditional), ("second try", request.fluke_retry)]
    head = request.head_at - request.sent_at if request.head_at is not None else None
    return Row(
        request.request_id,
        (
            Styled(clock(request.sent_at, zone, millis=True), "muted"),
            request.method,
            status_cell(request.http_status),
            phase(head),
            phase(request.ended_at - request.sent_at),
            request.remote_address,
            Styled(", ".join(name for name, holds in kinds if holds) or "plain", "muted"),
            Styled(request.error, "error"),
        ),
    )


def sent_lines(request: RequestView | None) -> list[Line]:
    """What was sent: the request line and its headers."""
    if request is None:
        return [Styled("no request was made", "muted")]
    return [
        (Styled(f"{request.method} ", "accent"), Styled(request.url, "strong")),
        *(_header_line(name, value) for name, value in request.request_headers),
    ]


def received_lines(request: RequestView | None) -> list[Line]:
    """What came back: the status and its headers, or why nothing did."""
    if request is None:
        return []
    if request.http_status is None:
        return [Styled("no answer", "muted"), *([Prose(request.error, "error")] if request.error else [])]
    return [
        (status_cell(request.http_status), Styled(f"  {request.error}" if request.error else "", "error")),
        *(_header_line(name, value) for name, value in request.response_headers),
    ]


def _header_line(name: str, value: str) -> Line:
    head = Styled(f"{name}: ", "muted")
    return Hanging(head, min(width_of(head), _HEADER_NAME), value, most=4)


def unknown_lines(url: str) -> list[Line]:
    """What stands there when the URL is not known."""
    return [Prose(url, "strong"), Styled("∅ is not known to this crawl", "muted")]
