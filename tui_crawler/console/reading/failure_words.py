"""What went wrong below the console, as one line for a person."""

from tui_crawler.domain.records.failure import EngineFailed, QueryProblem, RunHeld, StorageFailure


def failure_words(error: Exception) -> str:
    """The message of a failure that was meant for a person; any other error with its type, so that it can be found."""
    if isinstance(error, EngineFailed | QueryProblem | RunHeld | StorageFailure) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}"
