"""`jobs`: the groups of pages of a crawl (B), listed, changed, paused and aborted."""

import argparse
from collections.abc import Iterator
from functools import partial

from tui_crawler.cli.actions import carry_out_all
from tui_crawler.cli.known_names import existing_database, one_line, reports_of
from tui_crawler.cli.options import CommandSet, natural
from tui_crawler.cli.printer import Printer, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.records.command import OF_JOBS, Order, SetJob

NO_LIMIT = -1
LARGEST = 1_000_000  # of niceness and concurrency, as in a configuration
LONGEST_TAG = 200
LONGEST_NOTE = 2_000


def declare(commands: CommandSet) -> None:
    group = commands.group(
        "jobs",
        "list jobs, change them, pause or abort them",
        execute,
        "Lists the jobs, the groups of pages with their own seeds, depth and niceness.",
        examples=("jobs",),
    )
    change = group.add(
        "set",
        "change a job",
        _set,
        "Changes what is named and leaves the rest. The pages of the job follow at once, also while a run is live.",
        examples=("jobs set news --nice -5 --concurrency 2",),
    )
    change.add_argument("job", metavar="JOB", help="its name")
    change.add_argument("--nice", type=_niceness, metavar="N", help="lower is sooner; its pages move along")
    change.add_argument("--depth", type=_limit, metavar="N", help="links away from a seed, or none")
    flight = "pages in flight over all workers, or none; 0 pauses"
    change.add_argument("--concurrency", type=_limit, metavar="N", help=flight)
    change.add_argument("--tag", metavar="TEXT", help="only workers with this tag take it; '' takes the tag off")
    change.add_argument("--note", metavar="TEXT", help="for the reader")
    for order in OF_JOBS:
        parser = group.add(order.word, order.summary, partial(_steer, order), examples=order.examples)
        parser.add_argument("jobs", metavar="JOB", nargs="+", help="their names")


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.text.relations.jobs import JOBS

    with reports_of(existing_database(arguments)) as reports:
        jobs = reports.jobs()
    return printer.relation("jobs", JOBS, jobs, as_json=arguments.json, nothing="there is no job yet")


def _set(arguments: argparse.Namespace, printer: Printer) -> int:
    tag = None if arguments.tag is None else one_line("--tag", arguments.tag, LONGEST_TAG)
    note = None if arguments.note is None else one_line("--note", arguments.note, LONGEST_NOTE)
    values = (arguments.nice, arguments.depth, arguments.concurrency, tag, note)
    if all(value is None for value in values):
        raise UsageProblem("name what is to change: --nice, --depth, --concurrency, --tag or --note")
    return carry_out_all(arguments, (SetJob(arguments.job, *values),), _changes, printer)


def _steer(order: Order, arguments: argparse.Namespace, printer: Printer) -> int:
    jobs: tuple[str, ...] = arguments.jobs

    def tell(_: object, after: object) -> Iterator[str]:
        changed = _by_job(after)
        for job in jobs:
            yield f"{order.done}: {safe(job)}" if job in changed else f"nothing to change: {safe(job)}"

    return carry_out_all(arguments, (order.make(jobs),), tell, printer)


def _changes(before: object, after: object) -> Iterator[str]:
    former, changed = _by_job(before), _by_job(after)
    if not changed:
        yield "nothing to change"
    for job, values in changed.items():
        said = (f"{key} {_word(key, former.get(job, {}).get(key))} -> {_word(key, values[key])}" for key in values)
        yield f"{safe(job)}: {', '.join(said)}"


def _by_job(value: object) -> dict[str, dict[str, object]]:
    jobs = value.get("job") if isinstance(value, dict) else None
    return jobs if isinstance(jobs, dict) else {}


def _word(key: str, value: object) -> str:
    if key == "concurrency" and value == 0:
        return "0 (paused)"
    return "none" if value in (None, "") else safe(str(value))


def _niceness(text: str) -> int:
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) <= 7 and int(digits) <= LARGEST:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from -{LARGEST} to {LARGEST}")


def _limit(text: str) -> int:
    number = NO_LIMIT if text.strip().lower() == "none" else natural(text)
    if number > LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r}: at most {LARGEST}, or none for no limit")
    return number
