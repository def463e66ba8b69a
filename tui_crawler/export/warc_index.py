"""Indexes of web archives (CDXJ): a line for each capture, with the sort-friendly form of its URL (SURT) as the key.

Keys and fields are those of `cdxj-indexer`, which pywb uses, so that its tools read both.
"""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

_WWW = re.compile(r"^www\d*\.")
_PORTS = {"http": 80, "https": 443}
_SESSION_PATH = re.compile(r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/|\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$")
_SESSIONS = "jsessionid=[0-9a-z]{32} phpsessid=[0-9a-z]{32} sid=[0-9a-z]{32} aspsessionid[a-z]{8}=[a-z]{24}"
_SESSION_QUERIES = [
    re.compile(rf"^(.*)(?:{one})(?:&(.*))?$", re.IGNORECASE) for one in (*_SESSIONS.split(), "cfid=[^&]+&cftoken=[^&]+")
]


def index_path(path: Path) -> Path:
    """Return the index of an archive: `example.cdxj` of `example.warc.gz`."""
    return path.with_name(f"{path.name.removesuffix('.open').removesuffix('.gz').removesuffix('.warc')}.cdxj")


def surt_key(url: str) -> str:
    """Return the key of a normalised http or https URL: `com,example)/path?a=1&b=2`, without case and session ids."""
    parts = urlsplit(url)
    host = ",".join(reversed(_WWW.sub("", (parts.hostname or "").strip(".")).split(".")))
    port = "" if parts.port in {None, _PORTS.get(parts.scheme)} else f":{parts.port}"
    path = _SESSION_PATH.sub(r"\1\2", _escaped(_walked(_plain(parts.path))).lower())
    query = _escaped(_plain(parts.query))
    for session in _SESSION_QUERIES:
        query = session.sub(lambda found: found[1] + (found[2] or ""), query)
    fields = sorted(one.partition("=") for one in query.lower().split("&"))
    query = "&".join("".join(field) for field in fields)
    return f"{host}{port}){path if path == '/' else path.removesuffix('/')}{'?' if query else ''}{query}"


def index_line(record: Any, offset: int, length: int, filename: str) -> str:
    """Return the line of a record of warcio that begins at `offset` and is `length` bytes long."""
    fields = record.rec_headers
    url, http = fields.get_header("WARC-Target-URI"), record.http_headers
    mime = (http or fields).get_header("Content-Type")
    found = {
        "url": url,
        "mime": "warc/revisit" if record.rec_type == "revisit" else mime and re.split(r"[;\s]", mime, maxsplit=1)[0],
        "status": http.get_statuscode() if http else None,
        "digest": fields.get_header("WARC-Payload-Digest"),
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    moment = re.sub(r"\D", "", fields.get_header("WARC-Date"))[:14]
    known = {name: value for name, value in found.items() if value is not None}
    return f"{surt_key(url)} {moment} {json.dumps(known)}\n"


def _plain(text: str) -> bytes:
    octets = text.encode()
    while (plain := unquote_to_bytes(octets)) != octets:
        octets = plain
    return octets


def _escaped(octets: bytes) -> str:
    return quote_from_bytes(octets, safe="!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~")


def _walked(path: bytes) -> bytes:
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b"..":
            kept[-1:] = [] if kept else [segment]
        elif segment != b".":
            kept.append(segment)
    *folders, last = kept or [b""]
    return b"/" + b"".join(one + b"/" for one in folders if one) + last
