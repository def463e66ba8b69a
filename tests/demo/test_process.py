"""The demo web in its own process: it starts, tells where it is, and ends with its parent, however that ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.patience import PATIENT_S
from tui_crawler.demo import process
from tui_crawler.demo.__main__ import main
from tui_crawler.demo.process import DemoProcess, DemoUnavailable

_PARENT = """
import sys
from tui_crawler.demo.process import DemoProcess
demo = DemoProcess.start(pace=0)
print(demo.pid, demo.sites[0].port, flush=True)
sys.stdin.read()
"""


def _get(port: int, target: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENT_S)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def _wait_until_gone(child: psutil.Process) -> None:
    """Wait for a process that is nobody's child here; whether its new parent has buried it does not matter."""
    while psutil.wait_procs([child], timeout=0.02)[1]:
        with suppress(psutil.NoSuchProcess):
            if child.status() == psutil.STATUS_ZOMBIE:
                return


def test_the_child_serves_and_ends(tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    with DemoProcess.start(pace=0, access_log=log) as demo:
        assert demo.is_running
        assert len(demo.seeds) == len(demo.sites) == 10
        assert [site.seed for site in demo.sites] == [f"http://127.0.0.1:{site.port}/" for site in demo.sites]
        assert (demo.sites[0].name, demo.sites[0].title) == ("almanac", "The Harbour Almanac")
        assert os.getsid(demo.pid) != os.getsid(0)
        assert _get(demo.sites[0].port, "/about") == 200
        assert json.loads(log.read_text())["target"] == "/about"
    assert not demo.is_running
    assert demo.close() == 0
    with pytest.raises(ConnectionRefusedError):
        _get(demo.sites[0].port, "/")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_child_in_order(number: int) -> None:
    with DemoProcess.start(pace=0) as demo:
        os.kill(demo.pid, number)
        assert psutil.Process(demo.pid).wait(PATIENT_S) in (0, None)
        assert demo.close() == 0


def test_a_killed_child_is_seen() -> None:
    with DemoProcess.start(pace=0) as demo:
        os.kill(demo.pid, signal.SIGKILL)
        assert demo.close() == -signal.SIGKILL
        assert not demo.is_running


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that is late because the machine is busy is not killed."""
    monkeypatch.setattr(process, "_GRACE_SECONDS", PATIENT_S)


@pytest.mark.parametrize("ending", ["end of input", "kill"])
def test_the_child_dies_with_its_parent(ending: str) -> None:
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        pid, port = map(int, parent.stdout.readline().split())
        child = psutil.Process(pid)
        assert _get(port, "/") == 200
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENT_S) as connection:
            if ending == "kill":
                parent.kill()
            else:
                parent.stdin.close()
            assert connection.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        _get(port, "/")
    _wait_until_gone(child)


def test_a_taken_port_is_said_by_the_parent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DemoUnavailable, match=f"port {port}"):
            DemoProcess.start(base_port=port)


def test_a_child_that_cannot_run_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "no number")
    with pytest.raises(DemoUnavailable, match=r"did not start\n.*PYTHONHASHSEED"):
        DemoProcess.start()


def test_a_child_that_is_late_is_ended() -> None:
    before = psutil.Process().children()
    with pytest.raises(DemoUnavailable, match="did not start"):
        DemoProcess.start(deadline_seconds=0)
    assert psutil.Process().children() == before


def test_a_child_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE_SECONDS", 0.05)
    with DemoProcess.start(pace=0) as demo:
        os.kill(demo.pid, signal.SIGSTOP)
        assert demo.close() == -signal.SIGKILL


@pytest.mark.parametrize("said", [b"hello\n", b"[]\n", b'{"sites": [{"name": "almanac"}]}\n', b"\xff\n"])
def test_a_child_that_talks_nonsense_is_refused(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    words = (sys.executable, "-c", f"import sys; sys.stdout.buffer.write({said!r})")
    monkeypatch.setattr(process, "child_words", lambda module: words)
    before = psutil.Process().children()
    with pytest.raises(DemoUnavailable, match="something unexpected"):
        DemoProcess.start(pace=0)
    assert psutil.Process().children() == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--host", "192.0.2.1"], "loopback addresses only"),
        (["--pace", "-1"], "at least 0"),
        (["--base-port", "70000"], "between 1 and 65526"),
    ],
)
def test_a_wrong_option_is_said_in_json(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert why in json.loads(capsys.readouterr().out)["error"]


def test_the_child_imports_only_the_standard_library() -> None:
    code = (
        "import sys, tui_crawler.demo.__main__\n"
        "known = set(sys.stdlib_module_names)\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] not in known))"
    )
    root = str(Path(__file__).parents[2])
    shown = subprocess.run(
        [sys.executable, "-S", "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": root},
    ).stdout
    imported = shown.strip("[]\n").replace("'", "").split(", ")
    assert imported
    assert all(name in ("__main__", "tui_crawler") or name.startswith("tui_crawler.demo") for name in imported)
