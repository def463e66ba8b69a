"""`site-audit`: one's own site crawled, checked and reported in one command."""

import argparse
from collections.abc import Mapping

from tui_crawler.cli.known_names import reports_of
from tui_crawler.cli.options import EVENTS, CommandSet
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.report_command import ENDINGS, FORMATS, audit_of, write_report
from tui_crawler.cli.run_command import add_fail_on
from tui_crawler.cli.seed_crawl import ENDING, add_seed_run, run_seeds, site_of

SETTINGS: Mapping[str, object] = {
    "crawl.check_fragments": True,
    "crawl.check_external": True,
    "crawl.check_embedded": True,
    "crawl.canonical": "same_origin",
    "crawl.recheck": True,
    **ENDING,
}
"""What an audit is, by dotted key of the configuration. A later audit looks at every page again."""
OF_OWN_SITES: Mapping[str, object] = {"crawl.obey_robots": False, "crawl.obey_nofollow": False}
"""What `--own` adds: a site that is not public yet denies robots, and its pages say noindex."""
_DESCRIPTION = """\
Crawls a site of your own without the console and checks its links, their fragments, links to other sites, images,
styles, scripts and media; then writes the report into a file named after the site, in place of an older one. A second
call checks everything again. Ends with status 1 when the report has a fault or a seed gave no content.
"""


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "site-audit",
        "crawl and check a site of your own, and write the report",
        execute,
        _DESCRIPTION,
        examples=("site-audit https://example.org/ --own", "site-audit https://example.org/ --format junit"),
        json=EVENTS,
    )
    add_seed_run(parser)
    parser.add_argument("--format", choices=FORMATS, default="html", help="html (default), md, junit, json")
    parser.add_argument("--output", metavar="FILE", help="write the report here (default: example.org-audit.html)")
    add_fail_on(parser, " (default: any fault in the report)")
    parser.set_defaults(force=True)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    output = f"{site_of(arguments)}-audit.{ENDINGS[arguments.format]}"
    settings = {**SETTINGS, **(OF_OWN_SITES if arguments.own else {})}
    status, database, path = run_seeds(arguments, printer, "audit", output, settings)
    if path is None:
        return status
    with reports_of(database) as reports:
        audit = audit_of(reports)
    if audit is None:
        return status
    write_report(audit, path, arguments, printer)
    if arguments.fail_on:
        return status

    from tui_crawler.domain.history.site_audit import FindingSeverity

    # failed pages that nothing names are no fault, but seeds without content are
    sections = (one for one in audit.sections if one.key != "failed_unnamed" and one.total)
    found = {one.key: one.total for one in sections if one.severity is FindingSeverity.fault}
    if audit.coverage and audit.coverage.seeds_lost:
        found["seeds"] = audit.coverage.seeds_lost
    if found:
        printer.error(f"faults: {', '.join(f'{count} {name}' for name, count in found.items())}")
    return status or int(bool(found))
