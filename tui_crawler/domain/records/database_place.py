"""Where a crawl is kept: an SQLite file, or a database on a PostgreSQL server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

_SCHEMES = ("postgresql", "postgres")
_SHOWN = frozenset({"host", "hostaddr", "port", "dbname", "user", "service", "options"})
"""The parameters that say which database it is; the others may hold the paths of certificates and passwords."""
_SECRETS = frozenset({"sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"})
_EXPECTED = "expected postgresql://[user@]host[:port]/name"


@dataclass(frozen=True, slots=True)
class PostgresPlace:
    """A database on a server, by a URL as libpq reads it, which holds no password."""

    url: str

    def __str__(self) -> str:
        """Return the URL as it is shown; `location_of` returns the one to connect with."""
        head, _, query = self.url.partition("?")
        shown = urlencode([one for one in parse_qsl(query) if one[0] in _SHOWN], quote_via=quote)
        return f"{head}{shown and '?'}{shown}"

    @property
    def name(self) -> str:
        """The name of the database, or of the service that names it."""
        parts = urlsplit(self.url)
        query = dict(parse_qsl(parts.query))
        return unquote(parts.path.strip("/")) or query.get("dbname") or query.get("service") or "postgres"

    @property
    def stem(self) -> str:
        """The same, as a crawl is named after it."""
        return self.name

    @property
    def parent(self) -> Path:
        """The folder for what is kept beside a crawl: the current one."""
        return Path()

    def exists(self) -> bool:
        """Return whether it may be there: its server says more."""
        return True

    def absolute(self) -> PostgresPlace:
        """Itself: it is the same from every folder."""
        return self


DatabasePlace = Path | PostgresPlace


def location_of(place: DatabasePlace | str) -> str:
    """Return the text that names a database to this program: not to be shown."""
    return place.url if isinstance(place, PostgresPlace) else str(place)


def is_server_url(text: str) -> bool:
    """Return whether a text names a database on a server."""
    return text.partition("://")[0].lower() in _SCHEMES and "://" in text


def parse_server_url(text: str) -> tuple[PostgresPlace, str]:
    """The database that `postgresql://[user[:password]@][host][:port][/name][?parameter=value]` names, and the
    password, which is empty where none is given. Raises ValueError, which quotes nothing, for a text that is no such
    URL."""
    try:
        parts = urlsplit(text)
        _ = parts.port if "," not in parts.netloc else None  # raises ValueError
    except ValueError:
        raise ValueError(_EXPECTED) from None
    if not is_server_url(text) or parts.fragment or "@" in parts.path or not text.isprintable() or " " in text:
        raise ValueError(_EXPECTED)
    account, at, hosts = parts.netloc.rpartition("@")
    user, _, password = account.partition(":")
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    if secret := _SECRETS & dict(parameters).keys():
        raise ValueError(f"{min(secret)} is a secret: name a service (service=NAME) whose file has it")
    said = unquote(password) or dict(parameters).get("password", "")
    query = urlencode([(key, value) for key, value in parameters if key != "password"], quote_via=quote)
    return PostgresPlace(f"postgresql://{user}{at}{hosts}{parts.path}{query and '?'}{query}"), said
