"""What became of seeds that were added, as the journal tells it. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tui_crawler.console.format import count, plural
from tui_crawler.domain.command import AddSeeds

if TYPE_CHECKING:
    from tui_crawler.console.journal_desk import News


def seeds_note(news: News) -> str:
    """How many of the pages are new, and how many were known; empty of all that adds no seeds."""
    pairs = zip(news.intent.commands, news.results, strict=False)
    return "; ".join(filter(None, (_words(result.after) for command, result in pairs if isinstance(command, AddSeeds))))


def _words(after: str) -> str:
    told = json.loads(after or "{}")
    added, known = (told.get(name) if isinstance(told, dict) else None for name in ("added", "known"))
    if not isinstance(added, int) or not isinstance(known, int):
        return ""
    new = f"{plural(added, 'page')} {'is' if added == 1 else 'are'} new"
    return f"{new}, {count(known)} {'was' if known == 1 else 'were'} known already" if known else new
