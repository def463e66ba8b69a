"""The site of an origin as a tree: its branches unfold one by one; what is done to a branch is asked first."""

from collections.abc import Iterable, Sequence
from typing import cast

from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.handlers import handles
from tui_crawler.console.operator.intent import retry_named
from tui_crawler.console.overview.rows import opened_by
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import FactsPane
from tui_crawler.console.reading.reading import AnyReading, PaneReading
from tui_crawler.console.rules.exclusions import ExclusionEntry
from tui_crawler.console.rules.queries import RULES
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.paint import Sort
from tui_crawler.console.tree.queries import MOST_RETRIED, failures_of
from tui_crawler.console.tree.rows import TREE, Node, NodeKind, OpenBranch, branch_lines, branch_pattern, nodes
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.text.format import count

_RETRIED = frozenset({NodeKind.branch, NodeKind.page})
_QUIET_MS, _SHOWN_MS = 300, 250
"""So long after a key counting goes on, and so often at most what was counted is shown."""
_TRAP_HINT = "{rule.from_selection} drafts a rule for it, {rules.exclude} excludes it"


class BranchTable(CrawlTable):
    """The rows of a tree: in an order made here, each stands below its branch, and what is not listed last."""

    def __init__(self) -> None:
        super().__init__(TREE, id="tree", classes="pane")

    def in_order(self, rows: Sequence[Row], order: Sort) -> list[Row]:
        branches: list[list[Row]] = []
        for row in rows:
            if not branches or row.record.level <= branches[-1][0].record.level:
                branches.append([])
            branches[-1].append(row)
        below = {first.key: rest for first, *rest in branches}
        heads = super().in_order([first for first, *_ in branches], order)
        heads.sort(key=lambda row: row.record.kind is NodeKind.rest)
        return [row for head in heads for row in (head, *(self.in_order(below[head.key], order)))]


