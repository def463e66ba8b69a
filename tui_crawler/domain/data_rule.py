"""Data rules (R): what is taken out of the pages of a host. Plain values; reading pages with them is fetching's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DataType = Literal["link", "video", "picture", "text"]


@dataclass(frozen=True, slots=True)
class DataRule:
    """One named expression for the pages of `host`; exactly one of `css`, `xpath` and `regex` is given.

    `css` may end in parsel's `::text` or `::attr(name)`. Of `regex` the first group counts, else the whole match.
    `source` is file:line.
    """

    host: str
    name: str
    type: DataType
    css: str | None = None
    xpath: str | None = None
    regex: str | None = None
    source: str = ""
