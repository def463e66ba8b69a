"""The county records office: every page is good, but each response head takes about a second."""

from tui_crawler.demo.content.frame import Frame, lead, link, listing, neighbours, paragraph, robots, slugify, table
from tui_crawler.demo.site import Page, Site, SlowHeads, Surroundings, freeze_pages

NAME = "records"
_TITLE = "Granite County Records Office"

# parish, first register, boxes, what happened to the books
_PARISHES = (
    ("Abbots Leigh", 1561, 44, "The first register is on parchment and begins with a drought."),
    ("Bracken Moor", 1602, 17, "Two volumes were lent to a bishop in 1790 and never came back."),
    ("Caldwell", 1574, 31, "The clerk of the 1630s drew a small fish beside every baptism."),
    ("Dunmere", 1688, 12, "Water entered the vestry in 1953; the ink has run but can be read."),
    ("Eastwater", 1590, 28, "Marriages and burials are entered from opposite ends of one book."),
    ("Fernhill", 1711, 9, "The chapel burned in 1802, and the books were thrown from a window in time."),
    ("Gorse Cross", 1640, 21, "The war years are missing, and a later hand has added names from memory."),
    ("Hollin Bridge", 1655, 26, "Trades are given for nearly everybody: nailers, carters, one rope dancer."),
    ("Kirkby Stone", 1668, 33, "Each page is signed by two churchwardens, who could not stand each other."),
    ("Long Meadow", 1597, 38, "A plague year fills one page, in a hand that changes three times."),
    ("Mossdale", 1744, 11, "The curate recorded the weather beside each wedding, usually as wet."),
    ("Inglemere", 1729, 8, "The smallest parish of the county, with four surnames in a hundred years."),
)
# testator, year, trade, bequest
_WILLS = (
    ("Agnes Thorne", 1649, "brewster", "her second-best kettle to her sister and the best one to nobody"),
    ("Job Hartley", 1702, "quarryman", "his tools to whichever son will use them on a Sunday least"),
    ("Mercy Dale", 1731, "widow", "forty shillings to the poor, in bread, not in money"),
    ("William Oakes", 1755, "carrier", "the grey horse to his wife and the cart to his debts"),
    ("Susanna Pike", 1780, "schoolmistress", "all her books to the town, to be lent and never locked away"),
    ("Thomas Rudd", 1798, "clockmaker", "a clock without a bell, so that his brother may sleep"),
    ("Hannah Crewe", 1811, "innkeeper", "the sign of the inn to her daughter, and the inn with it"),
    ("Peter Lamb", 1788, "drover", "his dog to the first man it will follow"),
    ("Ellen Ward", 1804, "lace maker", "her pillow and bobbins to her niece, who must finish the border"),
    ("John Sleight", 1820, "toll keeper", "the gate to nobody, since it was never his"),
    ("Rebecca Holt", 1841, "baker", "the oven to her son and the recipe to her daughter"),
    ("Isaac Fell", 1833, "surveyor", "his chains and maps to the county, on condition they are kept dry"),
)
_MAPS = (
    "The enclosure map",
    "The turnpike survey",
    "The tithe map",
    "The railway plan",
    "The town by streets",
    "The drainage scheme",
    "The estate atlas",
)


def build_records(around: Surroundings) -> Site:
    """Return the site; the delay of the crawler grows with the time that an answer takes."""
    frame = _frame(around)
    pages = (
        robots("User-agent: *\nDisallow: /reading-room/desk/\n"),
        frame.style(),
        _home(frame),
        *_parishes(frame),
        *_wills(frame),
        *_maps(frame),
        *_reading_room(frame, around),
    )
    return Site(
        NAME,
        _TITLE,
        "slow: a response head takes 0.8 to 1.5 s",
        freeze_pages(pages),
        SlowHeads(800, 1500),
        server="reading-room/0.9",
    )


