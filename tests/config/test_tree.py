"""YAML text to a tree: what is accepted, how scalars are resolved, and that nothing else gets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.config import tree as tree_module
from tui_crawler.config.problem import BadValue, SourcePlace
from tui_crawler.config.tree import (
    MAX_ALIASES,
    MAX_DEPTH,
    ListNode,
    MappingNode,
    Node,
    Scalar,
    _compose_quickly,
    compose,
    describe,
    is_null,
    node_of,
    value_of,
)


def tree(text: str) -> Node:
    def refuse(key: str, message: str, suggestion: str, mark: SourcePlace) -> None:
        raise BadValue(mark, message, suggestion, key)

    return compose(text, "t.yaml", refuse)


def plain(node: Node) -> object:
    match node:
        case Scalar():
            return value_of(node)
        case ListNode(items):
            return [plain(item) for item in items]
        case MappingNode(entries):
            return {key.text: plain(value) for key, value in entries}


def refusal(text: str) -> BadValue:
    with pytest.raises(BadValue) as caught:
        tree(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("NO", "NO"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("12", 12),
        ("-12", -12),
        ("0o17", 15),
        ("0x1F", 31),
        ("010", 10),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("1_000", "1_000"),
        ("+", "+"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("! 12", "12"),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 1", 1),
        ("=", "="),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(text, value):
    found = plain(tree(text))
    assert found == value
    assert type(found) is type(value)


def test_a_number_too_long_to_be_meant_is_no_int():
    assert plain(tree("9" * 5000)) == float("inf")


def test_nothing_is_null():
    for text in ("", "# only a comment\n", "---\n", "null"):
        assert is_null(tree(text))


def test_places_count_from_one():
    node = tree("a: 1\nb:\n  - x\n  - {c: d}\n")
    assert isinstance(node, MappingNode)
    (_, one), (key, listed) = node.entries
    assert (one.mark, key.mark) == (SourcePlace("t.yaml", 1, 4), SourcePlace("t.yaml", 2, 1))
    assert isinstance(listed, ListNode)
    assert [item.mark.line for item in listed.items] == [3, 4]
    assert listed.items[0].mark.place == "t.yaml:3"


def test_duplicate_keys_are_reported_with_their_path_and_first_line():
    refused = refusal("a:\n  - b: 1\n    c: 2\n    b: 3\n")
    assert refused.at == "a[0].b"
    assert refused.mark.line == 4
    assert "first given in line 2" in refused.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!!python/name:os.system x", "the tag tag:yaml.org,2002:python/name:os.system"),
        ("!!binary aGk=", "the tag"),
        ("!!timestamp 2001-01-01", "the tag"),
        ("!!set {a, b}", "the tag"),
        ("!!int abc", "the tag"),
        ("!!bool yes", "the tag"),
        ("!mine [a]", "the tag !mine"),
        ("a\n---\nb\n", "second YAML document"),
        ("%YAML 1.1\n---\na: on\n", "YAML 1.2"),
        ("1: a", "a key must be a text, found the number 1"),
        ("null: a", "a key must be a text, found nothing"),
        (": a", "a key must be a text"),
        ("? [a]\n: b", "a key must be a text, found a list"),
        ("a: &x {b: c}\n<<: *x", "merge keys"),
        ("a: *x", "has no anchor"),
        ("a: &x [*x]", "inside its own anchor"),
        ("a: &x {b: *x}", "inside its own anchor"),
        ('"\\ud800"', "not text"),
        ('"a\\0b"', "not text"),
        ("a: [", "not valid YAML"),
        ("a: b: c", "not valid YAML"),
        ("\tkey: x", "not valid YAML"),
        ('"\\UFFFFFFFF"', "not valid YAML"),
    ],
)
def test_what_is_stricter_than_yaml_is_refused(text, message):
    refused = refusal(text)
    assert message in refused.message
    assert refused.mark.line >= 1


def test_the_allowed_nesting_is_read_and_one_more_is_refused():
    assert isinstance(tree("[" * MAX_DEPTH + "]" * MAX_DEPTH), ListNode)
    assert "nested" in refusal("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)).message
    assert "nested" in refusal("- " * 1500 + "x").message


def test_aliases_cannot_nest_deeper_than_brackets():
    lines = ["x0: &x0 [a]"] + [f"x{n}: &x{n} [*x{n - 1}]" for n in range(1, MAX_DEPTH + 2)]
    assert "nested" in refusal("\n".join(lines)).message


def test_an_alias_stands_for_its_anchor():
    assert plain(tree("a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x\n")) == {"a": [1, 2], "b": [1, 2], "c": 3, "d": 3}


def test_aliases_are_bounded_in_number_and_in_what_they_stand_for():
    many = "a: &x 1\nb: [" + ", ".join(["*x"] * MAX_ALIASES) + "]\n"
    assert isinstance(tree(many), MappingNode)
    assert "too many aliases" in refusal(many + "c: *x\n").message
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    assert "too many aliases" in refusal(bomb).message


def test_a_value_of_the_program_is_read_like_one_of_the_file():
    mark = SourcePlace("command line")
    given = {"a": [1, True, None, "30m", 1.5], "b": "12"}
    assert plain(node_of(given, mark)) == given
    with pytest.raises(BadValue, match="not text"):
        node_of("a\ud800", mark)


def test_what_was_found_is_described_safely():
    assert describe(tree('"a\\e[2J"')) == 'the text "a\\x1b[2J"'
    assert describe(tree("[]")) == "a list"
    assert describe(tree("{}")) == "a mapping"
    assert describe(tree("true")) == "the boolean true"
    assert len(describe(tree("x" * 1000))) < 120


@given(st.text(alphabet=st.sampled_from("ab01 \n-:[]{}&*!|>'\"%@,?#\\~"), max_size=80))
def test_any_text_is_a_tree_or_a_refusal(text):
    try:
        node = tree(text)
    except BadValue as refused:
        assert refused.mark.line >= 1
    else:
        assert isinstance(node, Scalar | ListNode | MappingNode)


BITS = """a|b: c|- x|  |{|}|[|]|, |: '|"|#|&a |*a|!t |? |-|0x1f|~|a: [1, 2]~|k: {x: y}~|~- |~  - |~key: |~url: http://a.b/c?d=e#f~
|:|@|`|<<: |'it''s'|"\\/\\x41"|~""".replace("~", "\n").split("|")


@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join))
def test_both_parsers_compose_the_same_tree(text: str) -> None:
    """What libyaml reads is what ruamel.yaml, the reference, reads."""
    quick = _compose_quickly(text, "t.yaml")
    if quick is not None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tree_module, "_compose_quickly", lambda *_: None)
            assert tree(text) == quick


def test_a_list_of_seeds_is_read_by_the_quick_parser() -> None:
    text = "seeds:\n" + "".join(f"  - https://site{number}.example/ # {number}\n" for number in range(5))
    assert _compose_quickly(text, "t.yaml") is not None
