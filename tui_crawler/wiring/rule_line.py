"""An entry of the rules as the one line that the editor of the console reads it from. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tui_crawler.config.effective import rules_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_crawler.domain.policy import PolicySet

Scalar = Callable[[str], str]
"""How a text is written."""

_PLAIN = re.compile(r"[A-Za-z/^.(\\][A-Za-z0-9/^.()\\$+*?=&_;~|-]*(?: [A-Za-z0-9/^.()\\$+*?=&_;~|-]+)*")
"""Texts that mean themselves anywhere in YAML, but for those that are a number or a word such as `true`."""

_HEADS: Mapping[str, str] = MappingProxyType(
    {"do_not_crawl": "do_not_crawl", "url_query_parameters": "query", "rules": "rule", "exclusions": "exclusion"}
)


def lines_of(policies: PolicySet) -> Iterator[str]:
    """Ways to write the only entry of `policies` as one line, the plainest first; not each says the same in YAML.

    The last one is ASCII with every text in quotes.
    """
    document = rules_document(policies)
    for scalar in (_plain, _quoted, _in_ascii):
        yield _line(document, scalar)


def _line(document: Mapping[str, Any], scalar: Scalar) -> str:
    sections = {**document["policies"], "rules": document["rules"], "exclusions": document["exclusions"]}
    for section, head in _HEADS.items():
        for entry in sections.get(section, ()):
            if section == "rules" and entry.keys() == {"match", "skip"} and entry["skip"]:
                return f"skip: {scalar(entry['match'])}"
            return f"{head}: {_keys(entry, scalar)}"
    return f"whitelist: {_keys(document['whitelist'], scalar)}"


def _keys(entry: Mapping[str, Any], scalar: Scalar) -> str:
    """The keys of an entry without the braces around them."""
    return ", ".join(f"{scalar(name)}: {_value(value, scalar)}" for name, value in entry.items())


def _value(value: object, scalar: Scalar) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Mapping():
            return f"{{{_keys(value, scalar)}}}"
        case str():
            return scalar(value)
        case list() | tuple():
            return f"[{', '.join(_value(each, scalar) for each in value)}]"
        case _:
            return scalar(str(value))


def _plain(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    """In double quotes; what is not printable is escaped by its code point."""
    return '"' + "".join(one if one.isprintable() and one not in '"\\' else _escaped(one) for one in text) + '"'


def _in_ascii(text: str) -> str:
    """A word as it is, everything else in double quotes; only ASCII."""
    if re.fullmatch(r"[a-z_]+", text):
        return text
    return '"' + "".join(one if " " <= one <= "~" and one not in '"\\' else _escaped(one) for one in text) + '"'


def _escaped(character: str) -> str:
    return "\\" + character if character in '"\\' else f"\\U{ord(character):08x}"
