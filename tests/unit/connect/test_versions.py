"""Version ranges of plugins."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.versions import describe, matches


@pytest.mark.parametrize(
    ("wanted", "version", "fits"),
    [
        (None, "1.0", True),
        ("", "1.0", True),
        ("latest", "1.0", True),
        ("1.0", "1.0.0", True),
        ("1.0", "1.1", False),
        ("[1.0,2.0)", "1.9.9", True),
        ("[1.0,2.0)", "2.0", False),
        ("(1.0,2.0]", "1.0", False),
        ("(,1.5]", "1.5", True),
        ("[1.0],[2.0]", "2.0", True),
        ("[1.10,)", "1.9", False),
        ("[1.0,)", "1.0-rc1", False),
    ],
)
def test_a_version_is_inside_of_its_range_or_not(wanted: str | None, version: str, fits: bool) -> None:
    assert matches(wanted, version) is fits


def test_what_is_no_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="is no version range"):
        matches("[1.0", "1.0")


def test_a_bare_version_is_named_as_the_range_it_is() -> None:
    assert describe("9") == "[9,9]"
    assert describe("[1,2)") == "[1,2)"
