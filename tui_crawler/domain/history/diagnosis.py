"""Diagnoses: what of a crawl needs a person, the gravest first, and what helps. Pure.

Each is made of facts that the reports keep or bound (`storage/reports/diagnosis.py`). Console and `status` show them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from tui_crawler.domain.history.trap import guard_suspicions
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.status_words import PLACE, UNCONFIGURED_USER_AGENT, WARNING, RunReason
from tui_crawler.domain.rules.matcher import All, Matcher, Test
from tui_crawler.domain.rules.policy import QueryPolicy

if TYPE_CHECKING:
    from tui_crawler.domain.history.coverage import SeedEnd
    from tui_crawler.domain.records.page_view import RefusedView
    from tui_crawler.domain.records.view import RunView


class DiagnosisKind(StrEnum):
    """What is wrong, the gravest first; the value is the name for programs."""

    crawler_died = "crawler_died"
    no_worker = "no_worker"
    origins_stopped = "origins_stopped"
    seed_moved = "seed_moved"
    seed_failed = "seed_failed"
    queries_refused = "queries_refused"
    trap_suspected = "trap_suspected"
    most_not_canonical = "most_not_canonical"
    robots_denies = "robots_denies"
    unnamed = "unnamed"


_CLIENT_ERROR = 400
_FEW = 4  # refused URLs
_BROKEN = frozenset({RunReason.interrupted.value, RunReason.error.value})
_SESSION = re.compile(
    r"(?:php|asp|j)?sess(?:ion)?_?(?:id)?|sid|cfid|cftoken|utm_\w+|fbclid|gclid|msclkid", re.IGNORECASE
)
"""Names of parameters that are about the visitor and not about the page."""
_OF_URLS = frozenset({DiagnosisKind.queries_refused, DiagnosisKind.trap_suspected})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that needs a person. `words` are raw. `count` is how many origins or URLs it is about; `origins` and
    `urls` are (some of) these. `policy` would allow what is refused, but for the parameter `session`."""

    kind: DiagnosisKind
    words: str
    count: int = 1
    origins: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    policy: QueryPolicy | None = None
    session: str = ""

    @property
    def name(self) -> str:
        """Return what it is known by while it grows: its kind, and the origin where it is about one."""
        return f"{self.kind.value} {self.origins[0] if len(self.origins) == 1 else ''}".rstrip()

    def has_grown(self, count: int) -> bool:
        """Return whether it is worse than when it had this count; of URLs, which come all the time, twice as bad."""
        return self.count >= 2 * count if self.kind in _OF_URLS else self.count > count


@dataclass(frozen=True, slots=True)
class LostPage:
    """How a page of an origin ended that stopped the origin, or a seed that gave no document. `pattern` has the shape
    of the path of all that ended alike, if they have one in common."""

    origin: str
    end: SeedEnd
    pattern: str = ""

    @property
    def cause(self) -> str:
        """Return how it ended, in words that follow a number: what the system said, the status, or the exit code."""
        end = self.end
        if end.exit_code == ExitCode.connection_failed.name and end.message:
            said = PLACE.sub("", end.message)
            return said[:1].lower() + said[1:]
        words = (end.exit_code or "not crawled").replace("_", " ")
        if end.http_status is not None and end.http_status >= _CLIENT_ERROR:
            words = f"HTTP {end.http_status}"
        return f"{words} on {self.pattern}" if self.pattern else words


