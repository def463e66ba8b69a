"""Keys that are accepted and checked but that this version does not carry out: told, never silently passed over."""

from __future__ import annotations

from dataclasses import replace

from tui_crawler.config.schema import Config
from tui_crawler.config.sections import QueueConfig, SeenIndexConfig, WorkerConfig


def blocking(config: Config) -> tuple[str, ...]:
    """Settings without which the crawl would be another one than asked for: a start is refused."""
    found = []
    if config.jobs:
        found.append("jobs: this version crawls one job, the one named after the configuration")
    if config.crawl.mode != "online":
        found.append("crawl.mode: this version has no offline mode yet")
    if config.database.is_postgresql:
        found.append("database: this version keeps crawls in SQLite only")
    return tuple(found)


def without_effect(config: Config) -> tuple[str, ...]:
    """Settings that differ from their defaults and have no effect yet."""
    found = []
    if config.data_rules:
        found.append("data_rules")
    if config.crawl.sitemaps and config.source_of("crawl.sitemaps") != "default":
        found.append("crawl.sitemaps")
    if config.seen_index != SeenIndexConfig():
        found.append("seen_index")
    if config.queue != QueueConfig():
        found.append("queue")
    if replace(config.worker, name=None, slots=None) != WorkerConfig():
        found.append("worker.tags and worker.matchonly")
    return tuple(found)
