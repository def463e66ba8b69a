"""The links of pages and feeds."""

from __future__ import annotations

import asyncio

import pytest

from tests.fetch.asking import answered
from tests.fetch.reading import LIMITS, PAGE, hrefs, read
from tui_crawler.domain.records.attempt import RefusedCount
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.fetch.extract import PageReader
from tui_crawler.fetch.limits import FetchLimits


@pytest.mark.parametrize(
    ("html", "kind", "found"),
    [
        ("<a href=next>", LinkKind.a, "/folder/next"),
        ("<a href=' /top#part '>", LinkKind.a, "/top"),
        ("<a href='?y=2'>", LinkKind.a, "/folder/page?y=2"),
        ("<map><area href=/area alt=Map></map>", LinkKind.a, "/area"),
        ("<link rel='preload StyleSheet' href=/s.css>", LinkKind.css, "/s.css"),
        ("<link rel='Shortcut Icon' href=/i.ico>", LinkKind.img, "/i.ico"),
        ("<link rel=apple-touch-icon href=/t.png>", LinkKind.img, "/t.png"),
        ("<link rel='alternate stylesheet' href=/s.css>", LinkKind.css, "/s.css"),
        ("<link rel=preload as=Script href=/s.js>", LinkKind.script, "/s.js"),
        ("<link rel=preload as=font href=/f.woff2>", LinkKind.object, "/f.woff2"),
        ("<link rel=preload as=fetch href=/data>", LinkKind.other, "/data"),
        ("<link rel=modulepreload href=/m.js>", LinkKind.script, "/m.js"),
        *(
            (f"<link rel={rel} href=/x>", LinkKind.other, "/x")
            for rel in ("alternate", "manifest", "next", "prev", "author")
        ),
        ("<link rel=dns-prefetch href=//cdn.example><link rel=canonical href=/x><link href=/x>", LinkKind.other, ""),
        ("<meta property=og:image content=/o.png>", LinkKind.img, "/o.png"),
        ("<meta name=twitter:image content=/t.png>", LinkKind.img, "/t.png"),
        ("<meta property=og:url content=/o>", LinkKind.img, ""),
        ("<video><track src=/t.vtt></video>", LinkKind.object, "/t.vtt"),
        ("<form action=/do method=post></form><form action=''></form>", LinkKind.other, "/do"),
        ("<form><button formaction=/b>x</button><input formaction=/i></form>", LinkKind.other, "/b /i"),
        (
            "<blockquote cite=/b></blockquote><q cite='/q'></q><ins cite=/i></ins><del cite=/d></del><p cite=/no>",
            LinkKind.other,
            "/b /q /i /d",
        ),
        ("<iframe srcdoc='<p>' src=/f.html></iframe>", LinkKind.object, "/f.html"),
        ("<iframe data-src=/f.html></iframe><iframe src=about:blank></iframe>", LinkKind.frame, ""),
        ("<iframe loading=lazy src=/f.html></iframe>", LinkKind.frame, "/f.html"),
        (
            "<frameset><frame src=/a><frameset><frame SRC=/b></frameset><noframes>x</noframes></frameset>",
            LinkKind.frame,
            "/a /b",
        ),
        (
            "<svg><a xlink:href=/1>one</a><a href=/2></a><a href=/3 xlink:href=/no></a><a xlink:href='#x'></a></svg>",
            LinkKind.a,
            "/1 /2 /3",
        ),
        ("<a xlink:href=/no>x</a>", LinkKind.a, ""),
        (
            "<svg><image xlink:href=/i.png /><image href=/j.png /><feImage href=/f.png /></svg>",
            LinkKind.img,
            "/i.png /j.png /f.png",
        ),
        (
            "<svg><use href=#a /><use xlink:href='/s.svg#b'></use><use href=t.svg#c /></svg>",
            LinkKind.img,
            "/s.svg /folder/t.svg",
        ),
        (
            "<p href=/no><math><mrow href=/1><mi href=/2>x</mi></mrow><mtext><a href=/3>y</a></mtext></math>",
            LinkKind.a,
            "/3 /1 /2",
        ),
        ("<img src=/i.png>", LinkKind.img, "/i.png"),
        ("<img src=''>", LinkKind.img, ""),
        ("<img src=data:image/png;base64,AA>", LinkKind.img, ""),
        ("<img srcset='/1.png 1x, /2.png 2x,/3.png'>", LinkKind.img, "/1.png /2.png /3.png"),
        (
            "<picture><source srcset='/w.webp 100w, data:x,y 5w'><img src=/i.png></picture>",
            LinkKind.img,
            "/w.webp /i.png",
        ),
        ("<img srcset='/a(1,2).png 1x (x,y), /b.png,, /c,d.png 2x'>", LinkKind.img, "/a(1,2).png /b.png /c,d.png"),
        ("<input type=IMAGE src=/b.png>", LinkKind.img, "/b.png"),
        ("<input src=/b.png>", LinkKind.img, ""),
        ("<video src=/v.mp4 poster=/p.jpg></video>", LinkKind.video, "/v.mp4"),
        ("<video poster=/p.jpg></video>", LinkKind.img, "/p.jpg"),
        ("<video><source src=/v.webm></video>", LinkKind.video, "/v.webm"),
        ("<audio src=/a.ogg><source src=/b.ogg></audio>", LinkKind.audio, "/a.ogg /b.ogg"),
        ("<source src=/lost>", LinkKind.audio, ""),
        ("<object data=/o.swf></object>", LinkKind.object, "/o.swf"),
        ("<embed src=/e.pdf>", LinkKind.object, "/e.pdf"),
        ("<iframe src=/f.html></iframe>", LinkKind.frame, "/f.html"),
        ("<frameset><frame src=/g.html></frameset>", LinkKind.frame, "/g.html"),
        ("<script src=/s.js></script>", LinkKind.script, "/s.js"),
        ("<script>'<a href=/no>'</script><!-- <a href=/no> -->", LinkKind.a, ""),
        ("<noscript><a href=/yes></noscript>", LinkKind.a, "/yes"),
        ("<a name=x>", LinkKind.a, ""),
        ("<a href=''>", LinkKind.a, "/folder/page?x=1"),
        ("<map><area href=' '></map>", LinkKind.a, "/folder/page?x=1"),
        ("<base href=/other/#x><a href>", LinkKind.a, "/other/"),
        ("<script src=''></script><link rel=stylesheet href=''>", LinkKind.css, ""),
    ],
)
def test_the_links_of_a_page(html: str, kind: LinkKind, found: str) -> None:
    assert [href.removeprefix("https://site.example") for href in hrefs(read(html), kind)] == found.split()


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
    assert read("<a href='http://[#1'>x</a><a href='http://[#2'>y</a>").refused[0].sample_url == "http://[#1"


