"""Character sets: the corpus of html5lib, the order of the sources, and detection."""

from __future__ import annotations

import codecs
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.asking import CORPORA
from tui_crawler.fetch.charset import choose_encoding, detect_encoding, encoding_of_label, to_utf8, with_query_in

HTML5LIB = json.loads((CORPORA / "html5lib_encoding.json").read_text())["cases"]


@pytest.mark.parametrize("case", HTML5LIB, ids=lambda case: repr(case["data"][:60]))
def test_the_corpus_of_html5lib(case: dict[str, str]) -> None:
    """Where the corpus expects the default, detection may know better: pure ASCII and legal UTF-8 are UTF-8 here."""
    data = case["data"].encode("latin-1")
    expected = encoding_of_label(case["encoding"])
    chosen = choose_encoding(data, "html", "")
    if expected == "windows-1252" and chosen == "utf-8":
        assert data.decode("utf-8")
        assert b"iso-8859-1" not in data.lower().replace(b"<!--<meta", b"").split(b"iso8859-2")[0]
    else:
        assert chosen == expected


@pytest.mark.parametrize(
    ("data", "label", "name"),
    [
        (b"\xef\xbb\xbf<meta charset=koi8-r>", "iso-8859-2", "utf-8"),
        ("\ufeff<p>".encode("utf-16-le"), "utf-8", "utf-16le"),
        ("\ufeff<p>".encode("utf-16-be"), "utf-8", "utf-16be"),
        (b"<meta charset=koi8-r>", "iso-8859-2", "iso-8859-2"),
        (b"<meta charset=koi8-r>", "no-such-charset", "koi8-r"),
        (b"<meta charset=koi8-r>", "", "koi8-r"),
        (b"<meta charset=zip>\xe9", "", "windows-1252"),
        (b"<p>\xc3\xa9", "", "utf-8"),
        ("<p>é".encode("utf-16-le"), "", "utf-16le"),
        ("<p>é".encode("utf-16-be"), "", "utf-16be"),
        (b"<?xml version='1.0' encoding='iso-8859-2'?><html/>", "", "iso-8859-2"),
        (b"", "", "utf-8"),
    ],
)
def test_bom_then_header_then_declaration_then_detection(data: bytes, label: str, name: str) -> None:
    assert choose_encoding(data, "html", label) == name


def test_other_kinds_declare_themselves_in_their_own_way() -> None:
    assert choose_encoding(b'<?xml version="1.0" encoding="koi8-r"?><rss/>', "rss", "") == "koi8-r"
    assert choose_encoding(b'<?xml version="1.0" encoding="utf-16"?><rss/>', "xml", "") == "utf-8"
    assert choose_encoding(b'@charset "shift_jis";', "css", "") == "shift_jis"
    assert choose_encoding(b"a{}\xff", "css", "") == "utf-8"


