"""A worker as others see it: a process that crawls, its name and what it takes, what operators want of it."""

from enum import StrEnum

from tui_crawler.domain.record import dataclass


class WorkerOrder(StrEnum):
    """A command for a worker; the value is that of `session.wanted`.

    Paused it asks nothing and keeps its origins. Drained it finishes what is in flight, gives its origins back and
    ends. Stopped it ends as by SIGTERM.
    """

    work = ""
    pause = "paused"
    drain = "draining"
    stop = "stopping"


class WorkerState(StrEnum):
    """The state of a worker. Silent: its lease has run out, others take over what it held."""

    crawling = "crawling"
    paused = "paused"
    draining = "draining"
    stopping = "stopping"
    silent = "silent"


@dataclass(frozen=True, slots=True)
class WorkerOrders:
    """The present orders for a worker. `leave`: origins that go to another one when nothing of them is in flight;
    `lost`: those that it holds no more. `unlisted`: pages (ids) that left its todo lists, as it does not take their
    jobs."""

    order: WorkerOrder = WorkerOrder.work
    leave: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unlisted: frozenset[int] = frozenset()


def state_of(wanted: str, *, silent: bool) -> WorkerState:
    """The state of a worker by what is wanted of it."""
    return WorkerState.silent if silent else WorkerState(wanted or WorkerState.crawling)


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker that has not ended. Times are epoch ms; `heartbeat_age_ms` is how long it has been silent, which it may
    be for `lease_ms`. `in_flight` turns of its `slots` were under way then; `origins` are the unfinished ones it holds.

    `pages_per_minute` is of this minute and the one before. `leads`: it applies operator commands. `shared`:
    others may join its run. `free_bytes` of its disk, 0 where that is not known.
    """

    session_id: int
    name: str
    state: WorkerState
    slots: int
    in_flight: int
    origins: int
    pages_per_minute: float
    heartbeat_age_ms: int
    lease_ms: int
    host: str
    pid: int
    version: str
    tags: tuple[str, ...]
    matchonly: bool
    free_bytes: int
    started_at: int
    run_id: int
    shared: bool
    leads: bool = False

    @property
    def takes_orders(self) -> bool:
        """Return whether it does what operators want of it: not when it crawls alone, nor once it was told to stop."""
        return self.shared and self.state is not WorkerState.stopping
