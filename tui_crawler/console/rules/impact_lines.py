"""What a draft of rules would do, and what it says of one URL, as lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui_crawler.console.operator.intent import Confirmation, Intent
from tui_crawler.console.panes.line import HangingText, Line, Paragraph, Split
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import CompiledPolicies, PolicySet
from tui_crawler.domain.rules.preview import ALLOWED, Preview, RuleSide
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, InvalidUrl, normalise
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import ago, clock, count, plural

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.rules.impact import ImpactNews
    from tui_crawler.domain.rules.preview import OriginImpact, Sample

ASKED_FROM = 1_000
"""More URLs newly blocked than this: the number has to be typed before it is applied."""

_ORIGINS, _SEEDS = 8, 4
_JUST_NOW_MS = 5_000
_STATES = {"waiting": "○ of todo", "done": "✓ of done (kept)", "failed": "✗ of failed", "blocked": "⊘ of blocked"}


def age_words(age_ms: int, more: int) -> str:
    """How old a count is, and how many URLs became known since."""
    since = f", {count(more)} more since" if more > 0 else ""
    return f"counted {'just now' if age_ms < _JUST_NOW_MS else ago(age_ms)}{since}"


def impact_lines(dirty: bool, news: ImpactNews | None, keys: KeyNames) -> list[Line]:
    """What is known so far of the impact of a draft (`dirty`: of one that changes something)."""
    if not dirty:
        words = (
            "No draft. {rule.edit} edits the text, {nav.back} leaves it; what it would block and allow "
            "is counted here. {rules.apply} applies it."
        )
        return [Paragraph(keys.said(words), "muted", most=8)]
    if news is None:
        return [Styled("◷ counting…", "waiting")]
    if news.counts_nothing:
        return [Styled("not counted while the text has errors", "muted")]
    if news.error:
        return [Styled("✗ the impact could not be counted", "error"), Paragraph(news.error, "muted")]
    if news.preview is None:
        return [Styled(f"◷ counting… {count(news.known)} URLs judged", "waiting")]
    return _preview_lines(news.preview)


def _preview_lines(preview: Preview) -> list[Line]:
    blocked, allowed, seeds = preview.newly_blocked, preview.newly_allowed, preview.seeds_hit
    lines: list[Line] = []
    if seeds:
        lines += [Styled(f"⚠ blocks {plural(len(seeds), 'seed')}", "warning bold")]
        lines += [(Styled("  ", ""), url) for url in seeds[:_SEEDS]]
        lines += [*_more(len(seeds) - _SEEDS, "seed"), ""]
    numbers = dict(preview.blocked_by_state)
    states = [(words, numbers[name]) for name, words in _STATES.items() if name in numbers]
    lines += [
        _numbered(Styled("⊘ newly blocked", "blocked"), blocked, "strong" if blocked else "faint"),
        *(_numbered(Styled(f"  {words}", "muted"), number, "muted") for words, number in states),
        _numbered(Styled("✓ newly allowed", "ok"), allowed, "strong" if allowed else "faint"),
        _numbered(Styled("  unchanged", "muted"), preview.unchanged, "muted"),
    ]
    if preview.by_origin:
        lines += ["", Styled("By origin", "accent bold"), *_origin_lines(preview.by_origin[:_ORIGINS])]
        lines += _more(len(preview.by_origin) - _ORIGINS, "origin")
    return [*lines, *_sample_lines(preview.samples)]


def _numbered(words: Styled, number: int, role: str) -> Line:
    """Words at the left, a number at the right, with room before the scroll bar."""
    return Split(words, Styled(f"{count(number)} ", role))


def _origin_lines(impacts: Sequence[OriginImpact]) -> list[Line]:
    numbers = [
        (
            f"⊘ {count(one.newly_blocked)}" if one.newly_blocked else "",
            f"✓ {count(one.newly_allowed)}" if one.newly_allowed else "",
            f"of {count(one.newly_blocked + one.newly_allowed + one.unchanged)}",
        )
        for one in impacts
    ]
    widths = [max(map(len, column)) for column in zip(*numbers, strict=True)]
    lines: list[Line] = []
    for one, row in zip(impacts, numbers, strict=True):
        cells = [text.rjust(width) for text, width in zip(row, widths, strict=True) if width]
        lines.append(Split(host_of(one.origin), Styled(f"{'  '.join(cells)} ", "muted")))
    return lines


def _sample_lines(samples: Sequence[Sample]) -> list[Line]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in samples:
        groups.setdefault((one.before, one.after, one.decided_by), []).append(one.url)
    lines: list[Line] = ["", Styled("Samples", "accent bold")] if groups else []
    for (before, after, decided_by), urls in groups.items():
        head = Styled("⊘ ", "blocked") if before == ALLOWED else Styled("✓ ", "ok")
        lines.append(HangingText(head, 2, f"{before} → {after}: {decided_by}", "muted", most=3))
        lines += [("  ", url) for url in urls]
    return lines


def must_type(news: ImpactNews) -> int:
    """The number that has to be typed before such an impact is wanted; 0: none."""
    preview = news.preview
    return preview.newly_blocked if preview is not None and preview.newly_blocked > ASKED_FROM else 0


def apply_question(intent: Intent, news: ImpactNews, zone: tzinfo) -> Confirmation | None:
    """What is asked before a draft is applied; None when it blocks no seed and not much."""
    preview = news.preview
    if preview is None:
        text = f"Its impact could not be counted: {news.error}"
        return Confirmation("Apply the draft?", text, (("Apply", intent),), "undo: {journal.undo}")
    if not preview.seeds_hit and not must_type(news):
        return None
    text = f"It blocks {plural(preview.newly_blocked, 'URL')} of {count(preview.known)} that are known"
    text += f", and allows {count(preview.newly_allowed)} more." if preview.newly_allowed else "."
    seeds = preview.seeds_hit
    if seeds:
        named = ", ".join(seeds[:_SEEDS]) + (" …" if len(seeds) > _SEEDS else "")
        text += f" Among them {'is' if len(seeds) == 1 else 'are'} {plural(len(seeds), 'seed')}: {named}"
    note = f"Counted at {clock(news.timing.at, zone)}; you are asked again if that grows by a tenth or by a seed."
    note += " Pages that were crawled stay. undo: {journal.undo}"
    return Confirmation("Apply the draft?", text, (("Apply", intent),), note)


def impact_words(news: ImpactNews) -> str:
    """What the draft does, to be said once it is applied; empty when it could not be counted."""
    preview = news.preview
    if preview is None:
        return ""
    done = [f"blocks {count(preview.newly_blocked)}"] if preview.newly_blocked else []
    done += [f"allows {count(preview.newly_allowed)}"] if preview.newly_allowed else []
    return f"{' and '.join(done) or 'blocks none'} of {plural(preview.known, 'known URL')}"


def judged_lines(text: str, policies: PolicySet) -> list[Line]:
    """Return what rules say of a URL as it is typed, in two lines; scope, traps and robots.txt are not asked."""
    if not text.strip():
        return [Styled("Type a URL: what the rules say of it is shown here.", "muted"), ""]
    url = normalise(text if "://" in text else f"https://{text}", None, CLIENT_MAX_LENGTH)
    wrong = (Styled("✗ ", "error"), text)
    if isinstance(url, InvalidUrl):
        return [wrong, Styled(f"  {url.reason}", "muted")]
    try:
        verdict, decided_by = RuleSide(policies).verdict(url)
        settings = CompiledPolicies(policies).settings(url)
    except BadPattern as error:
        return [wrong, Styled(f"  {error}", "muted")]
    if verdict != ALLOWED:
        return [(Styled(f"⊘ {verdict}  ", "blocked"), url.href), HangingText("  ", 2, decided_by, "muted")]
    given = (("ua", settings.ua, settings.ua_rule), ("custom_js", settings.custom_js, settings.custom_js_rule))
    said = "; ".join(f"{name} {value} by rule {rule.match}" for name, value, rule in given if rule is not None)
    none = "no rule refuses it (scope, traps and robots.txt are not checked)"
    return [(Styled("✓ allowed  ", "ok"), url.href), HangingText("  ", 2, said or none, "muted")]


def _more(number: int, noun: str) -> list[Line]:
    return [Styled(f"  … and {plural(number, noun)} more", "muted")] if number > 0 else []
