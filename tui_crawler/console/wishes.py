"""What the operator wants done: asked, written to the journal, followed up, undone."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.action import NOTHING_TO_UNDO
from tui_crawler.console.applied_versions import AppliedVersions
from tui_crawler.console.format import count, plural, seconds
from tui_crawler.console.intent import (
    Intent,
    Question,
    add_seeds,
    end_run,
    pause_all,
    resume_all,
    retry_named,
    retry_urls,
    toggle_pause_all,
)
from tui_crawler.console.journal_desk import Fate, JournalDesk, News
from tui_crawler.console.present.same_as import same_as
from tui_crawler.console.uptake import Outlook, Prospect, Uptake, outlook_of, outlook_on_list, prospect_of, uptake_of
from tui_crawler.domain.command import AddSeeds, PauseOrigins, ResumeOrigins, RetryPages, SetDelay

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.domain.command import ActionResult, Command
    from tui_crawler.domain.page_view import PageView, TodoView
    from tui_crawler.domain.view import OriginView


UNDO = "undo: "
"""What the words of an intent begin with that takes another one back."""

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
        """Why there is nothing to undo."""
        return self.in_the_way or NOTHING_TO_UNDO

    @property
    def next_redo(self) -> str:
        """What redo would do again, in words; empty: nothing."""
        return self.undone[-1].says if self.undone else ""

    def did(self, intent: Intent) -> UndoStack:
        """After an intent was asked for: with an inverse redo is gone, without one it stands in the way of undo."""
        if intent.inverse:
            return UndoStack((*self.done, intent)[-_KEPT:])
        return replace(self, final=intent)

    def past_it(self) -> UndoStack:
        """After it was told what stands in the way: what comes before it can be undone now."""
        return replace(self, final=None)

    def undo(self) -> tuple[Intent, UndoStack] | None:
        """The intent that undoes the last one, and the stack after it; None when there is none."""
        if not self.done:
            return None
        last = self.done[-1]
        back = Intent(last.inverse, f"{UNDO}{last.back or last.says}")
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
class _Wish:
    """A command on some origins, of an intent. `origins` None: on every one. Holds `until` (monotonic ms)."""

    intent: Intent
    command: Command
    origins: frozenset[str] | None
    until: int


class Asked:
    """Wishes that were handed in, the newest last. Times are monotonic ms."""

    def __init__(self) -> None:
        self._wishes: tuple[_Wish, ...] = ()

    def note(self, intent: Intent, now: int) -> None:
        """It was handed in."""
        for command in intent.commands:
            match command:
                case PauseOrigins(origins=names) | ResumeOrigins(origins=names):
                    wish = _Wish(intent, command, frozenset(names) or None, now + UNHEARD_MS)
                case SetDelay(origin=name):
                    wish = _Wish(intent, command, frozenset({name}), now + UNHEARD_MS)
                case _:
                    continue
            self._wishes = (*self._wishes, wish)

    def heard(self, intent: Intent, fate: Fate, now: int) -> None:
        """What became of it: carried out it holds until the rows are read, refused it never was."""
        match fate:
            case Fate.done:
                until = now + READ_MS
            case Fate.refused | Fate.failed | Fate.waiting:
                until = now
            case _:
                return
        self._wishes = tuple(replace(one, until=until) if one.intent is intent else one for one in self._wishes)

    def shown(self, views: Collection[OriginView], now: int) -> tuple[OriginView, ...]:
        """The origins as they are going to be."""
        self._wishes = tuple(one for one in self._wishes if one.until > now)
        return tuple(map(self._shown, views)) if self._wishes else tuple(views)

    def _shown(self, view: OriginView) -> OriginView:
        for wish in self._wishes:
            if wish.origins is None or view.origin in wish.origins:
                view = _with(view, wish.command)
        return view


def _with(view: OriginView, command: Command) -> OriginView:
    match command:
        case PauseOrigins():
            return replace(view, paused=True)
        case ResumeOrigins():
            return replace(view, paused=False)
        case SetDelay(delay_ms=own):
            follows = own > view.delay_ms or (own and view.delay_ms == view.operator_delay_ms)
            return replace(view, operator_delay_ms=own, delay_ms=own if follows else view.delay_ms)
        case _:
            return view


def delay_note(commands: Sequence[Command], results: Sequence[ActionResult]) -> str:
    """Which delay holds where it is another one than was asked for: the operator's own only ever slows down. Empty for
    other commands, and where that is not told."""
    if len(commands) != 1 or not results or not results[0].after:
        return ""
    match commands[0]:
        case SetDelay(delay_ms=asked):
            holds = json.loads(results[0].after).get("in_force")
            return f"{seconds(holds)} holds" if isinstance(holds, int) and holds != asked else ""
        case _:
            return ""


def seeds_note(news: News) -> str:
    """How many of the pages are new, and how many were known; empty of all that adds no seeds."""
    pairs = zip(news.intent.commands, news.results, strict=False)
    return "; ".join(filter(None, (_words(result.after) for command, result in pairs if isinstance(command, AddSeeds))))


def _words(after: str) -> str:
    told = json.loads(after or "{}")
    added, known = (told.get(name) if isinstance(told, dict) else None for name in ("added", "known"))
    if not isinstance(added, int) or not isinstance(known, int):
        return ""
    new = f"{plural(added, 'page')} {'is' if added == 1 else 'are'} new"
    return f"{new}, {count(known)} {'was' if known == 1 else 'were'} known already" if known else new


class Wishes:
    """The operator's side of the journal. `desk` None: this console only watches."""

    def __init__(self, app: CrawlerApp, desk: JournalDesk | None) -> None:
        """Begins with nothing to undo."""
        self._app = app
        self.desk = desk
        self.undo_stack = UndoStack()
        self._versions = AppliedVersions()
        self._asked = Asked()
        self._written: dict[Intent, list[tuple[int, ...]]] = {}  # ids of the actions of each, as often as it was done
        self._again: dict[Intent, Intent] = {}  # what was done again, by what was handed in for it
        self._hearers: list[tuple[Intent, Callable[[News], None]]] = []

    def carry_out(self, intent: Intent | None, hears: Callable[[News], None] | None = None) -> None:
        """Writes an intent; what becomes of it is told when it is known, also to who `hears`. None: nothing was
        possible."""
        if intent is not None and self.desk is not None:
            self.undo_stack = self.undo_stack.did(intent)
            if hears is not None:
                self._hearers.append((intent, hears))
            self._hand_in(self.desk, intent)

    def as_asked(self, views: Collection[OriginView]) -> tuple[OriginView, ...]:
        """The origins as they are going to be: with what was asked for and no row shows yet."""
        return self._asked.shown(views, self._app.clock.mono_ms())

    def _hand_in(self, desk: JournalDesk, intent: Intent) -> None:
        self._asked.note(intent, self._app.clock.mono_ms())
        desk.hand_in(intent)

    def carry_out_each(self, make: Callable[[OriginView], Intent | None], targets: Sequence[OriginView]) -> None:
        """Makes an intent for each origin and writes those that are possible."""
        for view in targets:
            self.carry_out(make(view))

    def ask(self, question: Question, then: Callable[[], None] | None = None) -> None:
        """Asks first; `then` is called after what was chosen has been carried out. What was said of pages that are put
        back holds only as long as the same run would take them up."""
        from tui_crawler.console.screens.confirm import ConfirmScreen  # noqa: PLC0415  not before the first paint

        uptake = self.uptake

        def answered(chosen: object) -> None:
            if isinstance(chosen, Intent) and self.uptake is not uptake and _retries(chosen):
                self._app.tell("no", "nothing was put back: meanwhile a run has begun or ended; ask again", "warning")
            elif isinstance(chosen, Intent):
                self.carry_out(chosen)
                if then is not None:
                    then()

        self._app.push_screen(ConfirmScreen(question), answered)

    def add(self, text: str) -> None:
        """Asks for seeds; `text` stands there at first."""
        from tui_crawler.console.present.seeds import scheme_words  # noqa: PLC0415  not before the first paint
        from tui_crawler.console.screens.add import AddScreen  # noqa: PLC0415  the same

        def answered(urls: object) -> None:
            if isinstance(urls, tuple) and urls:
                self.carry_out(add_seeds(urls))
                if words := scheme_words(dialog.seeds):
                    self._app.tell("scheme", words)

        dialog = AddScreen(text, tuple(self._app.picture.origins))
        self._app.push_screen(dialog, answered)

    def pause_all(self, *, pauses: bool | None = None) -> None:
        """Pauses every origin, or resumes every one (`pauses` None: whichever is possible); says so where nothing is to
        be done."""
        views = self.as_asked(self._app.picture.origins.values())
        if pauses is None:
            self.carry_out(toggle_pause_all(views))
            return
        intent = (pause_all if pauses else resume_all)(views)
        if intent is None:
            words = "pause all: every origin is paused already" if pauses else "resume all: no origin is paused"
            self._app.tell("no", words, "muted")
        self.carry_out(intent)

    def end_run(self) -> None:
        """Asks whether the run that is at work is to end, here or in another process."""
        app, run = self._app, self._app.picture.run
        if run is not None:
            self.ask(end_run(run, app.picture.origins.values(), elsewhere=app.room.host is None))

    @property
    def uptake(self) -> Uptake:
        """Who takes up pages that are put back now."""
        room = self._app.room
        return uptake_of(room.phase, room.quitting, self._app.picture.run)

    def outlook_of(self, page: PageView) -> Outlook:
        """When a page is asked for next, and what keeps its origin from asking."""
        picture = self._app.picture
        run_id = picture.run.run_id if picture.run is not None else 0
        return outlook_of(page, self._app.clock.wall_ms(), picture.origins.get(page.origin), self.uptake, run_id)

    def outlook_on_list(self, item: TodoView, origin: OriginView | None) -> Outlook:
        """The same for a page of the todo list of an origin."""
        return outlook_on_list(item, self._app.clock.wall_ms(), origin, self.uptake)

    def prospect(self, origins: Iterable[OriginView], among: int | None = None) -> Prospect:
        """What putting back pages of these origins brings with it; `among` of them are queued already."""
        return prospect_of(self.uptake, origins, self._app.picture.origins.values(), among)

    def retry(
        self,
        urls: tuple[str, ...],
        then: Callable[[], None] | None = None,
        failing: tuple[str, ...] | None = None,
        barred: tuple[str, ...] = (),
    ) -> None:
        """Gives URLs their tries back; asks first when there are several, a run would start, or the origin gave
        up, and says what it takes.

        `then` is called after that has been carried out. Of several only those are meant that are `failing` (None: it
        is not known which are); where none is, those that were `barred` from being asked.
        """
        from tui_crawler.console.present.retry_cost import pages_by_origin  # noqa: PLC0415  not before the first paint

        whole = len(urls)
        if whole > 1 and failing is not None:
            urls = failing or barred
        if not urls:
            words = f"retry: none of the {count(whole)} marked pages has failed or was blocked"
            self._app.tell("no", words, "muted")
            return
        origins, pages = self._app.picture.origins, pages_by_origin(urls)
        views = [view for name in pages if (view := origins.get(name)) is not None]
        prospect = self.prospect(views)
        if whole == 1 and prospect.uptake is not Uptake.new_run and not prospect.gave_up:
            self.carry_out(retry_urls(urls, prospect.uptake, views[0] if views else None))
            if then is not None:
                then()
            return
        what = "the marked URLs" if whole > 1 else urls[0]
        noun, one = "blocked page" if urls == barred else "failed page", len(urls) == 1
        if len(urls) < whole:
            verb = ("was" if one else "were") if urls == barred else ("has" if one else "have")
            what = f"{count(len(urls))} of the {count(whole)} marked {verb} {noun.removesuffix(' page')}"
        self.ask(retry_named(urls, what, len(urls), self.cost_words(pages, origins), prospect, noun), then)

    def cost_words(self, pages: Mapping[str, int], origins: Mapping[str, OriginView], among: int | None = None) -> str:
        """What it takes to put back so many pages of origins, in words; where another run takes them up, with what else
        that asks for. `among` of the pages are queued already (None: nobody knows how many)."""
        from tui_crawler.console.present.retry_cost import (  # noqa: PLC0415  not before the first paint
            cost_words,
            fresh_cost,
            retry_cost,
            run_cost,
        )

        picture, now, uptake = self._app.picture, self._app.clock.wall_ms(), self.uptake
        run = picture.run
        tries = run.tries if run is not None else 0
        cost = retry_cost(pages, origins, tries, now, uptake)
        if uptake is Uptake.this_run:
            return cost_words(cost, fresh=fresh_cost(pages, origins, tries, now))
        return cost_words(cost, run_cost(pages, picture.origins, now, among, run.max_in_flight if run else 0))

    def undo(self) -> None:
        """Undoes the last intent that can be undone; where something was asked for since that cannot be, says so first:
        the next time it does."""
        stack, step = self.undo_stack, self.undo_stack.undo()
        if step is not None and stack.in_the_way:
            key = self._app.appearance.key_names("journal.undo")
            self._app.tell("no", f"{stack.in_the_way}; {key} again undoes {stack.next_undo}", "warning")
            self.undo_stack = stack.past_it()
        elif step is not None:
            ids = self._written.get(stack.done[-1])
            back = replace(step[0], undoes=ids.pop() if ids else ())
            self._move((back, step[1]), stack.done[-1].commands)

    def redo(self) -> None:
        """Does again what was undone last."""
        stack, step = self.undo_stack, self.undo_stack.redo()
        if step is not None:
            self._again[self._move(step, stack.undone[-1].inverse)] = stack.undone[-1]

    def heard(self, news: News) -> None:
        """Tells what became of an intent."""
        says = news.intent.says
        self._asked.heard(news.intent, news.fate, self._app.clock.mono_ms())
        match news.fate:
            case Fate.written:
                done = self._again.pop(news.intent, news.intent)
                self._written.setdefault(done, []).append(news.ids)
                self._app.read_soon()
            case Fate.done:
                takes_back = self._versions.takes_back(news.intent)
                self._versions.learn(news.intent, news.results)
                undo = f"  {self._app.appearance.key_names('journal.undo')} undoes" if news.intent.inverse else ""
                notes = (news.intent.note, delay_note(news.intent.commands, news.results), seeds_note(news))
                note = "".join(f"; {one}" for one in notes if one)
                told = f"undone: {says.removeprefix(UNDO)}" if says.startswith(UNDO) else says
                self._app.tell("journal", f"✓ {told}{note}{undo}", "ok")
                if line := same_as(news.intent.commands, takes_back=takes_back):
                    self._app.tell("same", f"same as: {line}", "muted")
            case Fate.locked:
                why = "is locked by another program" if self._app.picture.lock is not None else "is being written"
                self._app.tell("journal", f"◷ {says}: waits, the database {why}", "warning")
            case Fate.waiting:
                why = news.error or "no engine has taken it up yet"
                self._app.tell("journal", f"◷ {says}: noted, {why}", "warning")
            case Fate.refused | Fate.failed:
                self.undo_stack = self.undo_stack.without(news.intent)
                self._app.tell("journal", f"✗ {says}: {news.error}", "error")
        for one in [one for one in self._hearers if one[0] is news.intent]:
            if news.fate not in {Fate.written, Fate.locked}:
                self._hearers.remove(one)
            one[1](news)

    def _move(self, step: tuple[Intent, UndoStack], written: Sequence[Command]) -> Intent:
        """Hands in the intent of a step; `written` are the commands whose result it begins with. Gives what was handed
        in."""
        intent, stack = step
        based = self._versions.based(intent, written)
        if self.desk is not None:
            self.undo_stack = stack
            self._hand_in(self.desk, based)
        return based


def _retries(intent: Intent) -> bool:
    return any(isinstance(command, RetryPages) for command in intent.commands)
