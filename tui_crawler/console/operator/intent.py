"""What an action asks of the engine: the commands, how they are undone, and what is asked first. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tui_crawler.console.operator.retry_start import RetryEstimate, RetryStart, estimate_words, gave_up_words, held_word
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.records import command as orders
from tui_crawler.domain.records.status_words import FinishReason, ends_words
from tui_crawler.text.format import count, plural, seconds

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import JobView
    from tui_crawler.domain.records.page_view import FailureGroup
    from tui_crawler.domain.records.view import OriginView, RunView

_LIVE = RetryEstimate()
_NAMED = 120  # characters of a URL in a question, so that what follows it is seen
_STEADY = frozenset({"default", "floor", "crawl_delay"})
"""What decides a delay so that it is the same after the next request."""
_STEPS_MS = tuple(round(s * 1_000) for s in (1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600))


@dataclass(frozen=True, slots=True)
class Intent:
    """Commands to be written to the journal, what to say about them, and the commands that undo them (or none).

    `undoes` are the ids of the actions that the commands take back. `note` says with the result what is left out.
    `back` is what undoing it says, `done` (empty: `says`) what is said once it is carried out. `starts`: it starts
    another run where the hosted one has ended, if it brings work."""

    commands: tuple[orders.Command, ...]
    says: str
    inverse: tuple[orders.Command, ...] = ()
    undoes: tuple[int, ...] = ()
    note: str = ""
    back: str = ""
    done: str = ""
    starts: bool = True


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What is asked before: `options` are button text and what it gives, an intent; saying no is always
    possible. In `note`, words of ours, keys are named by their actions: `{journal.undo}`."""

    title: str
    text: str
    options: tuple[tuple[str, Any], ...]
    note: str = ""


def steered(order: orders.Order, names: tuple[str, ...], said: str, note: str = "") -> Intent | None:
    """An order for what is `said`, with its undo; None without any names."""
    inverse = (order.inverse(names),) if order.inverse is not None else ()
    return Intent((order.make(names),), order.about(said), inverse, note=note) if names else None


def asked(order: orders.Order, names: tuple[str, ...], said: str, text: str) -> Confirmation:
    """Asks before an order that cannot be undone."""
    word, intent = order.word.capitalize(), Intent((order.make(names),), order.about(said))
    return Confirmation(f"{word} {said}?", text, ((word, intent),), order.final)


def toggle_pause(origins: Sequence[OriginView]) -> Intent | None:
    """Pauses those of the origins that are not paused; if all are, resumes them. Finished ones are left alone."""
    names = _names(view for view in origins if not view.ended)
    return pause(origins) or steered(orders.RESUME, names, origin_words(names, len(origins)), _ended(origins))


def pause(origins: Sequence[OriginView]) -> Intent | None:
    """Pauses those of the origins that are not paused; None when there is none. Finished ones are left alone."""
    running = _names(view for view in origins if not view.ended and not view.paused)
    held = _names(view for view in origins if not view.ended and view.paused)
    notes = filter(None, (_ended(origins), _left_out(held, "is already paused", "are already paused")))
    return steered(orders.PAUSE, running, origin_words(running, len(origins)), ", ".join(notes))


def resume(origins: Sequence[OriginView]) -> Intent | None:
    """Takes the pause off those of the origins that are paused, also of finished ones, which the next run starts; None
    when there is none."""
    paused, others = _names(view for view in origins if view.paused), [view for view in origins if not view.paused]
    idle = _left_out(_names(others), "is not paused", "are not paused")
    return steered(orders.RESUME, paused, origin_words(paused, len(origins)), idle)


def toggle_pause_all(origins: Collection[OriginView]) -> Intent | None:
    """Pauses every origin unless all that have not finished are already paused; then resumes every one."""
    return pause_all(origins) or resume_all(origins)


def pause_all(origins: Collection[OriginView]) -> Intent | None:
    """Pauses every origin; None where each that has not finished is paused."""
    if all(view.paused for view in origins if not view.ended):
        return None
    names, running = _whole(origins), _names(view for view in origins if not view.paused and not _is_stopped(view))
    back = names if len(running) == len(names or origins) else running
    return Intent((orders.PauseOrigins(names),), "pause all origins", (orders.ResumeOrigins(back),))


