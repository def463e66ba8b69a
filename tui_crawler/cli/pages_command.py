"""`pages`: pages out of the queue and back (B): stashes, dripfeed, limbo; and a look at a URL without crawling it."""

import argparse
from collections.abc import Iterator
from typing import Any

from tui_crawler.cli.actions import carry_out, carry_out_all, value_of
from tui_crawler.cli.known_names import check_pattern, crawl_urls, existing_database, one_line, reports_of
from tui_crawler.cli.options import CommandSet, duration, natural, positive
from tui_crawler.cli.printer import Printer, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.records.command import Command, ProbeUrls, ReclaimPages, SetDripfeed, StashPages, UnstashPages
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.text.format import count, plural, seconds

LONGEST_NAME = 200  # characters
LONGEST_REASON = 1_000
PROBE_WAIT_MS = 60_000


def declare(commands: CommandSet) -> None:
    group = commands.group("pages", "stash pages and drip them back, release pages from limbo, probe a URL")
    _declare_stashing(group)
    reclaim = group.add(
        "reclaim",
        "take pages back that were claimed for too long",
        _reclaim,
        "Pages in limbo go back into the queue: those named, or all that were claimed for longer than --older. What "
        "is in flight now is left alone.",
        examples=("pages reclaim --older '2 hours' --reason 'the worker died'",),
    )
    reclaim.add_argument("urls", metavar="URL", nargs="*", help="a page")
    reclaim.add_argument("--older", type=duration, metavar="DURATION", help="30m, '1 day' (default: storage.limbo)")
    reclaim.add_argument("--reason", metavar="TEXT", required=True, help="why; kept with the action")
    probe = group.add(
        "probe",
        "look at URLs with a HEAD request; no page is changed",
        _probe,
        "Sends a HEAD request for each URL, as politely as any other (robots.txt, delay, exclusions), and prints "
        "the response. It is logged as an attempt of kind check; no page is changed.",
        examples=("pages probe https://example.org/large.iso",),
    )
    probe.add_argument("urls", metavar="URL", nargs="+", help="what to look at; its origin has to be crawled here")
    wait = "how long to wait for the results of a live run (default: 1m)"
    probe.add_argument("--wait", type=duration, metavar="DURATION", default=PROBE_WAIT_MS, help=wait)
    limbo = group.add(
        "limbo",
        "list pages that were claimed for too long",
        _limbo,
        "Lists the pages that a worker has claimed and not settled, the oldest first; reclaim takes them back.",
        examples=("pages limbo --older '1 hour'",),
    )
    limbo.add_argument("--older", type=duration, metavar="DURATION", help="30m, '1 day' (default: storage.limbo)")
    group.add("stashes", "list the stashes", _stashes, examples=("pages stashes",))


def _declare_stashing(group: CommandSet) -> None:
    stash = group.add(
        "stash",
        "put pages aside, out of all crawling",
        _stash,
        "Puts READY pages into a stash. URLs, origins and the pattern narrow each other; without any of them every "
        "READY page of the job is put aside.",
        examples=("pages stash later --pattern /archive/",),
    )
    stash.add_argument("name", metavar="STASH", help="the name of the stash")
    stash.add_argument("urls", metavar="URL", nargs="*", help="a page")
    stash.add_argument("--origin", action="append", metavar="ORIGIN", default=[], help="pages of this origin")
    stash.add_argument("--pattern", metavar="REGEX", default="", help="pages whose URL it is found in")
    unstash = group.add(
        "unstash", "put pages of a stash back, oldest first", _unstash, examples=("pages unstash later --limit 100",)
    )
    unstash.add_argument("name", metavar="STASH", help="the name of the stash")
    unstash.add_argument("--limit", type=positive, metavar="N", default=0, help="at most N of them (default: all)")
    dripfeed = group.add(
        "dripfeed",
        "keep N pages of a stash in the queue",
        _dripfeed,
        "Keeps at most N pages of a stash READY, oldest first: one that was crawled is followed by the next.",
        examples=("pages dripfeed later 20",),
    )
    dripfeed.add_argument("name", metavar="STASH", help="the name of the stash")
    dripfeed.add_argument("ready", type=natural, metavar="N", help="how many; 0 ends it")
    for parser in (stash, unstash, dripfeed):
        parser.add_argument("--job", metavar="JOB", default="", help="the job (default: that of the crawl)")


