"""Web archives (WARC/1.1, ISO 28500): for each answer a `response` record, the `request` that brought it, `metadata`.

Two sources write the same records. A crawl with `storage.warc` has responses as they were received: a payload keeps its
content coding. An export has what the database stores: bodies are decoded, so Content-Encoding would be untrue. In both
the payload has no transfer coding. What the server said and is no longer true is kept under the names that the archives
of Common Crawl use: X-Crawler-Content-Encoding, X-Crawler-Transfer-Encoding, X-Crawler-Content-Length. All other
fields of an answer are the octets that came. What is secret in a request is `***`.

An answer with status 304, and a payload that was captured before, becomes a `revisit` record that names the capture.
That of a 304 has no block, its head is in the `metadata`: pywb would replay an empty page in place of the capture. A
body whose exchange is not in the log becomes a `resource` record. A payload that is not complete has WARC-Truncated.
Payload digests are SHA-1 as everywhere; the SHA-256 by which the database knows a body is X-Crawler-Payload-Digest.
"""

import base64
import hashlib
import io
import re
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from http.client import responses
from ipaddress import ip_address
from typing import Any

from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]  # warcio ships no types
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]  # the same

from tui_crawler import __version__
from tui_crawler.domain.url import MASK
from tui_crawler.export.output import Output
from tui_crawler.export.text_rows import without_surrogates
from tui_crawler.export.warc_index import index_line
from tui_crawler.storage.reports.export import StoredBody

