"""The kinds of link. Few lines of their own: every configuration names them, and is read before the first paint."""

from __future__ import annotations

from enum import Enum
from typing import Literal

OTHER = "other"
"""The kind of a body that is none of html, xml, css and rss: it is never read, and stored only where that is wished."""

CanonicalRule = Literal["obey", "same_origin", "ignore"]
"""Which canonical URLs are obeyed: all, those of the page's own origin, or none; the others are only recorded."""


class LinkKind(Enum):
    """The seven kinds of link (G); the value is the name in `v_link.kind`."""

    __hash__ = object.__hash__  # by identity: links are counted by it, and Enum's own is Python

    a = "a"
    css = "css"
    img = "img"
    video = "video"
    audio = "audio"
    object = "object"
    script = "script"
