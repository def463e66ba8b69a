"""The client: transports by origin, TLS names, proxies, names and addresses."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import ssl
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.fetch.asking import CORPORA, SHORT, ask, fetching, head, whole
from tests.support.hostile_web import HostileWeb, Send, Wait
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import OutOfDescriptors
from tui_crawler.fetch.address_guard import AddressGuard, resolve_name
from tui_crawler.fetch.classify import Phase, Trouble, exit_code_of_trouble
from tui_crawler.fetch.client import system_moment
from tui_crawler.fetch.httpx_wire import failure_of
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.tls import Access, Trust, certificate_words, tls_context

CERTIFICATE = CORPORA / "crawled.example.pem"  # self-signed, with its key, made for these tests
OPEN = AddressGuard(allow_private=True)


async def here(host: str, port: int) -> tuple[str, ...]:
    return ("127.0.0.1",)


def serving() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return context


async def test_tls_is_verified_against_the_name_not_the_address() -> None:
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    async with HostileWeb(tls=serving()) as web:
        web.on("/", Send(whole(b"secret")))
        fetcher = fetching(resolve=here, ssl_context=trusting)
        right = await fetcher.exchange(ask(f"https://crawled.example:{web.port}/"))
        wrong = await fetcher.exchange(ask(f"https://other.example:{web.port}/"))
        await fetcher.close()
    assert (right.exit_code, right.body) == (ExitCode.file_ingested, b"secret")
    assert right.requests[0].remote_address == "127.0.0.1"
    assert wrong.exit_code is ExitCode.connection_failed
    assert "certificate verify failed" in wrong.message


async def test_a_certificate_nobody_vouches_for_is_refused() -> None:
    async with HostileWeb(tls=serving()) as web:
        fetcher = fetching(resolve=here, ssl_context=None)
        exchange = await fetcher.exchange(ask(f"https://crawled.example:{web.port}/"))
        await fetcher.close()
        assert exchange.exit_code is ExitCode.connection_failed
        assert web.requests == []


@pytest.mark.parametrize(
    ("host", "trust", "code"),
    [
        ("crawled.example", Trust(str(CERTIFICATE)), ExitCode.file_ingested),
        ("other.example", Trust(str(CERTIFICATE)), ExitCode.connection_failed),
        ("other.example", Trust(verify=False), ExitCode.file_ingested),
        ("crawled.example", Trust(), ExitCode.connection_failed),
        ("crawled.example", Trust("/gone.pem"), ExitCode.connection_failed),
    ],
)
async def test_whom_an_origin_may_be_is_said_for_each(
    host: str, trust: Trust, code: ExitCode, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing of it comes from the environment, and nothing is told to it."""
    server = serving()
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    async with HostileWeb(tls=server) as web:
        web.on("/", Send(whole()))
        there = f"https://{host}:{web.port}"
        fetcher = fetching(
            resolve=here,
            ssl_context=None,
            access=lambda url: Access(trust=trust if url.origin == there else Trust(verify=False)),
        )
        exchange = await fetcher.exchange(ask(f"{there}/"))
        another = await fetcher.exchange(ask(f"https://another.example:{web.port}/"))
        await fetcher.close()
    assert (exchange.exit_code, another.exit_code) == (code, ExitCode.file_ingested)
    assert not (tmp_path / "keys").exists()


CHAIN = CORPORA / "chain.pem"
"""The key and certificate of crawled.example, then the intermediate and the root that issued it, made for these
tests."""


@pytest.mark.parametrize("reference", [False, True])
async def test_a_chain_without_its_intermediate_is_tried_once_with_what_helps(reference: bool, tmp_path: Path) -> None:
    key, *certificates = re.findall(r"-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----\n", CHAIN.read_text())
    (tmp_path / "leaf.pem").write_text(key + certificates[0])
    (tmp_path / "root.pem").write_text(certificates[2])
    (tmp_path / "mid.pem").write_text(certificates[1])
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(tmp_path / "leaf.pem")
    async with HostileWeb(tls=server) as web:
        web.on("/", Send(whole(b"secret")))
        found = {}
        for name in ("root", "mid"):
            trust = Trust(str(tmp_path / f"{name}.pem"))
            fetcher = fetching(
                resolve=here, ssl_context=None, access=lambda _, t=trust: Access(trust=t), reference=reference
            )
            found[name] = await fetcher.exchange(ask(f"https://crawled.example:{web.port}/"))
            await fetcher.close()
    refused = found["root"]
    assert (refused.exit_code, refused.untrusted, len(refused.requests)) == (
        ExitCode.connection_failed,
        refused.message,
        1,
    )
    assert "does not send its intermediate certificate" in refused.message
    assert "ca_file" in refused.message
    assert (found["mid"].exit_code, found["mid"].untrusted) == (ExitCode.file_ingested, ""), "ca_file helps"


