"""The same crawl with Scrapy: `python scrapy_spider.py ITEMS.jsonl SEED…`, in an environment that has Scrapy.

Every page with its title and its links goes to a file of JSON lines, the lightest thing Scrapy has for it; links are
followed within the origin. No delay, one request at a time to each origin, as many origins at once as there are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess


class Pages(scrapy.Spider):
    """Follows every link of its origins."""

    name = "pages"

    def __init__(self, seeds: list[str]) -> None:
        super().__init__()
        self.start_urls = seeds
        self._origins = {urlsplit(seed).netloc for seed in seeds}

    def parse(self, response: Any) -> Iterator[Any]:
        """One page."""
        links = [(response.urljoin(one.attrib["href"]), one.xpath("string()").get()) for one in response.css("a[href]")]
        yield {
            "url": response.url,
            "status": response.status,
            "title": response.css("title::text").get(),
            "size": len(response.body),
            "links": links,
        }
        for url, _ in links:
            if urlsplit(url).netloc in self._origins:
                yield scrapy.Request(url)


def main() -> None:
    """Crawls."""
    items, seeds = sys.argv[1], sys.argv[2:]
    process = CrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": len(seeds),
            "CONCURRENT_REQUESTS_PER_DOMAIN": len(seeds),
            "DOWNLOAD_DELAY": 0,
            "FEEDS": {items: {"format": "jsonlines", "overwrite": True}},
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Pages, seeds=seeds)
    process.start()


if __name__ == "__main__":
    main()
