"""URLs as cells: short where the origin is known from the place, whole elsewhere. Pure."""

from collections.abc import Container, Iterable

from tui_crawler.text.cells import Styled


def path_of(url: str, origin: str) -> str:
    """What follows the origin in a URL, with its leading slash; the whole URL when it is of another origin."""
    if origin and url.startswith(origin):
        rest = url[len(origin) :]
        if not rest or rest[0] in "/?#":
            return rest or "/"
    return url


def whole_url(written: str, origins: Iterable[str]) -> str:
    """A URL that was typed as the console shows it, without a scheme: with that of the origin it is of, if known."""
    if "://" not in written:
        for origin in origins:
            rest = written.removeprefix(bare_host(origin))
            if rest != written and (not rest or rest[0] in "/?#"):
                return origin + (rest or "/")
    return written


def host_cell(origin: str, role: str) -> Styled:
    """Return an origin as `host_of` has it, without any scheme where there is no room."""
    return Styled(host_of(origin), role, short=bare_host(origin))


def origin_of(url: str) -> str:
    """Return the origin of a URL as it is stored; the URL itself where it is no more than that."""
    return "/".join(url.split("/", 3)[:3])


def bare_host(origin: str) -> str:
    """An origin without any scheme, for columns that are too narrow for it."""
    return origin.partition("://")[2] or origin


def twin_of(origin: str) -> str:
    """The origin that differs from this one by its scheme alone."""
    other = "http" if origin.startswith("https://") else "https"
    return f"{other}://{bare_host(origin)}"


_of_two_schemes: set[str] = set()


def note_origins(changed: Iterable[str], known: Container[str]) -> None:
    """Note which of the changed origins are known with another scheme, too: for `host_of`."""
    for origin in changed:
        twin = twin_of(origin)
        for one in (origin, twin):
            (_of_two_schemes.add if twin in known else _of_two_schemes.discard)(one)


def host_of(origin: str) -> str:
    """Return an origin without its scheme; with it where the console knows the host with another one, too."""
    return origin if origin in _of_two_schemes else bare_host(origin)
