"""Every case of the corpus: an error names file, line and key, and nothing is made; or the file is accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tui_crawler.config.load import load_config
from tui_crawler.config.problem import ConfigErrors

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent / "corpora" / "bad_config.json").read_text(encoding="utf-8"))["cases"]
}
WITHOUT_FILE = {"perm", "missing"}
WITHOUT_KEY = {"list_top", "scalar", "bool", "latin1_bytes", "nul", "python_tag"}  # the file as a whole is wrong
SEED_LINES = {
    "empty": 1,
    "nul": 3,
    "unclosed": 2,
    "bad_indent": 2,
    "dup_key": 3,
    "nonstr_key": 3,
    "unicode_key": 3,
    "bool_key": 3,
    "delay_str": 3,
    "delay_hugeint": 3,
    "regex_redos": 3,
    "db_dir": 3,
    "ua_crlf": 3,
}


@pytest.mark.parametrize("case", [c for c in CASES.values() if c["id"] not in WITHOUT_FILE], ids=lambda c: c["id"])
def test_case(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("not a database", encoding="utf-8")
    path, text = tmp_path / "case.yaml", case["text"].removeprefix("(bytes) ")
    path.write_bytes(text.encode("utf-8" if text == case["text"] else "latin-1"))
    before = {entry: entry.read_bytes() for entry in tmp_path.iterdir()}
    outcomes = case["expect"].split("|")
    try:
        load_config(path)
    except ConfigErrors as errors:
        assert "error" in outcomes, str(errors)
        for problem in errors.problems:
            assert str(problem).startswith(f"{path}:{problem.line}:{problem.column}: ")
            assert problem.line >= 1
            assert problem.column >= 1
            assert problem.message
            assert str(problem).isprintable()
            assert len(str(problem)) < 1200
            assert problem.key or case["id"] in WITHOUT_KEY
        if case["id"] in SEED_LINES:
            assert errors.problems[0].line == SEED_LINES[case["id"]]
    else:
        assert "ok" in outcomes
    assert {entry: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_the_corpus_is_whole():
    assert len(CASES) == 46
    assert {case["expect"] for case in CASES.values()} == {"ok", "error", "error|ok", "ok|error"}


def test_many_seeds_are_accepted(tmp_path):
    seeds = [f"http://h{number}.test/" for number in range(20_000)]
    path = tmp_path / "many.yaml"
    path.write_text(f"seeds: [{','.join(seeds)}]\n", encoding="utf-8")
    assert load_config(path).seeds == tuple(seeds)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.yaml", "none.yaml: cannot be read: no such file or directory"),
        (".", ": is a folder"),
        ("/dev/null", "/dev/null: is not a regular file"),
        ("a\0b.yaml", "cannot be read"),
        ("large.yaml", "large.yaml: is larger than 4 MiB"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, words):
    (tmp_path / "large.yaml").write_bytes(b"# " + b"x" * (4 * 1024 * 1024))
    with pytest.raises(ConfigErrors) as caught:
        load_config(tmp_path / name)
    assert words in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["large.yaml"]


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "secret.yaml"
    path.write_text("seeds: [http://h/]\n", encoding="utf-8")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # a superuser may read files of mode 000
    with pytest.raises(ConfigErrors) as caught:
        load_config(path)
    assert str(caught.value) == f"{path}: cannot be read: permission denied"
