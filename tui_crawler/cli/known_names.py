"""What a person types, checked before anything is asked for: origins and jobs, exit codes, URLs, patterns, notes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tui_crawler.cli.problem import UsageProblem, did_you_mean

if TYPE_CHECKING:
    from tui_crawler.storage.reports import Reports


_PORT = re.compile(r":\d+$")
_NAMED = 5


def exit_code_name(text: str) -> str:
    """The exit code of that name (any case, `-` for `_`). Raises UsageProblem."""
    from tui_crawler.domain.exit_code import ExitCode

    names = ExitCode.__members__
    name = text.strip().lower().replace("-", "_")
    if name not in names:
        raise UsageProblem(f"unknown exit code {text!r}{_exit_codes_of(name) or did_you_mean(name, names)}")
    return name


def _exit_codes_of(number: str) -> str:
    """What a number typed for an exit code may mean, as the end of a sentence: an HTTP status, or the id of a code."""
    from tui_crawler.domain.exit_code import ExitCode
    from tui_crawler.fetch.classify import exit_code_of_status

    status = int(number) if number.isascii() and number.isdigit() and len(number) <= 3 else 0
    meant = [f"exit code {status} is {ExitCode(status).name}"] if status in {*ExitCode} else []
    if 200 <= status <= 599:
        code = exit_code_of_status(status, conditional=False, same_etag=False, location=None)
        meant.append(f"HTTP {status} is {code.name}")
    return f"; {', '.join(meant)}" if meant else ""


def check_pattern(option: str, text: str) -> None:
    """Raises UsageProblem for a text that is no linear-time regular expression; `option` is how it was given."""
    from tui_crawler.domain.pattern import BadPattern, Pattern

    try:
        Pattern(text)
    except BadPattern as error:
        raise UsageProblem(f"{option} {text!r}: {error.message}") from error


def one_line(option: str, text: str, longest: int) -> str:
    """A text of at most `longest` characters on one line. Raises UsageProblem; `option` is how it was given."""
    if len(text) > longest:
        raise UsageProblem(f"{option}: at most {longest} characters, these are {len(text)}")
    if not text.isprintable():
        raise UsageProblem(f"{option} holds a line break or control character")
    return text.strip()


def crawl_urls(texts: Iterable[str]) -> tuple[str, ...]:
    """The URLs normalised, each once, in their order. Raises UsageProblem with a line for each that is none."""
    from tui_crawler.domain.url import CrawlUrl, normalise

    urls = [normalise(text) for text in texts]
    bad = [f"{url.raw} {url.reason}" for url in urls if not isinstance(url, CrawlUrl)]
    if bad:
        raise UsageProblem(*bad)
    return tuple(dict.fromkeys(url.href for url in urls if isinstance(url, CrawlUrl)))


def known_jobs(names: Iterable[str], reports: Reports) -> tuple[str, ...]:
    """The jobs named, each once. Raises UsageProblem when one of them is none of the database."""
    known = [str(row[0]) for row in reports.rows("v_job", ("job",))]
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            raise UsageProblem(
                f"no job {name!r} is known here{did_you_mean(name, known)}", hint="tui-crawler jobs lists them"
            )
    return chosen


def known_origin(text: str, reports: Reports) -> str:
    """The origin of the database that `text` means. Raises UsageProblem when there is none, or more than one."""
    return known_origins((text,), reports)[0]


def known_origins(texts: tuple[str, ...], reports: Reports) -> tuple[str, ...]:
    """The origins that `texts` mean: an origin, a URL of it, or its host alone (with its port or without) where only
    one origin has it.

    Raises UsageProblem when one of them means none, or more than one.
    """
    names = [one.origin for one in reports.origins_changed(0).rows]
    return tuple(dict.fromkeys(_known(text, names) for text in texts))


def _known(text: str, names: list[str]) -> str:
    from tui_crawler.domain.url import CrawlUrl, normalise, without_userinfo

    url = normalise(text if "://" in text else f"https://{text}")
    if isinstance(url, CrawlUrl) and url.origin in names and "://" in text:
        return url.origin
    if isinstance(url, CrawlUrl) and "://" not in text:
        authority = url.origin.partition("://")[2]
        same = [name for name in names if name.partition("://")[2] == authority]
        same = same or [name for name in names if _PORT.sub("", name.partition("://")[2]) == authority]
        if len(same) == 1:
            return same[0]
        if same:
            named = ", ".join(same[:_NAMED]) + (" …" if len(same) > _NAMED else "")
            raise UsageProblem(f"{text!r} means more than one origin: {named}", hint="name one whole")
    raise UsageProblem(
        f"no origin {without_userinfo(text)!r} is known here{did_you_mean(text, names)}",
        hint="tui-crawler status lists them",
    )
