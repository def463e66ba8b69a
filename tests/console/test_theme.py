"""Themes and glyphs: readable, one cell wide, and complete."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.color import Color
from textual.theme import Theme

from tui_crawler.console import glyphs
from tui_crawler.console.theme import GROUP_ROLES, LIGHT, ROLES, THEMES, role_colours, role_variables
from tui_crawler.domain.exit_code import Group


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in Color.parse(colour).normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_readable_on_every_background(theme: Theme, role: str) -> None:
    backgrounds = [theme.background, theme.surface, theme.panel]
    backgrounds += [theme.variables[name] for name in ("primary-muted", "block-cursor-background")]
    colour = role_colours(theme.dark)[role]
    for background in backgrounds:
        assert background is not None
        assert contrast(colour, background) >= (2.9 if role == "faint" else 4.5)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_both_themes_define_every_role(theme: Theme) -> None:
    assert {f"role-{role}" for role in ROLES} <= set(theme.variables)
    assert role_variables(theme.dark).items() <= theme.variables.items()
    assert theme.to_color_system().generate()["primary-muted"] == theme.variables["primary-muted"]


def test_light_is_light() -> None:
    assert not LIGHT.dark
    assert LIGHT.background is not None
    assert luminance(LIGHT.background) > 0.8


def test_every_group_of_exit_codes_has_a_role_and_a_mark() -> None:
    groups = {group.value for group in Group}
    assert set(GROUP_ROLES) == groups
    assert set(glyphs.EXIT_GROUPS) == groups


@pytest.mark.parametrize("mark", [*glyphs.STATES.values(), *glyphs.EXIT_GROUPS.values()], ids=lambda mark: mark.word)
def test_every_mark_has_a_glyph_of_one_cell_a_word_and_a_role(mark: glyphs.Mark) -> None:
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
    assert glyphs.exit_mark("cosmic") == glyphs.Mark("·", "cosmic", "muted")
