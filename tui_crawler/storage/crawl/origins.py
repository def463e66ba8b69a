"""Origin rows: the durable state of the origin crawlers, read and written as `OriginRecord`."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import peewee
import zstandard

from tui_crawler.domain.records.attempt import AttemptRecord, OriginRecord, RobotsRecord
from tui_crawler.domain.records.command import BadCommand, PauseOrigins, from_json
from tui_crawler.domain.records.exit_code import AttemptKind, is_problem
from tui_crawler.domain.records.page import Tally
from tui_crawler.storage.crawl.activity import note, note_finish
from tui_crawler.storage.crawl.counters import CounterChanges, adding
from tui_crawler.storage.crawl.former import Keeper
from tui_crawler.storage.db.claim import EMPTY, ONE, ZERO, Claim
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.reader import From, RowMapper
from tui_crawler.storage.db.statements import adds, builds, columns, reads, slot, slots, updates, upserts
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import OperatorAction, Origin, Page, RobotsText


class Pauses:
    """The pauses that wait in the journal to be finished, as one transaction finds them."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @cached_property
    def _asked(self) -> list[tuple[str, tuple[str, ...]]]:
        """Who asked for a pause, the latest first, and of which origins (none: of all)."""
        asked = []
        for who, text in self._transaction.all(_waiting, {}):
            with suppress(BadCommand):
                command = from_json("pause", text)
                if isinstance(command, PauseOrigins):
                    asked.append((who, command.origins))
        return asked

    def note(self, origin_id: int, origin: str, *, paused: bool) -> None:
        """That an origin is paused from now on, by who asked for it last, or is not any more."""
        at, who = 0, ""
        if paused:
            at = self._transaction.now
            who = next((who for who, named in self._asked if not named or origin in named), "")
        self._transaction.run(_set_paused, {"origin_id": origin_id, "paused_at": at, "paused_by": who})


_waiting = builds(
    OperatorAction.select(OperatorAction.who, OperatorAction.command)
    .where((OperatorAction.applied_at == ZERO) & (OperatorAction.action == peewee.SQL("'pause'")))
    .order_by(OperatorAction.id.desc())
)
_APART = frozenset(("origin", "robots", "in_flight_url"))
_STATE_NAMES = tuple(one.name for one in fields(OriginRecord) if one.name not in _APART)
"""The state of an origin: fields of its record and columns of the same names."""

_STATE = columns(Origin, *_STATE_NAMES)
_state_of = attrgetter(*_STATE_NAMES)
_ROBOTS_NAMES = "robots_status robots_http_status robots_fetched_at robots_expires_at crawl_delay_ms"
_ROBOTS = columns(Origin, _ROBOTS_NAMES)
_NEVER_ASKED = "none"  # the robots_status of an origin whose robots.txt nobody asked for
_COUNTERS = columns(Origin, *Tally._fields)


class Counted(NamedTuple):
    """By how much an origin's counters change beside those of its pages."""

    todo: int = 0
    pages: int = 0
    requests: int = 0
    bytes: int = 0
    attempts: int = 0


_COUNTED = tuple(f"add_{name}" for name in Counted._fields)


class OriginRow(NamedTuple):
    """What is needed of an origin before it is changed."""

    id: int
    delay_ms: int = 0
    paused: int = 0
    participates: int = 0
    finish_reason: str = ""
    joined: str = ""


def find(transaction: Transaction, origin: str) -> OriginRow | None:
    """The row of an origin, None when it is unknown."""
    row = transaction.one(_find, {"origin": clean(origin)})
    return OriginRow(*row) if row else None


def ensure(transaction: Transaction, origin: str) -> OriginRow:
    """The same; an unknown origin gets a row that takes no part in the run."""
    if (row := find(transaction, origin)) is not None:
        return row
    ((origin_id,),) = transaction.all(_insert, {"origin": clean(origin), "change": transaction.change})
    return OriginRow(origin_id)


def join(transaction: Transaction, claim: Claim, row: OriginRow, joined: str, *, afresh: bool | None = None) -> None:
    """Let an origin take part in the run, held by this session (by none among several workers). `joined`: seed, added
    or external. `afresh` None: it starts afresh unless it took part already."""
    values = {"joined": joined, "session_id": None if claim.shared else claim.session_id, "shared": int(claim.shared)}
    transaction.run(_join, {"origin_id": row.id, "change": transaction.change, **values})
    if not row.participates:
        note(transaction, "origin_joined", joined, row.id, claim.run_id)
        for origin, path in claim.start_paths:
            transaction.run(set_start_path, {"origin_id": row.id, "origin": clean(origin), "start_path": clean(path)})
    if not row.participates if afresh is None else afresh:
        # what a new run resets (docs/behaviour.md); robots.txt, next_request_at, pause and pages stay
        transaction.run(clear_todo, {"origin_id": row.id})
        begun = {"patience": claim.patience, "politeness": claim.start_politeness, "change": transaction.change}
        transaction.run(_reset, {"origin_id": row.id, **begun})


