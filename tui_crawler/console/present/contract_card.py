"""What an origin can rely on, as a card: who asks, how often, by which robots.txt, where to complain. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import clock, seconds
from tui_crawler.console.present.line import LABEL, Hanging, Line, heading
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.contract import Contract, contact_of, least_delay

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.domain.view import OriginView

_KEYS = {"origin": "this origin", "host": "this host", "registrable_domain": "this domain", "ip": "this address"}


def contract_lines(contract: Contract, view: OriginView, now: int, zone: tzinfo, keys: KeyNames) -> list[Line]:
    """The contract with one origin at `now` (epoch ms)."""
    contact = contact_of(contract.user_agent)
    nobody = "none: name a page or an address in user_agent, so that people can complain"
    return [
        heading("Promises to this origin"),
        _term("asks as", contract.user_agent or "-", "strong"),
        _term("contact", contact or nobody, "" if contact else "warning"),
        _term("at once", f"1 request to {_KEYS.get(contract.politeness_key, contract.politeness_key)}"),
        _term("waits", f"at least {_least_words(contract, view)} after each answer"),
        *([] if _is_read(view) else [_term("robots", _robots_words(view, now, zone))]),
        _term("you", _operator_words(contract, view, keys)),
    ]


def _term(label: str, text: str, role: str = "") -> Line:
    return Hanging(Styled(label.ljust(LABEL), "muted"), LABEL, text, role, 3)


def _least_words(contract: Contract, view: OriginView) -> str:
    least = least_delay(contract, view)
    match least.source:
        case "robots":
            asked = view.crawl_delay_ms or 0
            cut = f", which asks for {seconds(asked)}" if asked > least.ms else ""
            source = f"Crawl-delay of robots.txt{cut}"
        case "floor":
            source = "delay.floor"
        case _:
            source = contract.delay_from
    return f"{seconds(least.ms)} ({source})"


def _is_read(view: OriginView) -> bool:
    """Whether robots.txt was read: what stands beside the card tells since when and until when."""
    return view.robots_status == "parsed" and view.robots_fetched_at > 0


def _robots_words(view: OriginView, now: int, zone: tzinfo) -> str:
    if view.robots_status == "unreachable":
        return "unreachable; nothing else is asked for before"
    if not view.robots_fetched_at:
        return "not fetched yet; nothing else is asked for before"
    if view.robots_status == "unavailable" and view.robots_http_status is None:
        return "not answered: there are no rules to obey"
    since = f"as of {clock(view.robots_fetched_at, zone)}"
    if view.robots_expires_at <= now:
        return f"{since}, due again now"
    return f"{since}, asked for again at {clock(view.robots_expires_at, zone)}"


def _operator_words(contract: Contract, view: OriginView, keys: KeyNames) -> str:
    least = least_delay(contract, view)
    asked = "" if view.crawl_delay_ms is None else f"robots.txt {seconds(view.crawl_delay_ms)}, "
    own = f" (now {seconds(view.operator_delay_ms)})" if view.operator_delay_ms else ""
    numbers = f"{asked}configured {seconds(contract.delay.default_ms)}, floor {seconds(contract.delay.floor_ms)}"
    return f"{keys('delay.up')}: slower{own}; never faster than {seconds(least.ms)}: {numbers}"
