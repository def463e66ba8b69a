"""Which validator judges a body, and when none can. Feeds are judged here, against what their formats ask for: RSS 0.9x
and 2.0 (RSS Advisory Board), RSS 1.0, Atom (RFC 4287). The tree says on which line an element begins and not in which
column; that is 0."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from tui_crawler.domain.crawl.recrawl import parse_http_date
from tui_crawler.domain.records.attempt import Validation, ValidationError
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.document import feed_type
from tui_crawler.fetch.headers import clean_message, is_rfc_3339
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.page import XHTML_TYPE, ParsedBody
from tui_crawler.fetch.sniff import CSS, HTML, RSS, XML

VALIDATED_KINDS = frozenset({HTML, XML, RSS, CSS})

_MOST_ERRORS = 20
_IS_CUT = frozenset({"input", "tags"})
_NOT_WHOLE = _IS_CUT | {"entities", "depth", "deadline"}  # the tree is what is judged
_QUICK_CSS_BYTES = 2 * 1024  # tinycss2 takes about a millisecond for a kilobyte and cannot be stopped


def can_be_validated(study: ParsedBody, kinds: frozenset[str], limits: FetchLimits) -> bool:
    """Return whether a body is of a kind that is to be validated, whole, and not too large."""
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
    """Return whether the validator may run on the event loop, if it stops when it is told to."""
    return study.reading.kind != CSS or len(study.markup) <= _QUICK_CSS_BYTES


def validate(study: ParsedBody, out_of_time: Callable[[], bool]) -> Validation | None:
    """Return what the validator of its kind says of a body (G); None when it came to no end or failed.

    Validators are loaded where they are needed: that is the child that reads stored bodies again.
    """
    try:
        if _is_html(study):
            from tui_crawler.fetch.validation.html import validate_html  # noqa: PLC0415

            return validate_html(study.markup, out_of_time)
        if study.reading.kind == CSS:
            from tui_crawler.fetch.validation.css import validate_css  # noqa: PLC0415

            return validate_css(study.markup.decode("utf-8"))
        root, errors = study.root, list(study.faults)
        is_feed = study.reading.kind == RSS or (root is not None and bool(feed_type(root)))
        if is_feed and root is not None:
            errors += islice(feed_errors(root), _MOST_ERRORS)
        return Validation(RSS if is_feed else XML, tuple(errors[:_MOST_ERRORS]))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # whatever a body did to a validator (a panic of Rust is no Exception), the crawl continues
        return None


def _is_html(study: ParsedBody) -> bool:
    return study.reading.kind == HTML and study.reading.content_type != XHTML_TYPE


Element = Any  # an lxml element; lxml ships no types

_CHANNEL_PARTS = ("title", "link", "description")
_ENCLOSURE_ATTRIBUTES = ("url", "length", "type")
_ATOM_PARTS = ("id", "title", "updated")


def feed_errors(root: Element) -> Iterator[ValidationError]:
    """What a feed lacks or has too much of, in the order of the document."""
    match feed_type(root):
        case "atom":
            yield from _atom(root)
        case "rss" if _name(root) == "RDF":
            for child in root.iterchildren("*"):
                if _name(child) == "channel":
                    yield from _counts(child, _CHANNEL_PARTS)
                elif _name(child) == "item":
                    yield from _counts(child, ("title", "link"))
        case "rss":
            yield from _rss(root)
        case _:
            yield _error(root, f"the root element is <{_name(root)}>, neither <rss> nor <feed>")


def _rss(root: Element) -> Iterator[ValidationError]:
    if root.get("version") is None:
        yield _error(root, "<rss> has no version")
    channels = list(root.iterchildren("channel"))
    if len(channels) != 1:
        yield _error(root, f"<rss> has {len(channels)} <channel>, not one")
    for channel in channels:
        yield from _counts(channel, _CHANNEL_PARTS)
        for child in channel.iterchildren("*"):
            if child.tag == "item":
                yield from _rss_item(child)
            elif child.tag in ("pubDate", "lastBuildDate"):
                yield from _rss_date(child)


def _rss_item(item: Element) -> Iterator[ValidationError]:
    children = list(item.iterchildren("*"))
    if not any(child.tag in ("title", "description") for child in children):
        yield _error(item, "<item> has neither <title> nor <description>")
    yield from _counts(item, ("guid", "pubDate"), least=0)
    for child in children:
        if child.tag == "pubDate":
            yield from _rss_date(child)
        elif child.tag == "guid":
            is_link = (child.get("isPermaLink") or "true").lower() == "true"
            if is_link and not _text(child).lower().startswith(("http://", "https://")):
                yield _error(child, '<guid> is no URL, and has no isPermaLink="false"')
        elif child.tag == "enclosure":
            for name in _ENCLOSURE_ATTRIBUTES:
                if child.get(name) is None:
                    yield _error(child, f"<enclosure> has no {name}")
        elif child.tag == "source" and child.get("url") is None:
            yield _error(child, "<source> has no url")


def _rss_date(element: Element) -> Iterator[ValidationError]:
    if parse_http_date(_text(element)) is None:
        yield _error(element, f"<{_name(element)}> is no date of RFC 822: {_text(element)[:40]}")


def _atom(feed: Element) -> Iterator[ValidationError]:
    yield from _counts(feed, _ATOM_PARTS)
    yield from _atom_dates(feed)
    has_author = _has(feed, "author")
    for entry in feed.iterchildren("{*}entry"):
        yield from _counts(entry, _ATOM_PARTS)
        yield from _atom_dates(entry)
        source = entry.find("{*}source")
        if not (has_author or _has(entry, "author") or (source is not None and _has(source, "author"))):
            yield _error(entry, "<entry> has no <author>, and neither has its feed")
        relations = [link.get("rel") or "alternate" for link in entry.iterchildren("{*}link")]
        if not _has(entry, "content") and "alternate" not in relations:
            yield _error(entry, "<entry> has neither <content> nor an alternate <link>")
    for link in feed.iter("{*}link"):
        if link.tag.startswith("{http://www.w3.org/2005/Atom}") and link.get("href") is None:
            yield _error(link, "<link> has no href")


def _atom_dates(parent: Element) -> Iterator[ValidationError]:
    for name in ("updated", "published"):
        for child in parent.iterchildren("{*}" + name):
            if not is_rfc_3339(_text(child)):
                yield _error(child, f"<{name}> is no date of RFC 3339: {_text(child)[:40]}")


def _counts(parent: Element, names: tuple[str, ...], least: int = 1) -> Iterator[ValidationError]:
    """The parts that are missing, or there more than once, in the namespace of their parent."""
    namespace = parent.tag[: -len(_name(parent))]
    for name in names:
        parts = list(parent.iterchildren(namespace + name))
        if len(parts) < least:
            yield _error(parent, f"<{_name(parent)}> has no <{name}>")
        elif len(parts) > 1:
            yield _error(parts[1], f"<{_name(parent)}> has more than one <{name}>")


def _has(parent: Element, name: str) -> bool:
    return parent.find("{*}" + name) is not None


def _text(element: Element) -> str:
    return (element.text or "").strip()


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _error(element: Element, message: str) -> ValidationError:
    return ValidationError(element.sourceline or 0, 0, clean_message(message))
