"""The chandlery: a shop whose queries, calendar and paths have no end."""

import re
from urllib.parse import parse_qs
from zlib import crc32

from tui_crawler.demo.content.frame import Frame, lead, link, listing, neighbours, paragraph, picture, robots, slugify
from tui_crawler.demo.content.media import draw_png
from tui_crawler.demo.site import Page, Site, Surroundings, freeze_pages

NAME = "chandlery"
_TITLE = "Lantern & Rope"
_ON_A_PAGE = 4
_FIRST_YEAR, _LAST_YEAR = 1, 9998

# goods, price, what it is good for
_GOODS = (
    ("Anchor light", "38.00", "Burns a week on one filling, which is more than most crews manage."),
    ("Ash fid", "9.50", "Turned from one piece. Keep it out of reach of people who need a rolling pin."),
    ("Boat hook", "24.00", "Six feet of spruce with a bronze end, and a lanyard you should use."),
    ("Brass bell", "61.00", "Heard for half a mile in fog and for years by the neighbours."),
    ("Canvas bucket", "14.00", "Folds flat, stands up when full, never scratches the varnish."),
    ("Chart weights", "19.00", "Four lead whales in green felt."),
    ("Copper rivets", "7.20", "A quarter pound, with roves. Buy twice as many as you think."),
    ("Deck brush", "11.80", "Stiff bristles in beech; the handle is sold separately, we are sorry to say."),
    ("Fog horn", "29.00", "Works by lung. Not to be tried out in the shop."),
    ("Hemp twine", "4.10", "Waxed, a hundred yards, smells right."),
    ("Hurricane lamp", "33.00", "The same pattern since 1902, and spare glasses for all of them."),
    ("Linseed oil", "8.90", "Boiled. Dry your rags flat and outdoors."),
    ("Manila rope", "2.60", "By the yard, three strand, cut while you wait."),
    ("Oilskin coat", "88.00", "Stands up by itself for the first season."),
    ("Pump leather", "3.30", "Cut to size from a paper pattern; bring the old one."),
    ("Rowlocks", "16.40", "A pair, galvanised, with the hole for the string that will save them."),
    ("Sail needles", "5.00", "Five sizes in a wooden tube."),
    ("Sounding lead", "21.00", "Seven pounds, hollow at the foot; tallow is on the next shelf."),
    ("Signal flags", "72.00", "Forty in a canvas roll. Please learn at least the rude ones."),
    ("Splicing vice", "46.00", "Holds the thimble while you do the rest and blame it."),
    ("Storm candle", "2.90", "Six hours, wind permitting."),
    ("Teak plugs", "3.80", "A bag of fifty, all grain the same way, which is your way."),
    ("Thole pins", "5.60", "Oak, a set of four; keep two dry."),
    ("Varnish", "17.50", "Seven coats, says the tin. Nine, say we."),
    ("Water breaker", "54.00", "Five gallons, oak staves, sweet after a month of rinsing."),
    ("Weather glass", "67.00", "Falls before rain and rises before an argument about rain."),
    ("Whipping thread", "2.20", "Black or white, on a wooden reel."),
    ("Tarred marline", "6.70", "For seizings that must outlive the boat."),
)
_STEPS = (
    "down",
    "past",
    "the",
    "yard",
    "along",
    "a",
    "wall",
    "under",
    "an",
    "arch",
    "over",
    "cobbles",
    "behind",
    "sheds",
    "round",
    "one",
    "corner",
    "up",
    "more",
    "stairs",
)


def build_chandlery(around: Surroundings) -> Site:
    """Return the site; nearly all its pages are made from their target, because there is no end of them."""
    shop = _Shop(_frame(around))
    pages = (
        robots("User-agent: *\nDisallow: /basket\n"),
        shop.frame.style(),
        shop.frame.resource("/goods.png", draw_png(120, 120, (255, 236, 179), (121, 85, 72)), "image/png"),
    )
    return Site(
        NAME,
        _TITLE,
        "a trap: sessions, sortings, an endless calendar, growing paths",
        freeze_pages(pages),
        wild=shop.find_page,
        server="till/5.2",
    )


def _frame(around: Surroundings) -> Frame:
    footer = "<p>At the sign of the lantern, near " + link(around.url("tramway"), "the tram") + ".</p>"
    navigation = (
        ("/", "Shop"),
        ("/list", "All goods"),
        ("/calendar", "Calendar"),
        ("/archives/", "Archives"),
        ("/find-us/", "Find us"),
    )
    return Frame(_TITLE, "everything for boats that are older than you", "#bf5b04", navigation, footer)


