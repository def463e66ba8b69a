"""What is copied: URLs, curl commands, JSON, rows; to the terminal's clipboard (OSC 52) and to a file. Text only.

Whether a terminal takes OSC 52 cannot be known, so the file is written as well and its path is told.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.session import write_privately
from tui_crawler.domain.url import CrawlUrl, normalise

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 64_000
"""More is written to the file only: terminals drop what is longer."""
MOST_ROWS = 1_000
FILE_NAME = "copied.txt"
_URL_CHARACTERS = "!#$%&'()*+,-./:;=?@[]_~"


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of a copy. `for_terminal` is the text for OSC 52, empty when it is too long; `file` empty: none."""

    text: str
    for_terminal: str
    file: str


def copy_text(text: str, folder: Path | None) -> Copied:
    """Cleans a text of everything a terminal could obey and writes it to the file in `folder` (None: to none)."""
    clean = plain_text(text)
    path = folder / FILE_NAME if folder is not None else None
    written = path is not None and write_privately(path, f"{clean}\n")
    fits = len(clean.encode("utf-8")) <= MOST_BYTES
    return Copied(clean, clean if fits else "", str(path) if written else "")


def encoded_url(url: str) -> str:
    """A URL in printable ASCII: normalised, or, where it is none, percent-encoded as it stands."""
    found = normalise(url)
    if isinstance(found, CrawlUrl) and _is_header_safe(found.href):
        return found.href
    return quote(url.encode("utf-8", "surrogatepass"), safe=_URL_CHARACTERS)


def curl_command(url: str, user_agent: str, etag: str = "", last_modified: str = "") -> str:
    """The request as a curl command for a POSIX shell; a value that no header could carry is left out."""
    headers = [("User-Agent", user_agent), ("If-None-Match", etag), ("If-Modified-Since", last_modified)]
    given = [("-H", f"{name}: {value}") for name, value in headers if value and _is_header_safe(value)]
    words = ["curl", "--globoff", "--compressed", *(word for pair in given for word in pair), encoded_url(url)]
    return shlex.join(words)


def _is_header_safe(text: str) -> bool:
    return text.isascii() and text.isprintable()