@pytest.mark.parametrize("label", ["zip", "rot13", "idna", "utf-7", "unicode_escape", "hz-gb-2312", "", "\0"])
def test_what_is_no_label_of_the_web_is_unknown(label: str) -> None:
    assert encoding_of_label(label) is None


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (" Latin1\n", "windows-1252"),
        ("ASCII", "windows-1252"),
        ("GB2312", "gbk"),
        ("UTF8", "utf-8"),
        ("x-sjis", "shift_jis"),
    ],
)
def test_labels_of_the_web(label: str, name: str) -> None:
    assert encoding_of_label(label) == name


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        ("Съешь же ещё этих мягких французских булок, да выпей чаю.", "cp1251", "windows-1251"),
        ("Съешь же ещё этих мягких французских булок, да выпей чаю.", "koi8-r", "koi8-r"),
        ("日本語のテキストです。これはテスト、リンクの一覧。", "cp932", "shift_jis"),
        ("日本語のテキストです。これはテスト、リンクの一覧。", "euc-jp", "euc-jp"),
        ("日本語のテキストです。これはテスト、リンクの一覧。", "iso2022_jp", "iso-2022-jp"),
        ("Le café déjà vu, où êtes-vous? Ça va très bien, merci à tous.", "cp1252", "windows-1252"),
        ("Falsches Üben von Xylophonmusik quält jeden größeren Zwerg", "cp1252", "windows-1252"),
        ("Não há solução fácil para a questão da educação, você verá", "cp1252", "windows-1252"),
        ("Zażółć gęślą jaźń, próba źdźbło, wiele różnych słów po polsku", "cp1250", "windows-1250"),
        ("中文网页的内容，这里是一个链接。测试我们的网站", "gb18030", "gb18030"),
        ("Ξεσκεπάζω την ψυχοφθόρα βδελυγμία των ελληνικών", "cp1253", "windows-1253"),
        ("เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์", "cp874", "windows-874"),
    ],
)
@pytest.mark.parametrize("ascii_head", [0, 20_000])
def test_detection(text: str, codec: str, name: str, ascii_head: int) -> None:
    data = b"<p>" + b"x " * (ascii_head // 2) + ("<p>" + text + "\n").encode(codec) * 8
    assert detect_encoding(data) == name
    assert text in to_utf8(data, name).decode()


@given(st.binary(max_size=300))
def test_any_bytes_become_utf_8(data: bytes) -> None:
    name = choose_encoding(data, "html", "")
    text = to_utf8(data, name).decode("utf-8")
    assert text.count("\0") <= data.count(b"\0")
    assert encoding_of_label(name) == name


@pytest.mark.parametrize(
    "name", ["windows-1252", "utf-16le", "gb18030", "shift_jis", "utf-8", "iso-8859-8-i", "macintosh"]
)
def test_a_large_illegal_body_is_replaced(name: str) -> None:
    assert b"\xef\xbf\xbd" in to_utf8(b"\x81\xff\xd8" * 200_000, name) or name == "macintosh"


def test_an_escape_sequence_without_an_end_is_replaced() -> None:
    assert to_utf8(b"\x1b$<urlset>", "iso-2022-jp").endswith(b"<urlset>")


def test_a_character_over_a_slice_boundary_stays_whole() -> None:
    text = "a" + "語" * 200_000
    assert to_utf8(text.encode("euc-jp"), "euc-jp").decode() == text
    assert to_utf8(codecs.BOM_UTF16_LE + text.encode("utf-16-le"), "utf-16le").decode() == text


def test_a_body_cut_within_a_character_is_still_utf_8() -> None:
    assert detect_encoding("<p>日本語".encode()[:-1]) == "utf-8"


QUERIES = [
    ("windows-1251", "/find?q=\u043f\u0438\u0432\u043e", "/find?q=%EF%E8%E2%EE"),
    ("windows-1252", "/s\xfcd?q=M\xfcnchen#\xfc", "/s\xfcd?q=M%FCnchen#\xfc"),
    ("windows-1252", "?a=\xfc&b=\u2603 \U0001f600", "?a=%FC&b=%26%239731%3B %26%23128512%3B"),
    ("shift_jis", "?q=\u8868\u65e5", "?q=%95\\%93%FA"),
    ("euc-jp", "?q=\u65e5\u672c", "?q=%C6%FC%CB%DC"),
    ("iso-2022-jp", "?q=\u65e5 x=\u2603", "?q=%1B$BF|%1B(B x=%26%239731%3B"),
    ("gbk", "?q=\u4e2d\u20ac\U00020000", "?q=%D6%D0%80%26%23131072%3B"),
    ("gb18030", "?q=\u4e2d\U00020000", "?q=%D6%D0%952%826"),
    ("big5", "?q=\u4e2d", "?q=%A4%A4"),
    ("euc-kr", "?q=\ud55c", "?q=%C7%D1"),
    ("iso-8859-8-i", "?q=\u05d0", "?q=%E0"),
    ("utf-8", "?q=\xfc", "?q=\xfc"),
    ("utf-16le", "?q=\xfc", "?q=\xfc"),
    ("windows-1252", "/\xfc#?\xfc", "/\xfc#?\xfc"),
]


@pytest.mark.parametrize(("name", "raw", "expected"), QUERIES)
def test_a_query_is_in_the_encoding_of_its_document(name: str, raw: str, expected: str) -> None:
    """WHATWG URL, "percent-encode after encoding"."""
    assert with_query_in(raw, name) == expected
