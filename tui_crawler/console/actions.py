"""Every action of the console, as one table: footer, help sheet, palette, prompt, key map and docs are made from it."""

from collections.abc import Mapping
from functools import partial

from tui_crawler.console.action import VIEWS, Action, Need, Takes, Topic, Where


def _on(*screens: Where) -> frozenset[Where]:
    return frozenset(screens)


_OVERVIEW, _ORIGIN, _FAILURES, _LOG = _on(Where.overview), _on(Where.origin), _on(Where.failures), _on(Where.logs)
_ORIGINS = _OVERVIEW | _ORIGIN
_LISTS = _on(Where.url, Where.diff)
_URLS = _on(Where.origin, Where.failures, Where.url, Where.urls, Where.why)
_PULSE = _on(Where.pulse)
_SPANS = _PULSE | _on(Where.timeline)
_VIEWS_TAKE = {Where.overview: Takes.origin, Where.pulse: Takes.scope}
_TABLES = frozenset(Where) - _SPANS - _on(Where.why, Where.welcome, Where.page_diff, Where.rule_draft)
_FILTERED = _TABLES - _LOG
_MATCHED = _FILTERED - _on(Where.urls, Where.jobs)
_PROBLEMS = _ORIGINS | _LOG
_JOBS = _on(Where.jobs)
_TABS = _on(Where.url)
_LINKS = _on(Where.url, Where.failures)
_RULES = _on(Where.rules)
_DRAFT = _on(Where.rule_draft)
_WORKERS = _on(Where.workers)
_MAKES_RULES = _on(Where.origin, Where.failures, Where.url, Where.urls, Where.tree)
_SQL = _on(Where.sql)
_SELECTED = frozenset(Where) - _LOG - _on(Where.timeline, Where.diff, Where.page_diff, Where.welcome)
_REPLAY, _WRITE = (Need.replay,), (Need.writer,)
_WRITE_RULES = (Need.writer, Need.rules)
_WRITE_ENTRY = (*_WRITE_RULES, Need.entry)
_WRITE_JOB = (Need.writer, Need.job)
_WRITE_WORKER = (Need.writer, Need.worker)
_WRITE_ORIGIN = (Need.writer, Need.origin)

ORDERS: Mapping[str, str] = {
    "state": "state, worst first",
    "origin": "origin",
    "todo": "todo list",
    "pending": "pending",
    "done": "done",
    "fail": "failed",
    "blocked": "blocked",
    "patience": "patience lost",
    "delay": "delay",
    "next": "next request",
    "exit": "last exit code",
    "took": "last response time",
    "bytes": "bytes",
}
"""What origins can be ordered by: the id of a column, and its name in words."""

_crawl, _look, _move, _console = (
    partial(Action, topic) for topic in (Topic.crawl, Topic.look, Topic.move, Topic.console)
)

