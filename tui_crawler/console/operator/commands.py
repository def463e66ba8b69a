"""What the operator wants done: asked, written to the journal, followed up, undone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from tui_crawler.console.action import NOTHING_TO_UNDO
from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.operator import intent as intents
from tui_crawler.console.operator.intent import Confirmation, Intent
from tui_crawler.console.operator.journal import IntentOutcome, JournalWriter, News
from tui_crawler.console.operator.retry_start import (
    NextRequest,
    RetryEstimate,
    RetryStart,
    estimate_of,
    outlook_of,
    outlook_on_list,
    retry_start_of,
)
from tui_crawler.console.urls.cells import origin_of
from tui_crawler.domain.records import command as orders
from tui_crawler.text.format import count, plural, seconds
from tui_crawler.text.same_as import same_as

if TYPE_CHECKING:
    from tui_crawler.console.action import Situation
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.operator.engine_host import HostedEngine
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.screen.stack import Screens
    from tui_crawler.domain.records.page_view import PageView, TodoView
    from tui_crawler.domain.records.view import OriginView


def undo_note(version: int) -> str:
    """What the history says of rules that are those of an earlier version again."""
    return f"undo: back to version {version}"


@dataclass(slots=True)
class AppliedVersions:
    """The versions that this console has written, by job and content. Another operator's version in between makes an
    undo a conflict, as any edit."""

    _ids: dict[tuple[str, str], int] = field(default_factory=dict)
    _parents: dict[int, int] = field(default_factory=dict)  # which version each of them replaced

    def learn(self, intent: Intent, results: Sequence[orders.ActionResult]) -> None:
        """Notes the versions that came of an intent that was carried out."""
        for command, result in zip(intent.commands, results, strict=False):
            if isinstance(command, orders.ApplyRules):
                versions = json.loads(result.after or "{}").get("rulesets", {})
                if command.job in versions:
                    version = self._ids[command.job, command.rules] = versions[command.job]
                    self._parents[version] = command.base_id

    def takes_back(self, intent: Intent) -> bool:
        """Whether an intent brings back just what the version in force has replaced, as `rules undo` does; false where
        that is not known. Asked before it is learned what came of it."""
        return any(
            isinstance(one, orders.ApplyRules)
            and (parent := self._parents.get(one.base_id)) is not None
            and (one.note == undo_note(parent) or self._ids.get((one.job, one.rules)) == parent)
            for one in intent.commands
        )

    def based(self, intent: Intent, on: Sequence[orders.Command]) -> Intent:
        """The intent, beginning with the versions that the commands `on` have written."""
        written = {one.job: self._ids.get((one.job, one.rules), 0) for one in on if isinstance(one, orders.ApplyRules)}
        commands = tuple(
            replace(one, base_id=written[one.job])
            if isinstance(one, orders.ApplyRules) and written.get(one.job)
            else one
            for one in intent.commands
        )
        return replace(intent, commands=commands)


_KEPT = 50
_NAMED = 60  # characters of the words of an action that cannot be undone


@dataclass(frozen=True, slots=True)
class UndoStack:
    """Intents that have an inverse: `done` can be undone, `undone` can be done again. `final` was asked for after
    all of these and has none; None: there is no such one, or it was told that undo goes past it."""

    done: tuple[Intent, ...] = ()
    undone: tuple[Intent, ...] = ()
    final: Intent | None = None

    @property
    def next_undo(self) -> str:
        """What undo would undo, in words; empty: nothing."""
        return self.done[-1].says if self.done else ""

    @property
    def in_the_way(self) -> str:
        """That the last action cannot be undone, in words; empty when it can, or there is none."""
        if self.final is None:
            return ""
        says = self.final.says
        return f"the last action, {says if len(says) <= _NAMED else says[: _NAMED - 1] + '…'}, cannot be undone"

    @property
    def why_none(self) -> str:
        """Why there is nothing to undo; empty where there is something."""
        return "" if self.done else self.in_the_way or NOTHING_TO_UNDO

    def did(self, intent: Intent) -> UndoStack:
        """After an intent was asked for: with an inverse redo is gone, without one it stands in the way of undo."""
        if intent.inverse:
            return UndoStack((*self.done, intent)[-_KEPT:])
        return replace(self, final=intent)

    def undo(self) -> tuple[Intent, UndoStack] | None:
        """The intent that undoes the last one, and the stack after it; None when there is none."""
        if not self.done:
            return None
        last = self.done[-1]
        words = last.back or last.says
        back = Intent(last.inverse, f"undo: {words}", done=f"undone: {words}")
        return back, UndoStack(self.done[:-1], (*self.undone, last))

    def redo(self) -> tuple[Intent, UndoStack] | None:
        """The intent that does again what was undone last, and the stack after it; None when there is none."""
        if not self.undone:
            return None
        last = self.undone[-1]
        return Intent(last.commands, f"again: {last.says}"), UndoStack((*self.done, last), self.undone[:-1])

    def without(self, intent: Intent) -> UndoStack:
        """After an intent was refused: it cannot be undone."""
        final = None if self.final is intent else self.final
        return UndoStack(tuple(one for one in self.done if one is not intent), self.undone, final)


UNHEARD_MS = 30_000
"""So long a wish holds of which nothing is heard."""
READ_MS = 1_000
"""So long it holds once it was carried out: by then the row was read."""


@dataclass(frozen=True, slots=True)
class _PendingCommand:
    """What a command of an intent makes of some origins. `origins` None: of every one. Holds `until` (monotonic ms)."""

    intent: Intent
    change: Callable[[OriginView], OriginView]
    origins: frozenset[str] | None
    until: int


@dataclass(slots=True)
class PendingCommands:
    """Commands that were handed in and not read back yet, the newest last."""

    _clock: ConsoleClock
    _pending: tuple[_PendingCommand, ...] = ()

    def note(self, intent: Intent) -> None:
        until = self._clock.mono_ms() + UNHEARD_MS
        change: Callable[[OriginView], OriginView]
        for command in intent.commands:
            match command:
                case orders.PauseOrigins(origins=names) | orders.ResumeOrigins(origins=names):
                    change = partial(replace, paused=isinstance(command, orders.PauseOrigins))
                case orders.SetDelay(origin=name, delay_ms=own):
                    names, change = (name,), partial(_slowed, own=own)
                case _:
                    continue
            self._pending = (*self._pending, _PendingCommand(intent, change, frozenset(names) or None, until))

    def heard(self, intent: Intent, outcome: IntentOutcome) -> None:
        """What became of it: carried out it holds until the rows are read, refused it never was."""
        if outcome not in {IntentOutcome.written, IntentOutcome.locked}:
            until = self._clock.mono_ms() + (READ_MS if outcome is IntentOutcome.done else 0)
            self._pending = tuple(replace(one, until=until) if one.intent is intent else one for one in self._pending)

    def shown(self, views: Collection[OriginView]) -> tuple[OriginView, ...]:
        """The origins as they are going to be: with what was asked for and no row shows yet."""
        now, going = self._clock.mono_ms(), tuple(views)
        self._pending = tuple(one for one in self._pending if one.until > now)
        for asked in self._pending:
            names = asked.origins
            going = tuple(asked.change(view) if names is None or view.origin in names else view for view in going)
        return going


def _slowed(view: OriginView, own: int) -> OriginView:
    follows = own > view.delay_ms or (own and view.delay_ms == view.operator_delay_ms)
    return replace(view, operator_delay_ms=own, delay_ms=own if follows else view.delay_ms)


def delay_note(commands: Sequence[orders.Command], results: Sequence[orders.ActionResult]) -> str:
    """Which delay holds where it is another one than was asked for: the operator's own only ever slows down. Empty for
    other commands, and where that is not told."""
    match commands, results:
        case [orders.SetDelay(delay_ms=asked)], [orders.ActionResult(after=after), *_] if after:
            holds = json.loads(after).get("in_force")
            return f"{seconds(holds)} holds" if isinstance(holds, int) and holds != asked else ""
        case _:
            return ""


def seeds_note(news: News) -> str:
    """How many of the pages are new, and how many were known; empty of all that adds no seeds."""
    notes: list[str] = []
    pairs = zip(news.intent.commands, news.results, strict=False)
    for after in (result.after for command, result in pairs if isinstance(command, orders.AddSeeds) and result.after):
        match json.loads(after):
            case {"added": int(added), "known": int(known)}:
                more = f", {count(known)} {'was' if known == 1 else 'were'} already known" if known else ""
                notes.append(f"{plural(added, 'page')} {'is' if added == 1 else 'are'} new{more}")
    return "; ".join(notes)


class CommandQueue(Handles):
    """The operator's side of the journal. `journal_writer` None: this console only watches."""

    def __init__(
        self,
        screens: Screens,
        hosting: HostedEngine,
        live_state: LiveState,
        clock: ConsoleClock,
        key_names: KeyNames,
        read_soon: Callable[[], None],
        journal_writer: JournalWriter | None,
    ) -> None:
        self._screens, self._tell, self._hosting, self._live_state = screens, screens.tell, hosting, live_state
        self._clock, self._key_names, self._read_soon, self.journal_writer = clock, key_names, read_soon, journal_writer
        self.undo_stack = UndoStack()
        self._versions = AppliedVersions()
        self.asked = PendingCommands(clock)
        self._written: dict[Intent, list[tuple[int, ...]]] = {}  # ids of the actions of each, as often as it was done
        self._again: dict[Intent, Intent] = {}  # what was done again, by what was handed in for it
        self._hearers: list[tuple[Intent, Callable[[News], None]]] = []

    def carry_out(self, intent: Intent | None, hears: Callable[[News], None] | None = None) -> None:
        """Writes an intent; what becomes of it is told when it is known, also to who `hears`. None: nothing was
        possible."""
        if intent is not None and self.journal_writer is not None:
            if hears is not None:
                self._hearers.append((intent, hears))
            self._hand_in(intent, self.undo_stack.did(intent))

    def _hand_in(self, intent: Intent, stack: UndoStack) -> None:
        if self.journal_writer is not None:
            self.undo_stack = stack
            self.asked.note(intent)
            self.journal_writer.hand_in(intent)

    @handles("origin.top_up", intents.top_up)
    @handles("robots.refetch", intents.refetch_robots)
    @handles("origin.toggle_pause", intents.toggle_pause)
    @handles("origin.pause", intents.pause)
    @handles("origin.resume", intents.resume)
    def steer(self, now: Situation, make: Callable[[Sequence[OriginView]], Intent | None]) -> None:
        self.carry_out(make(now.origins))
        self._used()

    @handles("delay.up", intents.slower)
    @handles("delay.down", intents.faster)
    def steer_each(self, now: Situation, make: Callable[[OriginView], Intent | None]) -> None:
        """Carries out what an intent makes of each origin, where it is possible."""
        for view in now.origins:
            self.carry_out(make(view))
        self._used()

    @handles("origin.stop")
    def stop(self, now: Situation) -> None:
        self.ask(intents.stop(now.origins), self._used)

    @handles("origin.retry_failed")
    def retry_failed(self, now: Situation) -> None:
        failed = {view.origin: view.failed for view in now.origins if view.failed}
        cost = self.cost_words(failed, self._live_state.origins)
        self.ask(intents.retry_failed(now.origins, self.estimate(now.origins), cost), self._used)

    @handles("origin.exclude")
    def exclude(self, now: Situation) -> None:
        from tui_crawler.console.rules.exclusion import exclude_origins  # noqa: PLC0415  not before it is needed

        asked = exclude_origins(now.origins, self._live_state.origins.values())
        if isinstance(asked, Confirmation):
            self.ask(asked, self._used)
        else:
            self._tell("no", asked, "muted")

    def _used(self) -> None:
        if (screen := self._screens.console_screen) is not None:
            screen.marks.used()

    def ask(self, question: Confirmation, then: Callable[[], None] | None = None) -> None:
        """Asks first; `then` is called after what was chosen has been carried out. What was said of pages that are put
        back holds only as long as the same run would take them up."""
        from tui_crawler.console.dialogs.choose import ConfirmScreen  # noqa: PLC0415  not before the first paint

        retry_start = self.retry_start

        def answered(chosen: object) -> None:
            if (
                isinstance(chosen, Intent)
                and self.retry_start is not retry_start
                and any(isinstance(command, orders.RetryPages) for command in chosen.commands)
            ):
                self._tell("no", "not retried: a run started or ended in the meantime; try again", "warning")
            elif isinstance(chosen, Intent):
                self.carry_out(chosen)
                if then is not None:
                    then()

        self._screens.push_screen(ConfirmScreen(question), answered)

    @handles("origin.add")
    def add(self, text: str) -> None:
        """Ask for seeds. At first there is `text`, else where seeds that moved lead."""
        from tui_crawler.console.dialogs.add import AddScreen  # noqa: PLC0415  the same
        from tui_crawler.domain.history.diagnosis import DiagnosisKind  # noqa: PLC0415  the same
        from tui_crawler.domain.url import scheme_words  # noqa: PLC0415  not before the first paint

        def answered(urls: object) -> None:
            if isinstance(urls, tuple) and urls:
                self.carry_out(intents.add_seeds(urls))
                if words := scheme_words(dialog.seeds.schemes):
                    self._tell("scheme", words)

        known, found = tuple(self._live_state.origins), self._live_state.diagnoses
        moved = [url for one in found if one.kind is DiagnosisKind.seed_moved for url in one.urls]
        dialog = AddScreen(text or "\n".join(moved), known)
        self._screens.push_screen(dialog, answered)

    @handles("origin.move")
    def move(self, worker: str, now: Situation) -> None:
        """Gives the origins to a worker; asks for its name where none is typed."""
        from tui_crawler.console.dialogs.completion import Completion  # noqa: PLC0415  not before the first paint
        from tui_crawler.console.panes.entry import EntryLine, EntryUse  # noqa: PLC0415  the same
        from tui_crawler.console.workers.steering import move_origins  # noqa: PLC0415  not before it is needed

        names = [one.name for one in self._live_state.workers]

        def entered(name: str) -> None:
            if (intent := move_origins(now.origins, name.strip(), names)) is not None:
                self.carry_out(intent)
                self._used()
            elif name.strip():
                self._tell("no", f"move: {name.strip()} has it already", "muted")

        def complete(text: str) -> Completion:
            return Completion(0, tuple(one for one in names if one.startswith(text)))

        if worker:
            entered(worker)
        elif (screen := self._screens.console_screen) is not None:
            what = f"move {intents.origin_words([view.origin for view in now.origins])} to"
            screen.query_one(EntryLine).open(EntryUse("move", entered), what, "", "a worker", complete)

    @handles("all.toggle_pause", intents.toggle_pause_all, "")
    @handles("all.pause", intents.pause_all, "pause all: every origin is already paused")
    @handles("all.resume", intents.resume_all, "resume all: no origin is paused")
    def steer_all(self, make: Callable[[Collection[OriginView]], Intent | None], why: str) -> None:
        """Carries out what an intent makes of every origin; says `why` not where nothing is to be done."""
        intent = make(self.asked.shown(self._live_state.origins.values()))
        if intent is None and why:
            self._tell("no", why, "muted")
        self.carry_out(intent)

    @handles("run.end")
    def end_run(self) -> None:
        """Asks whether the run that is at work is to end, here or in another process."""
        if (run := self._live_state.run) is not None:
            self.ask(intents.end_run(run, self._live_state.origins.values(), elsewhere=self._hosting.host is None))

    @property
    def retry_start(self) -> RetryStart:
        """Who takes up pages that are put back now."""
        return retry_start_of(self._hosting.phase, self._hosting.quitting, self._live_state.run)

    def outlook_of(self, page: PageView) -> NextRequest:
        """When a page is asked for next, and what keeps its origin from asking."""
        origin, run = self._live_state.origins.get(page.origin), self._live_state.run
        return outlook_of(page, self._clock.wall_ms(), origin, self.retry_start, run.run_id if run is not None else 0)

    def outlook_on_list(self, item: TodoView, origin: OriginView | None) -> NextRequest:
        return outlook_on_list(item, self._clock.wall_ms(), origin, self.retry_start)

    def estimate(self, origins: Iterable[OriginView], among: int | None = None) -> RetryEstimate:
        """What putting back pages of these origins brings with it; `among` of them are queued already."""
        return estimate_of(self.retry_start, origins, self._live_state.origins.values(), among)

    @handles("url.retry")
    def retry(self, now: Situation) -> None:
        """Gives URLs their tries back; asks first when there are several, a run would start, or the origin gave up, and
        says what it takes. Of several only those are meant that have failed, where that is known; where none has, those
        that were blocked or dropped."""
        whole = len(now.urls)
        urls = (now.failing or now.barred) if whole > 1 and now.failing is not None else now.urls
        if not urls:
            words = f"retry: none of the {count(whole)} marked pages has failed, was blocked or dropped"
            self._tell("no", words, "muted")
            return
        origins, pages = self._live_state.origins, Counter(map(origin_of, urls))
        views = [view for name in pages if (view := origins.get(name)) is not None]
        estimate = self.estimate(views)
        if whole == 1 and estimate.retry_start is not RetryStart.new_run and not estimate.gave_up:
            self.carry_out(intents.retry_urls(urls, estimate.retry_start, views[0] if views else None))
            self._used()
            return
        what = "the marked URLs" if whole > 1 else urls[0]
        noun, one = "blocked or dropped page" if urls == now.barred else "failed page", len(urls) == 1
        if len(urls) < whole:
            verb = ("was" if one else "were") if urls == now.barred else ("has" if one else "have")
            what = f"{count(len(urls))} of the {count(whole)} marked {verb} {noun.removesuffix(' page')}"
        cost = self.cost_words(pages, origins)
        self.ask(intents.retry_named(urls, what, len(urls), cost, estimate, noun), self._used)

    def cost_words(self, pages: Mapping[str, int], origins: Mapping[str, OriginView]) -> str:
        """What it takes to put back so many pages of origins, in words."""
        from tui_crawler.console.failures import retry_cost  # noqa: PLC0415  not before the first paint

        tries, now = self._live_state.run.tries if self._live_state.run is not None else 0, self._clock.wall_ms()
        return retry_cost.cost_words(retry_cost.retry_cost(pages, origins, tries, now, self.retry_start))

    @handles("journal.undo")
    def undo(self) -> None:
        """Undoes the last intent that can be undone; where something was asked for since that cannot be, says so first:
        the next time it does."""
        stack, step = self.undo_stack, self.undo_stack.undo()
        if step is not None and stack.in_the_way:
            key = self._key_names("journal.undo")
            self._tell("no", f"{stack.in_the_way}; {key} again undoes {stack.next_undo}", "warning")
            self.undo_stack = replace(stack, final=None)
        elif step is not None:
            last = stack.done[-1]
            ids = self._written.get(last)
            back = replace(step[0], undoes=ids.pop() if ids else ())
            self._hand_in(self._versions.based(back, last.commands), step[1])

    @handles("journal.redo")
    def redo(self) -> None:
        stack, step = self.undo_stack, self.undo_stack.redo()
        if step is not None:
            again = self._versions.based(step[0], stack.undone[-1].inverse)
            self._again[again] = stack.undone[-1]
            self._hand_in(again, step[1])

    def heard(self, news: News) -> None:
        """Tells what became of an intent."""
        says = news.intent.says
        self.asked.heard(news.intent, news.outcome)
        match news.outcome:
            case IntentOutcome.written:
                done = self._again.pop(news.intent, news.intent)
                self._written.setdefault(done, []).append(news.ids)
                self._read_soon()
            case IntentOutcome.done:
                takes_back = self._versions.takes_back(news.intent)
                self._versions.learn(news.intent, news.results)
                undo = f"  {self._key_names('journal.undo')} undoes" if news.intent.inverse else ""
                notes = (news.intent.note, delay_note(news.intent.commands, news.results), seeds_note(news))
                note = "".join(f"; {one}" for one in notes if one)
                self._tell("journal", f"✓ {news.intent.done or says}{note}{undo}", "ok")
                if line := same_as(news.intent.commands, takes_back=takes_back):
                    self._tell("same", f"same as: {line}", "muted")
            case IntentOutcome.locked:
                why = "is locked by another program" if self._live_state.lock is not None else "is being written"
                self._tell("journal", f"◷ {says}: waits, the database {why}", "warning")
            case IntentOutcome.waiting:
                why = news.error or "no worker has applied it yet"
                self._tell("journal", f"◷ {says}: noted, {why}", "warning")
            case IntentOutcome.refused | IntentOutcome.failed:
                self.undo_stack = self.undo_stack.without(news.intent)
                self._tell("journal", f"✗ {says}: {news.error}", "error")
        for one in [one for one in self._hearers if one[0] is news.intent]:
            if news.outcome not in {IntentOutcome.written, IntentOutcome.locked}:
                self._hearers.remove(one)
            one[1](news)
