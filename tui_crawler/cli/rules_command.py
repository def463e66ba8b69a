"""`rules`: rulesets shown, tested, previewed, applied, undone, compared; as documents and as lines for a person."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.actions import PATIENCE_S, carry_out, value_of
from tui_crawler.cli.known_names import existing_database, one_line, reports_of
from tui_crawler.cli.options import CommandSet, positive
from tui_crawler.cli.printer import Printer, Progress, columns, local_zone, picked, safe
from tui_crawler.cli.problem import CannotRun, ExitStatus, UsageProblem
from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.text.format import count, date_time, plural

if TYPE_CHECKING:
    from tui_crawler.domain.rules.preview import Preview
    from tui_crawler.domain.rules.ruleset import RulesetChange
    from tui_crawler.wiring.origin_settings import JobRules
    from tui_crawler.wiring.rules import RuleQueries

LONGEST_NOTE = 1_000  # characters
URL_LENGTH = 2_048
SHOWN = 10
"""So many origins, seeds and samples a person is shown; a document holds all that were kept."""
_SETTINGS = "accept skip ua custom_js"
_FILE = "YAML with any of policies, rules, exclusions, whitelist, as in a configuration"


def declare(commands: CommandSet) -> None:
    group = commands.group("rules", "show, test, preview and apply rulesets and policies")
    show = group.add(
        "show", "show the rules in force as YAML", _show, examples=("rules show", "rules show --json | jq .rules")
    )
    test = group.add(
        "test",
        "show what the rules decide about a URL",
        _test,
        "Shows what policies, rules, exclusions and whitelist decide about a URL. Scope, traps and robots.txt are"
        " not checked: tui-crawler why URL shows the whole chain.",
        examples=("rules test https://example.org/calendar/2027",),
    )
    test.add_argument("url", metavar="URL", help="any URL")
    preview = group.add(
        "preview",
        "show what a change would block and revive, before it is applied",
        _preview,
        f"Judges every known URL by the rules in force and by those in FILE ({_FILE}). A list that FILE gives takes "
        "the place of the one in force; what it does not name stays. Changes nothing.",
        examples=("rules preview rules.yaml",),
    )
    apply = group.add(
        "apply",
        "apply a change of the rules, also while a run is live",
        _apply,
        f"Applies FILE ({_FILE}) as a new version, whole or not at all, also while a run is live. Earlier versions "
        "stay readable. Refused pages whose verdict is another one now are for the next run to judge.",
        examples=("rules apply rules.yaml --note 'no calendars'",),
    )
    for parser in (preview, apply):
        parser.add_argument("file", metavar="FILE", help=_FILE)
    apply.add_argument(
        "--base",
        type=positive,
        metavar="ID",
        default=0,
        help="the version the change was made from; refused if another",
    )
    undo = group.add(
        "undo",
        "restore the previous version",
        _undo,
        "Restores the previous version of the rules, as a new version; so a second undo reverts the first.",
        examples=("rules undo",),
    )
    for parser in (apply, undo):
        parser.add_argument("--note", metavar="TEXT", default="", help="why, for the history")
    history = group.add("history", "list the versions of the rules", _history, examples=("rules history",))
    diff = group.add(
        "diff",
        "compare two versions",
        _diff,
        "Shows the entries of version B that version A does not have.",
        examples=("rules diff 1", "rules diff 1 2"),
    )
    diff.add_argument("before", type=positive, metavar="A", help="a version, as rules history lists it")
    diff.add_argument(
        "after", type=positive, metavar="B", nargs="?", default=0, help="another (else: the one in force)"
    )
    for parser in (show, test, preview, apply, undo, history, diff):
        parser.add_argument(
            "--job", metavar="JOB", default="", help="the rules of this job (else: of the newest run's)"
        )


def _show(arguments: argparse.Namespace, printer: Printer) -> int:
    gc.disable()  # nearly all that it makes is needed until its end, which is near
    from tui_crawler.wiring.origin_settings import rules_in_force

    with reports_of(existing_database(arguments)) as reports:
        rules = rules_in_force(reports, arguments.job)[0]
    from tui_crawler.text.rules_text import rules_document

    document = {"ruleset_id": rules.ruleset_id, **rules_document(rules.policies)}
    return printer.answer(arguments.json, document, _shown_lines(rules))


def _test(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.rules.verdict import JUDGEMENT_CODES
    from tui_crawler.domain.url import CLIENT_MAX_LENGTH, InvalidUrl, normalise

    url = normalise(arguments.url, None, CLIENT_MAX_LENGTH)
    if isinstance(url, InvalidUrl):
        raise UsageProblem(f"{url.raw} {url.reason}")
    with _rule_queries(arguments) as rule_queries:
        verdict, decided_by, settings = rule_queries.test(url, arguments.job)
    exit_code = JUDGEMENT_CODES.get(verdict)
    document = {
        "url": url.href,
        "verdict": verdict,
        "exit_code": exit_code.name if exit_code is not None else None,
        "decided_by": decided_by,
        "settings": picked(settings, _SETTINGS),
    }
    code = f" ({exit_code.name})" if exit_code is not None else ""
    lines = [
        safe(url.href, URL_LENGTH),
        f"{verdict}{code}" + (f": {safe(decided_by, URL_LENGTH)}" if decided_by else ""),
    ]
    for name in _SETTINGS.split():
        rule = getattr(settings, f"{name}_rule")
        if rule is not None:
            place = f"  ({safe(rule.source)})" if rule.source else ""
            lines.append(f"  {name} {safe(str(getattr(settings, name)))} by rule {safe(rule.match)}{place}")
    return printer.answer(arguments.json, document, lines)


def _preview(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.config.load import load_rules

    change = load_rules(Path(arguments.file))
    with _rule_queries(arguments) as rule_queries:
        preview = _judge_all(rule_queries, change, arguments.job)
    return printer.answer(arguments.json, preview_document(preview), preview_lines(preview))


def _apply(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.config.load import load_rules

    change = load_rules(Path(arguments.file))
    note = one_line("--note", arguments.note, LONGEST_NOTE)
    with _rule_queries(arguments) as rule_queries:
        command = rule_queries.edit(change, arguments.base, arguments.job, note)
        preview = _judge_all(rule_queries, change, arguments.job)
    return _hand_over(arguments, command, preview, printer)


def _undo(arguments: argparse.Namespace, printer: Printer) -> int:
    note = one_line("--note", arguments.note, LONGEST_NOTE)
    with _rule_queries(arguments) as rule_queries:
        change, former, taken_back = rule_queries.undoing(arguments.job)
        command = rule_queries.edit(change, 0, arguments.job, note or f"undo: back to version {former.ruleset_id}")
        preview = _judge_all(rule_queries, change, arguments.job)
    return _hand_over(arguments, command, preview, printer, taken_back, undone=command.base_id)


def _history(arguments: argparse.Namespace, printer: Printer) -> int:
    with _rule_queries(arguments) as rule_queries:
        versions = rule_queries.history(arguments.job)
    document = {"rulesets": [picked(one, "ruleset_id at who note current") for one in versions]}
    if not versions:
        return printer.answer(arguments.json, document, ("there is no ruleset yet: the first run writes one",))
    zone = local_zone()
    rows = [
        (str(one.ruleset_id), "in force" if one.current else "", date_time(one.at, zone), safe(one.who), safe(one.note))
        for one in versions
    ]
    return printer.answer(arguments.json, document, columns(("VERSION", "", "AT", "WHO", "NOTE"), rows, frozenset({0})))


def _diff(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.rules.ruleset import same_rules
    from tui_crawler.text.rules_text import rules_difference

    with _rule_queries(arguments) as rule_queries:
        before, after, lines = rule_queries.difference(arguments.before, arguments.after, arguments.job)
    listed = [picked(line, "section added text source") for line in lines]
    document = {"from": before.ruleset_id, "to": after.ruleset_id, "lines": listed}
    heads = [f"--- version {before.ruleset_id}", f"+++ version {after.ruleset_id}"]
    text = [*heads, *rules_difference(before.policies, after.policies)]
    if same_rules(before.policies, after.policies):
        text = [f"version {before.ruleset_id} and version {after.ruleset_id} say the same"]
    return printer.answer(arguments.json, document, text)


@contextmanager
def _rule_queries(arguments: argparse.Namespace) -> Iterator[RuleQueries]:
    """What rules are asked through. Raises UsageProblem for a job that does not exist."""
    from tui_crawler.wiring.rules import RuleQueries

    with reports_of(existing_database(arguments)) as reports:
        yield RuleQueries(reports)


def _judge_all(rule_queries: RuleQueries, change: RulesetChange, job: str) -> Preview:
    progress = Progress("URLs judged")
    try:
        return rule_queries.preview(change, job, progress)
    finally:
        progress.clear()


def _hand_over(
    arguments: argparse.Namespace,
    command: ApplyRules,
    preview: Preview,
    printer: Printer,
    taken_back: int = 0,
    undone: int = 0,
) -> int:
    """Carries the edit out and tells what it did. `taken_back`: the action that it undoes (0: none); `undone`: the
    version whose forerunner it brings back. Raises UsageProblem for one that is refused."""
    result = carry_out(existing_database(arguments), command, PATIENCE_S, taken_back)
    after = value_of(result.after)
    versions = after.get("rulesets") if isinstance(after, dict) else None
    if not isinstance(versions, dict):
        raise CannotRun("the rules were sent; the run has not confirmed them yet")
    job = command.job or next(iter(versions), "")
    ruleset_id = versions.get(job, command.base_id)
    changed = ruleset_id != command.base_id
    if arguments.json:
        printer.document(
            {"ruleset_id": ruleset_id, "changed": changed, "rulesets": versions} | preview_document(preview)
        )
    elif changed:
        printer.line(f"version {ruleset_id} is in force: {summary(preview)}")
        printer.lines(seed_lines(preview))
        if undone:
            printer.line(f"another undo restores what version {undone} says")
    else:
        printer.line(f"nothing to change: version {ruleset_id} says the same")
    return ExitStatus.ok


def _shown_lines(rules: JobRules) -> Iterator[str]:
    """Yield the rules in force as a file that `rules apply` reads; what operators excluded besides is a comment."""
    from tui_crawler.text.rules_text import excluded_lines, rules_lines

    unstored = "the configuration (no version is stored yet)" if rules.kept else "no rules: no configuration is kept"
    number = f"version {rules.ruleset_id}" if rules.ruleset_id else unstored
    yield f"# {number} of job {safe(rules.job)}"
    yield from rules_lines(rules.own)
    yield from excluded_lines(rules.added)
    if not rules.policies.url_query_parameters:
        yield "# no url_query_parameters policy: every URL with a query is refused"


def preview_document(preview: Preview) -> dict[str, object]:
    """The document of `rules preview`."""
    counts = "newly_blocked newly_allowed unchanged"
    return picked(preview, "known", counts) | {
        "by_origin": [picked(one, "origin", counts) for one in preview.by_origin],
        "seeds_hit": list(preview.seeds_hit),
        "samples": [picked(one, "url before after decided_by") for one in preview.samples],
    }


def summary(preview: Preview) -> str:
    """A preview in one line."""
    return (
        f"of {count(preview.known)} known URLs {count(preview.newly_blocked)} newly blocked, "
        f"{count(preview.newly_allowed)} newly allowed, {count(preview.unchanged)} unchanged"
    )


def preview_lines(preview: Preview) -> Iterator[str]:
    """A preview: sums, seeds that are hit, origins, samples."""
    yield summary(preview)
    if preview.blocked_by_state:
        states = ", ".join(f"{count(number)} {state}" for state, number in preview.blocked_by_state)
        yield f"newly blocked by what became of them so far: {states} (what is stored is kept)"
    yield from seed_lines(preview)
    if preview.by_origin:
        yield ""
        rows = [
            (safe(one.origin), count(one.newly_blocked), count(one.newly_allowed), count(one.unchanged))
            for one in preview.by_origin[:SHOWN]
        ]
        yield from columns(("ORIGIN", "BLOCKED", "ALLOWED", "UNCHANGED"), rows, frozenset({1, 2, 3}))
        if len(preview.by_origin) > SHOWN:
            yield f"… and {count(len(preview.by_origin) - SHOWN)} more origins"
    if preview.samples:
        yield ""
    for one in preview.samples[:SHOWN]:
        yield f"{'-' if one.before == 'allowed' else '+'} {safe(one.url, URL_LENGTH)}"
        yield f"    {one.before} → {one.after}: {safe(one.decided_by, URL_LENGTH)}"


def seed_lines(preview: Preview) -> Iterator[str]:
    """The seeds a change blocks; nothing when there are none."""
    if preview.seeds_hit:
        yield f"this blocks {plural(len(preview.seeds_hit), 'seed')}:"
        yield from (f"  {safe(url, URL_LENGTH)}" for url in preview.seeds_hit[:SHOWN])
        if len(preview.seeds_hit) > SHOWN:
            yield f"  … and {count(len(preview.seeds_hit) - SHOWN)} more"
