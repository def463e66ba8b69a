"""Names a person types, compared with the names that are known: origins of a database, exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.cli.problem import UsageProblem, did_you_mean

if TYPE_CHECKING:
    from tui_crawler.console.ports import Reports


def exit_code_name(text: str) -> str:
    """The exit code of that name (any case, `-` for `_`). Raises UsageProblem."""
    from tui_crawler.domain.exit_code import ExitCode

    names = ExitCode.__members__
    name = text.strip().lower().replace("-", "_")
    if name not in names:
        raise UsageProblem(f"unknown exit code {text!r}{did_you_mean(name, names)}")
    return name


def known_origin(text: str, reports: Reports) -> str:
    """The origin of the database that `text` means. Raises UsageProblem when there is none, or more than one."""
    return known_origins((text,), reports)[0]


def known_origins(texts: tuple[str, ...], reports: Reports) -> tuple[str, ...]:
    """The origins that `texts` mean: an origin, a URL of it, or its host alone where only one origin has it.

    Raises UsageProblem when one of them means none, or more than one.
    """
    names = [one.origin for one in reports.origins_changed(0).rows]
    return tuple(dict.fromkeys(_known(text, names) for text in texts))


def _known(text: str, names: list[str]) -> str:
    from tui_crawler.domain.url import CrawlUrl, normalise

    url = normalise(text if "://" in text else f"https://{text}")
    if isinstance(url, CrawlUrl) and url.origin in names and "://" in text:
        return url.origin
    if isinstance(url, CrawlUrl) and "://" not in text:
        authority = url.origin.partition("://")[2]
        same = [name for name in names if name.partition("://")[2] == authority]
        if len(same) == 1:
            return same[0]
        if same:
            raise UsageProblem(f"{text!r} means more than one origin: {', '.join(same)}", hint="name one whole")
    raise UsageProblem(
        f"no origin {text!r} is known here{did_you_mean(text, names)}", hint="tui-crawler status lists them"
    )
