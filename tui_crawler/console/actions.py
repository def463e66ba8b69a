"""Every action of the console, as one table: footer, help sheet, palette, prompt, key map and docs are made from it."""

from __future__ import annotations

from collections.abc import Mapping

from tui_crawler.console.action import VIEWS, Action, Need, Takes, Topic, Where


def _on(*screens: Where) -> frozenset[Where]:
    return frozenset(screens)


_ORIGINS = _on(Where.overview, Where.origin)
_LISTS = _on(Where.url, Where.diff)
_URLS = _on(Where.origin, Where.failures, Where.url, Where.urls, Where.why)
_PULSE = _on(Where.pulse)
_SPANS = _PULSE | _on(Where.timeline)
_VIEWS_TAKE = {Where.overview: Takes.origin, Where.pulse: Takes.scope}
_TABLES = frozenset(Where) - _SPANS - _on(Where.why, Where.welcome, Where.page_diff, Where.rule_draft)
_FILTERED = _TABLES - _on(Where.logs)
_MATCHED = _FILTERED - _on(Where.urls, Where.stats)
_PROBLEMS = _ORIGINS | _on(Where.logs)
_JOBS = _on(Where.stats)
_TABS = _on(Where.url)
_LINKS = _on(Where.url, Where.failures)
_RULES = _on(Where.rules)
_DRAFT = _on(Where.rule_draft)
_WORKERS = _on(Where.workers)
_WRITE_RULES = (Need.writer, Need.rules)
_WRITE_ENTRY = (*_WRITE_RULES, Need.entry)
_WRITE_JOB = (Need.writer, Need.job)
_WRITE_WORKER = (Need.writer, Need.worker)
_WRITE_ORIGIN = (Need.writer, Need.origin)

ORDERS: Mapping[str, tuple[str, str]] = {
    "state": ("H", "state, worst first"),
    "origin": ("O", "origin"),
    "todo": ("W", "todo list"),
    "pending": ("A", "pending"),
    "done": ("C", "done"),
    "fail": ("U", "failed"),
    "blocked": ("K", "blocked"),
    "patience": ("J", "patience lost"),
    "delay": ("", "delay"),
    "next": ("I", "next request"),
    "exit": ("", "last exit code"),
    "took": ("L", "last response time"),
    "bytes": ("", "bytes"),
}
"""By what the origins can be ordered: the id of a column, its letter (as far as there are free ones), its words."""

