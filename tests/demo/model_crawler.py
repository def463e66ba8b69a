"""A model of origin crawlers (docs/behaviour.md) in virtual time, over the demo's responders: no socket, no waiting.

It knows just enough of the specification to foresee how a crawl of the demo web ends, and when.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any

import ada_url
from protego import Protego
from ruamel.yaml import YAML

from tui_crawler.demo.pages import SITE_NAMES, build_sites
from tui_crawler.demo.process import USER_AGENT, demo_config
from tui_crawler.demo.responses import DemoRequest, Ending, Reset, Responder, Response

_TOKEN = USER_AGENT.split(" ")[0]
_ORIGINS = {name: f"http://127.0.0.1:{18081 + number}" for number, name in enumerate(SITE_NAMES)}
_NETWORK_MS = 4
_FORGIVING = {20, 29, 31, 32, 34, 210, 211}
_COSTLY = {42, 50, 100, 101, 102}
_RETRIED = {49, 100, 101, 102}
_LAST = {20, 29, 31, 32, 34, 41, 44, 200, 201, 202, 210, 211, 220, 221}


@dataclass
class _Known:
    order: int
    hops: int = 0
    attempts: int = 0
    remaining: int = 3
    ignored: bool = False


@dataclass
class OriginEnd:
    """How one origin ended: its exit codes, requests (flukes counted), finish reason, patience, time in ms."""

    codes: Counter[int] = field(default_factory=Counter)
    robots_codes: Counter[int] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    requests: int = 0
    reason: str = ""
    patience: int = 5
    known: int = 0
    pending: int = 0
    ended_ms: float = 0
    reopened: int = 0
    flukes: int = 0


class _Reader(HTMLParser):
    """Collects what a crawler follows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.canonical: str | None = None
        self.directives: set[str] = set()
        self.refresh: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {key: value or "" for key, value in attrs}
        match tag:
            case "a" if "href" in named and "nofollow" not in named.get("rel", ""):
                self.links.append(named["href"])
            case "link" if named.get("rel") == "canonical":
                self.canonical = named["href"]
            case "meta" if named.get("name") in ("robots", _TOKEN):
                self.directives |= {part.strip() for part in named["content"].split(",")}
            case "meta" if named.get("http-equiv") == "refresh":
                self.refresh = named["content"].partition("url=")[2]


class ModelCrawl:
    """One whole crawl: `run` fills `ends` (by site name) and returns the virtual time of the end in ms."""

    def __init__(self, *, headless: bool, pace: float) -> None:
        config: Any = YAML(typ="safe").load(
            demo_config([f"{o}/" for o in _ORIGINS.values()], "d.db", headless=headless)
        )
        self.config = config
        self.floor_ms = _milliseconds(config["delay"]["floor"])
        self.pages_limit = config["crawl"]["max_pages_per_origin"]
        self.exclusion = re.compile(config["exclusions"][0]["pattern"])
        self.skip = re.compile(config["rules"][0]["match"])
        self.now = 0.0
        self.counter = 0
        sites = build_sites(_ORIGINS, pace)
        self.origins = {
            _ORIGINS[site.name]: _Origin(self, _ORIGINS[site.name], Responder(site, pace)) for site in sites
        }
        for url in config["seeds"]:
            self.discover(url, None, 0)

    @property
    def ends(self) -> dict[str, OriginEnd]:
        return {name: self.origins[origin].end for name, origin in _ORIGINS.items()}

    def run(self) -> float:
        while waiting := [origin for origin in self.origins.values() if not origin.end.reason]:
            origin = min(waiting, key=lambda one: one.next_at)
            self.now = max(self.now, origin.next_at)
            origin.take_turn()
        for origin in self.origins.values():
            origin.end.known = len(origin.known)
            origin.end.pending = sum(page.remaining > 0 for page in origin.known.values())
        return max(origin.end.ended_ms for origin in self.origins.values())

    def discover(self, url: str, finder: "_Origin | None", hops: int) -> None:
        refused = finder.end.refused if finder is not None else Counter()
        try:
            parsed = ada_url.URL(url)
        except ValueError:
            refused["invalid_url"] += 1
            return
        normal = parsed.href.partition("#")[0]
        origin = self.origins.get(parsed.origin)
        path = parsed.pathname
        segments = path.strip("/").split("/")
        if parsed.protocol not in ("http:", "https:") or parsed.username:
            refused["invalid_url"] += 1
        elif origin is None:
            refused["scope"] += 1
        elif self.exclusion.search(normal):
            refused["exclusion"] += 1
        elif max(Counter(segments).values()) > 3:
            refused["trap_repeat"] += 1
        elif len(segments) > 20:
            refused["trap_depth"] += 1
        elif hops > self.config["crawl"]["max_redirect_hops"]:
            refused["redirect_hops"] += 1
        elif normal in origin.known:
            pass
        elif len(origin.known) >= self.pages_limit:
            refused["origin_full"] += 1
        else:
            self.counter += 1
            origin.known[normal] = _Known(self.counter, hops)
            if origin.end.reason == "exhausted":
                origin.end.reason = ""
                origin.end.reopened += 1
                origin.next_at = max(origin.next_at, self.now)

    def is_query_refused(self, url: str) -> bool:
        policy = self.config["policies"]["url_query_parameters"][0]
        parsed = ada_url.URL(url)
        if not parsed.search:
            return False
        if not parsed.pathname.startswith(policy["match"]["path"]["prefix"]):
            return True
        fields = [part.partition("=")[::2] for part in parsed.search[1:].split("&")]
        return any(
            name not in policy["allow"] or re.search(policy["values"][name], value) is None for name, value in fields
        )


