"""Two runs of the sample crawl, compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from tests.console.sample_crawl import API, DOCS, NOW, WWW
from tui_crawler.domain.history.run_diff import (
    LinkDiff,
    OriginDiff,
    PageChange,
    PageDiff,
    PageVersion,
    RobotsDiff,
    RunPace,
    RunSpan,
    difference,
)
from tui_crawler.domain.records.failure import NotComparable
from tui_crawler.domain.records.page_view import LinkView

FOUND = PageVersion(20, 200, "b" * 64, "Deer", "", None)
STATES: dict[str, tuple[PageVersion, PageVersion]] = {
    "/": (FOUND, FOUND._replace(sha256="c" * 64, title="Deer, and more")),
    "/new": (FOUND._replace(exit_code=None, http_status=None, sha256=""), FOUND),
    "/gone": (FOUND, FOUND._replace(exit_code=44, http_status=404)),
    "/slow": (FOUND, FOUND._replace(exit_code=101, http_status=None)),
    "/moved": (FOUND, FOUND._replace(exit_code=31, http_status=301, sha256="", redirect=7)),
    "/items?page=1&sort=a\x1b[31m": (FOUND, FOUND._replace(sha256="d" * 64)),
}
BODIES = (
    b"<!doctype html>\n<title>Deer</title>\n<p>one\n<p>two\n<p>three\n",
    b"<!doctype html>\n<title>Deer, and more</title>\n<p>one\n<p>two, changed\x1b]52;c;x\x07\n<p>three\n",
)


def changes(origin: str, number: int) -> Iterator[PageChange]:
    for place, (path, (before, after)) in enumerate(STATES.items(), 1):
        found = difference(before, after, links=path == "/", unreached=False)
        yield PageChange(f"{origin}{path}", origin, found, before, after, False, (number, place))


class DiffReports:
    """What two runs found; `many` pages of the last origin differ."""

    many = 450

    def runs_compared(self, runs: Sequence[int] = ()) -> RunSpan:
        if 9 in runs:
            raise NotComparable("there is no run 9")
        return RunSpan(*(sorted(runs) if len(runs) == 2 else (6, 7)))

    def compared_origins(self) -> tuple[OriginDiff, ...]:
        return tuple(OriginDiff(one.origin, one.origin_id) for one in self.origin_diffs(RunSpan(6, 7)))

    def origin_diffs(self, span: RunSpan, origin_id: int = 0) -> tuple[OriginDiff, ...]:
        return (
            OriginDiff(API, 1, 14, 3, 20, 1_505, 4, 1),
            OriginDiff(DOCS, 2, same=9_021),
            OriginDiff(WWW, 3, changed=self.many, same=88_000),
        )

    def page_changes(
        self, span: RunSpan, origin_id: int = 0, after: tuple[int, int] = (0, 0), limit: int | None = None
    ) -> Iterator[PageChange]:
        if origin_id == 3:
            before, now = STATES["/"]
            found = difference(before, now, links=False, unreached=False)
            for place in range(after[1] + 1, min(self.many, after[1] + (limit or 1)) + 1):
                yield PageChange(f"{WWW}/p{place}", WWW, found, before, now, False, (3, place))
        elif origin_id == 1:
            yield from islice((one for one in changes(API, 1) if one.place > after), limit)

    def robots_diffs(self, span: RunSpan, origin_id: int = 0) -> Iterator[RobotsDiff]:
        yield RobotsDiff(API, ("@@ -1,2 +1,3 @@", " User-agent: *", " Disallow: /none", "+Disallow: /more"))

    def run_pace(self, run: int) -> RunPace | None:
        return RunPace(run, 1_542 + run, 71_000 + run, 18_000_000, 180 - run, run - 4)

    def page_diff(self, span: RunSpan, url: str, links: int) -> PageDiff | None:
        change = next((one for one in changes(API, 1) if one.url == url), None)
        new = tuple(LinkView(url, f"{API}/more/{number}", "a", False, f"more {number}", NOW) for number in range(3))
        gone = (LinkView(url, f"{DOCS}/old", "img", False, "", NOW),)
        linked = (LinkView(f"{WWW}/news", url, "a", False, "deer", NOW),)
        states = (change.before, change.after) if change else (FOUND, FOUND)
        moved = ("", f"{API}/there") if states[1].redirect else ("", "")
        ends = LinkDiff(new, gone), LinkDiff(linked, ())
        return PageDiff(url, change, states, moved, BODIES if "slow" not in url else (None, None), "utf-8", *ends)
