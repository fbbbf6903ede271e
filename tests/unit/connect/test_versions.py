"""Version ranges of plugins; the refusals and texts are those of Kafka Connect 4.4.0."""

from __future__ import annotations

import pytest
from copycat_connect.plugin.errors import InvalidVersionRangeError
from copycat_connect.plugin.versions import version_range


@pytest.mark.parametrize(
    ("wanted", "version", "fits"),
    [
        ("1.0", "1.0.0", True),
        (" 1.0 ", "1.0.0", True),
        ("1.0", "1.1", False),
        ("", "1.0", False),
        ("LATEST", "1.0", False),
        ("[1.0,2.0)", "1.9.9", True),
        ("[1.0,2.0)", "2.0", False),
        ("(1.0,2.0]", "1.0", False),
        ("(,1.5]", "1.5", True),
        ("[,]", "1.5", True),
        ("[1.0],[2.0]", "2.0", True),
        ("[1,2),[4,5)", "4.4.0", True),
        ("[4,5),", "4.4.0", True),
        ("1.0,2.0", "1.5", True),
        ("[1.10,)", "1.9", False),
        ("[1.0,)", "1.0-rc1", False),
    ],
)
def test_a_version_is_inside_of_its_range_or_not(wanted: str, version: str, fits: bool) -> None:
    found = version_range(wanted)
    assert found is not None
    assert found.contains(version) is fits


@pytest.mark.parametrize("wanted", [None, "latest"])
def test_no_particular_version_is_asked_for(wanted: str | None) -> None:
    assert version_range(wanted) is None


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("[1.0", "Unbounded range: [1.0"),
        ("(1.0)", "Single version must be surrounded by []: (1.0)"),
        ("[5,4]", "Range defies version ordering: [5,4]"),
        ("(4,4)", "Range defies version ordering: (4,4)"),
        ("[4,5],[4.5,6]", "Ranges overlap: [4,5],[4.5,6]"),
        ("[4,5),6", "Only fully-qualified sets allowed in multiple set scenario: [4,5),6"),
        ("]", "Only fully-qualified sets allowed in multiple set scenario: []]"),
    ],
)
def test_a_malformed_range_is_refused_with_the_reason(wanted: str, reason: str) -> None:
    with pytest.raises(InvalidVersionRangeError) as refused:
        version_range(wanted)
    assert refused.value.message == reason


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [("9", "[9,9]"), ("[1, 2)", "[1,2)"), ("", "[,]"), ("[1],(2,)", "[1,1],(2,)")],
)
def test_a_range_is_named_with_both_bounds(wanted: str, shown: str) -> None:
    assert str(version_range(wanted)) == shown
