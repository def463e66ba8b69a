"""Numbers, sizes, durations and times as short words for cells. Pure: the time zone is a parameter.

An absent value (None) is `-` everywhere, as is a number that is not finite.
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from math import isfinite

from tui_crawler.domain.moment import EPOCH, local_time

ABSENT = "-"
READING = "reading…"
"""What stands in the place of rows until some were read."""

_SECOND = 1_000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_COUNT_UNITS = ("", "k", "M", "G", "T", "P", "E")
_SIZE_UNITS = (" B", " KB", " MB", " GB", " TB", " PB", " EB")


def count(number: int | None) -> str:
    """Return a whole number with a space between thousands: `1 204 331`."""
    return ABSENT if number is None else f"{number:,}".replace(",", " ")


def compact(number: float | None) -> str:
    """Return a number in at most four characters and a sign: `812`, `1.2k`, `12k`, `1.2M`; units of 1000."""
    return ABSENT if number is None else _scale(number, _COUNT_UNITS)


def size(bytes_: float | None) -> str:
    """Return a number of bytes with a unit of 1000: `0 B`, `18 KB`, `2.1 MB`."""
    return ABSENT if bytes_ is None else _scale(bytes_, _SIZE_UNITS)


def rate(per_second: float | None) -> str:
    """Return a rate without its unit: `0.3`, `18.4`, `412`, `1 204`."""
    if per_second is None or not isfinite(per_second):
        return ABSENT
    return f"{per_second:.1f}" if abs(per_second) < 99.95 else count(round(per_second))


def percent(part: float, whole: float) -> str:
    """Return `part` of `whole` with one decimal: `97.1%`. Neither none nor all is reached by rounding."""
    if not isfinite(part) or not isfinite(whole) or whole <= 0:
        return ABSENT
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "<0.1%"
    if 99.9 < share < 100:
        return "99.9%"
    return f"{share:.1f}%"


def plural(number: int, noun: str, many: str = "") -> str:
    """Return a counted noun: `1 origin`, `4 410 URLs`. `many` is the plural when it is not `noun` + `s`."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def seconds(ms: float | None) -> str:
    """Return milliseconds as seconds with one decimal, `0.3s`, `30.0s`; from a minute on as `duration`."""
    if ms is None or not isfinite(ms):
        return ABSENT
    return f"{ms / _SECOND:.1f}s" if abs(ms) < _MINUTE - 50 else duration(ms)


def phase(ms: float | None) -> str:
    """Return milliseconds as the phase of a request: `0ms`, `31ms`, `1.2s`, `2m05s`."""
    if ms is None or not isfinite(ms):
        return ABSENT
    return f"{ms:.0f}ms" if abs(ms) < _SECOND - 0.5 else seconds(ms)


def duration(ms: float | None) -> str:
    """Return milliseconds in the two greatest units: `45s`, `2m05s`, `1h12m`, `3d04h`."""
    if ms is None or not isfinite(ms):
        return ABSENT
    sign = "-" if ms < 0 else ""
    whole = round(abs(ms) / _SECOND)
    if whole < 60:
        return f"{sign if whole else ''}{whole}s"
    if whole < 3_600:
        return f"{sign}{whole // 60}m{whole % 60:02}s"
    if whole < 86_400:
        return f"{sign}{whole // 3_600}h{whole % 3_600 // 60:02}m"
    return f"{sign}{whole // 86_400}d{whole % 86_400 // 3_600:02}h"


def coarse(ms: float | None) -> str:
    """Return milliseconds in the greatest unit alone, rounded: `45s`, `2m`, `18h`, `3d`."""
    if ms is None or not isfinite(ms):
        return ABSENT
    sign, span = ("-", -ms) if ms < 0 else ("", ms)
    for unit, name, more in ((_SECOND, "s", 60), (_MINUTE, "m", 60), (_HOUR, "h", 24)):
        amount = round(span / unit)
        if amount < more:
            return f"{sign if amount else ''}{amount}{name}"
    return f"{sign}{round(span / _DAY)}d"


