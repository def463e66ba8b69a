"""Which refusals a change of what decides overturns: only pages whose verdict is another one are for a run to judge
again. Pure.

Of the exit codes of pages that were not crawled (CRAWL.md section 3), 201, 202 and 203 depend on policies, exclusions
and rules, 221 on `max_url_length`. Depth, scope and start paths refuse no page: they keep it out of the queue, or keep
a link from becoming a page.
"""

from __future__ import annotations

from enum import Enum
from ipaddress import ip_address
from typing import TYPE_CHECKING

from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.preview import Comparison, StoredUrls
from tui_crawler.domain.url import InvalidUrl

if TYPE_CHECKING:
    from tui_crawler.domain.policy import Exclusion, PolicySet

_EXCLUDED = ExitCode.blocked_by_exclusion_list


class Effect(Enum):
    """What a change does to a page that was refused."""

    none = "none"  # it says nothing of it: the page stays what it is, refused or waiting to be judged
    upheld = "upheld"  # it is refused with the same exit code
    overturned = "overturned"  # it is allowed, or refused with another exit code


class Rejudgement:
    """Refusals of one job's pages, looked at by its rules before and after a change. Raises BadPattern.

    robots.txt is not asked: it is judged last, by a page that nothing else refuses.
    """

    __slots__ = ("_comparison", "_every_url", "_freed", "_longest", "_urls")

    def __init__(self, before: PolicySet, after: PolicySet, longest: int | None = None) -> None:
        """`longest` None: the rules alone have changed, and of a URL of which no edited entry speaks nothing is said.
        Otherwise the whole configuration may be another one, whose `max_url_length` (characters) this is: then every
        URL is judged."""
        self._comparison = Comparison(before, after)
        self._freed = bool(_addresses(before) - _addresses(after))
        self._every_url = longest is not None
        self._longest = longest
        self._urls = StoredUrls()

    def effect(self, href: str, code: ExitCode) -> Effect:
        """What the change does to a page with this URL that was refused with this code.

        A refusal by the address that a host name led to stands until an entry for addresses is taken away: what the
        name leads to now is not known.
        """
        url = self._urls.cut(href)
        if isinstance(url, InvalidUrl) or (self._longest is not None and len(href) > self._longest):
            return _effect(ExitCode.invalid_url, code)
        may_be_free = self._freed and code is _EXCLUDED
        if not (self._every_url or may_be_free or self._comparison.concerns(url)):
            return Effect.none
        now = self._comparison.exit_code(url)
        by_address = now is None and code is _EXCLUDED and self._comparison.exit_code(url, before=True) is not code
        return Effect.none if by_address and not self._freed else _effect(now, code)


def _effect(now: ExitCode | None, code: ExitCode) -> Effect:
    return Effect.upheld if now is code else Effect.overturned


def _addresses(policies: PolicySet) -> frozenset[tuple[str, str]]:
    """The exclusions that hold for addresses, also for those that names lead to."""
    return frozenset((each.kind, each.value) for each in policies.exclusions if _is_of_addresses(each))


def _is_of_addresses(exclusion: Exclusion) -> bool:
    if exclusion.kind != "host":
        return exclusion.kind == "cidr"
    try:
        ip_address(exclusion.value.strip().strip("[]"))
    except ValueError:
        return False
    return True
