"""The status of a page and of an origin, as views show it: status, phase, robots.txt, the reason of the delay.

A small module: what reads the first rows of a crawl needs no more."""

from enum import IntEnum, StrEnum


class OriginPhase(StrEnum):
    """The phase of an origin crawler; the value is the name in `v_origin.state`."""

    idle = "IDLE"  # it takes no part in the newest run
    ready = "READY"
    waiting = "WAITING"
    busy = "BUSY"
    finished = "FINISHED"
    resting = "RESTING"  # it has not finished, and no engine is at work; in no row: who would write it there is gone


class RobotsStatus(StrEnum):
    """The state of robots.txt; the value is the name in `v_origin.robots_status`."""

    none = "none"  # never asked in any run
    parsed = "parsed"
    unavailable = "unavailable"  # 4xx, too many hops: everything allowed (RFC 9309, 2.3.1.3)
    unreachable = "unreachable"  # nothing of the origin is crawled without older rules (RFC 9309, 2.3.1.4)


class DelayReason(StrEnum):
    """The reason of the present delay; the value is the name in `v_origin.delay_reason`."""

    none = "none"
    default = "default"
    floor = "floor"
    crawl_delay = "crawl_delay"
    response_time = "response_time"
    rate_limit = "rate_limit"
    retry_after = "retry_after"
    cap = "cap"
    average = "average"
    first_request = "first_request"
    operator = "operator"
    lowered = "lowered"  # by the operator, while a longer wait is still under way
    restart = "restart"
    robots_unreachable = "robots_unreachable"


class PageStatus(IntEnum):
    """The state of a page in its queue (B). Done is READY with no attempt remaining."""

    READY = 0
    CLAIMED = 2
    SKIPPED = 3
    STASHED = 4
