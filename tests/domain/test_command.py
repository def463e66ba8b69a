"""What operators' commands are called."""

from __future__ import annotations

from typing import get_args

from tui_crawler.domain.records.command import OF_JOBS, OF_ORIGINS, OF_WORKERS, VERBS, Command


def test_every_command_has_one_verb() -> None:
    assert {*get_args(Command)} == VERBS.keys()
    assert len({verb.name for verb in VERBS.values()}) == len(VERBS)


def test_an_order_is_the_command_of_its_line() -> None:
    for order in (*OF_ORIGINS, *OF_JOBS, *OF_WORKERS):
        command = order.make(("a", "b"))
        assert VERBS[type(command)].words(command) == (*order.words, "a", "b")


def test_what_takes_an_order_back_is_an_order() -> None:
    for orders in (OF_ORIGINS, OF_JOBS, OF_WORKERS):
        makes = {order.make(("a",)): order for order in orders}
        for order in orders:
            if order.inverse is not None:
                assert makes[order.inverse(("a",))].inverse is not None
                assert not order.final
