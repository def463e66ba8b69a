"""What pages name, put through the filters and the seen index: the URLs of the next segments, and what was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tui_crawler.domain.admission import Admission
from tui_crawler.domain.attempt import LinkKind, RefusedCount
from tui_crawler.domain.intake import Find, Intake, admit
from tui_crawler.domain.segment import SegmentPage
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, CrawlUrl, InvalidUrl, normalise
from tui_crawler.storage.scan_windows import Named, Parent
from tui_crawler.storage.seen import SeenIndex
from tui_crawler.storage.sorter import Sorter

_REMEMBERED = 16_384  # URLs that were parsed: navigation repeats itself


class Harvest:
    """Collects in `sorter`. `admissions` are the filters by id of job, `pages_known` how many pages each origin has.

    `found` counts the URLs named, each of which is refused, `known`, or in the sorter.
    """

    def __init__(
        self,
        sorter: Sorter,
        seen: SeenIndex,
        admissions: Mapping[int, Admission],
        kinds: frozenset[LinkKind],
        pages_known: Mapping[str, int],
    ) -> None:
        self._sorter = sorter
        self._seen = seen
        self._pages_known = Counter(pages_known)
        self._intakes = {
            job_id: Intake(admission, kinds, self._pages_known) for job_id, admission in admissions.items()
        }
        self._refused: dict[tuple[int, str], RefusedCount] = {}
        self._urls: dict[str, CrawlUrl | InvalidUrl] = {}
        self.scanned = 0
        self.found = 0
        self.known = 0

    @property
    def refused(self) -> int:
        """How many URLs a filter has refused."""
        return sum(one.count for one in self._refused.values())

    def refused_by_origin(self) -> dict[int, list[RefusedCount]]:
        """What was refused, under the id of the origin of the page that named it."""
        found: dict[int, list[RefusedCount]] = {}
        for (origin_id, _), one in sorted(self._refused.items()):
            found.setdefault(origin_id, []).append(one)
        return found

    def count(self, origins: Iterable[str]) -> None:
        """One page more of each origin named: those that wait in segments."""
        self._pages_known.update(origins)

    def take(
        self, parents: Sequence[Parent], linked: Mapping[int, list[Named]], sent: Mapping[int, list[Named]]
    ) -> None:
        """What these pages name: links and redirects by id of page. A page is taken once."""
        known = self._known(parents, linked, sent)
        for parent in parents:
            page = parent.page
            if not self._sorter.visit(page.page_id, parent.read_at, document=parent.document):
                continue
            self.scanned += 1
            finds = [
                *self._finds(parent, linked, depth=page.depth + 1),
                *self._finds(parent, sent, depth=page.depth, hops=page.redirect_hops + 1, sitemap=page.sitemap),
            ]
            queue = admit(finds, page, self._intakes[page.job_id])
            for refused in queue.refused:
                self._refuse(parent, refused)
            self.found += len(queue.pages)
            for new in queue.pages:
                if new.url_hash in known[page.job_id] or not self._sorter.add(page.job_id, SegmentPage(new, page.url)):
                    self.known += 1
                else:
                    self._pages_known[new.origin] += 1

    def _known(self, parents: Iterable[Parent], *named: Mapping[int, list[Named]]) -> dict[int, set[int]]:
        """Of all URLs named here the hashes that are known, by id of job."""
        keys: dict[int, set[int]] = {}
        for parent in parents:
            of_job = keys.setdefault(parent.page.job_id, set())
            for by_page in named:
                of_job.update(one.key for one in by_page.get(parent.page.page_id, ()))
        return {job_id: self._seen.known(job_id, sorted(of_job)) for job_id, of_job in keys.items()}

    def _finds(
        self, parent: Parent, named: Mapping[int, list[Named]], depth: int, hops: int = 0, *, sitemap: bool = False
    ) -> Iterator[Find]:
        for one in named.get(parent.page.page_id, ()):
            url = self._url(one.href)
            if isinstance(url, InvalidUrl):  # a version with other rules for URLs stored it
                self._refuse(parent, RefusedCount("invalid_url", 1, one.href))
            else:
                yield Find(url, depth, hops, sitemap)

    def _refuse(self, parent: Parent, refused: RefusedCount) -> None:
        self.found += refused.count
        key = (parent.origin_id, refused.reason)
        before = self._refused.get(key)
        if before is None:
            self._refused[key] = refused
        else:
            self._refused[key] = RefusedCount(refused.reason, before.count + refused.count, before.sample_url)

    def _url(self, href: str) -> CrawlUrl | InvalidUrl:
        url = self._urls.get(href)
        if url is None:
            if len(self._urls) >= _REMEMBERED:
                self._urls.clear()
            url = self._urls[href] = normalise(href, None, CLIENT_MAX_LENGTH)
        return url
