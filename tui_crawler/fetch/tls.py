"""How one origin is asked: what is sent beside the common header fields, and which certificates it may show.

Nothing of it comes from the environment: Python's and httpx' own contexts would obey SSL_CERT_FILE, SSL_CERT_DIR and
SSLKEYLOGFILE.
"""

import ssl
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import certifi

from tui_crawler.domain.records.attempt import Headers

_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


_CA_FILE = "set ca_file to trust it (network or hosts[])"
_CHAIN = f"the server does not send its intermediate certificate, or its authority is not trusted; {_CA_FILE}"
_ADVICE = {
    9: "it is not valid yet; check the clock of this machine",
    10: "it has expired; its owner has to renew it",
    18: f"it is self-signed; {_CA_FILE}",
    19: f"it is signed by an authority that is not trusted; {_CA_FILE}",
    **dict.fromkeys((20, 21), _CHAIN),
    **dict.fromkeys((62, 64), "it is for another host name; the server has to send one for this name"),
}
"""What is wrong with a certificate and what helps, by the number of OpenSSL's X509_V_ERR_ constants."""


def certificate_words(error: ssl.SSLCertVerificationError) -> str:
    """Return why a certificate cannot be verified, and what helps."""
    return f"certificate verify failed: {_ADVICE.get(error.verify_code, error.verify_message)}"


@dataclass(frozen=True, slots=True)
class Trust:
    """The accepted certificates: those of `ca_file` (PEM, "" for none) beside the system's and the packaged ones;
    any at all, for any name, without `verify`."""

    ca_file: str = ""
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Access:
    """The access to an origin: `headers` replace the common fields of their name; they are sent, and never recorded."""

    headers: Headers = field(default=(), repr=False)
    trust: Trust = Trust()


class TlsContexts(dict[Trust, ssl.SSLContext]):
    """A context for each kind of trust, made when it is first needed: loading certificates takes longer than most
    requests. Raises OSError when a `ca_file` cannot be used."""

    def __missing__(self, trust: Trust) -> ssl.SSLContext:
        return self.setdefault(trust, tls_context(trust))


def tls_context(trust: Trust) -> ssl.SSLContext:
    """A context for connections as a client, TLS 1.2 or later. Raises OSError when `ca_file` cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    if not trust.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # what is named as trusted need not be a root
    context.load_verify_locations(cafile=certifi.where())
    with suppress(OSError, StopIteration):  # what the system has may be unreadable; the packaged ones are there
        if sys.platform == "win32":
            context.load_default_certs()  # from its store
        else:
            built = ssl.get_default_verify_paths()
            if Path(built.openssl_capath).is_dir():
                context.load_verify_locations(capath=built.openssl_capath)
            bundles = (built.openssl_cafile, *_BUNDLES)
            context.load_verify_locations(cafile=next(path for path in bundles if Path(path).is_file()))
    if trust.ca_file:
        context.load_verify_locations(cafile=trust.ca_file)
    return context
