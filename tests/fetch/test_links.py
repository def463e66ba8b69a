"""The links of pages and feeds."""

from __future__ import annotations

import pytest

from tests.fetch.reading import PAGE, hrefs, read
from tui_crawler.domain.content_kind import LinkKind
from tui_crawler.fetch.limits import FetchLimits


@pytest.mark.parametrize(
    ("html", "kind", "found"),
    [
        ("<a href=next>", LinkKind.a, ["https://site.example/folder/next"]),
        ("<a href=' /top#part '>", LinkKind.a, ["https://site.example/top"]),
        ("<a href='?y=2'>", LinkKind.a, ["https://site.example/folder/page?y=2"]),
        ("<map><area href=/area alt=Map></map>", LinkKind.a, ["https://site.example/area"]),
        ("<link rel='preload StyleSheet' href=/s.css>", LinkKind.css, ["https://site.example/s.css"]),
        ("<link rel=icon href=/i.ico>", LinkKind.css, []),
        ("<img src=/i.png>", LinkKind.img, ["https://site.example/i.png"]),
        ("<img src=''>", LinkKind.img, []),
        ("<img src=data:image/png;base64,AA>", LinkKind.img, []),
        (
            "<img srcset='/1.png 1x, /2.png 2x,/3.png'>",
            LinkKind.img,
            [f"https://site.example/{n}.png" for n in (1, 2, 3)],
        ),
        (
            "<picture><source srcset='/w.webp 100w, data:x,y 5w'><img src=/i.png></picture>",
            LinkKind.img,
            ["https://site.example/w.webp", "https://site.example/i.png"],
        ),
        (
            "<img srcset='/a(1,2).png 1x (x,y), /b.png,, /c,d.png 2x'>",
            LinkKind.img,
            [f"https://site.example/{name}" for name in ("a(1,2).png", "b.png", "c,d.png")],
        ),
        ("<input type=IMAGE src=/b.png>", LinkKind.img, ["https://site.example/b.png"]),
        ("<input src=/b.png>", LinkKind.img, []),
        ("<video src=/v.mp4 poster=/p.jpg></video>", LinkKind.video, ["https://site.example/v.mp4"]),
        ("<video poster=/p.jpg></video>", LinkKind.img, ["https://site.example/p.jpg"]),
        ("<video><source src=/v.webm></video>", LinkKind.video, ["https://site.example/v.webm"]),
        (
            "<audio src=/a.ogg><source src=/b.ogg></audio>",
            LinkKind.audio,
            [f"https://site.example/{n}.ogg" for n in "ab"],
        ),
        ("<source src=/lost>", LinkKind.audio, []),
        ("<object data=/o.swf></object>", LinkKind.object, ["https://site.example/o.swf"]),
        ("<embed src=/e.pdf>", LinkKind.object, ["https://site.example/e.pdf"]),
        ("<iframe src=/f.html></iframe>", LinkKind.object, ["https://site.example/f.html"]),
        ("<frameset><frame src=/g.html></frameset>", LinkKind.object, ["https://site.example/g.html"]),
        ("<script src=/s.js></script>", LinkKind.script, ["https://site.example/s.js"]),
        ("<script>'<a href=/no>'</script><!-- <a href=/no> -->", LinkKind.a, []),
        ("<noscript><a href=/yes></noscript>", LinkKind.a, ["https://site.example/yes"]),
        ("<a name=x>", LinkKind.a, []),
        ("<a href=''>", LinkKind.a, ["https://site.example/folder/page?x=1"]),
        ("<map><area href=' '></map>", LinkKind.a, ["https://site.example/folder/page?x=1"]),
        ("<base href=/other/#x><a href>", LinkKind.a, ["https://site.example/other/"]),
        ("<script src=''></script><link rel=stylesheet href=''>", LinkKind.css, []),
    ],
)
def test_the_links_of_a_page(html: str, kind: LinkKind, found: list[str]) -> None:
    assert hrefs(read(html), kind) == found


@pytest.mark.parametrize(
    ("base", "found"),
    [
        ("<base href=/other/>", "https://site.example/other/x"),
        ("<base href=http://else.example/d/>", "http://else.example/d/x"),
        ("<base target=_top><base href=/two/><base href=/three/>", "https://site.example/two/x"),
        ("<base href='javascript:0'>", "https://site.example/folder/x"),
        ("<base href='http://[/'>", "https://site.example/folder/x"),
    ],
)
def test_the_base_of_links(base: str, found: str) -> None:
    assert hrefs(read(f"<head>{base}</head><a href=x>")) == [found]


def test_links_that_come_again_are_one() -> None:
    reading = read(
        "<a href=/x rel=nofollow><img alt=''></a><a href=/x rel=NoFollow>text</a><a href=/x#a>later</a>"
        "<a href=/y rel='external nofollow ugc'>only</a><img src=/x>"
    )
    assert [(link.kind, link.url.path, link.text, link.nofollow) for link in reading.links] == [
        (LinkKind.a, "/x", "text", False),
        (LinkKind.a, "/y", "only", True),
        (LinkKind.img, "/x", "", False),
    ]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a href=/x> one <b>two</b>\n three </a>", "one two three"),
        ("<a href=/x>a\x07b\x9bc</a>", "a\x07b\x9bc"),
        ("<a href=/x>" + "word " * 100 + "</a>", ("word " * 40).strip()),
        ("<a href=/x>" + "<i>x</i>" * 5000 + "</a>", "x" * 101),
        ("<a href=/x>" + " " * 5000 + "</a>", ""),
        ("<area href=/x alt=' the  map '>", "the map"),
    ],
)
def test_the_text_of_a_link(html: str, text: str) -> None:
    assert read(html).links[0].text == text


