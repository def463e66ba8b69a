"""A decision trace that stands still, for any URL: refused by robots.txt when its path begins with /private."""

from __future__ import annotations

from tests.console.sample_crawl import API, MINUTE, NOW, attempt
from tui_crawler.console.ports import Reports
from tui_crawler.domain.history.explanation import Answer, Explanation
from tui_crawler.domain.records.page_view import Hop
from tui_crawler.domain.rules.verdict import Step

KNOWN = f"{API}/v2/items?page=18"


def explanation(url: str = KNOWN) -> Explanation:
    """The page that waits for its next try; what is private is refused, anything else was never seen."""
    refused = "/private" in url
    known = not refused and url.startswith(API)
    robots = Step("robots", "pass", "line 7 Allow: /v2/, fetched 2026-01-05 10:29:07", "robots.txt:7")
    if refused:
        robots = Step("robots", "refuse", "Disallow: /private/ is the longest match", "robots.txt:5")
    sentence = "it failed and is tried again: no response head within 30.0 s, 2026-01-05 10:41:07; 2 more tries"
    answer = Answer.retry_pending if known else Answer.never_seen
    if refused:
        answer, sentence = Answer.robots, "never seen, and would be refused: Disallow: /private/ is the longest match"
    steps = (
        Step("normalise", "pass", "as written"),
        Step("origin", "pass", f"{API}: a request is in flight"),
        Step("scope", "pass", "the origin of a seed", "seeds, line 1 of the configuration"),
        Step("start_path", "pass", "below /"),
        Step("exclusion", "pass", "none of 2 exclusions matches"),
        Step("trap_repeat", "pass", "no segment repeats"),
        Step("trap_depth", "pass", "3 of 20 segments"),
        Step("rule_accept", "pass", "no accept rule"),
        Step("item_pattern", "unknown" if not known else "pass", "depends on the page that links to it"),
        Step("do_not_crawl", "pass", "none of 2 entries matches"),
        Step("query_policy", "pass", "it allows page", "my.yaml:18"),
        robots,
        *(
            (
                Step("known", "pass", "a page"),
                Step("tries", "pass", "3 tries made, 2 left"),
                Step("due", "refuse", "not before 2026-01-05 10:43:07 (in 2 minutes)", "not_before"),
            )
            if known
            else (Step("known", "refuse", "no page of job my-index, and no crawled page links to it"),)
        ),
        Step("verdict", "unknown" if known else "refuse", sentence),
    )
    return Explanation(
        url=url,
        normalized=url,
        known=known,
        job="my-index",
        answer=answer,
        sentence=sentence,
        advice="" if known else "tui-crawler add URL makes it a seed",
        exit_code="request_timeout" if known else "blocked_by_robots_txt" if refused else "",
        steps=steps,
        provenance=(
            (
                Hop(f"{API}/", f"{API}/v2/", "a", 1),
                Hop(f"{API}/v2/", f"{API}/v2/items?page=17", "a", 2),
                Hop(f"{API}/v2/items?page=17", url, "a", 3),
            )
            if known
            else ()
        ),
        attempts=(attempt(400, url, "request_timeout", http_status=None, message="no response head within 30.0 s"),)
        if known
        else (),
        due_at=NOW + 2 * MINUTE if known else None,
        queue_position=4 if known else None,
        ruleset_id=13,
    )


class SampleExplainer:
    """Answers with the sample."""

    def __init__(self, reports: Reports) -> None:
        self.reports = reports

    def explain(self, written: str, now: int, job: str = "") -> Explanation:
        return explanation(written)
