"""What commands, runs, the store and the journal raise. Few lines of their own: a start looks at its database first."""


class UsageProblem(Exception):
    """A wrong word, option, file or configuration: exit status 2. `lines` are shown one by one; `hint` says what to do
    instead."""

    def __init__(self, *lines: str, hint: str = "") -> None:
        super().__init__("\n".join(lines))
        self.lines, self.hint = lines, hint


class CannotRun(Exception):
    """What was asked for is right and cannot be done here and now: one line, exit status 3."""


class StorageFailure(CannotRun):
    """The database cannot take or give what is asked: disk full, locked for too long, corrupt, gone."""


class StorageHeldUp(StorageFailure):
    """A failure that passes by itself: the disk is full or has an I/O error, another program holds a lock, no
    descriptor is left. Nothing is lost."""


class DatabaseLocked(StorageHeldUp):
    """Another program holds a lock on the database that it will give back: nothing is lost, it can be tried again."""


class DatabaseUnusable(StorageFailure):
    """The database takes no attempt any more, and that does not pass by itself: a run ends."""


class DatabaseDamaged(DatabaseUnusable):
    """The file is no whole database any more: nothing that is asked of it can be trusted."""


class BadKeptConfig(StorageFailure):
    """The configuration that a database keeps of its newest run does not load; the message says why."""


class ReadingStopped(Exception):
    """The end of a reading that is no longer needed."""


class RunHeld(CannotRun):
    """Another live run holds the database; the message says which process on which host."""


class EngineFailed(Exception):
    """The process that crawls for a console is gone, or could not begin; the message says why, for a person."""


class CannotListen(CannotRun):
    """An address at which something was to be answered cannot be had; the message names it, and says why."""


class OutOfDescriptors(Exception):
    """No connection can be opened for want of a file descriptor: nothing was sent, and that is nobody's fault."""


class NotTakenUp(CannotRun):
    """A live run has not looked at the operator journal in time; the action stays there."""


class NoSuchJob(ValueError):
    """A command names a job that does not exist."""


class BadSegment(UsageProblem):
    """A segment that cannot be taken: no segment, damaged, or consumed before. Nothing was changed."""


class NotOurDatabase(DatabaseUnusable):
    """The file is not a database of this program, or one of a newer version; it was not touched."""


class NotComparable(UsageProblem):
    """The reason why two runs cannot be compared, in one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, hint="see docs/diff.md for what is kept")


class QueryProblem(Exception):
    """The reason why a query in SQL has no result, in one line."""
