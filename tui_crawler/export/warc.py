"""Web archives (WARC/1.1, ISO 28500): for each stored body a `response` record and the `request` that brought it.

A page that now gives an error or a redirect has its last answer in the archive, too: the head as it came, without a
body, as those are not stored (`WARC-Truncated: unspecified`; its length is in X-Crawler-Content-Length). What is secret
in a request, and a user name and password in a Location, stands there as `***`.

The body was stored decoded, so the record holds it decoded: Content-Encoding and Transfer-Encoding would be untrue of
it, and Content-Length is that of the decoded body. What the server said is kept beside them under the names that the
archives of Common Crawl use: X-Crawler-Content-Encoding, X-Crawler-Transfer-Encoding, X-Crawler-Content-Length. All
other fields are the octets that came; the reason phrase is not stored and is the usual one. A body whose exchange is
not in the log becomes a `resource` record. Payload digests are SHA-1 as everywhere; the SHA-256 of the body, by which
the database knows it, stands in X-Crawler-Payload-Digest.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import responses
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]  # warcio ships no types
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]  # the same

from tui_crawler import __version__
from tui_crawler.domain.url import MASK
from tui_crawler.export.output import Output
from tui_crawler.export.text_rows import without_surrogates

if TYPE_CHECKING:
    from tui_crawler.storage.reports.export import StoredBody

_FORMAT = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_DESCRIPTION = "bodies are stored decoded; what the server said of their coding and length is in X-Crawler- fields"
_RENAMED = frozenset({"content-encoding", "transfer-encoding"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]+")
_NOT_IN_URI = re.compile(r"[^\x21-\x7e]+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Archive:
    """What is said of an archive as a whole. `filename` is empty when it has none; `gzip`: each record by itself."""

    filename: str = ""
    user_agent: str = ""
    crawl: str = ""
    gzip: bool = True


class _Head(StatusAndHeaders):  # type: ignore[misc]  # warcio ships no types
    """A first line and header fields that are written as the octets they came as."""

    def compute_headers_buffer(self, header_filter: object = None) -> None:
        """Called by warcio before it writes the record; ISO 8859-1 loses no octet."""
        self.headers_buff = self.to_bytes(encoding="latin-1")


def write_warc(bodies: Iterable[StoredBody], archive: Archive, output: Output) -> int:
    """Writes all bodies; answers how many. Raises CannotWrite, ReaderGone."""
    writer = WARCWriter(output, gzip=archive.gzip, warc_version="1.1")
    info = writer.create_warcinfo_record(_one_line(archive.filename), dict(_about(archive)))
    writer.write_record(info)
    info_id = info.rec_headers.get_header("WARC-Record-ID")
    count = 0
    for count, body in enumerate(bodies, 1):  # noqa: B007  # the number is needed after the loop
        if body.http_status is None:
            writer.write_record(_resource(writer, body, info_id))
        else:
            writer.write_request_response_pair(_request(writer, body, info_id), _response(writer, body, info_id))
    return count


def _about(archive: Archive) -> Iterator[tuple[str, str]]:
    yield "software", f"tui-crawler/{__version__}"
    yield "format", "WARC File Format 1.1"
    yield "conformsTo", _FORMAT
    yield "robots", "classic"
    yield "description", _DESCRIPTION
    yield "http-header-user-agent", _one_line(archive.user_agent)
    yield "isPartOf", _one_line(archive.crawl)


def _response(writer: Any, body: StoredBody, info_id: str) -> Any:
    status = body.http_status or 0
    head = _Head(f"{status} {responses.get(status, 'Unknown')}", list(_stored_fields(body)), protocol="HTTP/1.1")
    kept = {"X-Crawler-Payload-Digest": f"sha256:{body.sha256}"} if body.sha256 else {"WARC-Truncated": "unspecified"}
    fields = _record_fields(body, body.sent_at, info_id) | kept
    return writer.create_warc_record(
        _uri(body.url),
        "response",
        payload=io.BytesIO(body.body),
        length=len(body.body),
        warc_headers_dict=fields,
        http_headers=head,
    )


def _request(writer: Any, body: StoredBody, info_id: str) -> Any:
    _, _, rest = _uri(body.url).partition("://")
    target = rest[rest.find("/") :] if "/" in rest else "/"
    first_line = f"{body.method} {target} HTTP/1.1"
    head = _Head(first_line, list(_clean(body.request_headers)), is_http_request=True)
    fields = _record_fields(body, body.sent_at, info_id)
    return writer.create_warc_record(_uri(body.url), "request", warc_headers_dict=fields, http_headers=head)


def _resource(writer: Any, body: StoredBody, info_id: str) -> Any:
    fields = _record_fields(body, body.stored_at, info_id) | {"X-Crawler-Payload-Digest": f"sha256:{body.sha256}"}
    return writer.create_warc_record(
        _uri(body.url),
        "resource",
        payload=io.BytesIO(body.body),
        length=len(body.body),
        warc_content_type=_one_line(body.content_type) or "application/octet-stream",
        warc_headers_dict=fields,
    )


def _record_fields(body: StoredBody, at: int, info_id: str) -> dict[str, str]:
    date = (_EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds")
    fields = {"WARC-Date": date.replace("+00:00", "Z"), "WARC-Warcinfo-ID": info_id}
    with suppress(ValueError):
        ip_address(body.remote_address)
        fields["WARC-IP-Address"] = body.remote_address
    return fields


def _stored_fields(body: StoredBody) -> Iterator[tuple[str, str]]:
    """The header fields of the answer as they are true of the stored body."""
    length = str(len(body.body))
    for name, value in _clean(body.response_headers):
        lower = name.lower()
        if lower in _RENAMED or (lower == "content-length" and value != length):
            yield f"X-Crawler-{name}", value
        elif lower != "content-length":
            yield name, value
    yield "Content-Length", length


def _clean(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Fields that cannot be mistaken for another field or for the end of the head."""
    for name, value in headers:
        if _TOKEN.fullmatch(name):
            text = _CONTROLS.sub(" ", value).replace(MASK, "*" * len(MASK))
            yield name, text.encode("latin-1", "replace").decode("latin-1").strip()


def _uri(url: str) -> str:
    """A URL without what would end its line; normalised URLs are ASCII without white space anyway."""
    return _NOT_IN_URI.sub("", url)


def _one_line(text: str) -> str:
    return without_surrogates(" ".join(_CONTROLS.sub(" ", text).split()))
