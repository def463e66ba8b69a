"""Who is at the keyboard, for the operator journal."""

from __future__ import annotations


def operator_name() -> str:
    """The name of the user of this process; `operator` where the system knows none."""
    import getpass

    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # no such user in the password database, none in the environment
        return "operator"
