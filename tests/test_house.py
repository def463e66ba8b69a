"""The house: layers, sizes, words that may not occur. Import layers themselves are checked by import-linter."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from itertools import combinations
from pathlib import Path
from pkgutil import walk_packages

import pytest

from tests.support.source import MODULES, PACKAGE, ROOT, nodes_of, tree_of
from tui_crawler import domain

PURE_FORBIDDEN = {"asyncio", "time", "logging", "sqlite3", "httpx", "os", "random", "threading", "socket", "peewee"}
FORBIDDEN_NAMES = {"utils", "helpers", "common", "manager", "misc"}
MAX_LINES = 600
Modules = dict[Path, tuple[ast.AST, ...]]
"""The nodes of each module."""


@cache
def imports_of(path: Path) -> set[str]:
    """The top-level names a module imports."""
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


def test_there_is_something_to_check():
    assert len(MODULES) > 30


def test_a_module_is_one_subject_with_a_docstring():
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= MAX_LINES, path
        assert path.stem not in FORBIDDEN_NAMES, path
        assert not text.strip() or ast.get_docstring(tree_of(path)), f"{path} does not say what it is for"


def test_the_domain_is_pure():
    assert [path for path in (PACKAGE / "domain").rglob("*.py") if imports_of(path) & PURE_FORBIDDEN] == []


def test_httpx_and_peewee_stay_in_their_rooms():
    with_httpx = [path for path in MODULES if "httpx" in imports_of(path)]
    assert [path.relative_to(PACKAGE).as_posix() for path in with_httpx] == ["fetch/httpx_wire.py"]
    with_peewee = {path.relative_to(PACKAGE).parts[0] for path in MODULES if {"peewee", "playhouse"} & imports_of(path)}
    assert with_peewee <= {"storage"}


def test_console_opens_no_database_and_no_socket():
    for path in sorted((PACKAGE / "console").rglob("*.py")):
        assert not imports_of(path) & {"sqlite3", "peewee", "httpx", "socket"}, path


def test_what_is_imported_is_declared_and_what_is_declared_is_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    written = [*project["dependencies"], *extras["parquet"], *extras["web"], *extras["postgres"]]
    declared = {re.split(r"[<>=\[]", one)[0].replace("_", "-").lower() for one in written}
    provided = packages_distributions()
    instead = {"httpx2", "httpcore2"}  # of httpx and httpcore, where those are not installed
    modules = set().union(*(imports_of(path) for path in MODULES)) - {*sys.stdlib_module_names, "tui_crawler"} - instead
    assert {provided.get(one, [one])[0].replace("_", "-").lower() for one in modules} == declared


@pytest.mark.parametrize(
    ("extra", "module"), [("pyarrow", "parquet.py"), ("aiohttp", "browser.py"), ("psycopg", "postgres.py")]
)
def test_only_one_module_needs_what_an_extra_installs(extra: str, module: str):
    assert [path.name for path in MODULES if extra in imports_of(path)] == [module]


DECIDED_BY_TEXT = {
    "cli/jobs_command.py": 1,  # `none` is typed by a person
    "domain/history/run_totals.py": 2,  # states of its own
    "cli/why_command.py": 1,  # steps of the chain that are no refusals
    "cli/word_completion.py": 1,  # the name of a parser
    "console/app.py": 1,  # how long a message stays
    "console/panes/notice.py": 1,
    "console/jobs/screen.py": 1,
    "domain/history/explanation.py": 3,
    "storage/db/database.py": 1,  # what SQLite says
    "storage/reports/failures.py": 1,
    "wiring/console.py": 1,
}
"""How often a module compares with a text that is the name of a member of an enumeration of the domain, and how often
with the beginning of a sentence. May only become less; in other modules never."""


def _names_of_enumerations() -> set[str]:
    """What members of the enumerations of the domain are stored as."""
    found: set[str] = set()
    for module in walk_packages(domain.__path__, f"{domain.__name__}."):
        for one in vars(import_module(module.name)).values():
            if isinstance(one, type) and issubclass(one, Enum):
                found |= {member.value if isinstance(member.value, str) else member.name for member in one}
    return found - {""}


def _texts(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return [text for part in node.elts for text in _texts(part)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _decisions(nodes: Iterable[ast.AST], names: set[str]) -> int:
    """How many comparisons are with a name, or with words that a sentence of ours begins or ends with."""
    number = 0
    for node in nodes:
        match node:
            case ast.Compare(left=left, comparators=others):
                number += any(text in names for one in (left, *others) for text in _texts(one))
            case ast.MatchValue(value=value):
                number += any(text in names for text in _texts(value))
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith"), args=[first, *_]):
                number += any(re.fullmatch(r"[A-Za-z]+ .*| .*[A-Za-z]+", text) is not None for text in _texts(first))
    return number


def test_nothing_is_decided_by_a_text_where_there_is_an_enumeration():
    names = _names_of_enumerations()
    assert {"FINISHED", "patience", "robots", "unreachable", "request_timeout"} <= names
    decided = ast.parse("if view.state == 'FINISHED' or words.startswith('gave up'): pass")
    assert _decisions(ast.walk(decided), names) == 2
    layers = ("console", "cli", "wiring", "storage", "engine", "domain", "export")
    found = {
        path.relative_to(PACKAGE).as_posix(): number
        for path in MODULES
        if path.relative_to(PACKAGE).parts[0] in layers and (number := _decisions(nodes_of(path), names))
    }
    assert found == DECIDED_BY_TEXT


def test_a_public_name_is_that_of_one_class() -> None:
    """A table of the database bears the name of what it holds, a port (a Protocol) that of what fits it."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        if "models" in path.parts:
            continue
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
                found.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert {name: places for name, places in found.items() if len(places) > 1 and not name.startswith("_")} == {}


