"""The seeds that `add` is given: URLs, files of them, stdin. Loaded with the first of them."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.url import CrawlUrl, Href, InvalidUrl, has_scheme, read_seed, scheme_words
from tui_crawler.wiring.public_suffix import registrable

_BAD_LINES_TOLD = 20


@dataclass(slots=True)
class SeedList:
    """The normalised seeds that are named. Without a scheme they are read as the console reads them, by the origins
    that are `known`."""

    _known: Callable[[], Set[str]]
    _printer: Printer
    _urls: dict[str, CrawlUrl] = field(default_factory=dict)
    _schemes: set[str] = field(default_factory=set)  # that were taken where none was written

    def read(self, words: Sequence[str], file: str | None, size: int) -> Iterator[tuple[str, ...]]:
        """Seeds in their order, `size` at a time, each of these once; a word that is a file stands for its lines. A bad
        one in a list (`-`, a file) is shown and left out. Raises UsageProblem, before any seed is given, for a bad URL
        among the arguments and a file that cannot be read; for lists without a single good one, too."""
        files = [word for word in words if _is_file(word)]
        self._take_words([word for word in words if word != "-" and word not in files])
        files = files if file is None else [*files, file]
        for name in files:
            _opened(name).close()
        given, told = False, 0
        for place, line in _listed("-" in words, files):
            if len(self._urls) >= size:
                yield from self._chunks(size)
                given = True
            if isinstance(bad := self._take(line), InvalidUrl):
                told += 1
                if told <= _BAD_LINES_TOLD:
                    self._printer.note(f"{place}: {bad.raw[:200]} {bad.reason}")
        if told:
            self._printer.note(f"{told} of the listed lines cannot be crawled and were left out")
        if taken := scheme_words(self._schemes):
            self._printer.note(taken)
        if not (self._urls or given):
            raise UsageProblem("no seed is named", hint="tui-crawler add URL…, a file, or - to read them from stdin")
        yield from self._chunks(size)

    def _take_words(self, words: Sequence[str]) -> None:
        """Those among the arguments. A word without path and port is no seed unless it is a host under a public suffix:
        it may be a mistyped file."""
        bad: list[str] = []
        for word in words:
            url = self._take(word)
            if isinstance(url, InvalidUrl):
                bad.append(f"{url.raw} {url.reason}")
            elif "/" not in word and ":" not in word and registrable(url.host, unknown=False) is None:
                bad.append(f"there is no file {word}; did you mean {url.href}?")
        if bad:
            raise UsageProblem(*bad)

    def _take(self, raw: str) -> CrawlUrl | InvalidUrl:
        written = has_scheme(raw)
        url = read_seed(raw, frozenset() if written else self._known())
        if isinstance(url, CrawlUrl):
            self._urls[url.href] = url
            if not written:
                self._schemes.add(url.scheme)
        return url

    def _chunks(self, size: int) -> Iterator[tuple[str, ...]]:
        urls = tuple(map(Href, self._urls.values()))
        self._urls.clear()
        yield from (urls[start : start + size] for start in range(0, len(urls), size))


def _is_file(word: str) -> bool:
    try:
        return "://" not in word and Path(word).is_file()
    except (OSError, ValueError):  # a name no file can have
        return False


def _listed(stdin: bool, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    if stdin:
        yield from _numbered("stdin", (line.decode("utf-8-sig", "replace") for line in sys.stdin.buffer))
    for file in files:
        with _opened(file) as text:
            yield from _numbered(file, text)


def _opened(file: str) -> TextIO:
    try:
        return Path(file).open(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageProblem(f"{file} cannot be read: {error.strerror}") from error


def _numbered(name: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield f"{name}:{number}", text
