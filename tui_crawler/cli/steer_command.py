"""`pause`, `resume`, `stop`, `top-up`, `refetch`, `delay`, `add`, `retry`: what an operator asks for, live or not."""

import argparse
from collections.abc import Iterable
from functools import cache, partial

from tui_crawler.cli import known_names
from tui_crawler.cli.actions import carry_out_all
from tui_crawler.cli.options import CommandSet, duration, moment, words
from tui_crawler.cli.printer import Printer, Progress, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.records.command import OF_ORIGINS, AddSeeds, Order, RetryPages, SetDelay
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.text.format import plural

_BESIDE = frozenset({"let_go", "in_force"})
"""What stands in an outcome beside the names of origins."""
BULK = 20_000
"""So many seeds are read and handed over in one action; those of a longer list are stored before it goes on."""
_REFUSED_TOLD = 20


def declare(commands: CommandSet) -> None:
    for order in OF_ORIGINS:
        steer = partial(_steer, order)
        parser = commands.add(order.word, order.summary, steer, order.description, order.examples)
        parser.add_argument("origins", metavar="ORIGIN", nargs="*", help="scheme and host, or the host alone")
        parser.add_argument("--all", action="store_true", help="every origin")
    delay = commands.add(
        "delay",
        "ask an origin less often than it has to allow",
        _delay,
        "Sets a delay of your own for an origin. It only ever slows down: robots.txt, configuration and floor hold.",
        examples=("delay example.org 10s", "delay example.org 0s"),
    )
    delay.add_argument("origin", metavar="ORIGIN", help="scheme and host, or the host alone")
    delay.add_argument("wait", metavar="DURATION", type=duration, help="5s, '1 minute'; 0s removes it")
    add = commands.add(
        "add",
        "add seeds, also while a run is live",
        _add,
        "Adds seeds, also while a run is live.",
        examples=("add https://example.org/new/", "sort -u urls.txt | tui-crawler add -"),
    )
    add.add_argument("urls", metavar="URL", nargs="*", help="a seed, or a file of seeds, one a line; - reads stdin")
    add.add_argument("--file", metavar="FILE", help="read many from a file, one a line; # begins a comment")
    add.add_argument("--job", metavar="JOB", default="", help="the job they belong to")
    add.add_argument("--pattern", metavar="REGEX", default="", help="of their links only those that match are queued")
    add.add_argument(
        "--not-before", type=moment, metavar="TIME", default=0, help="request them no sooner (a date, or epoch ms)"
    )
    add.add_argument("--force", action="store_true", help="crawl them even if they are not due")
    retry = commands.add(
        "retry",
        "put failed pages back",
        _retry,
        "Requeues failed pages with all their tries; in a live run they come next of all pages of their origin. "
        "URLs also name refused and dropped pages, exit codes all pages that ended so. It gives no patience: an "
        "origin stopped by errors resumes in the next run. URLs, exit codes and origins narrow each other.",
        examples=("retry --exit-code request_timeout,connection_failed", "retry --origin example.org"),
    )
    retry.add_argument("urls", metavar="URL", nargs="*", help="a page")
    retry.add_argument(
        "--exit-code", type=words, action="extend", metavar="CODES", default=[], help="pages that ended so"
    )
    retry.add_argument("--origin", action="append", metavar="ORIGIN", default=[], help="pages of this origin")


