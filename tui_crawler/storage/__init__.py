"""The database. peewee would load the driver of PostgreSQL, and asyncio with it, wherever it is installed: it is told
that there is none, and `postgres` gives it the driver where it is wanted."""

import sys
from types import SimpleNamespace
from typing import Any


def _find_spec(name: str, *_: Any) -> None:
    """Raises ModuleNotFoundError while peewee is being loaded."""
    if name == "psycopg" and "peewee" in sys.modules and not hasattr(sys.modules["peewee"], "Model"):
        raise ModuleNotFoundError(name=name)


sys.meta_path.insert(0, SimpleNamespace(find_spec=_find_spec))
