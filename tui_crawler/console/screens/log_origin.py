"""Which origin the log is narrowed to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import plural
from tui_crawler.console.present.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def origin_meant(name: str, known: Iterable[str], here: str, narrowed: str) -> tuple[str, str]:
    """The origin that was named, among those known; without a name that of the entry (`here`), or all (empty) where the
    log is `narrowed` already. And why it is none, in words; empty where it is one."""
    if not name:
        return ("" if narrowed else here), "" if here or narrowed else "this entry is of no origin"
    origins = tuple(known)
    near = [origin for origin in origins if name in {origin, host_of(origin)}]
    near = near or [origin for origin in origins if name in origin]
    return (near[0], "") if len(near) == 1 else ("", f"{plural(len(near), 'origin')} match {name}")
