"""Why an origin is left alone as long as it is (CRAWL.md section 4)."""

from __future__ import annotations

from enum import Enum


class DelayReason(Enum):
    """What decided the present delay; the value is the name in `v_origin.delay_reason`."""

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
