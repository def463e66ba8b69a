"""The console on a served web, in a real pseudo terminal, as a person uses it: watch, pause one, quit, go on."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.e2e.endless_web import ORIGINS, endless_config, endless_web
from tests.e2e.served import gaps, read_access_log, rows, tui_crawler, value
from tests.support.terminal import in_terminal

RESTORED = (b"\x1b[?1049l", b"\x1b[?25h")
STARTED = "running"


def console(config: Path, *more: str):
    """`tui-crawler CONFIG` in a terminal of its own."""
    return in_terminal([sys.executable, "-m", "tui_crawler", str(config), *more])


def test_watch_pause_one_quit_and_go_on(tmp_path):
    log, database, config = tmp_path / "access.log", tmp_path / "demo.db", tmp_path / "demo.yaml"
    with endless_web(log) as seeds:
        config.write_text(endless_config(seeds, database), encoding="utf-8")
        with console(config) as terminal:
            terminal.read_until(STARTED)
            terminal.read_until("◷ waiting")
            terminal.press("p")
            terminal.read_until("paused")
            (paused,) = [row["origin"] for row in rows(database, "SELECT origin FROM v_origin WHERE paused = 1")]
            (at,) = [row["at"] for row in rows(database, "SELECT at FROM v_operator_action")]
            terminal.read_while(lambda: len(read_access_log(log)) < 60)
            terminal.press("q")
            terminal.read_to_good_end()
            assert all(code in bytes(terminal.raw) for code in RESTORED)
            assert "interrupted" in terminal.text()
        assert not list(tmp_path.glob("demo.db-*")), "one file is left"
        served = read_access_log(log)
        assert not [one for one in served if one.origin == paused and one.started > at + 1_000]
        assert len({one.origin for one in served if one.started > at + 1_000}) == ORIGINS - 1
        before = len(served)
        with console(config) as terminal:
            terminal.read_until(STARTED)
            terminal.read_while(lambda: len(read_access_log(log)) < before + 20)
            terminal.press("q")
            terminal.read_to_good_end()
    served = read_access_log(log)
    assert len(served) > before
    assert value(database, "SELECT count(*) FROM v_run") == 1
    assert value(database, f"SELECT paused FROM v_origin WHERE origin = '{paused}'") == 1
    for origin in {one.origin for one in served}:
        assert min(gaps(served, origin, database), default=1_000) >= 999
        assert [one.target for one in served if one.origin == origin].count("/robots.txt") <= 2


def test_a_second_console_attaches_and_its_end_does_not_touch_the_crawl(tmp_path):
    database, config = tmp_path / "demo.db", tmp_path / "demo.yaml"
    with endless_web() as seeds:
        config.write_text(endless_config(seeds, database), encoding="utf-8")
        with console(config) as first:
            first.read_until(STARTED)
            with console(config) as second:
                second.read_until("attached")
                second.press("P")
                second.read_until("paused")
                first.read_until("paused")
                second.press("q")
                assert second.read_to_end() == 0
                assert "continues" in second.text()
            held = tui_crawler("run", str(config))
            assert held.returncode == 3
            assert "process" in held.stderr
            first.press("q")
            first.read_to_good_end()
    assert not list(tmp_path.glob("demo.db-*")), "one file is left"