def resume_all(origins: Collection[OriginView]) -> Intent | None:
    """Takes the pause off every origin that no operator has stopped; None where none is paused."""
    paused = _names(view for view in origins if view.paused and not _is_stopped(view))
    if not paused:
        return None
    names = paused if _whole(origins) else ()
    back = () if len(paused) == len(origins) else paused
    return Intent((orders.ResumeOrigins(names),), "resume all origins", (orders.PauseOrigins(back),))


def _whole(origins: Collection[OriginView]) -> tuple[str, ...]:
    """Every origin, for a command; empty names all. One that an operator has stopped would go on when it is resumed,
    so that it is left out."""
    left = _names(view for view in origins if not _is_stopped(view))
    return () if len(left) == len(origins) else left


def _is_stopped(view: OriginView) -> bool:
    return view.ended and view.finish_reason == FinishReason.operator


def end_run(run: RunView, origins: Collection[OriginView], *, elsewhere: bool) -> Confirmation:
    """Asks before a run is ended: each of its origins is stopped. `elsewhere`: another process crawls it."""
    pending = sum(view.pending for view in origins)
    what = f"run {run.run_id}{f' of {run.config_name}' if run.config_name else ''}"
    where = f"{run.owner or 'Another process'} crawls it, and ends with it. " if elsewhere else ""
    stay = f"{plural(pending, 'page')} {'stays' if pending == 1 else 'stay'} pending for the next run"
    return Confirmation(
        f"End {what}?",
        f"{where}Each origin stops after the request in flight. {stay}; no page is deleted.",
        (("End the run", Intent((orders.StopOrigins(),), f"end {what}")),),
        "This cannot be undone in this run.",
    )


def stop(origins: Sequence[OriginView]) -> Confirmation:
    """Asks before origins are finished for this run."""
    going = [view for view in origins if not view.ended]
    names, pending = _names(going), sum(view.pending for view in going)
    stay = f"{plural(pending, 'page')} {'stays' if pending == 1 else 'stay'} pending"
    gone = f" {ended} already." if (ended := _ended(origins)) else ""
    text = f"{stay}. The next run starts it again; no page is deleted.{gone}"
    return asked(orders.STOP, names, origin_words(names), text)


def retry_failed(origins: Sequence[OriginView], estimate: RetryEstimate = _LIVE, cost: str = "") -> Confirmation:
    """Asks before the failed pages of origins are put back; offers to top up patience where this run needs it. `cost`
    says how long that takes."""
    names = _names(view for view in origins if view.failed)
    some, what = plural(sum(view.failed for view in origins), "failed page"), origin_words(names)
    runs_on, note = estimate.retry_start is RetryStart.this_run, ""
    weary = [v for v in origins if runs_on and v.origin in names and v.patience < v.patience_max]
    if weary:
        note = gave_up_words(_names(v for v in weary if v.gave_up)) or "It has lost patience in this run."
    says = f"retry {some} of {what}"
    return _retry(orders.RetryPages(origins=names), some, what, says, cost, estimate, _names(weary), note)


def retry_group(group: FailureGroup, cost: str, estimate: RetryEstimate = _LIVE) -> Confirmation:
    """Asks before the failed pages of a group are put back; `cost` says how long that takes."""
    exits, origins = (
        tuple(value for one, value in group.key if one == name and value) for name in ("exit_code", "origin")
    )
    what = " of ".join(filter(None, (", ".join(exits), ", ".join(map(host_of, origins)))))
    hope = ""
    if group.recoverable < group.count:
        some = f"{count(group.recoverable)} of them are retryable, the others are final" if group.recoverable else ""
        hope = f"{some or 'They are final'}: the response is unlikely to change."
    retry, says = orders.RetryPages(exit_codes=exits, origins=origins), f"retry {plural(group.count, 'page')}: {what}"
    note = " ".join(filter(None, (gave_up_words(estimate.gave_up), hope)))
    some = plural(group.count, "failed page")
    return _retry(retry, some, what, says, cost, estimate, estimate.gave_up, note)


