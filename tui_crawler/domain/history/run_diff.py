"""Two runs compared: what a page was after each of them makes it new, gone, changed, or the same. Pure.

A page *is there* after a run when the last attempt at it, up to the end of that run, asked for it and was answered by
anything but 404 and 410; what was not asked again is there as it was.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from enum import Enum, auto
from itertools import chain, islice
from typing import NamedTuple

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.exit_code import BLOCKED, FAILURES, ExitCode
from tui_crawler.domain.records.page_view import LinkView

_AS_STORED = frozenset({ExitCode.file_ingested, ExitCode.file_of_unknown_type, ExitCode.file_did_not_change})
_NAMING = _AS_STORED | {ExitCode.not_canonical, ExitCode.noindex}
_ABSENT = frozenset({None, ExitCode.file_not_found, ExitCode.file_gone})
_NOT_ASKED = BLOCKED | {ExitCode.invalid_url, ExitCode.blocked_address}
NOT_THERE: Sequence[int] = sorted(code.value for code in {*_ABSENT, *_NOT_ASKED} if code is not None)
"""The exit codes of pages that are not there, but for those that were never crawled."""

LINES = 10_000
"""So many lines of each side are compared at most; what comes after them is left out."""

CHARACTERS = 2_000_000
"""The same for the characters of a side."""

_LONG = 400  # characters of a line that is broken between tags
_BETWEEN_TAGS = re.compile("(?<=>)(?=<)")


class _Word(Enum):
    """Members whose names in documents are their own in small letters."""

    @property
    def word(self) -> str:
        return self.name.lower()


class ChangeKind(_Word):
    """What became of a page from one run to another."""

    NEW = auto()
    GONE = auto()
    CHANGED = auto()


class ChangedField(_Word):
    """What differs of a page: STATUS is exit code or HTTP status, LINKS what it links to."""

    HASH = auto()
    TITLE = auto()
    STATUS = auto()
    REDIRECT = auto()
    CANONICAL = auto()
    LINKS = auto()


class Failing(_Word):
    """What became of a failure from one run to another."""

    NEW = auto()
    MENDED = auto()


End = tuple[int | None, int | None]
"""Exit code and HTTP status of an attempt; None before the first."""


class PageVersion(NamedTuple):
    """A page after a run. `redirect` is the id of the URL it sends its reader to; texts that are unknown are empty."""

    exit_code: int | None
    http_status: int | None
    sha256: str
    title: str
    canonical: str
    redirect: int | None

    @property
    def is_there(self) -> bool:
        """Whether it was asked for and exists."""
        return self.exit_code not in _ABSENT and self.exit_code not in _NOT_ASKED

    @property
    def failed(self) -> bool:
        """Whether the last attempt failed."""
        return self.exit_code in FAILURES


class PageDifference(NamedTuple):
    """What two states of a page come to; `kind` None: none, or it was there neither before nor after."""

    kind: ChangeKind | None
    fields: tuple[ChangedField, ...] = ()
    failing: Failing | None = None


@dataclass(frozen=True, slots=True)
class RunSpan:
    """Two runs to be compared, the older one first."""

    older: int
    newer: int


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page that two runs found different. `unreached`: it was not asked again, and no page names it any more.
    `place`, the ids of origin and page, is its key in the list."""

    url: str
    origin: str
    difference: PageDifference
    before: PageVersion
    after: PageVersion
    unreached: bool
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class OriginDiff:
    """How many pages of an origin are new, gone, changed and the same, and how many fail or do so no more."""

    origin: str
    origin_id: int
    new: int = 0
    gone: int = 0
    changed: int = 0
    same: int = 0
    failures_new: int = 0
    failures_mended: int = 0


@dataclass(frozen=True, slots=True)
class RobotsDiff:
    """A robots.txt that differs: the lines of a unified diff."""

    origin: str
    diff: Sequence[str]


@dataclass(frozen=True, slots=True)
class RunPace:
    """How fast a run was: attempts that made a request, how long it worked (ms), bytes, the mean response time (ms)
    and how many attempts failed."""

    run_id: int
    requests: int
    worked_ms: int
    bytes: int
    response_ms: int | None
    failed: int


