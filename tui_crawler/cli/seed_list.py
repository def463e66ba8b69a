"""Seeds from arguments, from stdin and from files, checked before anything is handed over."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from pathlib import Path

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem

_TOLD = 20


def read_seeds(
    words: Sequence[str], file: str | None, known: Callable[[], Set[str]], printer: Printer
) -> tuple[str, ...]:
    """The normalised seeds, each once, in their order; a word that is a file stands for the lines in it. Without a
    scheme they are read as the console reads them, by the origins that are `known`; but a word that has neither a path
    nor a port may be a mistyped file, and is none.

    A bad URL among the arguments is a UsageProblem. In a list (`-`, a file) it is told with its line and left
    out; a list without a single good one is a UsageProblem, too.
    """
    from tui_crawler.console.present.seeds import Seeds, read_seed, scheme_words
    from tui_crawler.domain.url import CrawlUrl, InvalidUrl

    seeds: dict[str, str] = {}  # and the scheme that was taken, empty where one was written
    bad: list[str] = []

    def take(raw: str) -> CrawlUrl | InvalidUrl:
        written = "://" in raw
        url = read_seed(raw, frozenset() if written else known())
        if isinstance(url, CrawlUrl):
            seeds.setdefault(url.href, "" if written else url.scheme)
        return url

    files = [word for word in words if _is_file(word)]
    for word in words:
        if word == "-" or word in files:
            continue
        url = take(word)
        if isinstance(url, InvalidUrl):
            bad.append(f"{url.raw} {url.reason}")
        elif "/" not in word and ":" not in word:
            bad.append(f"there is no file {word}; did you mean {url.href}?")
    if bad:
        raise UsageProblem(*bad)
    told = 0
    for place, line in _listed("-" in words, files if file is None else [*files, file]):
        url = take(line)
        if isinstance(url, InvalidUrl):
            told += 1
            if told <= _TOLD:
                printer.note(f"{place}: {url.raw[:200]} {url.reason}")
    if told:
        printer.note(f"{told} of the listed lines cannot be crawled and were left out")
    if taken := scheme_words(Seeds(schemes=tuple(dict.fromkeys(filter(None, seeds.values()))))):
        printer.note(taken)
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
