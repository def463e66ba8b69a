"""The Harbour Almanac: the healthy site, with validators, gzip, a sitemap, a feed, a drawing and a sheet."""

from tui_crawler.demo.content.frame import (
    Frame,
    change_date,
    lead,
    link,
    listing,
    neighbours,
    paragraph,
    picture,
    robots,
    slugify,
    table,
)
from tui_crawler.demo.content.media import draw_png, print_pdf, write_rss, write_sitemap
from tui_crawler.demo.site import Page, Site, Surroundings, freeze_pages

NAME = "almanac"
_TITLE = "The Harbour Almanac"

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
# name, depth at low water in metres, visitors' berths, what a visitor should know
_HARBOURS = (
    ("Skerry Haven", 2.4, 18, "The ledge on the north side dries two hours after high water."),
    ("Port Callow", 4.1, 60, "The lock gates open from two hours before until one hour after high water."),
    ("St Brannock", 1.1, 9, "Shallow-draught boats may lie against the old fish quay free of charge."),
    ("Merrow Point", 3.0, 24, "A swell runs in with easterly winds; double the stern lines."),
    ("Gull Sound", 5.6, 12, "Moorings are laid in spring and lifted in the last week of October."),
    ("Old Staithe", 0.8, 14, "Keel boats take the mud gently here: it is soft and flat."),
    ("Whinnow", 2.9, 31, "Water is at the ice house, and fuel by can from the post office."),
    ("Kelp Bay", 6.2, 0, "There is no pier; anchor in sand south of the two white cottages."),
    ("Drummel", 3.3, 40, "The harbour master answers on channel 12 between seven and nineteen."),
    ("Lantern Cove", 1.9, 6, "Leave before the wind turns west: there is no shelter from that side."),
    ("Pell Strand", 2.2, 16, "The leading marks are the church tower and a red barn."),
    ("Three Brothers", 7.4, 8, "The outer rock is lit; the other two brothers are not."),
    ("Castle Ferry", 3.8, 22, "The chain ferry has right of way and cannot stop."),
    ("Ebbing Hard", 0.5, 11, "Two trots of drying moorings, let by the night at the sailing club."),
    ("Ness of Orm", 4.7, 5, "A race sets off the point for three hours each side of springs."),
    ("Salt Pans", 1.4, 10, "Follow the withies: the channel moved again in the winter gales."),
    ("Bishop's Landing", 2.0, 13, "The steps belong to the bishop, who has not been seen since 1911."),
    ("Cold Harbour", 3.6, 27, "The name is older than the hotel, which is heated."),
    ("North Hythe", 1.7, 20, "A bar lies across the mouth; wait for half flood."),
    ("Wren Island", 4.4, 4, "Landing by permission of the bird wardens, from August only."),
    ("Smugglers' Gut", 2.1, 3, "Narrower than it looks on the chart, and it looks narrow on the chart."),
    ("Tarn Harbour", 2.6, 45, "Showers, a chandler and the best pies on this coast."),
)
# name, character, height in metres, range in nautical miles, year
_LIGHTS = (
    ("Skerry Low", "Fl W 5s", 17, 11, 1862),
    ("Merrow Head", "Fl(2) W 15s", 44, 21, 1838),
    ("Callow Pier", "F R", 9, 5, 1904),
    ("Gull Rock", "Q(6)+LFl 15s", 22, 14, 1891),
    ("Orm High", "Oc W 8s", 61, 24, 1829),
    ("Orm Low", "Iso R 4s", 12, 9, 1830),
    ("Brother Tower", "Fl(3) W 20s", 36, 18, 1871),
    ("Pell Leading", "F G", 7, 4, 1922),
    ("Kelp Bank float", "VQ W", 5, 6, 1958),
    ("Cold Harbour mole", "Fl R 3s", 11, 7, 1935),
    ("Wren Island", "Fl(4) W 30s", 52, 20, 1868),
    ("Hythe bar", "LFl W 10s", 6, 5, 1949),
    ("Pan Leading", "Iso W 2s", 14, 8, 1907),
    ("Staithe Inner", "Oc G 6s", 8, 3, 1911),
)
# title, date of issue, text
_NOTICES = (
    ("Dredging at Port Callow", "2026-02-02", "A dredger works in the basin until the end of the month."),
    ("Buoy off station", "2026-02-09", "The Kelp Bank float was seen half a mile south of its charted place."),
    ("New leading light", "2026-02-16", "Pell Leading now shows fixed green by day and night."),
    ("Gate times changed", "2026-03-01", "Port Callow opens its gates half an hour earlier at neaps."),
    ("Wreck marked", "2026-03-08", "A sunken barge east of Drummel is marked by two cardinal buoys."),
    ("Survey vessel", "2026-03-15", "Keep half a mile clear of the survey vessel and the cable it tows."),
    ("Regatta at Whinnow", "2026-04-04", "The inner harbour is closed to passage from ten until sixteen."),
    ("Firing practice", "2026-04-11", "Red flags on Merrow Head mean the range is in use: stay outside."),
    ("Fish farm moved", "2026-04-12", "The cages in Gull Sound now lie two cables further west, unlit."),
    ("Bridge works", "2026-04-15", "Headroom at Castle Ferry is less by two metres until June."),
    ("Pontoon repaired", "2026-04-18", "All berths at Tarn Harbour can be used again."),
    ("Shallow patch", "2026-05-02", "Less water than charted was found in the approach to St Brannock."),
)
_UNLINKED = ("Pontoon repaired", "Shallow patch")


