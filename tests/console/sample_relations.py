"""Every relation of the console and the command line, with records of all kinds, sample or hostile."""

from __future__ import annotations
