"""What stands under `examples:` in the help of each command: lines that do something real, as one types them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_EXAMPLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "demo": ("demo", "demo --headless --json | tail -1"),
        "crawl": ("crawl https://example.org/", "crawl https://example.org/docs/ --db docs.db"),
        "run": ("run my-index.yaml --max-requests 500", "run my-index.yaml --workers 4 --json > events.jsonl"),
        "check": ("check my-index.yaml", "check --schema > schema.json"),
        "status": ("status", "status --json | jq '.origins[] | select(.failed > 0) | .origin'"),
        "why": ("why https://example.org/missing", "why https://example.org/ --verbose"),
        "pause": ("pause example.org", "pause --all"),
        "resume": ("resume example.org", "resume --all"),
        "stop": ("stop https://example.org", "stop --all"),
        "top-up": ("top-up example.org",),
        "refetch": ("refetch example.org",),
        "delay": ("delay example.org 10s", "delay example.org 0s"),
        "add": ("add https://example.org/new/", "sort -u urls.txt | tui-crawler add -"),
        "retry": ("retry --exit-code request_timeout,connection_failed", "retry --origin example.org"),
        "failures": ("failures --by http_status,pattern", "failures --list --referrers --json > failures.json"),
        "links": ("links https://example.org/page", "links --broken"),
        "report": ("report --output report.html", "report --format junit > report.xml"),
        "rules show": ("rules show", "rules show --json | jq .rules"),
        "rules test": ("rules test https://example.org/calendar/2027",),
        "rules preview": ("rules preview rules.yaml",),
        "rules apply": ("rules apply rules.yaml --note 'no calendars'",),
        "rules undo": ("rules undo",),
        "rules history": ("rules history",),
        "rules diff": ("rules diff 1", "rules diff 1 2"),
        "audit": ("audit", "audit --verbose"),
        "export": (
            "export pages --format csv --output pages.csv",
            "export bodies --format warc --output all.warc.gz",
        ),
        "exclude": ("exclude domain example.net --reason 'the owner asked'", "exclude --list"),
        "jobs": ("jobs",),
        "jobs set": ("jobs set news --nice -5 --concurrency 2",),
        "jobs pause": ("jobs pause news",),
        "jobs resume": ("jobs resume news",),
        "jobs abort": ("jobs abort news",),
        "jobs unabort": ("jobs unabort news",),
        "pages stash": ("pages stash later --pattern /archive/",),
        "pages unstash": ("pages unstash later --limit 100",),
        "pages dripfeed": ("pages dripfeed later 20",),
        "pages reclaim": ("pages reclaim --older '2 hours' --reason 'the worker died'",),
        "pages probe": ("pages probe https://example.org/large.iso",),
        "pages limbo": ("pages limbo --older '1 hour'",),
        "pages stashes": ("pages stashes",),
        "queue build": ("queue build my-index.yaml --output segments",),
        "queue load": ("queue load", "queue load segments --all"),
        "log": ("log --limit 50", "log --origin example.org --follow"),
        "db check": ("db check",),
        "db upgrade": ("db upgrade --db my-index.db",),
        "db path": ("sqlite3 \"$(tui-crawler db path)\" 'SELECT * FROM v_origin'",),
        "completion": ('eval "$(tui-crawler completion bash)"',),
        "help": ("help run",),
    }
)


def examples_of(command: str) -> str:
    """The examples of a command (`jobs set`), empty where it has none. A line that begins with the command is given
    the program's name."""
    lines = _EXAMPLES.get(command, ())
    written = (f"tui-crawler {line}" if line.startswith(command) else line for line in lines)
    return "\n  ".join(("examples:", *written)) if lines else ""
