"""A crawl seen as of then: where a replay stands, and where it is to go."""

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.exit_code import BLOCKED, UNTOUCHED, ExitCode, attempts_left


@dataclass(frozen=True, slots=True)
class ReplayMoment:
    """A moment of the log: the time (epoch ms), and the last attempt that had ended by then (0: none had)."""

    at: int = 0
    attempt_id: int = 0


@dataclass(frozen=True, slots=True)
class ReplayGoal:
    """Where to go: to a time (epoch ms), or so many attempts, failures or marks (starts and ends of runs, actions of
    operators) on; below 0 back."""

    at: int | None = None
    attempts: int = 0
    failures: int = 0
    marks: int = 0


@dataclass(frozen=True, slots=True)
class ReplaySpan:
    """What of the log can be gone to: from the first moment to the last."""

    first: ReplayMoment = ReplayMoment()
    last: ReplayMoment = ReplayMoment()


class PageFold:
    """The attempts at a page folded, oldest first, as the settle step folds them; an aggregate function of SQL."""

    def __init__(self) -> None:
        self._attempts = 0
        self._left: int | None = None

    def step(self, exit_code: int, http_status: int | None, tries: int) -> None:
        """Takes one more attempt of a page that began with so many tries."""
        code = ExitCode(exit_code)
        if code in UNTOUCHED:
            return
        if not self._left:  # at first, or done and due again
            self._attempts, self._left = 0, tries
        self._left = attempts_left(code, http_status, self._left)
        self._attempts += code not in BLOCKED

    def finalize(self) -> int | None:
        """Attempts and tries left as one number (`unfolded`); None: none has touched the page."""
        return None if self._left is None else self._attempts * FOLDED + self._left


FOLDED = 1 << 20
"""By what `PageFold` multiplies the attempts."""
