"""Data classes that are made in a third of the time. To type checkers this is `dataclasses.dataclass` itself.

The standard library writes six methods of a frozen class as text and compiles each: half a millisecond a class, a third
of what it takes to start with 230 of them. Here only `__init__` is written, when it is first called; the others are
shared, as they say the same for every class. Modules of many records that every run loads take this one; a test
compares both.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, asdict, field, fields
from functools import partial
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

__all__ = ["MISSING", "asdict", "dataclass", "field", "fields", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def dataclass(*, frozen: bool = False, slots: bool = False) -> Callable[[type], type]:
        """As `dataclasses.dataclass`, for classes that inherit from no data class; fields are not keyword-only."""
        plain = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)
        return lambda made: _completed(plain(made), frozen)

    def replace(record: Any, /, **changes: Any) -> Any:
        """As `dataclasses.replace`, in half the time for these classes."""
        try:
            read, places = record.__copying__
            values = list(read(record))
            for name, value in changes.items():
                values[places[name]] = value
        except (AttributeError, KeyError):
            return dataclasses.replace(record, **changes)
        return record.__class__(*values)


def _completed(made: Any, frozen: bool) -> type:
    listed = fields(made)
    compared, shown = _values([one.name for one in listed if one.compare]), [one.name for one in listed if one.repr]
    made.__dataclass_params__.frozen = frozen

    def equals(self: Any, other: object) -> bool:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def shows(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    methods: dict[str, Any] = {"__eq__": equals, "__repr__": shows, "__hash__": None}
    if frozen:
        methods["__hash__"] = lambda self: hash(compared(self))
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse, "__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if made.__dict__.get(name) is None:
            setattr(made, name, method)

    def first_init(self: object, *values: object, **named: object) -> None:
        made.__init__ = _init(made, listed, frozen)
        made.__init__(self, *values, **named)

    made.__init__ = first_init
    if len(listed) > 1 and all(one.init for one in listed):
        made.__copying__ = attrgetter(*(one.name for one in listed)), {one.name: at for at, one in enumerate(listed)}
    return made  # type: ignore[no-any-return]


def _values(names: list[str]) -> Callable[[Any], object]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _init(made: Any, listed: tuple[dataclasses.Field[Any], ...], frozen: bool) -> Any:
    """The one method that is written: it sets every field, then calls `__post_init__` where there is one."""
    known: dict[str, Any] = {"MISSING": MISSING}
    parameters, lines = ["self"], list[str]()
    for one in listed:
        value = name = one.name
        if one.default is not MISSING:
            known[f"{name}__default"] = one.default
            value = f"{name}__default"
        elif one.default_factory is not MISSING:
            known[f"{name}__factory"] = one.default_factory
            value = f"{name}__factory()"
        elif not one.init:
            continue
        if one.init:
            made_anew = one.default_factory is not MISSING
            parameters.append(name if value == name else f"{name}={'MISSING' if made_anew else value}")
            value = f"{value} if {name} is MISSING else {name}" if made_anew else name
        lines.append(f"put_{name}(self, {value})" if frozen else f"self.{name} = {value}")
        slot = made.__dict__.get(name)
        known[f"put_{name}"] = slot.__set__ if isinstance(slot, MemberDescriptorType) else partial(_put, name)
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), known)  # noqa: S102  names of fields
    known["__init__"].__qualname__ = f"{made.__qualname__}.__init__"
    return known["__init__"]


def _put(name: str, self: object, value: object) -> None:
    object.__setattr__(self, name, value)


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
