"""What every screen does with origins: pause, stop, retry, patience, delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.domain.view import OriginView


_KINDS = frozenset({"origin", "delay", "robots"})
"""Groups of the ids of such actions."""


def act_on_origins(console: CrawlerApp, action_id: str, targets: tuple[OriginView, ...]) -> bool:
    """Does an action on origins, of whichever screen; False when it is none. What was carried out takes marks off."""
    if action_id.partition(".")[0] not in _KINDS:
        return False
    from tui_crawler.console import intent as intents  # noqa: PLC0415  not before the first paint

    screen, targets = console.console_screen, console.wishes.as_asked(targets)

    def used() -> None:
        if screen is not None:
            screen.marks.used()

    match action_id:
        case "origin.toggle_pause" | "origin.pause" | "origin.resume":
            make = {"origin.pause": intents.pause, "origin.resume": intents.resume}.get(action_id, intents.toggle_pause)
            console.wishes.carry_out(make(targets))
        case "origin.stop":
            console.wishes.ask(intents.stop(targets), used)
            return True
        case "origin.retry_failed":
            failed, wishes = {view.origin: view.failed for view in targets if view.failed}, console.wishes
            cost = wishes.cost_words(failed, console.picture.origins)
            wishes.ask(intents.retry_failed(targets, wishes.prospect(targets), cost), used)
            return True
        case "origin.exclude":
            from tui_crawler.console.rule_exclusion import exclude_origins  # noqa: PLC0415  not before the first paint

            asked = exclude_origins(targets, console.picture.origins.values())
            if isinstance(asked, str):
                console.tell("no", asked, "muted")
            else:
                console.wishes.ask(asked, used)
            return True
        case "origin.top_up":
            console.wishes.carry_out(intents.top_up(targets))
        case "robots.refetch":
            console.wishes.carry_out(intents.refetch_robots(targets))
        case "delay.up":
            console.wishes.carry_out_each(intents.slower, targets)
        case "delay.down":
            console.wishes.carry_out_each(intents.faster, targets)
        case _:
            return False
    used()
    return True
