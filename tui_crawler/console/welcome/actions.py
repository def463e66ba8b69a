"""The actions of the welcome screen: they exist only where there is no crawl yet, beside the table of all others."""

from __future__ import annotations

from tui_crawler.console.action import Action, Topic, Where

_HERE = frozenset({Where.welcome})

WELCOME: tuple[Action, ...] = (
    Action("welcome.add", "a", "Add seeds", "Begin with seeds and default settings: one URL per line, as many as you "
           "paste", Topic.crawl, _HERE, cli="crawl URL…"),
    Action("welcome.load", "l", "Load a configuration", "Begin with a configuration file", Topic.crawl, _HERE,
           cli="CONFIG"),
    Action("welcome.demo", "D", "Demo", "Begin with the built-in demo web", Topic.crawl, _HERE,
           cli="demo"),
    Action("welcome.open", "o", "Open a crawl", "Open a database of this folder", Topic.crawl, _HERE,
           cli="--db PATH"),
    Action("welcome.leave", "q,ctrl+q", "Quit", "Leave; nothing was written", Topic.console, _HERE),
)  # fmt: skip
