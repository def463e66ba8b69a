"""Seeds from arguments, from stdin and from a file, checked before anything is handed over."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem

_TOLD = 20


def read_seeds(words: Sequence[str], file: str | None, printer: Printer) -> tuple[str, ...]:
    """The normalised seeds, each once, in their order.

    A bad URL among the arguments is a UsageProblem. In a list (`-`, `--file`) it is told with its line and left
    out; a list without a single good one is a UsageProblem, too.
    """
    from tui_crawler.domain.url import CrawlUrl, normalise

    seeds: dict[str, None] = {}
    bad: list[str] = []
    for word in words:
        if word == "-":
            continue
        url = normalise(word)
        if isinstance(url, CrawlUrl):
            seeds[url.href] = None
        else:
            bad.append(f"{word} {url.reason}")
    if bad:
        raise UsageProblem(*bad)
    told = 0
    for place, line in _listed(words, file):
        url = normalise(line)
        if isinstance(url, CrawlUrl):
            seeds[url.href] = None
            continue
        told += 1
        if told <= _TOLD:
            printer.note(f"{place}: {line[:200]} {url.reason}")
    if told:
        printer.note(f"{told} of the listed lines cannot be crawled and were left out")
    if not seeds:
        raise UsageProblem("no seed is named", hint="tui-crawler add URL…, or - to read them from stdin")
    return tuple(seeds)


def _listed(words: Sequence[str], file: str | None) -> Iterator[tuple[str, str]]:
    if "-" in words:
        lines = (line.decode("utf-8-sig", "replace") for line in sys.stdin.buffer)
        yield from _numbered("stdin", lines)
    if file is not None:
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
