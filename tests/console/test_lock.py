"""What the operator sees, and what becomes of an action, while another program keeps the database locked."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from datetime import UTC

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW, WWW, run_view
from tests.console.support import FakeHost, FakeJournal, stage
from tests.support.patience import PATIENT_S
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.console.operator.intent import Intent
from tui_crawler.console.operator.journal import CLOSE_MS, IntentOutcome, JournalWriter, News
from tui_crawler.console.reading.refresh import LONG_MS, Lock, LockWatch, lock_words
from tui_crawler.domain.records.command import ActionResult, Command, PauseOrigins, RefetchRobots, ResumeOrigins
from tui_crawler.domain.records.failure import DatabaseLocked


def test_only_a_lock_that_lasts_without_a_commit_is_one() -> None:
    watch = LockWatch()
    assert watch.look(0, 1, NOW, 0) is None
    assert watch.look(17, 1, NOW, 1_000) is None
    assert watch.look(17, 2, NOW + LONG_MS, 1_000 + LONG_MS) is None, "somebody has committed"
    assert watch.look(18, 2, NOW, 5_000) is None, "somebody else has it"
    assert watch.look(18, 2, NOW + LONG_MS, 5_000 + LONG_MS) == Lock(18, NOW)
    assert watch.look(18, 2, NOW + 9_000, 14_000) == Lock(18, NOW)
    assert watch.look(0, 2, NOW + 9_000, 14_100) is None


def test_whose_lock_it_is_and_what_waits() -> None:
    crawls = lock_words(Lock(17, NOW), UTC, crawling=True)
    assert crawls == "by another program (process 17) since 10:41:07; the crawl waits"
    assert lock_words(Lock(0, NOW), UTC, crawling=False) == ("by another program since 10:41:07; your commands wait")


@pytest.mark.parametrize(("live", "waits"), [(True, "the crawl waits"), (False, "your commands wait")])
async def test_the_header_says_so_as_long_as_it_lasts(live: bool, waits: str) -> None:
    reports = FakeReports(newest_run=run_view(live=live))
    async with stage(reports=reports) as held:
        assert "database locked" not in held.text()
        reports.locked_by = 17
        for _ in range(3):
            await held.settle(move_ms=LONG_MS)
        assert "⚠ database locked  by another program (process 17) since " in held.text()
        assert waits in held.text()
        assert WWW.removeprefix("https://") in held.text(), "the rows stay"
        reports.locked_by = 0
        await held.settle(move_ms=LONG_MS)
        assert "database locked" not in held.text()


async def test_what_the_hosted_engine_notices_is_said_too() -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        host.locked_since = NOW
        await held.settle(move_ms=LONG_MS)
        assert "⚠ database locked  by another program since 10:41:07; the crawl waits" in held.text()
        host.locked_since = 0
        await held.settle(move_ms=LONG_MS)
        assert "database locked" not in held.text()


class LockedJournal(FakeJournal):
    """Another program has the lock whenever `locked` is set; after `takes` commands it takes it."""

    def __init__(self) -> None:
        super().__init__()
        self.locked = True
        self.takes = 0

    def send(self, command: Command, who: str, undoes: int = 0) -> int:
        if self.locked and not self.takes:
            raise DatabaseLocked("some.db is locked by another program")
        self.takes = max(0, self.takes - 1)
        return super().send(command, who, undoes)

    def result(self, action_id: int) -> ActionResult | None:
        if self.locked:
            raise DatabaseLocked("some.db is locked by another program")
        return super().result(action_id)


PAUSE = Intent((PauseOrigins((WWW,)), RefetchRobots((WWW,))), "pause")
RESUME = Intent((ResumeOrigins((WWW,)),), "resume")


class Desk:
    """A desk at work in its thread, and what it said."""

    def __init__(self, journal: FakeJournal, *now_ms: Callable[[], int]) -> None:
        self.heard: list[News] = []
        self._said = threading.Condition()
        self.journal_writer = JournalWriter(lambda: journal, "tester", lambda: None, self._hear, *now_ms)
        self.thread = threading.Thread(target=self.journal_writer.run)
        self.thread.start()

    def _hear(self, news: News) -> None:
        with self._said:
            self.heard.append(news)
            self._said.notify()

    def fates(self, number: int) -> list[tuple[str, IntentOutcome]]:
        """What the first so many news were."""
        with self._said:
            assert self._said.wait_for(lambda: len(self.heard) >= number, PATIENT_S)
        return [(news.intent.says, news.outcome) for news in self.heard[:number]]

    def end(self) -> None:
        self.journal_writer.close()
        self.thread.join(PATIENT_S)
        assert not self.thread.is_alive()


def test_an_action_waits_for_the_lock_says_so_at_once_and_is_written_once() -> None:
    journal = LockedJournal()
    journal.takes = 1  # the lock comes between the two commands of the first
    at_work = Desk(journal)
    at_work.journal_writer.hand_in(PAUSE)
    assert at_work.fates(1) == [("pause", IntentOutcome.locked)]
    at_work.journal_writer.hand_in(RESUME)
    assert at_work.fates(2)[1:] == [("resume", IntentOutcome.locked)]
    journal.locked = False
    fates = at_work.fates(6)
    assert [outcome for says, outcome in fates if says == "pause"] == [
        IntentOutcome.locked,
        IntentOutcome.written,
        IntentOutcome.done,
    ]
    assert [outcome for says, outcome in fates if says == "resume"] == [
        IntentOutcome.locked,
        IntentOutcome.written,
        IntentOutcome.done,
    ]
    assert journal.sent == [*PAUSE.commands, *RESUME.commands]
    at_work.end()
    assert at_work.journal_writer.left_over() == ()


def test_that_it_waits_is_told_once_though_the_lock_comes_again() -> None:
    journal = LockedJournal()
    at_work = Desk(journal)
    for _ in range(3):
        at_work.journal_writer.hand_in(RESUME)
    at_work.fates(3)
    for number in range(1, 4):
        journal.takes = 1
        at_work.fates(3 + number)
    at_work.end()
    assert [news.outcome for news in at_work.heard] == [IntentOutcome.locked] * 3 + [IntentOutcome.written] * 3


def test_what_is_written_waits_for_its_answer_as_long_as_the_lock_lasts() -> None:
    journal = LockedJournal()
    journal.takes = 1
    at_work = Desk(journal)
    at_work.journal_writer.hand_in(RESUME)
    assert at_work.fates(1) == [("resume", IntentOutcome.written)]
    journal.locked = False
    assert at_work.fates(2)[1:] == [("resume", IntentOutcome.done)]
    at_work.end()


def test_a_console_that_is_left_gives_up_what_the_lock_keeps_and_says_so() -> None:
    at_work = Desk(LockedJournal(), itertools.count(0, CLOSE_MS // 2).__next__)
    at_work.journal_writer.hand_in(PAUSE)
    at_work.journal_writer.hand_in(RESUME)
    left = ExitSummary(unwritten=at_work.journal_writer.left_over())
    assert left.lines() == (
        "Not written: pause; the database stayed locked.",
        "Not written: resume; the database stayed locked.",
    )
    at_work.end()


def test_what_was_asked_for_right_before_leaving_is_written_when_the_lock_goes() -> None:
    class BrieflyLocked(LockedJournal):
        def send(self, command: Command, who: str, undoes: int = 0) -> int:
            try:
                return super().send(command, who, undoes)
            finally:
                self.locked = False

    journal = BrieflyLocked()
    at_work = Desk(journal, lambda: 0)
    at_work.journal_writer.hand_in(RESUME)
    assert at_work.journal_writer.left_over() == ()
    assert journal.sent == [*RESUME.commands]
    at_work.end()
