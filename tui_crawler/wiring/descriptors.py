"""How many connections this process may have open: the system counts them among its files (RLIMIT_NOFILE)."""

from __future__ import annotations

from pathlib import Path

_RESERVED = 32  # for the database and its readers, name look-ups, modules that are loaded late, output


def room_for(wanted: int) -> int:
    """How many of `wanted` connections may be open, at least one. The soft limit is raised for them, if need be, as far
    as the hard one lets."""
    try:
        import resource  # noqa: PLC0415  only POSIX has it, and such a limit
    except ImportError:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = sum(1 for _ in Path("/dev/fd").iterdir()) + _RESERVED
    if soft != resource.RLIM_INFINITY and soft < taken + wanted:
        soft = taken + wanted if hard == resource.RLIM_INFINITY else min(taken + wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - taken))
