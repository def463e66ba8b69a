"""What is known of the robots.txt of an origin, in words: one table for console and commands. Pure.

Statuses are names of RobotsStatus; an HTTP status None: no server answered. Messages are raw as stored (hostile).
"""

from __future__ import annotations

import re

NO_ANSWER = "no answer"
_PLACE = re.compile(r"^\S+ port \d+: ")
"""The address before what the system says of a connection that failed."""


def unreachable_words(http_status: int | None, message: str) -> str:
    """Why robots.txt cannot be had: a server error, or no answer at all (RFC 9309 section 2.3.1.4)."""
    if http_status is not None:
        return f"robots.txt unreachable: answered {http_status}"
    said = _PLACE.sub("", message) or NO_ANSWER
    return f"robots.txt unreachable: {said[:1].lower()}{said[1:]}"


def unavailable_words(http_status: int | None, message: str = "") -> str:
    """Why there are no rules to obey (RFC 9309 sections 2.3.1.2 and 2.3.1.3)."""
    if http_status is None:
        return f"robots.txt was not answered: {message or 'its address is refused'}"
    if http_status < 400:
        return "robots.txt only redirects, so everything is allowed"
    return f"there is no robots.txt ({http_status}), so everything is allowed"
