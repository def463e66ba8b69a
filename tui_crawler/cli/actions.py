"""Commands of an operator handed over, by the live run or on the resting database, and what is told of them."""

import argparse
import json
from collections.abc import Callable, Iterable

from tui_crawler.cli.known_names import existing_database
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.domain.records.command import ActionResult, Command, action_of
from tui_crawler.domain.records.database_place import DatabasePlace

PATIENCE_S = 3.0
"""So long a live run has to take a command up; it looks several times a second."""
Tell = Callable[[object, object], Iterable[str]]
"""What was before and what is now (JSON values) as lines for a person; crawled text made safe."""

WAITS = "written down; the run has not taken it up yet"


def carry_out(
    database: DatabasePlace, command: Command, patience_s: float = PATIENCE_S, undoes: int = 0
) -> ActionResult:
    """Carry one command out in the name of the user; wait `patience_s` for a live run. `undoes`: the id of the action
    that it takes back. Raises UsageProblem for what is refused, NotTakenUp when a live run does not take it up."""
    from tui_crawler.wiring import operator_name
    from tui_crawler.wiring.steering import carry_out as steer

    result = steer(database, command, operator_name(database), patience_s, undoes)
    if result.error:
        raise UsageProblem(result.error)
    return result


def carry_out_all(arguments: argparse.Namespace, commands: Iterable[Command], tell: Tell, printer: Printer) -> int:
    """Carry commands out as they are made, and show what became of each, up to the first that is refused; as JSON:
    `{"actions": [{"action_id", "action", "target", "before", "after", "error"}]}`. Raises as `carry_out`."""
    from tui_crawler.wiring import operator_name
    from tui_crawler.wiring.steering import carry_out as steer

    database, error = existing_database(arguments), ""
    documents: list[dict[str, object]] = []
    for command in commands:
        result = steer(database, command, operator_name(database))
        name, target = action_of(command)
        before, after, error = value_of(result.before), value_of(result.after), result.error
        asked = {"action_id": result.action_id, "action": name, "target": target}
        documents.append(asked | {"before": before, "after": after, "error": error})
        if error:
            break
        if not arguments.json:
            printer.lines(tell(before, after) if result.after else (WAITS,))
    if arguments.json:
        printer.document({"actions": documents})
    if error:
        raise UsageProblem(error)
    return ExitStatus.ok


def value_of(text: str) -> object:
    """The JSON value of a journal text; the text itself when it is none, None when it is empty."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
