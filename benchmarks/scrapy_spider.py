"""The same crawl with Scrapy: `python scrapy_spider.py good|naive ITEMS.jsonl SEED…`; needs scrapy and uvloop.

Every page with its title and its links, with their texts, is written as JSON lines, the lightest thing that Scrapy has
for it. Links are followed within the origin. No delay, one request at a time to each origin, as many origins at once as
there are. `good` is written as an experienced user writes it when speed counts: one pass over the parsed tree, a set of
known URLs so that a request is made once for a URL, uvloop. `naive` makes a selector and a request for every link.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess


class NaivePages(scrapy.Spider):
    """Follows every link of its origins; Scrapy's own filter drops the requests for known URLs."""

    name = "naive"

    def __init__(self, seeds: list[str]) -> None:
        super().__init__()
        self.start_urls = seeds
        self._origins = {urlsplit(seed).netloc for seed in seeds}

    def parse(self, response: Any) -> Iterator[Any]:
        """Yield the item of one page and a request for each of its links."""
        links = [(response.urljoin(one.attrib["href"]), one.xpath("string()").get()) for one in response.css("a[href]")]
        yield self._item(response, response.css("title::text").get(), links)
        for url, _ in links:
            if urlsplit(url).netloc in self._origins:
                yield scrapy.Request(url)

    def _item(self, response: Any, title: str | None, links: list[tuple[str, str]]) -> dict[str, object]:
        return {
            "url": response.url,
            "status": response.status,
            "title": title,
            "size": len(response.body),
            "links": links,
        }


class GoodPages(NaivePages):
    """The same in one pass over the tree, with a request only for URLs that are new."""

    name = "good"

    def __init__(self, seeds: list[str]) -> None:
        super().__init__(seeds)
        self._seen = set(seeds)

    def parse(self, response: Any) -> Iterator[Any]:
        """Yield the item of one page and a request for each URL that no page has named before."""
        base, root = response.url, response.selector.root
        links = [(urljoin(base, one.get("href")), "".join(one.itertext())) for one in root.iterfind(".//a[@href]")]
        yield self._item(response, root.findtext(".//title"), links)
        for url, _ in links:
            if url not in self._seen:
                self._seen.add(url)
                if urlsplit(url).netloc in self._origins:
                    yield scrapy.Request(url, dont_filter=True)


def main() -> None:
    """Crawl."""
    kind, items, *seeds = sys.argv[1:]
    spider = {"good": GoodPages, "naive": NaivePages}[kind]
    process = CrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": len(seeds),
            "CONCURRENT_REQUESTS_PER_DOMAIN": len(seeds),
            "DOWNLOAD_DELAY": 0,
            "FEEDS": {items: {"format": "jsonlines", "overwrite": True}},
            "TELNETCONSOLE_ENABLED": False,
            "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
            "ASYNCIO_EVENT_LOOP": "uvloop.Loop" if spider is GoodPages else None,
        }
    )
    process.crawl(spider, seeds=seeds)
    process.start()


if __name__ == "__main__":
    main()