@dataclass(frozen=True, slots=True)
class RefusedQueries:
    """URLs of an origin that were refused for their query: `total` of them, and the newest. No policy is about those
    `by_default`."""

    origin: str
    total: int
    urls: tuple[str, ...]
    by_default: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiagnosisFacts:
    """What diagnoses are made of. `stopped` has a page of each origin that errors have stopped (of those, there are
    `stopped_total`), `seeds` one of each origin without a document. `traps` are links that the trap guard refused,
    `elsewhere` origins most of whose pages are not canonical, each with the warning."""

    pending: int = 0
    stopped: tuple[LostPage, ...] = ()
    stopped_total: int = 0
    seeds: tuple[LostPage, ...] = ()
    queries: tuple[RefusedQueries, ...] = ()
    traps: tuple[RefusedView, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()


def diagnoses(run: RunView | None, facts: DiagnosisFacts) -> tuple[Diagnosis, ...]:
    """Return what of a run needs a person, the gravest first."""
    if run is None:
        return ()
    found = (
        *_of_run(run, facts.pending),
        *_of_stopped(facts),
        *_of_seeds(facts.seeds),
        *filter(None, map(_of_queries, facts.queries)),
        *_of_origins(facts),
    )
    ranks = [*DiagnosisKind]
    return tuple(sorted(found, key=lambda one: ranks.index(one.kind)))


def _of_run(run: RunView, pending: int) -> Iterator[Diagnosis]:
    left = f"{_many(pending, 'URL')} to do"
    if run.live and run.user_agent == UNCONFIGURED_USER_AGENT:
        yield Diagnosis(DiagnosisKind.unnamed, WARNING)
    elif not run.live and pending and not run.finished_at:
        yield Diagnosis(DiagnosisKind.crawler_died, f"crawler died, {left}")
    elif not run.live and pending and run.finish_reason in _BROKEN:
        yield Diagnosis(DiagnosisKind.no_worker, f"no worker running, {left}")


def _of_stopped(facts: DiagnosisFacts) -> Iterator[Diagnosis]:
    origins = tuple(one.origin for one in facts.stopped)
    causes = Counter(one.cause for one in facts.stopped).most_common()
    words = f"{_many(facts.stopped_total, 'origin')} stopped: {', '.join(f'{n} × {cause}' for cause, n in causes)}"
    if len(origins) == 1:
        words = f"{_short(origins[0])} stopped: {causes[0][0]}"
    if origins:
        yield Diagnosis(DiagnosisKind.origins_stopped, words, facts.stopped_total, origins)


def _of_seeds(seeds: Iterable[LostPage]) -> Iterator[Diagnosis]:
    kinds: dict[DiagnosisKind, list[LostPage]] = {}
    for one in seeds:
        moved = _origin(one.end.ended_at_url) != _origin(one.end.url)
        denied = one.end.exit_code == ExitCode.blocked_by_robots_txt.name
        kind = DiagnosisKind.robots_denies if denied else DiagnosisKind.seed_failed
        kinds.setdefault(DiagnosisKind.seed_moved if moved else kind, []).append(one)
    for kind, lost in kinds.items():
        first, more = lost[0], f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        words = {
            DiagnosisKind.seed_moved: f"seed moved to {first.end.ended_at_url}",
            DiagnosisKind.robots_denies: f"robots.txt of {_short(first.origin)} disallows the seed",
        }.get(kind, f"seed {_short(first.end.url)}: {first.cause}")
        urls = tuple(dict.fromkeys(one.end.ended_at_url for one in lost))
        yield Diagnosis(kind, words + more, len(lost), tuple(one.origin for one in lost), urls)


def _of_origins(facts: DiagnosisFacts) -> Iterator[Diagnosis]:
    for origin, trap in guard_suspicions(facts.traps).items():
        words = f"crawler trap suspected at {_short(origin)}: {'; '.join(trap.evidence)}"
        links = sum(one.count for one in facts.traps if one.origin == origin)
        yield Diagnosis(DiagnosisKind.trap_suspected, words, links, (origin,), (trap.sample_url,))
    for origin, warning in facts.elsewhere:
        yield Diagnosis(DiagnosisKind.most_not_canonical, f"{_short(origin)}: {warning}", 1, (origin,))


def _of_queries(refused: RefusedQueries) -> Diagnosis | None:
    """Return the diagnosis of refused URLs, with the policy that allows the parameters that most of them have; None
    where a session is all they have."""
    wanted = Counter(names for url in refused.by_default if (names := _names(url)))
    if not wanted:
        return None
    allow = min(wanted, key=lambda names: (-wanted[names], sorted(names)))
    urls = tuple(url for url in refused.by_default if _names(url) == allow)
    alike, session = _differ_by_session(refused.urls)
    seen, host, number = len(refused.urls), _short(refused.origin), _many(refused.total, "query URL")
    words = f"{number} of {host} refused (?{min(allow)}=)"
    if 2 * alike >= max(seen, _FEW):
        among = f"{alike} of {seen}" if seen >= refused.total else f"{alike} of the last {seen}"
        words = f"{among} refused URLs of {host} differ only in ?{session}="
    of = (refused.origin,), urls, policy_for(urls), session
    return Diagnosis(DiagnosisKind.queries_refused, words, refused.total, *of)


def _differ_by_session(urls: Iterable[str]) -> tuple[int, str]:
    """Return how many URLs have nothing but a session in their query, or differ from another one by it alone; and the
    name of its parameter."""
    rests, found = Counter[tuple[str, str]](), list[tuple[str, tuple[str, str]]]()
    for url in urls:
        path, _, query = url.partition("?")
        pairs = parse_qsl(query, keep_blank_values=True)
        rest = path, str([pair for pair in pairs if not _SESSION.fullmatch(pair[0])])
        rests[rest] += 1
        found += [(name, rest) for name, _ in pairs if _SESSION.fullmatch(name)][:1]
    alike = Counter(name for name, rest in found if rest[1] == "[]" or rests[rest] > 1)
    return alike.total(), min(alike, key=lambda name: -alike[name], default="")


def policy_for(urls: Iterable[str]) -> QueryPolicy | None:
    """Return the policy that allows the queries of these URLs but for a session, at their path where that is the same;
    None where they have no other parameter, or are of several origins."""
    listed = tuple(urls)
    origins, paths = {_origin(url) for url in listed}, {url.partition("?")[0] for url in listed}
    allow = frozenset[str]().union(*map(_names, listed))
    if len(origins) != 1 or not allow:
        return None
    origin = origins.pop()
    match: Matcher = Test("origin", "equals", origin)
    if len(paths) == 1:
        match = All((match, Test("path", "equals", paths.pop().removeprefix(origin))))
    return QueryPolicy(match, allow)


def _names(url: str) -> frozenset[str]:
    """The parameters of a URL that are of no session."""
    pairs = parse_qsl(url.partition("?")[2], keep_blank_values=True)
    return frozenset(name for name, _ in pairs if not _SESSION.fullmatch(name))


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])


def _short(url: str) -> str:
    return url.partition("://")[2] or url


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"
