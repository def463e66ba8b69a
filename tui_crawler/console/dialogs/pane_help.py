"""Help of one pane (`f1`): what it shows, its columns, its keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from tui_crawler.console.actions import Situation, actions_at, why_not
from tui_crawler.console.dialogs.jump import pane_name
from tui_crawler.console.keys import KeyNames, keys_of, table_keys
from tui_crawler.console.panes.line import HangingText, Line, Paragraph, heading
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.screen.base import Dialog
from tui_crawler.console.table.cells import Styled
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.text.safe_text import safe


@dataclass(frozen=True, slots=True)
class PaneText:
    """`shows` in one or two sentences, in which keys stand by their actions: `{move.first}`. `enter` is what enter does
    (empty: nothing)."""

    shows: str
    enter: str = ""


PANES: Mapping[str, PaneText] = {
    # 1 overview
    "origins": PaneText(
        "Every origin of the crawl with its state and counters. Rows change as they are; their order is made anew "
        "once a second, and never within a second of a key.",
        "opens the origin",
    ),
    "summary": PaneText(
        "The origin under the cursor in short: why it does what it does, patience, delay and who set it, "
        "robots.txt, rate, the next page, and how its last attempts ended."
    ),
    "events": PaneText(
        "Every attempt of the crawl as it ends, the newest first. It follows while the cursor is on the first row. "
        "Its title counts the problems among the rows it holds; the logs ({view.logs}) hold more of them, and "
        "count origins that gave up too.",
        "opens the URL",
    ),
    # one origin
    "state": PaneText(
        "One origin: patience and every point lost, the delay and every change of it with its reason, robots.txt, "
        "what stands in its lists, links that were refused."
    ),
    "todo": PaneText("The next pages of the origin in the order of its turns.", "opens the URL"),
    "exits": PaneText(
        "How attempts at this origin ended: in this run, and in the last five minutes.", "says what a code means"
    ),
    "attempts": PaneText(
        "Every attempt at this origin, the newest first, however many: they are read where one scrolls to, "
        "{move.first} and {move.last} go to the newest and the oldest. It follows while the cursor is on the first "
        "row, else the title tells how many are new. A sort or filter holds for the rows held.",
        "opens the URL",
    ),
    # the site as a tree
    "tree": PaneText(
        "The URLs of one origin by the folders of their paths, `?` for a path with its queries. Counts add up: those "
        "of a branch are those of its branches and of the pages right in it. A + behind a number says that counting "
        "goes on. Refused are links to URLs that are no pages; growth is of the last five minutes.",
        "unfolds a branch or folds it, opens a page",
    ),
    "tree-info": PaneText("The branch or page under the cursor, and why it looks like a trap where it does."),
    # robots.txt
    "robots-text": PaneText(
        "The robots.txt of the origin as it was fetched, with the lines that hold for this crawler and the line "
        "that decides on the page one came from."
    ),
    "robots-facts": PaneText(
        "When robots.txt was fetched and how, until when it holds, its delay, its sitemaps, and what that means."
    ),
    # 2 failures
    "groups": PaneText(
        "Failed pages in groups; {failures.group} changes what they are grouped by. The pages of the group under "
        "the cursor stand beside. A page can recover unless its exit code is final, as 404 is. {filter.open} keeps "
        "the groups that say what is typed, and those with pages whose URL or message does: of these such pages "
        "only.",
        "goes to the pages of the group",
    ),
    "pages": PaneText(
        "All pages of the group under the cursor, however many: they are read where one scrolls to, {move.first} "
        "and {move.last} go to the first and the last. A sort or filter holds for the rows held. What they have in "
        "common as a group is left out of the columns.",
        "opens the URL",
    ),
    "page-info": PaneText("The page under the cursor: what failed, what it was told, and whether it is tried on."),
    "referrers": PaneText(
        "Who names the page under the cursor: by a link, with its text, by a redirect or in a sitemap. "
        "{url.tab_links} shows all links to it and from it.",
        "opens the page that names it",
    ),
    # 3 URLs
    "urls": PaneText(
        "All known URLs that pass the filter, however many: rows are read where one scrolls to, {move.first} and "
        "{move.last} go to the first and the last of all. A sort by a column holds for the rows held.",
        "opens the URL",
    ),
    "url-info": PaneText("The page under the cursor: state, title, last attempt, when it is due."),
    # one URL
    "url-page": PaneText("The page: its state, its place in the queue, its last answer."),
    "url-path": PaneText("Why it is here: the way from the seed, link by link, and other pages that link to it."),
    "url-trace": PaneText(
        "Every filter and policy with the line that decided, in short; {url.inspect_why} shows it in full."
    ),
    "url-attempts": PaneText(
        "Every attempt at this URL, the newest first; requests and headers below belong to the one under the cursor.",
        "goes to its requests",
    ),
    "url-requests": PaneText("The exchanges of one attempt: redirects and retries among them.", "shows headers"),
    "url-sent": PaneText("The request as it was sent, and over which connection."),
    "url-received": PaneText("The answer as it came: status and headers."),
    "url-inlinks": PaneText(
        "Links from other pages to this one, window by window: {list.older} turns to the next, {list.newer} to the "
        "one before.",
        "opens the page the link is on",
    ),
    "url-outlinks": PaneText(
        "Links of this page, window by window: {list.older} turns to the next, {list.newer} to the one before.",
        "opens where the link goes",
    ),
    "url-redirects": PaneText("Where this page sends its reader: redirects, refreshes, canonical."),
    "url-content": PaneText("What the document is: type, size, directives, validation, data that rules found."),
    "url-body": PaneText("The stored body as text; {url.raw} shows it as bytes, or as text again."),
    # why
    "why-trace": PaneText(
        "The whole decision chain: normalisation, origin, every filter and policy with the line that decided, "
        "robots.txt, when it is due and where it stands in the queue."
    ),
    "why-standing": PaneText("What is known of the URL: its state, its attempts, the way from the seed."),
    # 4 rules
    "rules-entries": PaneText(
        "The rules in force, entry by entry; of all that match a URL the last value given holds. FIRED counts what "
        "an entry refused: refusals alone are logged, so - stands at what sets or allows something. {rule.edit} "
        "edits, {rule.delete} deletes, {rule.up} {rule.down} move the entry, in a draft with its impact; "
        "{rule.delete} takes one marked ✎ off the operators' list.",
        "opens the entry: since when it holds, what it refused, what would be otherwise without it",
    ),
    "rules-versions": PaneText(
        "Every version of the rules. Attempts keep the version they were made under.", "shows what differs"
    ),
    "rules-difference": PaneText(
        "What differs between the version under the cursor and the one before: + put in, − taken out, ✎ edited, "
        "▲ ▼ moved."
    ),
    "rules-info": PaneText("The entry under the cursor in full, or what the rules say of a URL that is typed."),
    "draft-entries": PaneText(
        "The entries of the draft; nothing holds until it is applied. + marks what is new, − what goes, ✎ what was "
        "edited, ▲ ▼ what was moved. While the draft is on its way, what is asked for waits. If another operator "
        "was faster, {rules.apply} carries the change over to the newer version.",
        "edits the entry",
    ),
    "draft-impact": PaneText(
        "What the draft would change among all known URLs: newly blocked, newly allowed, seeds among them, and "
        "examples with the rules that decided."
    ),
    # 5 logs
    "log": PaneText(
        "Attempts, what happened beside them and what operators asked for, by time, the newest last, however many: "
        "they are read where one scrolls to, {move.first} and {move.last} go to the first and the last of all. It "
        "follows while the cursor is on the last row, else the title tells how many are new. A sort or filter "
        "holds for the rows held.",
        "opens the URL, or the origin",
    ),
    "log-info": PaneText("The entry under the cursor in full."),
    # 6 statistics
    "all-exits": PaneText(
        "How attempts of this run ended, refusals that made no request among them, and in the last five minutes; "
        "bars compare with the most frequent.",
        "says what a code means",
    ),
    "own-exits": PaneText(
        "The same for the origin under the cursor of the origins; {stats.exits} changes between the two.",
        "says what a code means",
    ),
    "jobs": PaneText("The jobs of this database; lower niceness comes first.", "nothing; keys act on the marked"),
    "top-origins": PaneText(
        "The busiest origins; {sort.pick} orders them by requests or bytes of all runs, or by the pages that have "
        "failed.",
        "opens it",
    ),
    "ledger": PaneText(
        "One ledger at a time; {stats.ledger} shows the next: refused links, limbo, stashes, validation, runs, "
        "workers, sessions, actions of operators.",
        "opens the URL, where there is one",
    ),
    # SQL
    "sql-editor": PaneText(
        "A question in SQL that only reads; the views of docs/views.md are there, and every table.", "asks it"
    ),
    "sql-rows": PaneText("The answer, row by row.", "opens the URL of the row, if it has one"),
    "sql-info": PaneText("The row under the cursor in full."),
    "diff-summary": PaneText("How many pages are new, gone, changed and the same, and how fast both runs were."),
    "diff-origins": PaneText(
        "Every origin with what became of its pages from the older run to the newer one (docs/diff.md).",
        "goes to its pages",
    ),
    "diff-pages": PaneText(
        "The pages of the origin under the cursor that are new, gone or changed; {list.older} shows more of them.",
        "shows the lines and links of the page that differ",
    ),
    "diff-robots": PaneText("The lines of robots.txt that differ."),
    "diff-facts": PaneText("What became of the page: its end, title, redirect and canonical URL in both runs."),
    "diff-lines": PaneText("The lines of its body that differ, with three lines around them.", "shows the whole URL"),
    "diff-links": PaneText("The links from it, and to it, that came and that went."),
}
"""Pane id -> its text."""

COLUMNS: Mapping[str, str] = {
    "action": "what was asked for",
    "age": "how long ago a worker took it and has not settled it",
    "at": "when",
    "bar": "the same as a bar",
    "beat": "how long ago it gave a sign of life",
    "blocked": "pages that rules or robots.txt do not allow",
    "bytes": "bytes received",
    "claimed": "pages a worker has taken and not settled",
    "concurrency": "pages in flight at once at most",
    "config": "the configuration it began with",
    "connect": "time to connect (TCP); kept: it was open, ?: not noted (cancelled, or an older program)",
    "count": "how many there are",
    "delay": "time left alone after a request; R from robots.txt, ▲ raised by answers, ✎ ▼ raised, lowered by you",
    "depth": "links away from the nearest seed",
    "dns": "time to look the name up; - where the host is an address, or the connection was kept",
    "done": "pages that ended well",
    "dripfeed": "how many pages the stash keeps ready",
    "due": "when it is next asked for",
    "end": "how it ended",
    "entry": "the entry as it is written",
    "error": "what went wrong, in words",
    "exit": "the exit code of the last attempt; at an origin a robots.txt that was answered is passed over",
    "exit_code": "the exit code of the last attempt",
    "fail": "pages that failed; those with tries left are pending, too",
    "failed": "pages that failed; those with tries left are pending, too",
    "fired": "how often the entry has refused a URL; ∅ never, links: only links, ?: perhaps links, -: not logged",
    "flight": "requests under way",
    "from": "how it was found: seed, link, sitemap, redirect, retry",
    "head": "time to the head of the answer, DNS, CONN and TLS within it",
    "http_status": "the HTTP status of the last answer",
    "invalid": "documents the validator found faults in",
    "job": "the job it belongs to",
    "kind": "what kind it is",
    "last": "when it was last tried",
    "message": "what went wrong, in words",
    "method": "the HTTP method",
    "names": "the origins it works on",
    "new": "links found that were not known before",
    "next": "time to its next request",
    "nice": "niceness; lower comes first",
    "note": "what is worth knowing beside",
    "number": "its place in the list",
    "origin": "scheme, host and port",
    "origins": "how many origins it is about",
    "pages": "how many pages it holds",
    "patience": "what is left of the origin's patience; at none it is given up for this run",
    "pattern": "the path with what varies put as *",
    "pending": "pages with tries left, new ones and failed ones, on a todo list or not",
    "place": "the machine and the process",
    "ready": "pages that could go now",
    "reason": "the filter that refused it",
    "recent": "of the last five minutes",
    "recoverable": "failed pages whose exit code is not final; they have tries left, or a retry gives them some",
    "remote": "the address that was connected to",
    "requests": "requests sent",
    "retry": "when it is asked again; tries used up: {url.retry} puts it back; final: only that, or its recrawl",
    "rules": "the ruleset it was made under",
    "ruleset": "the ruleset in force",
    "run": "of this run",
    "same": "the same on the command line",
    "sample": "one of them",
    "section": "the section of the configuration it stands in",
    "seen": "when it was first seen",
    "share": "its part of all",
    "since": "when it began",
    "size": "size of the stored body",
    "source": "where it was written",
    "started": "when it began",
    "stash": "the name of the stash",
    "state": "its state as glyph and word",
    "status": "the HTTP status",
    "tag": "the tag of the job",
    "target": "what it is about",
    "text": "the text of the link",
    "time": "when it ended",
    "title": "the title of the page",
    "tls": "time for the TLS handshake; - over http, or where the connection was kept",
    "todo": "pages on the todo list, done ones that are due again among them",
    "took": "how long it took",
    "rate": "requests over the last 100 s, five seconds in each cell",
    "total": "time to the end of the answer",
    "trend": "the last hour, oldest first",
    "tries": "attempts so far, of how many",
    "url": "the URL, or its path where the origin is known",
    "valid": "documents without a fault",
    "validator": "who looked at the documents",
    "value": "a value of the column",
    "version": "the number of the ruleset",
    "what": "exit code, event or action",
    "who": "who did it",
    "why": "why, in words",
    "worker": "the worker that has it",
}
"""Column id -> what it means, where `OF_PANE` says nothing else."""

OF_PANE: Mapping[tuple[str, str], str] = {
    ("origins", "pending"): "its pages with tries left, new ones and failed ones, on its todo list or not",
    ("origins", "why"): "why nothing moves there, or what it does",
    ("log", "text"): "what happened",
    ("rules-versions", "state"): "whether it is in force",
    ("rules-entries", "why"): "the reason that was written with it",
    ("draft-entries", "why"): "the reason that was written with it",
    ("top-origins", "requests"): "requests sent in all runs; a turn may make several",
    ("top-origins", "bytes"): "bytes received in all runs",
    ("jobs", "status"): "running, paused, aborted, finished",
    ("jobs", "depth"): "how many links away from a seed the job goes",
    ("groups", "count"): "failed pages of the group",
    ("url-requests", "time"): "when it was sent",
    ("url-attempts", "number"): "the number of the attempt",
    ("ledger", "requests"): "turns that made a request, as the limit of a run counts them",
    ("diff-origins", "new"): "pages that are there now and were not",
    ("diff-origins", "gone"): "pages that were there and are not: 404, 410, or named by no page and not asked for",
    ("diff-origins", "changed"): "pages of which content, title, status, redirect, canonical or links differ",
    ("diff-origins", "same"): "pages that stayed the same",
    ("diff-origins", "failing"): "pages that fail and did not before",
    ("diff-origins", "mended"): "pages that failed before and do no more",
    ("diff-pages", "change"): "what became of it",
    ("diff-pages", "fields"): "what differs: content hash, title, status, redirect, canonical, links from it",
    ("diff-pages", "status"): "HTTP status or exit code, before and now",
    ("ledger", "count"): "links that were refused",
    ("ledger", "job"): "the job",
    ("ledger", "run"): "the number of the run",
    ("ledger", "place"): "the host it ran on, and its process id",
    ("ledger", "since"): "when it began",
    ("ledger", "beat"): "its last sign of life",
    ("ledger", "rate"): "requests a second, of the last ten",
    ("ledger", "cpu"): "the share of a core that its process uses, where it runs on this machine",
    ("ledger", "end"): "how it ended, or who ended it",
    ("ledger", "state"): "what became of it",
    ("ledger", "target"): "what it was about",
    ("ledger", "same"): "the command line that does the same; before it, why it was refused",
}
"""(Pane id, column id) -> what it means there."""


def text_of(pane_id: str) -> PaneText:
    """The text of a pane, in which keys stand by their actions; one without a text (a newer pane) says only that it can
    be scrolled."""
    return PANES.get(pane_id) or PaneText("A pane of this screen; arrow keys move in it.")


def column_meaning(pane_id: str, column_id: str) -> str:
    """What a column of a pane means, with keys by their actions; empty when nothing is written of it."""
    if pane_id == "sql-rows":
        return "a column of the answer"
    return OF_PANE.get((pane_id, column_id)) or COLUMNS.get(column_id, "")


_HEAD = 14


class PaneHelpScreen(Dialog):
    """Explains a pane; gives nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,enter", "leave", "Leave", show=False),
        Binding("question_mark", "all_keys", "All keys", show=False),
    ]

    def __init__(self, pane: Widget | None, situation: Situation, own_keys: Mapping[str, str]) -> None:
        """`pane` None: the screen has none. `own_keys` are the keys that differ from the table's."""
        super().__init__()
        name = pane_name(pane) if pane is not None else "No pane"
        self._heading = name if name == situation.where.value else f"{name} · {situation.where.value}"
        self._lines = pane_lines(pane, situation, own_keys) if pane is not None else []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog search") as box:
            box.border_title = Content(safe(self._heading, 120))
            box.border_subtitle = Content("? all keys · esc leaves")
            yield Lines(id="pane-help")

    def on_mount(self) -> None:
        text = self.query_one(Lines)
        text.show(self._lines)
        text.focus()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_all_keys(self) -> None:
        self.dismiss(None)
        self.console.dispatcher.do("help.keys")


