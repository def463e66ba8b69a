"""The known word that was probably meant by an unknown one. Pure."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], least: float = 0.6) -> str:
    """The known word that is most like it, in any case of letters, or an empty string where none is, from 0 to 1, so
    much like it."""
    import difflib  # noqa: PLC0415  only after a mistake

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), by_lower, 1, least)
    return by_lower[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: `; did you mean status?`, or nothing when no known word is near."""
    name = nearest(word, known)
    return f"; did you mean {name}?" if name else ""
