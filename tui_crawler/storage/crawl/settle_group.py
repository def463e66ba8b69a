"""Many attempts as one: what a group of plain ones changes is stored by one statement a table, for speed.

`SettleJob`, attempt by attempt, stays the reference (tests compare both on random input) and takes what is not plain: a
page found again by a shorter path, taken by another worker, out of a stash, a redirect, robots.txt. If a statement of a
group fails, the writer rolls it back and stores every attempt by itself."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui_crawler.domain.crawl.run import Settled
from tui_crawler.domain.records.attempt import PageOutcome, Settle
from tui_crawler.domain.records.exit_code import UNTOUCHED
from tui_crawler.domain.records.page import KnownPage, NewPage, Tally
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.storage.crawl import canonicals, crawl_log, documents, intake, origins, settle
from tui_crawler.storage.crawl.counters import CountedAttempt, CounterChanges, add_to_job, count_attempts
from tui_crawler.storage.crawl.former import Keeper
from tui_crawler.storage.crawl.intake import is_beyond
from tui_crawler.storage.crawl.origins import Counted, OriginChange, OriginRow
from tui_crawler.storage.crawl.settle import PageState, SettleJob
from tui_crawler.storage.crawl.urls import hashes, url_ids
from tui_crawler.storage.db.claim import Claim, require, sign_of_life
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import builds_among, columns, padded, reads_among
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Job, Origin, Page

_NO_PAGE = (None, None)


def settle_together(transaction: Transaction, jobs: Sequence[SettleJob]) -> list[Settled]:
    """Store attempts in their order; return for each what `SettleJob` returns. Raises as that does."""
    answers: list[Settled] = []
    group: dict[str, SettleJob] = {}
    for job in jobs:
        name, is_plain = job.settle.origin.origin, _may_be_plain(job.settle)
        if group and (name in group or not is_plain):
            answers += _Group(transaction, job.claim, list(group.values())).store()
            group = {}
        if is_plain:
            group[name] = job
        else:
            answers.append(job(transaction))
    if group:
        answers += _Group(transaction, jobs[0].claim, list(group.values())).store()
    return answers


def _may_be_plain(one: Settle) -> bool:
    """Whether an attempt is of the usual kind, as far as that can be said without the database."""
    return (
        one.page is not None
        and not one.page.stays
        and one.redirect is None
        and one.fragments is None
        and not one.drop_document
        and not one.save_robots
        and one.attempt.exit_code not in UNTOUCHED
    )


@dataclass(slots=True)
class _Entry:
    """An attempt of a group with its page, the depth of its job (None: no limit), its origin and its new pages."""

    job: SettleJob
    outcome: PageOutcome
    row: OriginRow
    page: PageState
    max_depth: int | None
    new: list[NewPage] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    answer: Settled | None = None


class _Group:
    """Plain attempts of different origins."""

    def __init__(self, transaction: Transaction, claim: Claim, jobs: Sequence[SettleJob]) -> None:
        self._transaction, self._claim, self._jobs = transaction, claim, jobs
        self._keeper = Keeper(transaction, claim)
        self._ids = transaction.memory.url_ids
        self._moves, self._by_job = CounterChanges(), defaultdict[int, Tally](Tally)

    def store(self) -> list[Settled]:
        """Store those that are plain as one, then each of the others by itself."""
        transaction, claim = self._transaction, self._claim
        names = padded([clean(job.settle.origin.origin) for job in self._jobs])
        pages = padded([job.settle.page.page_id for job in self._jobs if job.settle.page is not None])
        origins_read = transaction.send(_origins, len(names), names)
        pages_read = transaction.send(_page_states, len(pages), pages)
        require(transaction, claim)
        sign_of_life(transaction, claim)
        found = self._entries(origins_read(), pages_read())
        origin_ids = self._origin_ids(found)
        depths = {entry.page.job_id: entry.max_depth for entry in found}
        entries = self._with_new_pages(found, origin_ids)
        url_ids(transaction, self._hrefs(entries))
        self._insert_pages(entries, origin_ids, depths)
        self._update_pages(entries, self._log(entries))
        self._store_content(entries)
        self._write_origins(entries)
        origins.move(transaction, self._moves)
        for job_id, change in self._by_job.items():
            add_to_job(transaction, job_id, change)
        answers = {id(entry.job): entry.answer for entry in entries}
        return [answers.get(id(job)) or job(transaction) for job in self._jobs]

    def _entries(self, origin_rows: Iterable[Row], page_rows: Iterable[Row]) -> list[_Entry]:
        rows = {row[0]: row[1:] for row in origin_rows}
        states = {row[0]: (PageState(*row[1:-1]), row[-1]) for row in page_rows}
        taken = settle.attempts_of_rivals(self._transaction, self._claim, (page for page, _ in states.values()))
        entries = []
        for job in self._jobs:
            row, outcome = rows.get(clean(job.settle.origin.origin)), job.settle.page
            page, max_depth = states.get(outcome.page_id, _NO_PAGE) if outcome is not None else _NO_PAGE
            if row is None or page is None or outcome is None or page.last_attempt_id in taken:
                continue
            if self._claim.shared and row[5:] != (self._claim.epochs.get(row[0]), 0, self._claim.session_id):
                continue  # the lease is lost
            if self._is_plain(page, row[0], outcome):
                after = settle.outcome_for(job.settle, page) or outcome
                entries.append(_Entry(job, after, OriginRow(*row[:5]), page, max_depth))
        return entries

    def _is_plain(self, page: PageState, origin_id: int, outcome: PageOutcome) -> bool:
        claimed = page.status == PageStatus.CLAIMED
        ours = page.claimed_by == self._claim.session_id if claimed else page.status == PageStatus.READY
        near = outcome.depth is None or page.depth >= outcome.depth
        return ours and page.origin_id == origin_id and not page.stash and near

    def _origin_ids(self, entries: Iterable[_Entry]) -> dict[str, int]:
        """The ids of the origins of new pages; an unknown origin is not among them."""
        known = {entry.job.settle.origin.origin: entry.row.id for entry in entries}
        wanted = {page.origin for entry in entries for page in entry.job.settle.new_pages} - known.keys()
        if wanted:
            found = {row[0]: row[1] for row in self._transaction.all_among(_origins, sorted(map(clean, wanted)))}
            known.update((name, found[clean(name)]) for name in wanted if clean(name) in found)
        return known

    def _with_new_pages(self, entries: Sequence[_Entry], origin_ids: Mapping[str, int]) -> list[_Entry]:
        """Those attempts whose finds are new, or known and no news; each with the new ones."""
        memory, asked = self._transaction.memory, dict[int, set[int]]()
        planned: dict[int, dict[int, KnownPage]] = {}
        for entry in entries:
            known = memory.pages_of(entry.page.job_id)
            wanted = asked.setdefault(entry.page.job_id, set())
            wanted.update(page.url_hash for page in entry.job.settle.new_pages if page.url_hash not in known)
        for job_id, keys in asked.items():
            found = intake.find_known(self._transaction, job_id, sorted(keys)) if keys else {}
            planned[job_id] = memory.learn(job_id, found.values())
        plain = []
        for entry in entries:
            job_id = entry.page.job_id
            fresh = self._fresh(entry.job.settle, job_id, planned[job_id], origin_ids)
            if fresh is not None:
                entry.new = fresh
                planned[job_id].update(memory.learn(job_id, fresh))
                plain.append(entry)
        return plain

    def _fresh(
        self, one: Settle, job_id: int, planned: Mapping[int, KnownPage], origin_ids: Mapping[str, int]
    ) -> list[NewPage] | None:
        """The new pages among those an attempt found; None where one of them is not plain."""
        known = self._transaction.memory.pages_of(job_id)
        fresh: dict[int, NewPage] = {}
        for page in one.new_pages:
            stands = planned.get(page.url_hash) or known.get(page.url_hash)
            if page.force or page.url_hash in fresh or (stands is None and page.origin not in origin_ids):
                return None
            if stands is None:
                fresh[page.url_hash] = page
            elif stands.learns_of(page):
                return None
        return list(fresh.values())

    def _hrefs(self, entries: Iterable[_Entry]) -> dict[int, str]:
        """The URLs, by hash, whose ids are not known; note the hashes of where the links of attempts lead."""
        named, known = dict[int, str](), self._transaction.memory.url_ids
        for entry in entries:
            one = entry.job.settle
            named.update(hashes([one.attempt.url, *(request.url for request in one.attempt.requests)]))
            named.update((page.url_hash, clean(page.url)) for page in entry.new)
            links = one.links or ()
            entry.targets = [link.url.hash for link in links]
            if unknown := set(entry.targets).difference(known):
                named.update((link.url.hash, link.url.href) for link in links if link.url.hash in unknown)
        return named

    def _insert_pages(
        self, entries: Iterable[_Entry], origin_ids: Mapping[str, int], depths: Mapping[int, int | None]
    ) -> None:
        rows, pending = [], Counter[tuple[int, int]]()
        for entry in entries:
            attempt, job_id = entry.job.settle.attempt, entry.page.job_id
            source = intake.Source(job_id, attempt.page_id, attempt.ended_at)
            for page in entry.new:
                origin_id, beyond = origin_ids[page.origin], is_beyond(page.depth, depths.get(job_id))
                rows.append(intake.new_row(page, origin_id, self._claim, source, self._ids, beyond))
                self._moves.added[origin_id] += 1
                pending[origin_id, job_id] += not beyond
        for key, count in pending.items():
            self._add(*key, Tally(count))
        self._transaction.insert(intake.insert_pages, rows)

    def _log(self, entries: Sequence[_Entry]) -> list[int]:
        """The crawl log and what is counted of it; the ids of the attempts in the order of the entries."""
        transaction, ids = self._transaction, self._ids
        rows = [
            crawl_log.attempt_row(self._claim, entry.job.settle.attempt, entry.row, ids, len(entry.new))
            for entry in entries
        ]
        attempt_ids = sorted(row[0] for row in transaction.insert_returning(crawl_log.insert_attempts, rows))
        requests, results, refused = [], [], Counter[tuple[int, str]]()
        samples: dict[tuple[int, str], str] = {}
        for entry, attempt_id in zip(entries, attempt_ids, strict=True):
            one = entry.job.settle
            requests += [crawl_log.request_row(request, attempt_id, ids) for request in one.attempt.requests]
            results += [crawl_log.result_row(result, attempt_id) for result in one.attempt.results]
            for no in one.refused:
                refused[(entry.row.id, no.reason)] += no.count
                samples.setdefault((entry.row.id, no.reason), clean(no.sample_url))
        transaction.insert(crawl_log.insert_requests, requests)
        transaction.insert(crawl_log.insert_results, results)
        transaction.insert(crawl_log.add_refused, [(*key, count, samples[key]) for key, count in refused.items()])
        logged = [CountedAttempt(entry.row.id, entry.page.job_id, entry.job.settle.attempt) for entry in entries]
        count_attempts(transaction, self._claim, logged)
        return attempt_ids

    def _update_pages(self, entries: Sequence[_Entry], attempt_ids: Sequence[int]) -> None:
        rows = []
        for entry, attempt_id in zip(entries, attempt_ids, strict=True):
            outcome, page = entry.outcome, entry.page
            rows.append(settle.page_values(self._claim, page, outcome, attempt_id))
            self._add(entry.row.id, page.job_id, page.tally_after(outcome).minus(page.tally()))
        self._keeper.ended((entry.page.ended(), entry.outcome) for entry in entries)
        canonicals.attempted(self._transaction, [(one.outcome, one.job.settle) for one in entries])
        self._transaction.run_each(settle.update_page, rows, "page_id")

    def _write_origins(self, entries: Sequence[_Entry]) -> None:
        changes, added, attempted = self._moves.changes, self._moves.added, list[OriginChange]()
        for entry in entries:
            one, origin_id = entry.job.settle, entry.row.id
            left_todo, requests = int(entry.page.todo_order > 0), len(one.attempt.requests)
            counted = Counted(-left_todo, added.pop(origin_id, 0), requests, one.attempt.bytes, 1)
            change = changes.pop(origin_id, Tally())
            attempted.append(OriginChange(entry.row, one.origin, change, counted, one.attempt))
        for entry, now in zip(entries, origins.write_attempted(self._transaction, attempted), strict=True):
            found = Counter(page.origin for page in entry.new)
            entry.answer = Settled(tuple(sorted(found.items())), *now)

    def _store_content(self, entries: Iterable[_Entry]) -> None:
        """Only pages that had an attempt before may have had a document, links and redirects."""
        stored, links, sent_nowhere, gone = list[Any](), list[documents.LinkRow](), list[int](), list[int]()
        documents_again, links_again = list[int](), list[int]()
        for entry in entries:
            one, outcome, again = entry.job.settle, entry.outcome, entry.page.last_attempt_id > 0
            at, page = outcome.crawled_at, [outcome.page_id] if again else []
            if one.document is not None:
                stored.append((one.document, entry.job.packed, at))
                documents_again += page
            if one.links is not None:
                to_urls = (self._ids[key] for key in entry.targets)
                links += documents.link_rows(outcome.page_id, one.links, to_urls, at)
                links_again += page
            if outcome.contentful:
                sent_nowhere += page
            if outcome.unlinks and not entry.page.unscanned:
                gone += page
        documents.store_documents(self._transaction, stored, documents_again, self._keeper)
        documents.store_links(self._transaction, links, links_again, self._keeper)
        documents.drop_redirects(self._transaction, sent_nowhere, self._keeper)
        documents.drop_links(self._transaction, gone, self._keeper)

    def _add(self, origin_id: int, job_id: int, change: Tally) -> None:
        self._moves.add(origin_id, change)
        self._by_job[job_id] = self._by_job[job_id].plus(change)


_origins = reads_among(
    Origin.origin, *columns(Origin, "origin id delay_ms paused participates finish_reason epoch free session_id")
)
_page_states = builds_among(
    Page.select(Page.id, *settle.STATE, Job.max_depth).join(Job, on=(Job.id == Page.job)), Page.id
)
