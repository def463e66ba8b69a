"""The effective configuration: every value, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tui_crawler.config.policies import EXCLUSIONS, POLICIES, RULES, WHITELIST
from tui_crawler.config.schema import DEFAULT, ROOT, Config
from tui_crawler.config.table import Table
from tui_crawler.domain.policy import PolicySet


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the effective configuration. `value` is JSON, written as a user would write it (`30m`, `10MiB`);
    `source` is `file:line`, "command line" or "default"."""

    key: str
    value: Any
    source: str


def effective(config: Config) -> tuple[Setting, ...]:
    """Every key with its value and source, in the order of the documentation. A list is one setting."""
    sources = dict(config.sources)
    return tuple(Setting(key, value, sources.get(key, DEFAULT)) for key, value in _settings(ROOT, config, ""))


def _settings(table: Table, value: Any, at: str) -> Iterator[tuple[str, Any]]:
    for key in table.keys:
        path = f"{at}.{key.name}" if at else key.name
        inner = getattr(value, key.field)
        if isinstance(key.kind, Table) and key.kind.unbuild is None:
            yield from _settings(key.kind, inner, path)
        else:
            yield path, key.kind.show(inner)


def rules_document(policies: PolicySet) -> dict[str, Any]:
    """Policies, rules, exclusions and whitelist as JSON in the form of the configuration (`rules show`)."""
    return {
        "policies": POLICIES.show(policies),
        "rules": RULES.show(policies.rules),
        "exclusions": EXCLUSIONS.show(policies.exclusions),
        "whitelist": WHITELIST.show(policies.whitelist),
    }
