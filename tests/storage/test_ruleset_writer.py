"""Which action of the operator journal wrote a version of the rules."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.crawls import store_crawl
from tests.storage.making import A
from tui_crawler.domain.records.command import ApplyRules, PauseOrigins
from tui_crawler.domain.rules.policy import PolicySet, Rule
from tui_crawler.domain.rules.ruleset import to_json
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.steering import carry_out


def apply(crawl: Path, base: int, *matches: str) -> int:
    rules = tuple(Rule(match, skip=True) for match in matches)
    return carry_out(crawl, ApplyRules(to_json(PolicySet(rules=rules)), base), "mara").action_id


def test_the_action_that_wrote_a_version_is_the_first_that_names_it(tmp_path: Path) -> None:
    crawl = store_crawl(tmp_path / "crawl.db", f"{A}/", policies=PolicySet(), jobs=())
    second = apply(crawl, 1, "/a")
    apply(crawl, 2, "/a")  # says the same: no version
    carry_out(crawl, PauseOrigins((A,)), "mara")
    refused = apply(crawl, 1, "/b")  # a conflict
    third = apply(crawl, 2, "/b")
    with closing(Reports(crawl)) as reports:
        job = reports.current_rulesets()[0].job
        written = [reports.ruleset_writer(job, number, alone=False) for number in (1, 2, 3, 4)]
        assert written == [0, second, third, 0]
        assert refused not in written
        assert reports.ruleset_writer("another", 3, alone=False) == 0
    with closing(sqlite3.connect(crawl)) as database, database:
        database.execute("UPDATE operator_action SET \"after\" = 'no JSON' WHERE id = ?", (third,))
    with closing(Reports(crawl)) as reports:
        assert reports.ruleset_writer(job, 3, alone=False) == 0
