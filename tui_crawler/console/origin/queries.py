"""What the views of an origin read by themselves: contract, robots.txt, top-ups, its attempts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.ports import OriginReports
from tui_crawler.console.reading.ask import COUNTER_MS, RARE_MS, asks, reads

if TYPE_CHECKING:  # robots.txt takes long to load, and nothing needs it before the first paint
    from tui_crawler.console.ports import ActionReports
    from tui_crawler.domain.crawl.contract import Contract
    from tui_crawler.domain.records.operator_view import ActionView
    from tui_crawler.domain.rules.robots import RobotsRules


class ContractReports(Protocol):
    """What holds for one origin."""

    def contract(self, origin: str) -> Contract: ...
    def robots_text(self, origin: str) -> bytes | None: ...


_ACTIONS = 200
_SHOWN = 400  # characters of a line of robots.txt that are held for the eye


contract_of = reads(ContractReports.contract, RARE_MS)
"""What the configuration promises an origin."""
todo_of = reads(OriginReports.todo, COUNTER_MS)
"""The first pages of the todo list of an origin."""
history_of = reads(OriginReports.history)
"""How an origin came to be as it is."""


@dataclass(frozen=True, slots=True)
class TopUp:
    """Patience that an operator gave back: when (epoch ms), who, and from and to how much."""

    at: int
    who: str
    before: int
    after: int


@asks()
def top_ups_of(reports: ActionReports, _now: int, origin: str) -> tuple[TopUp, ...]:
    """Read the top-ups of an origin that are among the newest actions of the operator journal, newest first."""
    found = (top_up_of(action, origin) for action in reports.actions(_ACTIONS))
    return tuple(one for one in found if one is not None)


def top_up_of(action: ActionView, origin: str) -> TopUp | None:
    """The top-up of this origin that an action was; None when it was none."""
    if action.action != "top_up" or not action.applied or action.error:
        return None
    try:
        before, after = (json.loads(text)[origin] for text in (action.before, action.after))
    except (ValueError, TypeError, KeyError):
        return None
    return TopUp(action.at, action.who, before, after) if isinstance(before, int) and isinstance(after, int) else None


@dataclass(frozen=True, slots=True)
class RobotsSheet:
    """robots.txt as it is shown. `lines` are decoded and cut for the eye (raw text), the first is number 1;
    `in_force` are the line numbers of the group that holds for `token`; `size` is in bytes."""

    lines: tuple[str, ...]
    size: int
    token: str
    rules: RobotsRules
    in_force: frozenset[int] = field(repr=False)
    max_bytes: int = 0


@asks(60_000)
def robots_file(reports: ContractReports, _now: int, origin: str, _fetched_at: int) -> RobotsSheet | None:
    """Read and judge the stored robots.txt of an origin; None: none was ever fetched. `_fetched_at` says which, so
    that another one is read at once."""
    body = reports.robots_text(origin)
    return None if body is None else robots_sheet(body, reports.contract(origin))


def robots_sheet(body: bytes, contract: Contract) -> RobotsSheet:
    """A robots.txt as it holds for the user agent of a contract. Any bytes will do."""
    from tui_crawler.domain.rules.robots import parse_robots, product_token  # noqa: PLC0415  not before the first paint
    from tui_crawler.domain.rules.robots_text import cut, directives, in_force, raw_lines  # noqa: PLC0415

    token = product_token(contract.user_agent)
    kept = cut(body, contract.robots_max_bytes)
    return RobotsSheet(
        tuple(line[: 4 * _SHOWN].decode("utf-8", "replace")[:_SHOWN] for line in raw_lines(body)),
        len(body),
        token,
        parse_robots(body, token, contract.robots_max_bytes),
        in_force(directives(kept), token).line_numbers,
        contract.robots_max_bytes,
    )