ACTIONS: tuple[Action, ...] = (
    _look("nav.open", "enter", "open", "Open what the cursor is on", footer=10),
    _crawl("origin.toggle_pause", "p", "pause", "Pause or resume the marked origins, or the selected one", _ORIGINS,
        (*_WRITE_ORIGIN, Need.unfinished), "pause|resume ORIGIN", "resumes, or pauses again", "toggle", 20),
    _crawl("all.toggle_pause", "P", "pause all", "Pause or resume every origin", _ORIGINS,
        (Need.writer, Need.pausable), "pause|resume --all", "resumes, or pauses again", "toggleall", 35),
    _crawl("origin.add", "a", "add", "Add seeds: one URL per line, as many as you paste", frozenset(Where) - _RULES,
        _WRITE, cli="add URL…", word="add", footer=30),
    _crawl("url.retry", "r", "retry", "Retry the marked URLs, or the selected one", _URLS,
        (Need.writer, Need.url), "retry URL…", word="retry", footer=40),
    _crawl("origin.retry_failed", "R", "retry failed", "Retry all failed pages of the origin (asks)", _ORIGINS,
        (*_WRITE_ORIGIN, Need.failed), "retry --origin ORIGIN", word="retryfailed", footer=41),
    _crawl("group.retry", "R", "retry failed", "Retry all failed pages of the group, or of the branch (asks)",
        _on(Where.failures, Where.tree), (Need.writer, Need.failed), "retry --exit-code NAME --origin ORIGIN",
        word="retrygroup", footer=41),
    _crawl("origin.top_up", "o f", "top up", "Set patience to full; an origin stopped by errors resumes", _ORIGINS,
        (*_WRITE_ORIGIN, Need.lost_patience), "top-up ORIGIN", word="topup"),
    _crawl("delay.up", "d", "slower", "Raise the delay of the origin by a step", _ORIGINS,
        (*_WRITE_ORIGIN, Need.unfinished), "delay ORIGIN DURATION", "restores the delay", "slower", 25),
    _crawl("delay.down", "D", "faster", "Lower the delay again; never below robots.txt or the configuration", _ORIGINS,
        (*_WRITE_ORIGIN, Need.unfinished, Need.own_delay), "delay ORIGIN DURATION", "restores the delay", "faster", 71),
    _crawl("origin.stop", "o s", "stop", "Stop the origin for this run; its pages stay queued (asks)", _ORIGINS,
        (*_WRITE_ORIGIN, Need.unfinished), "stop ORIGIN", word="stop"),
    _crawl("origin.exclude", "o x", "exclude", "Put the host of the origin on the exclusion list (asks)", _ORIGINS,
        _WRITE_ORIGIN, "exclude host HOST", "removes it from the list", "excludehost"),
    _crawl("robots.refetch", "o R", "refetch", "Fetch robots.txt again at once; the delay is kept",
        _ORIGINS | _on(Where.robots), _WRITE_ORIGIN, "refetch ORIGIN", word="refetch"),
    _look("robots.view", "o r", "robots.txt, contract",
        "robots.txt with the line that decides on the selected URL, and the contract",
        _ORIGINS | _on(Where.failures, Where.urls, Where.why), word="robots", takes=Takes.origin),
    _look("origin.tree", "o t", "site tree", "The URLs of the origin by the folders of their paths, with counts",
        _ORIGINS, (Need.origin,), "tree ORIGIN", word="tree"),
    _look("robots.test", "o t", "try URL", "Test a URL or path against this robots.txt", _on(Where.robots), word="try"),
    _crawl("journal.undo", "u", "undo", "Undo the last action that can be undone", needs=(Need.writer, Need.undo),
        word="undo"),
    _crawl("journal.redo", "", "redo", "Do again what was undone", needs=(Need.writer, Need.redo), word="redo"),
    _crawl("origin.pause", "", "pause", "Pause the marked origins, or the selected one; a pause stays", _ORIGINS,
        (*_WRITE_ORIGIN, Need.unfinished, Need.unpaused), "pause ORIGIN", "resumes", "pause"),
    _crawl("origin.resume", "", "resume", "Resume the marked origins, or the selected one", _ORIGINS,
        (*_WRITE_ORIGIN, Need.paused), "resume ORIGIN", "pauses again", "resume"),
    _crawl("all.pause", "", "pause all", "Pause every origin; a pause stays", _ORIGINS, (Need.writer, Need.pausable),
        "pause --all", "resumes", "pauseall"),
    _crawl("all.resume", "", "resume all", "Resume every paused origin", _ORIGINS, _WRITE,
        "resume --all", "pauses again", "resumeall"),
    _crawl("job.pause", "", "pause job", "Pause the marked jobs, or the selected one; a pause stays", _JOBS,
        _WRITE_JOB, "jobs pause JOB", "resumes", "pausejob"),
    _crawl("job.resume", "", "resume job", "Resume the marked jobs, or the selected one", _JOBS,
        _WRITE_JOB, "jobs resume JOB", "pauses again", "resumejob"),
    _crawl("run.end", "", "end run", "End the run, also a detached one: its origins stop, its pages stay queued (asks)",
        needs=(Need.writer, Need.live), cli="stop --all", word="end"),
    _look("filter.open", "/", "filter",
        "Keep the rows that fit, as you type: text ~fuzzy re:x exit: state: origin: !not", _FILTERED, word="filter",
        footer=42),
    _look("filter.clear", "ctrl+l", "clear filter", "Show all rows again", _TABLES, (Need.filtered,), word="clear"),
    _look("filter.next", "n", "next match", "Go to the next row that fits the last filter", _MATCHED),
    _look("filter.previous", "N", "previous match", "Go to the row before that fits it", _MATCHED),
    _look("sort.pick", "s", "sort", "Choose the column to order by", _TABLES, word="sort", footer=51,
        takes=Takes.order),
    _look("sort.reverse", "t r", "reverse", "Turn the order round, or order by the current column", _TABLES,
        word="reverse"),
    *(
        _look(f"sort.{column}", "", f"by {column}", f"Order the origins by {words}; again: reverse", _OVERVIEW)
        for column, words in ORDERS.items()
    ),
    _look("columns.choose", "t c", "columns", "Choose the columns of the origins, and their order", _OVERVIEW,
        word="columns"),
    _look("layout.use", "t l", "layout", "Use a saved layout: its columns, order and filter", _OVERVIEW,
        word="layout", takes=Takes.layout),
    _look("layout.keep", "t k", "keep layout", "Save columns, order and filter as a layout under a name",
        _OVERVIEW, word="keeplayout"),
    _look("layout.drop", "t d", "drop layout", "Delete a saved layout", _OVERVIEW, word="droplayout",
        takes=Takes.layout),
    _look("table.pivot", "t f", "pivot",
        "How often each value of the current column occurs; the chosen one keeps its rows", _TABLES, word="pivot"),
    _look("sql.open", "g q", "SQL", "Query the database in SQL (read-only)", word="sql", needs=(Need.queries,)),
    _look("sql.catalogue", "o v", "views", "Show or hide the views with their columns", _SQL, word="views"),
    _look("sql.chart", "o c", "chart",
        "Chart the current column of the result, again: the next column of numbers; :chart X Y", _SQL, word="chart"),
    _look("pulse.wider", "+", "larger", "Show the next longer span, up to a month", _SPANS, footer=11),
    _look("pulse.narrower", "-", "smaller", "Show the next shorter span, down to a minute", _SPANS, footer=12),
    _look("pulse.follow", "", "follow", "Follow the present again", _SPANS, (Need.newer,), word="follow"),
    _look("pulse.of", "o o", "of what", "The whole crawl, or: origin NAME, job NAME, worker NAME", _PULSE,
        cli="pulse --origin|--job|--worker NAME", word="of", takes=Takes.scope),
    _look("pulse.latency", "o l", "latency by", "Latency of the response, or by look-up, connect, first byte, body",
        _PULSE, word="latency"),
    _look("pulse.wall", "o w", "wall", "Every origin over the span, one line each; or the charts", _PULSE, word="wall"),
    _look("timeline.open", "o p", "politeness", "Required and actual gaps between the requests of an origin over time",
        _ORIGINS, (Need.origin,), "audit --verbose", word="politeness"),
    _look("view.problems", "t p", "problems", "Show problems only, or everything again", _PROBLEMS, word="problems"),
    _look("view.freeze", "f", "freeze", "Hold the picture while the crawl continues; in a replay hold or play time",
        word="freeze", footer=53),
    _look("failures.group", "t g", "group by", "Choose what failures are grouped by; enter: the next of the list",
        _FAILURES, word="groupby", short="grouping"),
    _look("failures.count", "t n", "count", "Count the failed pages again, now", _FAILURES, word="recount"),
    _look("log.next_error", "l e", "next error", "Go to the next (older) problem in the events or attempts", _PROBLEMS,
        word="error"),
    _look("log.previous_error", "l E", "newer error", "Go to the newer problem in the events or attempts", _PROBLEMS),
    _look("list.older", "g n", "older rows", "The next window of the list", _LISTS, (Need.older,), word="more"),
    _look("runs.diff", "g d", "compare", "Compare two runs: the marked ones, or the last two; :diff 6 7",
        cli="diff RUN RUN", word="diff"),
    _look("replay.open", "g r", "replay", "Replay the run from its beginning",
        needs=(Need.replays,), cli="replay --console", word="replay"),
    _look("replay.play", "", "play", "Play, or pause the replay", needs=_REPLAY, word="play", footer=1),
    _look("replay.speed", "g v", "speed", "The next speed, 1 to 1,000 times; :speed 60", needs=_REPLAY, word="speed"),
    _look("replay.previous", "<", "back", "Back to the attempt before", needs=_REPLAY, word="attemptback", footer=2),
    _look("replay.next", ">", "on", "On to the next attempt", needs=_REPLAY, word="attempton", footer=3),
    _look("replay.previous_failure", "g <", "failure back", "Back to the attempt before that failed", needs=_REPLAY,
        word="failureback"),
    _look("replay.next_failure", "g >", "failure", "On to the next attempt that failed", needs=_REPLAY,
        word="failureon"),
    _look("replay.previous_mark", "g [", "mark back", "Back to the start or end of a run, or to what an operator did",
        needs=_REPLAY, word="markback"),
    _look("replay.next_mark", "g ]", "mark", "On to the next start or end of a run, or to what an operator did",
        needs=_REPLAY, word="markon"),
    _look("replay.first", "g 0", "beginning", "To the beginning", needs=_REPLAY, word="begin"),
    _look("replay.last", "g $", "end of log", "To the newest entry of the log", needs=_REPLAY, word="endlog"),
    _look("list.newer", "g p", "newer rows", "The previous window of the list", _LISTS, (Need.newer,)),
    _look("log.search", "l s", "search", "Search the log for a text, as you type", _LOG, word="search"),
    _look("log.next_hit", "n", "next match", "Go to the next (older) place found", _LOG, word="hit"),
    _look("log.previous_hit", "N", "previous match", "Go to the newer place found", _LOG),
    _look("log.filter", "/", "filter", "Keep the entries that fit, as you type: text ~fuzzy re:x exit: origin: !not",
        _LOG, word="filterlog", footer=53),
    _look("log.level", "l l", "level", "Show everything, warnings and errors, or errors only", _LOG, word="level"),
    _look("log.next_warning", "l w", "next warning", "Go to the next (older) warning", _LOG, word="warning"),
    _look("log.previous_warning", "l W", "newer warning", "Go to the newer warning", _LOG),
    _look("log.origin", "l o", "this origin", "Only the origin of this entry, or all again", _LOG, word="only"),
    _look("log.time", "l t", "time", "Show the time of day, or how long ago", _LOG, word="time"),
    _look("log.newest", "l f", "newest", "Go to the newest entry and follow", _LOG, (Need.newer,), word="newest"),
    _crawl("job.toggle_pause", "p", "pause", "Pause or resume the marked jobs, or the selected one", _JOBS,
        _WRITE_JOB, "jobs pause|resume JOB", "resumes, or pauses again", "togglejob", 20),
    _crawl("job.later", "o l", "later", "Raise the niceness of the jobs by 10: others come first", _JOBS, _WRITE_JOB,
        "jobs set JOB --nice N", "restores the niceness", "later"),
    _crawl("job.sooner", "o e", "sooner", "Lower the niceness of the jobs by 10: they come first", _JOBS, _WRITE_JOB,
        "jobs set JOB --nice N", "restores the niceness", "sooner"),
    _crawl("job.nice", "o n", "nice", "Set the niceness of the jobs; lower comes first", _JOBS, _WRITE_JOB,
        "jobs set JOB --nice N", "restores the niceness", "nice"),
    _crawl("job.depth", "o d", "depth", "Set the depth of the jobs: links away from a seed, or none", _JOBS, _WRITE_JOB,
        "jobs set JOB --depth N", "restores the depth", "depth"),
    _crawl("job.concurrency", "o c", "concurrency", "Set how many pages of the jobs are in flight at most, or none",
        _JOBS, _WRITE_JOB, "jobs set JOB --concurrency N", "restores the limit", "concurrency"),
    _crawl("worker.toggle_pause", "p", "pause", "Pause or resume the marked workers, or the selected one", _WORKERS,
        _WRITE_WORKER, "workers pause|resume NAME", "resumes, or pauses again", "toggleworker", 20, Takes.worker),
    _crawl("worker.pause", "", "pause", "Pause workers: they send no requests and keep their origins", _WORKERS,
        _WRITE_WORKER, "workers pause NAME", "resumes", "pauseworker", takes=Takes.worker),
    _crawl("worker.resume", "", "resume", "Resume workers", _WORKERS, _WRITE_WORKER, "workers resume NAME",
        "pauses again", "resumeworker", takes=Takes.worker),
    _crawl("worker.drain", "o g", "drain",
        "Drain workers: finish what is in flight, give their origins back and exit (asks)", _WORKERS, _WRITE_WORKER,
        "workers drain NAME", word="drain", takes=Takes.worker),
    _crawl("worker.stop", "o s", "stop", "Stop workers, as SIGTERM does (asks)", _WORKERS, _WRITE_WORKER,
        "workers stop NAME", word="stopworker", takes=Takes.worker),
    _crawl("worker.tags", "o t", "tags", "Set the tags of the workers: the jobs they take; none: jobs without a tag",
        _WORKERS, _WRITE_WORKER, "workers tags NAME TAG…", "restores its tags", "tags"),
    _crawl("origin.move", "o m", "move", "Give origins, each with its site, to a worker; :move ORIGIN WORKER",
        _ORIGINS | _WORKERS, (*_WRITE_ORIGIN, Need.unfinished, Need.movable), "workers move ORIGIN NAME",
        "gives them back to their previous worker", "move", takes=Takes.move),
    _look("stats.ledger", "t s", "show", "Show refused links, limbo, stashes, validation, runs, actions of operators",
        _JOBS, word="show", takes=Takes.ledger),
    _look("stats.count", "t n", "count", "Count the pages in stashes, or what validators said, now", _JOBS,
        word="count"),
    _look("url.inspect_why", "i", "why?", "Why a URL is (not) crawled: any URL, also an unknown one",
        cli="why URL", word="why", footer=63, takes=Takes.url),
    _look("url.tab_why", "o w", "why", "Why it is here, and the decision trace", _TABS),
    _look("url.tab_attempts", "o a", "attempts", "Every attempt with its requests", _TABS),
    _look("url.tab_headers", "o h", "headers", "Headers as sent and received", _TABS),
    _look("url.tab_links", "o l", "links", "Links to it and from it, redirects", _LINKS),
    _look("url.tab_body", "o b", "body", "Stored body, validation, data blocks", _TABS),
    _look("url.read", "o t", "read", "Show the stored page as text with numbered links, or as source", _TABS,
        word="read"),
    _look("url.follow", "o f", "link", "Open a link of the page as text by its number", _TABS, word="link"),
    _look("url.raw", "o y", "raw bytes", "The stored body as bytes, or as text again", _TABS),
    _crawl("rule.add", "a", "add", "Write a new entry of the rules, as the configuration does; drafted, not applied",
        _RULES, _WRITE_RULES, word="rule", footer=20),
    _look("rule.edit", "e", "edit", "Edit the rules as text, from the selected entry on; drafted, not applied",
        _RULES | _DRAFT, (Need.rules, Need.entry), word="edit", footer=21),
    _crawl("rule.delete", "o d", "delete", "Draft the rules without the selected entry; ✎: remove it from the list",
        _RULES, _WRITE_ENTRY, word="delete"),
    _crawl("rule.up", "o u", "move up", "Move the entry up in its section; of rules that match the last one wins",
        _RULES, _WRITE_ENTRY, word="up"),
    _crawl("rule.down", "o j", "move down", "Move it down in a section", _RULES, _WRITE_ENTRY, word="down"),
    _crawl("rules.apply", "ctrl+s", "apply", "Apply the draft as a new version (asks when it blocks much, or a seed)",
        _DRAFT, (*_WRITE_RULES, Need.draft), "rules apply FILE", "restores the previous version", "apply", 15),
    _look("rules.editor", "o e", "editor", "Edit the draft with $VISUAL or $EDITOR", _DRAFT, (Need.rules,),
        word="editor"),
    _crawl("rules.bring_back", "o b", "undo version", "Draft the previous version, or the selected one", _RULES,
        _WRITE_RULES, "rules undo", word="back"),
    _crawl("rules.exclude", "o x", "exclude",
        "Put a host, domain, network or pattern on the exclusion list, at once (asks)",
        _RULES | _DRAFT | _on(Where.tree), _WRITE, "exclude KIND VALUE --reason TEXT", "removes it from the list",
        "exclude"),
    _look("rules.test", "o t", "test URL", "Test what the rules or the draft do with a URL", _RULES | _DRAFT,
        cli="rules test URL", word="test"),
    _look("rules.count", "o r", "count hits", "Count the hits of each entry again", _RULES, word="fired"),
    _look("rules.job", "o n", "next job", "Show the rules of another job", _RULES, word="nextjob"),
    _crawl("rule.from_selection", "m", "make rule",
        "Draft a rule for the marked URLs, or the selected one, and similar ones", _MAKES_RULES,
        (Need.writer, Need.url), word="makerule", footer=46),
    *(
        _look(where.goes_there, view.key, view.label, view.help, word=view.label.lower(),
            takes=_VIEWS_TAKE.get(where, Takes.nothing), short=view.formerly)
        for where, view in VIEWS.items()
    ),
    _look("diagnosis.show", "g w", "what is wrong",
        "Show the pages or the origin that the line under the tabs is about", needs=(Need.diagnosis,), word="wrong"),
    _crawl("diagnosis.allow", "m", "make rule",
        "Draft the policy that allows the queries that are refused, as the line under the tabs says",
        frozenset(Where) - _MAKES_RULES - _DRAFT - _SQL, (Need.writer, Need.diagnosis), word="allow"),
    _look("diagnosis.dismiss", "x", "hide", "Hide the line under the tabs for this run, until it is worse",
        needs=(Need.diagnosis,), word="hide"),
    _look("origin.open", "g o", "origin", "Open an origin by its name; :o for short", needs=(Need.origin,),
        word="origin", short="o"),
    _look("worker.open", "g k", "worker", "Show a worker by its name, among all", word="worker", takes=Takes.worker),
    _look("url.open", "g u", "URL", "Open any URL of the crawl", word="url", takes=Takes.url),
    _look("failures.exit", "g x", "exit code", "Go to the failures that ended with an exit code", word="fail",
        takes=Takes.exit_code),
    _look("log.goto", "g t", "go to time",
        "Go to a time in the log, or in a replay: 10:21, 10:21:30, 2026-01-31 10:21, -5m", word="goto",
        takes=Takes.time),
    _look("log.bookmark", "l b", "bookmark", "Add or remove a bookmark on the entry", _LOG, word="bookmark"),
    _look("log.next_bookmark", "l n", "next bookmark", "Go to the next (older) bookmark, round the end", _LOG,
        word="marked"),
    _look("nav.last", "g l", "last place", "Go to the place before, and again: back here", frozenset(Where) - _SPANS,
        word="last"),
    _look("nav.earlier", "g b", "earlier", "Go back in the history of places", word="earlier"),
    _look("nav.later", "g f", "later place", "Go forward in the history of places"),
    _look("copy.pick", "y", "copy", "Copy the marked rows, or the selected one", word="copy", footer=66,
        takes=Takes.copy),
    _look("copy.url", "y u", "URL", "Copy URLs"),
    _look("copy.curl", "y c", "curl", "Copy the requests as curl commands"),
    _look("copy.json", "y j", "JSON", "Copy the records as JSON"),
    _look("copy.row", "y r", "row", "Copy the rows as text"),
    _look("view.export", "t e", "export", "Write the rows of this table as CSV, JSON Lines or Markdown into exports/",
        word="export", takes=Takes.format),
    _look("nav.back", "escape", "back", "Go back; first end zoom and filter and clear marks", footer=80),
    _move("focus.next", "tab", "next pane", "Go to the next pane"),
    _move("focus.previous", "shift+tab", "previous pane", "Go to the pane before"),
    _move("focus.jump", "g j", "jump", "Letters over the panes, tabs and views: one key goes there"),
    _look("zoom.in", "+", "larger", "Give the pane half of the screen, then all of it", frozenset(Where) - _SPANS,
        (Need.smaller,), word="zoom", footer=68),
    _look("zoom.out", "-", "smaller", "Give the pane less room again", frozenset(Where) - _SPANS, (Need.zoomed,),
        word="unzoom", footer=12),
    _look("menu.selected", "o", "selected", "What can be done with the selection", _SELECTED, footer=85),
    _look("menu.log", "l", "log", "Move through problems, and choose what the log shows", _PROBLEMS, footer=86),
    _look("menu.table", "t", "table", "Columns, marks, groups, export, and the theme", footer=87),
    _look("menu.go", "g", "go to", "Go to a row, an origin, a URL, a time or a place seen before", footer=88),
    _console("cmd.prompt", ":", "command", "Type an action by its word", footer=90),
    _console("cmd.palette", "ctrl+p", "palette", "Search all actions and origins"),
    _console("theme.next", "t t", "theme", "The next colour theme; kept for the next time", word="theme"),
    _console("app.screenshot", "", "screenshot", "Write this screen as SVG into screenshots/", word="screenshot"),
    _console("help.keys", "?", "help", "All keys, what they do, and why not", word="help", footer=91),
    _console("help.pane", "f1", "this pane", "What the pane shows, its columns, its keys", word="pane"),
    _console("app.quit", "q", "quit",
        "Finish what is in flight (at most 5 s) and quit; again: at once. A crawl elsewhere continues (:end ends it)",
        word="quit", footer=92),
    _crawl("run.start", "c", "continue", "Continue the crawl in this console, where the crawler died or its run ended",
        needs=(Need.writer, Need.startable), cli="run CONFIG", word="start", footer=5),
    _console("app.detach", "Q", "detach", "Leave; the crawl continues as its own process (:end ends it)",
        needs=(Need.detachable,), cli="run CONFIG", word="detach", footer=93),
    _console("app.ask_quit", "ctrl+c", "quit", "Ask whether to quit"),
    _console("app.suspend", "ctrl+z", "suspend", "Suspend to the shell (asks where a crawl runs here)", word="suspend"),
)  # fmt: skip

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def actions_at(where: Where) -> tuple[Action, ...]:
    """The actions of one screen, in the order of the table."""
    return tuple(action for action in ACTIONS if action.at(where))


def find_actions(word: str, where: Where) -> tuple[Action, ...]:
    """The actions of one screen that a word may mean: the one whose word, short form or id it is, else all that begin
    so."""
    wanted = word.casefold()
    named = [action for action in actions_at(where) if action.word] if wanted else []
    exact = [action for action in named if wanted in {action.word, action.short, action.id}]
    return tuple(exact[:1] or [action for action in named if action.word.startswith(wanted)])
