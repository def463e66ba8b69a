"""The tramway society: a good site whose server dies in the middle of the crawl."""

from tui_crawler.demo.content.frame import Frame, lead, link, listing, neighbours, paragraph, robots, slugify, table
from tui_crawler.demo.site import Dying, Page, Site, Surroundings, freeze_pages

NAME = "tramway"
REQUESTS_UNTIL_DEATH = 16
_TITLE = "The Last Tram Society"

# number, built, builder's town, story
_CARS = (
    (1, 1896, "Castle Ferry", "Horse-drawn for its first two years, and never quite resigned to electricity."),
    (4, 1899, "Port Callow", "Ran into the sea in 1911, was dried, and ran again within the month."),
    (7, 1902, "Port Callow", "Carried coal at night and choirs on Sundays."),
    (9, 1905, "Drummel", "The only car with a stove, and always full from October on."),
    (12, 1908, "Drummel", "Used as a greenhouse for thirty years; the tomatoes were said to be good."),
    (15, 1913, "Castle Ferry", "Found under a hedge, with its number plate and a family of wrens."),
    (18, 1921, "Whinnow", "Its bell is cracked, and everybody knows it by the sound."),
    (21, 1926, "Whinnow", "The last one built, and on a wet evening the last one home."),
)
_STOPS = ("Depot", "Ropewalk", "Market Cross", "Infirmary", "Brewery Hill", "Quay", "Bathing Place", "Cemetery Gates")


def build_tramway(around: Surroundings) -> Site:
    """Return the site; its server answers a few requests and then refuses connections for ever."""
    footer = "<p>Run by members. Boats meet the tram at the quay: " + link(around.url("ferries"), "ferries") + ".</p>"
    navigation = (("/", "Society"), ("/cars/", "Cars"), ("/stops/", "Stops"), ("/timetable", "Timetable"))
    frame = Frame(_TITLE, "two miles of track and eight cars", "#6a1b9a", navigation, footer)
    pages = (
        robots("User-agent: *\nDisallow: /works/\n"),
        frame.style(),
        frame.page(
            "/",
            "The society",
            lead("We keep two miles of tramway running, with the current that the brewery can spare."),
            listing((("/cars/", "Eight cars"), ("/stops/", "Eight stops"), ("/timetable", "When we run"))),
            listing((("/members/list", "Members"), (around.url("records"), "Old plans, at the records office"))),
        ),
        frame.page(
            "/timetable",
            "Timetable",
            lead("Every twenty minutes on Saturdays, as long as the fuse holds."),
            table(("Stop", "Minutes"), ((name, str(number * 3)) for number, name in enumerate(_STOPS))),
        ),
        frame.page("/members/list", "Members", lead("One hundred and four, and a dog.")),
        *_cars(frame),
        *_stops(frame),
    )
    return Site(
        NAME,
        _TITLE,
        f"dies: refuses connections after {REQUESTS_UNTIL_DEATH} answers",
        freeze_pages(pages),
        Dying(REQUESTS_UNTIL_DEATH),
        server="controller/0.2",
    )


def _cars(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/cars/",
        "Cars",
        lead("All eight have wheels; five have seats."),
        listing((f"/cars/{number}", f"Car {number}, {year}") for number, year, *_ in _CARS),
    )
    pages = (
        frame.page(
            f"/cars/{number}",
            f"Car {number}",
            lead(f"Built in {year} at {town}. {story}"),
            paragraph(f"It has run about {(2026 - year) * 3100} miles, most of them uphill."),
            listing(((f"/cars/{number}/logbook", "Its logbook"), ("/cars/", "All cars"))),
        )
        for number, year, town, story in _CARS
    )
    logbooks = (
        frame.page(f"/cars/{number}/logbook", f"Logbook of car {number}", lead("Bearings greased; bell polished."))
        for number, *_ in _CARS
    )
    return (index, *pages, *logbooks)


def _stops(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/stops/",
        "Stops",
        lead("From the depot to the cemetery, which is not a comment."),
        listing((f"/stops/{slugify(name)}", name) for name in _STOPS),
    )
    pages = (
        frame.page(
            f"/stops/{slugify(name)}",
            name,
            lead(f"Stop {number} of {len(_STOPS)}. Ring once to get on and twice to get off."),
            neighbours((("/stops/", "All stops"), ("/timetable", "Timetable"))),
        )
        for number, name in enumerate(_STOPS, 1)
    )
    return (index, *pages)
