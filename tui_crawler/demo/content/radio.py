"""Radio Lighthouse: a weak signal. Connections are reset, a few bodies end too early, one chunk is broken."""

from dataclasses import replace

from tui_crawler.demo.content.frame import Frame, lead, link, listing, neighbours, paragraph, robots, slugify
from tui_crawler.demo.content.media import record_tone
from tui_crawler.demo.site import BrokenChunk, Page, Resetting, Site, Surroundings, Truncated, freeze_pages

NAME = "radio"
_TITLE = "Radio Lighthouse"

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# programme, hour, presenter, what it is
_PROGRAMMES = (
    ("First Light", 6, "Ada Moss", "News, tides and one record chosen by a listener who is still in bed."),
    (
        "The Shipping Hour",
        7,
        "Piers Nolan",
        "Sea areas in the old order, read slowly, with the reports from the coast.",
    ),
    ("Market Boat", 9, "Ines Vard", "What was landed this morning, and how to cook what nobody bought."),
    ("Letters Aloud", 11, "Ada Moss", "Your letters, read in full, including the angry ones."),
    ("Noon Bells", 12, "Tobias Reed", "Bells from a different parish every day, and the story of the ringers."),
    ("Long Wave", 14, "Piers Nolan", "Two hours of music from stations that no longer exist."),
    ("The Mending Shed", 16, "Ruth Calder", "Callers bring a broken thing, and somebody always knows."),
    ("Evening Chart", 18, "Ines Vard", "Weather for tomorrow, explained with a bucket and two kettles."),
    ("Far Stations", 20, "Tobias Reed", "Keepers and operators talk about nights when nothing came through."),
    ("Night Watch", 23, "Ruth Calder", "Quiet music and the time, until somebody comes to relieve her."),
)
_PRESENTERS = ("Ada Moss", "Piers Nolan", "Ines Vard", "Tobias Reed", "Ruth Calder")
# transmitter, kilohertz, note
_TRANSMITTERS = (
    ("Merrow Head mast", 1548, "The main mast, rebuilt after the gale of 1987."),
    ("Orm relay", 1602, "Runs on batteries from November to February."),
    ("Gull Island relay", 1593, "Off the air whenever the sheep lean on the fence."),
    ("Fell Top link", 1485, "Shared with the observatory, which likes us to whisper."),
)
_CUT_SHORT = ("/programmes/market-boat", "/presenters/ruth-calder")
_GARBLED = "/transmitters/gull-island-relay"


def build_radio(around: Surroundings) -> Site:
    """Return the site; nearly everything is got in the end, by one retry or two."""
    footer = "<p>On the air since 1931. Forecast with " + link(around.url("almanac"), "the almanac") + ".</p>"
    navigation = (
        ("/", "On air"),
        ("/schedule/", "Schedule"),
        ("/programmes/", "Programmes"),
        ("/presenters/", "Presenters"),
        ("/transmitters/", "Transmitters"),
    )
    frame = Frame(_TITLE, "the voice of the coast on medium wave", "#b8860b", navigation, footer)
    pages = (
        robots("User-agent: *\nDisallow: /studio/\n"),
        frame.style(),
        frame.resource("/pips.wav", record_tone(1000, 400), "audio/wav"),
        _home(frame, around),
        *_schedule(frame),
        *_programmes(frame),
        *_presenters(frame),
        *_transmitters(frame, around),
    )
    return Site(
        NAME,
        _TITLE,
        "flaky: each 5th request is reset, some bodies end too early",
        freeze_pages(tuple(_weaken(page) for page in pages)),
        Resetting(every=5),
        server="mast/0.4",
    )


def _weaken(page: Page) -> Page:
    if page.target in _CUT_SHORT:
        return replace(page, fault=Truncated(1))
    return replace(page, fault=BrokenChunk()) if page.target == _GARBLED else page


def _home(frame: Frame, around: Surroundings) -> Page:
    return frame.page(
        "/",
        "On air now",
        lead("You are listening to Long Wave. If we fade, turn the set a little to the north."),
        '<p><audio controls src="/pips.wav"></audio></p>',
        listing((("/schedule/", "The week"), ("/programmes/", "All programmes"), ("/pips.wav", "The pips"))),
        listing(((around.url("tramway"), "The tram to the studio"), ("/studio/", "Studio door"))),
    )


def _schedule(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/schedule/",
        "The week",
        lead("The same hours every day, because listeners set their clocks by us."),
        listing((f"/schedule/{day.lower()}", day) for day in _DAYS),
    )
    return (index, *(_day(frame, number) for number in range(len(_DAYS))))


def _day(frame: Frame, number: int) -> Page:
    shown = _PROGRAMMES[number % 3 :: 2]
    return frame.page(
        f"/schedule/{_DAYS[number].lower()}",
        f"{_DAYS[number]} on Radio Lighthouse",
        lead(f"{len(shown)} programmes, and the time at every hour."),
        listing((f"/programmes/{slugify(name)}", f"{hour:02d}:00 {name}") for name, hour, *_ in shown),
    )


def _programmes(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/programmes/",
        "Programmes",
        lead("Ten programmes, all made in one room."),
        listing((f"/programmes/{slugify(name)}", name) for name, *_ in _PROGRAMMES),
        chunked=True,
    )
    pages = (
        frame.page(
            f"/programmes/{slugify(name)}",
            name,
            lead(f"Every day at {hour}. {words}"),
            paragraph("Recordings are kept for a year on tape, and for as long as the tape holds after that."),
            listing(((f"/presenters/{slugify(presenter)}", f"With {presenter}"),)),
            neighbours((("/programmes/", "All programmes"), (f"/programmes/{slugify(name)}/last-week", "Last week"))),
            chunked=hour % 2 == 0,
        )
        for name, hour, presenter, words in _PROGRAMMES
    )
    recordings = (
        frame.page(
            f"/programmes/{slugify(name)}/last-week",
            f"{name}, last week",
            lead(f"The recording of {name} from last week, as far as it was received."),
            neighbours(((f"/programmes/{slugify(name)}", name),)),
        )
        for name, *_ in _PROGRAMMES
    )
    return (index, *pages, *recordings)


def _presenters(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/presenters/",
        "Presenters",
        lead("Five voices and one very old microphone."),
        listing((f"/presenters/{slugify(name)}", name) for name in _PRESENTERS),
    )
    pages = (
        frame.page(
            f"/presenters/{slugify(name)}",
            name,
            lead(f"{name} came to the station {3 + number * 4} years ago, to repair a cable, and stayed."),
            listing((f"/programmes/{slugify(row[0])}", row[0]) for row in _PROGRAMMES if row[2] == name),
        )
        for number, name in enumerate(_PRESENTERS)
    )
    return (index, *pages)


def _transmitters(frame: Frame, around: Surroundings) -> tuple[Page, ...]:
    index = frame.page(
        "/transmitters/",
        "Transmitters",
        lead("Four masts carry the programme round the headlands."),
        listing((f"/transmitters/{slugify(name)}", name) for name, *_ in _TRANSMITTERS),
        listing(((around.url("observatory"), "Fell Top Observatory"),)),
    )
    pages = (
        frame.page(
            f"/transmitters/{slugify(name)}",
            name,
            lead(f"{kilohertz} kilohertz. {note}"),
            listing((("/transmitters/", "All transmitters"),)),
        )
        for name, kilohertz, note in _TRANSMITTERS
    )
    return (index, *pages)
