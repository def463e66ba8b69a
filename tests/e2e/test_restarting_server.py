"""What crawls, and begins while its PostgreSQL server restarts, waits for it, as what is at work already does."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.served import ROOT, tui_crawler
from tests.support.patience import PATIENT_S
from tests.support.postgres_database import made_database

CONFIG = "seeds: [http://127.0.0.1:1/]\nuser_agent: bench\ndelay: {default: 0, floor: 0, allow_impolite: true}\n"


class Front:
    """The socket at which a server is reached: it takes no connection, then says what it does, then is the server."""

    def __init__(self, real: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="front-")
        self.path = f"{self.folder}/.s.PGSQL.5432"
        parts = urlsplit(real)
        self._real = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self.url = f"postgresql://postgres@{parts.path}?host={self.folder}"
        self._code: bytes | None = None
        self._socket = socket.socket(socket.AF_UNIX)
        self._closing: list[socket.socket] = [self._socket]

    def refuses(self, code: bytes) -> None:
        """Answer every connection with the error of this SQLSTATE."""
        self._code = code
        if not Path(self.path).exists():
            self._socket.bind(self.path)
            self._socket.listen(16)
            threading.Thread(target=self._serve, daemon=True).start()

    def is_up(self) -> None:
        self._code = None

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                self._closing.append(client)
                if self._code is None:
                    server = socket.socket(socket.AF_UNIX)
                    self._closing.append(server)
                    server.connect(self._real)
                    for pair in ((client, server), (server, client)):
                        threading.Thread(target=_copy, args=pair, daemon=True).start()
                    continue
                client.recv(8_192)
                body = b"SFATAL\0VFATAL\0C" + self._code + b"\0Mnot now\0\0"
                client.sendall(b"E" + (len(body) + 4).to_bytes(4, "big") + body)
                client.close()

    def close(self) -> None:
        for one in self._closing:
            one.close()
        Path(self.path).unlink(missing_ok=True)
        Path(self.folder).rmdir()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65_536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def front(postgres_url: str) -> Iterator[Front]:
    with made_database(postgres_url) as place:
        if "host=" not in place.url:
            pytest.skip("this server has no Unix socket")
        front = Front(place.url)
        yield front
        front.close()


@contextlib.contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tui_crawler", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, cwd=ROOT, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_run_and_a_worker_that_start_while_the_server_restarts_wait(front: Front, tmp_path: Path) -> None:
    config = tmp_path / "my.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    with (
        started("run", str(config), "--db", front.url) as run,
        started("worker", "--db", front.url) as worker,
    ):
        for process in (run, worker):
            assert process.stderr is not None
            assert "waiting for the server" in process.stderr.readline()
        front.refuses(b"57P03")  # "the database system is starting up"
        with started("run", "--db", front.url) as third:
            assert third.stderr is not None
            assert "waiting for the server" in third.stderr.readline()
            assert (run.poll(), worker.poll()) == (None, None)
        front.is_up()
        said, errors = run.communicate(timeout=PATIENT_S)
        assert run.returncode in {0, 1}, errors
        assert "run started" in said
        _, errors = worker.communicate(timeout=PATIENT_S)
        assert "waiting" not in errors, "it says so once"


@pytest.mark.parametrize("code", [b"28P01", b"3D000", b"28000", b"08P01"])
def test_what_no_wait_changes_ends_at_once(front: Front, tmp_path: Path, code: bytes) -> None:
    front.refuses(code)  # wrong password, unknown database, unknown role, no such thing
    for words in (("worker",), ("run",)):
        done = tui_crawler(*words, "--db", front.url)
        assert (done.returncode, "waiting" in done.stderr) == (3, False)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://no-such-host.invalid/crawl",
        "postgresql:///crawl?host=%2Fno%2Fsuch%2Ffolder",
        "postgresql://127.0.0.1:{port}/crawl?sslmode=verify-full&sslrootcert=%2Fno%2Fsuch.crt",
    ],
)
def test_an_address_that_leads_nowhere_ends_at_once(url: str) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        threading.Thread(target=_hang_up, args=(listening,), daemon=True).start()
        done = tui_crawler("worker", "--db", url.format(port=listening.getsockname()[1]), env={**os.environ})
    assert (done.returncode, "waiting" in done.stderr) == (3, False)


def _hang_up(listening: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = listening.accept()
            client.recv(8_192)
            client.close()