class _Shop:
    """Makes a page for each target of the shop. Every page names a new session, which is the trap."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def find_page(self, target: str) -> Page | None:
        """Return the page of `target`, whatever its session and sorting, or None."""
        path, _, query = target.partition("?")
        fields = {name: values[-1] for name, values in parse_qs(query).items()}
        parts = path.strip("/").split("/")
        match parts:
            case [""]:
                return self._home(target)
            case ["list"]:
                return self._list(target, fields.get("page", "1"))
            case ["item", name]:
                return self._item(target, name)
            case ["calendar"]:
                return self._calendar(target, fields.get("month", "2026-05"))
            case ["archives", *rest] if set(rest) <= {"older", "archives"}:
                return self._archive(target, path, parts)
            case ["find-us", *rest]:
                return self._way(target, path, rest)
            case ["help"]:
                return self._page(target, "Help", lead("Ask for Mrs Tallow; she has been here longest."))
        return None

    def _page(self, target: str, title: str, *blocks: str) -> Page:
        session = f"{crc32(target.encode()):08x}"
        path = target.partition("?")[0]
        remembered = link(f"{path}?session={session}", "Remember this page in my basket")
        return self.frame.page(target, title, *blocks, f"<p>{remembered}</p>")

    def _home(self, target: str) -> Page:
        return self._page(
            target,
            "The shop",
            lead("Rope by the yard, lamps by the light, advice by the hour."),
            listing((("/list", "All goods"), ("/list?page=2", "More goods"), ("/help", "Help"))),
            listing((("/basket", "Your basket"), ("/admin/", "Stock room"))),
        )

    def _list(self, target: str, page: str) -> Page | None:
        pages = -(-len(_GOODS) // _ON_A_PAGE)
        if re.fullmatch(r"[0-9]{1,3}", page) is None or not 1 <= int(page) <= pages:
            return None
        number = int(page)
        shown = _GOODS[(number - 1) * _ON_A_PAGE : number * _ON_A_PAGE]
        turns = [(f"/list?page={other}", f"Page {other}") for other in (number - 1, number + 1) if 1 <= other <= pages]
        sortings = (
            (f"/list?sort=price&page={number}", "Sort by price"),
            (f"/list?sort=name&page={number}", "Sort by name"),
            ("/list?page=last", "Last page"),
        )
        return self._page(
            target,
            f"All goods, page {number}",
            lead(f"Page {number} of {pages}. Everything is in stock unless it is not."),
            listing((f"/item/{slugify(name)}", f"{name}, {price}") for name, price, _ in shown),
            neighbours(turns),
            listing(sortings),
        )

    def _item(self, target: str, name: str) -> Page | None:
        found = [row for row in _GOODS if slugify(row[0]) == name]
        if not found:
            return None
        title, price, words = found[0]
        return self._page(
            target,
            title,
            lead(words),
            picture("/goods.png", title),
            paragraph(f"Price {price}. Sold over the counter, packed in newspaper."),
            neighbours((("/list", "All goods"), (f"/item/{name}?colour=green", "The same in green"))),
        )

    def _calendar(self, target: str, month: str) -> Page | None:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}", month) is None:
            return None
        year, number = int(month[:4]), int(month[5:])
        if not (_FIRST_YEAR <= year <= _LAST_YEAR and 1 <= number <= 12):
            return None
        before = f"{year - (number == 1):04d}-{(number - 2) % 12 + 1:02d}"
        after = f"{year + (number == 12):04d}-{number % 12 + 1:02d}"
        return self._page(
            target,
            f"Calendar for {month}",
            lead("Splicing on Tuesdays, sail repair on Fridays, closed on the day of the regatta."),
            neighbours(((f"/calendar?month={before}", "Month before"), (f"/calendar?month={after}", "Month after"))),
            listing(((f"/calendar?view=week&month={month}", "By week"),)),
        )

    def _archive(self, target: str, path: str, parts: list[str]) -> Page:
        """A relative link without end: each page lies below the one that names it."""
        below = "older/" if parts[-1] == "archives" else "archives/"
        here = path if path.endswith("/") else f"{path}/"
        return self._page(
            target,
            f"Archives, shelf {len(parts)}",
            lead("Catalogues of past years. The older ones are one shelf further in, always."),
            listing(((here + below, "Older catalogues"),)),
        )

    def _way(self, target: str, path: str, walked: list[str]) -> Page:
        word = _STEPS[len(walked)] if len(walked) < len(_STEPS) else f"step-{len(walked)}"
        here = path if path.endswith("/") else f"{path}/"
        return self._page(
            target,
            f"Find us, step {len(walked) + 1}",
            lead("You cannot miss it. Go on from here, and then ask again."),
            listing(((f"{here}{word}/", f"Then {word}"),)),
        )