def build_almanac(around: Surroundings) -> Site:
    """Return the site: every page is good, everything is linked or in the sitemap."""
    frame = _frame(around)
    pages = (
        _home(frame, around),
        *_tides(frame),
        *_harbours(frame, around),
        *_lights(frame),
        *_notices(frame),
        *_single_pages(frame),
        *_documents(frame, around),
    )
    return Site(NAME, _TITLE, "healthy: validators, gzip, sitemap, feed", freeze_pages(pages), server="harbour/2.1")


def _frame(around: Surroundings) -> Frame:
    footer = (
        "<p>Compiled by the harbour masters of the coast. Sailing tonight? Ask "
        + link(around.url("ferries"), "the island ferries")
        + " or read "
        + link("https://example.org/weather", "the weather desk")
        + ".</p>"
    )
    navigation = (
        ("/", "Today"),
        ("/tides/", "Tides"),
        ("/harbours/", "Harbours"),
        ("/lights/", "Lights"),
        ("/notices/", "Notices"),
        ("/about", "About"),
    )
    return Frame(_TITLE, "tides, lights and berths", "#1b4f72", navigation, footer, dated=True, tagged=True, gzip=True)


def _home(frame: Frame, around: Surroundings) -> Page:
    return frame.page(
        "/",
        "Today on the coast",
        lead("Fair weather, wind south-west three to four, sea slight. High water at Port Callow is at 10:42."),
        picture("/harbour.png", "The outer harbour at first light"),
        paragraph("The almanac is printed each January and corrected here every week by the harbour offices."),
        listing(
            (
                ("/tides/", "Tide tables for the year"),
                ("/harbours/", "Twenty-two harbours and their berths"),
                ("/lights/", "The list of lights"),
                ("/glossary#springs", "What the words mean"),
                ("/handbook.pdf", "The skipper's sheet, for printing"),
                ("/harbour.png", "The picture of the week"),
                ("/feed.xml", "Notices as a feed"),
                (around.url("radio"), "Radio Lighthouse, for the shipping forecast"),
                (around.url("observatory"), "The observatory on the fell"),
                (around.url("reserve"), "Saltmarsh Reserve, where landing is restricted"),
            )
        ),
        head='<link rel="alternate" type="application/rss+xml" href="/feed.xml" title="Notices">\n',
        headers=(("Cache-Control", "max-age=3600"),),
    )


def _tides(frame: Frame) -> tuple[Page, ...]:
    index = frame.page(
        "/tides/",
        "Tide tables",
        lead("One page a month, for Port Callow. Other harbours differ by the minutes given on their pages."),
        listing((f"/tides/{month.lower()}", f"Tides in {month}") for month in _MONTHS),
    )
    return (index, *(_month(frame, number) for number in range(len(_MONTHS))))


def _month(frame: Frame, number: int) -> Page:
    name, before, after = _MONTHS[number], _MONTHS[number - 1], _MONTHS[(number + 1) % 12]
    rows = []
    for day in range(1, 29):
        minutes = (number * 137 + day * 49) % 745
        height = 4.2 + 1.3 * abs(((day + number * 2) % 15) - 7) / 7
        rows.append((str(day), f"{minutes // 60:02d}:{minutes % 60:02d}", f"{height:.1f} m"))
    return frame.page(
        f"/tides/{name.lower()}",
        f"Tides in {name}",
        lead(f"Morning high water at Port Callow in {name}, in local time, with its height above chart datum."),
        table(("Day", "High water", "Height"), rows),
        neighbours(((f"/tides/{before.lower()}", before), (f"/tides/{after.lower()}", after))),
        headers=(("Cache-Control", "max-age=86400"),),
    )


def _harbours(frame: Frame, around: Surroundings) -> tuple[Page, ...]:
    index = frame.page(
        "/harbours/",
        "Harbours",
        lead("From north to south. Depths are in metres at the lowest tide of the year."),
        listing((f"/harbours/{slugify(name)}", name) for name, *_ in _HARBOURS),
    )
    return (index, *(_harbour(frame, around, number) for number in range(len(_HARBOURS))))


