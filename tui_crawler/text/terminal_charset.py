"""Which characters a terminal shows, by its locale. Pure, and loads nothing: every start asks."""

from collections.abc import Mapping

_UNSAID = frozenset({"", "C", "POSIX"})


def has_utf8(environ: Mapping[str, str]) -> bool:
    """Whether the locale says that the terminal shows UTF-8, or says nothing at all.

    In the locale C Python sets LC_CTYPE to a UTF-8 one for itself (PEP 538): of the terminal that says nothing.
    """
    said = [environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if said[1] in {"C.UTF-8", "C.utf8", "UTF-8"} and said[2] in _UNSAID:
        said[1] = ""
    locale = next(filter(None, said), "UTF-8")
    return locale.partition(".")[2].partition("@")[0].upper().replace("-", "") == "UTF8" or locale == "UTF-8"
