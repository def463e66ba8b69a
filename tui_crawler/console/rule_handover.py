"""Where the applying of a draft stands: from when it was handed in until the version it makes is seen. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.journal_desk import Fate
from tui_crawler.domain.ruleset import same_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.journal_desk import News
    from tui_crawler.console.rule_draft import RuleDraft
    from tui_crawler.domain.command import ActionResult
    from tui_crawler.domain.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class Handover:
    """A draft that was handed in. `noted`: no engine took it up in time, so nobody waits for it any more, though one
    may come. `accepted`: it was carried out; `version` is what was written, as far as it is known (0: not)."""

    draft: RuleDraft
    accepted: bool = False
    noted: bool = False
    version: int = 0

    @property
    def under_way(self) -> bool:
        """Whether the draft stands still until something is known of it."""
        return not self.noted

    def after(self, news: News) -> Handover | None:
        """After something became of it; None: it was refused."""
        match news.fate:
            case Fate.written | Fate.locked:
                return self
            case Fate.done:
                return Handover(self.draft, accepted=True, version=_version(news.results, self.draft.base.job))
            case Fate.waiting:
                return Handover(self.draft, noted=True)
            case _:
                return None

    def seen_in(self, now: Ruleset) -> bool:
        """Whether the version in force is the one that it made, or a later one. Not before something is known of it:
        undoing it needs that."""
        if now.ruleset_id == self.draft.base.ruleset_id:
            return self.version == now.ruleset_id  # it said so already: nothing was written
        if self.accepted:
            return now.ruleset_id >= self.version
        return self.noted and same_rules(now.policies, self.draft.policies)


def _version(results: Sequence[ActionResult], job: str) -> int:
    for result in results:
        versions = json.loads(result.after or "{}").get("rulesets", {})
        if job in versions:
            return int(versions[job])
    return 0
