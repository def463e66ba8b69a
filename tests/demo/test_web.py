"""The demo web as a whole: its sites, ports and addresses."""

import asyncio
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.demo.client import fetch
from tui_crawler.demo.process import FIXED_BASE_PORT
from tui_crawler.demo.web import DemoPortTaken, DemoWeb, open_listeners


async def test_ten_sites_answer_at_their_seeds(web: DemoWeb) -> None:
    assert len(web.sites) == len(web.seeds) == len(set(web.seeds)) == 10
    for site, seed in zip(web.sites, web.seeds, strict=True):
        assert seed == web.origin(site.name) + "/"
        answer = await fetch(web.origin(site.name), "/")
        assert answer.status == 200
        assert site.title in answer.text or "Lantern &amp; Rope" in answer.text
    assert {entry.site for entry in web.log} == {site.name for site in web.sites}


async def test_a_web_can_be_entered_again(web: DemoWeb) -> None:
    before = list(web.seeds)
    async with DemoWeb(pace=0) as other:
        assert not set(other.seeds) & set(before)
        assert (await fetch(other.origin("almanac"), "/")).status == 200


async def test_fixed_ports_are_in_a_row_and_free_afterwards() -> None:
    base = _find_base_port()
    for _ in range(2):
        async with DemoWeb(pace=0, ports=base) as web:
            assert [urlsplit(seed).port for seed in web.seeds] == list(range(base, base + 10))
            assert (await fetch(web.origin("tramway"), "/")).status == 200
        for seed in web.seeds:
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", urlsplit(seed).port)


async def test_a_taken_port_is_named_and_nothing_stays_open() -> None:
    base = _find_base_port()
    with socket.create_server(("127.0.0.1", base + 4)):
        with pytest.raises(DemoPortTaken, match=f"port {base + 4}.*needs 10 ports"):
            async with DemoWeb(ports=base):
                pytest.fail("the port is taken")
        for free in range(base, base + 4):
            socket.create_server(("127.0.0.1", free)).close()


async def test_a_web_that_cannot_start_leaves_nothing_open(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        async with DemoWeb(access_log=tmp_path / "missing" / "access.jsonl"):
            pytest.fail("there is no such folder")


def test_only_loopback_and_sensible_paces() -> None:
    with pytest.raises(ValueError, match=r"loopback addresses only, not 192\.0\.2\.1"):
        DemoWeb(host="192.0.2.1")
    with pytest.raises(ValueError, match="at least 0"):
        DemoWeb(pace=-1)
    for port in (0, 65527, 70000):
        with pytest.raises(ValueError, match=f"between 1 and 65526, not {port}"):
            open_listeners("127.0.0.1", port, 10)


async def test_the_version_six_loopback_has_brackets() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    async with DemoWeb(host="::1", pace=0) as web:
        assert web.seeds[0].startswith("http://[::1]:")
        assert (await fetch(web.origin("almanac"), "/")).status == 200


async def test_connections_in_the_middle_of_an_answer_do_not_hold_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    held = asyncio.Event()

    async def hold(seconds: float) -> None:
        held.set()
        await asyncio.Event().wait()

    async with DemoWeb(pace=1) as web:
        monkeypatch.setattr(asyncio, "sleep", hold)
        waiting = asyncio.create_task(fetch(web.origin("records"), "/"))
        await held.wait()
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
        await waiting
    assert [(entry.target, entry.ending) for entry in web.log] == [("/", "client_left")]


def test_the_fixed_ports_are_not_privileged() -> None:
    assert 1024 < FIXED_BASE_PORT < 65536 - 10


def _find_base_port() -> int:
    """Return the first of ten free ports in a row."""
    for _ in range(50):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            base: int = probe.getsockname()[1]
        if base > 65000:
            continue
        try:
            for listener in open_listeners("127.0.0.1", base, 10):
                listener.close()
        except DemoPortTaken:
            continue
        return base
    raise AssertionError("no ten free ports in a row")
