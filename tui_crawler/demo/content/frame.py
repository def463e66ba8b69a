"""The HTML around every demo page, and the blocks that pages are made of. Text is escaped here."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from html import escape
from zlib import crc32

from tui_crawler.demo.site import Header, Page, make_etag

_FIRST_CHANGE_S = 1_741_000_000
_CHANGE_SPAN_S = 22_000_000

Link = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Frame:
    """What the pages of one site share. `dated` and `tagged` pages answer conditional requests."""

    title: str
    tagline: str
    colour: str
    navigation: tuple[Link, ...]
    footer: str
    dated: bool = False
    tagged: bool = False
    gzip: bool = False

    def page(
        self,
        target: str,
        title: str,
        *blocks: str,
        head: str = "",
        headers: tuple[Header, ...] = (),
        chunked: bool = False,
    ) -> Page:
        """Return an HTML page of `blocks` (HTML) under the site's navigation; `head` (HTML) goes into its head."""
        menu = "".join(f"<li>{link(href, text)}</li>" for href, text in self.navigation)
        html = (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{escape(title)} - {escape(self.title)}</title>\n"
            f'<meta name="description" content="{escape(summarise(blocks))}">\n'
            f'<link rel="stylesheet" href="/style.css">\n{head}</head>\n<body>\n'
            f"<header><p>{escape(self.title)}: {escape(self.tagline)}</p>\n<nav><ul>{menu}</ul></nav></header>\n"
            f"<main>\n<h1>{escape(title)}</h1>\n" + "\n".join(blocks) + "\n</main>\n"
            f"<footer>{self.footer}</footer>\n</body>\n</html>\n"
        )
        return self.resource(target, html.encode(), headers=headers, chunked=chunked)

    def resource(
        self,
        target: str,
        body: bytes,
        content_type: str = "text/html; charset=utf-8",
        headers: tuple[Header, ...] = (),
        chunked: bool = False,
    ) -> Page:
        """Return a resource of any type with this site's validators."""
        return Page(
            target,
            body,
            content_type=content_type,
            headers=headers,
            etag=make_etag(body) if self.tagged else None,
            last_modified=change_date(target) if self.dated else None,
            gzip=self.gzip and content_type.startswith(("text/", "application/xml", "application/rss")),
            chunked=chunked,
        )

    def style(self) -> Page:
        """Return the style sheet that every page of the site names."""
        css = (
            f"body {{ margin: 0 auto; max-width: 44rem; font: 1.05rem/1.6 Georgia, serif; color: #222; }}\n"
            f"header {{ border-bottom: 3px solid {self.colour}; }}\n"
            f"h1 {{ color: {self.colour}; font-weight: normal; }}\n"
            "nav li { display: inline; margin-right: 1em; }\n"
            "table { border-collapse: collapse; }\ntd, th { padding: 0.2em 0.8em; text-align: left; }\n"
            "footer { margin-top: 3em; font-size: 0.85em; color: #666; }\n"
        )
        return self.resource("/style.css", css.encode(), "text/css; charset=utf-8")


def change_date(target: str) -> str:
    """Return the Last-Modified date of a target as an HTTP date: always the same for one target."""
    return formatdate(_FIRST_CHANGE_S + crc32(target.encode()) % _CHANGE_SPAN_S, usegmt=True)


def summarise(blocks: Sequence[str]) -> str:
    """Return the first words of `blocks` as plain text, at most 140 characters."""
    text = " ".join(re.sub(r"<[^>]*>", " ", " ".join(blocks[:2])).split())
    return text if len(text) <= 140 else text[:139].rsplit(" ", 1)[0]


def slugify(name: str) -> str:
    """Return `name` as one path segment."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def link(href: str, text: str, rel: str = "") -> str:
    """Return an anchor."""
    attribute = f' rel="{escape(rel)}"' if rel else ""
    return f'<a href="{escape(href)}"{attribute}>{escape(text)}</a>'


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def lead(text: str) -> str:
    """Return the opening paragraph of a page."""
    return f'<p class="lead">{escape(text)}</p>'


def listing(links: Iterable[Link]) -> str:
    """Return a list of links."""
    return "<ul>\n" + "\n".join(f"<li>{link(href, text)}</li>" for href, text in links) + "\n</ul>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of plain text."""
    first = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    others = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table>\n<tr>{first}</tr>\n{others}</table>"


def picture(source: str, description: str) -> str:
    """Return an image as the demo's data rule finds it."""
    return f'<p><img class="photo" src="{escape(source)}" alt="{escape(description)}"></p>'


def neighbours(links: Iterable[Link]) -> str:
    """Return the line at the foot of a page that leads to the pages before and after it."""
    return "<p>" + " | ".join(link(href, text) for href, text in links) + "</p>"


def robots(text: str) -> Page:
    """Return a robots.txt page."""
    return Page("/robots.txt", text.encode(), content_type="text/plain; charset=utf-8")