def span(low_ms: float | None, high_ms: float | None) -> str:
    """Return a range of durations, `2h–18h`, or one when both read the same."""
    low, high = coarse(low_ms), coarse(high_ms)
    return low if low == high else f"{low}–{high}"


def due(ms: float | None) -> str:
    """Return how far ahead something is: `now`, `+45s`, `+2m`."""
    if ms is None or not isfinite(ms):
        return ABSENT
    return "now" if ms < _SECOND / 2 else f"+{coarse(ms)}"


def ago(ms: float | None) -> str:
    """Return how long ago something was: `now`, `4s ago`, `2m ago`."""
    if ms is None or not isfinite(ms):
        return ABSENT
    return "now" if ms < _SECOND / 2 else f"{coarse(ms)} ago"


def elapsed(ms: float | None) -> str:
    """Return milliseconds as a running clock: `00:42:10`, `3d 04:10:00`. Less than zero reads as zero."""
    if ms is None or not isfinite(ms):
        return ABSENT
    whole = int(max(ms, 0)) // _SECOND
    days, rest = divmod(whole, 86_400)
    time = f"{rest // 3_600:02}:{rest % 3_600 // 60:02}:{rest % 60:02}"
    return f"{days}d {time}" if days else time


def clock(epoch_ms: int | None, zone: tzinfo = UTC, *, millis: bool = False) -> str:
    """Return the time of day of epoch milliseconds in `zone`: `10:41:07`, with `millis` `10:41:07.113`."""
    moment = None if epoch_ms is None else local_time(epoch_ms, zone)
    if moment is None:
        return ABSENT
    return moment.strftime("%H:%M:%S") + (f".{moment.microsecond // 1_000:03}" if millis else "")


def date_time(epoch_ms: int | None, zone: tzinfo = UTC, *, offset: bool = False) -> str:
    """Return date and time of epoch milliseconds in `zone`: `2026-01-05 10:41:07`, with `offset` as ISO 8601 has it:
    `2026-01-05T10:41:07+00:00`."""
    moment = None if epoch_ms is None else local_time(epoch_ms, zone)
    if moment is None:
        return ABSENT
    return moment.isoformat(timespec="seconds") if offset else moment.isoformat(" ", "seconds")[:19]


_TIME = re.compile(r"(?:(\d{4}-\d\d-\d\d)[ T])?(\d{1,2}):(\d\d)(?::(\d\d))?")
_AGO = re.compile(r"-(\d{1,6}) ?([smhd])")
_AGO_MS = {"s": _SECOND, "m": _MINUTE, "h": _HOUR, "d": _DAY}


def time_meant(text: str, now: int, zone: tzinfo) -> int | None:
    """The moment (epoch ms) that a typed time means, to its end: a time of day is the last one before `now`, `-5m` so
    long before it. None for what is no time."""
    if ago := _AGO.fullmatch(text.strip()):
        return now - int(ago[1]) * _AGO_MS[ago[2]]
    typed, here = _TIME.fullmatch(text.strip()), local_time(now, zone)
    if typed is None or here is None:
        return None
    day, hour, minute, second = typed.groups()
    try:
        written = datetime.fromisoformat(f"{day or here.date()}T{int(hour):02}:{minute}:{second or 59}")
    except ValueError:
        return None
    meant = written.replace(tzinfo=zone)
    began = meant if second or day else meant.replace(second=0)
    meant -= timedelta(days=1 if began > here and not day else 0)
    return round((meant - EPOCH) / timedelta(milliseconds=1)) + _SECOND - 1


def _scale(number: float, units: tuple[str, ...]) -> str:
    if not isfinite(number):
        return ABSENT
    sign, rest = ("-", -number) if number < 0 else ("", number)
    if rest < 999.5:
        return f"{sign}{rest:.0f}{units[0]}"
    for unit in units[1:]:
        rest /= 1_000
        if rest < 9.95:
            return f"{sign}{rest:.1f}{unit}"
        if rest < 999.5:
            break
    return f"{sign}{rest:.0f}{unit}"
