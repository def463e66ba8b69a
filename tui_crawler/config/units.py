"""Durations and sizes: how they are written, and what they are in milliseconds and bytes."""

import re
from fractions import Fraction

MS = 1
SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY
MONTH = 30 * DAY
YEAR = 365 * DAY
KIB = 1024
MIB = 1024 * KIB

DURATION_FORMS = "30m, 1s, 250ms, 4 weeks, 1 month or 1 hour 30 minutes"
SIZE_FORMS = "10MiB, 500KB or 512000"

_DURATION_UNITS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), MS),
    **dict.fromkeys(("s", "sec", "second", "seconds"), SECOND),
    **dict.fromkeys(("m", "min", "minute", "minutes"), MINUTE),
    **dict.fromkeys(("h", "hour", "hours"), HOUR),
    **dict.fromkeys(("d", "day", "days"), DAY),
    **dict.fromkeys(("w", "week", "weeks"), WEEK),
    **dict.fromkeys(("month", "months"), MONTH),
    **dict.fromkeys(("year", "years"), YEAR),
}
_SIZE_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": KIB, "mib": MIB, "gib": 1024**3}
_SHOWN_UNITS = ((WEEK, " week"), (DAY, " day"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s"), (MS, "ms"))
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,9})?"
_DURATION_PART = rf"({_NUMBER}) ?([a-z]+)"
_PART = re.compile(_DURATION_PART)
DURATION = re.compile(rf"{_DURATION_PART}(?: {_DURATION_PART})*")
SIZE = re.compile(rf"({_NUMBER}) ?([A-Za-z]*)")


def parse_duration(text: str) -> int:
    """Return the milliseconds of a duration such as `30m` or `1 hour 30 minutes`; a month has 30 days, a year 365; `0`
    alone needs no unit. Raises ValueError, whose text says what is accepted."""
    words = " ".join(text.split())
    if words != "0" and not DURATION.fullmatch(words):
        raise ValueError(f"expected a duration such as {DURATION_FORMS}")
    total = Fraction(0)
    for number, unit in _PART.findall(words):
        if unit not in _DURATION_UNITS:
            known = "ms, s, m, h, d (days), w (weeks), months or years"
            raise ValueError(f"unknown unit {unit}: durations are written in {known}")
        total += Fraction(number) * _DURATION_UNITS[unit]
    if total.denominator != 1:
        raise ValueError("a duration is a whole number of milliseconds")
    return int(total)


def parse_size(text: str) -> int:
    """Bytes of a size such as `10MiB` (1024-based), `500KB` (1000-based) or `512000`. Raises ValueError."""
    found = SIZE.fullmatch(" ".join(text.split()))
    if found is None:
        raise ValueError(f"expected a size such as {SIZE_FORMS}")
    factor = _SIZE_UNITS.get(found[2].lower())
    if factor is None:
        raise ValueError(f"unknown unit {found[2]}: sizes are written in B, KB, MB, GB, KiB, MiB or GiB")
    total = Fraction(found[1]) * factor
    if total.denominator != 1:
        raise ValueError("a size is a whole number of bytes")
    return int(total)


def show_duration(ms: int) -> str:
    """A duration as one would write it, in the largest unit that divides it: 1800000 is `30m`."""
    for factor, unit in _SHOWN_UNITS:
        if ms and ms % factor == 0:
            count = ms // factor
            return f"{count}{unit}{'s' if unit.startswith(' ') and count != 1 else ''}"
    return "0"


def show_size(size: int) -> str:
    """A size as one would write it: 10485760 is `10MiB`, 512000 stays `512000`."""
    for factor, unit in ((MIB, "MiB"), (KIB, "KiB")):
        if size and size % factor == 0 and size != 512_000:
            return f"{size // factor}{unit}"
    return str(size)
