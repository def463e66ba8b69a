"""The pattern of a path: what differs from page to page of one kind is a placeholder. Made from one URL alone."""

from __future__ import annotations

import re

SLUG, QUERY = "{slug}", "?*"
_VARYING = re.compile(
    r"(?P<octet>%[0-9a-f]{2})"
    r"|(?P<id>(?<![0-9a-z])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,})(?![0-9a-z]))"
    r"|(?P<number>[0-9]+)",
    re.IGNORECASE,
)
"""What differs between URLs of one pattern; an escaped octet is none of it."""
_WORD = re.compile(r"(?:[a-z_-]|%[0-9a-f]{2})+", re.IGNORECASE)
_WORD_OF_TITLE = re.compile(r"(?<![^-_])[a-z]{2,}(?![^-_])", re.IGNORECASE | re.ASCII)


def path_pattern(url: str, origin: str) -> str:
    """The path of a URL with every number as {n}, every UUID or digest as {id}, a title at its end as {slug}. A plain
    word at its end that takes a query says so: such a page (`/search?*`) is no title."""
    path, mark, _ = url.removeprefix(origin).partition("?")
    folder, stem, rest = _parts(path)
    if _is_slug(stem):
        path = f"{folder}{SLUG}{rest}"
    elif mark and _WORD.fullmatch(stem):
        path += QUERY
    return _VARYING.sub(_placeholder, path)


def titles_beside(pattern: str) -> str:
    """The pattern of the titles in the folder of a path that ends in one word: `/stops/{slug}` for `/stops/quay`.
    Empty for all others."""
    folder, stem, rest = _parts(pattern)
    return f"{folder}{SLUG}{rest}" if not pattern.endswith(QUERY) and _WORD.fullmatch(stem) else ""


def is_of_pattern(url: str, origin: str, pattern: str) -> bool:
    """Whether a URL is of a pattern. One that ends in {slug} has the pages named by one word, too."""
    own = path_pattern(url, origin)
    return own == pattern or (SLUG in pattern and titles_beside(own) == pattern)


def _parts(path: str) -> tuple[str, str, str]:
    """The folder with its slash, the name, and what follows it: an ending, a slash."""
    end = "/" if path.endswith("/") else ""
    folder, slash, name = path.removesuffix(end).rpartition("/")
    stem, dot, ending = name.partition(".")
    return folder + slash, stem, dot + ending + end


def _is_slug(stem: str) -> bool:
    """Whether a name is a title in words (`old-photographs`), not one word with a number (`page-2`) or an id."""
    return len(_WORD_OF_TITLE.findall(stem)) > 1


def _placeholder(found: re.Match[str]) -> str:
    return found["octet"] or ("{id}" if found["id"] else "{n}")
