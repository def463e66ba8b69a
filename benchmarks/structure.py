"""Counts the house: files and lines by layer, imports between layers, circles. `python -m benchmarks.structure [ROOT]`.

An import counts once for each pair of modules, wherever it stands. A circle at run time is one of the imports that a
module makes while it is loaded: those inside of functions and those for type checkers do not count there.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def modules_of(root: Path) -> dict[str, Path]:
    """The modules of the package by their names."""
    paths = sorted((root / "tui_crawler").rglob("*.py"))
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def layer_of(module: str) -> str:
    """The layer of a module."""
    return (*module.split("."), "(top)")[1]


def imports_of(path: Path, modules: dict[str, Path]) -> tuple[set[str], set[str]]:
    """The modules that a file names in an import anywhere, and those that are loaded with it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    later = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for inner in ast.walk(node)
    }
    every: set[str] = set()
    loaded: set[str] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inside = [f"{node.module}.{each.name}" for each in node.names]
            names = [name if name in modules else node.module for name in inside]
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        found = {name for name in names if name in modules}
        every |= found
        loaded |= set() if node in later else found
    return every, loaded


def main() -> None:
    """Prints the counts."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    modules = modules_of(root)
    files, lines, edges = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    loaded: dict[str, set[str]] = {}
    for name, path in modules.items():
        layer = layer_of(name)
        files[layer] += 1
        lines[layer] += path.read_text(encoding="utf-8").count("\n")
        every, loaded[name] = imports_of(path, modules)
        edges.update((layer, layer_of(other)) for other in every - {name} if layer_of(other) != layer)
        loaded[name].discard(name)
    for layer, number in lines.most_common():
        print(f"{layer:10} {files[layer]:4} files {number:6} lines")
    print(f"{'all':10} {files.total():4} files {lines.total():6} lines")
    for (one, other), number in sorted(edges.items()):
        print(f"{one} -> {other}: {number}")
    try:
        tuple(TopologicalSorter(loaded).static_order())
        print("circles at run time: none")
    except CycleError as circle:
        print("circle at run time:", " -> ".join(circle.args[1]))


if __name__ == "__main__":
    main()
