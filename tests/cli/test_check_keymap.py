"""`check` judges the section `keymap` as the console will: what is wrong is told, and stops nothing."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Say

TEXT = """seeds: [https://example.org/]
user_agent: example-crawler (for https://example.org/why)
keymap:
  origin.stop: p
  origin.halt: x
  theme.next: ctrl+h
"""


class TestKeymap:
    def test_conflicts_are_warnings_with_their_line(self, say: Say, tmp_path: Path) -> None:
        file = tmp_path / "my.yaml"
        file.write_text(TEXT)
        said = say("check", str(file)).ok
        lines = [line for line in said.err.splitlines() if "keymap" in line]
        assert [line.split(": ", 2)[0] for line in lines] == ["warning"] * 3
        assert f"{file}:4:1: keymap.origin.stop: p is taken from origin.toggle_pause (on Origins)" in said.err
        assert f"{file}:5:1: keymap.origin.halt: unknown action origin.halt" in said.err
        assert f"{file}:6:1: keymap.theme.next: a terminal cannot distinguish ctrl+h from backspace" in said.err
        document = say("check", str(file), "--json").document
        assert document["ok"]
        assert [one["key"] for one in document["warnings"]] == [
            "keymap.origin.halt",
            "keymap.theme.next",
            "keymap.origin.stop",
        ]

    def test_keys_that_hold_are_not_spoken_of(self, say: Say, tmp_path: Path) -> None:
        file = tmp_path / "my.yaml"
        file.write_text(TEXT.split("  origin.stop", maxsplit=1)[0] + "  origin.stop: X\n")
        assert "warning" not in say("check", str(file)).ok.err
