"""The tree of a site as rows: what is unfolded and how far it is counted, and how a branch is told. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from tui_crawler.console.overview.summary import TRAP
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.rules.pattern import literal
from tui_crawler.console.tree.queries import MOST_BRANCHES, MOST_PAGES, level_of, piece_of, traps_of
from tui_crawler.domain.history.site_tree import OWN_PAGES, BranchCounts, BranchTally, end_of
from tui_crawler.domain.history.trap import LEAST_PAGES
from tui_crawler.domain.record import dataclass
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import compact, count, phase, rate, size
from tui_crawler.text.shown import Show

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.domain.history.site_tree import BranchList
    from tui_crawler.domain.history.trap import TrapSuspicion

RECOUNT_MS, SHARE = 10_000, 10
"""Counts hold so long at least while a run is live, and so many times as long as counting took."""
MOST_JUDGED = 50
"""So many branches of one are judged for being a trap, the largest first."""


class NodeKind(Enum):
    """What a row is."""

    branch = "branch"
    own_pages = "pages"  # those of a branch that are in none of the branches below it, together
    page = "page"
    rest = "rest"  # what is not listed


@dataclass(frozen=True, slots=True)
class Node:
    """A row of the tree. `prefix` is that of a branch, of own pages and rests that of the branch they are in; `url` is
    that of a page. `counts` None: not counted; not `sure`: at least. `unfolded` None: there is nothing to unfold."""

    kind: NodeKind
    prefix: str
    name: str
    level: int
    counts: BranchCounts | None
    sure: bool = True
    unfolded: bool | None = None
    trap: TrapSuspicion | None = None
    url: str = ""

    @property
    def key(self) -> tuple[NodeKind, str]:
        """What the row is known by."""
        return self.kind, self.url or self.prefix + (self.name if self.kind is NodeKind.rest else "")


class OpenBranch:
    """A branch that is unfolded: what is right below it, and the counts of that, which are made in pieces. Where they
    are made again, those before are shown until that is done."""

    def __init__(
        self,
        prefix: str,
        now: Callable[[], int] = lambda: 0,
        counts: Callable[[OpenBranch], bool] = lambda _: True,
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        """Nothing is read of it yet. `now` is monotonic ms, `counts` decides whether the next piece is read, `changed`
        is called when anything is new."""
        self.prefix = prefix
        self.listed: BranchList | None = None
        self.shown = self._next = BranchTally()
        self.traps: Mapping[str, TrapSuspicion] = {}
        self._now, self._changed = now, changed
        self._began_at = self._ended_at = 0
        self._judging: Ask[Mapping[str, TrapSuspicion]] | None = None
        listing = PaneReading(lambda: level_of(prefix, MOST_BRANCHES, MOST_PAGES), partial(self._take, "listed"))
        self.reads = (listing, PaneReading(lambda: self._judging, partial(self._take, "traps")))
        self.counted = PaneReading(lambda: self.piece if counts(self) else None, self._count, moves=True)

    @property
    def piece(self) -> Ask[BranchTally] | None:
        """The next piece of the counts; None when all are counted."""
        return None if self._next.ended else piece_of(self.prefix, self._next.last)

    def _take(self, name: str, value: object) -> None:
        setattr(self, name, value)
        self._changed()

    def _count(self, piece: BranchTally) -> None:
        self._began_at = self._began_at if self._next.urls else self._now()
        self._next = self._next.plus(piece, MOST_BRANCHES)
        self.shown = self._next if self._next.ended or not self.shown.ended else self.shown
        self._ended_at = self._now()
        if self._next.ended:
            # The largest branches are judged for being traps.
            counts = self.shown.counts.items()
            found = [(-one.known, name) for name, one in counts if one.known >= LEAST_PAGES and name]
            self._judging = traps_of(tuple(self.prefix + name for _, name in sorted(found)[:MOST_JUDGED]))
        self._changed()

    def count_again(self) -> None:
        """Count again where the counts are old; to be called while they may change."""
        old = self._now() - self._ended_at >= max(RECOUNT_MS, SHARE * (self._ended_at - self._began_at))
        if self._next.ended and old:
            self._next = BranchTally()
            self.counted.forget()

    @property
    def names(self) -> Sequence[str]:
        """The first branches right below it: those that were listed, and those that counting came upon."""
        listed = self.listed.names if self.listed is not None else ()
        return sorted({*listed, *self.shown.counts} - {OWN_PAGES})[:MOST_BRANCHES]

    @property
    def counting(self) -> int:
        """How many URLs were counted for the first time so far; 0 when all were."""
        return 0 if self.shown.ended else self.shown.urls


def nodes(root: str, opened: Mapping[str, OpenBranch], turned: frozenset[str]) -> Iterator[Node]:
    """The rows of what is unfolded, from the branch `root` on. `turned` are the prefixes of those whose own pages are
    folded where there is nothing else, or unfolded where there is."""
    top = opened[root]
    counts = top.shown.total if top.shown.urls or top.shown.ended else None
    yield Node(NodeKind.branch, root, root, 0, counts, top.shown.ended, unfolded=True)
    yield from _below(top, opened, turned, 1)


def _below(branch: OpenBranch, opened: Mapping[str, OpenBranch], turned: frozenset[str], level: int) -> Iterator[Node]:
    here, tally = branch.listed, branch.shown
    if here is None:
        return
    for name in branch.names:
        prefix = branch.prefix + name
        counts, sure = tally.counts.get(name), tally.ended or end_of(prefix) <= tally.last
        inside, trap = opened.get(prefix), branch.traps.get(prefix)
        yield Node(NodeKind.branch, prefix, name, level, counts, sure, inside is not None, trap)
        if inside is not None:
            yield from _below(inside, opened, turned, level + 1)
    if here.more or tally.others != BranchCounts():
        yield Node(NodeKind.rest, branch.prefix, "… further branches", level, tally.others, tally.ended)
    if not here.pages:
        return
    unfolded = (branch.prefix in turned) is bool(here.names)
    own = tally.counts.get(OWN_PAGES)
    yield Node(NodeKind.own_pages, branch.prefix, "pages here", level, own, tally.ended, unfolded)
    for url, counts in here.pages.items() if unfolded else ():
        name = url.removeprefix(branch.prefix) or "(itself)"
        yield Node(NodeKind.page, branch.prefix, name, level + 1, counts, url=url)
    if unfolded and own is not None and own.known + own.refused > len(here.pages):
        yield Node(NodeKind.rest, branch.prefix, "… further pages", level + 1, None)


_FOLDED = {True: "▼ ", False: "▸ ", None: "  "}


def _path(node: Node) -> Cell:
    name = Styled(node.name, "strong" if node.kind is NodeKind.branch else "muted")
    return (Styled("  " * node.level + _FOLDED[node.unfolded], "muted"), name)


def _of(name: str) -> Callable[[Node], Any]:
    return lambda node: None if node.counts is None else getattr(node.counts, name)


def _counted(role: str, unknown: Cell = "") -> Show[int | None, Node]:
    def show(value: int | None, node: Node, _present: Present) -> Cell:
        more = "" if node.sure else "+"
        text = Styled(count(value) + more, role if value else "faint", short=compact(value) + more)
        return unknown if value is None else text

    return show


def _muted(of: Callable[[float | None], str]) -> Show[float | None, Node]:
    return lambda value, node, _: "" if node.counts is None else Styled(of(value), "muted")


TREE: Relation[Node] = Relation(
    key=lambda node: node.key,
    nothing="no URL of this origin is known",
    columns=(
        Column("path", "PATH", shown.itself, None, 0, min_width=18, kind="place", value=_path),
        Column("known", "KNOWN", _counted("", Styled("…", "faint")), 10, 0, "right", min_width=5, value=_of("known"),
               opens="its pages"),
        Column("done", "DONE", _counted("ok"), 10, 2, "right", min_width=5, value=_of("done"),
               opens="pages done"),
        Column("failed", "FAILED", _counted("error"), 8, 1, "right", min_width=5, short="FAIL", value=_of("failed"),
               opens="its failures"),
        Column("blocked", "BLOCKED", _counted("blocked"), 8, 4, "right", 5, "BLOCK", value=_of("blocked"),
               opens="blocked pages"),
        Column("refused", "REFUSED", _counted("muted"), 8, 6, "right", 5, "REFUS", value=_of("refused")),
        Column("size", "SIZE", _muted(size), 7, 7, "right", value=_of("bytes")),
        Column("mean", "MEAN", _muted(phase), 7, 5, "right", value=_of("mean_ms")),
        Column("growth", "+/MIN", shown.words(lambda new: f"+{rate(new)}" if new else "", "accent"), 6, 3, "right",
               value=lambda node: node.counts.growth if node.counts is not None and node.counts.fresh else None),
        Column("trap", "", shown.plain("warning"), 7, 1,
               value=lambda node: "⚠ trap?" if node.counts is not None and node.trap else ""),
    ),
)  # fmt: skip


def branch_lines(node: Node | None, *, hint: str) -> list[Line]:
    """The branch or page under the cursor in words; `hint` says what can be done about a trap."""
    if node is None:
        return []
    lines: list[Line] = [Styled(node.url or node.prefix, "strong")]
    counts = node.counts
    if counts is not None:
        growth = f"+{rate(counts.growth)}/min" if counts.fresh else ""
        words = (
            f"{'' if node.sure else 'at least '}{count(counts.known)} known", f"{count(counts.done)} done",
            f"{count(counts.failed)} failed", f"{count(counts.blocked)} blocked", f"{count(counts.refused)} refused",
            size(counts.bytes), phase(counts.mean_ms), growth,
        )  # fmt: skip
        lines.append(" · ".join(word for word in words if word))
    if node.trap is not None:
        lines.append((Styled(f"{TRAP}: ", "warning bold"), Styled("; ".join(node.trap.evidence), "warning")))
        lines.append(Styled(hint, "muted"))
    return lines


def branch_pattern(node: Node) -> str:
    """A regular expression for the URLs of a branch, of its own pages or of one page; empty where none says it."""
    match node.kind:
        case NodeKind.branch:
            return f"^{literal(node.prefix)}"
        case NodeKind.page:
            return f"^{literal(node.url)}$"
        case NodeKind.own_pages:
            return f"^{literal(node.prefix)}{'' if node.prefix.endswith('?') else '[^/?]*$'}"
        case _:
            return ""
