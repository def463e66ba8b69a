"""What tests read of a database, by the reports that the product reads by."""

from __future__ import annotations

from tui_crawler.domain.records.attempt import DataValue, Validation
from tui_crawler.domain.records.page_view import LinkView, PageView
from tui_crawler.domain.rules.page_filter import PageFilter
from tui_crawler.storage.reports.reports import Reports


def pages_of(reports: Reports, origin: str = "", limit: int = 1_000) -> tuple[PageView, ...]:
    """Pages by age; of all origins for an empty name."""
    found = reports.page_window(PageFilter(), 0, limit, False).pages
    return tuple(page for page in found if origin in {"", page.origin})


def links_of(reports: Reports, url: str, limit: int = 200) -> tuple[tuple[LinkView, ...], tuple[LinkView, ...]]:
    """Inlinks and outlinks of a URL, up to `limit` of each."""
    return tuple(reports.inlinks(url, limit)), tuple(reports.outlinks(url, limit))


def validation_of(reports: Reports, url: str) -> Validation | None:
    """What a validator said of the document of a page."""
    detail = reports.page_detail(url, 0)
    return None if detail is None else detail.validation


def data_of(reports: Reports, url: str) -> tuple[DataValue, ...]:
    """What data rules found in the document of a page."""
    detail = reports.page_detail(url, 0)
    return () if detail is None else detail.data
