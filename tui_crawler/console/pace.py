"""How often the screen asks the database: slower when painting or reading is slow, with a back-off on failure. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

BEAT_MS = 100
SLOW_ROUND_MS = 25
STALE_MS = 1_500
_RATES = (10, 5, 2)
_CALM_ROUNDS = 20
_FIRST_BACKOFF_MS = 250
_LONGEST_BACKOFF_MS = 5_000


@dataclass(frozen=True, slots=True)
class Pace:
    """`hz` is the present rate, `failures` how many readings failed in a row, `calm` how many rounds were quick."""

    hz: int = _RATES[0]
    failures: int = 0
    calm: int = 0
    slow_read_ms: int = 0

    @property
    def wait_ms(self) -> int:
        """How long to wait after a reading before the next one is asked for."""
        if self.failures:
            return min(_FIRST_BACKOFF_MS << min(self.failures - 1, 10), _LONGEST_BACKOFF_MS)
        return max(1_000 // self.hz, min(self.slow_read_ms, _LONGEST_BACKOFF_MS))

    def failed(self) -> Pace:
        """The pace after a reading that failed: each one in a row doubles the wait."""
        return replace(self, failures=self.failures + 1, calm=0)

    def locked(self) -> Pace:
        """The pace while another program's lock is in the way: SQLite has waited for it already."""
        return replace(self, failures=1, calm=0)

    def after(self, paint_ms: int, read_ms: int) -> Pace:
        """The pace after a round: one step slower when taking it in cost over 25 ms, faster after a calm while.

        A reading that took long is followed by a wait of the same length, so that the database gets half the time.
        """
        slow_read = read_ms if read_ms > BEAT_MS else 0
        index = _RATES.index(self.hz)
        if paint_ms > SLOW_ROUND_MS:
            return Pace(_RATES[min(index + 1, len(_RATES) - 1)], slow_read_ms=slow_read)
        if self.calm + 1 >= _CALM_ROUNDS and index:
            return Pace(_RATES[index - 1], slow_read_ms=slow_read)
        return Pace(self.hz, calm=min(self.calm + 1, _CALM_ROUNDS), slow_read_ms=slow_read)