def _stash(arguments: argparse.Namespace, printer: Printer) -> int:
    name, urls = _name(arguments.name), crawl_urls(arguments.urls)
    if arguments.pattern:
        check_pattern("--pattern", arguments.pattern)
    command = StashPages(name, urls, tuple(arguments.origin), arguments.pattern, arguments.job)
    return _move(command, "stashed", "no READY page matches", arguments, printer)


def _unstash(arguments: argparse.Namespace, printer: Printer) -> int:
    command = UnstashPages(_name(arguments.name), arguments.limit, arguments.job)
    return _move(command, "requeued", "the stash is empty", arguments, printer)


def _dripfeed(arguments: argparse.Namespace, printer: Printer) -> int:
    command = SetDripfeed(_name(arguments.name), arguments.ready, arguments.job)
    nothing = "no page requeued now" if arguments.ready else "the dripfeed has ended"
    return _move(command, "requeued", nothing, arguments, printer)


def _reclaim(arguments: argparse.Namespace, printer: Printer) -> int:
    hint = "say why the pages are taken back; it is kept with the action"
    reason, urls = _said("--reason", arguments.reason, LONGEST_REASON, hint), crawl_urls(arguments.urls)
    if urls and arguments.older is not None:
        raise UsageProblem("name URLs, or how long pages were claimed with --older, not both")
    older = 0 if urls else _older_ms(existing_database(arguments), arguments, printer)
    command = ReclaimPages(reason, urls, older)
    return _move(command, "reclaimed", "no page is in limbo", arguments, printer)


def _probe(arguments: argparse.Namespace, printer: Printer) -> int:
    urls = crawl_urls(arguments.urls)
    database = existing_database(arguments)
    after = value_of(carry_out(database, ProbeUrls(urls), arguments.wait / 1_000).after)
    answers = after.get("probed", []) if isinstance(after, dict) else []
    return printer.answer(arguments.json, {"probes": iter(answers)}, map(_answer_line, answers))


def _limbo(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.text.relations.limbo import LIMBO

    database = existing_database(arguments)
    older = _older_ms(database, arguments, printer)
    with reports_of(database) as reports:
        pages = reports.limbo(older)
    return printer.relation("pages", LIMBO, pages, as_json=arguments.json, nothing="no page is in limbo")


def _stashes(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.text.relations.stashes import STASHES

    with reports_of(existing_database(arguments)) as reports:
        stashes = reports.stashes()
    return printer.relation("stashes", STASHES, stashes, as_json=arguments.json, nothing="there is no stash")


def _move(command: Command, done: str, nothing: str, arguments: argparse.Namespace, printer: Printer) -> int:
    def tell(_: object, after: object) -> Iterator[str]:
        pages = after.get("pages") if isinstance(after, dict) else None
        yield f"{plural(sum(pages.values()), 'page')} {done}" if pages else nothing
        yield from (f"  {count(number)} {safe(str(origin))}" for origin, number in (pages or {}).items())

    return carry_out_all(arguments, (command,), tell, printer)


def _answer_line(answer: dict[str, Any]) -> str:
    status, took = answer["http_status"], answer["response_ms"]
    code, url = safe(str(answer["exit_code"])) or "not requested", safe(str(answer["url"]), 2_048)
    message = f"  ({safe(str(answer['message']), 200)})" if answer["message"] else ""
    return f"{code:<24} {'-' if status is None else status:>3} {seconds(took):>6}  {url}{message}"


def _name(text: str) -> str:
    return _said("the name of the stash", text, LONGEST_NAME)


def _said(what: str, text: str, longest: int, hint: str = "") -> str:
    said = one_line(what, text, longest)
    if not said:
        raise UsageProblem(f"{what} is empty", hint=hint)
    return said


def _older_ms(database: DatabasePlace, arguments: argparse.Namespace, printer: Printer) -> int:
    """`--older`, else what the configuration of the newest run calls limbo, else the default of that."""
    from tui_crawler.config.schema import Config
    from tui_crawler.wiring.origin_settings import kept_config

    if arguments.older is not None:
        return int(arguments.older)
    if (kept := kept_config(database)) is None:
        printer.note(f"{database} keeps no configuration: storage.limbo is its default")
    return (kept or Config(())).storage.limbo_ms
