"""A child process that runs a module of this very package, also where that is not installed."""

import os
import sys
from pathlib import Path


def child_words(module: str, *words: str) -> tuple[str, ...]:
    """The command line of a module."""
    return (sys.executable, "-P", "-m", module, *words)


def child_environment() -> dict[str, str]:
    """The environment of this process, in which the child finds the package."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}
