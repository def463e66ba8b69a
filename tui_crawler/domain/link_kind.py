"""The kinds of link. Few lines of their own: every configuration names them, and is read before the first paint."""

from __future__ import annotations

from enum import Enum


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
