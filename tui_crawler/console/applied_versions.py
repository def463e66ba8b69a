"""Which version an undo or redo of applied rules begins with: an edit must name the version that is current."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.domain.command import ActionResult, ApplyRules, Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.intent import Intent


def undo_note(version: int) -> str:
    """What the history says of rules that are those of an earlier version again."""
    return f"undo: back to version {version}"


class AppliedVersions:
    """The versions that this console has written, by job and content. Another operator's version in between makes an
    undo a conflict, as any edit."""

    def __init__(self) -> None:
        """Knows of none."""
        self._ids: dict[tuple[str, str], int] = {}
        self._parents: dict[int, int] = {}  # which version each of them replaced

    def learn(self, intent: Intent, results: Sequence[ActionResult]) -> None:
        """Notes the versions that came of an intent that was carried out."""
        for command, result in zip(intent.commands, results, strict=False):
            if isinstance(command, ApplyRules):
                versions = json.loads(result.after or "{}").get("rulesets", {})
                if command.job in versions:
                    version = self._ids[command.job, command.rules] = versions[command.job]
                    self._parents[version] = command.base_id

    def takes_back(self, intent: Intent) -> bool:
        """Whether an intent brings back just what held before the version in force, as `rules undo` does. Asked before
        it is learned what came of it."""
        return any(isinstance(one, ApplyRules) and self._is_former(one) for one in intent.commands)

    def _is_former(self, command: ApplyRules) -> bool:
        """Whether the rules are those that the version they replace has replaced itself; false where nobody knows."""
        parent = self._parents.get(command.base_id)
        known = self._ids.get((command.job, command.rules))
        return parent is not None and (command.note == undo_note(parent) or known == parent)

    def based(self, intent: Intent, on: Sequence[Command]) -> Intent:
        """The intent, beginning with the versions that the commands `on` have written."""
        written = {one.job: self._ids.get((one.job, one.rules), 0) for one in on if isinstance(one, ApplyRules)}
        commands = tuple(
            replace(one, base_id=written[one.job]) if isinstance(one, ApplyRules) and written.get(one.job) else one
            for one in intent.commands
        )
        return replace(intent, commands=commands)
