"""Dates as documents write them: the W3C profile of ISO 8601, RFC 3339 and RFC 822, as epoch ms."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

_LONGEST = 64  # characters
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = r"[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|z|[+-]\d{2}:?\d{2})?"
_W3C = re.compile(rf"(\d{{4}})(?:-(\d{{2}})(?:-(\d{{2}})(?:{_TIME})?)?)?", re.ASCII)
_RFC_3339 = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)


def w3c_date_ms(text: str) -> int | None:
    """A W3C date (YYYY, YYYY-MM, YYYY-MM-DD, with time and zone); without a zone it is UTC. None for another text,
    and for a moment that is none or is not within the years 1 to 9999."""
    found = _W3C.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    microsecond = int((fraction or "0")[:6].ljust(6, "0"))
    try:
        moment = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            min(int(second or 0), 59),  # a leap second
            microsecond,
            _zone(zone),
        )
        return _epoch_ms(moment)
    except (ValueError, OverflowError):
        return None


def mail_date_ms(text: str) -> int | None:
    """A date of RFC 822 and its successors, which HTTP (RFC 9110, 5.6.7) and RSS use too; None when it is none."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        moment = parsedate_to_datetime(text)
        return _epoch_ms(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))
    except (ValueError, TypeError, IndexError, OverflowError):  # what email.utils raises for nonsense
        return None


def is_rfc_3339(text: str) -> bool:
    """Whether a text is a date as Atom wants it (RFC 4287, 3.3)."""
    stripped = text.strip()
    return _RFC_3339.fullmatch(stripped) is not None and w3c_date_ms(stripped) is not None


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _epoch_ms(moment: datetime) -> int:
    """Raises OverflowError for a moment whose UTC is not within the years 1 to 9999."""
    return (moment.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1)
