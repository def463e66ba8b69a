"""The wandering museum: it moved twice, and its addresses with it. Redirects and canonical addresses."""

from tui_crawler.demo.content.cabinet import build_cabinet
from tui_crawler.demo.content.frame import Frame, lead, link, listing, paragraph, picture, robots, slugify
from tui_crawler.demo.content.media import draw_png
from tui_crawler.demo.site import Header, Page, Site, Surroundings, freeze_pages

NAME = "museum"
_TITLE = "The Wandering Museum"

# object, year, where it came from
_OBJECTS = (
    ("Sextant", 1794, "Given by a captain who had stopped believing in it."),
    ("Compass", 1811, "Points four degrees west of north and has never been persuaded otherwise."),
    ("Globe", 1742, "California is an island on it, and the island is the best-drawn part."),
    ("Diving bell", 1853, "Used twice, both times with success and much regret."),
    ("Harpoon", 1838, "Never thrown, by a captain who preferred to draw whales."),
    ("Figurehead", 1866, "Carved after the builder's aunt, who sat for it and complained."),
    ("Speaking trumpet", 1820, "Dented on the inside, which nobody has explained."),
    ("Tide clock", 1880, "Still right, twice in every lunar day."),
    ("Ship in a bottle", 1902, "Nobody knows how the bottle got into the crate."),
)
_CHAIN_LENGTH = 6


def build_museum(around: Surroundings) -> Site:
    """Return the site, with the cabinet of odd documents as one of its rooms."""
    frame = _frame(around)
    pages = (
        _robots(),
        frame.style(),
        frame.resource("/object.png", draw_png(160, 120, (236, 239, 241), (69, 90, 100)), "image/png"),
        _home(frame, around),
        *_objects(frame),
        *_copies(frame, around),
        *_moved(around),
        *_lost(),
        *_arrivals(frame),
        *build_cabinet(frame),
    )
    return Site(
        NAME, _TITLE, "redirects, canonical addresses, odd documents", freeze_pages(pages), server="[b]cart[/b]/7"
    )


def _frame(around: Surroundings) -> Frame:
    footer = "<p>Our papers lie at " + link(around.url("records"), "the records office") + ".</p>"
    navigation = (("/", "Hall"), ("/objects/", "Objects"), ("/removals", "Removals"), ("/cabinet/", "Cabinet"))
    return Frame(_TITLE, "now in its third house", "#455a64", navigation, footer)


def _robots() -> Page:
    return robots("User-agent: *\nDisallow: /cabinet/[@click=app.quit]\nDisallow: /store/\n")


def _home(frame: Frame, around: Surroundings) -> Page:
    return frame.page(
        "/",
        "The entrance hall",
        lead("We moved in 1921 and again in 1987. Some labels still show the way to the old houses."),
        listing((("/objects/", "Objects on show"), ("/removals", "Where things went"), ("/cabinet/", "The cabinet"))),
        listing((("/visit", "Visit"), ("/opening-hours", "Opening hours"), ("/store/", "The store"))),
        listing(((around.url("forum"), "The mill people, who know what it is for"),)),
    )


def _objects(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/objects/",
        "Objects on show",
        lead("Nine objects, each in the case that travelled with it."),
        listing((f"/objects/{slugify(name)}", name) for name, *_ in _OBJECTS),
        listing((f"/print/{slugify(name)}", f"{name}, to print") for name, *_ in _OBJECTS[:3]),
        listing((f"/labels/{slugify(name)}", f"Label: {name}") for name, *_ in _OBJECTS[3:5]),
        listing((("/slideshow/1", "Slide show"), ("/slideshow/2", "Slide show, second part"))),
    )
    pages = (
        frame.page(
            f"/objects/{slugify(name)}",
            name,
            lead(f"Made in {year}. {story}"),
            picture("/object.png", name),
            head=f'<link rel="canonical" href="/objects/{slugify(name)}">\n',
        )
        for name, year, story in _OBJECTS
    )
    return (index, *pages)


