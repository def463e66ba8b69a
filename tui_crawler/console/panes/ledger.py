"""The ledgers of the statistics: refused links, limbo, stashes, runs, workers, actions and more, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tui_crawler.console.crawl_table import CrawlTable, Row
from tui_crawler.console.format import READING, clock, count
from tui_crawler.console.present.action_rows import action_row
from tui_crawler.console.present.session_rows import session_row
from tui_crawler.console.present.stat_rows import (
    LEDGER_COLUMNS,
    LEDGERS,
    NOTHING,
    SPANS,
    RefusedReason,
    limbo_row,
    refused_row,
    run_row,
    stash_row,
    validation_row,
    worker_loads,
    worker_row,
)
from tui_crawler.console.stat_parts import (
    Actions,
    Limbo,
    Refusals,
    Runs,
    Sessions,
    StashCount,
    Stashes,
    ValidationCount,
    Validations,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.ports import SessionView
    from tui_crawler.console.refresh import Part
    from tui_crawler.domain.desk_view import ActionView, LimboView
    from tui_crawler.domain.view import RunView

COUNTED = frozenset({"stashes", "validation"})
"""Ledgers that are counted only when one asks: it takes a while."""


class LedgerPane(CrawlTable):
    """Shows one ledger; only that one is read."""

    def __init__(self) -> None:
        """Begins with the first ledger, not read yet."""
        super().__init__(LEDGER_COLUMNS[LEDGERS[0][0]], placeholder=READING, id="ledger", classes="pane")
        self._at = 0
        self._asked = 0
        self._value: object = None

    @property
    def name_shown(self) -> str:
        """The ledger that is shown, by its word."""
        return LEDGERS[self._at][0]

    @property
    def part(self) -> Part | None:
        """What is to be read for it; None: workers are told by the origins."""
        match self.name_shown:
            case "refused":
                return Refusals()
            case "limbo":
                return Limbo()
            case "stashes":
                return Stashes(self._asked)
            case "validation":
                return Validations(self._asked)
            case "runs":
                return Runs()
            case "sessions":
                return Sessions()
            case "actions":
                return Actions()
            case _:
                return None

    def take(self, parts: Mapping[Part, object]) -> None:
        """Shows its part when it was read anew."""
        part = self.part
        value = parts.get(part) if part is not None else None
        if part is None or (value is not None and value is not self._value):
            self._value = value
            self._show()

    def turn_to(self, name: str) -> bool:
        """Shows another ledger: the one named, or the next one; what must be counted is counted anew.

        False when there is none of that name.
        """
        names = [key for key, _ in LEDGERS]
        if name and name not in names:
            return False
        self._at = names.index(name) if name else (self._at + 1) % len(names)
        self._asked += self.name_shown in COUNTED
        self._value = None
        self.placeholder = READING
        self.set_rows([])
        self.set_columns(LEDGER_COLUMNS[self.name_shown])
        if self.part is None:
            self._show()
        return True

    def count_again(self) -> None:
        """Counts what must be counted: what is shown, or the stashes."""
        self.turn_to(self.name_shown if self.name_shown in COUNTED else "stashes")

    def record(self, key: object) -> object | None:
        """An entry as it was read, None when the ledger has no such entries."""
        names = {"runs": "run_id", "sessions": "session_id", "actions": "action_id"}
        name = names.get(self.name_shown)
        entries = cast("Sequence[object]", self._value or ()) if name is not None else ()
        return next((one for one in entries if getattr(one, str(name), None) == key), None)

    @property
    def url(self) -> str:
        """The URL under the cursor, empty when there is none."""
        key = self.cursor_key
        match self.name_shown:
            case "refused":
                reasons = cast("Sequence[RefusedReason]", self._value or ())
                return next((one.sample_url for one in reasons if one.reason == key), "")
            case "limbo" if isinstance(key, tuple):
                return str(key[1])
            case "actions":
                target = getattr(self.record(key), "target", "")
                return target if "://" in target and " " not in target else ""
            case _:
                return ""

    def titles(self, run: RunView | None) -> tuple[str, str]:
        """What stands at the top and at the bottom of its border; raw text."""
        name, words = LEDGERS[self._at]
        value, keys = self._value, self._crawler.appearance.key_names
        if self.row_count:
            words += f" · {count(self.row_count)}"
        if name in SPANS:
            words += f" · {SPANS[name]}"
        if isinstance(value, StashCount | ValidationCount):
            what = "counted"
            if isinstance(value, ValidationCount) and not value.totals.whole:
                what = f"first {count(value.totals.pages)} pages"
            words += f" · {what} at {clock(value.at, self._crawler.clock.zone)} · {keys('stats.count')} again"
        if name == "workers" and run is not None:
            words += f" · run {run.run_id}, {run.owner}" if run.live else " · none is at work"
        return words, f"{keys('stats.ledger')}: more tables ({len(LEDGERS) - 1})"

    @property
    def _crawler(self) -> CrawlerApp:
        return cast("CrawlerApp", self.app)

    def _show(self) -> None:
        self.placeholder = NOTHING[self.name_shown]
        self.set_rows(self._rows_of(self._value))

    def _rows_of(self, value: object) -> list[Row]:
        console = self._crawler
        match self.name_shown:
            case "refused":
                return [refused_row(one) for one in cast("Sequence[RefusedReason]", value)]
            case "limbo":
                return [limbo_row(one) for one in cast("Sequence[LimboView]", value)]
            case "stashes":
                return [stash_row(one) for one in cast("StashCount", value).stashes]
            case "validation":
                return [validation_row(*one) for one in cast("ValidationCount", value).totals.sums]
            case "runs":
                run, now, zone = console.picture.run, console.clock.wall_ms(), console.clock.zone
                alive = run.run_id if run is not None and run.live else 0
                entries = cast("Sequence[RunView]", value)
                return [run_row(one, now, zone, live=one.run_id == alive) for one in entries]
            case "sessions":
                now, zone = console.clock.wall_ms(), console.clock.zone
                return [session_row(one, now, zone) for one in cast("Sequence[SessionView]", value)]
            case "actions":
                zone = console.clock.zone
                return [action_row(one, zone) for one in cast("Sequence[ActionView]", value)]
            case _:
                return [worker_row(load) for load in worker_loads(console.picture.origins.values())]
