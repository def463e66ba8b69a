"""Which validator judges a body, and when none can."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from tui_crawler.domain.attempt import Validation
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.fetch.document import feed_type
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.page import XHTML_TYPE, ParsedBody
from tui_crawler.fetch.sniff import CSS, HTML, RSS, XML

VALIDATED_KINDS = frozenset({HTML, XML, RSS, CSS})

_MOST_ERRORS = 20
_IS_CUT = frozenset({"input", "tags"})
_NOT_WHOLE = _IS_CUT | {"entities", "depth", "deadline"}  # the tree is what is judged
_QUICK_CSS_BYTES = 2 * 1024  # tinycss2 takes about a millisecond for a kilobyte and cannot be stopped


def can_be_validated(study: ParsedBody, kinds: frozenset[str], limits: FetchLimits) -> bool:
    """Whether a body is of a kind that is to be validated, whole, and not too large."""
    reading = study.reading
    missing = _IS_CUT if _is_html(study) else _NOT_WHOLE
    most = limits.validate_css_bytes if reading.kind == CSS else limits.validate_bytes
    return (
        reading.kind in kinds
        and reading.exit_code is ExitCode.file_ingested
        and 0 < len(study.markup) <= most
        and missing.isdisjoint(reading.incomplete)
    )


def is_quick(study: ParsedBody) -> bool:
    """Whether the validator may run on the event loop, if it stops when it is told to."""
    return study.reading.kind != CSS or len(study.markup) <= _QUICK_CSS_BYTES


def validate(study: ParsedBody, out_of_time: Callable[[], bool]) -> Validation | None:
    """What the validator of its kind says of a body (G); None when it came to no end or failed."""
    try:
        return _validate(study, out_of_time)
    except Exception:  # whatever a body did to a validator, it stays unvalidated and the crawl goes on
        return None


def _validate(study: ParsedBody, out_of_time: Callable[[], bool]) -> Validation | None:
    """Validators are loaded where they are needed: that is the child that reads stored bodies again."""
    if _is_html(study):
        from tui_crawler.fetch.validation.html import validate_html  # noqa: PLC0415

        return validate_html(study.markup, out_of_time)
    if study.reading.kind == CSS:
        from tui_crawler.fetch.validation.css import validate_css  # noqa: PLC0415

        return validate_css(study.markup.decode("utf-8"))
    from tui_crawler.fetch.validation.feed import feed_errors  # noqa: PLC0415

    root = study.root
    is_feed = study.reading.kind == RSS or (root is not None and bool(feed_type(root)))
    errors = list(study.faults)
    if is_feed and root is not None:
        errors += islice(feed_errors(root), _MOST_ERRORS)
    return Validation(RSS if is_feed else XML, not errors, tuple(errors[:_MOST_ERRORS]))


def _is_html(study: ParsedBody) -> bool:
    return study.reading.kind == HTML and study.reading.content_type != XHTML_TYPE