def _harbour(frame: Frame, around: Surroundings, number: int) -> Page:
    name, depth, berths, advice = _HARBOURS[number]
    north, south = _HARBOURS[number - 1][0], _HARBOURS[(number + 1) % len(_HARBOURS)][0]
    light = _LIGHTS[number % len(_LIGHTS)][0]
    room = f"There is room for {berths} visitors" if berths else "There are no berths for visitors"
    return frame.page(
        f"/harbours/{slugify(name)}",
        name,
        lead(f"{name} has {depth} metres at low water. {room}. {advice}"),
        picture("/harbour.png", f"{name} seen from the sea"),
        paragraph(
            f"High water is {abs(number * 5 - 52)} minutes {'before' if number < 11 else 'after'} Port Callow. "
            f"Coming from {north}, keep the light of {light} on the port bow until the entrance opens; "
            f"coming from {south}, stay in ten metres or more until the pier head bears west."
        ),
        paragraph("Dues are paid at the office by noon, in coins or on account."),
        listing(
            (
                (f"/lights/{slugify(light)}", f"The light: {light}"),
                ("/tides/", "Tide tables"),
                (around.url("ferries", "/piers/"), "Ferry piers nearby"),
            )
        ),
        neighbours(((f"/harbours/{slugify(north)}", north), (f"/harbours/{slugify(south)}", south))),
    )


def _lights(frame: Frame) -> tuple[Page, ...]:
    rows = [(name, character, f"{metres} m", f"{miles} M") for name, character, metres, miles, _ in _LIGHTS]
    index = frame.page(
        "/lights/",
        "The list of lights",
        lead("Characters are written as on charts. Heights are above the highest tide."),
        table(("Light", "Character", "Height", "Range"), rows),
        listing((f"/lights/{slugify(name)}", name) for name, *_ in _LIGHTS),
    )
    return (index, *(_light(frame, *row) for row in _LIGHTS))


def _light(frame: Frame, name: str, character: str, metres: int, miles: int, year: int) -> Page:
    fuel = f"burned oil for {1934 - year} years" if year < 1934 else "was electric from the start"
    return frame.page(
        f"/lights/{slugify(name)}",
        f"{name} light",
        lead(f"{name} shows {character} from {metres} metres and is seen for {miles} miles in clear weather."),
        paragraph(
            f"It was first lit in {year}, {fuel} "
            "and has been watched from the office in Drummel since the last keeper retired."
        ),
        listing((("/lights/", "All lights"), ("/glossary#character", "How to read a character"))),
    )


def _notices(frame: Frame) -> tuple[Page, ...]:
    linked = [row for row in _NOTICES if row[0] not in _UNLINKED]
    index = frame.page(
        "/notices/",
        "Notices to mariners",
        lead("In force today. Older notices are kept at the offices and are not shown here."),
        listing((f"/notices/{slugify(title)}", f"{date}: {title}") for title, date, _ in linked),
    )
    pages = (
        frame.page(
            f"/notices/{slugify(title)}",
            title,
            lead(f"Issued {date}. {text}"),
            paragraph("Cancel this notice in your copy when the next weekly list no longer names it."),
            listing((("/notices/", "All notices"), ("/harbours/", "Harbours"))),
        )
        for title, date, text in _NOTICES
    )
    return (index, *pages)


def _single_pages(frame: Frame) -> tuple[Page, ...]:
    return (
        frame.page(
            "/about",
            "About the almanac",
            lead("The first almanac was a single sheet, sold on the quay in 1887 for the benefit of the lifeboat."),
            paragraph("Today it is kept by twenty-two harbour offices, and every figure is checked by two people."),
            listing((("/contact", "Write to us"), ("/glossary", "Glossary"))),
        ),
        frame.page(
            "/contact",
            "Write to us",
            lead("Corrections are welcome, best with the date, the place and the state of the tide."),
            listing((("mailto:almanac@harbour.example", "By mail"), ("tel:+440000000000", "By telephone"))),
        ),
        frame.page(
            "/glossary",
            "Glossary",
            '<p id="springs">Springs are the large tides after new and full moon; neaps are the small ones.</p>',
            '<p id="character">A character is the rhythm of a light: Fl flashes, Oc is dark for a moment, '
            "Iso is as long dark as light.</p>",
            listing((("#springs", "Springs"), ("#character", "Character"), ("/tides/", "Tide tables"))),
        ),
    )


def _documents(frame: Frame, around: Surroundings) -> tuple[Page, ...]:
    home = around.url(NAME, "")
    feed = write_rss(
        f"{_TITLE}: notices",
        home + "/",
        (
            (title, f"{home}/notices/{slugify(title)}", change_date(title), text)
            for title, _, text in _NOTICES
            if title not in _UNLINKED
        ),
    )
    sitemap = write_sitemap((f"{home}/notices/{slugify(title)}", date) for title, date, _ in _NOTICES)
    sheet = print_pdf(("The skipper's sheet", "Before you sail: tide, weather, fuel, lines, lights (all of them)."))
    return (
        robots(f"# Everybody is welcome.\nUser-agent: *\nDisallow:\n\nSitemap: {home}/sitemap.xml\n"),
        frame.style(),
        frame.resource("/feed.xml", feed, "application/rss+xml; charset=utf-8"),
        frame.resource("/sitemap.xml", sitemap, "application/xml"),
        frame.resource("/handbook.pdf", sheet, "application/pdf"),
        frame.resource("/harbour.png", draw_png(320, 120, (250, 214, 165), (27, 79, 114)), "image/png"),
    )
