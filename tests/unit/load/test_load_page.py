"""The page of the load curve: tables, curves and slopes from figures."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from copycat_testkit.outcomes import write_between

from tools.load.crowd import Latency
from tools.load.growth import Memory, Step
from tools.load.page import COUNTED_ONLY, PAGE, curves, figures_table, memory_table, steps_table

ASKED = ("GET /connectors", "GET status", "PUT config")


def _step(connectors: int) -> Step:
    return Step(
        connectors,
        defined=10.0,
        running=2.0,
        hosts=8,
        memory={"config": (90.0, 60.0), "host": (900.0, 300.0)},
        cores={"config": 0.01, "host": 0.2},
        latencies={asked: Latency(3.0, 9.0) for asked in ASKED},
        lost=4.0,
        back=6.0,
        load=1.5,
    )


def test_a_step_is_a_column() -> None:
    lines = steps_table([_step(50), _step(100)]).splitlines()
    assert lines[0] == "| connectors | 50 | 100 |"
    assert "| memory of host, MB | 300 | 300 |" in lines
    assert "| memory, all roles, MB | 360 | 360 |" in lines
    assert "| CPU at rest, all roles, % | 21.0 | 21.0 |" in lines
    assert "| GET status, p50/p99, ms | 3/9 | 3/9 |" in lines


def test_curves_are_a_picture() -> None:
    picture = ElementTree.fromstring(curves([_step(50), _step(100)]))  # noqa: S314 - our own text
    assert len([each for each in picture if each.tag.endswith("polyline")]) == 6


def test_a_leak_shows_as_growth_for_each_change() -> None:
    found = Memory([0.0, 1.0, 2.0, 3.0], [0, 100, 200, 300], {"config": [50.0, 60.0, 61.0, 62.0]})
    assert found.slopes() == {"config": pytest.approx(10.0)}
    assert "| config | 50 | 62 | +10.00 |" in memory_table(found)


def test_what_did_not_come_is_said() -> None:
    counted = {f"{COUNTED_ONLY}workers lost": 1.0}
    text = figures_table([{"all run after, s": 3.14159, **counted}, {"all run after, s": None}], [500, 1000])
    assert text.splitlines() == [
        "| connectors | 500 | 1000 |",
        "| --- | --- | --- |",
        "| all run after, s | 3.14 | never |",
    ]


def test_only_what_is_between_the_markers_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- steps -->\nold\n<!-- /steps -->\nafter\n")
    write_between(page, "steps", "new")
    assert page.read_text() == "before\n<!-- steps -->\nnew\n<!-- /steps -->\nafter\n"
    with pytest.raises(ValueError, match="no markers of churn"):
        write_between(page, "churn", "new")


@pytest.mark.parametrize("name", ["steps", "churn", "simulation"])
def test_the_page_has_a_place_for_each(name: str) -> None:
    text = PAGE.read_text()
    assert f"<!-- {name} -->" in text
    assert f"<!-- /{name} -->" in text
