"""A console that only watches: it says why, where nobody has asked for it."""

from __future__ import annotations

import pytest

from tests.console.support import stage

REASON = "the file is read-only: /data/my-index.db"


async def test_the_reason_is_told_at_the_start_and_with_what_it_refuses() -> None:
    async with stage((120, 30), readonly=True, watches=REASON) as held:
        assert f"read-only: {REASON}" in held.text()
        await held.settle(1, 6_000)
        assert REASON not in held.text(), "a message stands for five seconds"
        await held.press("p")
        assert f"pause: this console is read-only ({REASON})" in held.text()


@pytest.mark.parametrize("readonly", [True, False])
async def test_nothing_is_told_where_it_was_asked_for_or_is_not_so(readonly: bool) -> None:
    async with stage((120, 30), readonly=readonly) as held:
        assert "read-only:" not in held.text()


async def test_a_hostile_path_is_made_safe() -> None:
    async with stage((160, 30), readonly=True, watches="the file is read-only: /a\x1b[31m[red]\n.db") as held:
        assert "the file is read-only: /a" in held.text()
        assert "[red]" in held.text()
        assert "\x1b" not in held.text()
