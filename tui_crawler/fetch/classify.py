"""From what an exchange did to its exit code: by phase and status alone, without I/O (docs/behaviour.md)."""

from enum import Enum

from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.url import CrawlUrl, InvalidUrl


class Phase(Enum):
    """The phase in which an exchange ended."""

    connect = "connect"
    head = "head"
    body = "body"


class Trouble(Enum):
    """The cause that ended an exchange before its body was complete."""

    timeout = "timeout"
    network = "network"  # refused, name not found, TLS, reset, closed
    certificate = "certificate"  # it cannot be verified, whatever is asked for
    protocol = "protocol"  # what came is not HTTP as RFC 9112 has it
    coding = "coding"  # unknown, illegal or too many content codings
    short = "short"  # the compressed body ends too soon
    too_large = "too_large"
    blocked_address = "blocked_address"
    excluded_address = "excluded_address"
    invalid_target = "invalid_target"
    local = "local"


class TransferFailed(Exception):
    """An exchange ended early. `closed_unanswered`: the connection failed or closed before any byte of an answer."""

    def __init__(self, phase: Phase, trouble: Trouble, message: str, *, closed_unanswered: bool = False) -> None:
        super().__init__(message)
        self.phase = phase
        self.trouble = trouble
        self.message = message
        self.closed_unanswered = closed_unanswered


def exit_code_of_trouble(phase: Phase, trouble: Trouble) -> ExitCode:
    """The exit code of an exchange that ended early: the phase decides between 100, 101, 102 and 42."""
    if phase is Phase.body and trouble in (Trouble.timeout, Trouble.network, Trouble.certificate):
        return ExitCode.error_reading_response
    return _OF_TROUBLE[trouble]


_OF_TROUBLE = {
    Trouble.timeout: ExitCode.request_timeout,
    Trouble.network: ExitCode.connection_failed,
    Trouble.certificate: ExitCode.connection_failed,
    Trouble.protocol: ExitCode.did_not_understand_answer,
    Trouble.coding: ExitCode.did_not_understand_answer,
    Trouble.short: ExitCode.error_reading_response,
    Trouble.too_large: ExitCode.file_too_large,
    Trouble.blocked_address: ExitCode.blocked_address,
    Trouble.excluded_address: ExitCode.blocked_by_exclusion_list,
    Trouble.invalid_target: ExitCode.invalid_url,
    Trouble.local: ExitCode.local_processing_error,
}


def exit_code_of_status(
    status: int, *, conditional: bool, same_etag: bool, location: CrawlUrl | InvalidUrl | None
) -> ExitCode:
    """The exit code of a complete response head.

    `conditional`: the request asked "only if changed". `same_etag`: its ETag came back (weak comparison).
    `location`: the resolved Location header, None when there is none.
    """
    if status in _OF_STATUS:
        return _OF_STATUS[status]
    if (status == 200 and conditional and same_etag) or (status == 304 and conditional):
        return ExitCode.file_did_not_change
    match status // 100:
        case 2:
            return ExitCode.file_ingested
        case 3 if status == 300 and location is None:
            return ExitCode.file_of_unknown_type
        case 3 if isinstance(location, CrawlUrl):
            return _OF_REDIRECT.get(status, ExitCode.did_not_understand_answer)
        case 4:
            return ExitCode.server_blamed_client
        case 5:
            return ExitCode.server_internal_error
        case _:
            return ExitCode.did_not_understand_answer


_OF_STATUS = {
    **dict.fromkeys((204, 205), ExitCode.file_of_unknown_type),
    206: ExitCode.did_not_understand_answer,  # no range is ever asked for
    404: ExitCode.file_not_found,
    408: ExitCode.request_timeout,
    410: ExitCode.file_gone,
    429: ExitCode.rate_limited,
}
_OF_REDIRECT = {
    **dict.fromkeys((301, 308), ExitCode.permanent_redirect),
    **dict.fromkeys((300, 302, 303, 307), ExitCode.redirect),
}
