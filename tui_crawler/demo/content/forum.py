"""The old forum: its database is failing. First some errors among good pages, then hardly anything else."""

from tui_crawler.demo.content.frame import Frame, lead, link, listing, paragraph, robots, slugify
from tui_crawler.demo.site import FailsFirst, Page, Site, Surroundings, freeze_pages

NAME = "forum"
_TITLE = "Millstone Forum"
_ALWAYS = 1_000_000

_BOARDS = ("Workshop", "Wheels and races", "For sale", "The tea room")
# title, status (200: good), opening post
_THREADS = (
    ("Which grease for oak bearings", 200, "The manual says tallow. My neighbour says anything but tallow."),
    ("Leat blocked again", 200, "Two hours with a rake, and this morning it is full of leaves once more."),
    ("Dressing a French burr stone", 200, "I have the bills and the patience. Who can teach me the pattern?"),
    ("Old photographs", 404, ""),
    ("Sluice gate, free to collect", 410, ""),
    ("Governor hunting at low load", 500, ""),
    ("Committee minutes", 403, ""),
    ("How wide is your tail race", 200, "Ours is six feet, and the parish says it should be eight."),
    ("Flour too warm off the stones", 200, "Slow down, they tell me, but then the bolter chokes."),
    ("Elm or oak for floats", 200, "Elm lasts if it never dries out. Ours dries out each August."),
    ("Meeting in spring", 503, ""),
    ("Rats, and what to do", 200, "The cat has resigned. Suggestions short of poison are welcome."),
    ("Undershot in a drought", 200, "Eleven days without turning, and the bearings begin to complain."),
    ("Sack hoist rope", 500, ""),
    ("Noise complaint", 200, "They moved in beside a mill and are surprised that it rumbles."),
    ("Who has a spare quant", 500, ""),
    ("Wheel pit survey", 500, ""),
    ("Brake shoe timber", 500, ""),
    ("Grants for roofs", 500, ""),
    ("Eel pass design", 500, ""),
    ("Visitors in winter", 500, ""),
    ("Stone crane on loan", 500, ""),
    ("Bolter cloth, by the yard", 500, ""),
    ("Archive of the first year", 500, ""),
)


def build_forum(around: Surroundings) -> Site:
    """Return the site; a crawler's patience is used up before its pages are."""
    footer = "<p>Kept alive by volunteers. Photographs moved to " + link(around.url("museum"), "the museum") + ".</p>"
    navigation = (("/", "Boards"), ("/latest", "Latest"), ("/admin/", "Moderators"))
    frame = Frame(_TITLE, "talk about mills since 1999", "#8d3b2f", navigation, footer)
    pages = (
        _robots(around),
        frame.style(),
        frame.page(
            "/",
            "Boards",
            lead("Welcome. The server moved to an older machine last week, so expect a hiccup or two."),
            listing((f"/board/{slugify(name)}", name) for name in _BOARDS),
            listing((("/latest", "Latest posts"), (around.url("chandlery"), "Rope and lamps: our sponsor"))),
        ),
        frame.page(
            "/latest",
            "Latest posts",
            lead("The ten threads with the newest answers."),
            listing((_address(title), title) for title, *_ in _THREADS[:10]),
        ),
        *_boards(frame),
        *(_thread(frame, around, *row) for row in _THREADS),
    )
    return Site(
        NAME,
        _TITLE,
        "failing: 500, 503, 404, 410, 403, until patience runs out",
        freeze_pages(pages),
        server="forumd/1.0.3",
    )


def _robots(around: Surroundings) -> Page:
    page = robots("User-agent: *\nDisallow: /search\n")
    fault = FailsFirst(1, 503, (around.retry_after(1),))
    return Page(page.target, page.body, content_type=page.content_type, fault=fault)


def _boards(frame: Frame) -> tuple[Page, ...]:
    share = len(_THREADS) // len(_BOARDS)
    return tuple(
        frame.page(
            f"/board/{slugify(name)}",
            name,
            lead(f"{share} threads, the oldest first."),
            listing((_address(title), title) for title, *_ in _THREADS[number * share : (number + 1) * share]),
            listing((("/search", "Search the board"),)),
        )
        for number, name in enumerate(_BOARDS)
    )


def _thread(frame: Frame, around: Surroundings, title: str, status: int, opening: str) -> Page:
    good = frame.page(
        _address(title),
        title,
        lead(opening or "This thread has been restored from a backup."),
        paragraph("Two answers so far, both of them certain and neither of them agreeing."),
        listing((("/", "Boards"), ("/latest", "Latest posts"))),
    )
    if status == 200:
        return good
    headers = (around.retry_after(2),) if status == 503 else ()
    visits = 1 if status == 503 else _ALWAYS
    return Page(good.target, good.body, fault=FailsFirst(visits, status, headers))


def _address(title: str) -> str:
    return f"/thread/{slugify(title)}"
