"""A hosted run that has ended goes on when what is asked for, done again or undone brings it work."""

from __future__ import annotations

import pytest

from tests.console.support import FakeHost, Stage, stage
from tui_crawler.console.operator.engine_host import EnginePhase
from tui_crawler.console.operator.intent import Intent
from tui_crawler.domain.records.command import ApplyRules, Command, Exclude, PauseOrigins, ResumeOrigins

ON, OFF = Exclude("domain", "example"), Exclude("domain", "example", remove=True)
RULES = ApplyRules("{}", 3)
HELD, GO = PauseOrigins(), ResumeOrigins()


async def undo_after_the_end(held: Stage, host: FakeHost, done: Command, inverse: Command, after: str) -> EnginePhase:
    """Something is done, the run ends over it, and `z` takes it back; answers where the engine stands then."""
    held.app.command_queue.carry_out(Intent((done,), "do it", (inverse,)))
    await held.decided()
    host.end.set()
    await held.engine_over()
    assert held.app.hosting.phase is EnginePhase.ended
    host.end.clear()
    held.journal.after = after
    await held.press("journal.undo")
    await held.decided()
    assert held.journal.sent == [done, inverse]
    phase = held.app.hosting.phase
    host.end.set()
    return phase


@pytest.mark.parametrize(
    ("done", "inverse", "after"),
    [
        (ON, OFF, '{"changed": true, "origins": ["https://a.example"], "pages": {}}'),
        (ON, OFF, '{"changed": true, "origins": [], "pages": {"https://a.example": 3}}'),
        (RULES, RULES, '{"rulesets": {"main": 5}, "origins": ["https://a.example"]}'),
        (RULES, RULES, '{"rulesets": {"main": 5}, "origins": [], "pages": {"https://a.example": 3}}'),
        (HELD, GO, '{"https://a.example": false, "let_go": 1}'),
    ],
    ids=[
        "an origin goes on",
        "pages come back",
        "rules",
        "rules that bring pages back",
        "a pause that kept an origin from its pages",
    ],
)
async def test_undoing_what_has_ended_the_run_starts_the_engine_again(
    done: Command, inverse: Command, after: str
) -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        assert await undo_after_the_end(held, host, done, inverse, after) is EnginePhase.running


@pytest.mark.parametrize(
    ("done", "inverse", "after"),
    [
        (ON, OFF, '{"changed": true, "origins": [], "pages": {}}'),
        (ON, OFF, ""),
        (OFF, ON, '{"changed": true, "origins": ["https://a.example"], "pages": {}}'),
        (RULES, RULES, '{"rulesets": {"main": 5}, "origins": []}'),
        (HELD, GO, '{"https://a.example": false}'),
        (GO, HELD, '{"https://a.example": true}'),
    ],
    ids=[
        "nobody was excluded",
        "no answer",
        "excluded again",
        "rules that let nobody go on",
        "a pause of finished origins",
        "paused again",
    ],
)
async def test_undoing_what_brings_no_work_starts_nothing(done: Command, inverse: Command, after: str) -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        assert await undo_after_the_end(held, host, done, inverse, after) is EnginePhase.ended
