"""What reading leaves out, and which bounds of the configuration would let it in (docs/reliability.md)."""

from collections.abc import Iterable, Mapping

CUTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "links": ("links over the bound", ("reading.max_links",)),
    "input": ("what follows the bytes that were read", ("reading.max_input_bytes",)),
    "tags": ("what follows the tags that were read", ("reading.max_tags",)),
    "tag": ("attributes of a tag with too many", ("reading.max_tag_attributes",)),
    "title": ("the end of the title", ("reading.max_title_bytes",)),
    "sitemap": ("what follows the bytes that were read", ("reading.max_sitemap_bytes",)),
    "urls": ("URLs over the bound", ("reading.max_sitemap_urls",)),
    "broken": ("what follows a place that cannot be read", ()),
    "entities": ("everything: it declares entities", ()),
    "depth": ("what is nested more than 2,046 deep", ()),
    "deadline": ("what was not read in time", ("reading.parse_deadline",)),
    "data": ("data values", ("reading.max_data_values", "reading.max_data_chars", "reading.data_deadline")),
    "headers": ("header fields", ("network.max_header_bytes",)),
    "body": ("what follows the bytes that were read", ("robots.max_bytes",)),
}
"""The names in `v_attempt.cut` and `v_page.incomplete`: what is missing, and the keys that raise the bound."""


def cut_names(stored: str) -> tuple[str, ...]:
    """The names in a column that holds them with commas."""
    return tuple(stored.split(",")) if stored else ()


def cut_words(cut: Iterable[str]) -> str:
    """Return what is missing, in words, each with the key that raises its bound; empty when nothing is.

    A name of a newer program stands for itself.
    """
    told = ((name, *CUTS.get(name, (name, ()))) for name in cut)
    return ", ".join(f"{words} ({name}: raise {' or '.join(keys)})" if keys else words for name, words, keys in told)
