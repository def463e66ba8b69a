"""Why a URL was (not) crawled, asked of a database: joins rules, configuration, robots.txt and where the URL stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from tui_crawler.domain.history.explanation import Explanation, Question, explain
from tui_crawler.domain.records.exit_code import AttemptKind
from tui_crawler.domain.records.status import OriginPhase, RobotsStatus
from tui_crawler.domain.rules.admission import Admission
from tui_crawler.domain.rules.robots import ALLOW_ALL, parse_robots, product_token
from tui_crawler.domain.rules.verdict import Step
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, CrawlUrl, InvalidUrl, normalise
from tui_crawler.wiring.origin_settings import JobRules, admission_of, located, rules_in_force, stored_config

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.domain.records.page_view import RefusedView
    from tui_crawler.domain.records.view import OriginView, RunView
    from tui_crawler.domain.rules.robots import RobotsRules
    from tui_crawler.storage.reports.reports import Reports

_NO_CONFIG = Step("configuration", "unknown", "the database keeps none: scope and limits are the defaults", "default")


class Explainer:
    """Explains URLs of one database; keeps the rules it has compiled between two questions. Not thread-safe, as the
    reports are not. `you` is the name under which this operator pauses."""

    def __init__(self, reports: Reports, *, zone: tzinfo = UTC, you: str = "") -> None:
        self._reports, self._zone, self._you = reports, zone, you
        self._kept: tuple[tuple[JobRules, Config], Admission] | None = None

    def explain(self, written: str, now: int, job: str = "") -> Explanation:
        """Why `written` was (not) crawled, at `now` (epoch ms): in the job named, else in the one that knows it. Raises
        StorageFailure, NoSuchJob."""
        reports = self._reports
        url, run = normalise(written, None, CLIENT_MAX_LENGTH), reports.run()
        standing, config = reports.standing(written, job), self.config(run)
        forced_by = "crawl.force_recrawl" if config.crawl.force_recrawl else "crawl.recheck"
        schedule = replace(standing.schedule, over=run is not None and run.over, forced_by=forced_by)
        standing = replace(standing, schedule=schedule)
        rules = rules_in_force(reports, standing.page.job if standing.page else job)[0]
        origin = reports.origin(url.origin) if isinstance(url, CrawlUrl) else None
        admission = self._compiled(rules, config)
        if origin is not None and origin.state != OriginPhase.idle:
            admission = admission.with_origin(origin.origin, reports.origins_added().get(origin.origin, ""))
        refused: tuple[RefusedView, ...] = ()
        if not standing.page:  # counters of refused links: the URL is their sample, or their pages name it
            href = url.raw if isinstance(url, InvalidUrl) else url.href
            names = {each.from_origin for each in standing.referrals}
            refused = tuple(row for row in reports.refused() if row.sample_url == href or row.origin in names)
        rules_of_robots = None
        if origin is not None and isinstance(url, CrawlUrl):
            origin, rules_of_robots = self._robots(config, admission, url, origin, run)
        question = Question(
            written,
            url,
            admission,
            standing,
            rules=rules_of_robots,
            origin=origin,
            run=run,
            refused=refused,
            link_kinds_queued=frozenset(kind.value for kind in config.crawl.page_kinds),
            offline=config.crawl.mode == "offline",
            ruleset_id=rules.ruleset_id,
            now=now,
            zone=self._zone,
            you=self._you,
        )
        found = explain(question)
        steps = (replace(step, source=located(step.source, config)) for step in found.steps)
        return replace(found, steps=(*steps,) if config.text else (_NO_CONFIG, *steps))

    def config(self, run: RunView | None) -> Config:
        """The configuration of the newest run."""
        return stored_config(self._reports.config_text(), run)

    def _compiled(self, rules: JobRules, config: Config) -> Admission:
        if self._kept is None or self._kept[0] != (rules, config):
            configured = admission_of(config)
            self._kept = (rules, config), Admission(rules.policies, configured.scope, configured.limits)
        return self._kept[1]

    def _robots(
        self, config: Config, admission: Admission, url: CrawlUrl, origin: OriginView, run: RunView | None
    ) -> tuple[OriginView, RobotsRules | None]:
        """An origin with why its robots.txt came to nothing, and the rules that hold for this URL: a rule may give it a
        user agent of its own, whose group counts then."""
        if origin.robots_status == RobotsStatus.unavailable:
            answered = origin.robots_http_status is not None
            attempts = () if answered else self._reports.standing(f"{origin.origin}/robots.txt").attempts
            message = next((each.message for each in attempts if each.kind == AttemptKind.robots), "")
            return replace(origin, robots_message=message), ALLOW_ALL
        is_parsed = origin.robots_status == RobotsStatus.parsed
        body = self._reports.robots_text(origin.origin) if is_parsed else None
        if body is None:
            return origin, None
        agent = admission.settings(url).ua or (run.user_agent if run else config.user_agent)
        return origin, parse_robots(body, product_token(agent), config.robots.max_bytes)
