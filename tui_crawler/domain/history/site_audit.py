"""The site audit: what a crawl found on the sites it has read (docs/site-audit.md), as tables without a form.

A section is a table with a bounded number of rows; `total` counts all. Each form of the report (HTML, Markdown, JUnit,
JSON) is made of the same sections, in the order of `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from tui_crawler.domain.history.coverage import ALIKE, GROUP_COLUMNS, SAME_COLUMNS, SEED_COLUMNS
from tui_crawler.domain.record import dataclass, replace

if TYPE_CHECKING:
    from tui_crawler.domain.history.audit import OriginAudit, SentRequest
    from tui_crawler.domain.history.coverage import Coverage

LISTED = 200  # rows of a section; all are counted
NAMED = 5  # of those that name a broken URL, and of the pages with one title
SLOW_MS = 2_000  # a response that took longer is slow
RESPONSE_BOUNDS = (0, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)  # where the classes of response times begin, ms
DRAWN, LANE_CELLS = 30, 240  # origins with a timeline, and in how many cells
SPANS = 48  # of equal length, in which requests are counted over time
Cell = Any  # what it holds is told by the kind of its column; None: unknown
Found = tuple[str, "Sequence[Sequence[Cell]]", int]  # key, rows and total of a section


class ReportCell(Enum):
    """The kind of the cells of a column, and the columns of that kind. Times are epoch ms; text is everything else."""

    url = "url sample_url canonical origin earlier_url ended_at_url"
    count = (
        "count origins pages documents judged invalid done failed blocked pending requests attempts links "
        "violations overlaps"
    )
    ms = "response_ms from_ms below_ms gap_ms min_gap_ms promised_ms"
    moment = "at sent_at started_at ended_at finished_at"
    exit_code = "exit_code"
    bytes = "bytes"
    cut = "cut"  # names out of `cut.CUTS`
    urls = "urls"
    referrers = "referrers"  # values of `page_view.Referrer`
    series = "over_time"  # counts per span of time
    timeline = "timeline"  # a `timeline.Timeline`
    text = ""


class LinkCheck(NamedTuple):
    """A check that a configuration can switch off. `name` is its name for `run --fail-on`, `section` the key of its
    section, if it has one. `queues`: it makes pages of what it checks, which the offline mode does not."""

    name: str
    key: str
    title: str
    section: str = ""
    queues: bool = False


LINK_CHECKS = (
    LinkCheck("external", "crawl.check_external", "links to other sites", "broken_external", queues=True),
    LinkCheck("embedded", "crawl.check_embedded", "images, styles, scripts and media", "broken_embedded", queues=True),
    LinkCheck("fragments", "crawl.check_fragments", "fragments", "broken_fragments"),
)


class CheckStatus(StrEnum):
    """The status of a check; the values are for people."""

    checked = ""
    not_checked = "not checked ({key})"
    partly_checked = "not checked on {pages} pages that were read before {key} was switched on"
    unknown = "not known whether checked ({key})"


class CheckOutcome(NamedTuple):
    """A check as a run made it. `key` decides about it; `pages` were read while it was switched off."""

    check: LinkCheck
    status: CheckStatus
    key: str = ""
    pages: int = 0

    @property
    def words(self) -> str:
        """Its status for people, empty if it was made."""
        return self.status.value.format(key=self.key, pages=self.pages)

    @property
    def document(self) -> dict[str, object]:
        """Its status as members of a JSON object."""
        return {"status": self.status.name, **({"key": self.key} if self.words else {})}


class FindingSeverity(StrEnum):
    """The severity of a finding: something is broken; something should be mended; something to know."""

    fault = "fault"
    warning = "warning"
    notice = "notice"


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """`name` is its key in JSON; `bar`: its counts are compared with each other by a picture, too."""

    name: str
    bar: bool = False

    @property
    def kind(self) -> ReportCell:
        """Return what its cells hold."""
        return next((kind for kind in ReportCell if self.name in kind.value.split()), ReportCell.text)

    @property
    def title(self) -> str:
        words = self.name.removesuffix("_ms").removesuffix("_at").replace("_", " ")
        return words.replace("url", "URL").replace("http", "HTTP")


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its first `LISTED` rows; `total` counts all. `severity` None: its rows are no findings."""

    key: str
    title: str
    says: str
    severity: FindingSeverity | None
    columns: Sequence[ReportColumn]
    rows: Sequence[Sequence[Cell]] = ()
    total: int = 0

    @property
    def cells(self) -> Iterator[list[tuple[ReportColumn, Cell]]]:
        """The rows, each cell with its column."""
        return (list(zip(self.columns, row, strict=True)) for row in self.rows)

    @property
    def left_out(self) -> int:
        """Return how many rows are counted and not listed."""
        return self.total - len(self.rows)


