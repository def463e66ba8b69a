"""Adding seeds, the help sheet, the palette, the prompt, themes, notices: what lies over the rows or beside them."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import TextArea

from tests.console.support import stage
from tui_crawler.console.dialogs.choose import ChooseScreen
from tui_crawler.console.dialogs.help import HelpScreen
from tui_crawler.console.dialogs.seeds import read_seeds
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.origin.screen import OriginScreen
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.screen.dialog import Dialog
from tui_crawler.domain.records.command import AddSeeds, PauseOrigins
from tui_crawler.domain.url import scheme_words

PASTED = ("https://one.example/", "https://two.example/x#part", "https://one.example/", "ftp://three.example", "# no")


async def test_many_seeds_are_pasted_judged_and_added() -> None:
    async with stage() as held:
        await held.press("a")
        area = held.app.screen.query_one(TextArea)
        area.text = "\n".join(PASTED)
        await held.quiet()
        text = held.text()
        assert "2 seeds of 2 origins  2 new origins, 1 repeated" in text
        assert "✗ line 4: ftp://three.example is not http or https but ftp" in text
        await held.press("ctrl+s")
        await held.decided()
        assert held.journal.sent == [AddSeeds(("https://one.example/", "https://two.example/x"))]


async def test_a_dialog_that_is_answered_twice_closes_nothing_but_itself() -> None:
    async with stage() as held:
        await held.press("enter", "ctrl+p")
        below, dialog = held.app.screen_stack[-2:]
        assert isinstance(dialog, Dialog)
        dialog.dismiss(None)
        dialog.dismiss("app.quit")
        await held.quiet()
        assert held.app.screen is below
        assert len(held.app.screen_stack) == 2


async def test_nothing_is_added_without_a_seed_or_after_escape() -> None:
    async with stage() as held:
        await held.press("a", "ctrl+s")
        assert "Add seeds" in held.text()
        await held.press("escape")
        assert "Add seeds" not in held.text()
        assert held.journal.sent == []


def test_a_missing_scheme_is_https_and_a_bare_word_is_refused() -> None:
    seeds = read_seeds("example.org/a\nnonsense", ["https://example.org"])
    assert seeds.urls == ("https://example.org/a",)
    assert seeds.new_origins == ()
    assert [number for number, _, _ in seeds.refused] == [2]
    assert read_seeds("127.0.0.1:81/a", ["http://127.0.0.1:81"]).urls == ("http://127.0.0.1:81/a",)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("https://a.example/\nhttp://b.example/", ""),
        ("a.example\nhttp://b.example/", "no scheme given: https:// used; write http:// to change it"),
        ("known.example:81", "no scheme given: http:// used (local, or known with it); write https:// to change it"),
        ("localhost", "no scheme given: http:// used (local, or known with it); write https:// to change it"),
        (
            "a.example\n127.0.0.1:81",
            "no scheme given: https:// used, http:// where local or the only one known; write the other to change it",
        ),
    ],
)
def test_the_scheme_that_was_taken_is_told(typed: str, words: str) -> None:
    assert scheme_words(read_seeds(typed, ["http://known.example:81"]).schemes) == words


async def test_a_host_without_a_scheme_says_which_was_taken_before_and_after_it_is_added() -> None:
    async with stage() as held:
        await held.press("a")
        held.app.screen.query_one(TextArea).text = "new.example:9306"
        await held.quiet()
        assert "no scheme given: https:// used; write http:// to change it" in held.text()
        await held.press("ctrl+s")
        await held.decided()
        assert held.journal.sent == [AddSeeds(("https://new.example:9306/",))]
        assert "no scheme given: https:// used; write http:// to change it" in held.text()


async def test_help_lists_keys_with_reasons_and_runs_what_is_chosen() -> None:
    async with stage() as held:
        await held.press("?")
        assert isinstance(held.app.screen, HelpScreen)
        text = held.text()
        assert "Keys · Origins" in text
        assert "— no action of this console to undo" in text
        assert "▶ crawling" in text
        await held.enter("failed pages by", rounds=3)
        assert isinstance(held.app.screen, FailuresScreen)


async def test_help_shows_changed_keys_and_they_work() -> None:
    async with stage(keymap={"origin.toggle_pause": "u", "nonsense.action": "y"}) as held:
        assert "keymap: unknown action nonsense.action" in held.text()
        assert "u pause" in held.text().splitlines()[-1]
        await held.press("?")
        assert "✎ u" in held.text()
        await held.press("escape", "p")
        assert held.journal.sent == []
        await held.press("u")
        await held.decided()
        assert isinstance(held.journal.sent[0], PauseOrigins)


async def test_palette_does_actions_and_goes_to_origins() -> None:
    async with stage() as held:
        await held.press("ctrl+p")
        assert "Palette" in held.text()
        await held.enter("api.ex", rounds=2)
        assert isinstance(held.app.screen, OriginScreen)
        assert "Origins › api.example.org" in held.text()
        await held.press("ctrl+p", rounds=0)
        await held.enter("slower")
        await held.decided()
        assert len(held.journal.sent) == 1


async def test_prompt_takes_words_with_arguments_and_refuses_others() -> None:
    async with stage() as held:
        await held.enter(":sort todo", rounds=0)
        assert "by todo ▼" in held.text()
        await held.enter(":nonsense", rounds=0)
        assert "unknown action nonsense here" in held.text()
        await held.enter(":add example.org")
        assert "1 seed of 1 origin" in held.text()


async def test_prompt_is_left_with_escape() -> None:
    async with stage() as held:
        await held.press(":", "p", "escape", "j", rounds=0)
        assert held.focused == "origins"


async def test_themes_go_round_and_an_unknown_one_is_told() -> None:
    async with stage(theme="no-such-theme") as held:
        assert "There is no theme no-such-theme." in held.text()
        assert held.app.theme == "tui-crawler-dark"
        await held.press("theme.next")
        assert held.app.theme == "tui-crawler-light"
    async with stage(theme="textual-dark") as held:
        assert held.app.theme == "textual-dark"
        assert "api.example.org" in held.text()


async def test_a_picture_is_written(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    async with stage() as held:
        await held.press("app.screenshot")
    pictures = list((tmp_path / "screenshots").glob("tui-crawler-*.svg"))
    assert len(pictures) == 1
    assert "api.example.org" in pictures[0].read_text()


async def test_notices_of_a_kind_are_one_and_go_away() -> None:
    async with stage() as held:
        held.app.tell("a", "the same")
        held.app.tell("a", "the same")
        held.app.tell("b", "another")
        await held.quiet()
        assert "the same ×2" in held.text()
        assert len(held.app.notices) == 2
        await held.settle(2, move_ms=6_000)
        assert held.app.notices == ()
        assert "the same" not in held.text()


async def test_footer_is_clicked() -> None:
    async with stage((160, 30)) as held:
        line = held.text().splitlines()[-1]
        await held.pilot.click(offset=(line.index("f freeze") + 2, 29))
        await held.settle()
        assert "‖ frozen" in held.text()


async def test_pasted_controls_do_not_get_into_an_input() -> None:
    async with stage() as held:
        await held.press("/", rounds=0)
        held.app.post_message(events.Paste("a\x9b31m\x1b]52;c;x\x07pi"))
        await held.quiet()
        await held.press("enter", rounds=0)
        assert "filter: a31m]52;c;xpi" in held.text()


@pytest.mark.parametrize(
    "action", ["url.inspect_why", "origin.add", "sort.pick", "table.pivot", "view.urls", "sql.open"]
)
async def test_a_screen_closed_before_its_widgets_are_there_is_no_fault(action: str) -> None:
    async with stage() as held:
        await held.press("2", rounds=2)
        held.app.dispatcher.do(action)
        while len(held.app.screen_stack) > 1:
            held.app.pop_screen()
        await held.quiet()
        await held.settle(1)
        assert isinstance(held.app.screen, OverviewScreen)
        await held.press("2", rounds=1)
        assert isinstance(held.app.screen, FailuresScreen)


async def test_a_long_list_leaves_room_around_it() -> None:
    async with stage((80, 14)) as held:
        await held.press("s", rounds=1)
        assert isinstance(held.app.screen, ChooseScreen)
        assert held.app.screen.query_one(".chooser").region.height == 12
