"""Cookies that servers set (RFC 6265), in memory only: of a chain of redirects, or of an origin (`crawl.cookies`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from tui_crawler.domain.records.attempt import Headers
from tui_crawler.domain.records.content_kind import CookieMode
from tui_crawler.domain.url import CrawlUrl

if TYPE_CHECKING:
    from http.cookiejar import CookieJar

_RETURNS = 3  # so often a chain of redirects comes back to a URL
_CHAINS, _COOKIES = 10_000, 50  # remembered at once; of one jar (RFC 6265, 6.1)
_SENDABLE = re.compile(r"[\x20-\x7e]{1,4096}")


def _new_jar() -> CookieJar:
    from http.cookiejar import CookieJar, DefaultCookiePolicy  # noqa: PLC0415  it takes 70 ms, and few sites need it

    return CookieJar(DefaultCookiePolicy(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain))  # RFC 6265, 5.4


@dataclass(slots=True)
class Chain:
    """A chain of redirects: its cookies (None: it got none), and the URLs it came by with those that each was sent."""

    jar: CookieJar | None = field(default=None, repr=False)
    passed: list[tuple[str, str]] = field(default_factory=list, repr=False)

    def cookies(self, url: CrawlUrl) -> str:
        """The Cookie field for a URL, empty for none."""
        if self.jar is None:
            return ""
        from urllib.request import Request  # noqa: PLC0415  as http.cookiejar

        request = Request(url.href)  # noqa: S310  it is never opened
        self.jar.add_cookie_header(request)
        return str(request.get_header("Cookie", ""))

    def asks_again(self, url: CrawlUrl) -> bool | None:
        """Return whether a URL that the chain came by is asked again: it gets other cookies, and came not too often.
        None: the chain did not come by."""
        before = [sent for href, sent in self.passed if href == url.href]
        return len(before) <= _RETURNS and self.cookies(url) != before[-1] if before else None


@dataclass(slots=True)
class ChainCookies:
    """The cookies of the chains that are under way and, if the mode says so, of each origin."""

    _mode: CookieMode
    _registrable: Callable[[str], str | None]  # the registrable domain of a host, None for a public suffix
    _chains: dict[str, Chain] = field(default_factory=dict)
    _kept: dict[str, CookieJar] = field(default_factory=dict)

    def take(self, url: CrawlUrl) -> Chain:
        """The chain that leads to a URL; a new one where none does."""
        chain = self._chains.pop(url.href, None) or Chain()
        if (kept := self._kept.get(url.origin)) is not None:
            chain.jar = chain.jar if chain.jar is not None else _new_jar()
            for cookie in kept:
                chain.jar.set_cookie(cookie)
        return chain

    def follow(self, chain: Chain, url: CrawlUrl, headers: Headers, target: CrawlUrl | None) -> bool | None:
        """Take in what a URL answered that redirects to `target` (None: nowhere). Return whether that is asked again,
        None if it does not come back to where it was."""
        chain.passed.append((url.href, chain.cookies(url)))
        set_cookies = [text for name, text in headers if name.lower() == "set-cookie" and _SENDABLE.fullmatch(text)]
        if set_cookies and self._mode != "off":
            chain.jar = chain.jar if chain.jar is not None else _new_jar()
            self._take_in(chain.jar, url, set_cookies)
        if self._mode == "origin" and chain.jar is not None:
            self._kept[url.origin] = chain.jar
        again = None if target is None else chain.asks_again(target)
        if target is not None and (again or target.href not in self._chains):  # one that comes back goes before others
            self._chains[target.href] = chain
            if len(self._chains) > _CHAINS:
                del self._chains[next(iter(self._chains))]
        return again

    def _take_in(self, jar: CookieJar, url: CrawlUrl, set_cookies: list[str]) -> None:
        """The cookies of an answer, without those that are for a public suffix, or too many."""
        from email.message import Message  # noqa: PLC0415  as http.cookiejar
        from urllib.request import Request  # noqa: PLC0415  as http.cookiejar

        answer = Message()
        for text in set_cookies:
            answer["Set-Cookie"] = text
        jar.extract_cookies(cast("Any", SimpleNamespace(info=lambda: answer)), Request(url.href))  # noqa: S310
        for number, cookie in enumerate(list(jar)):
            domain = cookie.domain.lstrip(".")
            is_wide = cookie.domain_specified and domain != url.host and self._registrable(domain) is None
            if is_wide or number >= _COOKIES:
                jar.clear(cookie.domain, cookie.path, cookie.name)
