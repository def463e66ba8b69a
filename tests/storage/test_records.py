"""Rows become records by the names of their columns."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass

import pytest

from tui_crawler.storage.db.reader import From, RowMapper


@dataclass(frozen=True, slots=True)
class Fruit:
    """What has fields of all kinds."""

    name: str
    ripe: bool
    weight: int = 7
    sold: bool | None = None


def test_columns_find_their_fields_in_any_order() -> None:
    make = RowMapper(Fruit, name=str.upper).of(("sold", "name", "ripe"))
    assert make((None, "fig", 1)) == Fruit("FIG", ripe=True, weight=7, sold=None)
    assert make((0, "fig", 0)) == Fruit("FIG", ripe=False, weight=7, sold=False)


def test_truth_values_are_known_where_annotations_are_types() -> None:
    kind = make_dataclass("kind", [("ripe", bool), ("sold", bool | None)])
    assert kind.__dataclass_fields__["ripe"].type is bool
    made = RowMapper(kind).of(("ripe", "sold"))((1, 0))
    assert made.ripe is True
    assert made.sold is False


@pytest.mark.parametrize(
    "columns", [("name",), ("name", "ripe", "colour"), ("name", "ripe", "name"), ("ripe", "weight", "sold")]
)
def test_columns_that_are_not_those_of_the_record_are_refused(columns: tuple[str, ...]) -> None:
    with pytest.raises(TypeError, match="do not make a Fruit"):
        RowMapper(Fruit).of(columns)


def test_a_field_is_made_of_several_columns_that_need_not_be_fields() -> None:
    shape = RowMapper(Fruit, name=str.upper, weight=From("stone flesh name", lambda *parts: parts))
    assert shape.of(("stone", "ripe", "name", "flesh"))((1, 1, "fig", 6)) == Fruit(
        "FIG", ripe=True, weight=(1, 6, "fig")
    )  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="do not make a Fruit"):
        shape.of(("stone", "ripe", "name", "flesh", "peel"))
