"""The cabinet of odd documents: hostile titles, rare character sets, things that are too large or no page at all.

A reader must show these titles as plain text: none of them may colour, clear or move the screen, write the
clipboard, press a button or hide what stands beside it.
"""

from dataclasses import replace

from tui_crawler.demo.content.frame import Frame, Link, lead, listing
from tui_crawler.demo.content.media import print_pdf
from tui_crawler.demo.site import Page, make_etag

_LARGE_BYTES = 1_300_000

# slug, title as the page has it
_HOSTILE_TITLES = (
    ("closing-tag", "[/]"),
    ("button", "[@click=app.quit]x"),
    ("red-link", "[link=http://example.net/][red]Read me[/red][/link]"),
    ("clipboard", "A letter \x1b]52;c;TEVBS0VE\x07 to the clipboard"),
    ("clear-screen", "\x1b[2J\x1b[H\x1b[?1049lGone"),
    ("window-title", "\x1b]0;pwned\x07\x1b]8;;http://example.net/\x1b\\Signed\x1b]8;;\x1b\\"),
    ("eight-bit", "\x9b31mred\x9c and \x9d0;title\x9c"),
    ("backwards", "Invoice \u202efdp.exe\u202c, please open"),
    ("overwritten", "safe\b\b\b\bevil\rhidden\x7f"),
    ("three-lines", "First line\nsecond line\nthird line"),
    ("wide", "\u65e5\u672c\u8a9e\u306e\u984c\u540d \U0001f9ed\U0001f30a e\u0301e\u0301e\u0301 \u200b\u200b\u2060end"),
    ("long", "An inventory of everything, " + "and one more thing, " * 120 + "and the lid"),
)


def build_cabinet(frame: Frame) -> tuple[Page, ...]:
    """Return the cabinet's pages; `/cabinet/` links all of them."""
    oddities = (*_hostile_pages(frame), *_character_sets(frame), *_documents(frame), *_strange_headers(frame))
    index = frame.page(
        "/cabinet/",
        "The cabinet of odd documents",
        lead("Please do not tap the glass."),
        listing((page.target, f"Exhibit {number}") for number, page in enumerate(oddities, 1)),
        listing(_strange_links()),
    )
    return (index, *oddities)


def _hostile_pages(frame: Frame) -> tuple[Page, ...]:
    shown = lead("What you see in the title is what is there.")
    pages = (frame.page(f"/cabinet/{slug}", "TITLE", shown) for slug, _ in _HOSTILE_TITLES)
    return tuple(
        replace(page, body=page.body.replace(b"TITLE", title.encode()))
        for page, (_, title) in zip(pages, _HOSTILE_TITLES, strict=True)
    )


def _character_sets(frame: Frame) -> tuple[Page, ...]:
    french = _small_page("fr", "Café – déjà vu", "L’œuvre coûte 5 €.")
    mislabelled = _small_page("fr", "Étiquette égarée", "Le chat a changé les étiquettes.")
    greek = _small_page("el", "Θάλασσα", "Η θάλασσα είναι ήρεμη.")
    russian = _small_page("ru", "Море", "Море сегодня тихое.", '<meta charset="koi8-r">')
    controls = f"<!doctype html><title>Control characters</title><p>{''.join(map(chr, range(1, 32)))} and NUL \0.</p>"
    return (
        frame.resource("/cabinet/windows-1252", french.encode("cp1252"), "text/html; charset=windows-1252"),
        frame.resource("/cabinet/utf-16", b"\xff\xfe" + greek.encode("utf-16-le"), "text/html"),
        frame.resource("/cabinet/koi8", russian.encode("koi8-r"), "text/html"),
        frame.resource("/cabinet/wrong-label", mislabelled.encode("cp1252"), "text/html; charset=klingon-8"),
        frame.resource("/cabinet/controls", controls.encode(), "text/html; charset=utf-8"),
    )


def _small_page(language: str, title: str, text: str, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="{language}"><head>{head}<title>{title}</title></head>'
        f"<body><p>{text}</p></body></html>"
    )


def _documents(frame: Frame) -> tuple[Page, ...]:
    soup = (
        b"<title>Tag soup</title><p><b>bold <i>both</b> italic</i><table><div>lost</table></p><a href=/visit/>way out"
    )
    entries = b"one herring, one penny\n" * (_LARGE_BYTES // 23)
    ledger = b"<!doctype html><title>The endless ledger</title><pre>" + entries
    return (
        frame.resource("/cabinet/tag-soup", soup),
        frame.resource("/cabinet/untitled", b"<!doctype html><html lang='en'><body><p>No title.</p></body></html>"),
        frame.resource("/cabinet/empty", b""),
        frame.resource("/cabinet/note.txt", b"A plain note, written in a hurry.\n", "text/plain; charset=utf-8"),
        frame.resource(
            "/cabinet/label.pdf", print_pdf(("Exhibit 23.", "A label without its object.")), "application/pdf"
        ),
        frame.resource("/cabinet/mystery", b"\x00\x01\x02\x03" * 64, "application/octet-stream"),
        frame.resource("/cabinet/broken.css", b'p { color: red;;; } } @media { h1 { \xff: "', "text/css"),
        frame.resource("/cabinet/ledger", ledger),
        Page("/cabinet/nothing", status=204, content_type=None),
    )


def _strange_headers(frame: Frame) -> tuple[Page, ...]:
    plain = frame.page("/cabinet/tagged", "A hostile tag", lead("The entity tag of this page is markup."))
    named = frame.page("/cabinet/reason", "A hostile reason", lead("The reason phrase of this page is a button."))
    coloured = frame.page(
        "/cabinet/escape", "An escape in a header", lead("The entity tag of this page is coloured red.")
    )
    return (
        replace(plain, etag='"[/][@click=app.quit]' + make_etag(plain.body)[1:]),
        replace(named, reason="[@click=app.quit]OK[/]"),
        replace(coloured, etag='"\x1b[31mred\x1b[0m"'),
    )


def _strange_links() -> tuple[Link, ...]:
    """Addresses that a crawler must refuse, count, or write down, and never ask for."""
    return (
        ("/cabinet/[@click=app.quit]", "A path with a button"),
        ("http://127.0.0.1:99999/", "A port that cannot be"),
        ("http://[::bad/", "A broken address"),
        ("http://user:secret@127.0.0.1/", "An address with a password"),
        ("javascript:alert(1)", "A script"),
        ("data:text/plain,hello", "Data"),
        ("ftp://example.org/pub/", "Another protocol"),
        ("//example.org/", "No protocol"),
        ("https://example.net/", "Somebody else"),
        ("#", "Here"),
    )
