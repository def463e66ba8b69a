"""Rules as the text that `rules show` prints, `rules apply` reads and the console edits: YAML, one entry a line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import PolicySet, Whitelist
from tui_crawler.domain.rules.ruleset import RulesetEntry, entry_document, matcher_document
from tui_crawler.text.safe_text import without_unseen, yaml_quoted

_PLAIN = re.compile(r"[A-Za-z/^(\\][A-Za-z0-9/^.()\\$+*?=&_;~|-]*(?: [A-Za-z0-9/^.()\\$+*?=&_;~|-]+)*")
"""Texts that mean themselves anywhere in YAML, except for `_WORDS`."""
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_UNFIT = re.compile(r"[^\w ./:+(),@~-]")
_COMMENT = re.compile(r"  # [\w ./:+(),@~?-]+$")
"""Behind an entry, which ends with none of these characters where it has a `#`."""
_CONTEXT = 3
"""How many unchanged lines a difference shows around each change."""


def rules_document(policies: PolicySet) -> dict[str, Any]:
    """Return policies, rules, exclusions and whitelist as a configuration writes them, without what is a default."""
    listed = policies.whitelist or Whitelist()
    return {
        "policies": {
            "do_not_crawl": [matcher_document(each.matcher) for each in policies.do_not_crawl],
            "url_query_parameters": [
                _given(entry_document(each) | {"values": dict(each.values), "allow_any": each.allow_any or None})
                for each in policies.url_query_parameters
            ],
        },
        "rules": [_given(entry_document(each)) for each in policies.rules],
        "exclusions": [
            _given({each.kind: each.value, "reason": each.reason, "who": each.who}) for each in policies.exclusions
        ],
        "whitelist": _given({"domains": [*listed.domains], "patterns": [*listed.patterns]}),
    }


def rules_lines(policies: PolicySet) -> list[str]:
    """Return the lines of the YAML text. The place where an entry was written is a comment behind it.

    Every section is named, so that the text says all there is to say, and an empty one can be extended by a line.
    """
    document = rules_document(policies)
    listed = document["whitelist"]
    return [
        "policies:",
        *_section("  ", "do_not_crawl", document["policies"], policies.do_not_crawl),
        *_section("  ", "url_query_parameters", document["policies"], policies.url_query_parameters),
        *_section("", "rules", document, policies.rules),
        *_section("", "exclusions", document, policies.exclusions),
        "whitelist:",
        *_section("  ", "domains", listed, listed.get("domains", ())),
        *_section("  ", "patterns", listed, listed.get("patterns", ())),
    ]


def excluded_lines(added: tuple[Exclusion, ...]) -> list[str]:
    """Return the comment that names what operators excluded beside the rules; no lines if that is nothing."""
    lines = [f"#{line}" for line in rules_lines(PolicySet(exclusions=added)) if is_entry(line)]
    return ["# excluded by operators, with every version:", *lines] if lines else []


def is_entry(line: str) -> bool:
    """Return whether a line of the text has an entry; the others name a section."""
    return line.lstrip().startswith("- ")


def bare_line(line: str) -> str:
    """Return the line without the place where its entry was written."""
    return _COMMENT.sub("", line)


def rules_difference(before: PolicySet, after: PolicySet) -> Iterator[str]:
    """Yield a unified diff of two texts, each part headed by its section. Where entries were written does not count."""
    from difflib import SequenceMatcher  # noqa: PLC0415  most starts compare nothing

    one, other = rules_lines(before), rules_lines(after)
    matcher = SequenceMatcher(None, [*map(bare_line, one)], [*map(bare_line, other)], autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        changed = next(step[3] for step in group if step[0] != "equal")
        heads = [line for line in other[:changed] if not line.lstrip().startswith("-")]
        spans = f"-{first[1] + 1},{last[2] - first[1]} +{first[3] + 1},{last[4] - first[3]}"
        yield f"@@ {spans} @@ {heads[-1].strip()}"
        for tag, start, end, other_start, other_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in other[other_start:other_end])
            else:
                yield from (f"-{line}" for line in one[start:end])
                yield from (f"+{line}" for line in other[other_start:other_end])


def flow_scalar(text: str) -> str:
    """Return a text as a scalar of YAML in which every character is seen."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    if without_unseen(text) != text:
        return yaml_quoted(text, only_ascii=True)
    quoted = text.replace("'", "''")
    return f"'{quoted}'"


def _section(indent: str, name: str, document: Mapping[str, Any], entries: Sequence[RulesetEntry]) -> Iterator[str]:
    yield f"{indent}{name}:"
    for value, entry in zip(document.get(name, ()), entries, strict=True):
        source = "" if isinstance(entry, str) else _UNFIT.sub("?", without_unseen(entry.source))
        yield f"{indent}  - {_flow(value)}" + (f"  # {source}" if source else "")


def _flow(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Mapping():
            return f"{{{', '.join(f'{flow_scalar(name)}: {_flow(each)}' for name, each in value.items())}}}"
        case list():
            return f"[{', '.join(map(_flow, value))}]"
        case _:
            return flow_scalar(str(value))


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is no default, but for the source, which is a comment."""
    return {name: value for name, value in values.items() if (value or value is False) and name != "source"}