@pytest.mark.parametrize(
    ("code", "word"),
    [(9, "clock"), (10, "expired"), (18, "self-signed"), (19, "authority"), (21, "intermediate"), (62, "another host")],
)
def test_each_fault_of_a_certificate_has_its_own_advice(code: int, word: str) -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_code, error.verify_message = code, "in the words of OpenSSL"
    assert word in certificate_words(error)
    assert "words of OpenSSL" not in certificate_words(error)


def test_a_fault_without_advice_keeps_its_words() -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_code, error.verify_message = 23, "certificate revoked"
    assert certificate_words(error) == "certificate verify failed: certificate revoked"


def test_the_certificates_of_the_system_are_trusted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = tmp_path / "bundle.crt"
    bundle.write_bytes(CERTIFICATE.read_bytes())
    packaged = len(tls_context(Trust()).get_ca_certs())
    built = ssl.get_default_verify_paths()
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: built._replace(openssl_cafile=str(bundle)))
    subjects = [each["subject"] for each in tls_context(Trust()).get_ca_certs()]
    assert ((("commonName", "crawled.example"),),) in subjects
    assert packaged > 50


async def test_what_is_secret_is_sent_and_not_recorded(web: HostileWeb) -> None:
    secret = (("Authorization", "Bearer s3cret"), ("accept", "x/s3cret"))
    fetcher = fetching(access=lambda url: Access(secret if url.path == "/" else ()))
    web.on("/", Send(whole()))
    web.on("/other", Send(whole()))
    exchanges = [await fetcher.exchange(ask(web.url(path))) for path in ("/", "/other")]
    sent = [dict(web.fields(number)) for number in (0, 1)]
    assert [name for name, _ in web.fields(0)].count("accept") == 1
    assert (sent[0]["authorization"], sent[0]["accept"]) == ("Bearer s3cret", "x/s3cret")
    assert "authorization" not in sent[1]
    assert exchanges[0].requests[0].request_headers[-2:] == (("Authorization", "•••"), ("accept", "•••"))
    assert "s3cret" not in repr(exchanges)