@dataclass(frozen=True, slots=True)
class SiteAudit:
    """A whole report. `run` is the one it is about, None for all; `at` is when it was made (epoch ms). `coverage` is
    None where it is about an earlier run than the newest."""

    crawl: str
    run: int | None
    at: int
    summary: Sequence[tuple[ReportColumn, Cell]]
    sections: Sequence[Section]
    checks: Sequence[CheckOutcome] = ()
    coverage: Coverage | None = None

    def made(self, section: Section) -> CheckOutcome:
        """Return whether the check of a section was made; what nothing switches off was."""
        always = CheckOutcome(LinkCheck("", "", ""), CheckStatus.checked)
        return next((one for one in self.checks if one.check.section == section.key), always)

    @property
    def every_section(self) -> list[Section]:
        """The sections, those of the coverage statement first."""
        return [*(coverage_sections(self.coverage) if self.coverage else ()), *self.sections]

    @property
    def scope(self) -> str:
        """Return what it is about, in a sentence."""
        return _OF_ALL if self.run is None else _OF_RUN.format(self.run)

    @property
    def verdict(self) -> str:
        """Return the numbers of findings by severity as a sentence; then what was not checked or not obeyed."""
        every = self.every_section
        sums = [(sum(one.total for one in every if one.severity is each), each) for each in FindingSeverity]
        unmade = "".join(f" {one.check.title.capitalize()}: {one.words}." for one in self.checks if one.words)
        unmade += f" Rules switched off: {self.coverage.waived}." if self.coverage and self.coverage.waived else ""
        return ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for number, name in sums) + f".{unmade}"


_OF_ALL = "Current state of pages; requests, exit codes and politeness over all runs."
_OF_RUN = """What run {} attempted, by its last attempt of each page. Titles, links and redirects are those stored now:
a later run may have replaced them."""
_SUMMARY = "started_at ended_at origins pages done failed blocked pending requests bytes"
_TABLE = f"""
failures|Failures by cause||exit_code http_status pages* origins sample_url message
Pages that failed, by exit code and HTTP status, with one of them.
broken|Broken links|fault|url exit_code http_status links referrers
Pages that failed and that links, redirects or sitemaps name, those with most links first; {NAMED} referrers of each.
broken_embedded|Broken images, styles, scripts and media|fault|url exit_code http_status links referrers
Files of the crawled sites that pages embed and that failed (crawl.check_embedded), those with most links first.
broken_external|Broken links to other sites|fault|url exit_code http_status links referrers
URLs outside of the crawl that links name and that failed (crawl.check_external), those with most links first.
walls|Links behind a wall|notice|url exit_code http_status links referrers
Checked URLs that refuse a crawler (401, 403, 405, 407, 429, 451, 999): a person may see what they lead to.
broken_fragments|Missing fragments|fault|url fragment links referrers
Fragments that links name and that their page has not (crawl.check_fragments); {NAMED} links to each.
failed_unnamed|Failed pages that nothing names|fault|url exit_code http_status message
Pages that failed and that no link, redirect or sitemap names: seeds, and URLs added by hand.
redirect_loops|Redirect loops|fault|urls referrers
Redirects that lead back to where they began.
cut|What was cut|warning|url cut bytes
Pages that were not read to their end, because a limit of the configuration was reached.
slow|Slow pages|warning|url response_ms bytes at
Pages whose response took longer than {SLOW_MS // 1_000} s, the slowest first.
redirect_chains|Redirect chains|warning|urls
Redirects to pages that redirect again; a link should name the last one.
duplicate_titles|Duplicate titles|warning|title pages urls
Titles that several pages have, the most frequent first; {NAMED} pages of each.
missing_titles|Missing titles|warning|url
HTML pages without a title.
invalid|Invalid documents|notice|type message pages urls
What validators found in the current documents, the most frequent first; {NAMED} pages of each.
not_canonical|Not canonical|notice|url canonical
Pages that name another URL as the canonical one; they are not kept.
canonical_nowhere|Canonical URLs that lead nowhere|warning|url canonical
Pages that name a canonical URL without content (an error, a refusal, a way back to them); they are kept.
noindex|Noindex|notice|url
Pages that ask not to be indexed (meta robots, X-Robots-Tag); kept only with crawl.obey_nofollow: false.
exit_codes|Exit codes||exit_code when attempts*
How the attempts ended, those of robots.txt among them.
validation|Validation||type documents judged invalid
How many documents validators have judged, and how many of these are invalid.
response_times|Response times||from_ms below_ms attempts*
How long the attempts waited for the other side.
violations|Broken promises of politeness|fault|url fault sent_at gap_ms promised_ms earlier_url
Requests that came sooner after the one before (the earlier URL) than promised, or while it lasted (overlap).
politeness|Politeness||origin requests over_time min_gap_ms promised_ms violations overlaps
The proof: the least gap from the end of a request to the next, recomputed from the log, and what was promised for it.
timelines|Politeness over time||origin timeline
The first {DRAWN} origins over the newest run, or the one named: the required delay, the actual gaps.
seeds|Seeds||url exit_code http_status
Where the crawl began.
runs|Runs||run_id started_at finished_at finish_reason attempts user_agent
The newest first, with the attempts that made a request.
"""
"""Two lines of each section: key, title, severity, columns (`*`: with a bar); what it says."""


