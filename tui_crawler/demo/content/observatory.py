"""The observatory: asks for a Crawl-delay of three seconds, and is small enough to be crawled at that pace."""

from tui_crawler.demo.content.frame import Frame, lead, link, listing, neighbours, paragraph, robots, slugify, table
from tui_crawler.demo.site import Page, Site, Surroundings, freeze_pages

NAME = "observatory"
CRAWL_DELAY_SECONDS = 3
_TITLE = "Fell Top Observatory"

# night, seeing (1 best to 5), object, what was seen
_NIGHTS = (
    ("2 January", 2, "Orion nebula", "The Trapezium split cleanly at low power; frost on the dome rail."),
    ("17 January", 4, "Jupiter", "The belts came and went like a coin under running water."),
    ("3 February", 1, "Double Cluster", "The best night of the winter. Nobody went down for supper."),
    ("21 February", 3, "Moon, day six", "Shadows in Theophilus moved visibly within the hour."),
    ("8 March", 5, "none", "Cloud from dusk to dawn; the mirror cell was cleaned instead."),
    ("30 March", 2, "Leo triplet", "All three galaxies in one field, the faint one with averted vision."),
    ("14 April", 3, "Saturn", "The gap in the rings was seen by four of five observers."),
    ("26 April", 4, "Venus", "Half lit, and boiling in the bad air over the village."),
    ("5 May", 2, "Hercules cluster", "Resolved to the middle, against a sky that never grew quite dark."),
    ("28 May", 3, "Ring nebula", "Found by the youngest member in eleven seconds, without the finder."),
    ("20 June", 5, "none", "No darkness at all. Tea was taken on the catwalk instead."),
    ("16 July", 2, "Dumbbell nebula", "Fine detail in the southern lobe; a hedgehog on the stairs."),
    ("9 August", 1, "Perseids", "One hundred and six in two hours, one of them bright enough to read by."),
    ("14 September", 2, "Andromeda galaxy", "Both companions, and a hint of the dust lane."),
    ("2 October", 3, "Neptune", "A blue dot that stayed a dot, and pleased everybody."),
    ("31 October", 4, "Pleiades", "Counted with the naked eye: nine, seven, and a claim of fourteen."),
    ("19 November", 2, "Leonids", "Thirty-one, all of them on the side we were not looking at."),
    ("12 December", 1, "Crab nebula", "So steady that the whole roof was left open until dawn."),
)
_INSTRUMENTS = (
    ("The eighteen-inch reflector", "1936", "Its mirror was ground by two schoolteachers over three winters."),
    ("The Cooke refractor", "1871", "Five inches of old glass, still the first choice for planets."),
    ("The comet seeker", "1902", "Found no comets, but two lost walkers and a fire."),
    ("The transit", "1858", "It gave the valley its time until the telegraph came."),
)


def build_observatory(around: Surroundings) -> Site:
    """Return the site; the Crawl-delay in robots.txt follows the pace."""
    footer = (
        "<p>Please leave three seconds between requests: the line up the fell is thin. Timetables by "
        + link(around.url("ferries"), "the island ferries")
        + ".</p>"
    )
    navigation = (("/", "Tonight"), ("/logs/", "Night logs"), ("/instruments/", "Instruments"), ("/visit", "Visit"))
    frame = Frame(_TITLE, "logs of the night sky since 1858", "#283593", navigation, footer, dated=True, gzip=True)
    delay = f"{CRAWL_DELAY_SECONDS * around.pace:g}"
    pages = (
        robots(f"User-agent: *\nCrawl-delay: {delay}\nDisallow: /dome/control/\n"),
        frame.style(),
        _home(frame),
        *_logs(frame),
        *_instruments(frame),
        frame.page(
            "/visit",
            "Visit the observatory",
            lead("Open nights are the first Friday of the month, if stars can be seen from the car park."),
            paragraph("Bring a coat. The road is single track for the last two miles and has no lights."),
            listing((("/dome/control/", "Dome control, staff only"), (around.url("almanac"), "Moon and tides"))),
        ),
    )
    return Site(NAME, _TITLE, "asks for a Crawl-delay of 3 s", freeze_pages(pages), server="fell-top/1.4")


def _home(frame: Frame) -> Page:
    return frame.page(
        "/",
        "Tonight at the observatory",
        lead("Seeing is forecast as fair after midnight; the moon sets at one."),
        paragraph("The dome opens at nautical twilight, and the log is written by red lamp as the night goes on."),
        listing((("/logs/", "Read the night logs"), ("/instruments/", "See what we look through"))),
    )


def _logs(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/logs/",
        "Night logs",
        lead("One page a night. Seeing is on the scale of Antoniadi, one is best."),
        table(("Night", "Seeing", "Object"), ((night, str(seeing), thing) for night, seeing, thing, _ in _NIGHTS)),
        listing((f"/logs/{slugify(night)}", f"The night of {night}") for night, *_ in _NIGHTS),
    )
    return (index, *(_log(frame, number) for number in range(len(_NIGHTS))))


def _log(frame: Frame, number: int) -> Page:
    night, seeing, thing, words = _NIGHTS[number]
    before = _NIGHTS[number - 1][0]
    instrument = _INSTRUMENTS[number % len(_INSTRUMENTS)][0]
    return frame.page(
        f"/logs/{slugify(night)}",
        f"The night of {night}",
        lead(f"Seeing {seeing}. Object: {thing}. {words}"),
        paragraph(f"Observed with {instrument[0].lower()}{instrument[1:]}, closed at {2 + number % 4} o'clock."),
        listing(((f"/instruments/{slugify(instrument)}", instrument),)),
        neighbours((("/logs/", "All nights"), (f"/logs/{slugify(before)}", f"The night of {before}"))),
    )


def _instruments(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/instruments/",
        "Instruments",
        lead("Four telescopes are in use; a fifth is in boxes."),
        listing((f"/instruments/{slugify(name)}", name) for name, *_ in _INSTRUMENTS),
    )
    pages = (
        frame.page(
            f"/instruments/{slugify(name)}",
            name,
            lead(f"In use since {year}. {words}"),
            listing((("/instruments/", "All instruments"), ("/logs/", "Night logs"))),
        )
        for name, year, words in _INSTRUMENTS
    )
    return (index, *pages)
