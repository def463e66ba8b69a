"""The one table of exit codes: what each outcome of an attempt means for the page and for its origin.

Everything else is made from it: the settle step, colours, filters and docs/exit-codes.md (docs/behaviour.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from functools import partial


class ExitCode(IntEnum):
    """The high-level outcome of an attempt (16 bit). The name is the interface, the number is storage."""

    database_error = -3
    cancelled = -2
    someone_stole_my_work = -1
    file_ingested = 20
    file_of_unknown_type = 29
    permanent_redirect = 31
    redirect = 32
    file_did_not_change = 34
    server_blamed_client = 40
    file_gone = 41
    did_not_understand_answer = 42
    file_not_found = 44
    rate_limited = 49
    server_internal_error = 50
    connection_failed = 100
    request_timeout = 101
    error_reading_response = 102
    blocked_by_robots_txt = 200
    blocked_url_by_local_policy = 201
    blocked_by_exclusion_list = 202
    skipped_by_rule = 203
    not_canonical = 210
    noindex = 211
    file_too_large = 220
    invalid_url = 221
    blocked_address = 222
    local_processing_error = 230


class AttemptKind(StrEnum):
    """The purpose of an attempt; the value is the name in `v_attempt.kind`."""

    page = "page"
    robots = "robots"
    sitemap = "sitemap"
    check = "check"


class Group(Enum):
    """A kind of outcome: the console's colour role and the first filter a person reaches for."""

    ok = "ok"
    redirect = "redirect"
    unchanged = "unchanged"
    client = "client"
    server = "server"
    network = "network"
    blocked = "blocked"
    dropped = "dropped"
    local = "local"


class Left(Enum):
    """The effect on a page's `attempts_remaining`."""

    keep = "keep"  # already lowered by the claim
    zero = "zero"
    given_back = "given_back"
    untouched = "untouched"


class Severity(IntEnum):
    """The severity of an entry of the log: a failure is a warning, one of a server's or of our own an error."""

    info = 0
    warning = 1
    error = 2


class PatienceChange(Enum):
    """The effect of an outcome on the patience of its origin crawler."""

    none = "none"
    lose_one = "lose_one"
    exhaust = "exhaust"  # := 0
    lose_one_at_full_politeness = "lose_one_at_full_politeness"


@dataclass(frozen=True, slots=True)
class Disposition:
    """One row of the table: what the settle step does after an attempt that ended so. `unlinks`: the page is gone or
    refused, and its links are deleted; a contentful outcome replaces them."""

    when: str
    group: Group
    contentful: bool = False
    retry: bool = False
    patience: PatienceChange = PatienceChange.none
    slow: bool = False
    left: Left = Left.zero
    severity: Severity = Severity.info
    unlinks: bool = False

    @property
    def failure(self) -> bool:
        """Return whether a page that ended so counts as failed."""
        return self.severity > Severity.info


_LOSE = PatienceChange.lose_one
_WARNING, _ERROR = Severity.warning, Severity.error
_OF_SERVER = partial(Disposition, group=Group.server, patience=_LOSE, left=Left.keep, severity=_ERROR)
_LOCAL = partial(Disposition, group=Group.local)
_REFUSED = partial(Disposition, group=Group.blocked, unlinks=True)
_OF_NETWORK = partial(Disposition, group=Group.network, retry=True, patience=_LOSE, left=Left.keep, severity=_WARNING)

DISPOSITIONS: Mapping[ExitCode, Disposition] = {
    ExitCode.database_error: _LOCAL(
        "the database failed", patience=PatienceChange.exhaust, left=Left.keep, severity=_ERROR
    ),
    ExitCode.cancelled: _LOCAL("operator or shutdown", retry=True, left=Left.given_back),
    ExitCode.someone_stole_my_work: _LOCAL("another worker finished or leases it", left=Left.untouched),
    ExitCode.file_ingested: Disposition("2xx of a usable type", Group.ok, contentful=True),
    ExitCode.file_of_unknown_type: Disposition(
        "2xx of another type, 204 or 205, 300 without Location", Group.ok, contentful=True
    ),
    ExitCode.permanent_redirect: Disposition("301, 308", Group.redirect, contentful=True),
    ExitCode.redirect: Disposition("302, 303, 307, 300 with Location", Group.redirect, contentful=True),
    ExitCode.file_did_not_change: Disposition(
        "304 to a conditional request, or 200 with an equal ETag", Group.unchanged
    ),
    ExitCode.server_blamed_client: Disposition(
        "other 4xx; 401, 402, 403, 405 and 451 leave no attempt", Group.client, left=Left.keep, severity=_WARNING
    ),
    ExitCode.file_gone: Disposition("410", Group.client, severity=_WARNING, unlinks=True),
    ExitCode.did_not_understand_answer: _OF_SERVER(
        "bad status line, Content-Length, Transfer-Encoding, chunk or compression; unsolicited 304 or 206; "
        "3xx with no or bad Location; other 3xx; status below 200 or above 599"
    ),
    ExitCode.file_not_found: Disposition("404", Group.client, severity=_WARNING, unlinks=True),
    ExitCode.rate_limited: _OF_SERVER(
        "429", retry=True, patience=PatienceChange.lose_one_at_full_politeness, slow=True
    ),
    ExitCode.server_internal_error: _OF_SERVER("5xx; only 502, 503 and 504 are retried in the run"),
    ExitCode.connection_failed: _OF_NETWORK("refused, DNS, TLS, closed before any byte (after one fluke retry)"),
    ExitCode.request_timeout: _OF_NETWORK("no response head in time; 408"),
    ExitCode.error_reading_response: _OF_NETWORK("stall, reset or short body after the head"),
    ExitCode.blocked_by_robots_txt: _REFUSED("robots.txt denies"),
    ExitCode.blocked_url_by_local_policy: _REFUSED("do_not_crawl, query policy, whitelist"),
    ExitCode.blocked_by_exclusion_list: _REFUSED("exclusion list"),
    ExitCode.skipped_by_rule: _REFUSED("rule `skip`; the page becomes SKIPPED", left=Left.untouched),
    ExitCode.not_canonical: Disposition(
        "page names another canonical URL: result dropped, canonical queued", Group.dropped, contentful=True
    ),
    ExitCode.noindex: Disposition("meta robots or X-Robots-Tag: result dropped", Group.dropped, contentful=True),
    ExitCode.file_too_large: Disposition(
        "more than `max_body_bytes`; reading stopped, connection closed", Group.dropped, severity=_WARNING
    ),
    ExitCode.invalid_url: _LOCAL("cannot be requested", severity=_WARNING, unlinks=True),
    ExitCode.blocked_address: _REFUSED(
        "the host resolves to an address that `network` does not allow", severity=_WARNING
    ),
    ExitCode.local_processing_error: _LOCAL("parser or hook raised", left=Left.keep, severity=_ERROR),
}

