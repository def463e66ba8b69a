"""The nature reserve: parts closed by robots.txt, by meta robots and by X-Robots-Tag."""

from tui_crawler.demo.content.frame import Frame, lead, link, listing, neighbours, paragraph, robots, slugify
from tui_crawler.demo.site import Page, Site, Surroundings, freeze_pages

NAME = "reserve"
_TITLE = "Saltmarsh Reserve"
_OUR_AGENT = "tui-crawler-demo-crawler"

_HABITATS = (
    ("Mudflat", "Twice a day the flat feeds forty thousand birds, and twice a day it is the bed of the sea."),
    ("Reed bed", "Cut in strips every seventh winter, so that there is always old reed beside the new."),
    ("Shingle", "Walk on the boards: the eggs look like stones because they are meant to."),
    ("Wet meadow", "Grazed by sixteen cows, who know the dry paths better than the warden."),
    ("Dune slack", "Flooded until June, and full of toads for exactly that reason."),
)
# species, months, count last year, habitat, what to look for
_SPECIES = (
    ("Avocet", "March to July", 61, "Mudflat", "Sweeps its bill from side to side, as if looking for a lost key."),
    ("Bittern", "all year", 3, "Reed bed", "Heard by everybody in April and seen by nobody who tried."),
    ("Little tern", "May to August", 28, "Shingle", "Dives from six feet and misses more often than it admits."),
    ("Lapwing", "all year", 112, "Wet meadow", "Calls its own name while falling out of the sky."),
    ("Redshank", "all year", 240, "Mudflat", "Warns all others of you, loudly and in good time."),
    ("Natterjack toad", "April to June", 400, "Dune slack", "Runs rather than hops, mostly at night."),
    ("Marsh harrier", "all year", 9, "Reed bed", "Passes food to its mate in the air, upside down."),
    ("Sea aster", "July to October", 5000, "Mudflat", "The last nectar of the year on the whole marsh."),
)
# month, birds counted, the talk of that day
_COUNTS = (
    ("January", 41200, "A short-eared owl hunted along the wall at three."),
    ("February", 38900, "Ice on the pools until noon; the snipe stood about like people at a bus stop."),
    ("March", 22400, "The first avocets are back, and already quarrelling."),
    ("April", 9800, "Booming from the reeds, from two directions at once."),
    ("May", 6100, "Fledged lapwings on the meadow; the fox looked in and was shouted out."),
    ("June", 5700, "Toads calling until one in the morning."),
    ("July", 8800, "Terns feeding young on the east spit."),
    ("August", 17300, "Waders return in summer dress; telescopes hard to come by."),
    ("September", 26500, "A phalarope turned in circles for nine hours."),
    ("October", 35100, "Geese at dawn, in strings, from the north."),
)
_WALKS = ("The sea wall", "The reed path", "The long boards", "The wardens' round")
_POSTS = ("white", "red", "blue", "green")
_NESTS = ("East spit", "Middle island", "The old jetty", "Gate seven")


def build_reserve(around: Surroundings) -> Site:
    """Return the site; robots.txt has one group for the demo's crawler, one for another, one for everybody."""
    footer = (
        "<p>Keep to the paths, also on this server. Tides by "
        + link(around.url("almanac", "/tides/"), "the almanac")
        + ", trust registered at "
        + link("https://example.org/charities/saltmarsh", "the registry")
        + ".</p>"
    )
    navigation = (
        ("/", "The marsh"),
        ("/habitats/", "Habitats"),
        ("/species/", "Species"),
        ("/walks/", "Walks"),
        ("/nests/", "Nests"),
    )
    frame = Frame(_TITLE, "four hundred acres between two tides", "#33691e", navigation, footer)
    pages = (
        _robots(),
        frame.style(),
        _home(frame, around),
        *_habitats(frame),
        *_species(frame),
        *_walks(frame),
        *_counts(frame),
        *_closed_by_robots(frame),
        *_closed_by_directives(frame),
    )
    return Site(NAME, _TITLE, "robots.txt, meta robots and X-Robots-Tag", freeze_pages(pages), server="warden/1.7")


def _robots() -> Page:
    return robots(
        "# Birds first.\n"
        "User-agent: greedy-harvester\n"
        "Disallow: /\n\n"
        "User-agent: *\n"
        "Disallow: /nests/\n"
        "Allow: /nests/viewing\n"
        "Disallow: /wardens/\n"
        "Disallow: /*.bak$\n\n"
        f"User-agent: {_OUR_AGENT}\n"
        "User-agent: patient-reader\n"
        "Disallow: /nests/\n"
        "Allow: /nests/viewing\n"
        "Disallow: /wardens/\n"
        "Disallow: /drafts/\n"
        "Disallow: /*.bak$\n"
    )


def _home(frame: Frame, around: Surroundings) -> Page:
    return frame.page(
        "/",
        "The marsh today",
        lead("High water at noon: come an hour before, when the birds are pushed up towards the wall."),
        listing(
            (
                ("/habitats/", "Five habitats"),
                ("/species/", "Who lives here"),
                ("/walks/", "Four walks"),
                ("/counts/", "The counts"),
            )
        ),
        listing(
            (
                ("/nests/", "Nest sites"),
                ("/nests/viewing", "Where you may watch nests"),
                ("/wardens/rota", "The wardens' rota"),
                ("/drafts/plan", "Draft of the next plan"),
                ("/species.bak", "An old species list"),
                ("/diary/", "The diary"),
            )
        ),
        paragraph("Members may log in to book a hide."),
        "<p>" + link("/login", "Log in", rel="nofollow") + "</p>",
        listing(((around.url("ferries", "/piers/"), "By boat"), (around.url("tramway"), "By tram"))),
    )


