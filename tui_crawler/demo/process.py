"""The demo web in a process of its own, which ends when its parent does."""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from threading import Thread
from typing import IO, Self

from tui_crawler.domain.records.failure import CannotRun
from tui_crawler.fetch.child import child_environment, child_words
from tui_crawler.text.safe_text import yaml_quoted

FIXED_BASE_PORT = 18081
"""Where the sites are when they are to be found again."""

_GRACE_SECONDS = 2.0
_MESSAGE_CHARACTERS = 2000


class DemoUnavailable(CannotRun):
    """The demo web could not be started; the message says why, in one line or with the words of the child."""


@dataclass(frozen=True, slots=True)
class DemoAddress:
    """One site of a running demo web. `shows` says in a few words what it is there for."""

    name: str
    title: str
    shows: str
    seed: str
    port: int


@dataclass(slots=True)
class DemoProcess:
    """A running child. It ends when `close` is called or when this process ends, even if it is killed: it watches its
    standard input, a pipe that only this process holds open, unless it hands its end (the `lifeline`) to another and
    leaves. The child has its own session, so a Ctrl-C in the terminal ends the console first."""

    _child: subprocess.Popen[bytes]
    sites: tuple[DemoAddress, ...]
    was_left: bool = False

    @property
    def pid(self) -> int:
        return self._child.pid

    @classmethod
    def start(
        cls,
        host: str = "127.0.0.1",
        access_log: Path | None = None,
        pace: float = 1.0,
        base_port: int | None = None,
        deadline_seconds: float = 60.0,
    ) -> Self:
        """Start the child and wait until all its sites answer. `base_port` None takes free ports. Raises
        DemoUnavailable."""
        command = [*child_words("tui_crawler.demo"), f"--host={host}", f"--pace={pace}"]
        if base_port is not None:
            command.append(f"--base-port={base_port}")
        if access_log is not None:
            command.append(f"--access-log={access_log.absolute()}")
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=child_environment(),
                start_new_session=True,
            )
            try:
                return cls(child, _await_sites(child, deadline_seconds))
            except DemoUnavailable as failed:
                _end(child)
                errors.seek(0)
                words = errors.read().decode(errors="replace").strip()[-_MESSAGE_CHARACTERS:]
                raise DemoUnavailable(f"{failed}\n{words}".strip()) from None

    @property
    def seeds(self) -> list[str]:
        return [site.seed for site in self.sites]

    @property
    def is_running(self) -> bool:
        return self._child.poll() is None

    @property
    def lifeline(self) -> int:
        """The file descriptor that keeps the child serving: as long as any process holds it open."""
        return _pipe(self._child.stdin).fileno()

    def leave(self) -> None:
        """Let go of the child: another process holds its lifeline, and `close` no longer ends it."""
        _pipe(self._child.stdin).close()
        _pipe(self._child.stdout).close()
        self.was_left = True

    def close(self) -> int | None:
        """End the child, wait for it, return its exit status (negative: the signal); None for one that was left to
        another process, and continues. May be called twice."""
        return None if self.was_left else _end(self._child)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _await_sites(child: subprocess.Popen[bytes], deadline_seconds: float) -> tuple[DemoAddress, ...]:
    """Return the sites that the child's first line names. Raises DemoUnavailable if it ends before, or is too late."""
    lines: list[bytes] = []
    output = _pipe(child.stdout)
    reader = Thread(target=lambda: lines.append(output.readline()), daemon=True)
    reader.start()
    reader.join(deadline_seconds)
    if not lines:
        child.kill()
        reader.join()
        lines = [b""]
    if not lines[0]:
        raise DemoUnavailable("the demo web did not start")
    try:
        ready = json.loads(lines[0])
        if "error" in ready:
            raise DemoUnavailable(str(ready["error"]))
        return tuple(DemoAddress(**site) for site in ready["sites"])
    except (ValueError, KeyError, TypeError) as error:
        raise DemoUnavailable("the demo web said something unexpected at its start") from error


def _end(child: subprocess.Popen[bytes]) -> int:
    _pipe(child.stdin).close()
    for harder in (child.terminate, child.kill):
        try:
            child.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            harder()
    _pipe(child.stdout).close()
    return child.wait()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("the child was started without pipes")
    return stream


USER_AGENT = "tui-crawler-demo-crawler (for http://127.0.0.1/)"
HEADLESS_PACE = 0.1

_POLITE_DELAY = """\
delay:
  default: 1s
  floor: 1s
  crawl_delay_cap: 30s
  retry_after_max: 30s
  start_politeness: 2"""
_QUICK_DELAY = """\
delay:
  default: 20ms
  floor: 20ms
  crawl_delay_cap: 1s
  max: 5s
  retry_after_max: 5s
  start_politeness: 2
  allow_impolite: true    # every seed is a loopback address"""


def demo_config(seeds: Sequence[str], database: str, *, headless: bool = False) -> str:
    """Return a YAML configuration that crawls `seeds` into `database` (a path): at the usual second between requests,
    in about two minutes at pace 1; `headless` at 20 ms, within half a minute at HEADLESS_PACE."""
    template = Template((files("tui_crawler.demo") / "crawl.yaml").read_text("utf-8"))
    return template.substitute(
        user_agent=yaml_quoted(USER_AGENT),
        database=yaml_quoted(database),
        seeds="\n".join(f"  - {yaml_quoted(seed)}" for seed in seeds),
        delay=_QUICK_DELAY if headless else _POLITE_DELAY,
    )