def retry_named(
    urls: tuple[str, ...], what: str, whole: int, cost: str, estimate: RetryEstimate = _LIVE, noun: str = "failed page"
) -> Confirmation:
    """Asks before pages are put back that are named one by one: these, of the `whole` number of those meant."""
    some = f"the first {count(len(urls))} of {count(whole)}" if len(urls) < whole else plural(len(urls), noun)
    says = f"retry {plural(len(urls), 'page')}: {what}"
    short = what if len(what) <= _NAMED else what[: _NAMED - 1] + "…"
    weary = estimate.gave_up
    return _retry(orders.RetryPages(urls=urls), some, short, says, cost, estimate, weary, gave_up_words(weary))


def _retry(
    retry: orders.RetryPages,
    some: str,
    what: str,
    says: str,
    cost: str,
    estimate: RetryEstimate,
    weary: tuple[str, ...],
    note: str,
) -> Confirmation:
    """Asks before a retry. Before it the same with new patience, where origins need that: given after the pages were
    put back, so that these are what it is spent on. Where it starts a run, the pages can also be put back alone."""
    plain = Intent((retry,), says)
    options: tuple[tuple[str, Intent], ...] = (("Retry", plain),)
    if estimate.retry_start is RetryStart.new_run:
        aside = replace(plain, note="requeued for the next run", starts=False)
        options = ("Start a run", Intent((retry,), f"{says}, in a new run")), ("Requeue only", aside)
    elif weary:
        both = Intent((retry, orders.TopUpPatience(weary)), f"{says}, with full patience")
        options = (("Retry with new patience", both), *options)
    return Confirmation(f"Retry {some}?", f"{what}: {estimate_words(estimate)} {cost}".rstrip(), options, note)


def retry_urls(
    urls: tuple[str, ...], retry_start: RetryStart = RetryStart.this_run, origin: OriginView | None = None
) -> Intent:
    """Gives URLs their tries back; says what keeps their `origin` from asking them, where it is one."""
    runs = {RetryStart.this_run: "", RetryStart.new_run: " in a new run", RetryStart.next_run: " in the next run"}
    what = urls[0] if len(urls) == 1 else plural(len(urls), "URL")
    held = held_word(origin, retry_start)
    note = f"it waits, its origin is {held}" if held else ""
    return Intent((orders.RetryPages(urls=urls),), f"retry {what}{runs[retry_start]}", note=note)


def top_up(origins: Sequence[OriginView]) -> Intent | None:
    """Puts patience back to full where some was lost; None where none was."""
    names = _names(view for view in origins if view.patience < view.patience_max)
    return steered(orders.TOP_UP, names, origin_words(names))


def refetch_robots(origins: Sequence[OriginView]) -> Intent | None:
    """Makes robots.txt due at once; None without an origin."""
    names = _names(origins)
    return steered(orders.REFETCH, names, origin_words(names))


def add_seeds(urls: tuple[str, ...]) -> Intent:
    return Intent((orders.AddSeeds(urls),), f"add {plural(len(urls), 'seed')}")


def slower(origin: OriginView) -> Intent | None:
    """Raises the operator's own delay to the next step above the present delay; None at the last step."""
    present = max(origin.delay_ms, origin.operator_delay_ms)
    step = next((ms for ms in _STEPS_MS if ms > present), None)
    return None if step is None else _set_delay(origin, step, present)


def faster(origin: OriginView) -> Intent | None:
    """Lowers the operator's own delay by a step, or takes it off at the floor of robots.txt, and where a longer one
    holds anyway; None without one."""
    if not origin.operator_delay_ms:
        return None
    if origin.operator_delay_ms < origin.delay_ms:
        return _set_delay(origin, 0, origin.operator_delay_ms)
    floor = origin.crawl_delay_ms or _STEPS_MS[0]
    step = max((ms for ms in _STEPS_MS if floor < ms < origin.operator_delay_ms), default=0)
    return _set_delay(origin, step, origin.operator_delay_ms)


