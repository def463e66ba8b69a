"""`exclude`: what is put on the list and taken off it, on a real database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Say, Wiring
from tests.cli.crawls import A, asked_of, store_crawl
from tui_crawler.domain.records.command import Exclude
from tui_crawler.domain.records.failure import NotTakenUp
from tui_crawler.domain.rules.policy import EMPTY
from tui_crawler.wiring import operator_name


class TestOnARestingDatabase:
    def test_an_entry_is_added_shown_and_removed(self, crawl: Path, say: Say):
        added = say("exclude", "domain", "*.Example.NET", "--reason", " its owner asked ")
        assert (added.status, added.out, added.err) == (0, "domain example.net is now on the exclusion list\n", "")
        assert "already" in say("exclude", "domain", "example.net").out
        listed = say("exclude", "--list", "--json").document["exclusions"]
        assert listed == [
            {
                "kind": "pattern",
                "value": "/members/",
                "reason": "they asked",
                "who": "the society",
                "source": "my.yaml:7",
            },
            {
                "kind": "domain",
                "value": "example.net",
                "reason": "its owner asked",
                "who": operator_name(),
                "source": "operator",
            },
        ]
        removed = say("exclude", "--remove", "domain", "EXAMPLE.net.")
        assert (removed.status, removed.out) == (0, "domain example.net is no longer on the exclusion list\n")
        assert len(say("exclude", "--list", "--json").document["exclusions"]) == 1

    def test_origins_finish_and_go_on(self, crawl: Path, say: Say):
        assert say("exclude", "host", "a.example").out.splitlines()[1:] == [f"  finished: {A}"]
        (origin,) = (one for one in say("status", "--json").document["origins"] if one["origin"] == A)
        assert (origin["state"], origin["finish_reason"]) == ("FINISHED", "excluded")
        assert say("exclude", "--remove", "host", "a.example").out.splitlines()[1:] == [f"  continues: {A}"]

    def test_what_became_of_it_as_json(self, crawl: Path, say: Say):
        (action,) = say("exclude", "cidr", "203.0.113.77/24", "--json").document["actions"]
        assert (action["action"], action["target"]) == ("exclude", "cidr 203.0.113.0/24")
        assert action["after"] == {"changed": True, "origins": [], "pages": {}}

    def test_an_entry_of_the_rules_is_not_removed_but_shown_where_it_stands(self, crawl: Path, say: Say):
        say("exclude", "--remove", "pattern", "/members/").refused("pattern /members/ is in the rules: my.yaml:7")
        assert asked_of(crawl) == []

    def test_what_is_not_on_the_list_is_not_removed(self, crawl: Path, say: Say):
        assert say("exclude", "domain", "example.net").status == 0
        say("exclude", "--remove", "domain", "exmaple.net").refused(
            "domain exmaple.net is not on the exclusion list; did you mean example.net?"
        )
        assert len(asked_of(crawl)) == 1

    def test_the_list_as_a_table_with_nothing_a_terminal_obeys(self, crawl: Path, say: Say):
        assert say("exclude", "pattern", "x\x1b\\[31m", "--reason", "räson").status == 0
        said = say("exclude", "--list")
        header, of_rules, added = said.out.splitlines()
        assert header.split() == ["KIND", "VALUE", "SOURCE", "WHO", "REASON"]
        assert "my.yaml:7" in of_rules
        assert "x\\x1b\\[31m" in added
        assert "räson" in added
        assert "\x1b" not in said.out

    def test_an_empty_list(self, here: Path, say: Say):
        store_crawl(here / "crawl.db", policies=EMPTY)
        assert say("exclude", "--list").out == "the exclusion list is empty\n"
        assert say("exclude", "--list", "--json").document == {"exclusions": []}


class TestWhatIsAsked:
    @pytest.mark.parametrize(
        ("kind", "value", "kept"),
        [
            ("domain", "BÜCHER.example", "xn--bcher-kva.example"),
            ("domain", ".example.org.", "example.org"),
            ("host", "A.Example.org", "a.example.org"),
            ("host", "::1", "[::1]"),
            ("host", "127.1", "127.0.0.1"),
            ("cidr", "203.0.113.9", "203.0.113.9/32"),
            ("cidr", "2001:db8::1/32", "2001:db8::/32"),
            ("pattern", "/Private/", "/Private/"),
        ],
    )
    def test_values_are_kept_as_a_configuration_keeps_them(
        self, kind: str, value: str, kept: str, database: Path, say: Say, wiring: Wiring
    ):
        assert say("exclude", kind, value, "--reason", "why").status == 0
        assert wiring.commands == [(database, Exclude(kind, kept, "why"), operator_name())]

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("domain", "https://example.net/"), "is a URL"),
            (("host", "example.net:8080"), "has a port"),
            (("host", "me:secret@example.net"), "me:•••@example.net' has a port"),
            (("host", "http://me:secret@example.net"), "//•••@example.net' is a URL"),
            (("host", "a b"), "is not a host name"),
            (("domain", ""), "is not a host name"),
            (("cidr", "example.net"), "is not an IP address or network"),
            (("cidr", "203.0.113.0/33"), "is not an IP address or network"),
            (("pattern", "("), "missing )"),
            (("pattern", r"(?=x)"), "pattern"),
            (("pattern", ""), "would exclude everything"),
            (("hots", "example.net"), "invalid choice: 'hots'"),
            (("host",), "name a kind"),
            ((), "name a kind"),
            (("--remove",), "name a kind"),
            (("--remove", "--list"), "not allowed with"),
            (("--list", "host"), "takes no other argument"),
            (("host", "x.example", "--remove", "--reason", "why"), "--reason is for what is added"),
            (("host", "x.example", "--reason", "one\ntwo"), "line break"),
            (("host", "x.example", "--reason", "x" * 1_001), "at most 1000 characters"),
        ],
    )
    def test_what_is_wrong_is_told_and_nothing_is_asked(
        self, words: tuple[str, ...], told: str, database: Path, say: Say, wiring: Wiring
    ):
        say("exclude", *words).refused(told)
        assert not wiring.commands

    def test_a_live_run_that_does_not_answer(
        self, database: Path, say: Say, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
    ):
        def late(*_: object) -> None:
            raise NotTakenUp("it stays in the journal")

        monkeypatch.setattr(wiring, "carry_out", late)
        said = say("exclude", "host", "x.example")
        assert (said.status, said.err) == (3, "tui-crawler: it stays in the journal\n")

    def test_a_database_that_is_not_there(self, here: Path, say: Say):
        assert say("exclude", "--list", "--db", "nowhere.db").status == 2
        assert not (here / "nowhere.db").exists()