def test_invalid_links_are_counted_with_a_sample() -> None:
    reading = read("<a href='http://[/'><a href=mailto:a@b><a href=/x><a href='http://a:99999/'>")
    assert (len(reading.links), *reading.refused) == (1, RefusedCount("invalid_url", 3, "http://[/"))


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


SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><a href="/1"><text>One</text>
</a><a l:href="/2"/><image href="/i.png"/><use l:href="s.svg#a"/><use href="#a"/><script href="/s.js"/>
<textPath href="o.svg#p"/></svg>"""


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (SVG, "application/xml"),
        (f"<doc>{SVG}</doc>", "text/xml"),
        (f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{SVG}</body></html>', "application/xhtml+xml"),
    ],
)
def test_links_of_svg(body: str, content_type: str) -> None:
    reading = read(body, content_type)
    assert hrefs(reading) == ["https://site.example/1", "https://site.example/2"]
    assert reading.links[0].text == "One"
    assert hrefs(reading, LinkKind.img) == ["https://site.example/i.png", "https://site.example/folder/s.svg"]


def test_what_an_svg_document_loads_is_no_page() -> None:
    reading = read(SVG, "text/xml")
    assert hrefs(reading, LinkKind.script) == ["https://site.example/s.js"]
    assert hrefs(reading, LinkKind.object) == ["https://site.example/folder/o.svg"]


@pytest.mark.parametrize(
    ("markup", "label", "query"),
    [
        ("<a href='/find?q=\u043f\u0438\u0432\u043e'>", "windows-1251", "q=%EF%E8%E2%EE"),
        ("<form action='/find?q=\u043f'></form>", "koi8-r", "q=%D0"),
        ("<map><area href='/\xfc?q=\xfc'></map>", "iso-8859-1", "q=%FC"),
        ("<a href='?q=\u65e5'>", "shift_jis", "q=%93%FA"),
        ("<base href='/x?q=\xfc'><a href=''>", "iso-8859-15", "q=%FC"),
        ("<a href='/x?q=\xfc'>", "utf-8", "q=%C3%BC"),
        ("<a href='/x?q=\xfc'>", "utf-16le", "q=%C3%BC"),
    ],
)
def test_the_query_of_a_link_is_in_the_encoding_of_its_page(markup: str, label: str, query: str) -> None:
    reading = read(markup.encode(label), f"text/html; charset={label}")
    (link,) = reading.links
    assert link.url.query == query
    if label != "utf-16le":
        declared = f"<meta charset={label}>{markup}".encode(label)
        assert read(declared, "text/html").links[0].url.query == query
    assert link.url.path in {"/find", "/%C3%BC", "/folder/page", "/x"}


def test_pages_of_one_reader_in_several_encodings_are_not_mixed_up() -> None:
    reader = PageReader(LIMITS, "x")
    for label, query in (("windows-1251", "q=%EF"), ("utf-8", "q=%D0%BF"), ("koi8-r", "q=%D0"), ("cp866", "q=%AF")):
        body = "<a href='/find?q=\u043f'>".encode(label)
        reading = asyncio.run(reader.read(PAGE, answered(body, f"text/html; charset={label}")))
        assert reading.links[0].url.query == query


def test_what_a_page_says_of_itself_has_its_encoding_too() -> None:
    head = "<link rel=canonical href='/c?q=\xfc'><meta http-equiv=refresh content='0; url=/r?q=\xfc'>"
    reading = read(head.encode("latin-1"), "text/html; charset=iso-8859-1")
    assert (reading.canonical and reading.canonical.query, reading.refresh and reading.refresh.query) == ("q=%FC",) * 2


def test_queries_in_feeds_and_style_sheets_are_utf_8() -> None:
    """A feed is read apart from its file, a style sheet by any page."""
    rss = '<?xml version="1.0" encoding="iso-8859-1"?><rss><channel><link>/x?q=\xfc</link></channel></rss>'
    assert read(rss.encode("latin-1"), "application/rss+xml").links[0].url.query == "q=%C3%BC"
    assert read("a{b:url(/x?q=\xfc)}".encode("latin-1"), "text/css; charset=latin1").links[0].url.query == "q=%C3%BC"
    xhtml = (
        '<?xml version="1.0" encoding="latin1"?><html xmlns="http://www.w3.org/1999/xhtml"><a href="?q=\xfc"/></html>'
    )
    assert read(xhtml.encode("latin-1"), "application/xhtml+xml").links[0].url.query == "q=%FC"


BASED = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/ongoing/"><link href="first"/>
<entry xml:base="When/2026/05/"><link href="second"/><link href="/third"/><link xml:base="deep/" href="fourth#part"/>
<link href="?q=1"/><link href="http://else.example/fifth"/></entry>
<entry xml:base="http://else.example/blog/x"><link href="sixth"/></entry>
<entry xml:base="tag:else,2020"><link href="nowhere"/><link href="http://else.example/seventh"/></entry>
<entry><link href="eighth"/></entry></feed>"""


