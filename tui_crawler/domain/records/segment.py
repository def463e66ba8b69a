"""Segments (M): files of URLs for the queue, sorted by (origin, url), as text that a person can read and check.

A segment begins with six lines of its head, each of them after "# ", and goes on with one line per URL: the origin,
a tab, the rest of the URL, a tab, and a JSON object with what else its page will hold. Both are in the order of their
bytes, so that `LC_ALL=C sort -c FILE` finds nothing to complain of. The digest is the SHA-256 of the lines of URLs
followed by the head as it is with sixty-four zeros in the place of the digest.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.failure import BadSegment
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, InvalidUrl, normalise

FORMAT = 1
SUFFIX = ".segment"
HEAD_LINES = 6
LONGEST_LINE = 1 << 20
"""Bytes; a line of a head or of a URL is never longer."""

_MAGIC = "# Segment of tui-crawler, format "
_KEYS = ("created", "job", "name", "sha256", "urls")
_NO_DIGEST = "0" * 64
_NUMBER = re.compile("[0-9]{1,18}")
_HEAD = re.compile(
    r"# created ([0-9]{1,18})\n# job (.*)\n# name ([A-Za-z0-9][A-Za-z0-9._-]{0,199})\n"
    r"# sha256 ([0-9a-f]{64})\n# urls ([0-9]{1,18})"
)
_NOT_IN_A_NAME = re.compile("[^A-Za-z0-9._-]+")
_INT64 = 1 << 63
T = TypeVar("T", int, str, bool)
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class SegmentHead:
    """The head of a segment. Its identity is `name` and `digest` (SHA-256, hex; empty while it is written).

    `job` is the job of its pages, `created_at` epoch ms, `urls` how many lines follow.
    """

    name: str
    job: str
    created_at: int
    urls: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class SegmentPage:
    """A URL of a segment. `found_on` is the URL of the page that named it on the shortest path, empty for none."""

    page: NewPage
    found_on: str = ""


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment as a database knows it. Times are epoch ms; `consumed_at` 0: it waits. `path` is where it was
    written, empty for one that came from elsewhere."""

    name: str
    digest: str
    urls: int
    created_at: int
    consumed_at: int
    path: str


def name_stem(text: str) -> str:
    """Return what of a text may stand at the beginning of a segment's name."""
    return _NOT_IN_A_NAME.sub("_", text).lstrip("._-")[:60] or "crawl"


def head_text(head: SegmentHead) -> str:
    """The head as it stands in the file. It is as long with a digest as without one, and for any number of URLs."""
    values = (str(head.created_at), _json(head.job), head.name, head.digest or _NO_DIGEST, f"{head.urls:010}")
    lines = "".join(f"# {key} {value}\n" for key, value in zip(_KEYS, values, strict=True))
    return f"{_MAGIC}{FORMAT}\n{lines}"


def digested_text(head: SegmentHead) -> str:
    """The part of the head that the digest covers: the head without it."""
    return head_text(replace(head, digest=""))


def parse_head(lines: Sequence[str]) -> SegmentHead:
    """The head in the first lines of a file, without their ends. Raises BadSegment."""
    magic, _, version = lines[0].partition(_MAGIC) if lines else ("", "", "")
    if magic or not _NUMBER.fullmatch(version) or not int(version):
        raise BadSegment("it is not a segment of tui-crawler")
    if int(version) > FORMAT:
        raise BadSegment(f"it has format {version}, this program knows {FORMAT}: a newer tui-crawler wrote it")
    found = _HEAD.fullmatch("\n".join(lines[1:HEAD_LINES]))
    job = None if found is None else _loaded(found[2])
    if found is None or not isinstance(job, str):
        raise BadSegment("its head is damaged")
    return SegmentHead(found[3], job, int(found[1]), int(found[5]), found[4])


def line_of(entry: SegmentPage) -> str:
    """The line of a URL, without its end. It is plain ASCII unless the URL is not."""
    page = entry.page
    others = (
        ("force", page.force),
        ("found_on", entry.found_on),
        ("hops", page.redirect_hops),
        ("lastmod", page.lastmod),
        ("nice", page.nice),
        ("not_before", page.not_before),
        ("pattern", page.item_pattern),
        ("sitemap", page.sitemap),
    )
    values = {"depth": page.depth, **{key: value for key, value in others if value}}
    return f"{page.origin}\t{page.url[len(page.origin) :]}\t{_json(values)}"


def parse_line(line: str) -> SegmentPage:
    """The URL of a line, without its end. Raises BadSegment for anything `line_of` cannot have written."""
    origin, _, rest = line.partition("\t")
    path, _, tail = rest.partition("\t")
    url = normalise(origin + path, None, CLIENT_MAX_LENGTH)
    if isinstance(url, InvalidUrl):
        raise BadSegment(f"it contains an invalid URL: {(origin + path)[:200]!r} {url.reason}")
    if url.origin != origin or url.href != origin + path:
        raise BadSegment(f"it contains a URL that is not normalised: {(origin + path)[:200]!r}")
    values = _loaded(tail)
    if not isinstance(values, dict):
        raise BadSegment(f"what it says of {url.href[:200]!r} cannot be read")
    taken = _Values(values, url.href)
    page = NewPage(
        url=url.href,
        url_hash=url.hash,
        origin=url.origin,
        depth=taken.number("depth", 0),
        nice=taken.number("nice"),
        redirect_hops=taken.number("hops", 0),
        item_pattern=taken.take("pattern", ""),
        force=taken.take("force", False),
        not_before=taken.number("not_before", 0),
        sitemap=taken.take("sitemap", False),
        lastmod=taken.number("lastmod", 0),
    )
    found_on = taken.take("found_on", "")
    taken.end()
    return SegmentPage(page, found_on)


@dataclass(slots=True)
class _Values:
    """The JSON object of a line, taken key by key."""

    _values: dict[str, Any]
    _url: str

    def take(self, key: str, default: T) -> T:
        value: T = self._values.pop(key, default)
        if type(value) is not type(default):
            raise self._bad(key)
        return value

    def number(self, key: str, least: int = -_INT64) -> int:
        value = self.take(key, 0)
        if not least <= value < _INT64:
            raise self._bad(key)
        return value

    def end(self) -> None:
        for key in self._values:
            raise self._bad(key)

    def _bad(self, key: str) -> BadSegment:
        return BadSegment(f"{key[:40]!r} of {self._url[:200]!r} cannot be read")


def _loaded(text: str) -> object:
    try:
        loaded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return loaded


def _json(value: object) -> str:
    """Compact JSON in ASCII; DEL is the one control character that JSON leaves."""
    return _ENCODER.encode(value).replace("\x7f", "\\u007f")
