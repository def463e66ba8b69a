"""Why a URL was, or was not, crawled: the whole decision chain as one value. Pure.

`explain` takes what is known (the filters in force, robots.txt, origin, run, the URL's place in its job) and walks
the chain with the same code that decides while crawling. The command `why` and the console show its answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.domain.admission import Found
from tui_crawler.domain.answer import Answer, Decision, Question, answer_for_page, answer_for_unknown, origin_words
from tui_crawler.domain.exit_code import DISPOSITIONS, ExitCode
from tui_crawler.domain.robots_words import unavailable_words, unreachable_words
from tui_crawler.domain.standing import Hop, Referral, UrlStanding, date_time, page_steps
from tui_crawler.domain.url import CrawlUrl, InvalidUrl
from tui_crawler.domain.verdict import Admitted, Refusal, Step, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui_crawler.domain.view import AttemptView, RunView

_CONTENTFUL = frozenset(code.name for code, one in DISPOSITIONS.items() if one.contentful)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer. `normalized` is empty for what is no URL; `exit_code` is the name that belongs to the answer, empty
    where none does. `advice` says what to do about it, empty where nothing is wrong.

    `steps` are all stages in order. `ruleset_id` is the version of the rules that was asked, 0: none is stored.
    """

    url: str
    normalized: str
    known: bool
    job: str
    answer: Answer
    sentence: str
    advice: str
    exit_code: str
    steps: tuple[Step, ...]
    provenance: tuple[Hop, ...] = ()
    attempts: tuple[AttemptView, ...] = ()
    due_at: int | None = None
    queue_position: int | None = None
    ruleset_id: int = 0

    @property
    def cut(self) -> tuple[str, ...]:
        """What was left out of what the URL gave last (names of `domain.cut`)."""
        return next((one.cut for one in self.attempts if one.cut or one.exit_code in _CONTENTFUL), ())


_OF_THE_LINK = frozenset({Refusal.origin_full, Refusal.item_pattern, Refusal.redirect_hops})


def explain(question: Question) -> Explanation:
    """The whole chain for one URL, and the one word that sums it up."""
    url, standing = question.url, _as_it_goes_on(question.standing, question.run)
    question = replace(question, standing=standing)
    if isinstance(url, InvalidUrl):
        steps = [Step("normalise", "refuse", f"the URL {url.reason}")]
        decision = Decision(Answer.invalid_url, f"it cannot be crawled: it {url.reason}", ExitCode.invalid_url.name)
        return _made(question, steps, decision)
    chosen = _best_referral(question, url)
    chain = tuple(_chain(question, url, chosen))
    steps = [_normalised(question, url), _origin_step(question, url), *chain]
    if standing.page is not None:
        steps += page_steps(standing.page, standing.schedule, question.now, question.zone)
        decision = answer_for_page(question, url, standing.page, chain)
    else:
        steps.append(_unknown_step(question))
        decision = answer_for_unknown(question, url, chain)
    return _made(question, steps, decision)


def _as_it_goes_on(standing: UrlStanding, run: RunView | None) -> UrlStanding:
    """Where a URL stands, with whether anybody crawls its run."""
    broken_off = run is not None and not run.live and not standing.schedule.over
    return replace(standing, schedule=replace(standing.schedule, broken_off=broken_off))


def _made(question: Question, steps: Sequence[Step], decision: Decision) -> Explanation:
    page, url = question.standing.page, question.url
    good = decision.answer in {Answer.crawled, Answer.in_flight}
    verdict: Verdict = "pass" if good else "unknown" if decision.answer is Answer.waiting else "refuse"
    return Explanation(
        *((url.raw, "") if isinstance(url, InvalidUrl) else (question.written, url.href)),
        page is not None,
        page.job if page else question.standing.schedule.job,
        decision.answer,
        decision.sentence,
        decision.advice,
        decision.exit_code,
        (*steps, Step("verdict", verdict, decision.sentence)),
        question.standing.path,
        question.standing.attempts,
        page.due_at if page else None,
        page.queue_position if page else None,
        question.ruleset_id,
    )


def _normalised(question: Question, url: CrawlUrl) -> Step:
    written = question.written
    if written in {url.href, f"{url.href}#{url.fragment}"}:
        return Step("normalise", "pass", "as it was written")
    return Step("normalise", "pass", f"{written} becomes {url.href}")