class TreeScreen(RowsScreen):
    """The branches of one origin, and the one under the cursor."""

    WHERE = Where.tree
    HERE = frozenset({"origin.add"})
    AUTO_FOCUS = "#tree"

    def __init__(self, origin: str) -> None:
        """`origin` is raw text as stored."""
        super().__init__()
        self._origin = origin
        self._root = f"{origin}/"
        self._opened: dict[str, OpenBranch] = {}  # the one unfolded last is the last
        self._turned: frozenset[str] = frozenset()
        self._shown_at = self._listings = 0  # monotonic ms; how many branches were listed then
        self._retried: Node | None = None  # of which failed pages are read
        self._rules = PaneReading(lambda: RULES)
        self._failures = PaneReading(lambda: self.awaited, self._ask_retry)
        self._unfold(self._root)

    def body(self) -> Iterable[Widget]:
        self._table = BranchTable()
        self._info = FactsPane(self._facts, "Branch", id="tree-info", still=True)
        self._exclusion = ExclusionEntry(self, self._listed, ("#tree-info", "Exclude"), self.tick)
        yield Vertical(self._table, self._info, id="body")

    def readings(self) -> tuple[AnyReading, ...]:
        """What is unfolded, the one unfolded last first; then what is counted of it."""
        branches = [*reversed(self._opened.values())]
        reads = (read for one in branches for read in one.reads)
        return (*reads, *(one.counted for one in branches), self._failures, self._rules)

    def _unfold(self, prefix: str) -> None:
        self._opened[prefix] = OpenBranch(prefix, self._now, self._counts, self._changed)

    def _now(self) -> int:
        return self.console.clock.mono_ms()

    def _counts(self, branch: OpenBranch) -> bool:
        """One branch is counted at a time, while nothing is typed: the one unfolded last."""
        left = (one for one in reversed(self._opened.values()) if one.piece is not None and one.listed is not None)
        return self.console.idle_ms() >= _QUIET_MS and next(left, None) is branch

    def _changed(self) -> None:
        """Show what is new; while it is counted, not with each piece."""
        listed = sum(one.listed is not None for one in self._opened.values())
        counting = any(one.counting for one in self._opened.values())
        if not counting or listed != self._listings or self._now() - self._shown_at >= _SHOWN_MS:
            self._listings = listed
            self._show()
        self.console.read_soon()

    def _listed(self) -> tuple[Exclusion, ...]:
        return self._rules.value.added if self._rules.value is not None else ()

    def show_live(self) -> None:
        """Counts again what may have changed."""
        if (run := self.console.live_state.run) is not None and run.live:
            for one in self._opened.values():
                one.count_again()

    def _show(self) -> None:
        self._shown_at = self._now()
        self._table.fill(nodes(self._root, self._opened, self._turned), present(self.console.clock))
        self.show_facts()
        self.show_titles()

    def _facts(self) -> Sequence[Line]:
        if self._exclusion.is_open:
            return self._info.lines
        return branch_lines(self._node(), hint=self.key_names.said(_TRAP_HINT))

    def show_titles(self) -> None:
        counting = max(one.counting for one in self._opened.values())
        words = f" · counting, {count(counting)} URLs so far" if counting else ""
        title(self._table, f"Site tree · {host_of(self._origin)}{words}")
        if not self._exclusion.is_open:
            title(self._info, "Branch")

    def _node(self) -> Node | None:
        return cast("Node | None", self._table.current)

    def situation(self) -> Situation:
        view, node = self.console.live_state.origins.get(self._origin), self._node()
        counts = node.counts if node is not None else None
        urls = (node.url or node.prefix,) if node is not None else ()
        failed = counts.failed if counts is not None and node is not None and node.kind in _RETRIED else 0
        return Situation(Where.tree, origins=(view,) if view is not None else (), urls=urls, failed=failed)

    def crumbs(self) -> tuple[str, ...]:
        return (Where.overview.value, host_of(self._origin), "Site tree")

    def open_selected(self) -> None:
        node, door = self._node(), self._table.door
        if node is not None and door is not None and (pattern := branch_pattern(node)):
            self.console.go_to(*opened_by(door.id, self._origin, self.console.live_state.origins, pattern))
            return
        match node:
            case Node(kind=NodeKind.page, url=url):
                self.console.go_to(Where.url, url)
                return
            case Node(kind=NodeKind.own_pages, prefix=prefix):
                self._turned ^= {prefix}
            case Node(kind=NodeKind.branch, prefix=prefix) if prefix not in self._opened:
                self._unfold(prefix)
                self.console.read_soon(instead=True)
            case Node(kind=NodeKind.branch, prefix=prefix) if prefix != self._root:
                self._opened = {one: branch for one, branch in self._opened.items() if not one.startswith(prefix)}
            case _:
                return
        self._show()

    @handles("rule.from_selection")
    def draft_rule_of_branch(self) -> None:
        """Drafts a rule for what is under the cursor."""
        if (pattern := self._pattern()) is not None:
            self.console.go_to(Where.rule_draft, pattern)

    @handles("rules.exclude")
    def _exclude(self) -> None:
        if (pattern := self._pattern()) is not None:
            self._exclusion.open(f"pattern: {pattern}")

    def _pattern(self) -> str | None:
        node = self._node()
        pattern = branch_pattern(node) if node is not None else ""
        if not pattern:
            self.console.tell("no", "no pattern names these alone", "muted")
        return pattern or None

    @handles("group.retry")
    def _retry(self) -> None:
        node = self._node()
        if node is not None and node.url:
            self.console.command_queue.retry(Situation(Where.tree, urls=(node.url,)))
        elif node is not None:
            self._retried, self.awaited = node, failures_of(self._origin, node.prefix, MOST_RETRIED)
            self.console.read_soon()

    def _ask_retry(self, urls: tuple[str, ...]) -> None:
        if (node := self._retried) is None:
            return
        self._retried = self.awaited = None
        self._failures.forget()
        view = self.console.live_state.origins.get(self._origin)
        if urls and view is not None:
            queue, pages = self.console.command_queue, {self._origin: len(urls)}
            cost = queue.cost_words(pages, {self._origin: view})
            whole = max(len(urls), node.counts.failed if node.counts is not None else 0)
            queue.ask(retry_named(urls, node.prefix, whole, cost, queue.estimate([view])))
        else:
            self.console.tell("no", "no failed pages there any more", "muted")
        self.let_keys_go_on()
