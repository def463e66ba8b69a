"""`pause`, `resume`, `stop`, `top-up`, `refetch`, `delay`, `add`, `retry`: what an operator asks for, live or not."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.actions import Tell, carry_out_all
from tui_crawler.cli.database_choice import existing_database, reports_of
from tui_crawler.cli.known_names import check_pattern, crawl_urls, exit_code_name, known_jobs, known_origins
from tui_crawler.cli.options import CommandSet, add_common, duration, moment, words
from tui_crawler.cli.printer import Printer, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.console.format import plural

if TYPE_CHECKING:
    from tui_crawler.domain.command import Command

_BESIDE = frozenset({"let_go", "in_force"})
"""What stands in an outcome beside the names of origins."""
BULK = 10_000
"""So many seeds are handed over in one action."""
_BAD_LINES_TOLD = 20


_ORDERS = (
    (
        "pause",
        "make no further request to these origins",
        "Makes no further request to these origins after the one under way. The pause is kept in the database "
        "until resume takes it off.",
    ),
    ("resume", "take the pause off these origins", ""),
    (
        "stop",
        "finish these origins for this run",
        "Finishes these origins for this run; their pages are kept and the next run starts them again.",
    ),
    (
        "top-up",
        "put the patience of these origins back to full",
        "Puts the patience of these origins back to full; one that had given up goes on.",
    ),
    (
        "refetch",
        "fetch robots.txt of these origins again at once",
        "Makes robots.txt of these origins due at once. The delay is kept, and the rules in force hold until then.",
    ),
)


def declare(commands: CommandSet) -> None:
    """Declares the commands."""
    for word, summary, description in _ORDERS:
        parser = commands.add(word, summary, partial(_steer, word), description)
        parser.add_argument("origins", metavar="ORIGIN", nargs="*", help="scheme and host, or the host alone")
        parser.add_argument("--all", action="store_true", help="every origin")
        add_common(parser)
    delay = commands.add(
        "delay",
        "ask an origin less often than it has to allow",
        _delay,
        "Sets a delay of your own for an origin. It only ever slows down: robots.txt, configuration and floor hold.",
    )
    delay.add_argument("origin", metavar="ORIGIN", help="scheme and host, or the host alone")
    delay.add_argument("wait", metavar="DURATION", type=duration, help="5s, '1 minute'; 0s takes it off")
    add_common(delay)
    add = commands.add("add", "add seeds, also while a run is live", _add, "Adds seeds, also while a run is live.")
    add.add_argument("urls", metavar="URL", nargs="*", help="a seed, or a file of seeds, one a line; - reads stdin")
    add.add_argument("--file", metavar="FILE", help="read many from a file, one a line; # begins a comment")
    add.add_argument("--job", metavar="JOB", default="", help="the job they belong to")
    add.add_argument("--pattern", metavar="REGEX", default="", help="of their links only those that match are queued")
    add.add_argument(
        "--not-before", type=moment, metavar="TIME", default=0, help="request them no sooner (a date, or epoch ms)"
    )
    add.add_argument("--force", action="store_true", help="crawl them even if they are not due")
    add_common(add)
    retry = commands.add(
        "retry",
        "put failed pages back",
        _retry,
        "Gives failed pages their tries back; in a live run they come next of all that their origin has to ask for. It "
        "gives no patience: an origin that gave up goes on with the next run. URLs, exit codes and origins narrow each "
        "other.",
    )
    retry.add_argument("urls", metavar="URL", nargs="*", help="a failed page")
    retry.add_argument(
        "--exit-code", type=words, action="extend", metavar="CODES", default=[], help="pages that ended so"
    )
    retry.add_argument("--origin", action="append", metavar="ORIGIN", default=[], help="pages of this origin")
    add_common(retry)


def _delay(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.config.units import show_duration
    from tui_crawler.domain.command import SetDelay

    database = existing_database(arguments)
    (origin,) = _origins(database, (arguments.origin,))
    done = f"your delay is set to {show_duration(arguments.wait)}:" if arguments.wait else "your delay is taken off:"
    command = SetDelay(origin, arguments.wait)
    return carry_out_all(database, (command,), _telling(done), printer, as_json=arguments.json)


def _steer(word: str, arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain import command

    made: dict[str, tuple[Callable[[tuple[str, ...]], Command], str]] = {
        "pause": (command.PauseOrigins, "paused"),
        "resume": (command.ResumeOrigins, "resumed"),
        "stop": (command.StopOrigins, "stopped"),
        "top-up": (command.TopUpPatience, "patience is full again:"),
        "refetch": (command.RefetchRobots, "robots.txt is due at once:"),
    }
    order, done = made[word]
    if bool(arguments.origins) == arguments.all:
        raise UsageProblem("name the origins, or --all", hint="tui-crawler status lists them")
    database = existing_database(arguments)
    origins = _origins(database, tuple(arguments.origins))
    return carry_out_all(database, (order(origins),), _telling(done), printer, as_json=arguments.json)


def _add(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.command import AddSeeds

    if arguments.pattern:
        check_pattern("--pattern", arguments.pattern)
    database = existing_database(arguments)
    if arguments.job:
        with reports_of(database) as reports:
            known_jobs((arguments.job,), reports)

    @cache
    def known() -> frozenset[str]:
        with reports_of(database) as reports:
            return frozenset(one.origin for one in reports.origins_changed(0).rows)

    urls = _read_seeds(arguments.urls, arguments.file, known, printer)
    commands = [
        AddSeeds(urls[start : start + BULK], arguments.job, arguments.pattern, arguments.force, arguments.not_before)
        for start in range(0, len(urls), BULK)
    ]
    return carry_out_all(database, commands, _telling("added"), printer, as_json=arguments.json)


def _read_seeds(
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
            if told <= _BAD_LINES_TOLD:
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


def _retry(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.command import RetryPages

    if not (arguments.urls or arguments.exit_code or arguments.origin):
        raise UsageProblem("name what to retry: URLs, --exit-code or --origin", hint="tui-crawler failures lists it")
    urls = crawl_urls(arguments.urls)
    codes = tuple(dict.fromkeys(exit_code_name(name) for name in arguments.exit_code))
    database = existing_database(arguments)
    command = RetryPages(urls, codes, _origins(database, tuple(arguments.origin)))
    return carry_out_all(database, (command,), _telling_retry(database), printer, as_json=arguments.json)


def _origins(database: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        return ()
    with reports_of(database) as reports:
        return known_origins(names, reports)


def _telling_retry(database: Path) -> Tell:
    """How the outcome of a retry is told: also where nothing is requested, as their origins gave up in the live run."""
    put_back = _telling("put back")

    def tell(before: object, after: object) -> Iterable[str]:
        from tui_crawler.console.uptake import gave_up, gave_up_words

        yield from put_back(before, after)
        names = after.get("retried") if isinstance(after, dict) else None
        if not names:
            return
        with reports_of(database) as reports:
            run = reports.run()
            views = [reports.origin(str(name)) for name in names] if run is not None and run.live else []
        weary = [view.origin for view in views if view is not None and gave_up(view)]
        if weary:
            yield f"{safe(gave_up_words(weary))} tui-crawler top-up {safe(weary[0]) if len(weary) == 1 else 'ORIGIN'}"

    return tell


def _telling(done: str) -> Tell:
    """How the outcome of a command is told; `done` is the word for what was done."""

    def tell(_before: object, after: object) -> Iterable[str]:
        match after:
            case {"retried": dict(counts)}:
                total = sum(number for number in counts.values() if isinstance(number, int))
                if not total:
                    return ["no failed page matches"]
                return [f"{plural(total, 'page')} {done}", *(f"  {n} {safe(str(o))}" for o, n in counts.items())]
            case {"added": int(added), "known": int(known), **rest}:
                lines = [f"{plural(added, 'page')} {done}" + (f", {known} known already" if known else "")]
                refused = rest.get("refused")
                if isinstance(refused, list):
                    lines += [f"  refused: {safe(str(text))}" for text in refused]
                return lines
            case dict() if after:
                return [f"{done} {safe(str(name))}" for name in after if name not in _BESIDE]
            case _:
                return ["nothing to change"]

    return tell
