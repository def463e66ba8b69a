"""What is typed after `:`: the words it may become, and what it means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.action import Action, Need, Takes, why_not
from tui_crawler.console.actions import actions_at, find_actions
from tui_crawler.console.dialogs.completion import Completion
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.export import FORMATS
from tui_crawler.console.table.row_actions import COPIES, url_under_cursor
from tui_crawler.console.urls.cells import bare_host
from tui_crawler.domain.records.exit_code import FAILURES
from tui_crawler.domain.rules.page_filter import FilterProblem, read_page_filter

if TYPE_CHECKING:
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.screen.base import ConsoleScreen

_MOST_NAMED = 6
_EXIT_CODE = "--exit-code"
_KNOWN = {
    Takes.copy: tuple(COPIES),
    Takes.format: tuple(dict(FORMATS)),
    Takes.exit_code: tuple(sorted(code.name for code in FAILURES)),
}
"""What may stand after the word of an action and is always the same."""


@dataclass(frozen=True, slots=True)
class Typed:
    """An action, its argument and the origin or worker that it is `about`, where one is named; whole where the words
    are known, else as they were typed."""

    action: Action
    argument: str = ""
    about: str = ""


class Prompt:
    """Completes and reads commands of the screen on top."""

    def __init__(self, live: LiveState, key_names: KeyNames) -> None:
        self._live, self._origins, self._key_names = live, live.origins, key_names

    def complete(self, text: str, screen: ConsoleScreen) -> Completion:
        """What the end of a text may become: words of actions, those first that can be done now, then arguments."""
        start = len(text) - len(text.lstrip())
        word, space, argument = text[start:].partition(" ")
        if not space:
            return self._complete_word(word, start, screen)
        meant = find_actions(word, screen.WHERE)
        if len(meant) != 1:
            return Completion(len(text), (), self._not_one(word, meant))
        argument = argument.lstrip()
        values = self._values(meant[0], screen)
        if meant[0].takes is Takes.move and " " in argument:
            argument, values = argument.partition(" ")[2].lstrip(), [one.name for one in self._live.workers]
        words = _fitting(argument, values)
        return Completion(len(text) - len(argument), words, "" if len(words) > 1 else meant[0].help)

    def read(self, text: str, screen: ConsoleScreen) -> Typed | str:
        """What a text means on a screen, or in words why it means nothing; empty for an empty text."""
        word, _, argument = text.strip().partition(" ")
        argument = argument.strip()
        meant = find_actions(word, screen.WHERE)
        if not word:
            return ""
        if len(meant) != 1:
            return self._not_one(word, meant)
        action = meant[0]
        if argument.startswith("--") and action.command:
            option, *value = argument.replace("=", " ").split()
            wrong = _no_exit_code(value[0]) if value and option == _EXIT_CODE else ""
            words = f"{option} is for the command line ({action.command}); here it is about what is selected"
            return f"{action.word}: {wrong}{'; ' * bool(wrong)}{words}"
        rest, named = "", takes_origin(action) or (Need.worker in action.needs and action.takes is Takes.worker)
        if action.takes is Takes.move:
            argument, _, rest = argument.partition(" ")
        values = self._values(action, screen) if argument and action.takes is not Takes.url else ()
        near = _fitting(argument, values)
        exact = [one for one in near if argument.casefold() in _forms(one)]
        if len(exact) == 1 or len(near) == 1:
            found = (exact or near)[0]
            return Typed(action, rest.strip(), found) if named else Typed(action, found)
        if near:
            return f"{word} {argument}: {_either(near)}?"
        if argument and named:
            return f"{action.word}: there is no {'origin' if takes_origin(action) else 'worker'} {argument}"
        if argument and action.takes is Takes.nothing:
            return f"{action.word} takes nothing after it; :origins ORIGIN opens one"
        if argument and action.takes is Takes.exit_code and (problem := _no_exit_code(argument)):
            return f"{action.word}: {problem}"
        return Typed(action, argument)

    def _complete_word(self, word: str, start: int, screen: ConsoleScreen) -> Completion:
        situation = screen.console.situation(screen)
        low = word.casefold()
        near = [action for action in actions_at(screen.WHERE) if action.word and action.word.startswith(low)]
        near.sort(key=lambda action: bool(why_not(action, situation)))
        about = "" if near else f"no action starts with this; {self._lists_them}"
        if len(near) == 1:
            reason = why_not(near[0], situation)
            about = f"— {reason}" if reason else near[0].help
        return Completion(start, tuple(action.word for action in near), about)

    def _not_one(self, word: str, meant: Sequence[Action]) -> str:
        if meant:
            return f"{word}: {_either([action.word for action in meant])}?"
        return f"unknown action {word} here; {self._lists_them}"

    @property
    def _lists_them(self) -> str:
        return self._key_names.said("{help.keys} lists them")

    def _values(self, action: Action, screen: ConsoleScreen) -> Sequence[str]:
        match action.takes:
            case Takes.worker:
                return tuple(dict.fromkeys(one.name for one in self._live.workers))
            case _ if takes_origin(action):
                return sorted(self._origins)
            case Takes.url:
                here = url_under_cursor(screen, _table(screen))
                return tuple(filter(None, dict.fromkeys((here, *(f"{origin}/" for origin in sorted(self._origins))))))
            case Takes.order:
                return screen.orders(table) if (table := _table(screen)) is not None else ()
            case Takes.ledger:
                from tui_crawler.console.jobs.queries import LEDGERS  # noqa: PLC0415  loads a view

                return tuple(LEDGERS)
            case Takes.layout:
                return tuple(screen.console.memory.file.layouts())
            case Takes.scope:
                from tui_crawler.console.pulse.queries import scopes_of  # noqa: PLC0415  loads a view

                return scopes_of(self._live)
            case _:
                return _KNOWN.get(action.takes, ())


def _no_exit_code(name: str) -> str:
    """Why a text means no exit code, in words; empty when it means some, as after `exit:` in a filter."""
    found = read_page_filter(f"exit:{name}")
    return found.message if isinstance(found, FilterProblem) else ""


def takes_origin(action: Action) -> bool:
    """Whether an origin may stand after the word of an action."""
    return Need.origin in action.needs or action.takes is Takes.origin


def _table(screen: ConsoleScreen) -> CrawlTable | None:
    line = screen.query_one(EntryLine)
    before = line.came_from if line.display else screen.focused
    return before if isinstance(before, CrawlTable) else screen.table_filter.table


def _fitting(fragment: str, words: Iterable[str]) -> tuple[str, ...]:
    low = fragment.casefold()
    return tuple(one for one in words if any(form.startswith(low) for form in _forms(one)))


def _forms(words: str) -> tuple[str, str]:
    """What may be typed for words: they themselves, and without the scheme of an origin or a URL at their end."""
    before, space, last = words.rpartition(" ")
    return words.casefold(), f"{before}{space}{bare_host(last)}".casefold()


def _either(words: Sequence[str]) -> str:
    if len(words) > _MOST_NAMED:
        return ", ".join(words[:_MOST_NAMED]) + f" or {len(words) - _MOST_NAMED} more"
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
