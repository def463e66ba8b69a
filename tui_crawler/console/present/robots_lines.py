"""robots.txt of one origin: its lines, the group in force, the line that decides, and what is known of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import ago, clock, count, due, plural, seconds
from tui_crawler.console.glyphs import CURSOR
from tui_crawler.console.present.line import LABEL, Hanging, Line, fact
from tui_crawler.console.present.urls import path_of
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.robots_words import unavailable_words, unreachable_words
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.origin_parts import RobotsSheet
    from tui_crawler.domain.robots import RobotsDecision
    from tui_crawler.domain.view import OriginView

IN_FORCE = "●"
_SITEMAPS = 5


def decide(sheet: RobotsSheet, url: str) -> RobotsDecision | None:
    """What the rules in force say of a URL; None when it is none."""
    parsed = normalise(url)
    return sheet.rules.allows(parsed) if isinstance(parsed, CrawlUrl) else None


def wanted_url(origin: str, text: str) -> str:
    """A URL of the origin as it was typed: whole, or its path alone; empty for what is none or of another origin."""
    parsed = normalise(text if "://" in text else f"{origin}/{text.lstrip('/')}")
    return "" if isinstance(parsed, InvalidUrl) or parsed.origin != origin else parsed.href


def text_line(sheet: RobotsSheet, number: int, decided: int | None, *, obeyed: bool = True) -> Line:
    """A line of the file by its number (the first is 1): where it stands, whether it is in force, what it says.

    `obeyed` False: the file is not in force.
    """
    text = sheet.lines[number - 1]
    digits = Styled(str(number).rjust(len(str(len(sheet.lines)))), "faint")
    if number == decided:
        return (digits, Styled(f" {CURSOR}{IN_FORCE} ", "accent bold"), Styled(text, "strong reverse"))
    if obeyed and number in sheet.in_force:
        return (digits, Styled(f"  {IN_FORCE} ", "ok"), Styled(text, "strong"))
    return (digits, "    ", Styled(text, "faint" if text.lstrip().startswith("#") else "muted"))


def robots_lines(
    view: OriginView,
    sheet: RobotsSheet | None,
    url: str,
    decision: RobotsDecision | None,
    now: int,
    zone: tzinfo,
    keys: KeyNames,
) -> list[Line]:
    """What is known of robots.txt of an origin at `now` (epoch ms), and what it says of a URL (empty: of none)."""
    lines: list[Line] = [Styled(f"{keys('robots.test')} tries a URL or a path on it", "muted")]
    if url:
        lines = _verdict_lines(view, url, decision, known=sheet is not None)
    lines += ["", _status_line(view)]
    if view.robots_fetched_at and not _unanswered(view):
        moment = Styled(f"  {clock(view.robots_fetched_at, zone)}", "muted")
        lines.append(fact("fetched", ago(now - view.robots_fetched_at), moment))
    lines.append(fact("again", *_again(view, now, zone)))
    if sheet is not None and (sheet.size or view.robots_status == "parsed"):
        lines += _file_lines(view, sheet)
    return lines


def _status_line(view: OriginView) -> Line:
    status = f"  HTTP {view.robots_http_status}" if view.robots_http_status is not None else ""
    match view.robots_status:
        case "parsed":
            return fact("state", Styled("✓ in force", "ok"), Styled(status, "muted"))
        case "unavailable" if _unanswered(view):
            return _term("state", f"⚠ {unavailable_words(None)}", "warning")
        case "unavailable":
            return _term("state", f"○ {unavailable_words(view.robots_http_status)}", "muted")
        case "unreachable":
            words = unreachable_words(view.robots_http_status, view.robots_message)
            return _term("state", f"⚠ {words}: nothing is crawled", "warning")
        case _:
            return fact("state", Styled("○ not fetched yet", "muted"))


def _unanswered(view: OriginView) -> bool:
    """Whether no server said that there is none: its address, or that of a redirect, is refused."""
    return view.robots_status == "unavailable" and view.robots_http_status is None


def _term(label: str, text: str, role: str) -> Line:
    return Hanging(Styled(label.ljust(LABEL), "muted"), LABEL, text, role)


def _again(view: OriginView, now: int, zone: tzinfo) -> tuple[str | Styled, ...]:
    left = view.robots_expires_at - now
    if view.state == "FINISHED":
        return (Styled("not in this run" if left > 0 else "in the next run", "muted"),)
    if left <= 0:
        return (Styled("due now, after the delay", "waiting"),)
    return (f"in {due(left).lstrip('+')}", Styled(f"  {clock(view.robots_expires_at, zone)}", "muted"))


def _file_lines(view: OriginView, sheet: RobotsSheet) -> list[Line]:
    lines: list[Line] = [
        fact("size", f"{count(sheet.size)} B", Styled(f"  {plural(len(sheet.lines), 'line')}", "muted"))
    ]
    if view.robots_status != "parsed":
        return lines
    rules = sheet.rules
    group = rules.group or "none names us, none is for all"
    lines.append(fact("group", Styled(group, "strong")))
    if sheet.token.lower() != group.lower():
        lines.append(fact("we are", Styled(sheet.token, "muted")))
    said = f"{plural(rules.rule_count, 'rule')} in force" if rules.rule_count else "none: everything is allowed"
    lines.append(fact("rules", Styled(f"{IN_FORCE} ", "ok"), said))
    if rules.crawl_delay_ms is not None:
        lines.append(fact("asks for", f"{seconds(rules.crawl_delay_ms)} between requests"))
    if rules.truncated:
        lines.append(fact("cut", Styled(f"after {count(sheet.max_bytes)} B; the rest is not read", "warning")))
    if rules.widened:
        lines.append(fact("stricter", Styled(f"{plural(rules.widened, 'rule')} with too many *", "warning")))
    lines += [fact("sitemap" if not place else "", one) for place, one in enumerate(rules.sitemaps[:_SITEMAPS])]
    if len(rules.sitemaps) > _SITEMAPS:
        lines.append(fact("", Styled(f"and {len(rules.sitemaps) - _SITEMAPS} more", "muted")))
    return lines


def _verdict_lines(view: OriginView, url: str, decision: RobotsDecision | None, *, known: bool) -> list[Line]:
    path: Line = Styled(path_of(url, view.origin), "strong")
    if view.robots_status == "unavailable" and not _unanswered(view):
        return [path, Styled("✓ allowed: there is no robots.txt", "ok")]
    if not known or decision is None or view.robots_status != "parsed":
        return [path, Styled("○ not known: there are no rules", "muted")]
    mark, role = ("✓ allowed", "ok") if decision.allowed else ("⊘ refused", "blocked")
    if decision.line_number is None:
        return [path, Styled(f"{mark}: no line is about it", role)]
    return [path, Styled(f"{mark} by line {decision.line_number}", role), Styled(f"  {decision.line}", "muted")]