ACTIONS: tuple[Action, ...] = (
    Action("nav.open", "enter", "open", "Open what the cursor is on", Topic.look, footer=10),
    Action(
        "origin.toggle_pause", "p", "pause", "Pause or resume the marked origins, or the selected one", Topic.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.unfinished), "pause|resume ORIGIN", "takes the pause off, or puts it back",
        "toggle", 20,
    ),
    Action(
        "all.toggle_pause", "P", "pause all", "Pause or resume every origin", Topic.crawl, _ORIGINS,
        (Need.writer, Need.pausable), "pause|resume --all", "takes the pause off, or puts it back", "toggleall", 65,
    ),
    Action(
        "origin.add", "a", "add", "Add seeds: one URL per line, as many as you paste", Topic.crawl,
        needs=(Need.writer,), cli="add URL…", word="add", footer=30,
    ),
    Action(
        "url.retry", "r", "retry", "Give the marked URLs, or the selected one, their tries back", Topic.crawl, _URLS,
        (Need.writer, Need.url), "retry URL…", word="retry", footer=40,
    ),
    Action(
        "origin.retry_failed", "R", "retry failed", "Retry all failed pages of the origin (asks)", Topic.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.failed), "retry --origin ORIGIN", word="retryfailed", footer=41,
    ),
    Action(
        "group.retry", "R", "retry all", "Retry all failed pages of the group, or of the branch (asks)", Topic.crawl,
        _on(Where.failures, Where.tree), (Need.writer, Need.failed), "retry --exit-code NAME --origin ORIGIN",
        word="retrygroup", footer=41,
    ),
    Action(
        "origin.top_up", "T", "top up", "Put patience back to full; an origin that gave up goes on", Topic.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.lost_patience), "top-up ORIGIN", word="topup", footer=45,
    ),
    Action(
        "delay.up", "d", "slower", "Raise the delay of the origin by a step", Topic.crawl, _ORIGINS,
        (*_WRITE_ORIGIN, Need.unfinished), "delay ORIGIN DURATION", "puts the delay back", "slower", 70,
    ),
    Action(
        "delay.down", "D", "faster", "Take back what was raised; never below robots.txt or configuration", Topic.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.unfinished, Need.own_delay), "delay ORIGIN DURATION", "puts the delay back",
        "faster", 71,
    ),
    Action(
        "origin.stop", "x", "stop", "Finish the origin for this run; its pages stay queued (asks)", Topic.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.unfinished), "stop ORIGIN", word="stop", footer=75,
    ),
    Action(
        "origin.exclude", "X", "exclude", "Put the host of the origin on the exclusion list (asks)", Topic.crawl,
        _ORIGINS, _WRITE_ORIGIN, "exclude host HOST", "takes it off the list again", "excludehost", 76,
    ),
    Action(
        "robots.refetch", "B", "refetch", "Fetch robots.txt again at once; the delay is kept", Topic.crawl,
        _ORIGINS | _on(Where.robots), _WRITE_ORIGIN, "refetch ORIGIN", word="refetch", footer=72,
    ),
    Action(
        "robots.view", "b", "robots.txt", "robots.txt with the line that decides on the selected URL, and the contract",
        Topic.look, _ORIGINS | _on(Where.failures, Where.urls, Where.why), word="robots", footer=59, takes=Takes.origin,
    ),
    Action(
        "origin.tree", "M", "site tree", "The URLs of the origin by the folders of their paths, with counts",
        Topic.look, _ORIGINS, (Need.origin,), "tree ORIGIN", word="tree", footer=58,
    ),
    Action(
        "robots.test", "ctrl+t", "try URL", "What this robots.txt says of a URL or path", Topic.look, _on(Where.robots),
        word="try", footer=24,
    ),
    Action(
        "journal.undo", "z", "undo", "Undo the last action that can be undone", Topic.crawl,
        needs=(Need.writer, Need.undo), word="undo",
    ),
    Action(
        "journal.redo", "Z", "redo", "Do again what was undone", Topic.crawl, needs=(Need.writer, Need.redo),
        word="redo",
    ),
    Action(
        "origin.pause", "", "pause", "Pause the marked origins, or the selected one; a pause stays", Topic.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.unfinished, Need.unpaused), "pause ORIGIN", "takes the pause off", "pause",
    ),
    Action(
        "origin.resume", "", "resume", "Take the pause off the marked origins, or the selected one", Topic.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.paused), "resume ORIGIN", "puts the pause back", "resume",
    ),
    Action(
        "all.pause", "", "pause all", "Pause every origin; a pause stays", Topic.crawl, _ORIGINS,
        (Need.writer, Need.pausable), "pause --all", "takes the pause off", "pauseall",
    ),
    Action(
        "all.resume", "", "resume all", "Take the pause off every origin that is paused", Topic.crawl, _ORIGINS,
        (Need.writer,), "resume --all", "puts the pause back", "resumeall",
    ),
    Action(
        "job.pause", "", "pause job", "Pause the marked jobs, or the selected one; a pause stays", Topic.crawl, _JOBS,
        _WRITE_JOB, "jobs pause JOB", "takes the pause off", "pausejob",
    ),
    Action(
        "job.resume", "", "resume job", "Take the pause off the marked jobs, or the selected one", Topic.crawl, _JOBS,
        _WRITE_JOB, "jobs resume JOB", "puts the pause back", "resumejob",
    ),
    Action(
        "run.end", "", "end run", "End the run, also a detached one: its origins stop, its pages stay queued (asks)",
        Topic.crawl, needs=(Need.writer, Need.live), cli="stop --all", word="end",
    ),
    Action(
        "filter.open", "/", "filter", "Keep the rows that fit, as you type: text ~fuzzy re:x exit: state: origin: !not",
        Topic.look, _FILTERED, word="filter", footer=42,
    ),
    Action(
        "filter.clear", "ctrl+l", "clear filter", "Show all rows again", Topic.look, _TABLES, (Need.filtered,),
        word="clear",
    ),
    Action("filter.next", "n", "next match", "Go to the next row that fits the last filter", Topic.look, _MATCHED),
    Action("filter.previous", "N", "previous match", "Go to the row before that fits it", Topic.look, _MATCHED),
    Action(
        "sort.pick", "s", "sort", "Choose the column to order by", Topic.look, _TABLES, word="sort", footer=51,
        takes=Takes.order,
    ),
    Action(
        "sort.reverse", "S", "reverse", "Turn the order round, or order by the current column", Topic.look, _TABLES,
        word="reverse",
    ),
    *(
        Action(
            f"sort.{column}", key, f"by {column}", f"Order the origins by {words}; again: the other way round",
            Topic.look, _on(Where.overview),
        )
        for column, (key, words) in ORDERS.items()
        if key
    ),
    Action(
        "columns.choose", "c", "columns", "Choose the columns of the origins, and their order", Topic.look,
        _on(Where.overview), word="columns", footer=54,
    ),
    Action(
        "layout.use", "", "layout", "Show a layout that was kept: its columns, order and filter", Topic.look,
        _on(Where.overview), word="layout", takes=Takes.layout,
    ),
    Action(
        "layout.keep", "", "keep layout", "Keep columns, order and filter as a layout, by the name typed after it",
        Topic.look, _on(Where.overview), word="keeplayout",
    ),
    Action(
        "layout.drop", "", "drop layout", "Forget a layout that was kept", Topic.look, _on(Where.overview),
        word="droplayout", takes=Takes.layout,
    ),
    Action(
        "table.pivot", "F", "pivot", "How often each value of the current column occurs; the chosen one keeps its rows",
        Topic.look, _TABLES, word="pivot", footer=68,
    ),
    Action(
        "sql.open", ";", "SQL", "Ask the database in SQL; only reading is possible", Topic.look, word="sql",
        needs=(Need.queries,),
    ),
    Action("pulse.wider", "+", "longer", "Show the next longer span, up to a month", Topic.look, _SPANS, footer=11),
    Action(
        "pulse.narrower", "-", "shorter", "Show the next shorter span, down to a minute", Topic.look, _SPANS, footer=12,
    ),
    Action(
        "pulse.follow", ".", "follow", "Follow the present again", Topic.look, _SPANS, (Need.newer,), word="follow",
        footer=13,
    ),
    Action(
        "pulse.of", "O", "of what", "The whole crawl, or: origin NAME, job NAME, worker NAME", Topic.look, _PULSE,
        cli="pulse --origin|--job|--worker NAME", word="of", footer=14, takes=Takes.scope,
    ),
    Action(
        "pulse.latency", "L", "latency by", "Latency of the response, or by look-up, connect, first byte, body",
        Topic.look, _PULSE, word="latency", footer=15,
    ),
    Action(
        "timeline.open", "w", "politeness", "Promised and kept gaps of the marked origins, or the selected, over time",
        Topic.look, _ORIGINS, (Need.origin,), "audit --verbose", word="politeness", footer=47,
    ),
    Action(
        "view.problems", "!", "problems", "Show problems only, or everything again", Topic.look, _PROBLEMS,
        word="problems", footer=52,
    ),
    Action(
        "view.freeze", "f", "freeze", "Hold the picture still while the crawl goes on", Topic.look, word="freeze",
        footer=53,
    ),
    Action(
        "failures.group", "c", "group by", "Change what failures are grouped by", Topic.look, _on(Where.failures),
        word="groupby", footer=50,
    ),
    Action(
        "failures.pick", "C", "choose grouping", "Choose what failures are grouped by from a list", Topic.look,
        _on(Where.failures), word="grouping",
    ),
    Action(
        "failures.count", "u", "count", "Count the failed pages again, now", Topic.look, _on(Where.failures),
        word="recount",
    ),
    Action(
        "log.next_error", "e", "next error", "Go to the next (older) problem in the events or attempts", Topic.look,
        _PROBLEMS, word="error", footer=60,
    ),
    Action(
        "log.previous_error", "E", "newer error", "Go to the newer problem in the events or attempts", Topic.look,
        _PROBLEMS,
    ),
    Action(
        "list.older", ">", "more", "The next window of the list", Topic.look, _LISTS, (Need.older,), word="more",
        footer=61,
    ),
    Action(
        "runs.diff", "=", "compare", "What two runs found different: the marked ones, or the last two; :diff 6 7",
        Topic.look, cli="diff RUN RUN", word="diff",
    ),
    Action(
        "replay.open", "", "replay", "See the run at hand again from its beginning, as of then", Topic.look,
        needs=(Need.replays,), cli="replay --console", word="replay",
    ),
    Action(
        "replay.play", "backslash", "play", "Let time pass, or hold it still", Topic.look, needs=(Need.replay,),
        word="play", footer=1,
    ),
    Action(
        "replay.speed", "%", "speed", "The next speed, 1 to 1,000 times; :speed 60", Topic.look, needs=(Need.replay,),
        word="speed", footer=4,
    ),
    Action(
        "replay.previous", "{", "back", "Back to the attempt before", Topic.look, needs=(Need.replay,),
        word="attemptback", footer=2,
    ),
    Action(
        "replay.next", "}", "on", "On to the next attempt", Topic.look, needs=(Need.replay,), word="attempton",
        footer=3,
    ),
    Action(
        "replay.previous_failure", "", "failure back", "Back to the attempt before that failed", Topic.look,
        needs=(Need.replay,), word="failureback",
    ),
    Action(
        "replay.next_failure", "~", "failure", "On to the next attempt that failed", Topic.look, needs=(Need.replay,),
        word="failureon", footer=6,
    ),
    Action(
        "replay.previous_mark", "", "mark back", "Back to the start or end of a run, or to what an operator did",
        Topic.look, needs=(Need.replay,), word="markback",
    ),
    Action(
        "replay.next_mark", "", "mark", "On to the next start or end of a run, or to what an operator did", Topic.look,
        needs=(Need.replay,), word="markon",
    ),
    Action("replay.first", "", "beginning", "To the beginning", Topic.look, needs=(Need.replay,), word="begin"),
    Action("replay.last", "", "end of log", "To the end of the log", Topic.look, needs=(Need.replay,), word="endlog"),
    Action("list.newer", "<", "back", "The window before", Topic.look, _LISTS, (Need.newer,), footer=62),
    Action(
        "log.search", "/", "search", "Look for a text in the log, as you type", Topic.look, _on(Where.logs),
        word="search", footer=50,
    ),
    Action(
        "log.next_hit", "n", "next hit", "Go to the next (older) place found", Topic.look, _on(Where.logs), word="hit",
    ),
    Action("log.previous_hit", "N", "newer hit", "Go to the newer place found", Topic.look, _on(Where.logs)),
    Action(
        "log.filter", "&", "filter", "Keep the entries that fit, as you type: text ~fuzzy re:x exit: origin: !not",
        Topic.look, _on(Where.logs), word="filterlog", footer=53,
    ),
    Action(
        "log.level", "L", "level", "Show everything, warnings and errors, or errors only", Topic.look, _on(Where.logs),
        word="level", footer=55,
    ),
    Action(
        "log.next_warning", "w", "next warning", "Go to the next (older) warning", Topic.look, _on(Where.logs),
        word="warning", footer=61,
    ),
    Action("log.previous_warning", "W", "newer warning", "Go to the newer warning", Topic.look, _on(Where.logs)),
    Action(
        "log.origin", "O", "this origin", "Only the origin of this entry, or all again", Topic.look, _on(Where.logs),
        word="only", footer=54,
    ),
    Action(
        "log.time", "T", "time", "Show the time of day, or how long ago", Topic.look, _on(Where.logs), word="time",
        footer=56,
    ),
    Action(
        "log.newest", ">", "newest", "Go to the newest entry and follow", Topic.look, _on(Where.logs), (Need.newer,),
        word="newest", footer=50,
    ),
    Action(
        "job.toggle_pause", "p", "pause job", "Pause or resume the marked jobs, or the selected one", Topic.crawl,
        _JOBS, _WRITE_JOB, "jobs pause|resume JOB", "takes the pause off, or puts it back", "togglejob", 20,
    ),
    Action(
        "job.later", "d", "later", "Raise the niceness of the jobs by 10: others come first", Topic.crawl, _JOBS,
        _WRITE_JOB, "jobs set JOB --nice N", "puts the niceness back", "later", 21,
    ),
    Action(
        "job.sooner", "D", "sooner", "Lower the niceness of the jobs by 10: they come first", Topic.crawl, _JOBS,
        _WRITE_JOB, "jobs set JOB --nice N", "puts the niceness back", "sooner", 22,
    ),
    Action(
        "job.nice", "n", "nice", "Type the niceness of the jobs; lower is sooner", Topic.crawl, _JOBS, _WRITE_JOB,
        "jobs set JOB --nice N", "puts the niceness back", "nice", 23,
    ),
    Action(
        "job.depth", "L", "depth", "Type how many links away from a seed the jobs go, or none", Topic.crawl, _JOBS,
        _WRITE_JOB, "jobs set JOB --depth N", "puts the depth back", "depth", 24,
    ),
    Action(
        "job.concurrency", "C", "concurrency", "Type how many pages of the jobs are in flight at most, or none",
        Topic.crawl, _JOBS, _WRITE_JOB, "jobs set JOB --concurrency N", "puts the limit back", "concurrency", 25,
    ),
    Action(
        "worker.toggle_pause", "p", "pause", "Pause or resume the marked workers, or the selected one", Topic.crawl,
        _WORKERS, _WRITE_WORKER, "workers pause|resume NAME", "takes the pause off, or puts it back", "toggleworker",
        20, Takes.worker,
    ),
    Action(
        "worker.pause", "", "pause", "Pause workers: they ask nothing and keep their origins", Topic.crawl, _WORKERS,
        _WRITE_WORKER, "workers pause NAME", "takes the pause off", "pauseworker", takes=Takes.worker,
    ),
    Action(
        "worker.resume", "", "resume", "Take the pause off workers", Topic.crawl, _WORKERS, _WRITE_WORKER,
        "workers resume NAME", "puts the pause back", "resumeworker", takes=Takes.worker,
    ),
    Action(
        "worker.drain", "d", "drain", "Let workers finish what is in flight, give their origins back and leave (asks)",
        Topic.crawl, _WORKERS, _WRITE_WORKER, "workers drain NAME", word="drain", footer=21, takes=Takes.worker,
    ),
    Action(
        "worker.stop", "x", "stop", "Let workers leave, as by SIGTERM (asks)", Topic.crawl, _WORKERS, _WRITE_WORKER,
        "workers stop NAME", word="stopworker", footer=22, takes=Takes.worker,
    ),
    Action(
        "worker.tags", "T", "tags", "Type the tags of the workers: the jobs they take; none: jobs without a tag",
        Topic.crawl, _WORKERS, _WRITE_WORKER, "workers tags NAME TAG…", "puts its tags back", "tags", 23,
    ),
    Action(
        "origin.move", "@", "move", "Give origins, each with its site, to a worker; :move ORIGIN WORKER", Topic.crawl,
        _ORIGINS | _WORKERS, (*_WRITE_ORIGIN, Need.unfinished, Need.movable), "workers move ORIGIN NAME",
        "gives them back to who had them", "move", 46, Takes.move,
    ),
    Action(
        "stats.ledger", "c", "show", "Show refused links, limbo, stashes, validation, runs, actions of operators",
        Topic.look, _JOBS, word="show", footer=50, takes=Takes.ledger,
    ),
    Action(
        "stats.exits", "O", "whose exits", "Exit codes of the origin under the cursor, or of the whole run", Topic.look,
        _JOBS, word="exits", footer=51,
    ),
    Action(
        "stats.count", "u", "count", "Count the pages in stashes, or what validators said, now", Topic.look, _JOBS,
        word="count",
    ),
    Action(
        "url.inspect_why", "i", "why?", "Why a URL is (not) crawled: asks for any URL, also one never seen", Topic.look,
        cli="why URL", word="why", footer=63, takes=Takes.url,
    ),
    Action("url.tab_why", "W", "why", "Why it is here, and the decision trace", Topic.look, _TABS),
    Action("url.tab_attempts", "A", "attempts", "Every attempt with its requests", Topic.look, _TABS),
    Action("url.tab_headers", "H", "headers", "Headers as sent and received", Topic.look, _TABS),
    Action("url.tab_links", "L", "links", "Links to it and from it, redirects", Topic.look, _LINKS),
    Action("url.tab_body", "B", "body", "Stored body, validation, data blocks", Topic.look, _TABS),
    Action("origin.tab_state", "W", "state", "Its state, and what led to it", Topic.look, _on(Where.origin)),
    Action("origin.tab_attempts", "A", "attempts", "Its attempts, the newest first", Topic.look, _on(Where.origin)),
    Action("origin.tab_todo", "L", "todo list", "Its pages in the order of their turns", Topic.look, _on(Where.origin)),
    Action("origin.tab_exits", "C", "exit codes", "How its attempts ended", Topic.look, _on(Where.origin)),
    Action(
        "url.read", "e", "read", "The stored page as text with numbered links, or as it is again", Topic.look, _TABS,
        word="read",
    ),
    Action("url.follow", "#", "link", "Open a link of the page as text by its number", Topic.look, _TABS, word="link"),
    Action("url.raw", "b", "raw bytes", "The stored body as bytes, or as text again", Topic.look, _TABS, footer=26),
    Action(
        "rule.add", "e", "new entry", "Write a new entry of the rules, as the configuration does; drafted, not applied",
        Topic.crawl, _RULES, _WRITE_RULES, word="rule", footer=20,
    ),
    Action(
        "rule.edit", "E", "edit", "Edit the rules as text, from the selected entry on; drafted, not applied",
        Topic.crawl, _RULES | _DRAFT, _WRITE_ENTRY, word="edit", footer=21,
    ),
    Action(
        "rule.delete", "D", "delete", "Draft the rules without the selected entry; ✎: take it off the list",
        Topic.crawl, _RULES, _WRITE_ENTRY, word="delete", footer=21,
    ),
    Action(
        "rule.up", "K", "move up", "Move the entry up in its section; of rules that match the last one wins",
        Topic.crawl, _RULES, _WRITE_ENTRY, word="up",
    ),
    Action("rule.down", "J", "move down", "Move it down in a section", Topic.crawl, _RULES, _WRITE_ENTRY, word="down"),
    Action(
        "rules.apply", "A", "apply", "Apply the draft as a new version (asks when it blocks much, or a seed)",
        Topic.crawl, _DRAFT, (*_WRITE_RULES, Need.draft), "rules apply FILE",
        "brings back the version before", "apply", 15,
    ),
    Action("rules.editor", "ctrl+x ctrl+e", "editor", "Edit the draft with $VISUAL or $EDITOR", Topic.crawl, _DRAFT,
        _WRITE_RULES, word="editor", footer=22,
    ),
    Action(
        "rules.bring_back", "u", "undo version", "Draft what held before the version in force; or the selected old one",
        Topic.crawl, _RULES, _WRITE_RULES, "rules undo", word="back", footer=23,
    ),
    Action(
        "rules.exclude", "X", "exclude", "Put a host, domain, network or pattern on the exclusion list, at once (asks)",
        Topic.crawl, _RULES | _DRAFT | _on(Where.tree), (Need.writer,),
        "exclude KIND VALUE --reason TEXT", "takes it off the list again", "exclude", 25,
    ),
    Action("rules.test", "ctrl+t", "test URL", "What the rules or the draft say of a URL", Topic.look, _RULES | _DRAFT,
        cli="rules test URL", word="test", footer=24,
    ),
    Action("rules.count", "c", "count fired", "Count again what each entry refused", Topic.look, _RULES, word="fired"),
    Action("rules.job", "w", "next job", "Show the rules of another job", Topic.look, _RULES, word="nextjob"),
    Action(
        "rule.from_selection", "m", "make rule", "Draft a rule for the marked URLs, or the selected one, and all alike",
        Topic.crawl, _on(Where.origin, Where.failures, Where.url, Where.urls, Where.tree), (Need.writer, Need.url),
        word="makerule", footer=46,
    ),
    *(
        Action(
            where.goes_there, view.key, view.label, view.help, Topic.look, word=where.name,
            takes=_VIEWS_TAKE.get(where, Takes.nothing),
        )
        for where, view in VIEWS.items()
    ),
    Action(
        "origin.open", "", "origin", "Open an origin by its name; :o for short", Topic.look, needs=(Need.origin,),
        word="origin", short="o",
    ),
    Action(
        "worker.open", "", "worker", "Show a worker by its name, among all", Topic.look, word="worker",
        takes=Takes.worker,
    ),
    Action("url.open", "", "URL", "Open any URL of the crawl", Topic.look, word="url", takes=Takes.url),
    Action(
        "failures.exit", "", "exit code", "Go to the failures that ended with an exit code", Topic.look, word="fail",
        takes=Takes.exit_code,
    ),
    Action(
        "log.goto", "", "go to time", "Go to a time in the log, or in a replay: 10:21, 10:21:30, 2026-01-31 10:21, -5m",
        Topic.look, word="goto", takes=Takes.time,
    ),
    Action(
        "log.bookmark", "b", "bookmark", "Put a bookmark on the entry, or take it off", Topic.look, _on(Where.logs),
        word="bookmark",
    ),
    Action(
        "log.next_bookmark", "B", "next bookmark", "Go to the next (older) bookmark, round the end", Topic.look,
        _on(Where.logs), word="marked",
    ),
    Action(
        "nav.last", "-", "last place", "Go to the place before, and again: back here", Topic.look,
        frozenset(Where) - _SPANS, word="last",
    ),
    Action("nav.earlier", "[", "earlier", "Go back in the history of places", Topic.look, word="earlier"),
    Action("nav.later", "]", "later place", "Go on in the history of places", Topic.look),
    Action(
        "copy.pick", "y", "copy", "Copy the marked rows, or the selected one: u URL, c curl, j JSON, r row", Topic.look,
        word="copy", footer=66, takes=Takes.copy,
    ),
    Action(
        "view.export", "o", "export", "Write the rows of this table as CSV, JSON Lines or Markdown into exports/",
        Topic.look, word="export", footer=67, takes=Takes.format,
    ),
    Action(
        "nav.back", "escape", "back", "Go back; ends zoom and filter and takes marks off first", Topic.look, footer=80,
    ),
    Action("focus.next", "tab", "next pane", "Go to the next pane", Topic.move),
    Action("focus.previous", "shift+tab", "previous pane", "Go to the pane before", Topic.move),
    Action(
        "focus.jump", "ctrl+o", "jump", "Letters over the panes, tabs and views: one key goes there", Topic.move,
        footer=57,
    ),
    Action(
        "zoom.in", "+", "zoom", "Give the pane half of the screen, then all of it", Topic.look,
        frozenset(Where) - _SPANS, (Need.smaller,), word="zoom", footer=68,
    ),
    Action(
        "zoom.out", "_", "unzoom", "Give the pane less room again; back: as it was", Topic.look, needs=(Need.zoomed,),
        word="unzoom", footer=12,
    ),
    Action("cmd.prompt", ":", "command", "Type an action by its word", Topic.console, footer=90),
    Action("cmd.palette", "ctrl+p", "palette", "Search all actions and origins", Topic.console),
    Action("theme.next", "t", "theme", "The next colour theme; kept for the next time", Topic.console, word="theme"),
    Action(
        "app.screenshot", "ctrl+s", "screenshot", "Write this screen as SVG into screenshots/", Topic.console,
        word="screenshot",
    ),
    Action("help.keys", "?", "help", "All keys, what they do, and why not", Topic.console, word="help", footer=91),
    Action("help.pane", "f1", "this pane", "What the pane shows, its columns, its keys", Topic.console, word="pane"),
    Action(
        "app.quit", "q,ctrl+q", "quit",
        "Finish what is in flight (at most 5 s) and quit; again: at once. A crawl elsewhere goes on (:end ends it)",
        Topic.console, word="quit", footer=92,
    ),
    Action(
        "run.start", "Y", "take over", "Crawl on in this console, when no engine is at work any more", Topic.crawl,
        needs=(Need.writer, Need.startable), cli="run CONFIG", word="start", footer=5,
    ),
    Action(
        "app.detach", "Q", "detach", "Leave; the crawl goes on as a process of its own (:end ends it)", Topic.console,
        needs=(Need.detachable,), cli="run CONFIG", word="detach", footer=93,
    ),
    Action("app.ask_quit", "ctrl+c", "quit", "Ask whether to quit", Topic.console),
    Action(
        "app.suspend", "ctrl+z", "suspend", "Put the console in the background of the shell (asks where it crawls)",
        Topic.console, word="suspend",
    ),
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
