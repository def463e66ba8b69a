"""Protocols of what is read stand beside the view that reads it: the classes of storage have the same shapes."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import Parameter, Signature, formatannotation, getmembers, isfunction, signature
from pkgutil import walk_packages

import pytest

from tui_crawler import console
from tui_crawler.console.ports import Reports
from tui_crawler.storage.reports.reports import LATE_SUBJECTS
from tui_crawler.wiring.console_reports import ConsoleReports


def _subjects() -> list[type]:
    late = (subject.split(".") for subject in LATE_SUBJECTS)
    return [ConsoleReports, *(getattr(import_module(f"tui_crawler.storage.reports.{one}"), name) for one, name in late)]


def _protocols() -> dict[str, type]:
    """All that parts of a reading take, by name."""
    modules = [import_module(one.name) for one in walk_packages(console.__path__, f"{console.__name__}.")]
    found = [value for module in modules for value in vars(module).values() if getattr(value, "_is_protocol", False)]
    return {one.__name__: one for one in found if one.__name__.endswith("Reports")}


def _misfit(asked: Signature, there: Signature) -> list[str]:
    """The parameters that storage does not know, presumes otherwise, or wants besides."""
    wanted, own = asked.parameters, there.parameters
    misfit = [name for name, one in own.items() if name not in wanted and one.default is Parameter.empty]
    misfit += [name for name in wanted if name not in own]
    return misfit + [name for name, one in wanted.items() if one.default not in {Parameter.empty, own[name].default}]


def _returned(of: Signature) -> str:
    """What is returned, by the names of the types alone: some modules name them as text, some as types."""
    named = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", formatannotation(of.return_annotation).strip("'"))
    return re.sub(r"\bPace\b", "Sequence[tuple[int, int]]", named)


@pytest.mark.parametrize("protocol", _protocols().values(), ids=lambda one: one.__name__)
def test_storage_answers_all_that_a_view_reads(protocol: type) -> None:
    answered = {name: method for one in _subjects() for name, method in getmembers(one, isfunction)}
    asked = {name: method for name, method in getmembers(protocol, isfunction) if not name.startswith("_")}
    assert asked
    for name, method in asked.items():
        port, there = signature(method), signature(answered[name])
        assert (name, _misfit(port, there)) == (name, [])
        assert (name, _returned(there)) == (name, _returned(port))


def test_what_every_reading_needs_is_little() -> None:
    assert len(_protocols()) >= 10
    assert len([name for name in vars(Reports) if not name.startswith("_")]) <= 8
