"""The island ferries: each sixth request is one too many and is answered 429 with Retry-After."""

from tui_crawler.demo.content.frame import Frame, lead, link, listing, neighbours, paragraph, robots, slugify, table
from tui_crawler.demo.site import Page, RateLimited, Site, Surroundings, freeze_pages

NAME = "ferries"
_TITLE = "Island Ferries"

# route, minutes, crossings a day, note
_ROUTES = (
    ("Callow to Gull Island", 35, 8, "Dogs travel free; sheep by arrangement."),
    ("Callow to Three Brothers", 70, 2, "Landing depends on the swell, and the skipper decides."),
    ("Drummel to Orm", 50, 5, "The last boat waits for the last bus."),
    ("Drummel to Kelp Bay", 25, 11, "No vehicles: the slip is sand."),
    ("Callow to Merrow Point", 55, 3, "Stand on the left side for the seals."),
    ("Orm to Pell Strand", 90, 1, "Runs from May to September, and lunch is served."),
    ("Whinnow to Gull Island", 40, 4, "Bicycles go on the fore deck, bring a line."),
)
# pier, depth of the berth in metres, note
_PIERS = (
    ("Callow stage", 3.5, "Tickets are sold in the blue hut."),
    ("Drummel quay", 4.0, "The waiting room has a stove and a shelf of books."),
    ("Orm slip", 1.8, "Wait behind the white line until the ramp is down."),
    ("Gull Island jetty", 2.2, "There is no shelter; the boat sees you and will stop."),
    ("Pell landing", 1.2, "A plank is put out; hold the rope, not the seaman."),
    ("Whinnow steps", 1.5, "Forty-one steps, slippery at low water."),
)


def build_ferries(around: Surroundings) -> Site:
    """Return the site; the crawler learns its pace from three refusals."""
    footer = (
        "<p>Times change with the tide, see "
        + link(around.url("almanac", "/tides/"), "the almanac")
        + ". Our server sells tickets first: please ask slowly.</p>"
    )
    navigation = (("/", "Sailings"), ("/routes/", "Routes"), ("/piers/", "Piers"), ("/fares", "Fares"))
    frame = Frame(_TITLE, "seven boats, seven routes, most weathers", "#00695c", navigation, footer)
    pages = (
        robots("User-agent: *\nDisallow: /booking/\n"),
        frame.style(),
        frame.page(
            "/",
            "Sailings today",
            lead("All boats are running. The evening crossing to Orm leaves ten minutes early for the tide."),
            listing((("/routes/", "Routes and times"), ("/piers/", "Where to find the boat"), ("/fares", "Fares"))),
            listing((("/booking/", "Book a place"), (around.url("tramway"), "The tram to the quay"))),
        ),
        *_routes(frame),
        *_piers(frame),
        _fares(frame),
        frame.page(
            "/lost-property",
            "Lost property",
            lead("Handed in last month: nine umbrellas, a trombone, and one left boot from each of two pairs."),
            listing((("/fares", "Fares"), ("/piers/", "Piers"))),
        ),
    )
    return Site(
        NAME,
        _TITLE,
        "rate-limited: each 6th request is answered 429 with Retry-After",
        freeze_pages(pages),
        RateLimited(every=6, retry_after_s=2),
        server="gangway/3.0",
    )


def _routes(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/routes/",
        "Routes",
        lead("Seven routes between the mainland and the islands."),
        table(("Route", "Minutes", "A day"), ((name, str(time), str(count)) for name, time, count, _ in _ROUTES)),
        listing((f"/routes/{slugify(name)}", name) for name, *_ in _ROUTES),
    )
    return (index, *(_route(frame, number) for number in range(len(_ROUTES))))


def _route(frame: Frame, number: int) -> Page:
    name, minutes, count, note = _ROUTES[number]
    pier = _PIERS[number % len(_PIERS)][0]
    first = 6 * 60 + number * 20
    step = 14 * 60 // count
    times = (f"{(first + step * sailing) // 60:02d}:{(first + step * sailing) % 60:02d}" for sailing in range(count))
    return frame.page(
        f"/routes/{slugify(name)}",
        name,
        lead(f"The crossing takes {minutes} minutes. {note}"),
        paragraph("Boats leave at " + ", ".join(times) + "."),
        listing(((f"/piers/{slugify(pier)}", f"Leaves from {pier}"), ("/fares", "Fares"))),
        neighbours((("/routes/", "All routes"),)),
    )


def _piers(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/piers/",
        "Piers",
        lead("Be at the pier ten minutes before the boat."),
        listing((f"/piers/{slugify(name)}", name) for name, *_ in _PIERS),
    )
    pages = (
        frame.page(
            f"/piers/{slugify(name)}",
            name,
            lead(f"{name} has {metres} metres of water at all times. {note}"),
            listing((("/piers/", "All piers"), ("/routes/", "Routes"))),
        )
        for name, metres, note in _PIERS
    )
    return (index, *pages)


def _fares(frame: Frame) -> Page:
    return frame.page(
        "/fares",
        "Fares",
        lead("One price for each zone, the same on every boat."),
        table(("Passenger", "One way", "Return"), (("Adult", "6.20", "10.00"), ("Child", "3.10", "5.00"))),
        listing((("/lost-property", "Lost property"), ("/routes/", "Routes"))),
    )
