"""What is typed in a draft: an entry, new or in the place of another, and a URL that the draft is asked about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.present.rule_impact import judge, judged_lines
from tui_crawler.console.present.rule_rows import typed_lines
from tui_crawler.console.rule_bench import Typing
from tui_crawler.console.rule_draft import Entry, policies_of, with_exclusions
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import EMPTY
from tui_crawler.domain.ruleset import RulesetChange

if TYPE_CHECKING:
    from tui_crawler.console.ports import RulesDesk
    from tui_crawler.console.rule_bench import RuleBench
    from tui_crawler.console.screens.rule_editor import RuleEditorScreen

RULE, URL = "rule", "url"
"""What the line is open for."""

ENTRY_HINT = "skip: /calendar/ · exclusion: host: a.example · do_not_crawl: path: {prefix: /x/} · query: allow: [page]"
URL_HINT = "any URL: what the draft says of it"


class RuleTyping:
    """The line of one editor. What is typed counts as drafted while it is an entry, and is in the draft after enter."""

    def __init__(self, screen: RuleEditorScreen, desk: RulesDesk, bench: RuleBench) -> None:
        """Nothing is typed."""
        self._screen = screen
        self._desk = desk
        self._bench = bench

    @property
    def _line(self) -> EntryLine:
        return self._screen.query_one(EntryLine)

    def comes_first(self) -> bool:
        """Whether an entry is being typed, which is to be ended before something else begins; says so."""
        line = self._line
        if not line.display or line.purpose != RULE:
            return False
        self._screen.console.tell("no", "an entry is being written: enter keeps it, esc drops it", "muted")
        self._screen.query_one("#entry-input").focus()
        return True

    def edit(self, entry: object) -> None:
        """Opens the line with an entry as it is now."""
        draft, tell, keys = self._bench.draft, self._screen.console.tell, self._screen.key_names
        if isinstance(entry, Exclusion):
            words = "it stands on the operators' exclusion list: {rule.delete} in the Rules view takes it off"
            tell("no", keys.said(words), "muted")
        if draft is None or not isinstance(entry, Entry):
            return
        if not draft.has(entry.key):
            tell("no", f"it is taken out of the draft; {keys('rule.delete')} puts it back", "muted")
        elif text := self._desk.write(policies_of((entry,))):
            self.write(Typing(entry), text)
        else:
            tell("no", "it cannot be written in one line; tui-crawler rules apply FILE changes it", "muted")

    def write(self, typing: Typing, text: str) -> None:
        """Opens the line for an entry; one that is being typed there already stays."""
        line = self._line
        if line.display and line.purpose == RULE:
            self._screen.query_one("#entry-input").focus()
            return
        self._bench.typing = typing
        line.open(RULE, "new:" if typing.edits is None else "edit:", text, ENTRY_HINT)
        self.read(text)

    def read(self, text: str) -> None:
        """Takes what is typed into the draft for the time being, if it is an entry."""
        typing = replace(self._bench.typing or Typing(), read=self._desk.read(text) if text.strip() else None)
        self._bench.typing = typing
        self._screen.count_impact()
        heading = "New entry" if typing.edits is None else "Edited entry"
        self._screen.show_info(heading, typed_lines(text, typing.read, typing.edits))

    def keep(self, text: str) -> None:
        """Enter: the entry is in the draft; one that is wrong stays in the line."""
        typing, draft = self._bench.typing or Typing(), self._bench.draft
        if not text.strip():
            self.drop()
        elif isinstance(typing.read, RulesetChange) and draft is not None:
            self._bench.typing = None
            self._line.close()
            made = typing.put_into(draft)
            self._screen.hold(replace(made, returns_to=0) if made != draft else draft, to_new=True)

    def drop(self) -> None:
        """Esc: what was typed is not in the draft."""
        self._bench.typing = None
        self._line.close()
        self._screen.focus_main()
        self._screen.hold(self._bench.renewed())

    def open_test(self, text: str) -> None:
        """Opens the line for a URL."""
        if not self.comes_first():
            self._line.open(URL, "test:", text, URL_HINT)
            self.test(text)

    def test(self, text: str) -> None:
        """Shows what the draft says of a URL."""
        draft = self._bench.candidate
        policies = with_exclusions(draft.policies if draft is not None else EMPTY, self._bench.added)
        judged = judge(text, policies) if text.strip() else None
        self._screen.show_info("What the draft says", judged_lines(judged))
