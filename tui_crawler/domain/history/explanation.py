"""Why a URL was, or was not, crawled: the whole decision chain as one value. Pure.

`explain` takes what is known (the filters in force, robots.txt, origin, run, the URL's place in its job) and walks
the chain with the same code that decides while crawling. The command `why` and the console show its answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from enum import StrEnum
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from tui_crawler.domain.crawl.recovery import NextTry
from tui_crawler.domain.crawl.standing import (
    PageStanding,
    Referral,
    UrlStanding,
    date_time,
    due_step,
    is_due,
    next_try_of_standing,
    page_steps,
)
from tui_crawler.domain.history.idle_reason import idle_reason
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import BLOCKED, DISPOSITIONS, DOCUMENTS, FAILURES, ExitCode
from tui_crawler.domain.records.status import OriginPhase, PageStatus, RobotsStatus
from tui_crawler.domain.records.status_words import (
    GAVE_UP,
    FinishReason,
    origin_end_words,
    unavailable_words,
    unreachable_words,
)
from tui_crawler.domain.rules.admission import Discovered
from tui_crawler.domain.rules.verdict import JUDGEMENT_CODES, Admitted, Refusal, Step, Verdict
from tui_crawler.domain.url import CrawlUrl, InvalidUrl

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import Hop, RefusedView
    from tui_crawler.domain.records.view import AttemptView, OriginView, RunView
    from tui_crawler.domain.rules.admission import Admission
    from tui_crawler.domain.rules.robots import RobotsRules


class Answer(StrEnum):
    """The one word that says why a URL was (not) crawled."""

    crawled = "crawled"
    failed = "failed"
    retry_pending = "retry_pending"
    not_due = "not_due"
    policy = "policy"
    query_policy = "query_policy"
    robots = "robots"
    exclusion = "exclusion"
    rule = "rule"
    out_of_scope = "out_of_scope"
    other_origin = "other_origin"
    trap = "trap"
    item_pattern = "item_pattern"
    redirect_hops = "redirect_hops"
    invalid_url = "invalid_url"
    never_seen = "never_seen"
    not_queued = "not_queued"
    waiting = "waiting"
    in_flight = "in_flight"
    held = "held"
    stashed = "stashed"
    too_deep = "too_deep"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a URL, with all that is known. `written` is the URL as it was given, `url` what it came to.

    `link_kinds_queued` are names of LinkKind. `origin` None: it is no origin of this database; its `robots_message`
    says why robots.txt came to nothing, also where it is unavailable. `rules` are those of its robots.txt, where they
    are known. `refused` are the counters of the origins of the pages that name the URL. `now` is epoch ms, `you` the
    operator's name.
    """

    written: str
    url: CrawlUrl | InvalidUrl
    admission: Admission
    standing: UrlStanding
    rules: RobotsRules | None = None
    origin: OriginView | None = None
    run: RunView | None = None
    refused: tuple[RefusedView, ...] = ()
    link_kinds_queued: frozenset[str] = frozenset({"a"})
    offline: bool = False
    ruleset_id: int = 0
    now: int = 0
    zone: tzinfo = UTC
    you: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer in a word and in a sentence. `exit_code` is a name, empty where none belongs to it; `advice` says
    what could be done, empty where nothing need be."""

    answer: Answer
    sentence: str
    exit_code: str = ""
    advice: str = ""


_ANSWERS: Mapping[str, Answer] = {
    Refusal.invalid_url: Answer.invalid_url,
    Refusal.url_length: Answer.invalid_url,
    Refusal.scope: Answer.other_origin,
    Refusal.whitelist: Answer.policy,
    Refusal.start_path: Answer.out_of_scope,
    Refusal.exclusion: Answer.exclusion,
    Refusal.trap_repeat: Answer.trap,
    Refusal.trap_depth: Answer.trap,
    Refusal.origin_full: Answer.trap,
    Refusal.rule_accept: Answer.rule,
    Refusal.item_pattern: Answer.item_pattern,
    Refusal.redirect_hops: Answer.redirect_hops,
    Refusal.nofollow: Answer.not_queued,
    "link_kind": Answer.not_queued,
    "do_not_crawl": Answer.policy,
    "query_policy": Answer.query_policy,
    "rule_skip": Answer.rule,
    "robots": Answer.robots,
}

_ADDRESS = (
    "network.allow_private_addresses decides: `auto` allows what a seed itself names, `true` everything; "
    "without such a change a retry cannot help"
)
_WITHOUT_TRIES = {NextTry.final: ", and that is final", NextTry.used_up: " and has used up its tries"}
_LONGEST_NAME = 200  # characters of a parameter that a configuration may name
_ADD = "tui-crawler add URL makes it a seed"
_OWN = "for a site of your own: own_sites with crawl.{}: false"
_SECTION = "policies: {{url_query_parameters: [{}]}}"


def answer_for_unknown(question: Question, url: CrawlUrl, chain: Sequence[Step]) -> Decision:
    """A URL that is no page: the first stage that refuses it, or that it was never seen."""
    referrals, attempts = question.standing.referrals, question.standing.attempts
    sampled = next((row for row in question.refused if row.sample_url == url.href), None)
    refusing = next((step for step in chain if step.verdict == "refuse"), None)
    found = f"found on a page of {sampled.origin}" if sampled is not None else ""
    seen = f"named by {referrals[0].from_url}" if referrals else found
    if refusing is not None:
        code = JUDGEMENT_CODES.get(refusing.stage)
        would = "is refused" if seen else "would be refused"
        would = "becomes no page" if refusing.stage == "link_kind" else would
        counted = next((each for each in question.refused if each.reason == refusing.stage), None)
        sentence = f"{seen or 'never seen'}, and {would}: {refusing.reason}"
        if counted is not None:
            sentence += f" ({counted.count} link{'s' if counted.count != 1 else ''} of {counted.origin} refused so)"
        return Decision(_ANSWERS[refusing.stage], sentence, code.name if code else "", _advice(question, url, refusing))
    if attempts:
        at = date_time(attempts[0].ended_at, question.zone)
        sentence = f"no page, but requested as {attempts[0].kind}: {attempts[0].exit_code}, {at}"
        return Decision(Answer.not_queued, sentence, attempts[0].exit_code)
    if not seen:
        sentence = "never seen: no crawled page links to it, and nothing would refuse it"
        return Decision(Answer.never_seen, sentence, advice=_ADD)
    if question.offline:
        sentence = f"{seen}, but no page: offline mode stores pages and queues nothing"
        return Decision(Answer.not_queued, sentence, advice="tui-crawler queue build")
    reason = f" ({sampled.reason})" if sampled else ""
    sentence = f"{seen}, but no page: it was refused when it was found{reason}; nothing refuses it now"
    return Decision(Answer.not_queued, sentence, advice=_ADD)


def answer_for_page(question: Question, url: CrawlUrl, page: PageStanding, chain: Sequence[Step]) -> Decision:
    """A page of the job: what happened last, what decides over it now, what it waits for."""
    refusing = {step.stage: step for step in chain if step.verdict == "refuse"}
    judged = next((refusing[stage] for stage in JUDGEMENT_CODES if stage in refusing), None)
    code = page.last_code
    if page.status is PageStatus.CLAIMED and not question.standing.schedule.at_rest:
        return Decision(Answer.in_flight, "it is being crawled now", page.last_exit_code)
    if page.status is PageStatus.STASHED:
        sentence = f"it is in the stash {page.stash}, out of all crawling"
        return Decision(Answer.stashed, sentence, page.last_exit_code, f"tui-crawler pages unstash {quote(page.stash)}")
    if page.status is PageStatus.SKIPPED or (code in BLOCKED and not page.attempts_remaining):
        return _blocked(question, url, page, judged)
    ready = page.attempts_remaining > 0 or is_due(page, question.standing.schedule, question.now)
    if judged is not None and ready:
        name = JUDGEMENT_CODES[judged.stage].name
        sentence = f"it will be refused when its turn comes: {judged.reason}"
        return Decision(_ANSWERS[judged.stage], sentence, name, _advice(question, url, judged))
    if code in FAILURES:
        return _failed(question, page)
    if code is not None and not page.attempts_remaining:
        return _done(question, page, ready)
    return _waiting(question, page)


def _blocked(question: Question, url: CrawlUrl, page: PageStanding, judged: Step | None) -> Decision:
    code = page.last_exit_code or ExitCode.skipped_by_rule.name
    at = date_time(page.last_crawled_at, question.zone) if page.last_crawled_at else ""
    last = question.standing.attempts[0] if question.standing.attempts else None
    if judged is not None and JUDGEMENT_CODES[judged.stage].name == code:
        return Decision(_ANSWERS[judged.stage], f"refused {at}: {judged.reason}", code, _advice(question, url, judged))
    said = last.message if last is not None and last.exit_code == code else ""
    by_query = "url_query_parameters" in said  # of the stage the message is all that is left
    words: dict[ExitCode | None, Answer] = {
        ExitCode.blocked_url_by_local_policy: Answer.query_policy if by_query else Answer.policy,
        ExitCode.blocked_by_robots_txt: Answer.robots,
        ExitCode.blocked_by_exclusion_list: Answer.exclusion,
    }
    answer = words.get(page.last_code, Answer.rule)
    now = f"now refused by {judged.stage}: {judged.reason}" if judged else "the rules in force now allow it"
    sentence = f"refused {at}: {said or code.replace('_', ' ')}; {now}"
    return Decision(answer, sentence, code, "" if judged else "tui-crawler add URL --force crawls it again")


def _failed(question: Question, page: PageStanding) -> Decision:
    what = _said(question, page)
    if not page.attempts_remaining:
        blocked = page.last_code is ExitCode.blocked_address
        advice = _ADDRESS if blocked else "tui-crawler retry URL gives it its tries back"
        tries = f"{page.attempts} attempt{'s' if page.attempts != 1 else ''}"
        left = next_try_of_standing(page, question.standing.schedule, question.now)
        end = _WITHOUT_TRIES.get(left, ", and its recrawl is due")
        return Decision(Answer.failed, f"it failed after {tries}{end}: {what}", page.last_exit_code, advice)
    due = due_step(page, question.standing.schedule, question.now, question.zone)
    over = due.verdict == "pass" and question.origin is not None and bool(question.origin.finish_reason)
    when = "when its origin resumes" if over and not question.standing.schedule.at_rest else due.reason
    again = f"{page.attempts_remaining} more tr{'ies' if page.attempts_remaining > 1 else 'y'}, {when}"
    sentence = f"it failed and is tried again: {what}; {again}; {_held(question, page)}"
    return Decision(Answer.retry_pending, sentence, page.last_exit_code, _origin_advice(question))


def _said(question: Question, page: PageStanding) -> str:
    """How and when the last attempt ended, and what it said; of a crawled page without a document at least what its
    exit code means."""
    last = next((each for each in question.standing.attempts if each.exit_code == page.last_exit_code), None)
    meant = DISPOSITIONS[page.last_code].when if page.last_code and page.last_code not in FAILURES | DOCUMENTS else ""
    said = last.message if last is not None and last.message else meant
    return f"{_outcome(page)}{said and ', '}{said}, {date_time(page.last_crawled_at, question.zone)}"


def _done(question: Question, page: PageStanding, ready: bool) -> Decision:
    schedule = question.standing.schedule
    what = _said(question, page)
    if page.last_crawled_at >= schedule.started_at and not (ready and page.queue_position):
        advice = _OWN.format("obey_nofollow") if page.last_code is ExitCode.noindex else ""
        return Decision(Answer.crawled, f"it was crawled: {what}", page.last_exit_code, advice)
    if ready:
        return _waiting(question, page)
    due = due_step(page, schedule, question.now, question.zone)
    advice = "tui-crawler add URL --force crawls it at once"
    return Decision(Answer.not_due, f"crawled before: {what}; due {due.reason}", page.last_exit_code, advice)


def _waiting(question: Question, page: PageStanding) -> Decision:
    held = _held(question, page)
    if page.held:
        order = "unabort" if page.aborted else "resume"
        return Decision(Answer.held, held, page.last_exit_code, f"tui-crawler jobs {order} {quote(page.job)}")
    if page.beyond_depth:
        sentence = f"its depth {page.depth} is beyond {page.max_depth}, the depth of job {page.job}"
        advice = f"tui-crawler jobs set {quote(page.job)} --depth N"
        return Decision(Answer.too_deep, sentence, page.last_exit_code, advice)
    if page.not_before > question.now:
        due = due_step(page, question.standing.schedule, question.now, question.zone)
        return Decision(Answer.not_due, f"it waits, {due.reason}", page.last_exit_code)
    if question.origin is not None and question.origin.state == OriginPhase.idle:
        sentence = f"its origin {question.origin.origin} takes no part in the newest run"
        return Decision(Answer.other_origin, sentence, page.last_exit_code, "add it to seeds")
    schedule, origin = question.standing.schedule, question.origin
    places = (
        (page.queue_position, f"as number {page.queue_position} of the todo list"),
        (schedule.over, "for the next run"),
        (page.ignored, "for the next run: this one has considered it already"),
        (schedule.broken_off, "until the run is continued"),
        (origin is not None and origin.robots_status == RobotsStatus.unreachable, "until robots.txt can be had"),
    )
    place = next((words for holds, words in places if holds), "for its turn")
    before = f"; last time: {_outcome(page)}" if page.last_exit_code else ""
    return Decision(Answer.waiting, f"it waits {place}; {held}{before}", page.last_exit_code, _origin_advice(question))


def _origin_advice(question: Question) -> str:
    origin = question.origin
    if origin is None:
        return ""
    if origin.paused or origin.finish_reason == FinishReason.operator.value:
        return f"tui-crawler resume {origin.origin}"
    if origin.finish_reason == FinishReason.patience.value and question.run is not None and question.run.live:
        return f"tui-crawler top-up {origin.origin}, or the next run, begins its origin again"
    ended = origin.finish_reason in GAVE_UP | {FinishReason.max_requests}
    return "the next run begins its origin again" if ended else ""


def _held(question: Question, page: PageStanding) -> str:
    if page.aborted:
        return f"job {page.job} is aborted"
    if page.concurrency == 0:
        return f"job {page.job} is paused"
    if question.origin is None:
        return "no run has begun its origin yet"
    return f"its origin: {origin_words(question, question.origin)}"


def _outcome(page: PageStanding) -> str:
    return page.last_exit_code + (f" ({page.last_http_status})" if page.last_http_status is not None else "")


def _advice(question: Question, url: CrawlUrl, refusing: Step) -> str:
    match refusing.stage:
        case "query_policy":
            return query_advice(url, refusing.source, bool(question.admission.policies.url_query_parameters))
        case Refusal.scope:
            return f"add {url.origin}/ to seeds, or its host to whitelist.domains"
        case Refusal.exclusion if refusing.source == "operator":
            entry = question.admission.excludes(url)
            return f"tui-crawler exclude {entry.kind} {quote(entry.value)} --remove" if entry else ""
        case _:
            nofollow = any(one.nofollow for one in question.standing.referrals)
            keys = {"robots": "obey_robots", "link_kind": "obey_nofollow" if nofollow else ""}
            return _OWN.format(keys[refusing.stage]) if keys.get(refusing.stage) else ""


def query_advice(url: CrawlUrl, source: str = "", others: bool = False) -> str:
    """The one key that would let a URL with a query pass (U). `source` is the policy that nearly does; `others`: there
    are policies already."""
    names = list(dict.fromkeys(name for name, _ in parse_qsl(url.query, keep_blank_values=True)))
    can_be_listed = names and all(name.isprintable() and 0 < len(name) <= _LONGEST_NAME for name in names)
    allow = f"allow: {json.dumps(names, ensure_ascii=False)}" if can_be_listed else "allow_any: true"
    entry = f"{{match: {{path: {{prefix: {json.dumps(url.path)}}}}}, {allow}}}"
    if source:
        return f"change the policy at {source}, or add to policies.url_query_parameters: {entry}"
    return f"add to policies.url_query_parameters: {entry}" if others else f"add {_SECTION.format(entry)}"


def origin_words(question: Question, origin: OriginView) -> str:
    """Return what an origin crawler is doing now, or how it ended its run."""
    words = idle_reason(origin, question.now, question.run, zone=question.zone, you=question.you)
    if origin.ended:
        return origin_end_words(origin.finish_reason, words)
    return words or "a request is in flight"


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
        """Return what was left out of what the URL gave last (names of `domain.cut`)."""
        return next((one.cut for one in self.attempts if one.cut or one.exit_code in _CONTENTFUL), ())


_OF_THE_LINK = frozenset({Refusal.origin_full, Refusal.item_pattern, Refusal.redirect_hops})


def explain(question: Question) -> Explanation:
    """The whole chain for one URL, and the one word that sums it up."""
    url, standing, run = question.url, question.standing, question.run
    broken_off = run is not None and not run.live and not standing.schedule.over
    standing = replace(standing, schedule=replace(standing.schedule, broken_off=broken_off))
    question = replace(question, standing=standing)
    if isinstance(url, InvalidUrl):
        step = Step("normalise", "refuse", f"the URL {url.reason}")
        decision = Decision(Answer.invalid_url, f"it cannot be crawled: it {url.reason}", ExitCode.invalid_url.name)
        return _made(question, [step], decision)
    chosen = _best_referral(question, url)
    chain = tuple(_chain(question, url, chosen))
    as_written = question.written in {url.href, f"{url.href}#{url.fragment}"}
    words = "as written" if as_written else f"{question.written} becomes {url.href}"
    steps = [Step("normalise", "pass", words), _origin_step(question, url), *chain]
    if standing.page is not None:
        steps += page_steps(standing.page, standing.schedule, question.now, question.zone)
        decision = answer_for_page(question, url, standing.page, chain)
    else:
        steps.append(_unknown_step(question))
        decision = answer_for_unknown(question, url, chain)
    return _made(question, steps, decision)


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


def _origin_step(question: Question, url: CrawlUrl) -> Step:
    origin = question.origin
    if origin is None:
        if url.origin in question.admission.scope.origins:
            return Step("origin", "pass", f"{url.origin} is configured, no run has begun it yet")
        return Step("origin", "unknown", f"{url.origin} is no origin of this crawl")
    if origin.state == OriginPhase.idle:
        return Step("origin", "refuse", f"{url.origin} takes no part in the newest run", "seeds")
    words = origin_words(question, origin)
    verdict: Verdict = "refuse" if origin.paused or origin.finish_reason not in {"", FinishReason.exhausted} else "pass"
    return Step("origin", verdict, f"{url.origin}: {words}")


def _chain(question: Question, url: CrawlUrl, chosen: Referral | None) -> Iterator[Step]:
    """Filters and judgements, each once; what only the linking page can tell is said for `chosen`."""
    page = question.standing.page
    found = None
    if page is not None:
        found = Discovered(url, page.redirect_hops, sitemap=page.sitemap)
    elif chosen is not None:
        found = _found(question, url, chosen)
    for step in question.admission.explain(url, question.rules, found):
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


def _found(question: Question, url: CrawlUrl, referral: Referral) -> Discovered:
    return Discovered(url, referral.redirect_hops, referral.item_pattern or None, question.standing.origin_pages)


def _is_queued(referral: Referral, kinds: frozenset[str]) -> bool:
    return referral.redirect or (referral.kind in kinds and not referral.nofollow)


def _link_step(question: Question) -> Step:
    """Return whether any link to the URL is of those that become pages (G)."""
    referrals, kinds = question.standing.referrals, question.link_kinds_queued
    if any(_is_queued(each, kinds) for each in referrals):
        return Step("link_kind", "pass", "a link of a kind that is queued names it")
    if all(each.nofollow for each in referrals if each.kind in kinds) and any(each.kind in kinds for each in referrals):
        reason = "only rel=nofollow links and nofollow pages name it: they are recorded, not queued"
        return Step("link_kind", "refuse", reason)
    found = ", ".join(sorted({each.kind for each in referrals}))
    reason = f"it is named as {found} only; kinds that become pages: {', '.join(sorted(kinds)) or 'none'}"
    keys = {LinkKind.frame.value: "crawl.follow_frames", LinkKind.other.value: ""}
    return Step("link_kind", "refuse", reason, keys.get(found, "crawl.link_kinds_queued"))


def _robots_step(question: Question, step: Step) -> Step:
    """The robots.txt stage with when it was fetched, and what it means where there are no rules."""
    origin, url = question.origin, question.url
    if isinstance(url, CrawlUrl) and url.origin in question.admission.scope.waived:
        return step
    status = RobotsStatus.none if origin is None else origin.robots_status
    if origin is None or (question.rules is None and status != RobotsStatus.unreachable):
        return Step("robots", "unknown", "robots.txt of its origin has not been fetched yet")
    fetched = f", fetched {date_time(origin.robots_fetched_at, question.zone)}" if origin.robots_fetched_at else ""
    answered, message = origin.robots_http_status, origin.robots_message
    if status == RobotsStatus.unavailable and answered is None:
        return Step("robots", "unknown", unavailable_words(answered, message), "RFC 9309")
    if status == RobotsStatus.unavailable:
        return Step("robots", "pass", f"{unavailable_words(answered)}{fetched}", "RFC 9309")
    if status == RobotsStatus.unreachable:
        words = f"{unreachable_words(answered, message)}; the origin is not crawled until robots.txt is available"
        return Step("robots", "unknown", words, "RFC 9309")
    return replace(step, reason=f"{step.reason}{fetched}")


def _unknown_step(question: Question) -> Step:
    standing = question.standing
    job = f" of job {standing.schedule.job}" if standing.schedule.job else ""
    other = f" (it is one of job {', '.join(standing.other_jobs)})" if standing.other_jobs else ""
    if not standing.referrals:
        return Step("known", "refuse", f"no page{job}{other}, and no crawled page links to it")
    first = standing.referrals[0]
    more = f" and {len(standing.referrals) - 1} more" if len(standing.referrals) > 1 else ""
    return Step("known", "refuse", f"no page{job}{other}, but named by {first.from_url}{more}")