class _Origin:
    def __init__(self, crawl: ModelCrawl, origin: str, responder: Responder) -> None:
        self.crawl = crawl
        self.origin = origin
        self.responder = responder
        self.end = OriginEnd()
        self.known: dict[str, _Known] = {}
        self.todo: list[str] = []
        self.rules: Protego | None = None
        self.dead = False
        self.politeness = crawl.config["delay"]["start_politeness"]
        self.may_fall = True
        self.minimum_ms = _milliseconds(crawl.config["delay"]["default"])
        self.next_at = 0.0

    def take_turn(self) -> None:
        if self.end.patience == 0:
            self.finish("patience")
        elif self.rules is None:
            self.fetch_robots()
        else:
            if not self.todo:
                self.fill()
            if not self.todo:
                self.finish("exhausted")
            else:
                self.crawl_page(self.todo.pop(0))

    def finish(self, reason: str) -> None:
        self.end.reason = reason

    def fetch_robots(self) -> None:
        code, response = self.ask(self.origin + "/robots.txt")
        self.end.robots_codes[20 if code == 29 else code] += 1
        if response is not None and code in (20, 29):
            self.rules = Protego.parse(response.body.decode())
            delay = self.rules.crawl_delay(_TOKEN)
            if delay:
                self.minimum_ms = max(self.minimum_ms, delay * 1000)
                self.next_at = max(self.next_at, self.end.ended_ms + self.minimum_ms)
            for address in self.rules.sitemaps:
                self.crawl.discover(address, self, 0)

    def fill(self) -> None:
        ready = [
            (page.attempts, page.order, url) for url, page in self.known.items() if page.remaining and not page.ignored
        ]
        for _, _, url in sorted(ready):
            page = self.known[url]
            page.ignored = True
            code = self.judge(url)
            if code == 203:
                self.end.skipped += 1
                page.remaining = 0
            elif code:
                self.settle(url, code)
            else:
                self.todo.append(url)

    def judge(self, url: str) -> int:
        path = ada_url.URL(url).pathname
        if path.startswith("/admin/") or self.crawl.is_query_refused(url):
            return 201
        if self.crawl.skip.search(url):
            return 203
        assert self.rules is not None
        return 0 if self.rules.can_fetch(url, _TOKEN) else 200

    def crawl_page(self, url: str) -> None:
        code, response = self.ask(url)
        if response is not None:
            code = self.read(url, code, response)
        self.settle(url, code)

    def settle(self, url: str, code: int) -> None:
        page = self.known[url]
        self.end.codes[code] += 1
        page.attempts += 1
        page.remaining = 0 if code in _LAST else page.remaining - 1
        if code == 40:
            page.remaining = 0
        if code in _RETRIED or code == 503:
            page.ignored = page.remaining == 0

    def ask(self, url: str) -> tuple[int, Response | None]:
        """Return the exit code and the response; sets the next time as the delay rule says."""
        parsed = ada_url.URL(url)
        request = DemoRequest("GET", parsed.pathname + parsed.search)
        reply = None if self.dead else self.responder.respond(request)
        self.end.requests += 1
        if reply is None or isinstance(reply, Reset):
            self.end.flukes += 1
            self.end.requests += 1
            reply = None if self.dead else self.responder.respond(request)
        if not isinstance(reply, Response):
            self.after_response(1, 100, None)
            return 100, None
        self.dead = reply.dies
        code = _classify(reply, self.crawl.config["network"]["max_body_bytes"])
        retry_after = next((float(v) for k, v in reply.headers if k == "Retry-After"), None)
        self.after_response(reply.wait_ms + _NETWORK_MS, code, retry_after)
        return code, replace(reply, ending=Ending.COMPLETE) if code < 40 else None

    def after_response(self, response_ms: float, code: int, retry_after: float | None) -> None:
        if code == 49:
            self.politeness += 1
            self.may_fall = False
            self.minimum_ms *= 2
        delay = max(self.minimum_ms, response_ms * 2**self.politeness, self.crawl.floor_ms, (retry_after or 0) * 1000)
        if code in _FORGIVING and self.may_fall:
            self.politeness = max(0, self.politeness - 1)
        if code in _COSTLY or code == 503:
            self.end.patience -= 1
        self.end.ended_ms = self.crawl.now + response_ms
        self.next_at = self.end.ended_ms + delay

    def read(self, url: str, code: int, response: Response) -> int:
        hops = self.known[url].hops
        headers = dict(response.headers)
        if code in (31, 32):
            self.follow(url, headers["Location"], hops + 1)
        if headers.get("Content-Type") == "application/xml":
            for address in re.findall(r"<loc>(.*?)</loc>", response.body.decode()):
                self.crawl.discover(address, self, 0)
        if not headers.get("Content-Type", "").startswith("text/html") or code != 20:
            return code
        page = _Reader(
            response.body.decode("utf-16" if response.body[:2] == b"\xff\xfe" else "utf-8", errors="replace")
        )
        tag = headers.get("X-Robots-Tag", "")
        directives = page.directives | ({part.strip() for part in tag.split(",")} if ":" not in tag else set())
        canonical = page.canonical or (re.findall(r"<(.*?)>", headers["Link"])[0] if "Link" in headers else None)
        if canonical is not None and ada_url.join_url(url, canonical) != url:
            self.follow(url, canonical, hops + 1)
            return 210
        refresh = page.refresh or headers.get("Refresh", "").partition("url=")[2]
        if refresh:
            self.follow(url, refresh, hops + 1)
        if "nofollow" not in directives:
            for href in page.links:
                self.follow(url, href, 0)
        return 211 if "noindex" in directives else code

    def follow(self, base: str, href: str, hops: int) -> None:
        try:
            target = ada_url.join_url(base, href)
        except ValueError:
            self.end.refused["invalid_url"] += 1
            return
        self.crawl.discover(target, self, hops)


def _classify(response: Response, body_limit: str) -> int:
    headers = dict(response.headers)
    location = headers.get("Location")
    if response.ending is Ending.BROKEN_CHUNK:
        return 42
    if response.ending is Ending.TRUNCATED:
        return 102
    if len(response.body) > int(body_limit.removesuffix("MiB")) * 2**20:
        return 220
    match response.status:
        case 200:
            kind = headers["Content-Type"].partition(";")[0]
            return 20 if kind.startswith(("text/html", "text/css")) or kind.endswith("xml") else 29
        case 204:
            return 29
        case 300:
            return 32 if location else 29
        case 301 | 308 | 302 | 303 | 307:
            if location is None or (location.startswith("http://[::1") and "]" not in location):
                return 42
            return 31 if response.status in (301, 308) else 32
        case 404:
            return 44
        case 410:
            return 41
        case 429:
            return 49
        case 503:
            return 503
        case status if 400 <= status < 500:
            return 40
        case status if 500 <= status < 600:
            return 50
    return 42


def _milliseconds(text: str) -> float:
    return float(text[:-2]) if text.endswith("ms") else float(text[:-1]) * 1000
