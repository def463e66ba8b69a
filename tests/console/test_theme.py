"""Themes and glyphs: readable, one cell wide, and complete."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color as RichColor
from textual.app import App
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tests.console.support import stage
from tests.support.terminal import in_terminal
from tui_crawler.config.kinds import THEMES as CONFIGURED
from tui_crawler.console.session import SessionFile
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.theme import (
    DARK,
    LIGHT,
    ROLES,
    THEME_NAMES,
    THEMES,
    in_many,
    in_sixteen,
    nearest_of_many,
    role_colours,
    role_variables,
)
from tui_crawler.domain.records.exit_code import Group
from tui_crawler.text import charts, glyphs
from tui_crawler.text.safe_text import safe
from tui_crawler.text.terminal_charset import has_utf8

GROUP_ROLES = ROLES[:9]
"""The roles that are groups of exit codes."""


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in Color.parse(colour).normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def least(theme: Theme) -> float:
    """What a text needs (WCAG 2.2: 1.4.3 AA, 1.4.6 AAA)."""
    return 7.0 if "contrast" in theme.name else 4.5


def backgrounds(theme: Theme) -> list[str]:
    """What text stands on."""
    named = ("primary-muted", "block-cursor-background", "block-cursor-blurred-background", "footer-background")
    grounds = [theme.background, theme.surface, theme.panel, *(theme.variables[name] for name in named)]
    return [ground for ground in grounds if ground is not None]


def test_every_theme_a_configuration_may_name_exists_and_ours_are_among_them() -> None:
    app = App[None]()
    for theme in THEMES:
        app.register_theme(theme)
    assert set(CONFIGURED) <= set(app.available_themes)
    assert set(THEME_NAMES) <= set(CONFIGURED)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_readable_on_every_background(theme: Theme, role: str) -> None:
    for background in backgrounds(theme):
        assert contrast(theme.variables[f"role-{role}"], background) >= least(theme)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_that_has_no_role_is_readable_too(theme: Theme) -> None:
    assert theme.foreground is not None
    assert theme.background is not None
    assert theme.primary is not None
    named = ("text-muted", "text-disabled", "block-cursor-foreground", "block-cursor-blurred-foreground")
    for colour in (theme.foreground, *(theme.variables[name] for name in named)):
        for background in backgrounds(theme):
            assert contrast(colour, background) >= least(theme)
    assert contrast(theme.background, theme.primary) >= least(theme)  # the button that has the focus
    assert contrast(theme.foreground, theme.variables["input-selection-background"]) >= least(theme)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_border_of_the_pane_with_the_focus_can_be_seen(theme: Theme) -> None:
    assert theme.background is not None
    assert contrast(theme.variables["border"], theme.background) >= 3  # WCAG 2.2, 1.4.11
    if "contrast" in theme.name:
        assert contrast(theme.variables["border-blurred"], theme.background) >= 3


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_theme_defines_every_role(theme: Theme) -> None:
    assert {f"role-{role}" for role in ROLES} <= set(theme.variables)
    assert theme.to_color_system().generate()["primary-muted"] == theme.variables["primary-muted"]


def test_themes_without_roles_get_those_of_ours() -> None:
    assert role_variables(dark=True).items() <= DARK.variables.items()
    assert role_variables(dark=False).items() <= LIGHT.variables.items()
    assert set(role_colours(dark=True)) == set(role_colours(dark=False)) == set(ROLES)
    assert THEME_NAMES[: len(THEMES)] == tuple(theme.name for theme in THEMES)


def test_light_is_light() -> None:
    assert not LIGHT.dark
    assert LIGHT.background is not None
    assert luminance(LIGHT.background) > 0.8


def test_every_group_of_exit_codes_has_a_role_and_a_mark() -> None:
    groups = {group.value for group in Group}
    assert set(GROUP_ROLES) == groups
    assert set(glyphs.EXIT_GROUPS) == groups


@pytest.mark.parametrize("mark", [*glyphs.STATES.values(), *glyphs.EXIT_GROUPS.values()], ids=lambda mark: mark.word)
def test_every_mark_has_a_glyph_of_one_cell_a_word_and_a_role(mark: glyphs.StateGlyph) -> None:
    assert cell_len(mark.glyph) == len(mark.glyph) == 1
    assert mark.word
    assert mark.role in ROLES
    assert mark.label == f"{mark.glyph} {mark.word}"


def test_the_groups_of_exit_codes_differ_without_colour() -> None:
    assert len({mark.glyph for mark in glyphs.EXIT_GROUPS.values()}) == len(glyphs.EXIT_GROUPS)


def test_words_not_known_are_still_shown() -> None:
    assert glyphs.state_mark("crawling").glyph == "▶"
    assert glyphs.state_mark("hovering").label == "· hovering"
    assert glyphs.exit_mark("network").glyph == "⚠"
    assert glyphs.exit_mark("cosmic") == glyphs.StateGlyph("·", "cosmic", "muted")


async def test_t_goes_through_the_themes_and_the_choice_is_kept_until_the_configuration_says_another(
    tmp_path: Path,
) -> None:
    memory = SessionFile(tmp_path, "/data/crawl.db")
    async with stage(memory=memory, theme="nord") as held:
        await held.press("theme.next", "theme.next", rounds=0)
        chosen = held.app.theme
        assert chosen == THEME_NAMES[(THEME_NAMES.index("nord") + 2) % len(THEME_NAMES)]
        assert f"theme {chosen}" in held.text()
        held.app.remember()
    async with stage(memory=memory, theme="nord") as held:
        assert held.app.theme == chosen
    async with stage(memory=memory, theme="gruvbox") as held:
        assert held.app.theme == "gruvbox"


async def test_the_first_theme_can_be_chosen_over_that_of_the_configuration(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/crawl.db")
    async with stage(memory=memory, theme="solarized-light") as held:
        await held.press("theme.next", rounds=0)
        assert held.app.theme == DARK.name
        held.app.remember()
    async with stage(memory=memory, theme="solarized-light") as held:
        assert held.app.theme == DARK.name


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_every_theme_paints_every_screen(theme: Theme) -> None:
    async with stage((120, 40), theme=theme.name) as held:
        for keys in ((), ("focus.jump",), ("escape", "?"), ("escape", "2"), ("5",)):
            await held.press(*keys, rounds=1)
            assert held.app.theme == theme.name
            assert held.app.screen.background_colors[1].a == 1


async def test_without_colour_states_are_words_and_glyphs_and_the_focus_has_a_border_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage((120, 40)) as held:
        assert held.app.no_color
        text = held.text()
        for word in ("▶ crawling", "◷ waiting", "‖ paused", "⚠ failing", "✗ 5 errors", "✓ finished"):
            assert word in text
        assert "┏━ Origins" in text
        assert "╭─ Events" in text
        segments = [segment for strip in held.app.screen._compositor.render_strips() for segment in strip]
        assert len(segments) > 100
        styles = [one.style for one in segments if one.style is not None]
        assert {colour.name for style in styles for colour in (style.color, style.bgcolor) if colour} == {"default"}


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of POSIX")
def test_without_colour_no_colour_is_sent_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with in_terminal([sys.executable, "-m", "tests.console.pty_child"]) as terminal:
        terminal.read_until("crawling")
        terminal.press("gj")
        terminal.read_until("one key goes there")
        terminal.press("\x1b")
        terminal.read_until_gone("one key goes there")
        terminal.press("q")
        terminal.read_to_end()
        codes = re.findall(rb"\x1b\[([0-9;:]*)m", bytes(terminal.raw))
        assert codes
        assert not [code for code in codes if re.search(rb"(^|;)([34]8|3[0-7]|4[0-7]|9[0-7]|10[0-7])(;|$)", code)]


# terminals that show less


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_with_256_colours_roles_stay_apart_and_readable_and_the_cursor_is_seen(theme: Theme) -> None:
    shown = in_many(theme)
    assert len({shown.variables[f"role-{role}"] for role in ROLES}) == len(
        {theme.variables[f"role-{role}"] for role in ROLES}
    )
    fixed = {RichColor.from_ansi(number).get_truecolor().hex for number in range(16, 256)}
    for role in ROLES:
        colour = shown.variables[f"role-{role}"]
        assert colour in fixed
        assert min(contrast(colour, nearest(background)) for background in backgrounds(shown)) >= 4.5
    grounds = {shown.variables[name] for name in ("primary-muted", "block-cursor-blurred-background")}
    assert len({*grounds, shown.background}) == 3


def nearest(colour: str) -> str:
    return nearest_of_many(Color.parse(colour).rgb).get_truecolor().hex


@pytest.mark.parametrize("theme", [DARK, LIGHT, BUILTIN_THEMES["nord"]], ids=lambda theme: theme.name)
def test_with_16_colours_roles_stay_apart_by_the_terminals_own_names(theme: Theme) -> None:
    sixteen = in_sixteen(theme)
    assert (sixteen.name, sixteen.dark) == (theme.name, theme.dark)
    roles = {role: sixteen.variables[f"role-{role}"] for role in ROLES}
    assert all(colour.startswith("ansi_") for colour in roles.values())
    assert sixteen.background not in roles.values()
    for kept_apart in (GROUP_ROLES, ("active", "waiting", "paused", "warning", "error"), ("strong", "accent", "faint")):
        assert len({roles[role] for role in kept_apart}) == len(kept_apart)
    assert "red" in roles["error"]
    assert "red" in roles["server"]


@pytest.mark.parametrize("name", [DARK.name, LIGHT.name])
async def test_with_16_colours_nothing_else_is_painted_and_both_cursors_are_seen(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLORTERM", "")
    monkeypatch.setenv("TERM", "linux")
    async with stage((120, 40), theme=name) as held:
        for keys in ((), ("?",), ("escape", "2"), ("5", "/"), ("escape", "4")):
            await held.press(*keys, rounds=1)
            strips = held.app.screen._compositor.render_strips()
            styles = [one.style for strip in strips for one in strip if one.style is not None]
            colours = {colour for style in styles for colour in (style.color, style.bgcolor) if colour}
            assert all(colour.triplet is None for colour in colours)
        await held.press("escape", "1", rounds=1)
        for table in held.app.screen.query(CrawlTable):
            lines = [table.render_line(y) for y in (1, 2)]
            assert len({str(next(iter(line)).style.bgcolor) for line in lines if next(iter(line)).style}) == 2
        await held.press("theme.next", rounds=0)
        assert held.app.theme in {DARK.name, LIGHT.name} - {name}


def test_in_ascii_states_and_groups_of_exit_codes_still_differ() -> None:
    for marks in (glyphs.STATES, glyphs.EXIT_GROUPS):
        shown = {mark.glyph: glyphs.in_ascii(mark.glyph) for mark in marks.values()}
        assert len(set(shown.values())) == len(shown)
        assert "?" not in shown.values()
    layers = charts._FILLS[False]
    assert len(set(map(glyphs.in_ascii, layers))) == len(layers), "two layers of a chart never look alike"
    assert glyphs.in_ascii("╭─ Ångström 日本 ─╮│▁█…") == "+- Angstrom ???? -+|_#~"


@given(st.text())
def test_in_ascii_every_text_keeps_its_width(text: str) -> None:
    shown = safe(text, 200)
    plain = glyphs.in_ascii(shown)
    assert plain.isascii()
    assert plain.isprintable()
    assert cell_len(plain) == sum(map(cell_len, shown))


@pytest.mark.parametrize(
    ("said", "utf8"),
    [
        ({}, True),
        ({"LANG": "en_GB.UTF-8"}, True),
        ({"LANG": "C.utf8"}, True),
        ({"LC_CTYPE": "UTF-8"}, True),
        ({"LANG": "de_DE@euro"}, False),
        ({"LANG": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),  # Python has put it there
        ({"LC_CTYPE": "C.UTF-8"}, True),
        ({"LC_ALL": "POSIX", "LANG": "en_GB.UTF-8"}, False),
        ({"LC_ALL": "", "LC_CTYPE": "en_GB.ISO-8859-1", "LANG": "en_GB.UTF-8"}, False),
        ({"LC_ALL": "fr_FR.UTF-8@euro", "LANG": "C"}, True),
    ],
)
def test_the_locale_says_whether_there_is_utf8(said: dict[str, str], utf8: bool) -> None:
    assert has_utf8(said) is utf8


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of POSIX")
def test_without_utf8_no_byte_but_ascii_is_sent_and_with_16_colours_no_other_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"LC_ALL": "C", "COLORTERM": "", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    with in_terminal([sys.executable, "-m", "tests.console.pty_child", "poison"]) as terminal:
        terminal.read_until("Events")
        for key, words in (("2", "Failures"), ("3", "URLs"), ("5", "Logs"), ("7", "Jobs"), ("?", "Keys")):
            terminal.press(key)
            terminal.read_until(words)
        terminal.press("\x1b")
        terminal.press("\x03")
        terminal.press("\x03")
        terminal.read_to_end()
        sent = bytes(terminal.raw)
        assert sent.isascii()
        assert re.search(rb"\x1b\[[0-9;]*9[0-7];40m", sent)
        assert not re.search(rb"\x1b\[[0-9;]*[34]8;[25];", sent)
