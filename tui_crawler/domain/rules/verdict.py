"""What filters and judgements answer: a link is admitted or refused, a page cleared or denied, each stage speaks."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.exit_code import ExitCode

if TYPE_CHECKING:
    from tui_crawler.domain.url import CrawlUrl


class Refusal(StrEnum):
    """The reason why a link did not become a page, counted per origin of the page that held the link."""

    invalid_url = "invalid_url"
    scope = "scope"
    whitelist = "whitelist"
    start_path = "start_path"
    exclusion = "exclusion"
    trap_repeat = "trap_repeat"
    trap_depth = "trap_depth"
    origin_full = "origin_full"
    rule_accept = "rule_accept"
    item_pattern = "item_pattern"
    redirect_hops = "redirect_hops"
    redirect_loop = "redirect_loop"  # a chain of redirects came back to where it was
    nofollow = "nofollow"  # the page says so; the sample is the page
    url_length = "url_length"  # `crawl.max_url_length`, which the filter invalid_url checks, too


JUDGEMENT_CODES: Mapping[str, ExitCode] = {
    Refusal.invalid_url: ExitCode.invalid_url,
    Refusal.exclusion: ExitCode.blocked_by_exclusion_list,
    "do_not_crawl": ExitCode.blocked_url_by_local_policy,
    Refusal.whitelist: ExitCode.blocked_url_by_local_policy,
    "query_policy": ExitCode.blocked_url_by_local_policy,
    "rule_skip": ExitCode.skipped_by_rule,
    "robots": ExitCode.blocked_by_robots_txt,
}
"""The judgements in their order (docs/behaviour.md), with the exit code of each."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The link becomes a page. `new_origin`: its origin joins the crawl, as the whitelist allows (M)."""

    url: CrawlUrl
    new_origin: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The link is counted under `reason` and forgotten. `source` is file:line or the key that decided."""

    reason: Refusal
    detail: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Cleared:
    """The page may be requested, with what the rules say of it (None: as configured). `waived` is the line of
    robots.txt that denies it and is not obeyed, because its origin is the operator's own."""

    user_agent: str | None = None
    custom_js: str | None = None
    waived: str = ""


@dataclass(frozen=True, slots=True)
class Denied:
    """The page is not requested; an attempt with this exit code is logged without a request (U)."""

    exit_code: ExitCode
    detail: str
    source: str = ""

    @property
    def message(self) -> str:
        """Detail and source in one line."""
        return f"{self.detail} ({self.source})" if self.source else self.detail


Verdict = Literal["pass", "refuse", "unknown"]


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of the chain and what it says; `unknown` where what it needs is not known."""

    stage: str
    verdict: Verdict
    reason: str
    source: str = ""
