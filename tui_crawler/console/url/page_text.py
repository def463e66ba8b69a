"""A stored page as readable text: its words without markup, links numbered as they come. Pure."""

import html
import re
from collections.abc import Iterator

from rich.cells import cell_len

from tui_crawler.console.panes.line import Line
from tui_crawler.console.url.rows import MOST_LINES, cut_pieces, decoded, rest_lines
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.text.cells import Styled

_TAG = re.compile(r"""<(/?[a-z][\w:-]*+|[!?])((?:[^<>"']|"[^"<]*+"?|'[^'<]*+'?)*+)>?""", re.IGNORECASE)
"""A tag, which no `<` stands in: so a page of nothing but such signs takes linear time, too."""
_VALUE = r"""(?:^|\s){}\s*+=\s*+(?:"([^"]*+)|'([^']*+)|([^\s>"']++))"""
_HREF, _ALT = (re.compile(_VALUE.format(name), re.IGNORECASE) for name in ("href", "alt"))
_UNSEEN = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "template", "svg", "math")}
_HEADINGS = re.compile("title|h[1-6]")
_PARAGRAPHS = re.compile("title|h[1-6]|p|[uod]l|table|blockquote|pre|section|article|header|footer|nav|hr|form")
_ROWS = re.compile("br|div|li|dt|dd|t[rdh]|option|figcaption|caption|address|legend|summary|main|aside")


@dataclass(slots=True)
class PageText:
    """Rows of text; the URLs of its links by their numbers, counted from 1; where these can be clicked: by the row,
    from which cell to which, and the number."""

    rows: list[Line] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    spots: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)


def page_text(data: bytes, whole: int, content_type: str, url: str, width: int) -> PageText:
    """The text of the first bytes of a page of `whole` bytes, whose URL is `url`, in rows of at most `width` cells."""
    layout = _TextLayout(max(8, width))
    base, link, role = url, 0, ""
    for name, inside in _tokens(decoded(data, content_type)):
        closes, tag = name.startswith("/"), name.removeprefix("/")
        if not name:
            layout.write(html.unescape(inside), "accent" if link else role, link)
        elif _PARAGRAPHS.fullmatch(tag) or _ROWS.fullmatch(tag):
            layout.end_row(blank=_PARAGRAPHS.fullmatch(tag) is not None)
            role = "strong" if _HEADINGS.fullmatch(tag) and not closes else ""
            layout.write("· " if name == "li" else "", "muted", 0)
        elif tag == LinkKind.a.value:
            if link:
                layout.write(f"[{link}]", "muted", link)
            link = 0 if closes else layout.number(_value(_HREF, inside), base)
        elif name == "base":
            base = found.href if isinstance(found := normalise(_value(_HREF, inside), url), CrawlUrl) else base
        elif name == LinkKind.img.value and (alt := _value(_ALT, inside)):
            layout.write(f" [{alt}] ", "faint", link)
        if len(layout.text.rows) >= MOST_LINES:
            break
    layout.end_row(blank=False)
    layout.text.rows += rest_lines(len(data), whole, cut=len(layout.text.rows) >= MOST_LINES)
    return layout.text


def _tokens(markup: str) -> Iterator[tuple[str, str]]:
    """Tags, by their names in lower case with a `/` before where they close, with what else stands in them; and the
    text between them (no name). What is never seen is left out."""
    at, end = 0, len(markup)
    while at < end:
        start = markup.find("<", at)
        if start != at:
            yield "", markup[at : start if start > 0 else end]
        if start < 0:
            return
        tag = _TAG.match(markup, start)
        if markup.startswith("<!--", start):
            stop = markup.find("-->", start + 4)
            at = stop + 3 if stop > 0 else end
        elif tag is None:
            yield "", "<"
            at = start + 1
        else:
            name, at = tag[1].lower(), tag.end()
            yield name, tag[2]
            if name in _UNSEEN:
                closing = _UNSEEN[name].search(markup, at)
                at = closing.start() if closing is not None else end


def _value(attribute: re.Pattern[str], inside: str) -> str:
    found = attribute.search(inside)
    return html.unescape(found[found.lastindex or 0]) if found is not None else ""


class _TextLayout:
    """Puts words into rows."""

    def __init__(self, width: int) -> None:
        self.text = PageText()
        self._width = width
        self._row: list[Styled] = []
        self._used = 0
        self._gap = False
        self._numbers: dict[str, int] = {}

    def number(self, href: str, base: str) -> int:
        """The number of a link; 0 where it leads to no other page."""
        url = normalise(href, base) if href and not href.startswith("#") else None
        if not isinstance(url, CrawlUrl):
            return 0
        number = self._numbers.setdefault(url.href, len(self._numbers) + 1)
        if number > len(self.text.links):
            self.text.links.append(url.href)
        return number

    def write(self, text: str, role: str, link: int) -> None:
        """Text in a role, of the link with that number (0: of none). White space parts words, and is nothing else."""
        self._gap |= text[:1].isspace()
        for word in text.split():
            for piece in cut_pieces(word, self._width):
                self._put(piece, role, link)
            self._gap = True
        self._gap = self._gap and (not text.strip() or text[-1:].isspace())

    def _put(self, word: str, role: str, link: int) -> None:
        """A word that is safe and fits into a row."""
        wide, gap = cell_len(word), int(self._gap and self._used > 0)
        if self._used + gap + wide > self._width:
            self.end_row(blank=False)
            gap = 0
        self._row.append(Styled(" " * gap + word, role))
        if link:
            begin = self._used + gap
            self.text.spots.setdefault(len(self.text.rows), []).append((begin, begin + wide, link))
        self._used += gap + wide
        self._gap = False

    def end_row(self, *, blank: bool) -> None:
        """Ends the row that was begun; `blank`: an empty one follows unless one stands there."""
        if self._row:
            self.text.rows.append(tuple(self._row))
        if blank and self.text.rows and self.text.rows[-1] != "":
            self.text.rows.append("")
        self._row, self._used, self._gap = [], 0, False
