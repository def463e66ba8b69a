"""View 7: jobs, and the ledgers: refused links, limbo, stashes, validation, runs, actions of operators."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.handlers import handles
from tui_crawler.console.jobs.queries import LEDGERS, LedgerCount
from tui_crawler.console.operator.intent import Intent, pause_jobs, resume_jobs, set_jobs, shift_niceness, toggle_jobs
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.shared_lines import FRAME
from tui_crawler.console.reading import refresh
from tui_crawler.console.reading.ask import COUNTER_MS, Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.operator_view import ActionView, JobView, LimboView
from tui_crawler.domain.records.view import RunView
from tui_crawler.text.format import clock, count, plural
from tui_crawler.text.relations.jobs import JOBS
from tui_crawler.text.relations.refused import RefusedReason
from tui_crawler.text.relations.runs import RUNS
from tui_crawler.text.safe_text import safe


class LedgerPane(ReachesConsole, CrawlTable):
    """Shows one ledger; only that one is read."""

    def __init__(self) -> None:
        self.word, self.ledger = next(iter(LEDGERS.items()))
        super().__init__(self.ledger.relation, id="ledger", classes="pane")
        self._asked = 0
        self.reading = PaneReading(self._ask, self._show)

    def _ask(self) -> Ask[Any]:
        ask = self.ledger.ask
        return replace(ask, about=(self._asked,)) if self.ledger.counted else ask

    def turn_to(self, name: str) -> bool:
        """Show another ledger: the one named, or the next one. Counted ledgers are counted again.

        False when there is none of that name.
        """
        names = list(LEDGERS)
        if name and name not in names:
            return False
        self.word = name or names[(names.index(self.word) + 1) % len(names)]
        self.ledger = LEDGERS[self.word]
        self._asked += self.ledger.counted
        self.await_rows()
        self.set_relation(self.ledger.relation)
        if (value := self.reading.value) is not None:
            self._show(value)
        return True

    def count_again(self) -> None:
        """Counts what must be counted: what is shown, or the stashes."""
        self.turn_to(self.word if self.ledger.counted else "stashes")

    @property
    def url(self) -> str:
        """The URL under the cursor, empty when there is none."""
        match self.current:
            case RefusedReason(sample_url=str(url)) | LimboView(url=str(url)):
                return url
            case ActionView(target=str(url)) if "://" in url and " " not in url:
                return url
        return ""

    @property
    def runs_chosen(self) -> tuple[int, ...]:
        """The runs to be compared; none while another ledger is shown, or there is none before."""
        marked, here = sorted(key for key in self.marked if isinstance(key, int)), self.cursor_key
        if self.shows_runs and len(marked) > 1:
            return tuple(marked[-2:])
        return (here - 1, here) if self.shows_runs and isinstance(here, int) and here > 1 else ()

    def titles(self) -> tuple[str, str]:
        """What stands at the top and at the bottom of its border; raw text."""
        ledger, words = self.ledger, self.ledger.title
        value, keys = self.reading.value, self.console.appearance.key_names
        words += f" · {count(self.row_count)}" if self.row_count else ""
        words += f" · {ledger.span}" if ledger.span else ""
        if isinstance(value, LedgerCount):
            at = clock(value.at, self.console.clock.zone)
            words += f" · {value.words} at {at} · {keys('stats.count')} again"
        compares = f"{keys('nav.open')}: compare two · " if self.shows_runs else ""
        return words, f"{compares}{keys('stats.ledger')}: more tables ({len(LEDGERS) - 1})"

    @property
    def shows_runs(self) -> bool:
        return self.ledger.relation is RUNS

    def _show(self, value: Any) -> None:
        run = self.console.live_state.run
        alive = run.run_id if run is not None and run.live else 0
        records = value.records if isinstance(value, LedgerCount) else value
        lines = (replace(one, live=one.run_id == alive) if isinstance(one, RunView) else one for one in records)
        self.fill(lines, present(self.console.clock))


NICER = 10
LARGEST = 1_000_000
JOBS_SHOWN = 6
_HINTS = {
    "nice": "a whole number; lower is sooner",
    "depth": "links away from a seed, or none",
    "concurrency": "pages in flight at most, or none; 0 pauses",
}


class JobsScreen(RowsScreen):
    """The jobs of a database and what can be done with them, over one ledger at a time."""

    WHERE = Where.jobs
    CRUMBS = ("Jobs",)
    HERE = frozenset({"origin.add"})
    AUTO_FOCUS = "#jobs"
    MARKS = "#jobs"

    def body(self) -> Iterable[Widget]:
        self._job_table = CrawlTable(JOBS, id="jobs", classes="pane")
        self._ledger = LedgerPane()
        self._jobs_read = PaneReading(lambda: refresh.JOBS.every(COUNTER_MS), self._show_jobs)
        self.reads = (self._jobs_read, self._ledger.reading)
        yield Vertical(self._job_table, self._ledger, id="body")

    @property
    def _jobs(self) -> tuple[JobView, ...]:
        return self._jobs_read.value or ()

    def _show_jobs(self, jobs: tuple[JobView, ...]) -> None:
        self._job_table.fill(jobs, present(self.console.clock))
        self._job_table.styles.height = min(max(len(jobs), 1), JOBS_SHOWN) + FRAME

    def show_titles(self) -> None:
        title(self._job_table, f"Jobs · {self._job_table.told(count(len(self._jobs)))} · pages as they are now")
        words, hint = self._ledger.titles()
        title(self._ledger, *((f"{words} · {hint}",) if self.has_class("-narrow") else (words, hint)))

    def _targets(self) -> tuple[JobView, ...]:
        chosen = self._job_table.chosen
        return tuple(job for job in self._jobs if job.job in chosen)

    def situation(self) -> Situation:
        """The jobs, and the URL under the cursor of the ledger."""
        return Situation(Where.jobs, jobs=self._targets(), urls=tuple(filter(None, (self._ledger.url,))))

    def chosen(self) -> Mapping[str, str]:
        """The ledger, unless it is one that takes long to count."""
        word = self._ledger.word
        return {"ledger": "" if word == next(iter(LEDGERS)) or self._ledger.ledger.counted else word}

    def choose(self, words: Mapping[str, str]) -> None:
        ledger = words.get("ledger", "")
        if ledger in LEDGERS and not LEDGERS[ledger].counted:
            self._ledger.turn_to(ledger)
        self.show_titles()

    @handles("job.later", NICER)
    @handles("job.sooner", -NICER)
    def _shift_niceness(self, now: Situation, by: int) -> None:
        self.console.command_queue.carry_out(shift_niceness(now.jobs, by))
        self.marks.used()

    @handles("stats.count")
    def _count_again(self) -> None:
        self._ledger.count_again()
        self.show_titles()
        self.console.read_soon()

    def open_selected(self) -> None:
        """Open what the cursor is on in the ledger."""
        if self.focused is self._ledger and self._ledger.shows_runs:
            self.compare("")
        elif self.focused is self._ledger:
            self.console.go_to(Where.url, self._ledger.url)

    def compare(self, text: str) -> None:
        """Compares the runs typed; else two that are marked, or the one under the cursor with the one before it."""
        chosen = self._ledger.runs_chosen
        if text or not chosen:
            super().compare(text)
        else:
            self.console.go_to(Where.diff, chosen)

    @handles("stats.ledger")
    def _turn(self, name: str) -> None:
        if not self._ledger.turn_to(name):
            self.console.tell("no", f"{name}: there is no such list", "warning")
        self.show_titles()
        self.console.read_soon()

    @handles("job.toggle_pause", toggle_jobs, "")
    @handles("job.pause", pause_jobs, "pause job: it is already paused")
    @handles("job.resume", resume_jobs, "resume job: it is not paused")
    def _steer(self, now: Situation, make: Callable[[Sequence[JobView]], Intent | None], why: str) -> None:
        """Carries out what is possible; else says `why` not, or that the jobs are aborted."""
        intent = make(now.jobs)
        if intent is None and (not why or all(job.aborted for job in now.jobs)):
            why = "to continue an aborted job: tui-crawler jobs unabort"
        if intent is None:
            self.console.tell("no", why, "muted")
        else:
            self.console.command_queue.carry_out(intent)
            self.marks.used()

    @handles("job.nice", "nice")
    @handles("job.depth", "depth")
    @handles("job.concurrency", "concurrency")
    def _ask_number(self, argument: str, field: str) -> None:
        """Takes the number that was typed with the word, or opens the line for it."""
        targets = self._targets()
        if argument:
            self._set(field, argument, targets)
            return
        value = getattr(targets[0], field)
        of = f"job {targets[0].job}" if len(targets) == 1 else plural(len(targets), "job")
        now = f"now {'none' if value is None else value} · " if len(targets) == 1 else ""

        def entered(text: str) -> None:
            if text.strip():
                self._set(field, text, targets)
            self._job_table.focus()

        line = self.query_one(EntryLine)
        line.open(EntryUse(field, entered), safe(f"{field} of {of}", 40), "", now + _HINTS[field])

    def _set(self, field: str, text: str, targets: tuple[JobView, ...]) -> None:
        number, word = read_number(text), text.strip().lower()
        limitless = word == "none" and field != "nice"
        if not limitless and (number is None or abs(number) > LARGEST or (number < 0 and field != "nice")):
            self.console.tell("no", f"{field} is {_HINTS[field]}, not {text}", "warning")
            return
        intent = set_jobs(targets, field, None if limitless else number)
        if intent is None:
            self.console.tell("no", f"{field} is {word} already", "muted")
        self.console.command_queue.carry_out(intent)
        self.marks.used()


def read_number(text: str) -> int | None:
    """The whole number a person typed, None when it is none."""
    digits = text.strip()
    bare = digits.removeprefix("-")
    return int(digits) if bare.isascii() and bare.isdigit() and len(bare) <= 9 else None