@dataclass(frozen=True, slots=True)
class LinkDiff:
    """Links that came and that went, a bounded number of each."""

    new: tuple[LinkView, ...]
    gone: tuple[LinkView, ...]


@dataclass(frozen=True, slots=True)
class PageDiff:
    """One page in two runs; what stands in twos is of the older one first. `change` None: it stayed the same. A body
    is None where none is stored, a redirect empty where there is none."""

    url: str
    change: PageChange | None
    states: Sequence[PageVersion]
    redirects: Sequence[str]
    bodies: Sequence[bytes | None]
    charset: str
    outlinks: LinkDiff
    inlinks: LinkDiff

    def texts(self) -> Sequence[tuple[str, str, str]]:
        """The texts beside the body that differ: name, before, after."""
        before, after = self.states
        redirects = ("redirect", self.redirects[0], self.redirects[1])
        both = (("title", before.title, after.title), redirects, ("canonical", before.canonical, after.canonical))
        return [one for one in both if one[1] != one[2]]

    def changed_lines(self) -> list[str] | None:
        """The lines of the bodies that differ; None where one is not stored. Takes a while where they are large."""
        before, after = self.bodies
        if before is None or after is None:
            return None
        return [] if before == after else changed_lines(text_of(before, self.charset), text_of(after, self.charset))


def same_end(before: End, after: End) -> bool:
    """Whether two attempts came to the same. Not modified is what was stored."""
    if before[0] == after[0]:
        return before[1] == after[1] or after[0] == ExitCode.file_did_not_change
    return ExitCode.file_did_not_change in {before[0], after[0]} and _AS_STORED.issuperset((before[0], after[0]))


def difference(before: PageVersion, after: PageVersion, links: bool, unreached: bool) -> PageDifference:
    """What became of a page. `links`: other ones than before; `unreached`: not asked again, and named by no page."""
    was, now = before.is_there, after.is_there and not unreached
    failing = None if before.failed == after.failed else Failing.NEW if after.failed else Failing.MENDED
    asked = before.exit_code is not None and before.exit_code not in _ABSENT
    if not asked or not (was or now):
        return PageDifference(ChangeKind.NEW if now else None, (), failing)
    if was and not now and (unreached or after.exit_code in _ABSENT):
        return PageDifference(ChangeKind.GONE, () if unreached else (ChangedField.STATUS,), failing)
    fields = tuple(_fields(before, after, links))
    return PageDifference(ChangeKind.CHANGED if fields else None, fields, failing)


def _fields(before: PageVersion, after: PageVersion, links: bool) -> Iterator[ChangedField]:
    """What differs. Only what both states have is compared: a page that redirects now has no title."""
    if before.sha256 and after.sha256:
        if before.sha256 != after.sha256:
            yield ChangedField.HASH
        if before.title != after.title:
            yield ChangedField.TITLE
    if not same_end(before[:2], after[:2]):
        yield ChangedField.STATUS
    if before.redirect != after.redirect:
        yield ChangedField.REDIRECT
    if before.canonical != after.canonical and _NAMING.issuperset((before.exit_code, after.exit_code)):
        yield ChangedField.CANONICAL
    if links:
        yield ChangedField.LINKS


def text_of(body: bytes, charset: str) -> str:
    """A stored body as text; what its character set has no place for is replaced."""
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def changed_lines(before: str, after: str, context: int = 3) -> list[str]:
    """The lines that differ, as a unified diff without file names; each side is bounded (`LINES`, `CHARACTERS`)."""
    return list(unified_diff(_lines(before), _lines(after), n=context, lineterm=""))[2:]


def _lines(text: str) -> list[str]:
    """The lines; where markup has no line breaks, as minified pages, between its tags."""
    split = (_BETWEEN_TAGS.split(line) if len(line) > _LONG else (line,) for line in text[:CHARACTERS].splitlines())
    return list(islice(chain.from_iterable(split), LINES))
