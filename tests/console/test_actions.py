"""The table of actions: keys without clashes, none dead, reasons in words, and what is made from it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import product
from pkgutil import walk_packages

import pytest

from tests.console.sample_crawl import API, WWW, origin, origins
from tests.console.support import stage
from tests.support.keys_page import keys_markdown
from tui_crawler import console
from tui_crawler.console.action import Frame, Need, Situation, Where, why_not
from tui_crawler.console.actions import ACTIONS, BY_ID, actions_at, find_actions
from tui_crawler.console.appearance import Appearance
from tui_crawler.console.diagnosis import DiagnosisActions
from tui_crawler.console.dispatcher import Dispatcher
from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.keys import MENUS, TABLE_BINDINGS, USUAL, KeyNames, canonical
from tui_crawler.console.navigation import Navigation
from tui_crawler.console.operator import intent as intents
from tui_crawler.console.operator.commands import CommandQueue, UndoStack, delay_note
from tui_crawler.console.operator.shutdown import ExitActions
from tui_crawler.console.operator.takeover import HostTakeover
from tui_crawler.console.panes.notice import Notice, add_notice
from tui_crawler.console.replay.player import ReplayControls
from tui_crawler.console.routes import ROUTES
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.table.row_actions import RowActions
from tui_crawler.domain.records.command import ActionResult, PauseOrigins, ResumeOrigins, RetryPages, SetDelay
from tui_crawler.domain.records.operator_view import JobView
from tui_crawler.domain.records.page_view import FailureGroup


@pytest.mark.parametrize("where", Where)
def test_no_key_means_two_things_on_one_screen(where: Where) -> None:
    names = [action.id for action in actions_at(where)] + [str(binding.id) for binding in TABLE_BINDINGS]
    keys = Counter(key for name in names for key in canonical(USUAL[name]))
    assert [key for key, number in keys.items() if number > 1] == []


def test_a_single_key_is_one_verb_on_all_screens_and_there_are_at_most_sixty() -> None:
    verbs: dict[str, set[str]] = {}
    for action in ACTIONS:
        for key in (key for key in canonical(action.keys) if " " not in key):
            verbs.setdefault(key, set()).add(action.label)
    assert {key: labels for key, labels in verbs.items() if len(labels) > 1} == {}
    moves = {key for binding in TABLE_BINDINGS for key in canonical(USUAL[str(binding.id)]) if " " not in key}
    assert not moves & set(verbs)
    assert len(moves | set(verbs)) <= 60


def test_two_keys_begin_with_the_key_of_a_menu_and_every_menu_leads_somewhere() -> None:
    assert {BY_ID[menu].keys: menu for menu in MENUS.values()} == dict(MENUS)
    first = {key.split()[0] for keys in USUAL.values() for key in canonical(keys) if " " in key}
    assert first == set(MENUS)
    for where, (key, menu) in product(set(Where) - {Where.welcome}, MENUS.items()):
        follows = any(action.keys.startswith(f"{key} ") for action in actions_at(where))
        assert follows == BY_ID[menu].at(where), (where, menu)


def test_ids_and_words_are_unique_and_no_key_is_one_that_terminals_cannot_tell_apart() -> None:
    assert len(BY_ID) == len(ACTIONS)
    words = [action.word for action in ACTIONS if action.word]
    assert len(set(words)) == len(words)
    keys = {key for action in ACTIONS for key in action.keys.split(",")}
    assert not keys & {"ctrl+i", "ctrl+h", "ctrl+m"}


def _screens() -> dict[Where, type[ConsoleScreen]]:
    """The screens by what they are; all are loaded."""
    for module in walk_packages(console.__path__, f"{console.__name__}."):
        import_module(module.name)
    kinds = [ConsoleScreen]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return {kind.WHERE: kind for kind in kinds if hasattr(kind, "WHERE")}


def test_every_screen_has_its_route() -> None:
    assert {where: route.load().WHERE for where, route in ROUTES.items()} == {where: where for where in _screens()}


@pytest.mark.parametrize("place", [(Where.url, ""), (Where.url, "", "links"), (Where.why, "")])
async def test_nowhere_is_gone_to_without_a_name(place: tuple[Where, object]) -> None:
    async with stage() as held:
        held.app.go_to(*place)
        await held.quiet()
        assert len(held.app.screen_stack) == 1


def test_every_action_has_exactly_one_handler_on_each_screen_that_offers_it() -> None:
    shown = _screens()
    assert set(shown) == set(Where) - {Where.welcome}  # which is an app of its own
    once = (Dispatcher, Navigation, Appearance, ExitActions, HostTakeover, CommandQueue, ReplayControls, RowActions)
    once += (DiagnosisActions,)
    wrong = {
        (where.name, action.id): doers
        for where, screen in shown.items()
        for action in actions_at(where)
        if len(doers := [one.__name__ for one in (screen, *once) if action.id in one.HANDLERS]) != 1
    }
    assert wrong == {}
    handled = {name for one in (*shown.values(), *once) for name in one.HANDLERS}
    assert handled == set(BY_ID)


def test_an_action_is_not_done_by_two_methods_and_one_that_overrides_does_what_it_overrides() -> None:
    class Doer(Handles):
        @handles("x.up", 1)
        @handles("x.down", -1)
        def go(self, by: int) -> None:
            done.append(by)

        @handles("x.say")
        def say(self, text: str) -> None:
            done.append(text)

    class Other(Doer):
        def say(self, text: str) -> None:
            done.append(text.upper())

    done: list[object] = []
    ids = ("x.up", "x.down", "x.say", "x.other")
    assert [Other().perform(one, "text", Situation(Where.overview)) for one in ids] == [True, True, True, False]
    assert done == [1, -1, "TEXT"]
    with pytest.raises(TypeError, match="two methods"):
        type("Both", (Handles,), {"one": handles("x")(lambda _: None), "other": handles("x")(lambda _: None)})


async def test_every_key_of_every_screen_does_something_or_says_why_not() -> None:
    async with stage() as held:
        for action in actions_at(Where.overview):
            if action.id.startswith("app.") or action.id in {"view.failures", "nav.open", *MENUS.values()}:
                continue
            held.app.dispatcher.do(action.id)
            await held.quiet(1)
            while held.app.screen is not held.app.console_screen:
                await held.press("escape", rounds=0)
        assert held.app.is_running


def test_reasons_are_words_for_every_need() -> None:
    known_to_the_console = {need: lambda: "no" for need in Need if not callable(need.value)}
    nothing = Situation(Where.overview, origins=(), hindrances=known_to_the_console, frame=Frame(zoom=lambda: 2))
    reasons = {need: why_not(replace(ACTIONS[0], needs=(need,)), nothing) for need in Need}
    assert {need for need, reason in reasons.items() if not reason} == {Need.unfinished, Need.zoomed}
    full = Situation(Where.overview, origins=(origin(API, patience=1, operator_delay_ms=9),), urls=("u",), failed=1)
    assert why_not(BY_ID["origin.top_up"], full) == ""
    assert why_not(BY_ID["delay.down"], full) == ""


def test_the_prompt_finds_words_ids_and_unique_beginnings() -> None:
    def found(word: str) -> str:
        meant = find_actions(word, Where.overview)
        return meant[0].id if len(meant) == 1 else ""

    assert found("pause") == "origin.pause"
    assert found("PAUSE") == "origin.pause"
    assert found("toggle") == found("origin.toggle_pause") == "origin.toggle_pause"
    assert found("origin.stop") == "origin.stop"
    assert found("screen") == "app.screenshot"
    assert found("re") == ""  # retry, retryfailed, reverse, redo
    assert found("") == ""
    assert found("retrygroup") == ""


def test_keys_are_named_as_a_person_reads_them() -> None:
    assert KeyNames({"nav.back": "escape,ctrl+backslash,pagedown"}).of("nav.back") == ("esc", "ctrl+\\", "PgDn")
    assert KeyNames().of("nav.back") == ("esc",)


def test_the_page_of_keys_names_every_action_and_key() -> None:
    page = keys_markdown()
    named = set(re.findall(r"[a-z]+\.[a-z_]+", page))
    assert named >= {action.id for action in ACTIONS}
    assert named >= {binding.id for binding in TABLE_BINDINGS}
    assert page.count("\n") <= 60, "it is one page"


def test_toggle_pause_leaves_finished_and_paused_origins_alone() -> None:
    views = origins()
    mixed = intents.toggle_pause([view for view in views if view.origin.startswith("https://")])
    assert isinstance(mixed.commands[0], PauseOrigins)
    assert "https://old.example.org" not in mixed.commands[0].origins
    assert "https://tiny.example" not in mixed.commands[0].origins
    assert mixed.inverse == (ResumeOrigins(mixed.commands[0].origins),)
    assert intents.toggle_pause([origin(API, state="FINISHED", finish_reason="operator")]) is None


def undo_words(intent: intents.Intent | None) -> str:
    """What undoing an intent says."""
    assert intent is not None
    step = UndoStack().did(intent).undo()
    return step[0].says


def test_undoing_a_number_names_the_number_it_goes_back_to() -> None:
    some = JobView("a", "ACTIVE", 0, None, None, "", 1, 0, 0, 0, 0, 1, False, "", "", 0)
    jobs = tuple(replace(some, nice=nice) for nice in (3, 5))
    assert undo_words(intents.shift_niceness(jobs[:1], 10)) == "undo: nice of job a back to 3"
    assert undo_words(intents.shift_niceness(jobs, 10)) == "undo: nice of 2 jobs back to what they were"
    assert undo_words(intents.set_jobs(jobs, "depth", 4)) == "undo: depth of 2 jobs back to none"


def test_delay_steps() -> None:
    plain = origin(WWW, delay_ms=1_000)
    told_to_wait = intents.slower(origin(WWW, delay_ms=3_000, delay_reason="retry_after"))
    assert undo_words(told_to_wait) == "undo: delay of www.example.com back to its own"
    up = intents.slower(plain)
    assert (up.commands, up.inverse) == ((SetDelay(WWW, 1_500),), (SetDelay(WWW, 0),))
    assert up.says == "delay of www.example.com: 1.0s → 1.5s"
    assert undo_words(up) == "undo: delay of www.example.com back to its own, 1.0s"
    assert intents.slower(origin(WWW, delay_ms=600_000)) is None
    assert intents.faster(plain) is None
    slowed = origin(WWW, delay_ms=3_000, operator_delay_ms=3_000)
    down = intents.faster(slowed)
    assert down.commands == (SetDelay(WWW, 2_000),)
    assert undo_words(down) == "undo: delay of www.example.com back to 3.0s"
    asked = intents.faster(replace(slowed, crawl_delay_ms=2_500))
    assert asked.commands == (SetDelay(WWW, 0),)


def test_where_a_longer_delay_holds_anyway_faster_takes_the_own_one_off_at_once() -> None:
    slow = origin(WWW, delay_ms=4_000, delay_reason="response_time", operator_delay_ms=3_000)
    off = intents.faster(slow)
    assert (off.commands, off.inverse) == ((SetDelay(WWW, 0),), (SetDelay(WWW, 3_000),))
    assert off.says == "delay of www.example.com: 3.0s → its own"
    assert undo_words(off) == "undo: delay of www.example.com back to 3.0s"


@pytest.mark.parametrize(
    ("asked", "after", "words"),
    [
        (3_000, '{"https://www.example.com": 3000, "in_force": 4000}', "4.0s holds"),
        (0, '{"https://www.example.com": 0, "in_force": 4000}', "4.0s holds"),
        (5_000, '{"https://www.example.com": 5000, "in_force": 5000}', ""),
        (5_000, "{}", ""),
        (5_000, "", ""),
    ],
)
def test_a_delay_that_does_not_hold_is_not_told_as_if_it_did(asked: int, after: str, words: str) -> None:
    assert delay_note((SetDelay(WWW, asked),), (ActionResult(1, "{}", after),)) == words
    assert delay_note((PauseOrigins((WWW,)),), (ActionResult(1, "{}", after),)) == ""


async def test_what_is_told_of_a_delay_says_which_one_holds() -> None:
    async with stage((160, 40)) as held:
        held.journal.after = '{"in_force": 4000}'
        held.app.command_queue.carry_out(intents.faster(origin(WWW, delay_ms=4_000, operator_delay_ms=4_000)))
        await held.decided()
        assert "✓ delay of www.example.com: 4.0s → 3.0s; 4.0s holds" in held.text()


def test_retry_of_a_group_narrows_by_its_key() -> None:
    group = FailureGroup((("exit_code", "request_timeout"), ("origin", API)), 9, 2, f"{API}/x", 1, 2)
    question = intents.retry_group(group, "Takes 9s.")
    assert question.options[0][1].commands == (RetryPages(exit_codes=("request_timeout",), origins=(API,)),)
    assert "request_timeout of api.example.org" in question.text
    assert question.text.endswith("Takes 9s.")


def test_undo_and_redo_walk_over_what_can_be_undone() -> None:
    pause = intents.Intent((PauseOrigins((API,)),), "pause", (ResumeOrigins((API,)),))
    stack = UndoStack().did(pause)
    assert stack.next_undo == "pause"
    step = stack.undo()
    assert step is not None
    back, stack = step
    assert back.commands == (ResumeOrigins((API,)),)
    assert stack.next_undo == ""
    again = stack.redo()
    assert again[0].commands == pause.commands
    assert again[1].undo() is not None
    assert stack.did(pause).redo() is None
    assert again[1].without(pause).undo() is None


def test_notices_are_merged_by_kind_and_at_most_three() -> None:
    notices: tuple[Notice, ...] = ()
    for kind in ("a", "b", "a", "c", "d"):
        notices = add_notice(notices, Notice(kind, f"text {kind}", "ok", 1_000))
    assert [notice.label for notice in notices] == ["text a ×2", "text c", "text d"]
    notices = add_notice(notices, Notice("c", "other", "ok", 1_000))
    assert [notice.label for notice in notices] == ["text a ×2", "text d", "other"]
