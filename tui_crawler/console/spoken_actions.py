"""Actions that have no key of their own: they are typed at the prompt, or chosen in the help sheet or the palette."""

from __future__ import annotations

from tui_crawler.console.action import Action, Group, Need, Where

_ORIGINS = frozenset({Where.overview, Where.origin})
_JOBS = frozenset({Where.stats})
_WRITE_ORIGIN = (Need.writer, Need.origin)
_WRITE_JOB = (Need.writer, Need.job)

SPOKEN: tuple[Action, ...] = (
    Action(
        "origin.pause", "", "pause", "Pause the marked origins, or the selected one; a pause stays", Group.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.unfinished, Need.unpaused), "tui-crawler pause ORIGIN", "takes the pause off",
        "pause",
    ),
    Action(
        "origin.resume", "", "resume", "Take the pause off the marked origins, or the selected one", Group.crawl,
        _ORIGINS, (*_WRITE_ORIGIN, Need.paused), "tui-crawler resume ORIGIN", "puts the pause back", "resume",
    ),
    Action(
        "all.pause", "", "pause all", "Pause every origin; a pause stays", Group.crawl, _ORIGINS,
        (Need.writer, Need.pausable), "tui-crawler pause --all", "takes the pause off", "pauseall",
    ),
    Action(
        "all.resume", "", "resume all", "Take the pause off every origin that is paused", Group.crawl, _ORIGINS,
        (Need.writer,), "tui-crawler resume --all", "puts the pause back", "resumeall",
    ),
    Action(
        "job.pause", "", "pause job", "Pause the marked jobs, or the selected one; a pause stays", Group.crawl, _JOBS,
        _WRITE_JOB, "tui-crawler jobs pause JOB", "takes the pause off", "pausejob",
    ),
    Action(
        "job.resume", "", "resume job", "Take the pause off the marked jobs, or the selected one", Group.crawl, _JOBS,
        _WRITE_JOB, "tui-crawler jobs resume JOB", "puts the pause back", "resumejob",
    ),
    Action(
        "run.end", "", "end run", "End the run, also a detached one: its origins stop, its pages stay queued (asks)",
        Group.crawl, needs=(Need.writer, Need.live), command="tui-crawler stop --all", word="end",
    ),
)  # fmt: skip
