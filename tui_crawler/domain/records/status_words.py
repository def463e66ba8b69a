"""How runs and origin crawlers end, what is known of a robots.txt, and what a person is warned of, in words: one table
for the console, for every command and for the log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import ActivityView
    from tui_crawler.domain.records.view import RunView


class FinishReason(StrEnum):
    """The reason why an origin crawler ended its run; the value is the name in `v_origin.finish_reason`."""

    exhausted = "exhausted"
    patience = "patience"
    database_error = "database_error"
    excluded = "excluded"
    rate_limited = "rate_limited"
    max_requests = "max_requests"
    operator = "operator"


GAVE_UP = frozenset({FinishReason.patience, FinishReason.database_error})
"""How an origin ends that gave up: with patience it continues, and without it the exit status of the run is 1."""


class RunReason(StrEnum):
    """The reason why a run ended; the value is the name in `v_run.finish_reason` and in the events."""

    exhausted = "exhausted"
    max_requests = "max_requests"
    operator = "operator"
    few_origins = "few_origins"
    interrupted = "interrupted"
    error = "error"


UNVERIFIED = "certificates are not verified"
"""What is said as long as a crawl takes any certificate."""

_ELSEWHERE_LEAST = 20
RUNNING = "running"
BROKEN_OFF = "crawler died"
"""A run whose engine is gone without having said why."""

_RUNS: Mapping[str, tuple[str, str]] = {
    "exhausted": ("finished", "nothing left in this run"),
    "max_requests": ("limit reached", "max_requests is used up"),
    "operator": ("stopped", "the operator has stopped every origin"),
    "few_origins": ("few origins", "fewer origins are left than queue.min_origins"),
    "interrupted": ("interrupted", "the next start continues it"),
    "error": ("failed", "stopped by an error"),
}
_DATABASE = "stopped by a database error"
_ORIGINS: Mapping[str, tuple[str, str, str, str]] = {
    "patience": ("stopped: errors", "out of patience", "stopped after errors", "stopped after errors"),
    "database_error": ("database error", "the database failed", _DATABASE, _DATABASE),
    "rate_limited": (
        *("rate limited", "Retry-After is longer than allowed"),
        *("was rate limited", "were rate limited"),
    ),
    "excluded": ("excluded", "on the exclusion list", "is excluded", "are excluded"),
    "max_requests": ("limit reached", "the run reached its request limit", "reached the limit", "reached the limit"),
    "operator": ("stopped", "stopped by the operator", "was stopped", "were stopped"),
    "exhausted": ("finished", "nothing left in this run", "has finished", "have finished"),
    "": ("finished", "", "has ended", "have ended"),
}
"""How an origin ends: as one word, why, and of one and of several after their number; the worst first."""

REFUSED_WORDS: Mapping[str, str] = {
    "blocked_by_robots_txt": "robots.txt disallows all requested URLs",
    "blocked_url_by_local_policy": "policies refuse all requested URLs",
    "blocked_by_exclusion_list": "the exclusion list contains all requested URLs",
    "skipped_by_rule": "rules skip all requested URLs",
    "several": "all requested URLs are refused",
    "": "nothing left to crawl",
}
"""Why nothing of an origin was requested, as all its pages were refused (`OriginView.refused_as`)."""


_OUTCOMES: Mapping[str, str] = {
    "file_ingested": "ingested",
    "file_of_unknown_type": "other type",
    "permanent_redirect": "moved",
    "file_did_not_change": "unchanged",
    "server_blamed_client": "client error",
    "file_gone": "gone",
    "did_not_understand_answer": "bad response",
    "file_not_found": "not found",
    "rate_limited": "rate limit",
    "server_internal_error": "server error",
    "connection_failed": "conn. failed",
    "request_timeout": "timeout",
    "error_reading_response": "read error",
    "blocked_by_robots_txt": "robots.txt",
    "blocked_url_by_local_policy": "policy",
    "blocked_by_exclusion_list": "excluded",
    "skipped_by_rule": "skipped",
    "not_canonical": "canonical",
    "file_too_large": "too large",
    "blocked_address": "address",
    "local_processing_error": "local error",
    "someone_stole_my_work": "stolen",
    "database_error": "database",
    "scope": "out of scope",
    "whitelist": "not whitelisted",
    "start_path": "not below start path",
    "exclusion": "excluded",
    "trap_repeat": "path repeats",
    "trap_depth": "path too deep",
    "origin_full": "origin is full",
    "rule_accept": "no rule accepts it",
    "item_pattern": "no pattern fits",
    "redirect_hops": "too many redirects",
    "url_length": "URL too long",
    "invalid_url": "invalid URL",
}


def outcome_words(name: str) -> str:
    """Return the words for an exit code, at most 12 characters for those known, or for why a link was refused."""
    return _OUTCOMES.get(name, name.replace("_", " "))


def run_end(reason: str, pending: int | None = None) -> tuple[str, str]:
    """Return how a run ended, as one word and why, which may be empty. `reason` as in `v_run.finish_reason`; `pending`
    is how many pages are left with tries, None where that is not known."""
    word, why = _RUNS.get(reason) or (reason.replace("_", " ") or "ended", "")
    if reason == FinishReason.exhausted and pending is not None:
        why = next_run_words(pending) or "nothing more to do"
    return word, why


def next_run_words(pending: int) -> str:
    """That so many pages are left for the next run, in words; empty where none is."""
    waits = "1 page waits" if pending == 1 else f"{pending} pages wait"
    return f"{waits} for the next" if pending else ""


def run_end_words(reason: str, pending: int | None = None) -> str:
    """The same as one piece of a sentence."""
    return ", ".join(filter(None, run_end(reason, pending)))


def ends_words(finish_reasons: Iterable[str], what: str = "", alone: str = "") -> str:
    """Return how several origin crawlers ended, each way with its number, those first that need an eye: "2 gave up, 3
    have finished". `what` follows the first number, as one and as many, parted by a slash; a single one is called
    `alone` instead, where that is given."""
    counts = Counter(reason if reason in _ORIGINS else "" for reason in finish_reasons)
    parts: list[str] = []
    for reason, (_, _, one, many) in _ORIGINS.items():
        number = counts[reason]
        if number and alone and counts.total() == 1:
            parts.append(f"{alone} {one}")
        elif number:
            noun = "" if parts or not what else f" {what.split('/')[number != 1]}"
            parts.append(f"{number}{noun} {one if number == 1 else many}")
    return ", ".join(parts)


def elsewhere_words(not_canonical: int, ended: int, left: int) -> str:
    """Return the warning over an origin most of whose pages name another URL as canonical, with the key to change.

    Empty for others. Fewer than 20 pages count only if they are all there is and no page is `left`: the links of a
    dropped page lead nowhere, so that a crawl can end with its first page."""
    if 2 * not_canonical <= ended or (not_canonical < _ELSEWHERE_LEAST and (left or not_canonical < ended)):
        return ""
    pages = f"{not_canonical} of {ended} pages name" if ended > 1 else "its only page names"
    return (
        f"{pages} another URL as canonical and {'were' if ended > 1 else 'was'} dropped; for a mirror or a "
        "staging site set crawl.canonical: same_origin (or ignore), then retry --exit-code not_canonical"
    )


def run_word(run: RunView) -> str:
    """Return the state of a run: running, crawler died, or how it ended."""
    if run.live:
        return RUNNING
    return run_end(run.finish_reason)[0] if run.finished_at else BROKEN_OFF


def what_happened(activity: ActivityView) -> str:
    """Return what an entry of the activity log says beside its name."""
    match activity.event:
        case "run_finished":
            return run_end_words(activity.message)
        case "origin_finished":
            return finish_words(activity.message)
        case _:
            return activity.message


def origin_end(finish_reason: str) -> str:
    """Return how an origin crawler ended its run, as one word. `finish_reason` as in `v_origin`."""
    return _ORIGINS.get(finish_reason, _ORIGINS[""])[0]


def finish_words(finish_reason: str) -> str:
    """Return why it did, in words."""
    word, why, *_ = _ORIGINS.get(finish_reason, ("finished", finish_reason.replace("_", " ")))
    return why or word


def origin_end_words(finish_reason: str, why: str) -> str:
    """Return how it ended and why, as one piece of a sentence; `why` in words, which may name the end themselves."""
    word = origin_end(finish_reason)
    return why if why.startswith(word) else f"{word}, {why}"


NO_ANSWER = "no response"
PLACE = re.compile(r"^\S+ port \d+: ")
"""The address before what the system says of a connection that failed."""


def unreachable_words(http_status: int | None, message: str) -> str:
    """Return why robots.txt cannot be had: a server error, or no answer at all (RFC 9309 section 2.3.1.4)."""
    if http_status is not None:
        return f"robots.txt unreachable: HTTP {http_status}"
    said = PLACE.sub("", message) or NO_ANSWER
    return f"robots.txt unreachable: {said[:1].lower()}{said[1:]}"


def unavailable_words(http_status: int | None, message: str = "") -> str:
    """Return why there are no rules to obey (RFC 9309 sections 2.3.1.2 and 2.3.1.3)."""
    if http_status is None:
        return f"robots.txt: no response ({message or 'its address is refused'})"
    if http_status < 400:
        return "robots.txt only redirects: everything is allowed"
    return f"no robots.txt ({http_status}): everything is allowed"


UNCONFIGURED_USER_AGENT = "tui-crawler-unconfigured-ua"
NOBODY = f"not set: requests are sent as {UNCONFIGURED_USER_AGENT}"
"""What is wrong with it, in words."""

WARNING = f"sites see {UNCONFIGURED_USER_AGENT}: set user_agent so that they can contact you"
"""The same with what to do, where there is one line for it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run. `gave_up` counts the origins that ended by patience or database_error; `nothing`: every seed
    failed, was refused, or led to nothing."""

    reason: RunReason
    gave_up: int
    nothing: bool = False
