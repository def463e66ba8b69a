"""Documents that are no text: a drawing, a printed sheet, a sound, a feed and a sitemap, made from little."""

import struct
import zlib
from collections.abc import Iterable
from html import escape

_SAMPLES_PER_SECOND = 8000


def draw_png(width: int, height: int, top: tuple[int, int, int], bottom: tuple[int, int, int]) -> bytes:
    """Return a PNG that fades from the colour `top` to `bottom` (red, green, blue 0 to 255)."""
    rows = bytearray()
    for y in range(height):
        share = y / max(1, height - 1)
        pixel = bytes(round(a + (b - a) * share) for a, b in zip(top, bottom, strict=True))
        rows += b"\0" + pixel * width
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(rows), 9)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def print_pdf(lines: Iterable[str]) -> bytes:
    """Return a PDF of one page with `lines` (ASCII) of text."""
    shown = "".join(f"({_escape_pdf(line)}) Tj T*\n" for line in lines)
    content = f"BT /F1 12 Tf 16 TL 72 720 Td\n{shown}ET\n".encode("ascii")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%bendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    document = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(document))
        document += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(document)
    document += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    document += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    document += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(document)


def _escape_pdf(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def record_tone(hertz: int, milliseconds: int) -> bytes:
    """Return a WAV file with a square tone, 8 bit, mono."""
    half_period = max(1, _SAMPLES_PER_SECOND // (2 * hertz))
    count = _SAMPLES_PER_SECOND * milliseconds // 1000
    samples = bytes(96 if number // half_period % 2 else 160 for number in range(count))
    rate = struct.pack("<IHHIIHH", 16, 1, 1, _SAMPLES_PER_SECOND, _SAMPLES_PER_SECOND, 1, 8)
    return b"RIFF%bWAVEfmt %bdata%b" % (
        struct.pack("<I", 36 + count),
        rate,
        struct.pack("<I", count) + samples,
    )


def write_rss(title: str, address: str, items: Iterable[tuple[str, str, str, str]]) -> bytes:
    """Return an RSS 2.0 feed; an item is (title, address, date, text)."""
    written = "".join(
        f"<item><title>{escape(name)}</title><link>{escape(url)}</link><guid>{escape(url)}</guid>"
        f"<pubDate>{date}</pubDate><description>{escape(text)}</description></item>\n"
        for name, url, date, text in items
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>\n'
        f"<title>{escape(title)}</title><link>{escape(address)}</link>"
        f"<description>{escape(title)}</description>\n{written}</channel></rss>\n"
    ).encode()


def write_sitemap(entries: Iterable[tuple[str, str]]) -> bytes:
    """Return a sitemap; an entry is (address, lastmod date)."""
    written = "".join(f"<url><loc>{escape(url)}</loc><lastmod>{date}</lastmod></url>\n" for url, date in entries)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{written}</urlset>\n'
    ).encode()