_FORMAT = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_DESCRIPTION = "payloads have no transfer coding; fields that are no longer true are kept with the prefix X-Crawler-"
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
_SECRET = frozenset({"authorization", "cookie", "proxy-authorization"})
_MASKED = "*" * len(MASK)
_RECORD_END = b"\r\n\r\n"
INDEXED = frozenset({"response", "revisit", "resource"})
_MOST_CAPTURES = 250_000
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]+")
_NOT_IN_URI = re.compile(r"[^\x21-\x7e]+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Archive:
    """Facts about an archive as a whole. `filename` is empty when it has none; `gzip`: each record by itself;
    `waived`: which rules of sites were not obeyed, where, and what decided it."""

    filename: str = ""
    user_agent: str = ""
    crawl: str = ""
    gzip: bool = True
    waived: str = ""


class _Head(StatusAndHeaders):  # type: ignore[misc]  # warcio ships no types
    """A first line and header fields that are written as the octets they came as."""

    def compute_headers_buffer(self, header_filter: object = None) -> None:
        """Called by warcio before it writes the record; ISO 8859-1 loses no octet."""
        self.headers_buff = self.to_bytes(encoding="latin-1")


@dataclass(slots=True)
class Captures:
    """Captures that later records may refer to, as (URL, WARC-Date, payload digest): the newest 250,000."""

    of_url: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    of_payload: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    def add(self, url: str, capture: tuple[str, str, str]) -> None:
        """Note the capture that holds the payload of a URL."""
        for known, key in ((self.of_url, url), (self.of_payload, capture[2])):
            known.pop(key, None)
            known[key] = capture
            if len(known) > _MOST_CAPTURES:
                del known[next(iter(known))]


class WarcFile:
    """The records of one archive, written to `output`, and their lines of the index; begins with its `warcinfo`."""

    def __init__(self, output: Output, archive: Archive, captures: Captures) -> None:
        self.index: list[str] = []
        self._output, self._filename, self._captures = output, _one_line(archive.filename), captures
        self._writer = WARCWriter(output, gzip=archive.gzip, warc_version="1.1")
        self._ids = uuid.uuid4()
        about = {
            "software": f"tui-crawler/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": _FORMAT,
            "robots": _one_line(archive.waived) or "classic",
            "description": _DESCRIPTION,
            "http-header-user-agent": _one_line(archive.user_agent),
            "isPartOf": _one_line(archive.crawl),
        }
        info = self._writer.create_warcinfo_record(self._filename, about)
        self._writer.write_record(info)
        self._info_id = info.rec_headers.get_header("WARC-Record-ID")

    def write(self, body: StoredBody) -> None:
        """Write an answer and its request, or a body alone. Raises CannotWrite, ReaderGone."""
        if body.http_status is None:
            fields = self._fields(body, body.stored_at) | {"X-Crawler-Payload-Digest": f"sha256:{body.sha256}"}
            content_type = _one_line(body.content_type) or "application/octet-stream"
            self._add(body.url, "resource", body.body, fields, warc_content_type=content_type)
        else:
            self._add_answer(body)
            _, _, rest = _uri(body.url).partition("://")
            target = rest[rest.find("/") :] if "/" in rest else "/"
            sent = _clean(body.request_headers)
            asked = [(name, _MASKED if name.lower() in _SECRET else text) for name, text in sent]
            head = _Head(f"{body.method} {target} HTTP/1.1", asked, is_http_request=True)
            self._add(body.url, "request", b"", self._near(body), http_headers=head)
            self.describe(body)

    def describe(self, body: StoredBody) -> None:
        """Write the facts that were read in an answer. Raises CannotWrite, ReaderGone."""
        facts = list(body.facts)
        if body.http_status == HTTPStatus.NOT_MODIFIED:
            facts.append(("status-line", _status_line(body)))
            facts += [("header", f"{name}: {value}") for name, value in _clean(body.response_headers)]
        text = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in facts if value)
        if text:
            kind = "application/warc-fields"
            self._add(body.url, "metadata", text.encode(), self._near(body), warc_content_type=kind)

    def _add_answer(self, body: StoredBody) -> None:
        status, uri, fields = body.http_status or 0, _uri(body.url), self._fields(body, body.sent_at)
        fields |= {"WARC-Record-ID": self._id(body)}
        digest = f"sha1:{base64.b32encode(hashlib.sha1(body.body).digest()).decode()}"  # noqa: S324  # as WARC has it
        unchanged = status == HTTPStatus.NOT_MODIFIED
        former = self._captures.of_url.get(uri) if unchanged else None
        if status == HTTPStatus.OK and body.body and not body.cut:
            former = self._captures.of_payload.get(digest)
            self._captures.add(uri, former or (uri, fields["WARC-Date"], digest))
        kept = {"X-Crawler-Payload-Digest": f"sha256:{body.sha256}"} if body.sha256 else {}
        if unchanged or former:
            fields |= {"WARC-Profile": _PROFILE + ("server-not-modified" if unchanged else "identical-payload-digest")}
            url, date, digest = former or (uri, "", "")
            refers = ("Refers-To-Target-URI", url), ("Refers-To-Date", date), ("Payload-Digest", digest)
            kept = {f"WARC-{name}": value for name, value in refers if value}
        elif body.cut:
            kept |= {"WARC-Truncated": body.cut}
        protocol, _, line = _status_line(body).partition(" ")
        head = None if unchanged else _Head(line, list(_stored_fields(body)), protocol=protocol)
        kind = "revisit" if unchanged or former else "response"
        self._add(body.url, kind, b"" if unchanged else body.body, fields | kept, http_headers=head)

    def _add(self, url: str, kind: str, payload: bytes, fields: dict[str, str], **more: Any) -> None:
        stream, began = io.BytesIO(payload), self._output.tell()
        record = self._writer.create_warc_record(
            _uri(url), kind, payload=stream, length=len(payload), warc_headers_dict=fields, **more
        )
        self._writer.write_record(record)
        if kind in INDEXED:
            ended = self._output.tell() - (0 if self._writer.gzip else len(_RECORD_END))  # as other indexers count
            self.index.append(index_line(record, began, ended - began, self._filename))

    def _id(self, body: StoredBody) -> str:
        return f"<urn:uuid:{uuid.uuid5(self._ids, f'{body.sent_at} {body.stored_at} {body.url}')}>"

    def _near(self, body: StoredBody) -> dict[str, str]:
        return self._fields(body, body.sent_at) | {"WARC-Concurrent-To": self._id(body)}

    def _fields(self, body: StoredBody, at: int) -> dict[str, str]:
        date = (_EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds")
        fields = {"WARC-Date": date.replace("+00:00", "Z"), "WARC-Warcinfo-ID": self._info_id}
        with suppress(ValueError):
            ip_address(body.remote_address)
            fields["WARC-IP-Address"] = body.remote_address
        return fields


def write_warc(bodies: Iterable[StoredBody], archive: Archive, output: Output, index: list[str] | None = None) -> int:
    """Write all bodies and return how many. `index` gets the lines of the index. Raises CannotWrite, ReaderGone."""
    file, count = WarcFile(output, archive, Captures()), 0
    for count, body in enumerate(bodies, 1):  # noqa: B007  # the number is needed after the loop
        file.write(body)
    if index is not None:
        index += file.index
    return count


def _stored_fields(body: StoredBody) -> Iterator[tuple[str, str]]:
    """The header fields of the answer as they are true of the payload."""
    length = str(len(body.body))
    for name, value in _clean(body.response_headers):
        lower = name.lower()
        untrue = lower == "transfer-encoding" or (lower == "content-encoding" and not body.coded)
        if untrue or (lower == "content-length" and value != length):
            yield f"X-Crawler-{name}", value
        elif lower != "content-length":
            yield name, value
    yield "Content-Length", length


def _status_line(body: StoredBody) -> str:
    status = body.http_status or 0
    return _one_line(body.status_line) or f"HTTP/1.1 {status} {responses.get(status, 'Unknown')}"


def _clean(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Fields that cannot be mistaken for another field or for the end of the head."""
    for name, value in headers:
        if _TOKEN.fullmatch(name):
            text = _CONTROLS.sub(" ", value).replace(MASK, _MASKED)
            yield name, text.encode("latin-1", "replace").decode("latin-1").strip()


def _uri(url: str) -> str:
    """A URL without what would end its line; normalised URLs are ASCII without white space anyway."""
    return _NOT_IN_URI.sub("", url)


def _one_line(text: str) -> str:
    return without_surrogates(" ".join(_CONTROLS.sub(" ", text).split()))