def _copies(frame: Frame, around: Surroundings) -> tuple[Page, ...]:
    """Pages that name another address as the canonical one, in the head or in a Link header."""
    printed = (
        frame.page(
            f"/print/{slugify(name)}",
            f"{name} (to print)",
            lead("One page, black on white."),
            head=f'<link rel="canonical" href="/objects/{slugify(name)}">\n',
        )
        for name, *_ in _OBJECTS[:3]
    )
    labels = (
        frame.page(
            f"/labels/{slugify(name)}",
            f"Label: {name}",
            lead("Large letters, few words."),
            headers=(("Link", f'</objects/{slugify(name)}>; rel="canonical"'),),
        )
        for name, *_ in _OBJECTS[3:5]
    )
    borrowed = frame.page(
        "/borrowed/tides",
        "Tides in March (borrowed)",
        lead("This page belongs to the almanac and is only shown here."),
        head=f'<link rel="canonical" href="{around.url("almanac", "/tides/march")}">\n',
    )
    return (*printed, *labels, borrowed)


def _moved(around: Surroundings) -> tuple[Page, ...]:
    old = (_redirect(f"/old/{slugify(name)}", 301, f"/objects/{slugify(name)}") for name, *_ in _OBJECTS[:3])
    chain = (_redirect(f"/chain/{step}", 301, f"/chain/{step + 1}") for step in range(1, _CHAIN_LENGTH))
    return (
        *old,
        *chain,
        _redirect("/today", 302, "/objects/tide-clock"),
        _redirect("/opening-hours", 303, "/visit/#hours"),
        _redirect("/winter", 307, "/visit/"),
        _redirect("/visit", 308, "/visit/"),
        _redirect("/loop/east", 302, "/loop/west"),
        _redirect("/loop/west", 302, "/loop/east"),
        _redirect("/mirror", 301, "/mirror"),
        _redirect("/tides", 302, around.url("almanac", "/tides/")),
        _redirect("/shop", 301, around.url("chandlery")),
        _redirect("/sister", 301, "https://example.org/museum"),
        _redirect("/letters", 302, around.url("tramway", "/members/letters")),
        _redirect("/choice", 300, "/objects/globe"),
    )


def _lost() -> tuple[Page, ...]:
    """Redirects that lead nowhere: a Location that is no URL, and none at all."""
    return (
        _redirect("/wing/north", 301, "http://[::1"),
        Page("/wing/south", b"<!doctype html><title>Moved</title><p>We forgot where to.</p>", status=302),
        Page("/wing/west", b"<!doctype html><title>Two doors</title><p>Choose one.</p>", status=300),
    )


def _arrivals(frame: Frame) -> tuple[Page, ...]:
    ways = (
        *((f"/old/{slugify(name)}", f"{name}, at its old address") for name, *_ in _OBJECTS[:3]),
        ("/chain/1", "A chest that moved six times"),
        ("/today", "The object of the day"),
        ("/winter", "Winter arrangements"),
        ("/loop/east", "The revolving door"),
        ("/mirror", "The mirror room"),
        ("/tides", "Tides"),
        ("/shop", "The museum shop"),
        ("/sister", "Our sister museum"),
        ("/letters", "Letters, now with the society"),
        ("/choice", "Two copies of one globe"),
        ("/wing/north", "The north wing"),
        ("/wing/south", "The south wing"),
        ("/wing/west", "The west wing"),
        ("/soon", "Moving soon"),
        ("/moving", "Moving now"),
        ("/borrowed/tides", "Borrowed: tides in March"),
    )
    refresh: tuple[Header, ...] = (("Refresh", "0; url=/objects/ship-in-a-bottle"),)
    return (
        frame.page("/removals", "Removals", lead("A list of what was moved, and where it went."), listing(ways)),
        frame.page(
            f"/chain/{_CHAIN_LENGTH}",
            "The chest that moved six times",
            lead("Empty, and quite worn."),
        ),
        frame.page(
            "/visit/",
            "Visit the museum",
            '<p id="hours">Open from ten to five, except while moving.</p>',
            paragraph("The house is behind the tram depot; follow the crates."),
        ),
        frame.page(
            "/soon",
            "Moving soon",
            lead("You will be taken to the new page in a moment."),
            head='<meta http-equiv="refresh" content="2; url=/objects/compass">\n',
        ),
        frame.page("/moving", "Moving now", lead("You are being taken to the new page."), headers=refresh),
    )


def _redirect(target: str, status: int, location: str) -> Page:
    body = b"<!doctype html><title>Moved</title><p>This page has moved.</p>"
    return Page(target, body, status=status, headers=(("Location", location),))