def pane_lines(pane: Widget, situation: Situation, own_keys: Mapping[str, str]) -> list[Line]:
    """What is said of a pane."""
    name = pane.id or ""
    text, names = text_of(name), KeyNames(own_keys)
    lines: list[Line] = [Paragraph(names.said(text.shows)), ""]
    if isinstance(pane, CrawlTable):
        lines += _columns(pane, name, names)
    lines.append(heading("Keys here"))
    if text.enter:
        lines.append(_key(names("nav.open"), text.enter))
    for action in actions_at(situation.where):
        keys = keys_of(action.id, action.keys, own_keys)
        if action.where and keys:
            reason = why_not(action, situation)
            words = f"— {reason}. {action.help}" if reason else action.help
            lines.append(_key(" ".join(keys), words, dim=bool(reason)))
    if isinstance(pane, CrawlTable):
        for binding in table_keys():
            keys = keys_of(binding.id or "", binding.key, own_keys)
            if keys:
                lines.append(_key(" ".join(keys), binding.description))
    else:
        lines.append(_key("↑ ↓ PgUp PgDn", "Scroll, when there is more than fits"))
    return lines


def _columns(table: CrawlTable, pane_id: str, names: KeyNames) -> list[Line]:
    shown = set(table.visible_columns)
    lines: list[Line] = [heading("Columns")]
    for column in table.columns:
        meaning = names.said(column_meaning(pane_id, column.id))
        if column.id not in shown:
            meaning += " (no room for it now)"
        lines.append(HangingText(Styled(column.title or column.id.upper(), "strong"), _HEAD, meaning, most=3))
    return [*lines, ""]


def _key(keys: str, text: str, *, dim: bool = False) -> Line:
    return HangingText(Styled(keys, "faint" if dim else "accent bold"), _HEAD, text, "muted" if dim else "", most=3)
