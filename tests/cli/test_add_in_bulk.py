"""`add` of a long list on a resting database: killed in the middle it can be done again, and what is kept of it."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Say
from tests.cli.crawls import store_crawl
from tests.storage.making import A, B
from tui_crawler.cli import steer_command
from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.engine import commands
from tui_crawler.text.same_as import command_line_of

ROOT = Path(__file__).parents[2]
KILLED = """
import os, signal, sys
from tui_crawler.cli import main, steer_command
from tui_crawler.storage.workers.journal import Journal

steer_command.BULK, sent, made = 10, [], getattr(Journal, sys.argv[1])

def killed(*words):
    sent.append(words)
    if len(sent) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return made(*words)

setattr(Journal, sys.argv[1], killed)
main.main(["add", "--db", sys.argv[2], "--file", sys.argv[3]])
"""


def counted(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


@pytest.mark.parametrize("moment", ["send", "live_owner"])
def test_an_add_that_was_killed_is_completed_by_the_next(
    moment: str, here: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a part of the list is written down, or between that and storing it."""
    path, seeds = store_crawl(here / "crawl.db"), here / "seeds.txt"
    seeds.write_text("".join(f"{(A, B)[number % 2]}/new/{number}\n" for number in range(35)))
    command = [sys.executable, "-c", KILLED, moment, str(path), str(seeds)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    pages = "SELECT COUNT(*) FROM v_page WHERE url LIKE '%/new/%'"
    assert counted(path, pages) == [(20,)]
    monkeypatch.setattr(steer_command, "BULK", 10)
    said = say("add", "--file", str(seeds), "--json").document
    assert counted(path, pages) == [(35,)]
    assert counted(path, "SELECT COUNT(*) FROM operator_action WHERE applied_at = 0") == [(0,)]
    assert [one["after"]["added"] + one["after"]["known"] for one in said["actions"]] == [10, 10, 10, 5]
    assert counted(path, "SELECT SUM(pages_known) = (SELECT COUNT(*) FROM page), SUM(pending) FROM origin")[0][0] == 1


def test_the_journal_keeps_a_url_of_each_origin_of_a_long_list(here: Path, say: Say) -> None:
    path, seeds = store_crawl(here / "crawl.db"), here / "seeds.txt"
    seeds.write_text("".join(f"{(A, B)[number % 2]}/new/{number}\n" for number in range(900)))
    assert say("add", "--file", str(seeds)).out == "900 pages added\n"
    assert say("add", f"{A}/one", f"{A}/two").status == 0
    (long,), (short,) = counted(path, "SELECT command FROM operator_action ORDER BY id")
    assert json.loads(str(short))["urls"] == [f"{A}/one", f"{A}/two"]
    kept = json.loads(str(long))
    assert (kept["urls"], kept["left_out"]) == ([f"{A}/new/0", f"{B}/new/1"], 898)
    shown = ActionView(1, 0, "", "add", "", "", "", undone=False, applied=True, command=str(long))
    assert command_line_of(shown) == f"tui-crawler add {A}/new/0 {B}/new/1 … (898 more)"


def test_each_url_is_normalised_once(here: Path, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command line; who carries it out in the same process gets the URL itself, and still says no to some."""
    path, seeds = store_crawl(here / "crawl.db"), here / "seeds.txt"
    seeds.write_text("".join(f"{A}/new/{number}\n" for number in range(35)) + f"{A}/{'a/' * 40}\n")
    monkeypatch.setattr(commands, "normalise", lambda *words: pytest.fail("a second time"))
    (action,) = say("add", "--db", str(path), "--file", str(seeds), "--json").document["actions"]
    assert action["after"]["added"] == 35
    assert [reason.split(":")[2].strip() for reason in action["after"]["refused"]] == ["trap_repeat"]
