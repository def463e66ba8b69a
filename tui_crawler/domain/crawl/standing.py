"""Where a URL stands in its job and queue, as steps of the chain that says why it is (not) crawled. Pure.

Times are epoch ms, 0 or None: none. A moment is shown in a time zone that is passed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING, assert_never

from tui_crawler.domain.crawl.recovery import NextTry, is_recoverable, next_try
from tui_crawler.domain.moment import local_time
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import EMBEDDED, EXTERNAL
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.verdict import Step, Verdict

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import Hop
    from tui_crawler.domain.records.view import AttemptView

_UNITS = ((604_800_000, "week"), (86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


@dataclass(frozen=True, slots=True)
class Schedule:
    """The settings of the newest run that decide when a page is due; `started_at` 0: there was no run. `over`: it has
    ended, what is due waits for the next one. `broken_off`: no engine is at work, the next start continues it.
    `forced_by` is the key that makes `force_recrawl` true."""

    job: str = ""
    started_at: int = 0
    recrawl_interval_ms: int = 0
    respect_http_freshness: bool = True
    force_recrawl: bool = False
    forced_by: str = "crawl.force_recrawl"
    over: bool = False
    broken_off: bool = False

    @property
    def at_rest(self) -> bool:
        """Return whether nobody crawls."""
        return self.over or self.broken_off


@dataclass(frozen=True, slots=True)
class PageStanding:
    """The row of a page with what its job says of it. `ignored`: it is on the ignore list of the newest run.

    `last_exit_code` is a name, empty before the first attempt; `due_at` is that of `v_page`; `queue_position` counts
    from 1. Of the job: `max_depth` and `concurrency` None are no limit, `ruleset_id` is its current ruleset.
    """

    page_id: int
    job: str
    status: PageStatus
    attempts: int
    attempts_remaining: int
    nice: int = 0
    depth: int = 0
    seed: bool = False
    force: bool = False
    sitemap: bool = False
    beyond_depth: bool = False
    redirect_hops: int = 0
    not_before: int = 0
    last_exit_code: str = ""
    last_http_status: int | None = None
    last_crawled_at: int = 0
    fresh_until: int = 0
    lastmod: int = 0
    ignored: bool = False
    claimed_at: int = 0
    stash: str = ""
    due_at: int | None = None
    queue_position: int | None = None
    aborted: bool = False
    concurrency: int | None = None
    max_depth: int | None = None
    tag: str = ""
    external: int = 0

    @property
    def last_code(self) -> ExitCode | None:
        """The last exit code; None before the first attempt, and for a code of a newer version."""
        return ExitCode.__members__.get(self.last_exit_code)

    @property
    def held(self) -> bool:
        """Return whether its job is paused or aborted."""
        return self.aborted or self.concurrency == 0


@dataclass(frozen=True, slots=True)
class Referral:
    """A page that names a URL: by a link (`kind` is that of the link) or a redirect (its source).

    `redirect_hops`, `item_pattern` and `depth` are what the URL would have if it became a page by it.
    """

    from_page_id: int
    from_url: str
    from_origin: str
    kind: str
    nofollow: bool
    redirect_hops: int
    item_pattern: str
    depth: int
    first_seen_at: int = 0
    redirect: bool = False


@dataclass(frozen=True, slots=True)
class UrlStanding:
    """All that the database knows of one URL in one job. `page` None: it is no page of it.

    `path` leads from a seed to the page, or to the page that named the URL first; `attempts` newest first.
    """

    schedule: Schedule
    page: PageStanding | None = None
    referrals: tuple[Referral, ...] = ()
    path: tuple[Hop, ...] = ()
    attempts: tuple[AttemptView, ...] = ()
    origin_pages: int = 0
    other_jobs: tuple[str, ...] = field(default=())


def page_steps(page: PageStanding, schedule: Schedule, now: int, zone: tzinfo) -> Iterator[Step]:
    """What the page itself says: whether it is known, its job, depth, status, tries, due time and place."""
    what = "a sitemap" if page.sitemap else "a seed" if page.seed else "a page"
    if page.external:
        what = f"{what} outside of the crawl" if page.sitemap else _CHECKED[page.external]
    more = ", forced" if page.force else ""
    more += f", changed {date_time(page.lastmod, zone)} says its sitemap" if page.lastmod else ""
    yield Step("known", "pass", f"{what}{more}")
    yield _job_step(page)
    limit = "" if page.max_depth is None else f" of at most {page.max_depth}"
    if page.beyond_depth:
        reason = f"depth {page.depth}{limit}: it waits in case a shorter path is found"
        yield Step("depth", "refuse", reason, "max_depth")
    else:
        yield Step("depth", "pass", f"depth {page.depth}{limit}")
    yield _status_step(page, schedule, zone)
    tries = "try" if page.attempts == 1 else "tries"
    yield Step("tries", "pass", f"{page.attempts} {tries} made, {page.attempts_remaining} left")
    yield due_step(page, schedule, now, zone)
    place = "not on" if page.queue_position is None else f"number {page.queue_position} of"
    yield Step("queue", "pass", f"{place} the todo list of its origin")


def _job_step(page: PageStanding) -> Step:
    if page.aborted:
        return Step("job", "refuse", f"job {page.job} is aborted", "jobs unabort")
    if page.concurrency == 0:
        return Step("job", "refuse", f"job {page.job} is paused", "jobs resume")
    more = f", at most {page.concurrency} of its pages in flight" if page.concurrency is not None else ""
    more += f", only for workers with the tag {page.tag}" if page.tag else ""
    return Step("job", "pass", f"job {page.job}, nice {page.nice}{more}")


def is_forced(page: PageStanding, schedule: Schedule) -> bool:
    """Return whether a done page is due because the run was told to crawl everything once more (U)."""
    forced = schedule.force_recrawl and not schedule.over
    return forced and not page.ignored and page.last_crawled_at < schedule.started_at


def is_due(page: PageStanding, schedule: Schedule, now: int) -> bool:
    """Return whether a fill of the present run would take the page: by its tries, interval, freshness or force."""
    if page.status is not PageStatus.READY or page.beyond_depth or page.ignored or page.not_before > now:
        return False
    if page.attempts_remaining:
        return True
    return is_forced(page, schedule) or (page.due_at is not None and page.due_at <= now)


def due_step(page: PageStanding, schedule: Schedule, now: int, zone: tzinfo) -> Step:
    """Return when the page is due, and what makes it so."""
    if page.status in {PageStatus.SKIPPED, PageStatus.STASHED}:
        return Step("due", "refuse", "never while its status is so")
    if page.attempts_remaining:
        return _tried_next(page, schedule, now, zone)
    if is_forced(page, schedule):
        return Step("due", "pass", "now: this run crawls every page once more", schedule.forced_by)
    if page.due_at is None:
        return Step("due", "unknown", "not known")
    is_over = page.due_at <= now
    if is_over and page.ignored and not schedule.over:
        return _CONSIDERED
    reason, source = f"{length(schedule.recrawl_interval_ms)} after the last crawl", "crawl.recrawl_interval"
    if schedule.respect_http_freshness and page.fresh_until > page.last_crawled_at + schedule.recrawl_interval_ms:
        reason, source = "HTTP calls it fresh until then", "crawl.respect_http_freshness"
    verdict: Verdict = "pass" if is_over else "refuse"
    return Step("due", verdict, f"{moment(page.due_at, now, zone)}: {reason}", source)


_CONSIDERED = Step("due", "refuse", "in the next run: this one has considered it already", "ignore list")


def next_try_of_standing(page: PageStanding, schedule: Schedule, now: int) -> NextTry:
    """Return when a page is asked again, in the one word that stands for it everywhere."""
    return next_try(
        page.status,
        page.attempts_remaining,
        page.not_before,
        now,
        considered=page.ignored and not page.queue_position,
        over=schedule.at_rest,
        recoverable=is_recoverable(page.status, page.attempts_remaining, page.last_code, page.last_http_status),
        due_at=page.due_at or 0,
    )


def _tried_next(page: PageStanding, schedule: Schedule, now: int, zone: tzinfo) -> Step:
    changed = not page.attempts and 0 < page.last_crawled_at < page.lastmod
    why = "its sitemap says that it has changed" if changed else "it has tries left"
    match next_try_of_standing(page, schedule, now):
        case NextTry.later:
            return Step("due", "refuse", f"not before {moment(page.not_before, now, zone)}", "not_before")
        case NextTry.next_run:
            considered = page.ignored and not page.queue_position
            if considered and not schedule.over:
                return _CONSIDERED
            words = f"{'in the next run' if schedule.over else 'when the run is continued'}: {why}"
            return Step("due", "refuse", words, "ignore list") if considered else Step("due", "pass", words)
        case _:
            return Step("due", "pass", f"now: {why}")


def moment(at: int, now: int, zone: tzinfo) -> str:
    """A time with how far away it is: `2026-01-05 10:41:07 (in 3 days)`."""
    distance = length(abs(at - now))
    return f"{date_time(at, zone)} ({f'in {distance}' if at > now else f'{distance} ago'})"


def date_time(at: int, zone: tzinfo) -> str:
    """Date and time of epoch ms in `zone`."""
    shown = local_time(at, zone)
    return "a time out of all calendars" if shown is None else shown.isoformat(" ", "seconds")[:19]


def length(ms: int) -> str:
    """A length of time, rounded down, in the greatest unit that it has at least two of: `90 minutes`, `20 days`; weeks
    only where they are whole."""
    for unit, name in _UNITS:
        if ms >= 2 * unit and (name != "week" or ms % unit == 0):
            return f"{ms // unit} {name}s"
    return "1 second" if ms >= _UNITS[-1][0] else "less than a second"


_CHECKED = {
    EXTERNAL: "a link that leaves the crawl: it is checked, not crawled (crawl.check_external)",
    EMBEDDED: "an image, style, script or media file of a page: it is checked, not crawled (crawl.check_embedded)",
}


def _status_step(page: PageStanding, schedule: Schedule, zone: tzinfo) -> Step:
    match page.status:
        case PageStatus.READY:
            return Step("status", "pass", "READY")
        case PageStatus.CLAIMED:
            then = "the next start gives it back" if schedule.at_rest else "it is being crawled"
            return Step("status", "pass", f"CLAIMED since {date_time(page.claimed_at, zone)}: {then}")
        case PageStatus.SKIPPED:
            return Step("status", "refuse", "SKIPPED by a rule")
        case PageStatus.STASHED:
            return Step("status", "refuse", f"STASHED in {page.stash}", "pages unstash")
        case _:
            assert_never(page.status)
