"""What one exchange and one reading may cost. Every bound of RELIABILITY "The hostile web" that fetching keeps."""

from dataclasses import dataclass, fields

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds of fetching and reading: `_ms` are milliseconds, `_bytes` bytes. ValueError: one is not positive.

    `max_body_bytes` bounds the decoded body, `max_wire_bytes` the body as it was sent (and what lies between two
    codings); what frames it may be an eighth of that, and 64 KiB. Bodies of answers that are not wanted are read up to
    `drain_bytes` for at most `drain_timeout_ms`, so that the connection can be used again. Bodies up to
    `parse_inline_bytes` with up to `parse_inline_tags` tags are read on the event loop. What is read of one is bounded
    by counting, so that a busy machine reads as much as any; `parse_deadline_ms` is the last defence.
    Bodies over `validate_bytes` (CSS: `validate_css_bytes`) are not validated; smaller ones are, on the event loop for
    at most `validate_inline_ms`, then in a thread for at most `validate_deadline_ms`. Data rules always run in a
    thread, for `data_deadline_ms`; `max_data_values` bounds one rule, `max_data_chars` one value.
    `check_fragments`: fragments of links are read, and what they may name on a page.
    """

    connect_timeout_ms: int = 10_000
    read_timeout_ms: int = 30_000
    total_timeout_ms: int = 60_000
    max_body_bytes: int = 10 * MIB
    max_wire_bytes: int = 10 * MIB
    max_codings: int = 2
    max_header_bytes: int = 64 * KIB
    drain_bytes: int = 64 * KIB
    drain_timeout_ms: int = 1_000
    max_open_origins: int = 128
    keep_alive_ms: int = 15_000
    max_url_length: int = 2048
    max_input_bytes: int = 4 * MIB
    parse_inline_bytes: int = 256 * KIB
    parse_inline_tags: int = 5_000
    parse_deadline_ms: int = 60_000
    max_tag_bytes: int = 64 * KIB
    max_tag_attributes: int = 1_000
    max_tags: int = 250_000
    max_links: int = 10_000
    max_title_bytes: int = 1 * KIB
    max_anchor_chars: int = 200
    max_sitemap_bytes: int = 50 * MIB
    max_sitemap_urls: int = 50_000
    validate_bytes: int = 256 * KIB
    validate_css_bytes: int = 128 * KIB
    validate_inline_ms: int = 3
    validate_deadline_ms: int = 1_000
    data_deadline_ms: int = 5_000
    max_data_values: int = 1_000
    max_data_chars: int = 10_000
    max_page_data_chars: int = 1_000_000
    check_fragments: bool = False

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) < 1 and each.name != "check_fragments":
                raise ValueError(f"{each.name} must be at least 1, not {getattr(self, each.name)}")