def _set_delay(origin: OriginView, to_ms: int, from_ms: int) -> Intent:
    after = seconds(to_ms) if to_ms else "its own"
    own = f"its own, {seconds(from_ms)}" if origin.delay_reason in _STEADY else "its own"
    before = seconds(origin.operator_delay_ms) if origin.operator_delay_ms else own
    return Intent(
        (orders.SetDelay(origin.origin, to_ms),),
        f"delay of {host_of(origin.origin)}: {seconds(from_ms)} → {after}",
        (orders.SetDelay(origin.origin, origin.operator_delay_ms),),
        back=f"delay of {host_of(origin.origin)} back to {before}",
    )


def toggle_jobs(jobs: Sequence[JobView]) -> Intent | None:
    """Pauses those of the jobs that are not paused; if all are, resumes them. Aborted ones are left alone."""
    return pause_jobs(jobs) or resume_jobs(jobs)


def pause_jobs(jobs: Sequence[JobView]) -> Intent | None:
    """Pauses those of the jobs that are neither paused nor aborted; None when there is none."""
    names = tuple(job.job for job in jobs if not job.aborted and job.concurrency != 0)
    return steered(orders.PAUSE_JOBS, names, _jobs(names))


def resume_jobs(jobs: Sequence[JobView]) -> Intent | None:
    """Takes the pause off those of the jobs that are paused and not aborted; None when there is none."""
    names = tuple(job.job for job in jobs if not job.aborted and job.concurrency == 0)
    return steered(orders.RESUME_JOBS, names, _jobs(names))


def set_jobs(jobs: Sequence[JobView], field: str, number: int | None) -> Intent | None:
    """Sets nice, depth or concurrency of jobs (None: no limit); None when all have it."""
    changed = [job for job in jobs if getattr(job, field) != number]
    if not changed:
        return None
    before = _limit_word(getattr(changed[0], field)) if len(changed) == 1 else "…"
    return _changed_jobs(changed, field, [number] * len(changed), f"{before} → {_limit_word(number)}")


def shift_niceness(jobs: Sequence[JobView], by: int) -> Intent | None:
    """Raises (later) or lowers (sooner) the niceness of each job by a number; None without jobs."""
    change = f"{'+' if by > 0 else '−'}{abs(by)}"
    return _changed_jobs(jobs, "nice", [job.nice + by for job in jobs], change) if jobs else None


def _changed_jobs(jobs: Sequence[JobView], field: str, numbers: Sequence[int | None], change: str) -> Intent:
    what, former = f"{field} of {_jobs(tuple(job.job for job in jobs))}", [getattr(job, field) for job in jobs]

    def commands(values: Sequence[int | None]) -> tuple[orders.SetJob, ...]:
        given = (dict[str, Any]({field: -1 if value is None else value}) for value in values)
        return tuple(orders.SetJob(job.job, **one) for job, one in zip(jobs, given, strict=True))

    before = _limit_word(former[0]) if len(set(former)) == 1 else "what they were"
    return Intent(commands(numbers), f"{what}: {change}", commands(former), back=f"{what} back to {before}")


def _limit_word(number: int | None) -> str:
    return "none" if number is None else count(number)


def _jobs(names: Sequence[str]) -> str:
    return f"job {names[0]}" if len(names) == 1 else plural(len(names), "job")


def origin_words(origins: Sequence[str], whole: int = 0) -> str:
    """The origins an action is about, of the `whole` number it was asked for."""
    names = host_of(origins[0]) if len(origins) == 1 else plural(len(origins), "origin")
    if whole in {0, len(origins)}:
        return names
    some = f"{count(len(origins))} of {plural(whole, 'origin')}"
    return f"{some}: {names}" if len(origins) == 1 else some


def _ended(origins: Sequence[OriginView]) -> str:
    over = [view for view in origins if view.ended]
    return ends_words((view.finish_reason for view in over), "origin/origins", host_of(over[0].origin)) if over else ""


def _names(origins: Iterable[OriginView]) -> tuple[str, ...]:
    return tuple(view.origin for view in origins)


def _left_out(origins: Sequence[str], one: str, many: str) -> str:
    return f"{origin_words(origins)} {one if len(origins) == 1 else many}" if origins else ""
