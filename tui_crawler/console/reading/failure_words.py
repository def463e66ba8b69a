"""What went wrong below the console, as one line for a person."""

from __future__ import annotations


def failure_words(error: Exception) -> str:
    """The message of a failure that was meant for a person; any other error with its type, so that it can be found."""
    from tui_crawler.domain.records.failure import EngineFailed, RunHeld, StorageFailure  # noqa: PLC0415  only then

    if isinstance(error, EngineFailed | RunHeld | StorageFailure) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}"


def is_lock(error: Exception) -> bool:
    """Whether it failed only because another program holds a lock: it can be tried again."""
    from tui_crawler.domain.records.failure import DatabaseLocked  # noqa: PLC0415  see above

    return isinstance(error, DatabaseLocked)


def is_damage(error: Exception) -> bool:
    """Whether the file is no whole database any more."""
    from tui_crawler.domain.records.failure import DatabaseDamaged  # noqa: PLC0415  see above

    return isinstance(error, DatabaseDamaged)
