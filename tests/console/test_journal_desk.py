"""What is told of an intent that fails: what stands in the journal will be carried out, and is not told as lost."""

from __future__ import annotations

import threading

import pytest

from tests.console.sample_crawl import WWW
from tests.console.support import FakeJournal, stage
from tests.support.patience import PATIENT_S
from tui_crawler.console.operator.intent import Intent
from tui_crawler.console.operator.journal import IntentOutcome, JournalWriter, News
from tui_crawler.domain.records.command import ActionResult, Command, PauseOrigins, RefetchRobots, ResumeOrigins
from tui_crawler.domain.records.failure import NotTakenUp, StorageFailure

BOTH = Intent((PauseOrigins((WWW,)), RefetchRobots((WWW,))), "both", (ResumeOrigins((WWW,)),))
FULL = "the disk is full"
LATER = f"the next run applies it; not now: {FULL}"


class Written(FakeJournal):
    """Takes so many commands, and cannot tell what became of them."""

    def __init__(self, takes: int, error: Exception) -> None:
        super().__init__()
        self._takes = takes
        self._error = error

    def send(self, command: Command, who: str, undoes: int = 0) -> int:
        if len(self.sent) == self._takes:
            raise StorageFailure(FULL)
        return super().send(command, who, undoes)

    def result(self, action_id: int) -> ActionResult | None:
        raise self._error


def told(journal: FakeJournal, number: int) -> list[tuple[IntentOutcome, str]]:
    """The first so many news of the intent."""
    heard: list[News] = []
    enough = threading.Event()

    def hear(news: News) -> None:
        heard.append(news)
        if len(heard) == number:
            enough.set()

    journal_writer = JournalWriter(lambda: journal, "tester", lambda: None, hear)
    thread = threading.Thread(target=journal_writer.run)
    thread.start()
    journal_writer.hand_in(BOTH)
    assert enough.wait(PATIENT_S)
    journal_writer.close()
    thread.join(PATIENT_S)
    return [(news.outcome, news.error) for news in heard]


def test_what_is_written_waits_whatever_keeps_it_from_being_carried_out() -> None:
    assert told(Written(2, NotTakenUp(LATER)), 2) == [(IntentOutcome.written, ""), (IntentOutcome.waiting, LATER)]


def test_what_is_written_waits_when_what_became_of_it_cannot_be_read() -> None:
    unread = "what became of it cannot be read: disk I/O error"
    assert told(Written(2, StorageFailure("disk I/O error")), 2) == [
        (IntentOutcome.written, ""),
        (IntentOutcome.waiting, unread),
    ]


def test_what_is_written_in_part_says_so_and_what_is_not_written_at_all_does_not() -> None:
    part = f"only 1 of 2 parts could be written and will be applied: {FULL}"
    assert told(Written(1, NotTakenUp(LATER)), 1) == [(IntentOutcome.failed, part)]
    assert told(Written(0, NotTakenUp(LATER)), 1) == [(IntentOutcome.failed, FULL)]


async def test_the_console_says_that_it_is_noted_and_keeps_it_for_undo(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage((160, 40)) as held:
        monkeypatch.setattr(held.journal, "result", Written(2, NotTakenUp(LATER)).result)
        held.app.command_queue.carry_out(BOTH)
        await held.decided()
        assert f"◷ both: noted, {LATER}" in held.text()
        assert held.app.command_queue.undo_stack.next_undo == "both"