def _delay(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.config.units import WEEK, show_duration

    if arguments.wait > WEEK:
        raise UsageProblem(f"a delay is at most {show_duration(WEEK)}", hint="tui-crawler pause ORIGIN has no end")
    done = f"your delay is set to {show_duration(arguments.wait)}:" if arguments.wait else "your delay is removed:"
    command = SetDelay(arguments.origin, arguments.wait)
    return carry_out_all(arguments, (command,), partial(_outcome, done), printer)


def _steer(order: Order, arguments: argparse.Namespace, printer: Printer) -> int:
    if bool(arguments.origins) == arguments.all:
        raise UsageProblem("name the origins, or --all", hint="tui-crawler status lists them")
    command = order.make(tuple(arguments.origins))
    return carry_out_all(arguments, (command,), partial(_outcome, order.done), printer)


def _add(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.cli.seed_list import SeedList

    if arguments.pattern:
        known_names.check_pattern("--pattern", arguments.pattern)
    database = known_names.existing_database(arguments)

    @cache
    def known() -> frozenset[str]:
        with known_names.reports_of(database) as reports:
            return frozenset(one.origin for one in reports.origins_changed(0))

    added, wishes = _Added(arguments, printer), (arguments.job, arguments.pattern)
    seeds = SeedList(known, printer).read(arguments.urls, arguments.file, BULK)
    commands = (AddSeeds(urls, *wishes, arguments.force, arguments.not_before) for urls in seeds)
    try:
        return carry_out_all(arguments, commands, added.take, printer)
    finally:
        added.tell()


class _Added:
    """What the actions of one command have added, shown at its end, however that comes; progress until then."""

    def __init__(self, arguments: argparse.Namespace, printer: Printer) -> None:
        self._progress, self._printer = Progress("URLs stored"), printer
        self._shows = not (arguments.quiet or arguments.json)
        self._added = self._known = 0
        self._refused: list[object] | None = None

    def take(self, _before: object, after: object) -> Iterable[str]:
        match after:
            case {"added": int(added), "known": int(known), **rest}:
                refused = rest.get("refused")
                self._refused = [*(self._refused or ()), *(refused if isinstance(refused, list) else ())]
                self._added, self._known = self._added + added, self._known + known
                if self._shows:
                    self._progress(self._added + self._known)
        return ()

    def tell(self) -> None:
        self._progress.clear()
        if self._refused is not None:
            sums = {"added": self._added, "known": self._known, "refused": self._refused[:_REFUSED_TOLD]}
            self._printer.lines(_outcome("added", None, sums))


def _retry(arguments: argparse.Namespace, printer: Printer) -> int:
    if not (arguments.urls or arguments.exit_code or arguments.origin):
        raise UsageProblem("name what to retry: URLs, --exit-code or --origin", hint="tui-crawler failures lists it")
    urls = known_names.crawl_urls(arguments.urls)
    codes = tuple(dict.fromkeys(known_names.exit_code_name(name) for name in arguments.exit_code))
    database = known_names.existing_database(arguments)
    command = RetryPages(urls, codes, tuple(arguments.origin))
    return carry_out_all(arguments, (command,), partial(_retried, database), printer)


def _retried(database: DatabasePlace, before: object, after: object) -> Iterable[str]:
    """The outcome of a retry; says where nothing is requested, as the origins gave up in the live run."""
    from tui_crawler.console.operator.retry_start import gave_up_words

    yield from _outcome("requeued", before, after)
    names = after.get("retried") if isinstance(after, dict) else None
    if not names:
        return
    with known_names.reports_of(database) as reports:
        run = reports.run()
        views = [reports.origin(str(name)) for name in names] if run is not None and run.live else []
    weary = [view.origin for view in views if view is not None and view.gave_up]
    if weary:
        yield f"{safe(gave_up_words(weary))} tui-crawler top-up {safe(weary[0]) if len(weary) == 1 else 'ORIGIN'}"


def _outcome(done: str, _before: object, after: object) -> Iterable[str]:
    match after:
        case {"retried": dict(counts)}:
            total = sum(number for number in counts.values() if isinstance(number, int))
            if total:
                yield f"{plural(total, 'page')} {done}"
                yield from (f"  {number} {safe(str(origin))}" for origin, number in counts.items())
            else:
                yield "no page matches"
        case {"added": int(added), "known": int(known), **rest}:
            yield f"{plural(added, 'page')} {done}" + (f", {known} already known" if known else "")
            if isinstance(refused := rest.get("refused"), list):
                yield from (f"  refused: {safe(str(text))}" for text in refused)
        case dict() if after:
            yield from (f"{done} {safe(str(name))}" for name in after if name not in _BESIDE)
        case _:
            yield "nothing to change"