async def test_only_so_many_origins_stay_open(web: HostileWeb) -> None:
    fetcher = fetching(replace(SHORT, max_open_origins=2), resolve=here)
    web.on("/", Send(whole()))
    for name in ("a", "b", "c", "b", "c", "a"):
        await fetcher.exchange(ask(f"http://{name}.example:{web.port}/"))
    assert web.connections == 4  # a, b, c, and a again, which was the least recently used


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_want_of_descriptors_is_nobodys_fault_and_closes_what_is_idle(web: HostileWeb, host: str) -> None:
    fetcher = fetching(resolve=lambda name, port: (here if name == "a.example" else resolve_name)(name, port))
    web.on("/", Send(whole()))
    await fetcher.exchange(ask(f"http://a.example:{web.port}/"))  # is kept open
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
    try:
        with pytest.raises(OutOfDescriptors):
            await fetcher.exchange(ask(f"http://{host}:{web.port}/"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert (await fetcher.exchange(ask(f"http://a.example:{web.port}/"))).exit_code is ExitCode.file_ingested
    assert web.connections == 2, "the kept one was given back"


async def test_an_origin_in_use_is_not_closed_for_another(web: HostileWeb) -> None:
    go_on = asyncio.Event()

    async def meet() -> None:
        await web.arrived.wait()
        await fetcher.exchange(ask(f"http://b.example:{web.port}/"))
        go_on.set()

    fetcher = fetching(replace(SHORT, max_open_origins=1), resolve=here)
    web.on("/slow", Wait(go_on), Send(whole(b"at last")))
    web.on("/", Send(whole()))
    exchange, _ = await asyncio.gather(fetcher.exchange(ask(f"http://a.example:{web.port}/slow")), meet())
    assert exchange.body == b"at last"


async def test_a_proxy_is_asked_for_the_whole_url() -> None:
    async with HostileWeb() as proxy:
        fetcher = fetching(guard=AddressGuard(), proxy=proxy.origin)
        proxy.on("http://public.example/a?b=c", Send(whole(b"by proxy")))
        exchange = await fetcher.exchange(ask("http://public.example/a?b=c"))
        assert (exchange.exit_code, exchange.body) == (ExitCode.file_ingested, b"by proxy")
        private = await fetcher.exchange(ask("http://10.0.0.1/"))
        local = await fetcher.exchange(ask("http://localhost/"))
        assert private.exit_code is local.exit_code is ExitCode.blocked_address
        proxy.on("tunnel.example:443", Send(head("403 No")))
        refused = await fetcher.exchange(ask("https://tunnel.example/"))
        assert refused.exit_code is ExitCode.connection_failed
        await fetcher.close()
        assert len(proxy.requests) == 3


def test_a_proxy_that_cannot_be_used_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="proxy"):
        fetching(proxy="ftp://127.0.0.1/")


async def test_the_address_of_a_host() -> None:
    fetcher = fetching(guard=AddressGuard(), resolve=here)
    assert await fetcher.address("any.example") == "127.0.0.1"
    assert await fetcher.address("192.0.2.1") == "192.0.2.1"
    assert await fetcher.address("[2001:db8::1]") == "2001:db8::1"


async def test_a_name_that_no_name_server_could_be_asked_for_has_no_address() -> None:
    fetcher = fetching(guard=AddressGuard())
    assert await fetcher.address("a" * 64 + ".example") is None


async def test_text_outside_latin_1_is_sent_as_utf_8(web: HostileWeb) -> None:
    fetcher = fetching()
    web.on("/", Send(whole(b"<title>T</title>", "Content-Type: text/html")))
    exchange = await fetcher.exchange(replace(ask(web.url("/")), user_agent="例-crawler"))
    assert b"\r\nUser-Agent: \xe4\xbe\x8b-crawler\r\n" in web.requests[0]
    reading = await fetcher.read(ask(web.url("/")).url, exchange)
    assert reading.title == "T"


async def test_names_are_asked_of_the_operating_system() -> None:
    fetcher = fetching(guard=AddressGuard())
    assert await fetcher.address("localhost") in ("127.0.0.1", "::1")


@pytest.mark.parametrize(
    ("error", "phase", "code"),
    [
        (httpx.ConnectTimeout("x"), Phase.head, ExitCode.request_timeout),
        (httpx.PoolTimeout("x"), Phase.head, ExitCode.request_timeout),
        (httpx.ReadTimeout("x"), Phase.head, ExitCode.request_timeout),
        (httpx.ReadTimeout("x"), Phase.body, ExitCode.error_reading_response),
        (httpx.WriteTimeout("x"), Phase.head, ExitCode.request_timeout),
        (httpx.ConnectError("x"), Phase.head, ExitCode.connection_failed),
        (httpx.ProxyError("x"), Phase.head, ExitCode.connection_failed),
        (httpx.ReadError("x"), Phase.head, ExitCode.connection_failed),
        (httpx.ReadError("x"), Phase.body, ExitCode.error_reading_response),
        (ConnectionResetError("x"), Phase.body, ExitCode.error_reading_response),
        (ssl.SSLError("x"), Phase.head, ExitCode.connection_failed),
        (httpx.RemoteProtocolError("x"), Phase.head, ExitCode.did_not_understand_answer),
        (httpx.RemoteProtocolError("x"), Phase.body, ExitCode.did_not_understand_answer),
        (httpx.InvalidURL("x"), Phase.head, ExitCode.invalid_url),
        (httpx.LocalProtocolError("x"), Phase.head, ExitCode.local_processing_error),
        (ExceptionGroup("x", [OverflowError("port")]), Phase.head, ExitCode.local_processing_error),
    ],
)
def test_every_exception_of_the_client_is_an_ending(error: Exception, phase: Phase, code: ExitCode) -> None:
    failure = failure_of(error, phase, None)
    assert exit_code_of_trouble(failure.phase, failure.trouble) is code
    assert failure.message


def test_only_a_connection_that_failed_is_a_fluke() -> None:
    assert failure_of(httpx.ConnectError("x"), Phase.head, None).closed_unanswered
    assert not failure_of(httpx.ReadError("x"), Phase.head, None).closed_unanswered
    assert not failure_of(httpx.ConnectTimeout("x"), Phase.head, None).closed_unanswered


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("trouble", Trouble)
def test_every_trouble_has_a_code_that_is_no_success(phase: Phase, trouble: Trouble) -> None:
    assert exit_code_of_trouble(phase, trouble) >= ExitCode.did_not_understand_answer


def test_both_clocks_run() -> None:
    first, second = system_moment(), system_moment()
    assert first.mono_ms <= second.mono_ms
    assert second.wall_ms > 1_700_000_000_000


def test_a_bound_must_be_positive() -> None:
    with pytest.raises(ValueError, match="max_links"):
        FetchLimits(max_links=0)
