"""What needs a person, as this console shows it: the gravest that was not dismissed, and what is done about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.action import Where, why_not
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.panes.bars import DiagnosisBar
from tui_crawler.console.panes.diagnosis import SHOW, allow_label
from tui_crawler.console.panes.typing import TakesText
from tui_crawler.domain.history.diagnosis import DiagnosisKind

if TYPE_CHECKING:
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.screen.base import ConsoleScreen
    from tui_crawler.console.session import ConsoleMemory
    from tui_crawler.domain.history.diagnosis import Diagnosis


_CONTINUE = "run.start", "continue"
_HELPS: Mapping[DiagnosisKind, tuple[str, str]] = {
    DiagnosisKind.crawler_died: _CONTINUE,
    DiagnosisKind.no_worker: _CONTINUE,
    DiagnosisKind.seed_moved: ("origin.add", "add it"),
    DiagnosisKind.queries_refused: ("diagnosis.allow", "allow"),
}


@dataclass
class DiagnosisActions(Handles):
    """Shows the diagnosis line of screens, and does what it offers. `go_to` shows another screen."""

    live_state: LiveState
    memory: ConsoleMemory
    go_to: Callable[..., None]

    @property
    def current(self) -> Diagnosis | None:
        """The gravest diagnosis that was not dismissed, or has become worse since; None in a replay."""
        run, seen = self.live_state.run, self.memory.dismissed
        number, starting = run.run_id if run is not None else 0, self.live_state.hosting.starting
        for one in self.live_state.diagnoses if self.live_state.player is None else ():
            if one.has_grown(seen.get((number, one.name), 0)) and not (starting and _HELPS.get(one.kind) == _CONTINUE):
                return one
        return None

    def show_on(self, screen: ConsoleScreen) -> None:
        """Bring the line of a screen up to date, with the keys that act there."""
        found = self.current
        if found is not None and self.live_state.readonly and _HELPS.get(found.kind) == _CONTINUE:
            found = replace(found, words=f"{found.words}: start a console, or run `tui-crawler run CONFIG`")
        situation, key_of = screen.console.situation(screen), screen.key_names.first
        types = isinstance(screen.focused, TakesText)
        offers = [
            (action_id, key_of(action_id) if BY_ID[action_id].at(screen.WHERE) and not types else "", label)
            for action_id, label in (_offers_of(found) if found is not None else ())
            if not why_not(BY_ID[action_id], situation)
        ]
        screen.query_one(DiagnosisBar).tell(found, sorted(offers, key=lambda one: not one[1]))  # what is clicked: last

    @handles(SHOW)
    def show(self) -> None:
        """Show the pages or the origin that the diagnosis is about; of several seeds, of the first."""
        found, go_to = self.current, self.go_to
        if found is None or not found.origins:
            return
        origin, *others = found.origins
        match found.kind:
            case DiagnosisKind.queries_refused:
                go_to(Where.urls, f"origin:{origin} exit:blocked_url_by_local_policy")
            case DiagnosisKind.most_not_canonical:
                go_to(Where.urls, f"origin:{origin} exit:not_canonical")
            case DiagnosisKind.seed_failed:
                go_to(Where.url, found.urls[0])
            case DiagnosisKind.trap_suspected:
                go_to(Where.tree, origin)
            case DiagnosisKind.robots_denies:
                go_to(Where.robots, origin, found.urls[0])
            case DiagnosisKind.origins_stopped if others:
                within = tuple(("origin", one) for one in found.origins)
                go_to(Where.failures, *([within] if len(within) == found.count else []))
            case _:
                go_to(Where.origin, origin)

    @handles("diagnosis.allow")
    def allow(self) -> None:
        """Draft the policy that allows what is refused."""
        if (found := self.current) is not None and found.policy is not None:
            self.go_to(Where.rule_draft, found.policy)

    @handles("diagnosis.dismiss")
    def dismiss(self) -> None:
        """Hide the diagnosis for this run, until it is worse."""
        if (found := self.current) is not None and (run := self.live_state.run) is not None:
            self.memory.dismissed[run.run_id, found.name] = found.count


def _offers_of(found: Diagnosis) -> Iterator[tuple[str, str]]:
    """The actions that help, and what each does, the most important first."""
    if found.kind in _HELPS:
        action_id, label = _HELPS[found.kind]
        yield action_id, allow_label(found) or label
    if found.origins:
        yield SHOW, "show"
    yield "diagnosis.dismiss", "hide"