class OriginChange(NamedTuple):
    """What is written of an origin: its state, and by how much its counters change. `last` is the attempt that the
    overview shows as its last one; without it, `in_flight` stays. An answered robots.txt does not replace a page there.
    robots.txt is written apart, except when it is due again, which an operator may change."""

    row: OriginRow
    record: OriginRecord
    change: Tally = Tally()
    counted: Counted = Counted()
    last: AttemptRecord | None = None


def write(transaction: Transaction, one: OriginChange, pauses: Pauses | None = None) -> Tally:
    """Write the state and add to the counters; return the counters of its pages. `pauses` is for many origins."""
    build = _write if one.last is None else _write_with_attempt
    counters = transaction.one(build, _values(transaction, one))
    _note_changes(transaction, one, pauses)
    return Tally(*counters or ())


def write_attempted(transaction: Transaction, changes: Sequence[OriginChange]) -> list[Tally]:
    """Do what `write` does for several origins with an attempt, none of them twice."""
    counters = transaction.each(_write_with_attempt, [_values(transaction, one) for one in changes], "origin_id")
    for one in changes:
        _note_changes(transaction, one, None)
    return [Tally(*counters.get(one.row.id, ())) for one in changes]


def _note_changes(transaction: Transaction, one: OriginChange, pauses: Pauses | None) -> None:
    row, record = one.row, one.record
    if record.paused != row.paused:
        (pauses or Pauses(transaction)).note(row.id, record.origin, paused=record.paused)
    if record.finish_reason and not row.finish_reason:
        note_finish(transaction, row.id, record.finish_reason)


def _values(transaction: Transaction, one: OriginChange) -> dict[str, Any]:
    record, last = one.record, one.last
    values: dict[str, Any] = {
        "origin_id": one.row.id,
        "change": transaction.change,
        **dict(zip(_STATE_NAMES, _state_of(record), strict=True)),
        "response_window": json.dumps(record.response_window) if record.response_window else "",
        "robots_expires_at": record.robots.expires_at if record.robots else None,
        "in_flight_url": clean(record.in_flight_url),
        "landed": last is not None or bool(record.in_flight_url),
        **adding(one.change),
        **dict(zip(_COUNTED, one.counted, strict=True)),
    }
    if last is not None:
        values |= {
            "last_url": clean(last.url),
            "last_exit_code": last.exit_code.value,
            "last_http_status": last.http_status,
            "last_attempt_at": last.ended_at,
            "stands": last.kind is not AttemptKind.robots or is_problem(last.exit_code, last.kind.value),
        }
    return values


def move(transaction: Transaction, moves: CounterChanges) -> None:
    """Adds to the counters of origins whose state stays as it is."""
    rows = [
        {
            "origin_id": origin_id,
            "change": transaction.change,
            **adding(moves.changes[origin_id]),
            "add_todo": -moves.unlisted[origin_id],
            "add_pages": moves.added[origin_id],
        }
        for origin_id in sorted(moves.changes.keys() | moves.added.keys() | moves.unlisted.keys())
    ]
    transaction.run_each(_add, rows, "origin_id")


def write_robots(transaction: Transaction, origin_id: int, robots: RobotsRecord | None, keeper: Keeper) -> None:
    """Writes robots.txt and what it asks for; None: it was never fetched."""
    kept = robots or RobotsRecord(_NEVER_ASKED, None, 0, 0, b"", None)
    said = (kept.status, kept.http_status, kept.fetched_at, kept.expires_at, kept.crawl_delay_ms)
    values = dict(zip(_ROBOTS_NAMES.split(), said, strict=True))
    transaction.run(_write_robots, {"origin_id": origin_id, **values})
    body = zstandard.ZstdCompressor().compress(kept.body)
    keeper.robots(origin_id, body)
    transaction.insert(_write_robots_text, [(origin_id, body)])


EXTERNAL = "external"
"""How an origin has joined that is not crawled: links that leave the crawl lead there."""

RECORD = (Origin.id, Origin.origin, *_STATE, *_ROBOTS, RobotsText.body)
"""The columns `record_of` wants, in their order, before those a query adds. RobotsText must be joined."""


