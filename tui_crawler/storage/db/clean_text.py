"""Text on its way into the database: NUL and lone surrogates cannot be stored everywhere and become U+FFFD."""

_REPLACEMENT = "\ufffd"


def clean(text: str) -> str:
    """The text as it can be stored: whole when it holds neither NUL nor a lone surrogate.

    A pair of surrogates that belong together becomes the character they mean.
    """
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
