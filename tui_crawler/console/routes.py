"""The way to each screen: its class, loaded when it is first gone to, and what it needs besides the readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from importlib import import_module
from typing import TYPE_CHECKING

from tui_crawler.console.action import Where
from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from tui_crawler.console.screen.base import ConsoleScreen


class Supply(Enum):
    """What a screen can need besides the readings; the first thing it is made of. Without it, it is not shown."""

    rules = auto()
    queries = auto()
    explainer = auto()


@dataclass(frozen=True, slots=True)
class Route:
    """Module and class of a screen in this package; `crumbs`: its footer begins with where one came from."""

    screen: str
    needs: Supply | None = None
    crumbs: bool = False

    def load(self) -> type[ConsoleScreen]:
        """Return the class of the screen."""
        module, _, name = self.screen.rpartition(".")
        kind: type[ConsoleScreen] = getattr(import_module(f"{__package__}.{module}"), name)
        return kind


ROUTES: Mapping[Where, Route] = {
    Where.overview: Route("overview.screen.OverviewScreen"),
    Where.origin: Route("origin.screen.OriginScreen"),
    Where.tree: Route("tree.screen.TreeScreen"),
    Where.failures: Route("failures.screen.FailuresScreen"),
    Where.url: Route("url.screen.UrlScreen", Supply.explainer, crumbs=True),
    Where.urls: Route("urls.screen.UrlsScreen"),
    Where.why: Route("url.why.WhyScreen", Supply.explainer, crumbs=True),
    Where.rules: Route("rules.screen.RulesScreen"),
    Where.rule_draft: Route("rules.editor.RuleEditorScreen", Supply.rules),
    Where.logs: Route("logs.screen.LogsScreen"),
    Where.jobs: Route("jobs.screen.JobsScreen"),
    Where.pulse: Route("pulse.screen.PulseScreen"),
    Where.workers: Route("workers.screen.WorkersScreen"),
    Where.robots: Route("origin.screen.RobotsScreen", crumbs=True),
    Where.diff: Route("diff.screen.DiffScreen"),
    Where.page_diff: Route("diff.screen.PageDiffScreen", crumbs=True),
    Where.timeline: Route("timeline.screen.TimelineScreen", crumbs=True),
    Where.sql: Route("sql.screen.SqlScreen", Supply.queries),
}
"""Of every screen but the welcome, which is an app of its own."""
_BESIDES = "dialogs.help", "dialogs.search", "dialogs.prompt", "dialogs.choose", "operator.commands"


def load_ahead() -> Iterator[None]:
    """Load, one with each step, the modules that the first press of a key would wait for."""
    screens = (route.screen.rpartition(".")[0] for route in ROUTES.values())
    for module in dict.fromkeys((*_BESIDES, *screens)):
        import_module(f"{__package__}.{module}")
        yield
