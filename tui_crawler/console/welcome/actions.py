"""The actions of the welcome screen: they exist only where there is no crawl yet, beside the table of all others."""

from __future__ import annotations

from tui_crawler.console.action import Action, Topic, Where

_HERE = frozenset({Where.welcome})

WELCOME: tuple[Action, ...] = (
    Action(Topic.crawl, "welcome.add", "a", "Add seeds", "Begin with seeds and default settings: one URL per line, as "
           "many as you paste", _HERE, cli="crawl URL…"),
    Action(Topic.crawl, "welcome.load", "l", "Load a configuration", "Begin with a configuration file", _HERE,
           cli="CONFIG"),
    Action(Topic.crawl, "welcome.demo", "D", "Demo", "Begin with the built-in demo web", _HERE,
           cli="demo"),
    Action(Topic.crawl, "welcome.open", "o", "Open a crawl", "Open a database of this folder", _HERE,
           cli="--db PATH"),
    Action(Topic.console, "welcome.leave", "q,ctrl+q", "Quit", "Leave without writing anything", _HERE),
)  # fmt: skip