def record_of(row: Row) -> OriginRecord:
    """The record in a row of `RECORD`. No request is in flight for who reads it."""
    return _RECORD.of(("origin", *_STATE_NAMES, *_ROBOTS_NAMES.split(), "body"))(row[1 : len(RECORD)])


def _robots_of(
    status: str, http_status: int | None, fetched_at: int, expires_at: int, crawl_delay_ms: int | None, packed: bytes
) -> RobotsRecord | None:
    if status == _NEVER_ASKED:
        return None
    body = zstandard.ZstdDecompressor().decompress(packed) if packed is not None else b""
    return RobotsRecord(status, http_status, fetched_at, expires_at, body, crawl_delay_ms)


_RECORD = RowMapper(
    OriginRecord,
    response_window=lambda text: tuple(json.loads(text)) if text else (),
    robots=From(f"{_ROBOTS_NAMES} body", _robots_of),
)


def _join() -> Any:
    """Whoever joined by hand stays so: its seeds are nowhere in a configuration. Among several workers the session that
    held the origin last stays in its row, until one of them leases it."""
    added, here = Origin.joined == peewee.SQL("'added'"), Origin.participates == ONE
    changes = {
        Origin.participates: ONE,
        Origin.joined: peewee.Case(None, [(added, Origin.joined)], slot("joined")),
        Origin.session_id: peewee.fn.COALESCE(slot("session_id"), Origin.session_id),
        Origin.free: peewee.Case(None, [(here, Origin.free * slot("shared"))], slot("shared")),
        Origin.site: peewee.Case(None, [(here, Origin.site)], EMPTY),
        Origin.epoch: peewee.Case(None, [(here, Origin.epoch)], Origin.epoch + ONE),
        Origin.in_flight_url: EMPTY,
        Origin.change: slot("change"),
    }
    return Origin.update(changes).where(Origin.id == slot("origin_id"))


def clear_todo(*more: Any) -> Any:
    """An UPDATE that empties the todo list of an origin, and these columns, and answers the ids of its pages."""
    on_list = (Page.origin == slot("origin_id")) & (Page.todo_order > ZERO)
    return Page.update(dict.fromkeys((Page.todo_order, *more), ZERO)).where(on_list).returning(Page.id)


def _write_with_attempt() -> Any:
    last = slots((Origin.last_url, Origin.last_exit_code, Origin.last_http_status, Origin.last_attempt_at))
    no_other = Origin.last_url.in_([EMPTY, slot("last_url")])
    taken = (slot("stands") == ONE) | no_other
    return _update_state({column: peewee.Case(None, [(taken, value)], column) for column, value in last.items()})


def _update_state(more: dict[Any, Any]) -> Any:
    landed = [(slot("landed") == ONE, slot("in_flight_url"))]
    changes = {
        Origin.in_flight_url: peewee.Case(None, landed, Origin.in_flight_url),
        **slots(_STATE),
        Origin.robots_expires_at: peewee.fn.COALESCE(slot("robots_expires_at"), Origin.robots_expires_at),
        **_additions(),
        **more,
        **adds(Origin, "requests bytes attempts"),
        Origin.change: slot("change"),
    }
    return Origin.update(changes).where(Origin.id == slot("origin_id")).returning(*_COUNTERS)


def _additions() -> dict[Any, Any]:
    new = {column: column + slot("add_pages") for column in (Origin.pages_known, Origin.discovered)}
    return adds(Origin, *Tally._fields, "todo") | new


_reset = updates(
    [Origin.id],
    *columns(Origin, "patience politeness change"),
    to={
        Origin.finish_reason: EMPTY,
        Origin.may_fall: ONE,
        Origin.response_window: EMPTY,
        **dict.fromkeys(columns(Origin, "rate_limits asleep_until todo discovered"), ZERO),
    },
)
_set_paused = updates([Origin.id], Origin.paused_at, Origin.paused_by)
_find = reads([Origin.origin], *columns(Origin, *OriginRow._fields))
_write_robots = updates([Origin.id], *_ROBOTS)
_write_robots_text = upserts([RobotsText.origin], [RobotsText.body])
set_start_path = updates([Origin.id, Origin.origin], Origin.start_path)
_insert = builds(Origin.insert(slots([Origin.origin, Origin.change])).returning(Origin.id))
_write = builds(_update_state({}))
_add = builds(Origin.update({**_additions(), Origin.change: slot("change")}).where(Origin.id == slot("origin_id")))
