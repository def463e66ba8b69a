"""Which addresses are connected to: the policy, and that exchanges keep it."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.asking import ask, fetching, whole
from tests.support.hostile_web import HostileWeb, Send
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.address_guard import AddressGuard, AddressRefused

PUBLIC = ("93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "64:ff9b::808:808", "::ffff:8.8.8.8")
PRIVATE = (
    *("127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "192.0.0.192", "0.0.0.0"),
    *("255.255.255.255", "224.0.0.1", "240.0.0.1"),
    "169.254.169.254",  # metadata of many clouds
    "100.100.100.200",  # and of another
    "168.63.129.16",  # and of a third, in public space
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1"),
    *("::ffff:10.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b:1::a00:1", "2002:7f00:1::", "::7f00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fec0::1"),
)


@pytest.mark.parametrize("address", PUBLIC)
@pytest.mark.parametrize("allow", [True, False, "auto"])
def test_public_addresses_are_allowed(address: str, allow: Any) -> None:
    AddressGuard(allow).check("site.example", address)


@pytest.mark.parametrize("address", PRIVATE)
@pytest.mark.parametrize("allow", [False, "auto"])
def test_a_public_name_does_not_lead_to_a_private_address(address: str, allow: Any) -> None:
    guard = AddressGuard(allow, seed_hosts={"site.example", "localhost"})
    with pytest.raises(AddressRefused) as refused:
        guard.check("site.example", address)
    assert not refused.value.excluded
    assert address in refused.value.message
    AddressGuard(allow_private=True).check("site.example", address)


@given(st.ip_addresses())
def test_nothing_but_global_addresses_without_a_seed(address: object) -> None:
    guard = AddressGuard("auto")
    if not ip_address(str(address)).is_global:
        with pytest.raises(AddressRefused):
            guard.check("site.example", str(address))


@pytest.mark.parametrize(
    ("seed", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("10.1.2.3", "10.1.2.3"),
        ("[::1]", "::1"),
        ("localhost", "127.0.0.1"),
        ("localhost", "::1"),
        ("demo.localhost", "127.0.0.1"),
        ("localhost.", "127.0.0.1"),
    ],
)
def test_a_seed_may_name_a_private_address_or_a_loopback_name(seed: str, address: str) -> None:
    AddressGuard("auto", seed_hosts={seed}).check(seed, address)
    for guard in (AddressGuard("auto"), AddressGuard(allow_private=False, seed_hosts={seed})):
        with pytest.raises(AddressRefused):
            guard.check(seed, address)


def test_a_loopback_name_may_not_lead_into_the_private_network() -> None:
    with pytest.raises(AddressRefused):
        AddressGuard("auto", seed_hosts={"localhost"}).check("localhost", "10.0.0.1")


def test_seeds_may_come_later() -> None:
    seeds: set[str] = set()
    guard = AddressGuard("auto", seed_hosts=seeds)
    with pytest.raises(AddressRefused):
        guard.check("127.0.0.1", "127.0.0.1")
    seeds.add("127.0.0.1")
    guard.check("127.0.0.1", "127.0.0.1")


def test_the_exclusion_list_overrides_everything() -> None:
    def excluded(address: str) -> str:
        return "203.0.113.0/24 (owner asked)" if address.startswith("203.0.113.") else ""

    guard = AddressGuard(allow_private=True, excluded=excluded)
    with pytest.raises(AddressRefused, match="owner asked") as refused:
        guard.allowed("site.example", ("8.8.8.8", "203.0.113.7"))
    assert refused.value.excluded
    assert guard.allowed("site.example", ("8.8.8.8", "10.0.0.1")) == ("8.8.8.8", "10.0.0.1")


def test_only_the_allowed_ones_of_several_addresses_are_left() -> None:
    guard = AddressGuard("auto")
    assert guard.allowed("site.example", ("127.0.0.1", "8.8.8.8", "::1")) == ("8.8.8.8",)
    with pytest.raises(AddressRefused):
        guard.allowed("site.example", ("127.0.0.1", "::1"))
    assert guard.allowed("site.example", ()) == ()


@pytest.mark.parametrize("answer", ["127.0.0.1", "169.254.169.254", "::1", "10.0.0.1"])
async def test_a_name_that_resolves_to_a_private_address_is_222(web: HostileWeb, answer: str) -> None:
    async def rebound(host: str, port: int) -> tuple[str, ...]:
        return (answer,)

    guard = AddressGuard("auto", seed_hosts={"public.example"})
    fetcher = fetching(guard=guard, resolve=rebound)
    exchange = await fetcher.exchange(ask(f"http://public.example:{web.port}/"))
    assert exchange.exit_code is ExitCode.blocked_address
    assert (exchange.requests, web.connections) == ((), 0)
    assert answer in exchange.message


async def test_the_name_is_asked_once_and_the_checked_address_is_connected_to(web: HostileWeb) -> None:
    answers = [("127.0.0.1",), ("10.0.0.1",)]

    async def rebinding(host: str, port: int) -> tuple[str, ...]:
        return answers.pop(0)

    fetcher = fetching(resolve=rebinding)
    web.on("/", Send(whole()))
    exchange = await fetcher.exchange(ask(f"http://public.example:{web.port}/"))
    assert exchange.exit_code is ExitCode.file_ingested
    assert exchange.requests[0].remote_address == "127.0.0.1"
    assert len(answers) == 1
    assert dict(web.fields())["host"] == f"public.example:{web.port}"


async def test_an_address_excluded_while_a_connection_is_kept_is_202(web: HostileWeb) -> None:
    reasons: dict[str, str] = {}
    guard = AddressGuard(allow_private=True, excluded=lambda address: reasons.get(address, ""))
    fetcher = fetching(guard=guard)
    web.on("/", Send(whole()))
    assert (await fetcher.exchange(ask(web.url("/")))).exit_code is ExitCode.file_ingested
    reasons["127.0.0.1"] = "127.0.0.0/8"
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.blocked_by_exclusion_list
    assert (exchange.requests, len(web.requests)) == ((), 1)
