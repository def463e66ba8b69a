"""What is accepted and checked but not carried out by this version: told, never silently passed over."""

from __future__ import annotations

from tui_crawler.config.schema import Config


def blocking(config: Config) -> tuple[str, ...]:
    """Settings without which the crawl would be another one than asked for: a start is refused."""
    if config.database.is_postgresql:
        return ("database: this version keeps crawls in SQLite only",)
    return ()