_BY_NUMBER = {code.value: code for code in ExitCode}


def code_of(number: int) -> ExitCode | None:
    """The exit code of a stored number; None for one of a newer program."""
    return _BY_NUMBER.get(number)


def exit_name(number: int | None) -> str:
    """Return the name of a stored exit code; the number of one of a newer program, "" for None."""
    if number is None:
        return ""
    return str(number) if (code := code_of(number)) is None else code.name


WALLS = frozenset({401, 403, 405, 407, 429, 451, 999})
"""Statuses with which a host refuses a link check: a person may see the page, so that the link is not called dead."""
STATUS_WITHOUT_RETRY = frozenset({401, 402, 403, 405, 451})
STATUS_RETRIED_IN_RUN = frozenset({502, 503, 504})


def retries_in_run(code: ExitCode, http_status: int | None) -> bool:
    """Return whether the page is taken off the ignore list, so that it may run again in the same run (U)."""
    if code is ExitCode.server_internal_error:
        return http_status in STATUS_RETRIED_IN_RUN
    return DISPOSITIONS[code].retry


def is_final(code: ExitCode, http_status: int | None) -> bool:
    """Return whether an attempt that ends so leaves the page no tries (docs/behaviour.md: *left* 0)."""
    if code is ExitCode.server_blamed_client and http_status in STATUS_WITHOUT_RETRY:
        return True
    return DISPOSITIONS[code].left is Left.zero


def attempts_left(code: ExitCode, http_status: int | None, before: int) -> int:
    """`attempts_remaining` after an attempt; `before` is the number before the claim lowered it (B)."""
    left = max(0, before - 1) if DISPOSITIONS[code].left is Left.keep else before
    return 0 if is_final(code, http_status) else left


def unlinks(code: ExitCode, http_status: int | None) -> bool:
    """Return whether a page that ends so loses its links (`Disposition.unlinks`), as after a final other 4xx."""
    return DISPOSITIONS[code].unlinks or (code is ExitCode.server_blamed_client and is_final(code, http_status))


UNTOUCHED = frozenset({ExitCode.cancelled, ExitCode.someone_stole_my_work})  # they leave their page as it was
UNLINKED: frozenset[ExitCode] = frozenset(code for code, row in DISPOSITIONS.items() if row.unlinks)
DOCUMENTS: frozenset[ExitCode] = frozenset({ExitCode.file_ingested, ExitCode.file_did_not_change})
"""The exit codes of a page that has a document."""

FAILURES: frozenset[ExitCode] = frozenset(code for code, row in DISPOSITIONS.items() if row.failure)
_NO_ROBOTS = frozenset({ExitCode.server_blamed_client, ExitCode.file_gone, ExitCode.file_not_found})
REFUSED_BY_RULES: frozenset[ExitCode] = frozenset(
    {ExitCode.blocked_url_by_local_policy, ExitCode.blocked_by_exclusion_list, ExitCode.skipped_by_rule}
)
"""Blocked by what operators can edit: a change of it may overturn these (domain.rejudgement)."""

CRAWLED: frozenset[ExitCode] = frozenset(code for code in ExitCode if 20 <= code < 40)  # with content, or as it was
BLOCKED: frozenset[ExitCode] = REFUSED_BY_RULES | {ExitCode.blocked_by_robots_txt}


def severity(code: ExitCode | None, kind: str) -> Severity:
    """Return how much an attempt of this kind (`AttemptKind`) matters in logs and events. A robots.txt that does not
    exist is no failure. None: a code of a newer program."""
    if code is None or (kind == AttemptKind.robots and code in _NO_ROBOTS):
        return Severity.info
    return DISPOSITIONS[code].severity


def is_problem(code: ExitCode | None, kind: str) -> bool:
    """Return whether it is one of the problems that logs and events count (`attempt.problem` of the database)."""
    return severity(code, kind) > Severity.info


def lost_words(number: int | None, message: str) -> str:
    """Return why a page gave no document, by its stored exit code: what the attempt said, else what the code means."""
    code = None if number is None else code_of(number)
    return "it was not crawled" if code is None else f"{code.name}: {message or DISPOSITIONS[code].when}"