def test_links_to_parts_of_a_page_are_one_link() -> None:
    reading = read(
        "<a href=/a#1 rel=nofollow>one</a><a href='/a#2'></a><a href='/a#3'>two</a><a href=#x></a><a href=#y>z</a>"
    )
    assert [(link.url.href, link.text, link.nofollow) for link in reading.links] == [
        ("https://site.example/a", "one", False),
        (PAGE.href, "z", False),
    ]
    assert read("<a href='http://[#1'>x</a><a href='http://[#2'>y</a>").invalid_sample == "http://[#1"


def test_invalid_links_are_counted_with_a_sample() -> None:
    reading = read("<a href='http://[/'><a href=mailto:a@b><a href=/x><a href='http://a:99999/'>")
    assert (len(reading.links), reading.invalid_links, reading.invalid_sample) == (1, 3, "http://[/")


def test_more_links_than_the_bound_are_left_and_marked() -> None:
    html = "".join(f"<a href=/{number % 15}>" for number in range(30))
    reading = read(html, limits=FetchLimits(max_links=10))
    assert len(reading.links) == 10
    assert reading.incomplete == ("links",)
    assert read(html, limits=FetchLimits(max_links=15)).incomplete == ()


FEED = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>News</title><link>/home</link><atom:link href="/feed" rel="self"/>
<item><title>One</title><link> /one </link><enclosure url="/one.mp3" type="audio/mpeg"/></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title><link href="/home"/>
<link rel="hub" href="/hub"/><entry><title>One</title><link rel="alternate" href="/one"/>
<link rel="enclosure" type="video/mp4" href="/v"/></entry></feed>"""


def test_feeds_have_a_title_and_links() -> None:
    rss, atom = read(FEED, "application/rss+xml"), read(ATOM, "application/atom+xml")
    assert (rss.title, atom.title) == ("News", "Log")
    assert hrefs(rss) == hrefs(atom) == ["https://site.example/home", "https://site.example/one"]
    assert hrefs(rss, LinkKind.audio) == ["https://site.example/one.mp3"]
    assert hrefs(atom, LinkKind.video) == ["https://site.example/v"]


def test_links_of_other_xml() -> None:
    reading = read(
        """<?xml version="1.0"?><?xml-stylesheet href="one.css" type="text/css"?><?other href="no"?>
        <?xml-stylesheet href="/two.xsl" type="text/xsl"?><!-- c --><?xml-stylesheet type="text/css"?>
        <doc xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:h="http://www.w3.org/1999/xhtml" href="/no"
          xmlns:atom="http://www.w3.org/2005/Atom" xmlns:svg="http://www.w3.org/2000/svg"><title>no</title>
          <a href="/no"/><see xlink:href="/see">there</see><part xlink:href="/part" xlink:show="embed"/>
          <svg:svg><svg:image xlink:href="/drawn.png"/><svg:use xlink:href="#id"/></svg:svg>
          <h:a href="/anchor" rel="nofollow">An <h:b>anchor</h:b></h:a><h:img src="/shown.png" alt="Shown"/>
          <atom:link href="/next" rel="next"/><atom:link href="/hub" rel="hub"/>
        </doc><?xml-stylesheet href="/late.css"?>""",
        "application/xml",
    )
    assert reading.kind == "xml"
    assert hrefs(reading, LinkKind.css) == ["https://site.example/folder/one.css", "https://site.example/two.xsl"]
    assert hrefs(reading, LinkKind.img) == ["https://site.example/drawn.png", "https://site.example/shown.png"]
    assert hrefs(reading, LinkKind.object) == ["https://site.example/part"]
    assert [(link.url.path, link.text, link.nofollow) for link in reading.links if link.kind is LinkKind.a] == [
        ("/see", "", False),
        ("/anchor", "An anchor", True),
        ("/next", "", False),
    ]


@pytest.mark.parametrize("content_type", ["text/xml", "application/xml", "application/vnd.x+xml"])
def test_feeds_that_are_served_as_xml_are_read_as_feeds(content_type: str) -> None:
    for feed, title in ((FEED, "News"), (ATOM, "Log")):
        reading = read(feed, content_type)
        assert (reading.kind, reading.title) == ("xml", title)
        assert hrefs(reading) == ["https://site.example/home", "https://site.example/one"]


def test_xhtml_that_is_served_as_xml_is_read_as_a_page() -> None:
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head><body><a href="/a">t</a></body></html>'
    )
    reading = read(page, "text/xml")
    assert (reading.kind, reading.title, hrefs(reading)) == ("xml", "X", ["https://site.example/a"])


@pytest.mark.parametrize("body", ["<a/>", "hello", "<urlset><url><loc>/x</loc></url></urlset>"])
def test_xml_without_links(body: str) -> None:
    assert read(body, "application/xml").links == ()