def _habitats(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/habitats/",
        "Habitats",
        lead("From the sea wall outwards."),
        listing((f"/habitats/{slugify(name)}", name) for name, _ in _HABITATS),
    )
    pages = (
        frame.page(
            f"/habitats/{slugify(name)}",
            name,
            lead(words),
            listing((f"/species/{slugify(row[0])}", row[0]) for row in _SPECIES if row[3] == name),
        )
        for name, words in _HABITATS
    )
    return (index, *pages)


def _species(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/species/",
        "Species",
        lead("Counted by volunteers on the first Sunday of every month."),
        listing((f"/species/{slugify(name)}", name) for name, *_ in _SPECIES),
    )
    pages = (
        frame.page(
            f"/species/{slugify(name)}",
            name,
            lead(f"{words} Here {months}; {count} were counted last year."),
            paragraph("Report what you see at the hide, with the hour and the weather."),
            neighbours(((f"/habitats/{slugify(habitat)}", habitat), ("/species/", "All species"))),
        )
        for name, months, count, habitat, words in _SPECIES
    )
    return (index, *pages)


def _walks(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/walks/",
        "Walks",
        lead("Boots are always right."),
        listing((f"/walks/{slugify(name)}", name) for name in _WALKS),
    )
    pages = (
        frame.page(
            f"/walks/{slugify(name)}",
            name,
            lead(f"{name} takes {number * 35} minutes and is marked with {_POSTS[number - 1]} posts."),
            listing((("/walks/", "All walks"), (f"/nests/{slugify(_NESTS[number - 1])}", "A nest site nearby"))),
        )
        for number, name in enumerate(_WALKS, 1)
    )
    return (index, *pages)


def _counts(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/counts/",
        "The counts",
        lead("One page for each monthly count of last season."),
        listing((f"/counts/{month.lower()}", month) for month, *_ in _COUNTS),
    )
    pages = (
        frame.page(
            f"/counts/{month.lower()}",
            f"The count in {month}",
            lead(f"{birds} birds, counted in two hours by eleven people. {talk}"),
            listing((("/counts/", "All counts"), ("/species/", "Species"))),
        )
        for month, birds, talk in _COUNTS
    )
    return (index, *pages)


def _closed_by_robots(frame: Frame) -> tuple[Page, ...]:
    """Nobody who obeys robots.txt sees these, but for the viewing page, which an Allow line opens."""
    nests = (
        frame.page(f"/nests/{slugify(name)}", f"Nest site: {name}", lead("Not to be visited before August."))
        for name in _NESTS
    )
    return (
        frame.page(
            "/nests/",
            "Nest sites",
            lead("For wardens only."),
            listing((f"/nests/{slugify(name)}", name) for name in _NESTS),
        ),
        frame.page(
            "/nests/viewing",
            "Where you may watch nests",
            lead("From the tower hide, with the door shut and the telescope already set up."),
            listing((f"/nests/{slugify(name)}", f"Seen from here: {name}") for name in _NESTS),
        ),
        *nests,
        frame.page("/wardens/rota", "The wardens' rota", lead("Early watch: Bell. Late watch: Ansell.")),
        frame.page("/drafts/plan", "Draft of the next plan", lead("Not agreed, not even by its author.")),
        frame.page("/species.bak", "An old species list", lead("Superseded.")),
    )


def _closed_by_directives(frame: Frame) -> tuple[Page, ...]:
    hidden = f'<meta name="{_OUR_AGENT}" content="noindex">\n'
    return (
        frame.page(
            "/diary/",
            "The diary",
            lead("Notes from the hide, some of them for our own eyes."),
            listing(
                (
                    ("/diary/may", "May"),
                    ("/diary/june", "June"),
                    ("/diary/july", "July"),
                    ("/diary/august", "August"),
                    ("/diary/september", "September"),
                )
            ),
        ),
        frame.page(
            "/diary/may",
            "Diary for May",
            lead("Please do not list this page: the ringing data are not final."),
            listing((("/diary/rings", "Ringing data"),)),
            headers=(("X-Robots-Tag", "noindex"),),
        ),
        frame.page(
            "/diary/june",
            "Diary for June",
            lead("A page for members, who follow its links themselves."),
            listing((("/diary/members-only", "The members' notes"),)),
            head='<meta name="robots" content="noindex, nofollow">\n',
        ),
        frame.page(
            "/diary/july",
            "Diary for July",
            lead("The links on this page are not ours to give."),
            listing((("/diary/borrowed", "A borrowed note"),)),
            head='<meta name="robots" content="nofollow">\n',
        ),
        frame.page("/diary/august", "Diary for August", lead("Not for one particular reader."), head=hidden),
        frame.page(
            "/diary/september",
            "Diary for September",
            lead("Closed to one greedy visitor, open to all others."),
            headers=(("X-Robots-Tag", "greedy-harvester: noindex, nofollow"),),
        ),
        frame.page("/diary/rings", "Ringing data", lead("Reached through a page that is not listed itself.")),
        frame.page("/diary/members-only", "Members' notes", lead("Only found by those who were told.")),
        frame.page("/diary/borrowed", "A borrowed note", lead("Returned to its owner.")),
        frame.page("/login", "Log in", lead("Members' number and the name of your favourite bird, please.")),
    )
