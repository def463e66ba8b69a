"""The public suffix list: which part of a host name one owner has."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def registrable(host: str, *, unknown: bool = True) -> str | None:
    """The registrable domain of a host name, None if it has none, as an address. A top-level domain that is not on the
    list counts where names of one's own network do (`unknown`), not where a word may be a mistyped file."""
    is_address = host.endswith("]") or host.rpartition(".")[2].isdigit()
    return None if is_address else _suffixes(unknown).privatesuffix(host)


@cache
def _suffixes(unknown: bool) -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415  a crawl of addresses needs it not, and it takes 50 ms

    return PublicSuffixList(accept_unknown=unknown)
