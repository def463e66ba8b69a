"""What is made from the table of keys: docs/configuration.md, the JSON Schema, and the effective configuration (every
value, and where it comes from)."""

import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from tui_crawler.config.kinds import Duration, Nullable, Size, ValueKind
from tui_crawler.config.policies import FIELDS, OPS, matcher_schema
from tui_crawler.config.schema import DEFAULT, ROOT, Config
from tui_crawler.config.table import ConfigKey, ListOf, Table, inner_table
from tui_crawler.config.units import DURATION_FORMS, SIZE_FORMS, show_duration, show_size


class Setting(NamedTuple):
    """One key of the effective configuration. `value` is JSON, written as a user would write it (`30m`, `10MiB`);
    `source` is `file:line`, "command line" or "default"."""

    key: str
    value: Any
    source: str


def effective(config: Config) -> tuple[Setting, ...]:
    """Return every key with its value and source, in the order of the documentation. A list is one setting."""
    sources = dict(config.sources)

    def settings(table: Table, value: Any, at: str) -> Iterator[Setting]:
        for key in table.keys:
            path, inner = f"{at}{key.name}", getattr(value, key.attribute)
            if isinstance(key.kind, Table) and key.kind.unbuild is None:
                yield from settings(key.kind, inner, f"{path}.")
            else:
                yield Setting(path, key.kind.show(inner), sources.get(path, DEFAULT))

    return tuple(settings(ROOT, config, ""))


_INTRODUCTION = f"""\
# Configuration

One YAML 1.2 file in UTF-8, of at most 4 MiB. Only `seeds` is required. This page is made from the table of keys
(`python -m tui_crawler.config.document > docs/configuration.md`); `tui-crawler check CONFIG` says what a file means
and where each value comes from, `tui-crawler check --schema` prints the JSON Schema, and `sample_config.yaml` is an
example with every key.

- Durations: {DURATION_FORMS}. A month has 30 days, a year 365. A number alone is refused, except 0.
- Sizes: {SIZE_FORMS} (KB is 1000 bytes, KiB is 1024).
- Regular expressions run in linear time (RE2): no look-around, no back-references.
- Unknown and duplicate keys, tags, several documents and values of the wrong type are errors with file, line and
  column; no run is started and no file is made.
- A matcher compares fields of a URL: `{{path: {{prefix: /admin/}}}}`. Several fields in one mapping must all match;
  `all: [...]`, `any: [...]` and `not: {{...}}` combine matchers. A bare text means equals.
  - Fields: {", ".join(FIELDS)}.
  - Comparisons: {", ".join(OPS)}.
  - URLs are compared in ASCII: hosts in lower case and punycode, paths percent-encoded. What matches none is an error.
"""


def configuration_markdown() -> str:
    """Return the text of docs/configuration.md."""
    parts = [_INTRODUCTION, "## Top level\n", *_rows(ROOT)]
    for name, doc, table in _tables(ROOT, ""):
        parts += [f"## `{name}`\n", f"{doc}\n", *_rows(table)]
    return "\n".join(parts)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a configuration."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tui_crawler configuration",
        **ROOT.json_schema(),
        "$defs": {"matcher": matcher_schema()},
    }


def _tables(table: Table, at: str) -> Iterator[tuple[str, str, Table]]:
    """Each table below `table`: its name (`hosts[]` for the items of a list), its sentence, itself."""
    for key in table.keys:
        inner = inner_table(key.kind)
        path = f"{at}{key.name}{'[]' if isinstance(key.kind, ListOf) else ''}"
        if inner is not None and path != "jobs[].rules[]":
            yield path, key.doc, inner
            yield from _tables(inner, f"{path}.")


def _rows(table: Table) -> Iterator[str]:
    yield from ("| key | default | accepted | meaning |", "|---|---|---|---|")
    for key in table.keys:
        name = f"`{key.name}` (or `{key.alias}`)" if key.alias else f"`{key.name}`"
        accepted, doc = (text.replace("|", "\\|") for text in (_accepted(key.kind), key.doc))
        yield f"| {name} | {_default(key)} | {accepted} | {doc} |"
    yield ""


def _default(key: ConfigKey) -> str:
    if key.required:
        return "required"
    if isinstance(key.kind, Table):
        return "see below"
    shown = key.kind.show(key.default)
    if shown in ("", None) or shown == {}:
        return "`null`" if shown is None else "none"
    return f"`{shown if isinstance(shown, str) else json.dumps(shown)}`"


def _accepted(kind: ValueKind) -> str:
    match kind:
        case Table():
            return "a mapping"
        case Duration(least, most):
            return f"a duration, {show_duration(least)} to {show_duration(most)}"
        case Size(least, most):
            return f"a size, {show_size(least)} to {show_size(most)}"
        case Nullable(inner, meaning):
            return _accepted(inner) + (f", or null for {meaning}" if meaning else "")
        case _:
            return kind.accepts


if __name__ == "__main__":
    sys.stdout.write(configuration_markdown())