def _frame(around: Surroundings) -> Frame:
    footer = (
        "<p>Open Tuesday to Friday. Please be patient: some boxes come from the deep store. See also "
        + link(around.url("museum"), "the museum")
        + ".</p>"
    )
    navigation = (
        ("/", "Office"),
        ("/parishes/", "Parishes"),
        ("/wills/", "Wills"),
        ("/maps/", "Maps"),
        ("/reading-room", "Reading room"),
    )
    return Frame(_TITLE, "five centuries in eleven thousand boxes", "#5d4037", navigation, footer, tagged=True)


def _home(frame: Frame) -> Page:
    return frame.page(
        "/",
        "The records of the county",
        lead("Registers, wills and maps from 1561 to the present day, described box by box."),
        paragraph("The catalogue is drawn from card indexes typed between the wars; spelling is theirs."),
        listing((("/parishes/", "Parish registers"), ("/wills/", "Wills proved"), ("/maps/", "Maps and plans"))),
    )


def _parishes(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/parishes/",
        "Parish registers",
        lead("Twelve parishes have given their books into our care."),
        table(("Parish", "From", "Boxes"), ((name, str(year), str(boxes)) for name, year, boxes, _ in _PARISHES)),
        listing((f"/parishes/{slugify(name)}", name) for name, *_ in _PARISHES),
    )
    return (index, *(_parish(frame, number) for number in range(len(_PARISHES))))


def _parish(frame: Frame, number: int) -> Page:
    name, year, boxes, story = _PARISHES[number]
    next_name = _PARISHES[(number + 1) % len(_PARISHES)][0]
    will = _WILLS[number % len(_WILLS)][0]
    return frame.page(
        f"/parishes/{slugify(name)}",
        f"The registers of {name}",
        lead(f"The books of {name} begin in {year} and fill {boxes} boxes. {story}"),
        paragraph(
            f"Baptisms are indexed to {year + 180}, marriages to {year + 150}. "
            "Ask at the desk for anything younger than a hundred years."
        ),
        listing(((f"/wills/{slugify(will)}", f"The will of {will}, once of this parish"),)),
        neighbours((("/parishes/", "All parishes"), (f"/parishes/{slugify(next_name)}", next_name))),
    )


def _wills(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/wills/",
        "Wills proved",
        lead("A choice of wills that have been transcribed by our volunteers."),
        listing((f"/wills/{slugify(name)}", f"{name}, {trade}, {year}") for name, year, trade, _ in _WILLS),
    )
    pages = (
        frame.page(
            f"/wills/{slugify(name)}",
            f"The will of {name}",
            lead(f"{name}, {trade}, left in {year} {bequest}."),
            paragraph("Signed with a mark, witnessed by two neighbours, proved within the year."),
            listing((("/wills/", "All wills"), ("/parishes/", "Parish registers"))),
        )
        for name, year, trade, bequest in _WILLS
    )
    return (index, *pages)


def _maps(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/maps/",
        "Maps and plans",
        lead("Large sheets are shown flat, one at a time, on the long table."),
        listing((f"/maps/{slugify(name)}", name) for name in _MAPS),
    )
    pages = (
        frame.page(
            f"/maps/{slugify(name)}",
            name,
            lead(f"{name} is sheet {number} of our series, ink and wash on linen-backed paper."),
            paragraph(
                f"Scale about {number * 2 + 1} inches to the mile; north is to the {'right' if number % 2 else 'top'}."
            ),
            listing((("/maps/", "All maps"), ("/reading-room", "How to see it"))),
        )
        for number, name in enumerate(_MAPS, 1)
    )
    return (index, *pages)


def _reading_room(frame: Frame, around: Surroundings) -> tuple[Page, ...]:
    return (
        frame.page(
            "/reading-room",
            "The reading room",
            lead("Twelve seats, pencils only, and a bell when the next trolley comes up."),
            listing(
                (
                    ("/reading-room/desk/today", "Who sits where today"),
                    ("/reading-room/rules", "The rules"),
                    (around.url("observatory", "/logs/"), "Weather books, kept at the observatory"),
                )
            ),
        ),
        frame.page(
            "/reading-room/rules",
            "The rules of the reading room",
            lead("Clean hands, no food, one box at a time, and nobody hurries the staff."),
            listing((("/reading-room", "Back to the reading room"),)),
        ),
    )
