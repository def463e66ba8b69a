"""The actions of the welcome screen: they exist only where there is no crawl yet, apart from all others."""

from tui_crawler.console.action import Action, Topic, Where

_HERE = frozenset({Where.welcome})

WELCOME: tuple[Action, ...] = (
    Action(Topic.crawl, "welcome.add", "a", "Add seeds", "Begin with seeds: one URL per line, as many as you paste; "
           "User-Agent, delay, depth, pages per origin and queries", _HERE, cli="crawl URL…"),
    Action(Topic.console, "welcome.leave", "q,ctrl+q", "Quit", "Leave without writing anything", _HERE),
)  # fmt: skip
