"""Which method does an action: said at the method by the id of the action, known to its class.

An object that does actions derives from `Handles`. Its subclasses do the same ones, with the methods as they override
them. The dispatcher asks the screen on top first, then what there is one of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from tui_crawler.domain.record import dataclass, replace

if TYPE_CHECKING:
    from tui_crawler.console.action import Situation

SITUATION = "now"
"""The name of the parameter that is the situation."""

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Handler:
    """A method of `Handles` that does an action, and the values it is called with. `typed`: before them with what was
    typed after the word of the action; `selected`: with the situation, which says what the action is about."""

    method: Callable[..., None]
    values: tuple[object, ...] = ()
    typed: bool = False
    selected: bool = False


class Handles:
    """Does the actions that its methods are marked with."""

    HANDLERS: ClassVar[Mapping[str, Handler]] = MappingProxyType({})
    """Who does an action, by its id."""

    def __init_subclass__(cls, **options: object) -> None:
        """Finds the handlers of a class. Raises TypeError where two methods would do one action."""
        super().__init_subclass__(**options)
        members, found = vars(cls), dict[str, Handler]()
        for base in reversed(cls.__mro__[1:]):
            found |= getattr(base, "HANDLERS", {})
        for action_id, one in found.items():
            found[action_id] = replace(one, method=members.get(one.method.__name__, one.method))
        marked = [mark for member in members.values() for mark in getattr(member, "handles", ())]
        if len(dict(marked)) < len(marked):
            raise TypeError(f"two methods of {cls.__name__} do one action")
        cls.HANDLERS = MappingProxyType(found | dict(marked))

    def perform(self, action_id: str, typed: str, now: Situation) -> bool:
        """Does an action; False when it is none of these."""
        handler = self.HANDLERS.get(action_id)
        if handler is not None:
            given = *(typed,) * handler.typed, *(now,) * handler.selected
            handler.method(self, *given, *handler.values)
        return handler is not None


def handles(action_id: str, *values: object) -> Callable[[Method], Method]:
    """Mark the method that does an action.

    It is called with `values`, before them with the situation, which says what the action is about, where it has a
    parameter `now`, and first with what was typed after the word of the action (empty: nothing was) where it has one
    more. Raises TypeError where its parameters are others.
    """

    def mark(method: Method) -> Method:
        code = method.__code__
        names = code.co_varnames[1 : code.co_argcount]
        selected = SITUATION in names
        more = len(names) - len(values) - selected
        if more not in {0, 1}:
            raise TypeError(f"{method.__qualname__} cannot do {action_id} with {len(values)} values")
        vars(method).setdefault("handles", []).append((action_id, Handler(method, values, bool(more), selected)))
        return method

    return mark


def handles_each(values: Mapping[str, object]) -> Callable[[Method], Method]:
    """Mark the method that does several actions, each with a value of its own."""

    def mark(method: Method) -> Method:
        for action_id, value in values.items():
            handles(action_id, value)(method)
        return method

    return mark
