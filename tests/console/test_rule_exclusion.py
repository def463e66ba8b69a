"""The operators' exclusion list in the console: extended and shortened with a question, and both undone."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import Input

from tests.console.rule_stage import asked, rules_stage
from tests.console.sample_crawl import origins
from tests.console.sample_rules import ADDED
from tests.console.support import stage
from tui_crawler.console.rules.exclusion import exclude, exclude_origins, readmit
from tui_crawler.domain.records.command import Exclude
from tui_crawler.domain.rules.exclusion import Exclusion


async def test_the_exclusion_list_is_extended_and_shortened_with_a_question() -> None:
    async with rules_stage() as held:
        await held.press("rules.exclude", "enter", "rules.exclude", rounds=1)  # an empty line asks nothing
        await held.enter("hots: a.example")
        assert "unknown key; did you mean host?" in held.text()
        box = held.app.screen.query_one(Input)
        assert (box.value, box.has_focus) == ("hots: a.example", True)
        box.value = ""
        await held.enter("domain: example.com, reason: they asked")
        await asked(held)
        assert "Exclude domain example.com?" in held.text()
        await held.press("n")
        assert held.journal.sent == []
        await held.press("move.last", "rule.delete", "y", rounds=1)
        await held.decided()
        (command,) = held.journal.sent
        assert command == Exclude("host", "private.example.org", remove=True)
        await held.press("journal.undo")
        await held.decided()
        assert held.journal.sent[-1] == Exclude("host", "private.example.org", "mail of 5 January")


def test_what_the_list_has_already_is_not_put_there_again() -> None:
    assert exclude(ADDED, ADDED) == "host private.example.org: that is on the exclusion list already"
    assert exclude((), ADDED) == "this adds nothing"
    both = exclude((*ADDED, Exclusion("host", "a.example"), Exclusion("host", "b.example")), ADDED)
    assert not isinstance(both, str)
    ((_, intent),) = both.options
    assert intent.commands == (Exclude("host", "a.example"), Exclude("host", "b.example"))
    assert intent.inverse == (
        Exclude("host", "b.example", remove=True),
        Exclude("host", "a.example", remove=True),
    )
    ((_, off),) = readmit(ADDED[0]).options
    assert off.inverse == (Exclude("host", "private.example.org", "mail of 5 January"),)


async def test_the_host_of_an_origin_is_excluded_from_the_overview() -> None:
    async with stage((160, 40)) as held:
        held.app.dispatcher.do_typed("exclude www.example.com")
        await held.quiet()
        assert "Exclude host www.example.com?" in held.text()
        await held.press("y", rounds=1)
        await held.decided()
        assert held.journal.sent == [Exclude("host", "www.example.com")]
        await held.press("journal.undo")
        await held.decided()
        assert held.journal.sent[-1] == Exclude("host", "www.example.com", remove=True)


def test_origins_of_one_host_are_excluded_once_and_those_that_are_already_not_at_all() -> None:
    view = origins()[0]
    ports = [replace(view, origin=f"http://[::1]:{port}") for port in (81, 82)]
    more = replace(view, origin="http://[::1]:83")
    asked = exclude_origins(ports, [*ports, more, view])
    assert not isinstance(asked, str)
    assert asked.text.startswith("It names 3 origins. It applies at once")
    assert asked.options[0][1].commands == (Exclude("host", "[::1]"),)
    gone = replace(view, state="FINISHED", finish_reason="excluded")
    assert exclude_origins([gone], [gone]) == "already on the exclusion list"
