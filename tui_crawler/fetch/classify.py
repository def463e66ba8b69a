"""From what an exchange did to its exit code: by phase and status alone, without I/O (docs/behaviour.md)."""

from __future__ import annotations

from enum import Enum
from typing import assert_never

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
    match trouble:
        case Trouble.timeout:
            return ExitCode.error_reading_response if phase is Phase.body else ExitCode.request_timeout
        case Trouble.network | Trouble.certificate:
            return ExitCode.error_reading_response if phase is Phase.body else ExitCode.connection_failed
        case Trouble.short:
            return ExitCode.error_reading_response
        case Trouble.protocol | Trouble.coding:
            return ExitCode.did_not_understand_answer
        case Trouble.too_large:
            return ExitCode.file_too_large
        case Trouble.blocked_address:
            return ExitCode.blocked_address
        case Trouble.excluded_address:
            return ExitCode.blocked_by_exclusion_list
        case Trouble.invalid_target:
            return ExitCode.invalid_url
        case Trouble.local:
            return ExitCode.local_processing_error
    assert_never(trouble)


def exit_code_of_status(
    status: int, *, conditional: bool, same_etag: bool, location: CrawlUrl | InvalidUrl | None
) -> ExitCode:
    """The exit code of a complete response head.

    `conditional`: the request asked "only if changed". `same_etag`: its ETag came back (weak comparison).
    `location`: the resolved Location header, None when there is none.
    """
    if status < 200 or status > 599:
        return ExitCode.did_not_understand_answer
    if status < 300:
        return _successful(status, conditional and same_etag)
    if status < 400:
        return _redirecting(status, conditional, location)
    if status < 500:
        return _CLIENT_ERRORS.get(status, ExitCode.server_blamed_client)
    return ExitCode.server_internal_error


_CLIENT_ERRORS = {
    404: ExitCode.file_not_found,
    408: ExitCode.request_timeout,
    410: ExitCode.file_gone,
    429: ExitCode.rate_limited,
}


def _successful(status: int, unchanged: bool) -> ExitCode:
    match status:
        case 200 if unchanged:
            return ExitCode.file_did_not_change
        case 204 | 205:
            return ExitCode.file_of_unknown_type
        case 206:  # no range is ever asked for
            return ExitCode.did_not_understand_answer
        case _:
            return ExitCode.file_ingested


def _redirecting(status: int, conditional: bool, location: CrawlUrl | InvalidUrl | None) -> ExitCode:
    if status == 304:
        return ExitCode.file_did_not_change if conditional else ExitCode.did_not_understand_answer
    if status == 300 and location is None:
        return ExitCode.file_of_unknown_type
    if not isinstance(location, CrawlUrl):
        return ExitCode.did_not_understand_answer
    match status:
        case 301 | 308:
            return ExitCode.permanent_redirect
        case 300 | 302 | 303 | 307:
            return ExitCode.redirect
        case _:
            return ExitCode.did_not_understand_answer