def _origin_step(question: Question, url: CrawlUrl) -> Step:
    """Whether there is an origin crawler, and what it does."""
    origin = question.origin
    if origin is None:
        if url.origin in question.admission.scope.origins:
            return Step("origin", "pass", f"{url.origin} is configured, no run has begun it yet")
        return Step("origin", "unknown", f"{url.origin} is no origin of this crawl")
    if origin.state == "IDLE":
        return Step("origin", "refuse", f"{url.origin} takes no part in the newest run", "seeds")
    words = origin_words(question, origin)
    verdict: Verdict = "refuse" if origin.paused or origin.finish_reason not in {"", "exhausted"} else "pass"
    return Step("origin", verdict, f"{url.origin}: {words}")


def _chain(question: Question, url: CrawlUrl, chosen: Referral | None) -> Iterator[Step]:
    """Filters and judgements, each once; what only the linking page can tell is said for `chosen`."""
    page = question.standing.page
    found = None
    if page is not None:
        found = Found(url, page.redirect_hops, sitemap=page.sitemap)
    elif chosen is not None:
        found = _found(question, url, chosen)
    for step in question.admission.explain(url, question.robots.rules, found):
        if step.stage == Refusal.invalid_url and step.verdict == "pass":
            continue
        if step.stage == "robots":
            yield _robots_step(question, step)
        elif page is not None and step.stage in _OF_THE_LINK:
            yield Step(step.stage, "pass", "it is a page already")
        else:
            yield step
        if step.stage == Refusal.redirect_hops and page is None and question.standing.referrals:
            yield _link_step(question)


def _best_referral(question: Question, url: CrawlUrl) -> Referral | None:
    """Of the pages that name the URL the one whose link comes furthest: one that is admitted, else the first."""
    referrals = question.standing.referrals
    for each in referrals:
        admitted = isinstance(question.admission.admit(_found(question, url, each)), Admitted)
        if admitted and _is_queued(each, question.link_kinds_queued):
            return each
    return referrals[0] if referrals else None


def _found(question: Question, url: CrawlUrl, referral: Referral) -> Found:
    return Found(url, referral.redirect_hops, referral.item_pattern or None, question.standing.origin_pages)


def _is_queued(referral: Referral, kinds: frozenset[str]) -> bool:
    return referral.redirect or (referral.kind in kinds and not referral.nofollow)


def _link_step(question: Question) -> Step:
    """Whether any link to the URL is of those that become pages (G)."""
    referrals, kinds = question.standing.referrals, question.link_kinds_queued
    if any(_is_queued(each, kinds) for each in referrals):
        return Step("link_kind", "pass", "a link of a kind that is queued names it")
    if all(each.nofollow for each in referrals if each.kind in kinds) and any(each.kind in kinds for each in referrals):
        return Step("link_kind", "refuse", "only rel=nofollow links name it: they are recorded, not queued")
    found = ", ".join(sorted({each.kind for each in referrals}))
    reason = f"it is named as {found} only; kinds that become pages: {', '.join(sorted(kinds)) or 'none'}"
    return Step("link_kind", "refuse", reason, "crawl.link_kinds_queued")


def _robots_step(question: Question, step: Step) -> Step:
    """The robots.txt stage with when it was fetched, and what it means where there are no rules."""
    robots = question.robots
    fetched = f"fetched {date_time(robots.fetched_at, question.zone)}" if robots.fetched_at else ""
    if robots.status == "unavailable":
        words = unavailable_words(robots.http_status, robots.message)
        if robots.http_status is None:
            return Step("robots", "unknown", words, "RFC 9309")
        return Step("robots", "pass", f"{words}, {fetched}" if fetched else words, "RFC 9309")
    if robots.status == "unreachable":
        words = unreachable_words(robots.http_status, robots.message)
        return Step("robots", "unknown", f"{words}; nothing of the origin is crawled until it can be had", "RFC 9309")
    if robots.rules is None:
        return Step("robots", "unknown", "robots.txt of its origin has not been fetched yet")
    return replace(step, reason=f"{step.reason}, {fetched}" if fetched else step.reason)


def _unknown_step(question: Question) -> Step:
    standing = question.standing
    job = f" of job {standing.schedule.job}" if standing.schedule.job else ""
    other = f" (it is one of job {', '.join(standing.other_jobs)})" if standing.other_jobs else ""
    if not standing.referrals:
        return Step("known", "refuse", f"no page{job}{other}, and nothing that was crawled names it")
    first = standing.referrals[0]
    more = f" and {len(standing.referrals) - 1} more" if len(standing.referrals) > 1 else ""
    return Step("known", "refuse", f"no page{job}{other}, but named by {first.from_url}{more}")
