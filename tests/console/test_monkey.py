"""Whatever is pressed, typed, pasted, clicked and resized: nothing raises, and `esc` and `q` lead out.

`TUI_CRAWLER_MONKEYS=200 pytest tests/console/test_monkey.py` lets more of them play.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.console.monkey import ENDS, STAYS, Press, draw, play_alone, scene
from tests.console.sample_crawl import API
from tests.console.support import stage
from tui_crawler.console.action import Where
from tui_crawler.console.navigation import MANY_SCREENS
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.url.screen import UrlScreen

pytestmark = pytest.mark.usefixtures("painted_at_once")

MONKEYS = int(os.environ.get("TUI_CRAWLER_MONKEYS", "6"))
STEPS = 60 if MONKEYS < 20 else 400


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures and exports are written here."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("seed", range(MONKEYS))
async def test_a_monkey_finds_its_way_out(seed: int) -> None:
    chance = random.Random(seed)
    where = scene(chance)
    assert await play_alone(where, draw(chance, STEPS, leaves=seed % 5 == 4)) > 0


def test_every_key_of_the_key_map_is_drawn() -> None:
    steps = [step for seed in range(8) for step in draw(random.Random(seed), 2_500, leaves=True)]
    drawn = {step.key for step in steps if isinstance(step, Press)}
    assert drawn >= {*STAYS, *ENDS}
    assert {"question_mark", "enter", "escape", "g g", "t a", "t u"} <= drawn


async def test_links_followed_from_page_to_page_do_not_pile_up_screens_and_esc_leads_back() -> None:
    async with stage((120, 40)) as held:
        await held.press("3", "enter", rounds=2)
        for _ in range(MANY_SCREENS - 3):
            held.app.go_to(Where.url, f"{API}/x")
            await held.quiet(1)
        for _ in range(3):
            await held.press("url.tab_links", "enter", rounds=1)
        assert len(held.app.screen_stack) == MANY_SCREENS
        assert isinstance(held.app.screen, UrlScreen)
        for _ in range(MANY_SCREENS - 1):
            await held.press("escape", rounds=0)
        assert isinstance(held.app.screen, OverviewScreen)


async def test_a_draft_of_rules_stays_below_however_deep_it_is() -> None:
    async with stage((120, 40)) as held:
        for _ in range(MANY_SCREENS):
            held.app.go_to(Where.origin, API)
            await held.quiet(1)
        held.app.go_to(Where.rule_draft, f"{API}/x")
        await held.quiet()
        draft = held.app.screen
        assert isinstance(draft, RuleEditorScreen)
        held.app.go_to(Where.url, f"{API}/x")
        await held.quiet()
        assert held.app.screen_stack[-2] is draft
