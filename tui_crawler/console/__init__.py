"""The console. Before Textual is loaded: what a key has changed waits for its frame half as long, at most 120 frames a
second, where Textual has 60. Textual's own command palette, which no app here has (ENABLE_COMMAND_PALETTE), would load
ten widgets."""

import os
import sys
from types import ModuleType


class _NotShown(ModuleType):
    """In place of a module of Textual: whatever is imported from it is an empty class."""

    __file__ = None

    def __getattr__(self, name: str) -> type:
        return type(name, (), {})


os.environ.setdefault("TEXTUAL_FPS", "120")
sys.modules.setdefault("textual.command", _NotShown("textual.command"))