MOST_LINES = 80_551
"""The most lines of Python in the package. The total only falls, except by a feature whose issue states a budget."""


def test_the_package_does_not_swell() -> None:
    assert sum(path.read_text(encoding="utf-8").count("\n") for path in MODULES) <= MOST_LINES


MOST_COMPLEX = 4
"""So many functions are allowed to be more complex than ruff (C901) lets them; each says why. May only become less."""


def test_functions_that_are_more_complex_than_ten_do_not_become_more():
    found = [path for path in MODULES for line in path.read_text(encoding="utf-8").splitlines() if "noqa: C901" in line]
    assert len(found) == MOST_COMPLEX


def _own_lines(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    """The lines of code in the body of a function, without its docstring, comments and empty lines."""
    body = function.body[ast.get_docstring(function) is not None :]
    between = lines[body[0].lineno - 1 : body[-1].end_lineno] if body else []
    return sum(1 for line in between if line.strip() and not line.lstrip().startswith("#"))


def small_functions_used_once(modules: Modules) -> int:
    """Count the private functions of at most 4 lines of code whose name occurs once more in their module."""
    number = 0
    for path, nodes in modules.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        used = Counter(one.id for one in nodes if isinstance(one, ast.Name))
        used += Counter(one.attr for one in nodes if isinstance(one, ast.Attribute))
        functions = (one for one in nodes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
        private = (one for one in functions if one.name.startswith("_") and not one.name.startswith("__"))
        number += sum(used[one.name] == 1 and _own_lines(one, lines) <= 4 for one in private)
    return number


def constructors_that_only_assign(modules: Modules) -> int:
    """Count the constructors that do nothing but give attributes their values, which a dataclass says in its fields."""

    def assigns(node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=[ast.Attribute() | ast.Tuple()]) | ast.AnnAssign(target=ast.Attribute()):
                return True
        return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

    functions = (one for nodes in modules.values() for one in nodes if isinstance(one, ast.FunctionDef))
    return sum(one.name == "__init__" and all(map(assigns, one.body)) for one in functions)


def pairs_of_records(modules: Modules) -> int:
    """Count the pairs of records of at least 4 fields that share 60 % of the fields of the smaller one."""
    classes = (one for nodes in modules.values() for one in nodes if isinstance(one, ast.ClassDef))
    fields = [
        {line.target.id for line in one.body if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)}
        for one in classes
        if one.decorator_list
    ]
    records = [one for one in fields if len(one) >= 4]
    return sum(len(one & other) >= 0.6 * min(len(one), len(other)) for one, other in combinations(records, 2))


def lives_of_panes(modules: Modules) -> int:
    """Count the methods of the console that ask, take what was read, let a held picture go on, or move clocks on."""
    consoles = [nodes for path, nodes in modules.items() if "console" in path.parts]
    functions = (node for nodes in consoles for node in nodes if isinstance(node, ast.FunctionDef))
    return sum(one.name in {"wants", "take", "thaw", "tick"} for one in functions)


def kinds_of_asks(modules: Modules) -> int:
    """Count the classes that are asks of a kind of their own."""
    classes = (node for nodes in modules.values() for node in nodes if isinstance(node, ast.ClassDef))
    return sum(any(ast.unparse(base).startswith("Ask[") for base in one.bases) for one in classes)


HOUSE = {  # what was counted when issue 25 began (commit f64befc), unless it has fallen since
    small_functions_used_once: 239,
    constructors_that_only_assign: 91,
    pairs_of_records: 89,
    lives_of_panes: 31,
    kinds_of_asks: 2,
}
"""The most that may be counted. A number may only fall."""


def test_the_numbers_of_the_house_only_fall() -> None:
    modules = {path: nodes_of(path) for path in MODULES}
    found = {count.__name__: (number, most) for count, most in HOUSE.items() if (number := count(modules)) > most}
    assert found == {}


LARGEST_CIRCLE = 4
"""The most modules that import each other, imports for types and in functions included. May only fall."""


def _import_graph() -> dict[str, set[str]]:
    """What each module of the package imports, wherever in the file that is written."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): nodes_of(path)
        for path in MODULES
    }
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, nodes in names.items():
        for node in nodes:
            match node:
                case ast.Import(names=modules):
                    found[name] |= {one.name for one in modules}
                case ast.ImportFrom(module=str(module), names=members):
                    full = {f"{module}.{one.name}" for one in members}
                    found[name] |= {one for one in full if one in names} or {module}
    return {name: imported & names.keys() - {name} for name, imported in found.items()}


def _circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules each of which reaches every other one of its set."""
    reached: dict[str, set[str]] = {}
    for name in graph:
        seen, todo = set[str](), [name]
        while todo:
            new = graph[todo.pop()] - seen
            seen |= new
            todo += new
        reached[name] = seen
    found = {frozenset(one for one in reached[name] if name in reached[one]) for name in graph if name in reached[name]}
    return [set(circle) for circle in found]


def test_no_large_circle_of_imports() -> None:
    assert _circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]
    largest = max(_circles(_import_graph()), key=len, default=set[str]())
    assert len(largest) <= LARGEST_CIRCLE, sorted(largest)


MOST_OF_THE_APP = 12
"""The most that screens may use of the console's app. May only fall."""


def test_screens_use_little_of_the_app() -> None:
    tree = ast.parse((PACKAGE / "console/screen/port.py").read_text(encoding="utf-8"))
    (port,) = (one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == "ConsolePort")
    assert len([one for one in port.body if isinstance(one, ast.AnnAssign | ast.FunctionDef)]) <= MOST_OF_THE_APP
