"""Records do what data classes of the standard library do."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain import record
from tui_crawler.domain.crawl import origin, turn
from tui_crawler.domain.records import attempt, command, page


def _pairs(decorator: Callable[..., Any]) -> tuple[type, type]:
    """A frozen and a changeable class of every kind of field, by a decorator."""

    @decorator(frozen=True, slots=True)
    class Frozen:
        """A record."""

        name: str
        secret: int = record.field(repr=False, compare=False)
        size: int = 3
        parts: list[int] = record.field(default_factory=list)
        _kept: int | None = record.field(default=None, init=False, repr=False, compare=False)
        twice: str = record.field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "twice", self.name * 2)

    @decorator(slots=True)
    class Open:
        number: int = 0

        def __repr__(self) -> str:
            return f"<{self.number}>"

    return Frozen, Open


_OURS, _THEIRS = _pairs(record.dataclass), _pairs(dataclasses.dataclass)
_VALUES = st.tuples(st.text(max_size=3), st.integers(0, 3), st.integers(0, 3), st.lists(st.integers(), max_size=2))


@given(_VALUES, _VALUES)
def test_a_record_says_of_itself_what_a_data_class_does(one: Any, other: Any) -> None:
    """Fields, text, equality, hash, copies with changes."""
    ours, theirs = (frozen(*one) for frozen, _ in (_OURS, _THEIRS))
    assert repr(ours) == repr(theirs)
    assert dataclasses.astuple(ours) == dataclasses.astuple(theirs)
    assert (ours == _OURS[0](*other)) == (theirs == _THEIRS[0](*other))
    assert ours != theirs and ours != one
    changed = [dataclasses.replace(made, size=9, secret=1) for made in (ours, theirs)]
    assert dataclasses.asdict(changed[0]) == dataclasses.asdict(changed[1])
    hashed = [frozen(one[0], *one[1:3], ()) for frozen, _ in (_OURS, _THEIRS)]
    assert hash(hashed[0]) == hash(hashed[1])


def test_what_cannot_be_done_with_a_data_class_cannot_be_done_with_a_record() -> None:
    """Frozen fields, missing and surplus arguments, hashes of changeable ones, one list for all."""
    for frozen, changeable in (_OURS, _THEIRS):
        made = frozen("a", 1)
        for name in ("name", "unknown"):
            with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
                setattr(made, name, "b")
        with pytest.raises(dataclasses.FrozenInstanceError):
            del made.name
        with pytest.raises(TypeError, match=r"Frozen\.__init__\(\) missing 1 required positional argument: 'secret'"):
            frozen("a")
        with pytest.raises(TypeError):
            frozen("a", 1, _kept=2)
        with pytest.raises(TypeError):
            hash(changeable())
        assert frozen("a", 1).parts is not made.parts
        assert made.twice == "aa"
        assert repr(changeable(4)) == "<4>"
        assert frozen.__match_args__ == ("name", "secret", "size", "parts")
        assert not hasattr(made, "__dict__")


def test_records_travel_between_processes() -> None:
    """A record that is pickled is the same one afterwards."""
    for made in (page.TodoPage(1, 2, "http://a.example/"), command.PauseOrigins(("http://a.example",))):
        assert pickle.loads(pickle.dumps(made)) == made


def test_every_record_has_an_own_account_of_all_its_fields() -> None:
    """Each class of these modules can be made from its fields, and changed by `replace`."""
    for module in (attempt, command, origin, page, turn):
        for made in vars(module).values():
            if dataclasses.is_dataclass(made) and isinstance(made, type) and made.__module__ == module.__name__:
                values = {one.name: one.name for one in dataclasses.fields(made) if one.init}
                one = made(**values)
                assert [getattr(one, name) for name in values] == list(values)
                assert dataclasses.replace(one) == one
