"""The configuration text with which the demo web is crawled: polite for the console, quick without it."""

from collections.abc import Sequence

USER_AGENT = "tui-crawler-demo-crawler (for http://127.0.0.1/)"
HEADLESS_PACE = 0.1

_POLITE_DELAY = """\
delay:
  default: 1s
  floor: 1s
  crawl_delay_cap: 30s
  retry_after_max: 30s
  start_politeness: 2
"""
_QUICK_DELAY = """\
delay:
  default: 20ms
  floor: 20ms
  crawl_delay_cap: 1s
  max: 5s
  retry_after_max: 5s
  start_politeness: 2
  allow_impolite: true    # every seed is a loopback address
"""


def demo_config(seeds: Sequence[str], database: str, *, headless: bool = False) -> str:
    """Return a YAML configuration that crawls `seeds` into `database` (a path).

    The console's variant keeps the usual second between requests and ends after about two minutes on a demo
    web of pace 1. `headless` has delays of 20 ms: on a demo web of HEADLESS_PACE it ends within half a minute.
    """
    listed = "".join(f"  - {_quote(seed)}\n" for seed in seeds)
    return f"""\
name: demo
description: The built-in demo web, ten small sites on loopback
user_agent: {_quote(USER_AGENT)}
database: {_quote(database)}
seeds:
{listed}\
crawl:
  max_in_flight: 10
  politeness_key: origin    # all sites share one host; each port is a site of its own
  tries: 3
  patience: 5
  max_pages_per_origin: 300
  max_redirect_hops: 3
{_QUICK_DELAY if headless else _POLITE_DELAY}\
network:
  connect_timeout: 5s
  read_timeout: 10s
  total_timeout: 20s
  max_body_bytes: 1MiB
policies:
  do_not_crawl:
    - path: {{prefix: /admin/}}
  url_query_parameters:     # a URL with a query that no policy allows is refused
    - match: {{path: {{prefix: /list}}}}
      allow: [page]
      values: {{page: '^\\d+$'}}
exclusions:
  - {{pattern: '/members/', reason: 'the tramway society asked to leave its members out'}}
rules:
  - {{match: '/slideshow/', skip: true}}
data_rules:
  - {{host: 127.0.0.1, name: photos, type: picture, css: 'img.photo::attr(src)'}}
"""


def _quote(text: str) -> str:
    """Return `text` as a double-quoted YAML scalar; what is not printable is escaped by its code point."""
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"
