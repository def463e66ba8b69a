"""One origin, whole: its state with the history behind it, its todo list, and how its attempts ended; what it does at
this moment, what it can rely on (the contract), and its robots.txt. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from tui_crawler.console.logs.attempts import exit_cell, mark_of
from tui_crawler.console.overview.rows import delay_cell, patience_words
from tui_crawler.console.overview.summary import count_lines, eta_line, rate_line, robots_line, robots_mark, trap_lines
from tui_crawler.console.panes.line import LABEL, HangingText, Line, Paragraph, fact, heading
from tui_crawler.console.urls.cells import bare_host, host_of, path_of
from tui_crawler.console.urls.rows import due_cell
from tui_crawler.domain.crawl.contract import Contract, contact_of, least_delay
from tui_crawler.domain.history.idle_reason import delay_why, delay_words
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.status import DelayReason, OriginPhase, RobotsStatus
from tui_crawler.domain.records.status_words import outcome_words, unavailable_words, unreachable_words
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ago, clock, count, due, plural, seconds
from tui_crawler.text.glyphs import CURSOR
from tui_crawler.text.sparkline import bar
from tui_crawler.text.standing import standing

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.operator.retry_start import NextRequest
    from tui_crawler.console.origin.queries import RobotsSheet, TopUp
    from tui_crawler.console.overview.rows import OriginLine
    from tui_crawler.domain.history.trap import TrapSuspicion
    from tui_crawler.domain.records.page_view import ExitCountView, OriginHistory, TodoView
    from tui_crawler.domain.records.view import AttemptView, OriginView, RunView
    from tui_crawler.domain.rules.robots import RobotsDecision


_EVENTS_SHOWN = 5
_DELAYS_SHOWN = 7


def patience_past(
    lost: Sequence[AttemptView], given: Sequence[TopUp], run: RunView | None, zone: tzinfo, indent: int = LABEL
) -> list[Line]:
    """What patience went through in the newest run: each change, the newest first."""
    changes = [
        (one.ended_at, one.patience_before, one.patience_after, Styled(outcome_words(one.exit_code)))
        for one in lost
        if run is None or one.run_id == run.run_id
    ]
    since = run.started_at if run is not None else 0
    topped = [one for one in given if one.at >= since]
    changes += [(one.at, one.before, one.after, Styled(f"topped up by {one.who}", "accent")) for one in topped]
    changes.sort(key=itemgetter(0))
    lines: list[Line] = [
        (" " * indent, f"{before}→{after} ", cause, Styled(f" {clock(at, zone)}", "muted", f" {clock(at, zone)[:5]}"))
        for at, before, after, cause in reversed(changes[-_EVENTS_SHOWN:])
    ]
    if len(changes) > _EVENTS_SHOWN:
        lines.append((" " * indent, Styled(f"and {len(changes) - _EVENTS_SHOWN} before", "faint")))
    return lines


def delay_past(view: OriginView, delays: Sequence[AttemptView], run: RunView | None, indent: int = LABEL) -> list[Line]:
    """How the delay went from one to the next in the newest run, oldest first, with what decided it; at the end what
    the operator has made of it since the last request. Nothing where it was the present one all the time."""
    own = [one for one in delays if run is None or one.run_id == run.run_id][:_DELAYS_SHOWN][::-1]
    present = seconds(view.delay_ms)
    steps, values = [], [present]
    for reason, group in groupby(own, key=lambda one: one.delay_reason):
        of_reason = [value for value, _ in groupby(seconds(one.delay_ms_after) for one in group)]
        values += of_reason
        steps.append(f"{' → '.join(of_reason)} ({delay_words(reason) or 'configured'})")
    if len(set(values)) == 1:
        return []
    if view.delay_ms and present != values[-1]:
        steps.append(f"{present} ({delay_words(view.delay_reason) or 'configured'})")
    return [Paragraph(" " * indent + " → ".join(steps), "muted", indent, 3)]


_REFUSED_SHOWN = 8
_TRAP_HINT = "{rule.from_selection} on one of these URLs drafts a rule that skips them"


@dataclass(frozen=True, slots=True)
class OriginContext:
    """What is known of an origin besides its row: its history, who topped its patience up, and what it may rely on."""

    history: OriginHistory
    given: tuple[TopUp, ...] = ()
    contract: Contract | None = None
    suspicion: TrapSuspicion | None = None


def state_lines(line: OriginLine, past: OriginContext, at: Present, keys: KeyNames) -> list[Line]:
    """The state of an origin, newest changes first."""
    view = line.view
    floor = "" if past.contract is None else f"floor {seconds(least_delay(past.contract, view).ms)}  "
    # The operator's own minimum, where another one decides.
    is_other = view.operator_delay_ms and view.delay_reason != DelayReason.operator
    yours = (Styled(f"  yours {seconds(view.operator_delay_ms)}", "accent"),) if is_other else ()
    return [
        fact("patience", patience_words(view)),
        *patience_past(past.history.patience, past.given, line.run, at.zone),
        fact("delay", seconds(view.delay_ms), Styled(f" {delay_why(view) or 'configured'}", "muted"), *yours),
        *delay_past(view, past.history.delays, line.run),
        fact("", Styled(f"{floor}politeness {view.politeness}", "muted")),
        *([] if view.in_flight_url else [clock_line(view, at.now, past.contract)]),
        *_more_lines(line, past, at, keys),
    ]


def why_lines(line: OriginLine, past: OriginContext, at: Present, keys: KeyNames) -> list[Line]:
    """Why patience and delay are what they are, for a narrow pane below `narrow_head`; then the rest of the state."""
    view, lines = line.view, patience_past(past.history.patience, past.given, line.run, at.zone, 0)
    source = f"delay {seconds(view.delay_ms)}: {delay_why(view) or 'configured'}"
    lines += delay_past(view, past.history.delays, line.run, 0) or [Paragraph(source, "muted")]
    return [*lines, *_more_lines(line, past, at, keys)]


def _more_lines(line: OriginLine, past: OriginContext, at: Present, keys: KeyNames) -> list[Line]:
    view = line.view
    lines: list[Line] = [
        robots_line(view, at.now),
        rate_line(line.rate),
        eta_line(view, at.now),
        *([Paragraph(view.warning, "warning", most=4)] if view.warning else []),
        *trap_lines(past.suspicion, hint=keys.said(_TRAP_HINT)),
        "",
        *count_lines(view, f"  +{count(view.discovered)} found"),
    ]
    if view.worker:
        lines.append(fact("worker", view.worker))
    if past.history.refused:
        lines += ["", heading("Links refused")]
    for one in past.history.refused[:_REFUSED_SHOWN]:
        number, reason = count(one.count).rjust(LABEL - 2), Styled(outcome_words(one.reason))
        lines.append((Styled(f"{number}  "), reason, Styled(f"  {one.sample_url}", "faint")))
    if past.contract is not None:
        lines += ["", *contract_lines(past.contract, view, at, keys)]
    return lines


def unknown_lines(origin: str) -> list[Line]:
    """What is shown when there is no such origin."""
    return [Paragraph(f"{origin} is not an origin of this crawl.", "muted")]


@dataclass(frozen=True, slots=True)
class TodoLine:
    """A page of the todo list of an origin, its number there, and when it is asked for next."""

    number: int
    item: TodoView
    origin: str
    outlook: NextRequest


def _source(line: TodoLine) -> Styled:
    item = line.item
    if item.attempts:
        return Styled(f"↻ try {item.attempts + 1}", "warning")
    found_on = path_of(item.found_on, line.origin) if item.found_on else "link"
    return Styled("◆ seed", "accent") if item.seed else Styled(found_on, "muted")


TODO: Relation[TodoLine] = Relation(
    key=lambda line: line.item.url,
    nothing="the todo list is empty",
    source=lambda line: line.item,
    columns=(
        Column("number", "#", shown.plain("faint"), 3, 2, "right"),
        Column("url", "URL", shown.plain(), None, 0, min_width=18, kind="place",
               value=lambda line: path_of(line.item.url, line.origin)),
        Column("depth", "DEPTH", shown.plain(), 5, 4, "right", value=lambda line: line.item.depth),
        Column("nice", "NICE", shown.words(str, "", "faint"), 4, 8, "right", value=lambda line: line.item.nice),
        Column("due", "DUE", lambda at, line, moment: due_cell(line.outlook, at - moment.now), 8, 1, "right",
               min_width=5, value=lambda line: line.item.not_before),
        Column("from", "FROM", shown.itself, 20, 3, min_width=12, kind="place", value=_source),
        Column("title", "TITLE", shown.plain("muted"), None, 7, min_width=24, value=lambda line: line.item.title),
    ),
)  # fmt: skip


_KEYS = {"origin": "this origin", "host": "this host", "registrable_domain": "this domain", "ip": "this address"}


def contract_lines(contract: Contract, view: OriginView, at: Present, keys: KeyNames) -> list[Line]:
    """The contract with one origin."""
    contact = contact_of(contract.user_agent)
    is_read = view.robots_status == RobotsStatus.parsed and view.robots_fetched_at > 0  # the card shows since when
    none = "none: add a page or an address to user_agent, so that people can complain"
    asked = "" if view.crawl_delay_ms is None else f"robots.txt {seconds(view.crawl_delay_ms)}, "
    own = f" (now {seconds(view.operator_delay_ms)})" if view.operator_delay_ms else ""
    numbers = f"{asked}configured {seconds(contract.delay.default_ms)}, floor {seconds(contract.delay.floor_ms)}"
    never = f"never faster than {seconds(least_delay(contract, view).ms)}: {numbers}"
    return [
        heading("Contract"),
        _term("User-Agent", contract.user_agent or "-", "strong"),
        _term("contact", contact or none, "" if contact else "warning"),
        _term("concurrency", f"1 for {_KEYS.get(contract.politeness_key, contract.politeness_key)}"),
        _term("delay", f"at least {_least_words(contract, view)} after each response"),
        *([] if is_read else [_term("robots.txt", _robots_words(view, at))]),
        _term("you", f"{keys('delay.up')}: slower{own}; {never}"),
    ]


_TERM = 12
"""How wide a label of the contract is, in cells."""


def _term(label: str, text: str, role: str = "", width: int = _TERM) -> Line:
    return HangingText(Styled(label.ljust(width), "muted"), width, text, role, 3)


def _least_words(contract: Contract, view: OriginView) -> str:
    least, asked = least_delay(contract, view), view.crawl_delay_ms or 0
    source = contract.delay_from
    if least.reason == DelayReason.crawl_delay:
        cut = f", which requires {seconds(asked)}" if asked > least.ms else ""
        source = f"Crawl-delay of robots.txt{cut}"
    elif least.reason == DelayReason.floor:
        source = "delay.floor"
    return f"{seconds(least.ms)} ({source})"


def _robots_words(view: OriginView, at: Present) -> str:
    if view.robots_status == RobotsStatus.unreachable or not view.robots_fetched_at:
        unreachable = view.robots_status == RobotsStatus.unreachable
        return f"{'unreachable' if unreachable else 'not fetched yet'}; no other request is made before"
    if _unanswered(view):
        return "no response: there are no rules to obey"
    due_now = view.robots_expires_at <= at.now
    again = "due again now" if due_now else f"fetched again at {clock(view.robots_expires_at, at.zone)}"
    return f"as of {clock(view.robots_fetched_at, at.zone)}, {again}"


CLOCK_MS = 10_000
"""Below this a wait is shown in tenths of a second."""

_BAR = 12
_FILLED, _EMPTY = "▓", "░"


def turn_of(view: OriginView, now: int) -> str:
    """Return the turn an origin is in, or that comes next, in words; empty when it is over."""
    if view.state in {OriginPhase.finished, OriginPhase.resting}:
        return ""
    if view.in_flight_url:
        return "fetch robots.txt" if view.in_flight_url == f"{view.origin}/robots.txt" else "fetch"
    return "fetch robots.txt" if view.robots_expires_at <= now else "fetch" if view.todo else "fill the todo list"


def head_line(line: OriginLine, contract: Contract | None, at: Present) -> Cell:
    """The first line of an origin: its name, state, turn, and what is in flight, or why nothing is."""
    view, now = line.view, at.now
    mark, turn = standing(view), turn_of(view, now)
    named = Styled(f"{host_of(view.origin)}  ", "strong bold"), Styled(mark.label, f"{mark.role} bold")
    if idle := line.idle(at):
        return (*named, Styled(f"  next: wait, {turn}  " if turn else "  ", "muted"), Styled(idle))
    path = Styled(path_of(view.in_flight_url, view.origin), "strong")
    took = seconds(max(0, now - view.in_flight_since)) if view.in_flight_since else ""
    most = f" of {seconds(contract.total_timeout_ms)}" if took and contract is not None else ""
    return (
        *named,
        Styled(f"  now: {turn}  ", "muted"),
        Styled("▶ ", "active"),
        path,
        Styled(f"  {took}{most}", "muted"),
    )


def narrow_head(line: OriginLine, contract: Contract | None, at: Present) -> Cell:
    """The first line of an origin on a narrow screen: its state, patience and delay, then the time to its next request,
    what is in flight, or why there is none."""
    view, now = line.view, at.now
    mark, idle = standing(view), line.idle(at)
    named = Styled(bare_host(view.origin), "strong bold"), Styled(f"  {mark.label} ", f"{mark.role} bold")
    delay = Styled("  delay ", "muted"), delay_cell(view), "  "
    waits = view.next_request_at > now >= view.asleep_until and not view.paused and view.state == OriginPhase.waiting
    tail: tuple[str | Styled, ...] = (Styled("▶ ", "active"), path_of(view.in_flight_url, view.origin))
    if idle:
        tail = ("next ", *clock_line(view, now, contract)[1:]) if waits else (Styled(idle),)
    return (*named, patience_words(view), *delay, *tail)


def clock_line(view: OriginView, now: int, contract: Contract | None) -> tuple[str | Styled, ...]:
    """The politeness clock: the wait for the next request as a bar that fills, or the request in flight."""
    if view.in_flight_url:
        gone, whole = now - view.in_flight_since, contract.total_timeout_ms if contract is not None else 0
        if not view.in_flight_since or not whole:
            return fact("next", Styled("after the one in flight", "muted"))
        return fact("now", Styled(seconds(max(0, gone)).ljust(6), "active"), *gauge(gone, whole))
    wait = view.next_request_at - now
    shown = seconds(wait) if wait < CLOCK_MS else due(wait).lstrip("+")
    whole = max(view.delay_ms, wait)
    said = [Styled(shown.ljust(6), "waiting"), *gauge(whole - wait, whole)]
    if view.paused or view.asleep_until == HELD:
        said = [Styled("paused", "paused")]
    elif view.ended:
        said = [Styled("none in this run", "faint")]
    elif view.state == OriginPhase.resting:
        said = [Styled("no worker running", "muted")]
    elif view.asleep_until > max(now, view.next_request_at):
        said = [Styled(due(view.asleep_until - now), "waiting"), Styled(" no page is due before", "muted")]
    elif wait <= 0:
        said = [Styled("as soon as its turn comes", "waiting")]
    return fact("next", *said)


def gauge(gone: int, whole: int) -> tuple[Styled, Styled]:
    """A bar that is filled by how much of `whole` is gone."""
    filled = min(max(gone * _BAR // max(1, whole), 0), _BAR)
    return Styled(_FILLED * filled, "active"), Styled(_EMPTY * (_BAR - filled), "faint")


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
    view: OriginView, sheet: RobotsSheet | None, url: str, decision: RobotsDecision | None, at: Present, keys: KeyNames
) -> list[Line]:
    """What is known of robots.txt of an origin, and what it says of a URL (empty: of none)."""
    lines: list[Line] = [Styled(f"{keys('robots.test')} tries a URL or a path on it", "muted")]
    if url:
        lines = _verdict_lines(view, url, decision, known=sheet is not None)
    mark = robots_mark(view)
    lines += ["", _term("state", f"{mark.glyph} {robots_words(view)}", mark.role, LABEL)]
    if view.robots_fetched_at and not _unanswered(view):
        moment = Styled(f"  {clock(view.robots_fetched_at, at.zone)}", "muted")
        lines.append(fact("fetched", ago(at.now - view.robots_fetched_at), moment))
    lines.append(fact("again", *_again(view, at)))
    if sheet is not None and (sheet.size or view.robots_status == RobotsStatus.parsed):
        lines += _file_lines(view, sheet)
    return lines


def robots_words(view: OriginView) -> str:
    """Return why an origin has no robots.txt to obey, or what that means where it has one."""
    status = view.robots_http_status
    match view.robots_status:
        case RobotsStatus.parsed:
            return "in force" if status is None else f"in force  HTTP {status}"
        case RobotsStatus.unavailable:
            return unavailable_words(status)
        case RobotsStatus.unreachable:
            return f"{unreachable_words(status, view.robots_message)}: no page is crawled"
        case _:
            return "not fetched yet"


def _unanswered(view: OriginView) -> bool:
    """Whether no server said that there is none: its address, or that of a redirect, is refused."""
    return view.robots_status == RobotsStatus.unavailable and view.robots_http_status is None


def _again(view: OriginView, at: Present) -> tuple[str | Styled, ...]:
    left = view.robots_expires_at - at.now
    if view.ended:
        return (Styled("not in this run" if left > 0 else "in the next run", "muted"),)
    if left <= 0:
        return (Styled("due now, after the delay", "waiting"),)
    return (f"in {due(left).lstrip('+')}", Styled(f"  {clock(view.robots_expires_at, at.zone)}", "muted"))


def _file_lines(view: OriginView, sheet: RobotsSheet) -> list[Line]:
    rules, length = sheet.rules, Styled(f"  {plural(len(sheet.lines), 'line')}", "muted")
    lines: list[Line] = [fact("size", f"{count(sheet.size)} B", length)]
    if view.robots_status != RobotsStatus.parsed:
        return lines
    group = rules.group or "none for us, none for all"
    lines.append(fact("group", Styled(group, "strong")))
    if sheet.token.lower() != group.lower():
        lines.append(fact("we are", Styled(sheet.token, "muted")))
    said = f"{plural(len(rules.rules), 'rule')} in force" if rules.rules else "none: everything is allowed"
    lines.append(fact("rules", Styled(f"{IN_FORCE} ", "ok"), said))
    if rules.crawl_delay_ms is not None:
        lines.append(fact("delay", f"{seconds(rules.crawl_delay_ms)} between requests"))
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
    if view.robots_status == RobotsStatus.unavailable and not _unanswered(view):
        return [path, Styled("✓ allowed: there is no robots.txt", "ok")]
    if not known or decision is None or view.robots_status != RobotsStatus.parsed:
        return [path, Styled("○ not known: there are no rules", "muted")]
    mark, role = ("✓ allowed", "ok") if decision.allowed else ("⊘ refused", "blocked")
    number = decision.line_number
    words = f"{mark}: no line is about it" if number is None else f"{mark} by line {number}"
    return [path, Styled(words, role), *([Styled(f"  {decision.line}", "muted")] if number is not None else [])]


def exits_of(counts: Sequence[ExitCountView]) -> Relation[ExitCountView]:
    """Return how attempts ended as a relation, with a bar for their shares."""
    most = max((one.run for one in counts), default=0) or 1

    def share(value: int, one: ExitCountView, _present: Present) -> Styled:
        return Styled(bar(value / most, 12), mark_of(one.exit_code).role, short=bar(value / most, 6))

    return Relation(
        key=lambda one: one.exit_code,
        nothing="no attempts yet",
        columns=(
            Column("exit", "EXIT", shown.by_value(exit_cell), 15, 0, min_width=14, value=lambda one: one.exit_code),
            Column("run", "RUN", shown.number(), 7, 0, "right", min_width=4),
            Column("recent", "5 MIN", shown.number("", "faint"), 5, 1, "right"),
            Column("bar", "", share, None, 2, min_width=8, kind="bar", value=lambda one: one.run),
        ),
        source=lambda _: None,
    )  # fmt: skip


EXITS = exits_of(())
