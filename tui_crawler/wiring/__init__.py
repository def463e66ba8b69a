"""Wiring: the only place that knows every part. A caller imports what it needs when it needs it."""

from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace


def operator_name(database: DatabasePlace | None = None) -> str:
    """The name of the user of this process, `operator` where the system knows none; with that of the machine for a
    database that several may use."""
    import getpass

    try:
        user = getpass.getuser()
    except (ImportError, KeyError, OSError):  # no such user in the password database, none in the environment
        user = "operator"
    if not isinstance(database, PostgresPlace):
        return user
    import socket

    return f"{user}@{socket.gethostname()}"