@pytest.mark.parametrize("content_type", ["application/atom+xml", "text/xml"])
def test_links_of_feeds_are_relative_to_the_xml_base_in_scope(content_type: str) -> None:
    reading = read(BASED, content_type)
    here = "https://site.example/ongoing/"
    assert hrefs(reading) == [
        f"{here}first",
        f"{here}When/2026/05/second",
        "https://site.example/third",
        f"{here}When/2026/05/deep/fourth",
        f"{here}When/2026/05/?q=1",
        "http://else.example/fifth",
        "http://else.example/blog/sixth",
        "http://else.example/seventh",
        f"{here}eighth",
    ]
    assert reading.refused == (RefusedCount("invalid_url", 1, "xml:base=tag:else,2020 nowhere"),)


def test_a_relative_base_within_an_invalid_one_is_relative_to_nothing_else() -> None:
    long = "x" * 70_000
    for outer in ("tag:else,2020", "http://[", long):
        feed = f"""<rss xml:base="{outer}"><channel xml:base="b/"><link>y</link>
        <item xml:base="http://else.example/"><link>z</link></item></channel></rss>"""
        assert hrefs(read(feed, "application/rss+xml")) == ["http://else.example/z"], outer[:20]


def test_xml_base_counts_in_rss_and_other_xml_and_not_in_xhtml() -> None:
    rss = """<rss><channel xml:base="http://else.example/a/"><link>x</link><item xml:base="b/"><link>y</link>
    <enclosure url="z.mp3" type="audio/mpeg"/></item></channel></rss>"""
    reading = read(rss, "application/rss+xml")
    assert hrefs(reading) == ["http://else.example/a/x", "http://else.example/a/b/y"]
    assert hrefs(reading, LinkKind.audio) == ["http://else.example/a/b/z.mp3"]
    svg = '<svg xmlns="http://www.w3.org/2000/svg" xml:base="/drawn/"><a href="x"/></svg>'
    assert hrefs(read(svg, "text/xml")) == ["https://site.example/drawn/x"]
    xhtml = '<html xmlns="http://www.w3.org/1999/xhtml" xml:base="/no/"><a href="x"/></html>'
    assert hrefs(read(xhtml, "application/xhtml+xml")) == ["https://site.example/folder/x"]
