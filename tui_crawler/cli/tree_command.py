"""`tree`: the site as a tree of path prefixes, with what stands below each."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, reports_of
from tui_crawler.cli.options import CommandSet, positive
from tui_crawler.cli.printer import Printer, Progress, columns, picked, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.text.format import count, phase, rate, size

if TYPE_CHECKING:
    from tui_crawler.domain.history.site_tree import BranchCounts
    from tui_crawler.storage.reports.reports import Reports

SHOWN = 50
"""So many branches of each a person is shown, the largest first, unless --limit says otherwise."""

_COUNTS = "known done failed blocked refused bytes mean_ms growth"
_HEADER = ("PREFIX", "KNOWN", "DONE", "FAILED", "BLOCKED", "REFUSED", "SIZE", "MEAN", "+/MIN", "")
_NAME_LENGTH = 80


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "tree",
        "show a site as a tree of paths, with counts",
        execute,
        "Shows the URLs of an origin by the folders of their paths: how many are known, done, failed and blocked,"
        " how many links to them were refused, the size of their documents, how long responses took, new pages a "
        "minute, and which branch looks like a trap. The largest branches come first.",
        examples=("tree https://example.org", "tree example.org /products/ --depth 2"),
    )
    parser.add_argument("origin", metavar="ORIGIN", help="an origin, or its host")
    parser.add_argument("prefix", nargs="?", default="/", metavar="PREFIX", help="a folder (/a/), or a path with ?")
    parser.add_argument("--depth", type=positive, default=1, metavar="N", help="N levels (default: 1)")
    limit = f"at most N branches of each (else {SHOWN}; with --json all)"
    parser.add_argument("--limit", type=positive, metavar="N", help=limit)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    with reports_of(existing_database(arguments)) as reports:
        prefix = _prefix(arguments.origin, arguments.prefix)
        limit = arguments.limit or (None if arguments.json else SHOWN)
        progress = Progress("URLs counted")
        root = _grown(reports, prefix, arguments.depth, limit, progress)
        progress.clear()
    if root is None:
        hint = f"tui-crawler tree {arguments.origin} shows those there are"
        raise UsageProblem(f"no known URL begins with {prefix}", hint=hint)
    lines = columns(_HEADER, [*_rows(root, 0)], frozenset(range(1, len(_HEADER) - 1)))
    return printer.answer(arguments.json, {"origin": arguments.origin, **_document(root)}, lines)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A branch with those below it that are shown, its pages outside all branches, and the sum of `left_out` more."""

    counts: BranchCounts
    prefix: str = ""
    name: str = ""
    trap: str = ""
    branches: tuple[_Branch, ...] = ()
    own: BranchCounts | None = None
    others: BranchCounts | None = None
    left_out: int = 0


def _prefix(origin: str, text: str) -> str:
    """The prefix that is meant by a path of an origin, or by a whole one. Raises UsageProblem."""
    from tui_crawler.domain.history.site_tree import is_prefix
    from tui_crawler.domain.url import CrawlUrl, normalise

    whole = text if text.startswith(f"{origin}/") else f"{origin}/{text.removeprefix('/')}"
    path, query, rest = whole.partition("?")
    url = normalise(path)
    href = url.href if isinstance(url, CrawlUrl) else ""
    prefix = f"{href}?" if query else f"{href.removesuffix('/')}/"
    if not rest and is_prefix(prefix, origin):
        return prefix
    raise UsageProblem(f"{text!r} is no prefix of {origin}", hint="a folder like /a/, or a path with its ?, like /a?")


def _grown(reports: Reports, prefix: str, depth: int, limit: int | None, progress: Progress) -> _Branch | None:
    """Return a branch counted `depth` levels deep; None where no URL of it is known."""
    from tui_crawler.domain.history.site_tree import OWN_PAGES, BranchTally, total

    tally = BranchTally()
    while not tally.ended:
        tally = tally.plus(reports.branch_piece(prefix, tally.last))
        progress(tally.urls)
    if not tally.urls:
        return None
    found = [(prefix + name, name, counts) for name, counts in tally.counts.items() if name != OWN_PAGES]
    found.sort(key=lambda one: (-one[2].known, one[1]))
    told, rest = found[:limit], found[len(found[:limit]) :]
    traps = reports.branch_traps([whole for whole, *_ in told])
    branches = []
    for whole, name, counts in told:
        below = _grown(reports, whole, depth - 1, limit, progress) if depth > 1 else None
        trap = "; ".join(traps[whole].evidence) if whole in traps else ""
        branches.append(replace(below or _Branch(counts), counts=counts, prefix=whole, name=name, trap=trap))
    others, own = total(counts for *_, counts in rest) if rest else None, tally.counts.get(OWN_PAGES)
    return _Branch(tally.total, prefix, prefix, "", tuple(branches), own, others, len(rest))


def _document(branch: _Branch) -> dict[str, object]:
    document = {"prefix": branch.prefix, **picked(branch.counts, _COUNTS), "trap": branch.trap or None}
    if branch.branches or branch.own is not None:
        document["own_pages"] = None if branch.own is None else picked(branch.own, _COUNTS)
        document["branches"] = [_document(one) for one in branch.branches]
    if branch.others is not None:
        document["left_out"] = {"branches": branch.left_out, **picked(branch.others, _COUNTS)}
    return document


def _rows(branch: _Branch, level: int) -> Iterator[tuple[str, ...]]:
    indent = "  " * level
    trap = f"⚠ trap? {safe(branch.trap)}" if branch.trap else ""
    yield _row(indent + safe(branch.name, _NAME_LENGTH), branch.counts, trap)
    for one in branch.branches:
        yield from _rows(one, level + 1)
    if branch.others is not None:
        yield _row(f"{indent}  … {count(branch.left_out)} more", branch.others, "(--limit)")
    if branch.own is not None and branch.branches:
        yield _row(f"{indent}  pages of its own", branch.own, "")


def _row(name: str, counts: BranchCounts, note: str) -> tuple[str, ...]:
    numbers = (counts.known, counts.done, counts.failed, counts.blocked, counts.refused)
    growth = f"+{rate(counts.growth)}" if counts.fresh else ""
    return (name, *map(count, numbers), size(counts.bytes), phase(counts.mean_ms), growth, note)
