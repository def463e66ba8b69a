"""View 2: failed pages in groups, the pages of the group under the cursor, and the way to put them back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual import events
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.action import Need, Situation, Where
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.clock import present
from tui_crawler.console.dialogs.choose import ChooseScreen
from tui_crawler.console.failures import queries, rows
from tui_crawler.console.failures.queries import CountedFailures, GroupKey, GroupWindow, RetryPlan
from tui_crawler.console.failures.rows import GROUPINGS, REFERRERS, ReferrerLine, grouping_words, pages_by
from tui_crawler.console.handlers import handles
from tui_crawler.console.operator.intent import retry_group, retry_named
from tui_crawler.console.panes.lines import FactsPane
from tui_crawler.console.panes.shared_lines import FRAME, SharedHeight
from tui_crawler.console.reading.reading import AnyReading, PaneReading
from tui_crawler.console.rules.pattern import Cluster, clusters_of, pattern_of
from tui_crawler.console.screen.base import STILL_MS, title
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.window_list import PageList
from tui_crawler.console.urls.rows import PageLine, url_lines
from tui_crawler.text.format import clock, count, plural

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.console.reading.refresh import Snapshot
    from tui_crawler.console.screen.base import ConsoleScreen
    from tui_crawler.domain.records.page_view import FailureGroup, PageView, Referrers


def _with_found(counted: CountedFailures) -> frozenset[Hashable]:
    return frozenset(group.key for group in counted.count.groups if group.found)


class GroupList(PaneReading[CountedFailures]):
    """What a screen shows of the counted groups in its table."""

    def __init__(self, screen: ConsoleScreen, table: CrawlTable, changed: Callable[[], object]) -> None:
        """`changed` is called when other groups are shown."""
        super().__init__(self._counting, self._fill)
        self._screen, self._table, self._changed = screen, table, changed
        self.within: GroupKey = ()
        table.holds_while_marked = True
        table.seeks_elsewhere = True
        table.filter_hint = rows.GROUP_HINT
        self.by = GROUPINGS[0]
        self._round = 0
        self._before: dict[object, CountedFailures] = {}  # by each grouping, filter and limit

    def _counting(self) -> Ask[CountedFailures]:
        """What is read for it: the more was counted last, the less often."""
        failed, looked_at = (self.latest.count.failed, self.latest.count.looked_at) if self.latest else (0, 0)
        limit = queries.FIRST_PAGES if failed <= queries.FIRST_PAGES else queries.MOST_PAGES
        ask = queries.failure_groups(self.by, self._round, self._table.parsed.plain, self.within, limit)
        return ask.every(queries.counted_every(looked_at))

    def take(self, shot: Snapshot, *, frozen: bool) -> bool:
        before = self._held or self._shown
        waits = super().take(shot, frozen=frozen)
        if self._held is None or before is None:
            return waits
        self._table.keep_besides(_with_found(self._held[1]))
        return waits and self._held[1].count != before[1].count

    def _fill(self, counted: CountedFailures) -> None:
        """Rows keep their places for a while after the last key, too (docs/console.md, refresh policy)."""
        if len(counted.count.groups) <= queries.FIRST_PAGES:
            self._before[self._counted_for] = counted
        console = self._screen.console
        self._table.kept_besides, self._table.looks_elsewhere = _with_found(counted), False
        self._table.fill(counted.count.groups, present(console.clock), still=console.idle_ms() < STILL_MS)
        self._changed()

    def count_again(self) -> None:
        self._round += 1

    @property
    def _counted_for(self) -> object:
        return self.by, self._table.parsed.plain, self.within

    def group_by(self, by: tuple[str, ...], within: GroupKey) -> None:
        """Another grouping of the pages within a group, which is counted now; until that is done, it is as it was
        counted before."""
        self.by, self.within = by, within
        self.forget()
        self._table.await_rows()
        self._table.set_relation(rows.groups_by(by, rows.alike(within)))
        if (before := self._before.get(self._counted_for)) is not None:
            self._put((self._counting(), before))

    @property
    def whole(self) -> bool:
        """Whether all failed pages were counted."""
        return self.latest is None or self.latest.count.looked_at >= self.latest.count.failed

    @property
    def groups(self) -> tuple[FailureGroup, ...]:
        """The groups, the largest first."""
        return self.latest.count.groups if self.latest is not None else ()

    @property
    def current(self) -> FailureGroup | None:
        """The group under the cursor."""
        return next((group for group in self.groups if group.key == self._table.cursor_key), None)

    @property
    def sought(self) -> tuple[str, ...]:
        """What is looked for among the pages of the group under the cursor: the filter's words, where the group is kept
        only because it holds such pages."""
        group = self.current
        row = self._table.row(group.key) if group is not None else None
        by_pages = group is not None and group.found > 0 and row is not None and not self._table.says(row)
        return self._table.parsed.plain if by_pages else ()

    def title_words(self) -> tuple[str, str]:
        """What was counted by what; and of when it is, where that is not done again by itself."""
        scope, by, wider = rows.key_words(self.within), grouping_words(self.by), self._screen.wider
        words = [f"Failures · {scope} · by {by}" if scope else f"By {by}"]
        held = f"{self._screen.key_names('nav.back')} {wider}" if wider else ""
        if (counted := self.latest) is not None:
            words.append(rows.counted_words(counted))
            if off := counted.not_checked:
                words, held = [*words, f"{plural(len(off), 'check')} off"], f"not checked: {', '.join(off)}"
            if counted.count.looked_at > queries.MANY:
                at = clock(counted.at, self._screen.console.clock.zone)
                held = f"as of {at} · {self._screen.key_names('failures.count')} counts again"
        return " · ".join(word for word in words if word), held


_PENDING = frozenset({"READY", "CLAIMED"})
_AROUND = 200
"""So many pages before and after the one under the cursor are looked at for clusters."""


class FailuresScreen(RowsScreen):
    """Groups at the left, pages at the right."""

    WHERE = Where.failures
    CRUMBS = ("Failures",)
    HERE = frozenset({"origin.add"})
    AUTO_FOCUS = "#groups"
    MARKS = "#pages"

    def __init__(self, within: GroupKey = (), by: tuple[str, ...] = ()) -> None:
        """It is limited to the pages `within` a group (empty: all), which are grouped `by` (empty: what these differ
        in)."""
        super().__init__()
        self._limits: list[tuple[GroupKey, tuple[str, ...]]] = [((), GROUPINGS[0])]
        if within:
            self._limits.append((within, by or rows.next_grouping(within)))
        self._clusters: tuple[Cluster, ...] = ()
        self._clustered: frozenset[Hashable] = frozenset()  # the pages among which they are
        self._shown_id = 0  # the page of which it is shown who names it
        self._named_by = PaneReading(
            lambda: queries.referrers_of(page.page_id, queries.MOST_REFERRERS) if (page := self._page()) else None,
            self._show_referrers,
        )
        self._asked_for = 0
        self._retried: FailureGroup | None = None  # the group of which it is read what putting it back means
        self._plan = PaneReading(lambda: self.awaited, self._ask_retry)

    def body(self) -> Iterable[Widget]:
        self._group_table = CrawlTable(rows.groups_by(()), id="groups", classes="pane")
        self._groups = GroupList(self, self._group_table, self._show_groups)
        self._shared_height = SharedHeight(self._group_table)
        self._page_table = CrawlTable(pages_by(()), id="pages", classes="pane")
        self._limit()
        self._page_table.filter_hint = rows.PAGE_HINT
        self._list = PageList(
            self._page_table, GroupWindow((), 0), self._page_row, self._show_pages, self.console.read_soon
        )
        self._info = FactsPane(self._facts, "Page", id="page-info", still=True)
        self._referrers = CrawlTable(REFERRERS, id="referrers", classes="pane")
        upper = Horizontal(self._group_table, self._page_table, id="failures-upper")
        yield Vertical(upper, self._info, self._referrers, id="body")

    def on_resize(self, _event: events.Resize) -> None:
        self._shared_height.begin()
        self._make_room()
        self._show_page_titles()

    def _make_room(self) -> None:
        """What the groups do not need is for the pages, where these stand below."""
        if self.has_read:
            self._shared_height.take(self._group_table.row_count + FRAME - 1, all_of_it=not self.has_class("-narrow"))

    @property
    def _keyset(self) -> GroupWindow:
        return self._list.keyset

    def readings(self) -> tuple[AnyReading, ...]:
        windows = (self._list,) if self._groups.current is not None else ()
        return (self._plan, self._named_by, *windows, self._groups)

    def _show_referrers(self, found: Referrers) -> None:
        if (page := self._page()) is not None:
            lines = (ReferrerLine(number, one, page.origin) for number, one in enumerate(found.first))
            self._referrers.fill(lines, present(self.console.clock))
        self._show_page_titles()

    def _facts(self) -> Sequence[Line]:
        page, console = self._page(), self.console
        return url_lines(page, console.command_queue.outlook_of(page), console.clock.zone)[:2] if page else []

    def show_live(self) -> None:
        self._list.show_live()

    def _ask_retry(self, plan: RetryPlan) -> None:
        """What putting a group back means is known: asks whether it is wanted."""
        if (group := self._retried) is not None:
            self._retried = self.awaited = None
            self._plan.forget()
            command_queue, keyset, queued = self.console.command_queue, self._keyset, None
            if keyset.whole and keyset.key == group.key and len(keyset.rows) >= group.count:
                queued = sum(page.attempts_remaining > 0 and page.status in _PENDING for page in keyset.rows)
            estimate = command_queue.estimate(plan.origins.values(), queued)
            cost = command_queue.cost_words(dict(plan.pages), plan.origins)
            named = (
                retry_named(plan.urls, rows.key_words(group.key), group.count, cost, estimate) if plan.urls else None
            )
            command_queue.ask(named or retry_group(group, cost, estimate))
            self.let_keys_go_on()

    def lacks(self, action_id: str) -> bool:
        """The groups, or for what is done to pages those of the group."""
        unread = self._groups.current is not None and not self._keyset.started
        opens_page = action_id == "nav.open" and self.focused is self._page_table
        return super().lacks(action_id) or (unread and (opens_page or Need.url in BY_ID[action_id].needs))

    def _show_pages(self) -> None:
        self._page_table.placeholder = rows.pages_nothing(self._keyset if self._groups.current is not None else None)
        self._clustered = frozenset()
        self._show_page()

    def _page_row(self, page: PageView) -> Row:
        line = PageLine(page, self.console.command_queue.outlook_of(page))
        return Row.of(self._page_table.relation, line, present(self.console.clock))

    def _cluster_words(self) -> str:
        return rows.cluster_words(self._cluster(), len(self._clustered))

    def _show_page(self) -> None:
        page, table = self._page(), self._page_table
        if table.cursor_key not in self._clustered:  # else it is known which of the pages near the cursor are alike
            first = max(0, table.cursor_index - _AROUND)
            near = [one for one in map(self._keyset.row, table.row_order[first : first + 2 * _AROUND]) if one]
            self._clusters = clusters_of([one.url for one in near])
            self._clustered = frozenset(one.page_id for one in near)
        if page is None or page.page_id != self._shown_id:
            self._shown_id = page.page_id if page is not None else 0
            self._named_by.forget()
            self._referrers.placeholder = REFERRERS.nothing if page is not None else ""
            self._referrers.await_rows()
            self.console.read_soon()
        self._show_page_titles()

    def _show_page_titles(self) -> None:
        """Of the panes about one page; who names it is in the title where there is no room for the table."""
        named = rows.referrers_title(self._page(), self._named_by.value)
        title(self._referrers, named, f"{self.key_names('url.tab_links')} all links")
        words = self._cluster_words()
        name = f"Page · {named.lower()} ({self.key_names('url.tab_links')})" if self.has_class("-narrow") else "Page"
        title(self._info, name, f"{words} · {self.key_names('rule.from_selection')} makes a rule" if words else "")

    def show_titles(self) -> None:
        title(self._group_table, *self._groups.title_words())
        group = self._groups.current
        name = rows.key_words(group.key) if group is not None else "Pages"
        if group is not None and self._keyset.started:
            name += f" · {self._place()}"
        room = self.has_class("-narrow") and not self._page_table.mark_count  # else the pane below says it
        cluster = self._cluster_words() if room else ""
        title(self._page_table, f"{name} · {cluster}" if cluster else name)

    def _place(self) -> str:
        """Which row the cursor is on; of rows in an order of their own, of how many."""
        table = self._page_table
        if table.order is None and not table.needle:
            return rows.place_words(self._keyset, max(table.cursor_index, 0), whole=self._groups.whole)
        return f"row {count(table.cursor_index + 1)} · only the {count(len(table.held_rows()))} rows loaded"

    def _page(self) -> PageView | None:
        return self._keyset.row(self._page_table.cursor_key)

    def _cluster(self) -> Cluster | None:
        """That of the page under the cursor; the largest one while the cursor is among the groups."""
        page = self._page()
        if self.focused is not self._page_table:
            return next(iter(self._clusters), None)
        return next((one for one in self._clusters if page is not None and page.url in one.urls), None)

    def situation(self) -> Situation:
        """The group, and the marked pages or the one under the cursor; none of these while groups are marked."""
        group = self._groups.current
        page = self._page()
        among_groups = self.focused is self._group_table and self._group_table.mark_count > 0
        here = (page.url,) if page is not None and not among_groups else ()
        failed = group.count if group is not None else 0
        return Situation(Where.failures, urls=self._list.marked_urls() or here, failed=failed)

    @property
    def wider(self) -> str:
        return "" if len(self._limits) == 1 else "back to all" if len(self._limits) == 2 else "wider"

    def again(self, *limit: Any) -> bool:
        """Limits the pages further, or not at all."""
        if limit:
            within, *by = limit
            self._limits.append((within, next(iter(by), ()) or rows.next_grouping(within)))
        elif len(self._limits) > 1:
            del self._limits[1:]
        else:
            return True
        self._group_anew()
        return True

    def chosen(self) -> Mapping[str, str]:
        _, by = self._limits[0]
        return {"by": " ".join(by) if by != GROUPINGS[0] else ""}

    def choose(self, words: Mapping[str, str]) -> None:
        by = tuple(words.get("by", "").split())
        if by in GROUPINGS:
            self._group_by(by)

    @handles("url.tab_links")
    def _go_to_links(self) -> None:
        self.console.go_to(Where.url, page.url if (page := self._page()) is not None else "", "links")

    @handles("failures.count")
    def _count_again(self) -> None:
        self._groups.count_again()
        self.console.read_soon()

    def make_rule(self, now: Situation) -> None:
        """Drafts a rule for the marked pages, else for those of the group that are alike."""
        cluster = self._cluster()
        urls = self._list.marked_urls() or (cluster.urls if cluster is not None else now.urls)
        self.console.go_to(Where.rule_draft, pattern_of(urls))

    def leave(self) -> None:
        if self.focused is self._page_table:
            self._group_table.focus()
        elif self.focused is self._referrers:
            self._page_table.focus()
        elif self.wider:
            self._limits.pop()
            self._group_anew()
        else:
            super().leave()

    def open_selected(self) -> None:
        page, line = self._page(), self._referrers.current
        if self.focused is self._referrers:
            self.console.go_to(Where.url, line.referrer.url if line is not None else "")
        elif self.focused is self._page_table and page is not None:
            self.console.go_to(Where.url, page.url)
        elif self._group_table.door is not None and (group := self._groups.current) is not None:
            self.again(group.key, ("origin",))
        else:
            self._page_table.focus()

    @handles("group.retry")
    def _retry_group(self) -> None:
        if (group := self._groups.current) is not None:
            self._asked_for += 1
            self._retried, self.awaited = group, queries.retry_plan(group.key, group.origins, self._asked_for)
            self.console.read_soon()

    @handles("failures.group")
    def _pick_grouping(self) -> None:
        """Asks by what to group; the cursor is on what follows the present grouping."""
        options = [(" ".join(by), grouping_words(by)) for by in GROUPINGS]
        following = GROUPINGS[(GROUPINGS.index(self._groups.by) + 1) % len(GROUPINGS)]
        dialog = ChooseScreen("Group failures by", options, " ".join(following))
        self.app.push_screen(dialog, lambda by: self._group_by(tuple(str(by).split())) if by else None)

    def _group_by(self, by: tuple[str, ...]) -> None:
        self._limits[-1] = self._limits[-1][0], by
        self._group_anew()

    def _limit(self) -> None:
        within, by = self._limits[-1]
        self._page_table.set_relation(pages_by((*by, *rows.alike(within))))
        self._groups.group_by(by, within)

    def _group_anew(self) -> None:
        self.awaited = None
        self.let_keys_go_on()
        self._limit()
        self.show_titles()
        self.console.read_soon(instead=True)

    def _show_groups(self) -> None:
        self._point_at_group()
        if self._groups.current is None:
            self._page_table.set_rows(())  # nothing is read where nothing has failed
        self._make_room()

    def _point_at_group(self) -> None:
        group = self._groups.current
        key, number = (group.key, group.count) if group is not None else ((), 0)
        if (key, self._groups.sought) != (self._keyset.key, self._keyset.sought):
            self._page_table.clear_marks()
            self._list.look(GroupWindow(key, number, sought=self._groups.sought))
        self._keyset.count = number
        if not self._keyset.started:
            self._show_pages()
        self.console.read_soon()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._group_table:
            self._point_at_group()
        elif event.table is self._page_table:
            self._show_page()

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        self._list.marked_urls()
