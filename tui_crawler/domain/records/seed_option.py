"""The settings that a crawl of seeds takes without a configuration file. Each is an option of `crawl`, a field of the
welcome, and one or more keys of the configuration, which says what is a valid value. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class OptionKind(Enum):
    """The kind of a value."""

    text = "UA"
    delay = "TIME"
    number = "N"
    switch = ""


@dataclass(frozen=True, slots=True)
class SeedOption:
    """A setting of a crawl of seeds. `keys` are dotted keys of the configuration; `default` is what applies where
    nothing is given, in words."""

    name: str
    keys: tuple[str, ...]
    label: str
    kind: OptionKind
    help: str
    default: str

    @property
    def option(self) -> str:
        """Return its name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def words(self, value: str | bool) -> str:
        """Return the option with a value, as one writes it."""
        if isinstance(value, str):
            return f"{self.option} {value}"
        return self.option if value else f"--no-{self.option.removeprefix('--')}"


SEED_OPTIONS = (
    SeedOption("user_agent", ("user_agent",), "User-Agent", OptionKind.text,
               "the name that sites see in their logs", ""),
    SeedOption("delay", ("delay.default", "delay.floor"), "Delay", OptionKind.delay,
               "wait at least TIME between two requests to an origin", "1s"),
    SeedOption("depth", ("crawl.max_depth",), "Depth", OptionKind.number,
               "follow at most N links from a seed", "no limit"),
    SeedOption("max_pages", ("crawl.max_pages_per_origin",), "Pages per origin", OptionKind.number,
               "crawl at most N pages of an origin", "no limit"),
    SeedOption("allow_queries", ("policies.url_query_parameters",), "Query URLs", OptionKind.switch,
               "crawl URLs with a query (?page=2), too", "no"),
)  # fmt: skip


def settings_of(given: Mapping[str, str | bool], *, impolite: bool = False) -> dict[str, object]:
    """Return values by the names of their options as settings by dotted key, for the configuration to check.
    `impolite`: the delay may be below the usual floor."""
    settings: dict[str, object] = {}
    for one in (one for one in SEED_OPTIONS if one.name in given):
        value = given[one.name]
        match one.kind:
            case OptionKind.delay:
                settings |= dict.fromkeys(one.keys if impolite else one.keys[:1], value)
            case OptionKind.switch:
                settings[one.keys[0]] = [{"allow_any": True}] if value else []
            case OptionKind.number if isinstance(value, str) and value.isascii() and value.isdigit():
                settings[one.keys[0]] = int(value)
            case _:
                settings[one.keys[0]] = value
    return settings


def options_in(settings: Mapping[str, object], own: bool) -> dict[str, str | bool]:
    """Return what `settings_of` made settings of; `own`: the delay of own sites counts, which is for them alone."""
    found: dict[str, str | bool] = {}
    for one in SEED_OPTIONS:
        key = one.keys[-1 if own else 0]  # the floor, where the sites are one's own
        if settings.get(key) is not None:
            found[one.name] = bool(settings[key]) if one.kind is OptionKind.switch else str(settings[key])
    return found


def option_of(key: str) -> SeedOption | None:
    """Return the option that sets a dotted key of the configuration, None where none does."""
    return next((one for one in SEED_OPTIONS if any(key.startswith(name) for name in one.keys)), None)
