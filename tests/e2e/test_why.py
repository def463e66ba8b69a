"""`why` after real crawls of a loopback web: each kind of answer, with the line that decided, against what was done."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.e2e.served import rows, tui_crawler
from tui_crawler.domain.history.explanation import Answer, Explanation
from tui_crawler.domain.records.exit_code import BLOCKED, ExitCode
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.explain import Explainer

LINKS = (
    *("/site/page", "/site/gone", "/site/broken", "/site/admin/x", "/site/list?page=1", "/site/private/x"),
    *("/site/members/x", "/elsewhere", "/site/a/a/a/a", "/site/slides/1"),
)


class Web:
    """One site and another one it links to; `asked` are the paths that were requested of the first."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.servers = [self._serve(), self._serve()]
        self.site, self.other = (f"http://127.0.0.1:{server.server_port}" for server in self.servers)

    def _serve(self) -> ThreadingHTTPServer:
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web.asked.append(self.path)
                status, kind, body = web.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def answer(self, path: str) -> tuple[int, str, bytes]:
        if path == "/robots.txt":
            return 200, "text/plain", b"User-agent: *\nDisallow: /site/private/\n"
        if path == "/site/":
            links = "".join(f'<a href="{link}">x</a>' for link in (*LINKS, f"{self.other}/far"))
            return 200, "text/html", f"<!doctype html><title>t</title>{links}".encode()
        if path in {"/site/page", "/site/fresh"}:
            return 200, "text/html", b"<!doctype html><title>t</title>"
        return (500 if path == "/site/broken" else 404), "text/plain", b"no"

    def close(self) -> None:
        for server in self.servers:
            server.shutdown()
            server.server_close()


@dataclass(frozen=True)
class Crawled:
    """The database after two runs, and the web that was crawled."""

    database: Path
    web: Web

    def why(self, path: str) -> Explanation:
        url = path if "://" in path else self.web.site + path
        with closing(Reports(self.database)) as reports:
            run = reports.run()
            return Explainer(reports, zone=UTC, you="tester").explain(url, run.finished_at + 1)


CONFIG = """\
seeds: [{seeds}]
sites: [{{origin: "{site}", start_path: /site/}}]
user_agent: "why-crawler (for https://example.org/why)"
delay: {{model: fixed, default: 0, floor: 0, allow_impolite: true}}
policies: {{do_not_crawl: [{{path: {{prefix: /site/admin/}}}}]}}
exclusions: [{{pattern: /members/, reason: they asked, who: ann}}]
rules: [{{match: /slides/, skip: true}}]
"""


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """Two runs: what the first one has crawled is not due in the second, which has a seed more."""
    folder = tmp_path_factory.mktemp("why")
    config, web = folder / "why.yaml", Web()
    for seeds in (("/site/",), ("/site/", "/site/fresh")):
        named = ", ".join(f'"{web.site}{seed}"' for seed in seeds)
        config.write_text(CONFIG.format(seeds=named, site=web.site), encoding="utf-8")
        done = tui_crawler("run", str(config), "--quiet", "--new-run")
        assert done.returncode == 0, done.stderr
    yield Crawled(folder / "why.db", web)
    web.close()


KINDS = [
    ("/site/fresh", Answer.crawled, "file_ingested", "due", "crawl.recrawl_interval"),
    ("/site/gone", Answer.failed, "file_not_found", "", ""),
    ("/site/broken", Answer.retry_pending, "server_internal_error", "due", "ignore list"),
    ("/site/page", Answer.not_due, "file_ingested", "due", "crawl.recrawl_interval"),
    ("/site/admin/x", Answer.policy, "blocked_url_by_local_policy", "do_not_crawl", "why.yaml:5"),
    ("/site/list?page=1", Answer.query_policy, "blocked_url_by_local_policy", "query_policy", ""),
    ("/site/private/x", Answer.robots, "blocked_by_robots_txt", "robots", "robots.txt:2"),
    ("/site/members/x", Answer.exclusion, "", "exclusion", "why.yaml:6"),
    ("/elsewhere", Answer.out_of_scope, "", "start_path", "sites, line 2 of the configuration"),
    ("OTHER/far", Answer.other_origin, "", "scope", "seeds, line 1 of the configuration"),
    ("/site/a/a/a/a", Answer.trap, "", "trap_repeat", "trap guard"),
    ("/site/never", Answer.never_seen, "", "", ""),
    ("/site/slides/1", Answer.rule, "skipped_by_rule", "rule_skip", "why.yaml:7"),
]


@pytest.mark.parametrize(("path", "answer", "code", "stage", "source"), KINDS)
def test_each_kind(path: str, answer: Answer, code: str, stage: str, source: str, crawl: Crawled) -> None:
    said = crawl.why(path.replace("OTHER", crawl.web.other))
    assert said.answer is answer, said.sentence
    assert said.exit_code == code or (not code and not said.known)
    if stage:
        (step,) = [step for step in said.steps if step.stage == stage]
        assert step.verdict == "refuse"
        assert step.source.endswith(source)


def test_no_query_policy_is_told_in_plain_words_with_what_to_add(crawl: Crawled) -> None:
    said = crawl.why("/site/list?page=1")
    assert "no url_query_parameters policy is configured, so every URL with a query is refused" in said.sentence
    assert said.advice == (
        'add policies: {url_query_parameters: [{match: {path: {prefix: "/site/list"}}, allow: ["page"]}]}'
    )


def test_the_path_from_the_seed(crawl: Crawled) -> None:
    for path in ("/site/page", "/site/gone", "OTHER/far", "/elsewhere", "/site/a/a/a/a"):
        url = path.replace("OTHER", crawl.web.other) if "OTHER" in path else crawl.web.site + path
        (hop,) = crawl.why(url).provenance
        assert (hop.from_url, hop.to_url, hop.kind, hop.depth) == (f"{crawl.web.site}/site/", url, "a", 1)


def test_what_was_refused_as_a_link_is_counted(crawl: Crawled) -> None:
    for path in ("/elsewhere", "/site/a/a/a/a", "/site/members/x"):
        assert f"of {crawl.web.site} refused so)" in crawl.why(path).sentence


def test_the_answer_is_what_the_crawl_has_logged(crawl: Crawled) -> None:
    """Of every page: the exit code of the answer is that of its last attempt, and blocked ones were never asked for."""
    pages = list(rows(crawl.database, "SELECT url, last_exit_code FROM v_page"))
    assert len(pages) > 8
    for page in pages:
        said = crawl.why(page["url"])
        assert (said.known, said.exit_code) == (True, page["last_exit_code"])
        if ExitCode[page["last_exit_code"]] in BLOCKED:
            assert page["url"].removeprefix(crawl.web.site) not in crawl.web.asked
            assert said.steps[-1].verdict == "refuse"


def test_the_command(crawl: Crawled) -> None:
    url = f"{crawl.web.site}/site/private/x"
    done = tui_crawler("why", url, "--db", str(crawl.database), "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert (document["verdict"], document["exit_code"]) == ("robots", "blocked_by_robots_txt")
    assert [each["exit_code"] for each in document["attempts"]] == ["blocked_by_robots_txt"]
    assert document["attempts"][0]["ruleset_id"] == 1
