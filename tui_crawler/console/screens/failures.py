"""View 2: failed pages in groups, the pages of the group under the cursor, and the way to put them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.failure_parts import (
    MANY,
    CountedFailures,
    FailureGroups,
    FailureWindow,
    GroupKey,
    RetryOf,
    RetryPlan,
)
from tui_crawler.console.format import clock, count
from tui_crawler.console.intent import retry_group, retry_named
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.failure_rows import (
    GROUPINGS,
    cluster_words,
    counted_at,
    counted_words,
    group_columns,
    group_name,
    group_row,
    grouping_words,
    page_columns,
    page_lines,
    page_row,
    retry_cell,
)
from tui_crawler.console.present.retry_cost import cost_words, retry_cost
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.rule_pattern import Cluster, clusters_of
from tui_crawler.console.screens.base import ConsoleScreen, title
from tui_crawler.console.screens.choose import ChooseScreen
from tui_crawler.domain.page_filter import PageWindow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tui_crawler.domain.view import FailureGroup, OriginView, PageView

_PENDING = frozenset({"READY", "CLAIMED"})


class FailuresScreen(ConsoleScreen):
    """Groups at the left, pages at the right."""

    WHERE = Where.failures
    HERE = frozenset({"view.failures"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.failures)]
    AUTO_FOCUS = "#groups"

    MARKS = "#pages"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._by = GROUPINGS[0]
        self._counted: CountedFailures | None = None
        self._asked = 0
        self._window = FailureWindow()
        self._before: tuple[tuple[int, int], ...] = ()  # of the windows before: where they began, their first number
        self._first = 1
        self._shown: PageWindow | None = None
        self._clusters: tuple[Cluster, ...] = ()
        self._fates: tuple[str, ...] = ()  # what is said to become of the pages shown
        self._held: Snapshot | None = None
        self._asked_for = 0
        self._retried: tuple[FailureGroup, RetryOf] | None = None  # what putting it back means is read

    def body(self) -> Iterable[Widget]:
        """Groups, pages, and the page under the cursor."""
        self._group_table = CrawlTable(group_columns(self._by), placeholder="reading…", id="groups", classes="pane")
        self._page_table = CrawlTable(page_columns(self._by), placeholder="no pages", id="pages", classes="pane")
        self._info = Lines(id="page-info", classes="pane")
        self._info.can_focus = False
        yield Vertical(Horizontal(self._group_table, self._page_table, id="failures-upper"), self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_titles()
        title(self._info, "Page")

    # what is shown

    def wants(self) -> Wants:
        """Groups, a window of the pages of one, and what putting one back means."""
        window = (self._window,) if self._group() is not None else ()
        retried = (self._retried[1],) if self._retried is not None else ()
        return Wants(parts=(self._groups_part(), *window, *retried))

    def _groups_part(self) -> FailureGroups:
        return FailureGroups(self._by, self._asked, self._counted.count.looked_at if self._counted is not None else 0)

    def take(self, shot: Snapshot) -> None:
        """Takes the parts that changed."""
        self._take_plan(shot)
        counted = shot.parts.get(self._groups_part())
        window = shot.parts.get(self._window)
        if self.frozen and self._counted is not None:
            self._hold(shot, counted, window)
            return
        if isinstance(counted, CountedFailures) and counted is not self._counted:
            self._counted = counted
            now = self.console.clock.wall_ms()
            self._group_table.placeholder = "nothing has failed"
            self._group_table.set_rows([group_row(group, now) for group in counted.count.groups])
            self._point_at_group()
        if isinstance(window, PageWindow) and window is not self._shown:
            self._show_pages(window)
        elif self._fates != self._fates_now():  # the run has ended or begun, or an origin goes on
            self._fill_rows()
        self._show_titles()

    def _hold(self, shot: Snapshot, counted: object, window: object) -> None:
        """Notes what is not shown now, if it is another one."""
        before = self._held.parts if self._held is not None else {}
        known = before.get(self._groups_part(), self._counted), before.get(self._window, self._shown)
        same = (isinstance(one, CountedFailures) and one.count for one in (counted, known[0]))
        if len(set(same)) > 1 or (isinstance(window, PageWindow) and window != known[1]):
            self.missed += 1
        self._held = shot
        self._show_titles()

    def _take_plan(self, shot: Snapshot) -> None:
        """What putting a group back means is known: asks whether it is wanted."""
        if self._retried is None:
            return
        group, part = self._retried
        plan = shot.parts.get(part)
        if isinstance(plan, RetryPlan):
            self._retried = None
            run, wishes = self.console.picture.run, self.console.wishes
            tries = run.tries if run is not None else 0
            now, prospect = self.console.clock.wall_ms(), wishes.prospect(plan.origins.values(), self._queued(group))
            cost = cost_words(retry_cost(dict(plan.pages), plan.origins, tries, now, prospect.uptake))
            name = group_name(group)
            named = retry_named(plan.urls, name, group.count, cost, prospect) if plan.urls else None
            wishes.ask(named or retry_group(group, cost, prospect))

    def _queued(self, group: FailureGroup) -> int | None:
        """How many pages of the group are queued already; None when not all of them are shown."""
        shown = self._shown
        whole = shown is not None and shown.ended and not self._before and self._window.key == group.key
        if shown is None or not whole or len(shown.pages) < group.count:
            return None
        return sum(page.attempts_remaining > 0 and page.status in _PENDING for page in shown.pages)

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        if self._held is not None:
            held, self._held = self._held, None
            self.take(held)
        self._show_titles()

    def _show_pages(self, window: PageWindow | None) -> None:
        self._shown = window
        pages = window.pages if window is not None else ()
        self._page_table.placeholder = "no pages" if window is not None or self._group() is None else "reading…"
        self._fill_rows()
        self._clusters = clusters_of([page.url for page in pages])
        self._show_page()

    def _fill_rows(self) -> None:
        """Makes the rows of the pages."""
        now, uptake = self.console.clock.wall_ms(), self.console.wishes.uptake
        self._fates = self._fates_now()
        rows = [page_row(page, now, self._by, self._origin_of_page(page), uptake) for page in self._pages_shown()]
        self._page_table.set_rows(rows, keep_marks=True)

    def _fates_now(self) -> tuple[str, ...]:
        now, uptake = self.console.clock.wall_ms(), self.console.wishes.uptake
        return tuple(retry_cell(page, now, self._origin_of_page(page), uptake).text for page in self._pages_shown())

    def _pages_shown(self) -> tuple[PageView, ...]:
        return self._shown.pages if self._shown is not None else ()

    def _origin_of_page(self, page: PageView) -> OriginView | None:
        return self.console.picture.origins.get(page.origin)

    def _cluster_words(self) -> str:
        return cluster_words(self._cluster(), len(self._shown.pages) if self._shown is not None else 0)

    def _show_page(self) -> None:
        words = self._cluster_words()
        self._info.show(page_lines(self._page()))
        title(self._info, "Page", f"{words} · m makes a rule" if words else "")

    def _show_titles(self) -> None:
        words = [f"By {grouping_words(self._by)}"]
        held = ""
        if self._counted is not None:
            words.append(counted_words(self._counted))
            if self._counted.count.looked_at > MANY:
                held = counted_at(clock(self._counted.at, self.console.clock.zone))
        if self.frozen:
            held = f"‖ frozen · {self.missed} changes"
        title(self._group_table, " · ".join(word for word in words if word), held)
        group = self._group()
        name = group_name(group) if group is not None else "Pages"
        if group is not None and self._shown is not None:
            shown = len(self._shown.pages)
            span = f"{count(self._first)}–{count(self._first + shown - 1)}" if shown else "none"
            name += f" · {span} of {count(max(group.count, self._first + shown - 1))}"
            name += "" if self._shown.ended or shown else f", looked at {count(self._shown.looked_at)}, > goes on"
        cluster = self._cluster_words() if self.has_class("-narrow") else ""  # else the pane below says it
        title(self._page_table, f"{name} · {cluster}" if cluster else name)

    # what is selected

    def _groups(self) -> tuple[FailureGroup, ...]:
        return self._counted.count.groups if self._counted is not None else ()

    def _group(self) -> FailureGroup | None:
        return self._group_of(self._group_table.cursor_key)

    def _group_of(self, key: Hashable) -> FailureGroup | None:
        return next((group for group in self._groups() if group.key == key), None)

    def _page(self) -> PageView | None:
        return self._page_of_id(self._page_table.cursor_key)

    def _page_of_id(self, key: Hashable) -> PageView | None:
        return next((page for page in self._pages_shown() if page.page_id == key), None)

    def _marked(self) -> tuple[str, ...]:
        return tuple(page.url for page in self._pages_shown() if page.page_id in self._page_table.marked)

    def _cluster(self) -> Cluster | None:
        """That of the page under the cursor; the largest one while the cursor is among the groups."""
        page = self._page()
        if self.focused is not self._page_table:
            return next(iter(self._clusters), None)
        return next((one for one in self._clusters if page is not None and page.url in one.urls), None)

    def situation(self) -> Situation:
        """The group, and the marked pages or the one under the cursor."""
        group = self._group()
        page = self._page()
        return Situation(
            Where.failures,
            urls=self._marked() or ((page.url,) if page is not None else ()),
            failed=group.count if group is not None else 0,
            older=self._shown is not None and not self._shown.ended,
            newer=bool(self._before),
        )

    def record(self, table: CrawlTable, key: Hashable) -> object | None:
        """A group, or a page."""
        return self._group_of(key) if table is self._group_table else self._page_of_id(key)

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Failures",)

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        match action_id:
            case "nav.open":
                self._open()
            case "group.retry":
                self._retry_group()
            case "failures.group":
                self._group_by(GROUPINGS[(GROUPINGS.index(self._by) + 1) % len(GROUPINGS)])
            case "failures.pick":
                self._pick()
            case "failures.count":
                self._asked += 1
                self.console.read_soon()
            case "rule.from_selection":
                cluster = self._cluster()
                urls = self._marked() or (cluster.urls if cluster is not None else self.situation().urls)
                self.console.dispatcher.draft_rule(urls)
            case "list.older":
                if self._shown is not None and not self._shown.ended:
                    before = (*self._before, (self._window.after_id, self._first))
                    first = self._first + len(self._shown.pages)
                    self._look(FailureWindow(self._window.key, self._shown.last_id), before, first)
            case "list.newer":
                if self._before:
                    after_id, first = self._before[-1]
                    self._look(FailureWindow(self._window.key, after_id), self._before[:-1], first)
            case "nav.back" if self.focused is self._page_table:
                self._group_table.focus()
            case _:
                return False
        return True

    def _open(self) -> None:
        page = self._page()
        if self.focused is self._page_table and page is not None:
            self.console.dispatcher.go_to_url(page.url)
        else:
            self._page_table.focus()

    def _retry_group(self) -> None:
        """Asks before the group is put back, as soon as it is known how long that takes."""
        group = self._group()
        if group is not None:
            self._asked_for += 1
            self._retried = group, RetryOf(group.key, group.origins, self._asked_for)
            self.console.read_soon()

    def _pick(self) -> None:
        names = [grouping_words(by) for by in GROUPINGS]

        def chosen(name: object) -> None:
            if isinstance(name, str):
                self._group_by(GROUPINGS[names.index(name)])

        options = [(name, name) for name in names]
        self.console.push_screen(ChooseScreen("Group failures by", options, grouping_words(self._by)), chosen)

    def _group_by(self, by: tuple[str, ...]) -> None:
        self._by = by
        self._counted = self._retried = self._held = None
        self._group_table.placeholder = "reading…"
        self._group_table.set_rows([])
        self._group_table.set_columns(group_columns(by))
        self._page_table.set_columns(page_columns(by))
        self._show_titles()
        self.console.read_soon()

    def _point_at_group(self) -> None:
        """The pages belong to the group under the cursor."""
        group = self._group()
        key: GroupKey = group.key if group is not None else ()
        if group is None:
            self._show_pages(None)
        if key != self._window.key:
            self._page_table.clear_marks()
            self._look(FailureWindow(key), (), 1)
        self.console.read_soon()

    def _look(self, window: FailureWindow, before: tuple[tuple[int, int], ...], first: int) -> None:
        """Goes to another window; it is read with the next beat."""
        self._window, self._before, self._first = window, before, first
        self._show_pages(None)
        self._page_table.move_cursor(index=0)
        self._show_titles()
        self.console.read_soon()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        """Another group, or another page."""
        if event.table is self._group_table:
            self._point_at_group()
        else:
            self._show_page()
        self.tell_footer()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """A group: goes to its pages. A page: opens it."""
        event.table.focus()
        self._open()

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        """Actions are about other pages now."""
        self.tell_footer()
