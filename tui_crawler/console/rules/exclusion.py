"""The operators' exclusion list: what is asked before it is extended or shortened, and what was typed for it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.console.operator.intent import Confirmation, Intent
from tui_crawler.console.panes.line import Line
from tui_crawler.domain.records.command import Exclude
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import count, plural

if TYPE_CHECKING:
    from tui_crawler.console.rules.impact import ImpactNews
    from tui_crawler.domain.records.view import OriginView

HINT = "host: a.example, reason: they asked · domain: example.net · cidr: 203.0.113.0/24 · pattern: /members/"
_AT_ONCE = "It applies at once, to every job and version of the rules, and overrides everything."


def exclude(
    typed: Sequence[Exclusion], listed: Sequence[Exclusion], impact: ImpactNews | None = None
) -> Confirmation | str:
    """Asks before entries are put on the list; in words why none is. `impact`: what was counted of the new ones."""
    new = unlisted(typed, listed)
    if not new:
        return f"{_names(typed)}: that is on the exclusion list already" if typed else "this adds nothing"
    says = f"exclude {_names(new)}"
    forth = tuple(Exclude(one.kind, one.value, one.reason) for one in new)
    intent = Intent(forth, says, tuple(Exclude(one.kind, one.value, remove=True) for one in reversed(new)))
    counted = f"It {_impact_words(impact)}. " if impact is not None and impact.over else ""
    text = f"{counted}{_AT_ONCE} Origins that it names are finished as excluded; what was crawled stays."
    return Confirmation(f"{says[0].upper()}{says[1:]}?", text, (("Exclude", intent),), "undo: {journal.undo}")


def unlisted(typed: Sequence[Exclusion], listed: Sequence[Exclusion]) -> tuple[Exclusion, ...]:
    """Those of the entries that are not on the list."""
    there = {(one.kind, one.value) for one in listed}
    return tuple(one for one in typed if (one.kind, one.value) not in there)


def exclude_origins(origins: Sequence[OriginView], known: Iterable[OriginView]) -> Confirmation | str:
    """Asks before the hosts of origins are put on the list, and says how many of the `known` origins have them; in
    words why none is put there."""
    hosts = dict.fromkeys(host for view in origins if (host := _open_host(view)))
    if not hosts:
        return "already on the exclusion list"
    asked = exclude([Exclusion("host", host) for host in hosts], ())
    if isinstance(asked, str):
        return asked
    number = sum(_open_host(view) in hosts for view in known)
    named = f"It names {plural(number, 'origin')}. "
    note = "{rules.exclude} in the Rules view takes a reason. undo: {journal.undo}"
    return replace(asked, text=named + asked.text, note=note)


def _open_host(view: OriginView) -> str:
    """The host of an origin that is not excluded yet; else empty."""
    url = normalise(view.origin)
    return "" if view.finish_reason == FinishReason.excluded or isinstance(url, InvalidUrl) else url.host


def readmit(one: Exclusion) -> Confirmation:
    """Asks before an entry is taken off the list."""
    says = f"remove {_names((one,))} from the exclusion list"
    intent = Intent((Exclude(one.kind, one.value, remove=True),), says, (Exclude(one.kind, one.value, one.reason),))
    why = f"{one.reason}. " if one.reason else ""
    asked = f"Added by {one.who}. " if one.who else ""
    text = f"{why}{asked}Its origins resume at once, and pages that it refused are requeued."
    return Confirmation(f"{says[0].upper()}{says[1:]}?", text, (("Remove it", intent),), "undo: {journal.undo}")


def exclusion_lines(text: str, typed: Sequence[Exclusion], wrong: str, impact: ImpactNews | None = None) -> list[Line]:
    """What becomes of what is typed for the list, or what is `wrong` with it. `impact` None: it is not counted yet."""
    if wrong:
        return [(Styled("✗ ", "error"), text), Styled(f"  {wrong}", "muted")]
    if not typed:
        return [Styled("One of host, domain, cidr, pattern, and a reason:", "muted"), Styled(HINT, "muted")]
    blocks = impact is not None and impact.preview is not None and impact.preview.newly_blocked > 0
    counted = Styled(f"⊘ {_impact_words(impact)}", "blocked" if blocks else "muted")
    return [
        *(
            (Styled("✎ exclusion  ", "paused"), f"{one.kind} {one.value}", Styled(f"  {one.reason}", "muted"))
            for one in typed
        ),
        (counted, Styled("  enter: confirm, then it applies at once", "muted"))
        if impact is not None and impact.over
        else Styled(f"◷ {_impact_words(impact)}", "waiting"),
    ]


def _impact_words(impact: ImpactNews | None) -> str:
    """What entries would block; raw text."""
    if impact is None or not impact.over:
        judged = f" {count(impact.known)} URLs judged" if impact is not None else ""
        return f"counting what it would block…{judged}"
    if impact.preview is None:
        return f"impact unknown: {impact.error}"
    preview = impact.preview
    seeds = f", {plural(len(preview.seeds_hit), 'seed')} among them" if preview.seeds_hit else ""
    return f"would newly block {count(preview.newly_blocked)} of {plural(preview.known, 'known URL')}{seeds}"


def _names(some: Sequence[Exclusion]) -> str:
    return f"{some[0].kind} {some[0].value}" if len(some) == 1 else plural(len(some), "entry", "entries")