def _plans(table: str) -> Iterator[Section]:
    lines = table.strip().splitlines()
    for head, says in zip(lines[::2], lines[1::2], strict=True):
        key, title, severity, columns = head.split("|")
        found = tuple(ReportColumn(name.rstrip("*"), name.endswith("*")) for name in columns.split())
        yield Section(key, title, says, FindingSeverity(severity) if severity else None, found)


_COVERAGE = f"""
coverage|Coverage gaps|notice|reason
Why the newest run is not complete.
lost_seeds|Seeds without a document|fault|{SEED_COLUMNS}
Seeds that failed, were refused, or led to nothing, each with the reason.
refused|Refused URLs and links|notice|{GROUP_COLUMNS}
What was refused, by origin and reason, with the line that decided.
same_content|URLs with one content|warning|{SAME_COLUMNS}
{ALIKE} URLs or more whose bodies are the same, byte by byte; often they say "not found", with status 200.
"""


def coverage_sections(coverage: Coverage) -> Iterator[Section]:
    """The coverage statement as tables; what is outside of the crawl is in none."""
    refused = [one for one in coverage.refused if one.inside]
    found = (
        ([(reason,) for reason in coverage.reasons], len(coverage.reasons)),
        ([*map(attrgetter(*SEED_COLUMNS.split()), coverage.lost)], coverage.seeds_lost),
        ([*map(attrgetter(*GROUP_COLUMNS.split()), refused)], len(refused)),
        ([*map(attrgetter(*SAME_COLUMNS.split()), coverage.same)], coverage.same_total),
    )
    for plan, (rows, total) in zip(_plans(_COVERAGE), found, strict=True):
        yield replace(plan, rows=rows[:LISTED], total=total)


SUMMARY = tuple(map(ReportColumn, _SUMMARY.split()))
SECTIONS: Mapping[str, Section] = {section.key: section for section in _plans(_TABLE)}


def over_time(
    requests: Iterable[SentRequest], bounds: Sequence[int], counts: dict[str, list[int]]
) -> Iterator[SentRequest]:
    """Hand requests on, and counts those of each origin in `SPANS` equal spans between two times (epoch ms)."""
    for request in requests:
        place = (request.sent_at - bounds[0]) * SPANS // max(1, bounds[1] - bounds[0])
        counts.setdefault(request.origin, [0] * SPANS)[min(max(0, place), SPANS - 1)] += 1
        yield request


def politeness(origins: Sequence[OriginAudit], counts: Mapping[str, Sequence[int]]) -> Iterator[Found]:
    """The broken promises, and the proof by origin: those with broken promises first, then those asked most. `counts`
    are the requests of each in spans of time."""
    worst = sorted(origins, key=lambda one: (-one.violations - one.overlaps, -one.requests, one.origin))[:LISTED]
    told = attrgetter(*(column.name for column in SECTIONS["violations"].columns))
    findings = [told(each) for one in worst for each in one.findings][:LISTED]
    yield "violations", findings, sum(one.violations + one.overlaps for one in origins)
    gaps = attrgetter("min_gap_ms", "promised_ms", "violations", "overlaps")
    yield "politeness", [(one.origin, one.requests, counts[one.origin], *gaps(one)) for one in worst], len(origins)


def chains(redirects: Iterable[tuple[int, int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Chains and loops of redirects, each as the pages passed. `redirects` are pages with the page they lead to; of
    several of one page the first counts. A chain begins where none leads to, ends where none leads on or a loop is
    closed; a loop is named once. Both are followed over 20 redirects at most."""
    leads: dict[int, int] = {}
    for page, target in redirects:
        leads.setdefault(page, target)
    entered = set(leads.values())
    found = [_chain(page, leads) for page in leads if page not in entered]
    loops: list[list[int]] = []
    walked: dict[int, int] = {}
    for number, page in enumerate(leads):
        while page in leads and page not in walked:
            walked[page] = number
            page = leads[page]  # noqa: PLW2901  # walks on from there
        if walked.get(page) == number:
            loops.append(_chain(page, leads))
    return found, loops


def _chain(page: int, leads: Mapping[int, int]) -> list[int]:
    passed = {page: None}
    while len(passed) <= 20 and page in leads and leads[page] not in passed:
        page = leads[page]
        passed[page] = None
    return list(passed)
