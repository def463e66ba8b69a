"""Seeds from arguments, from stdin and from files, checked before anything is handed over."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem

_TOLD = 20


def read_seeds(words: Sequence[str], file: str | None, printer: Printer) -> tuple[str, ...]:
    """The normalised seeds, each once, in their order; a word that is a file stands for the lines in it.

    A bad URL among the arguments is a UsageProblem. In a list (`-`, a file) it is told with its line and left
    out; a list without a single good one is a UsageProblem, too.
    """
    from tui_crawler.domain.url import CrawlUrl, normalise

    seeds: dict[str, None] = {}
    bad: list[str] = []
    files = [word for word in words if _is_file(word)]
    for word in words:
        if word == "-" or word in files:
            continue
        url = normalise(word)
        if isinstance(url, CrawlUrl):
            seeds[url.href] = None
        else:
            bad.append(f"{url.raw} {url.reason}")
    if bad:
        raise UsageProblem(*bad)
    told = 0
    for place, line in _listed("-" in words, files if file is None else [*files, file]):
        url = normalise(line)
        if isinstance(url, CrawlUrl):
            seeds[url.href] = None
            continue
        told += 1
        if told <= _TOLD:
            printer.note(f"{place}: {url.raw[:200]} {url.reason}")
    if told:
        printer.note(f"{told} of the listed lines cannot be crawled and were left out")
    if not seeds:
        raise UsageProblem("no seed is named", hint="tui-crawler add URL…, a file, or - to read them from stdin")
    return tuple(seeds)


def _is_file(word: str) -> bool:
    """Whether a word is the name of a file here; a URL with its scheme never is."""
    try:
        return "://" not in word and Path(word).is_file()
    except (OSError, ValueError):  # a name no file can have
        return False


def _listed(stdin: bool, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    if stdin:
        lines = (line.decode("utf-8-sig", "replace") for line in sys.stdin.buffer)
        yield from _numbered("stdin", lines)
    for file in files:
        try:
            with Path(file).open(encoding="utf-8-sig", errors="replace") as text:
                yield from _numbered(file, text)
        except OSError as error:
            raise UsageProblem(f"{file} cannot be read: {error.strerror}") from error


def _numbered(name: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield f"{name}:{number}", text
