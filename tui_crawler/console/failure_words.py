"""What went wrong below the console, as one line for a person."""

from __future__ import annotations


def failure_words(error: Exception) -> str:
    """The message of a failure that was meant for a person; any other error with its type, so that it can be found."""
    from tui_crawler.domain.run import RunHeld, StorageFailure  # noqa: PLC0415  only when something failed

    if isinstance(error, RunHeld | StorageFailure) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}"
