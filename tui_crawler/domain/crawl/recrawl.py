"""When a page is due again, and what a recrawl asks for (U, G, R). Times are epoch ms."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING

from tui_crawler.domain.records.attempt import first_values, is_field_value

if TYPE_CHECKING:
    from tui_crawler.domain.records.attempt import Headers
    from tui_crawler.domain.records.page import TodoPage

NEVER = 2**62  # later than any time
MAX_FRESHNESS_MS = 365 * 86_400_000  # a server cannot put a page off for longer than a year
_LONGEST_DATE = 64  # characters
LONGEST_VALIDATOR = 4_096  # characters: servers refuse a request with a header field of more than about 8 KiB


def condition_of(page: TodoPage, forced: bool) -> tuple[str, str]:
    """Return If-None-Match and If-Modified-Since for a page, verbatim (RFC 9110, section 13).

    Both are empty when the crawl is forced or the stored body is gone: an answer of 304 could not be used.
    """
    if forced or page.force or not page.body_kept or not page.last_contentful_at:
        return "", ""
    etag, since = validator_of(page.etag), validator_of(page.last_modified)
    return etag, since or http_date(page.last_contentful_at)


def validator_of(value: str) -> str:
    """Return an ETag or Last-Modified as a later request can send it, verbatim, or "" if none can.

    A server chooses the value: one with a control character would make our request illegal, a very long one would have
    it refused, and `*` would match every version of the page (RFC 9110, 13.1.2). Checked when a document is stored,
    and again when the value is sent: databases of earlier versions hold what was not checked.
    """
    value = value.strip(" \t")
    verbatim = is_field_value(value) and max(value, default="") <= "\xff"
    return value if verbatim and len(value) <= LONGEST_VALIDATOR and value != "*" else ""


def http_date(at_ms: int) -> str:
    """An IMF-fixdate (RFC 9110, section 5.6.7)."""
    return format_datetime(datetime.fromtimestamp(at_ms // 1000, UTC), usegmt=True)


def parse_http_date(text: str) -> int | None:
    """Epoch ms of a date of HTTP in any of its three forms (RFC 9110, 5.6.7), which RFC 822 and RSS have, too; None
    when it is none."""
    text = text.strip()
    if not text or len(text) > _LONGEST_DATE:
        return None
    try:
        parsed = parsedate_to_datetime(text)
        parsed = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
        return int(parsed.astimezone(UTC).timestamp() * 1000)
    except (ValueError, TypeError, OverflowError, IndexError):  # what email.utils raises for nonsense
        return None


def fresh_until(headers: Headers, now: int) -> int:
    """Until when HTTP calls the answer fresh (RFC 9111, section 4.2), 0 when it says nothing.

    `Cache-Control: max-age` wins over `Expires`; `Age` is taken off; `no-cache` and `no-store` mean not at all.
    """
    values = first_values(headers)
    directives: dict[str, str] = {}
    for part in values.get("cache-control", "").split(","):
        name, _, value = part.strip().partition("=")
        directives.setdefault(name.strip().lower(), value.strip().strip('"'))
    if "no-cache" in directives or "no-store" in directives:
        return 0
    seconds, expires = _seconds(directives.get("max-age", "")), parse_http_date(values.get("expires", ""))
    if seconds is not None:
        left = seconds * 1000
    elif expires is not None:
        left = expires - (parse_http_date(values.get("date", "")) or now)
    else:
        return 0
    left -= (_seconds(values.get("age", "")) or 0) * 1000
    return now + min(left, MAX_FRESHNESS_MS) if left > 0 else 0


def _seconds(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


@dataclass(frozen=True, slots=True)
class DueBounds:
    """A done page is due when it was last crawled at `crawled_before` or earlier and is fresh no longer than
    `fresh_before` (epoch ms): two bounds, so that a database can look for due pages by index."""

    crawled_before: int
    fresh_before: int

    def allow(self, last_crawled_at: int, fresh_until: int) -> bool:
        """Return whether a page with these times is due."""
        return last_crawled_at <= self.crawled_before and fresh_until <= self.fresh_before


def due_bounds(now: int, interval_ms: int, respect_freshness: bool, forced_before: int = 0) -> DueBounds:
    """Return which done pages are due at `now`: after the later of interval and HTTP freshness (G, R).

    `forced_before` (0: not forced) makes every page due that was crawled before it, however fresh (U).
    """
    crawled_before = now - interval_ms
    if forced_before:
        return DueBounds(max(crawled_before, forced_before), NEVER)
    return DueBounds(crawled_before, now if respect_freshness else NEVER)
